"""ALBERT as the `transformers` library has it, and back: with all of a layer shared."""

from dataclasses import replace

from lmcourse.models.conversion.bert import ANSWERS, BODY, CLASSIFIER, EMBEDDINGS, SETTINGS
from lmcourse.models.conversion.renaming import Renaming, Rule, Tied, linear
from lmcourse.models.conversion.rules import FIXED_BY, SPANS, TIED, heads

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


ALBERT_BODY = replace(
    BODY,
    architecture="AlbertModel",
    renaming=ALBERT,
    config="AlbertConfig",
    settings=ALBERT_SETTINGS,
    fixed={"inner_group_num": 1},
    ours={"sharing": "all"},
)
HEADS = {
    "ForPreTraining": PREDICTIONS + ORDER,
    "ForMaskedLM": PREDICTIONS,
    "ForSequenceClassification": CLASSIFIER,
    "ForQuestionAnswering": ANSWERS,
    "ForTokenClassification": CLASSIFIER,
}
ORDERS = TIED | SPANS  # two scores: in order and swapped; whatever our other heads have
CONVERSIONS = {"Albert": ALBERT_BODY} | heads(
    "Albert", ALBERT_BODY, BASE, HEADS, FIXED_BY | {"ForPreTraining": ORDERS}
)
