"""ALBERT as the `transformers` library has it, and back: with all of a layer shared."""

from typing import Any

from lmcourse.models.conversion import SAME, Conversion
from lmcourse.models.conversion.bert import CLASSIFIER, EMBEDDINGS, LEAST, OLD, SETTINGS, SPANS
from lmcourse.models.conversion.renaming import Renaming, Rule, Tied, linear

GROUP = "encoder.albert_layer_groups.{group}.albert_layers.0."
ENCODER = Renaming(
    tuple(
        rule
        for ours, theirs in (
            ("attention.{group}.query", "attention.query"),
            ("attention.{group}.key", "attention.key"),
            ("attention.{group}.value", "attention.value"),
            ("attention.{group}.output", "attention.dense"),
            ("attention_residual.{group}.norm", "attention.LayerNorm"),
            ("feed_forward.{group}.intermediate", "ffn"),
            ("feed_forward.{group}.output", "ffn_output"),
            ("feed_forward_residual.{group}.norm", "full_layer_layer_norm"),
        )
        for rule in linear(f"encoder.{ours}", GROUP + theirs)
    )
)
ALBERT = (
    EMBEDDINGS.under("embeddings.", "embeddings.")
    + Renaming(linear("embeddings.projection", "encoder.embedding_hidden_mapping_in"))
    + ENCODER
    + Renaming(linear("pooler.dense", "pooler"))
)
BASE = ALBERT.under("bert.", "albert.")
PREDICTIONS = Renaming(
    (
        *linear("predictions.dense", "predictions.dense"),
        *linear("predictions.norm", "predictions.LayerNorm"),
        Rule("predictions.bias", "predictions.bias"),
    ),
    (
        Tied("predictions.decoder.weight", "albert.embeddings.word_embeddings.weight"),
        Tied("predictions.decoder.bias", "predictions.bias"),
    ),
)
ORDER = Renaming(linear("seq_relationship.dense", "sop_classifier.classifier"))
ALBERT_SETTINGS = SETTINGS | {
    "classifier_dropout": "classifier_dropout_prob",
    "embedding_size": "embedding_size",
    "num_hidden_groups": "num_hidden_groups",
}


def _conversion(
    architecture: str,
    renaming: Renaming,
    parts: dict[str, tuple[str, str]] | None = None,
    **fixed: Any,
) -> Conversion:
    return Conversion(
        architecture,
        renaming,
        "AlbertConfig",
        ALBERT_SETTINGS,
        {"inner_group_num": 1} | fixed,
        old=OLD,
        same=SAME,
        ours={"sharing": "all"},
        least=LEAST,
        parts=parts or {},
    )


CONVERSIONS = {
    "Albert": _conversion(
        "AlbertModel", ALBERT, parts={"add_pooling_layer": ("pooler", "add_pooling_layer")}
    ),
    "AlbertForPreTraining": _conversion(
        "AlbertForPreTraining",
        BASE + PREDICTIONS + ORDER,
        num_labels=2,  # scores: in order and swapped; whatever our other heads have
        tie_word_embeddings=True,
    ),
    "AlbertForMaskedLM": _conversion(
        "AlbertForMaskedLM", BASE + PREDICTIONS, tie_word_embeddings=True
    ),
    "AlbertForSequenceClassification": _conversion(
        "AlbertForSequenceClassification", BASE + CLASSIFIER
    ),
    "AlbertForQuestionAnswering": _conversion(
        "AlbertForQuestionAnswering",
        BASE + Renaming(linear("qa_outputs", "qa_outputs")),
        **SPANS,
    ),
    "AlbertForTokenClassification": _conversion("AlbertForTokenClassification", BASE + CLASSIFIER),
    "AlbertForMultipleChoice": _conversion("AlbertForMultipleChoice", BASE + CLASSIFIER),
}
