"""DistilBERT as the `transformers` library has it, and back.

That library names what it has in BERT anew. Its ``sinusoidal_pos_embds`` says how the places'
vectors start, and not what they are: they are a table that learns, as ours.
"""

from functools import partial

from lmcourse.models.conversion import SAME, Conversion
from lmcourse.models.conversion.bert import CLASSIFIER, EMBEDDINGS, SPANS
from lmcourse.models.conversion.renaming import Renaming, Rule, Tied, linear

LAYER = Renaming(
    (
        *linear("attention.query", "attention.q_lin"),
        *linear("attention.key", "attention.k_lin"),
        *linear("attention.value", "attention.v_lin"),
        *linear("attention.output", "attention.out_lin"),
        *linear("attention_residual.norm", "sa_layer_norm"),
        *linear("feed_forward.intermediate", "ffn.lin1"),
        *linear("feed_forward.output", "ffn.lin2"),
        *linear("feed_forward_residual.norm", "output_layer_norm"),
    )
)
DISTILBERT = EMBEDDINGS.under("embeddings.", "embeddings.") + LAYER.under(
    "encoder.layers.{layer}.", "transformer.layer.{layer}."
)
BASE = DISTILBERT.under("bert.", "distilbert.")
PREDICTIONS = Renaming(
    (
        *linear("predictions.dense", "vocab_transform"),
        *linear("predictions.norm", "vocab_layer_norm"),
        Rule("predictions.bias", "vocab_projector.bias"),
    ),
    (Tied("vocab_projector.weight", "distilbert.embeddings.word_embeddings.weight"),),
)
SEQUENCES = Renaming(linear("classifier.first", "pre_classifier")) + CLASSIFIER
ANSWERS = Renaming(linear("qa_outputs.dense", "qa_outputs"))
SAME_NAMES = (
    *("vocab_size", "max_position_embeddings", "initializer_range", "pad_token_id"),
    *("num_labels", "problem_type", "seq_classif_dropout", "qa_dropout"),
)
SETTINGS = {
    "hidden_size": "dim",
    "num_hidden_layers": "n_layers",
    "num_attention_heads": "n_heads",
    "intermediate_size": "hidden_dim",
    "hidden_act": "activation",
    "hidden_dropout_prob": "dropout",
    "attention_probs_dropout_prob": "attention_dropout",
    **{name: name for name in SAME_NAMES},
}

distilbert = partial(
    Conversion,
    config="DistilBertConfig",
    settings=SETTINGS,
    fixed={},
    same=SAME,
    ours={"layer_norm_eps": 1e-12, "classifier_dropout": None},
)
CONVERSIONS = {
    "DistilBert": distilbert("DistilBertModel", DISTILBERT),
    "DistilBertForMaskedLM": distilbert(
        "DistilBertForMaskedLM", BASE + PREDICTIONS, fixed={"tie_word_embeddings": True}
    ),
    "DistilBertForSequenceClassification": distilbert(
        "DistilBertForSequenceClassification", BASE + SEQUENCES
    ),
    "DistilBertForQuestionAnswering": distilbert(
        "DistilBertForQuestionAnswering",
        BASE + ANSWERS,
        fixed=SPANS,
    ),
    "DistilBertForTokenClassification": distilbert(
        "DistilBertForTokenClassification", BASE + CLASSIFIER
    ),
    "DistilBertForMultipleChoice": distilbert("DistilBertForMultipleChoice", BASE + SEQUENCES),
}
