"""ELECTRA as the `transformers` library has it, and back."""

from dataclasses import replace

from lmcourse.models.conversion.bert import ANSWERS, BODY, CLASSIFIER, EMBEDDINGS, LAYER, SETTINGS
from lmcourse.models.conversion.renaming import Renaming, Rule, Tied, linear
from lmcourse.models.conversion.rules import FIXED_BY, heads

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
ELECTRA_SETTINGS = SETTINGS | {name: name for name in ("embedding_size", "summary_last_dropout")}


ELECTRA_BODY = replace(
    BODY,
    architecture="ElectraModel",
    renaming=ELECTRA,
    config="ElectraConfig",
    settings=ELECTRA_SETTINGS,
    parts={},
)
HEADS = {
    "ForPreTraining": DISCRIMINATOR,
    "ForMaskedLM": PREDICTIONS,
    "ForSequenceClassification": SEQUENCES,
    "ForQuestionAnswering": ANSWERS,
    "ForTokenClassification": CLASSIFIER,
}
CONVERSIONS = {"Electra": ELECTRA_BODY} | heads(
    "Electra",
    ELECTRA_BODY,
    BASE,
    HEADS,
    FIXED_BY | {"ForPreTraining": {}},
)
