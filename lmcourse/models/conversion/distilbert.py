"""DistilBERT as the `transformers` library has it, and back.

The library's ``sinusoidal_pos_embds`` affects only the initial position embeddings, which are
trained, as ours are.
"""

from lmcourse.models.conversion.bert import CLASSIFIER, EMBEDDINGS
from lmcourse.models.conversion.renaming import Renaming, Rule, Tied, linear
from lmcourse.models.conversion.rules import SAME, Conversion, heads

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

BODY = Conversion(
    "DistilBertModel",
    DISTILBERT,
    "DistilBertConfig",
    SETTINGS,
    fixed={},
    same=SAME,
    ours={"layer_norm_eps": 1e-12, "classifier_dropout": None},
)
HEADS = {
    "ForMaskedLM": PREDICTIONS,
    "ForSequenceClassification": SEQUENCES,
    "ForQuestionAnswering": ANSWERS,
    "ForTokenClassification": CLASSIFIER,
}
CONVERSIONS = {"DistilBert": BODY} | heads("DistilBert", BODY, BASE, HEADS)
