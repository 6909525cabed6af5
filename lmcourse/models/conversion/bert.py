"""BERT as the `transformers` library has it, and back."""

from lmcourse.models.conversion.renaming import Renaming, Rule, Tied, linear
from lmcourse.models.conversion.rules import SAME, Conversion, heads

LAYER = Renaming(
    (
        *linear("attention.query", "attention.self.query"),
        *linear("attention.key", "attention.self.key"),
        *linear("attention.value", "attention.self.value"),
        *linear("attention.output", "attention.output.dense"),
        *linear("attention_residual.norm", "attention.output.LayerNorm"),
        *linear("feed_forward.intermediate", "intermediate.dense"),
        *linear("feed_forward.output", "output.dense"),
        *linear("feed_forward_residual.norm", "output.LayerNorm"),
    )
)
EMBEDDINGS = Renaming(
    (
        Rule("word.weight", "word_embeddings.weight"),
        Rule("position.weight", "position_embeddings.weight"),
        Rule("segment.weight", "token_type_embeddings.weight"),
        *linear("norm", "LayerNorm"),
    )
)
BERT = (
    EMBEDDINGS.under("embeddings.", "embeddings.")
    + LAYER.under("encoder.layers.{layer}.", "encoder.layer.{layer}.")
    + Renaming(linear("pooler.dense", "pooler.dense"))
)
BASE = BERT.under("bert.", "bert.")
PREDICTIONS = Renaming(
    (
        *linear("predictions.dense", "cls.predictions.transform.dense"),
        *linear("predictions.norm", "cls.predictions.transform.LayerNorm"),
        Rule("predictions.bias", "cls.predictions.bias"),
    ),
    (
        Tied("cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"),
        Tied("cls.predictions.decoder.bias", "cls.predictions.bias"),
    ),
)
NEXT_SENTENCE = Renaming(linear("seq_relationship.dense", "cls.seq_relationship"))
CLASSIFIER = Renaming(linear("classifier.dense", "classifier"))
ANSWERS = Renaming(linear("qa_outputs", "qa_outputs"))
SETTINGS = {
    name: name
    for name in (
        *("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads"),
        *("intermediate_size", "hidden_act", "hidden_dropout_prob"),
        *("attention_probs_dropout_prob", "max_position_embeddings", "type_vocab_size"),
        *("initializer_range", "layer_norm_eps", "pad_token_id", "num_labels"),
        *("classifier_dropout", "problem_type"),
    )
}
FIXED = {"is_decoder": False, "add_cross_attention": False}
OLD = {"position_embedding_type": "absolute"}


BODY = Conversion(
    "BertModel",
    BERT,
    "BertConfig",
    SETTINGS,
    FIXED,
    old=OLD,
    same=SAME,
    parts={"add_pooling_layer": ("pooler", "add_pooling_layer")},
)
HEADS = {
    "ForPreTraining": PREDICTIONS + NEXT_SENTENCE,
    "ForMaskedLM": PREDICTIONS,
    "ForSequenceClassification": CLASSIFIER,
    "ForQuestionAnswering": ANSWERS,
    "ForTokenClassification": CLASSIFIER,
}
CONVERSIONS = {"Bert": BODY} | heads("Bert", BODY, BASE, HEADS)
