"""BERT as the `transformers` library has it, and back."""

from typing import Any

from lmcourse.models.conversion import SAME, Conversion
from lmcourse.models.conversion.renaming import Renaming, Rule, Tied, linear

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
SPANS: dict[str, Any] = {"num_labels": 2}
"""A start and an end are two scores, whatever ``num_labels`` says to our other heads."""
FIXED = {"is_decoder": False, "add_cross_attention": False}
LEAST = {"type_vocab_size": 1}
OLD = {"position_embedding_type": "absolute"}


def _head(
    architecture: str,
    renaming: Renaming,
    **fixed: Any,
) -> Conversion:
    return Conversion(
        architecture,
        BASE + renaming,
        "BertConfig",
        SETTINGS,
        FIXED | fixed,
        old=OLD,
        same=SAME,
        least=LEAST,
    )


CONVERSIONS = {
    "Bert": Conversion(
        "BertModel",
        BERT,
        "BertConfig",
        SETTINGS,
        FIXED,
        old=OLD,
        same=SAME,
        least=LEAST,
        parts={"add_pooling_layer": ("pooler", "add_pooling_layer")},
    ),
    "BertForPreTraining": _head(
        "BertForPreTraining", PREDICTIONS + NEXT_SENTENCE, tie_word_embeddings=True
    ),
    "BertForMaskedLM": _head("BertForMaskedLM", PREDICTIONS, tie_word_embeddings=True),
    "BertForNextSentencePrediction": _head("BertForNextSentencePrediction", NEXT_SENTENCE),
    "BertForSequenceClassification": _head("BertForSequenceClassification", CLASSIFIER),
    "BertForQuestionAnswering": _head(
        "BertForQuestionAnswering",
        Renaming(linear("qa_outputs", "qa_outputs")),
        **SPANS,
    ),
    "BertForTokenClassification": _head("BertForTokenClassification", CLASSIFIER),
    "BertForMultipleChoice": _head("BertForMultipleChoice", CLASSIFIER),
}
