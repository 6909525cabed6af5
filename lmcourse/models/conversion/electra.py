"""ELECTRA as the `transformers` library has it, and back."""

from typing import Any

from lmcourse.models.conversion import SAME, Conversion
from lmcourse.models.conversion.bert import (
    CLASSIFIER,
    EMBEDDINGS,
    FIXED,
    LAYER,
    LEAST,
    OLD,
    SETTINGS,
    SPANS,
)
from lmcourse.models.conversion.renaming import Renaming, Rule, Tied, linear

ELECTRA = (
    EMBEDDINGS.under("embeddings.", "embeddings.")
    + Renaming(linear("embeddings.projection", "embeddings_project"))
    + LAYER.under("encoder.layers.{layer}.", "encoder.layer.{layer}.")
)
BASE = ELECTRA.under("bert.", "electra.")
PREDICTIONS = Renaming(
    (
        *linear("predictions.dense", "generator_predictions.dense"),
        *linear("predictions.norm", "generator_predictions.LayerNorm"),
        Rule("predictions.bias", "generator_lm_head.bias"),
    ),
    (Tied("generator_lm_head.weight", "electra.embeddings.word_embeddings.weight"),),
)
DISCRIMINATOR = Renaming(
    (
        *linear("discriminator_predictions.dense", "discriminator_predictions.dense"),
        *linear("discriminator_predictions.score", "discriminator_predictions.dense_prediction"),
    )
)
SEQUENCES = Renaming(
    (
        *linear("classifier.first", "classifier.dense"),
        *linear("classifier.dense", "classifier.out_proj"),
    )
)
CHOICES = CLASSIFIER + Renaming(linear("classifier.first", "sequence_summary.summary"))
ELECTRA_SETTINGS = SETTINGS | {name: name for name in ("embedding_size", "summary_last_dropout")}
SUMMARY: dict[str, Any] = {
    "summary_type": "first",
    "summary_first_dropout": 0.0,
    "summary_proj_to_labels": False,
    "summary_use_proj": True,
    "summary_activation": "gelu",
}


def _conversion(
    architecture: str,
    renaming: Renaming,
    **fixed: Any,
) -> Conversion:
    return Conversion(
        architecture,
        renaming,
        "ElectraConfig",
        ELECTRA_SETTINGS,
        FIXED | fixed,
        old=OLD,
        same=SAME,
        least=LEAST,
    )


CONVERSIONS = {
    "Electra": _conversion("ElectraModel", ELECTRA),
    "ElectraForPreTraining": _conversion("ElectraForPreTraining", BASE + DISCRIMINATOR),
    "ElectraForMaskedLM": _conversion(
        "ElectraForMaskedLM", BASE + PREDICTIONS, tie_word_embeddings=True
    ),
    "ElectraForSequenceClassification": _conversion(
        "ElectraForSequenceClassification", BASE + SEQUENCES
    ),
    "ElectraForQuestionAnswering": _conversion(
        "ElectraForQuestionAnswering",
        BASE + Renaming(linear("qa_outputs", "qa_outputs")),
        **SPANS,
    ),
    "ElectraForTokenClassification": _conversion(
        "ElectraForTokenClassification", BASE + CLASSIFIER
    ),
    "ElectraForMultipleChoice": _conversion("ElectraForMultipleChoice", BASE + CHOICES, **SUMMARY),
}
