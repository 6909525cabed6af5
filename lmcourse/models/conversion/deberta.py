"""DeBERTa as the `transformers` library has it, and back.

``classifier_dropout`` becomes ``cls_dropout``. The library's head for tokens uses
``hidden_dropout_prob`` instead, so another value is refused there. Its head for questions needs
``num_labels=2``, so our value is lost there.

The weights of `DebertaForSequenceClassification` convert exactly, but one of its losses differs.
For labels of floats, (batch, num_labels), and no ``problem_type``, ours is binary cross-entropy, as
for the library's other models; the library's DeBERTa averages −Σ y · log_softmax over the batch.
With ``problem_type="multi_label_classification"``, both are binary cross-entropy.
"""

from typing import Any

from lmcourse.models.conversion import bert
from lmcourse.models.conversion.renaming import Renaming, Rule, Tied, linear
from lmcourse.models.conversion.rules import SAME, SPANS, Conversion

QUERY_KEY_VALUE = tuple(f"attention.{name}.weight" for name in ("query", "key", "value"))
LAYER = Renaming(
    (
        Rule(QUERY_KEY_VALUE, "attention.self.in_proj.weight"),  # head by head
        Rule("attention.query.bias", "attention.self.q_bias"),
        Rule("attention.value.bias", "attention.self.v_bias"),
        Rule("attention.position_key.weight", "attention.self.pos_proj.weight"),
        *linear("attention.position_query", "attention.self.pos_q_proj"),
        *linear("attention.output", "attention.output.dense"),
        *linear("attention_residual.norm", "attention.output.LayerNorm"),
        *linear("feed_forward.intermediate", "intermediate.dense"),
        *linear("feed_forward.output", "output.dense"),
        *linear("feed_forward_residual.norm", "output.LayerNorm"),
    )
)
DEBERTA = (
    bert.EMBEDDINGS.under("embeddings.", "embeddings.")
    + LAYER.under("encoder.layers.{layer}.", "encoder.layer.{layer}.")
    + Renaming((Rule("encoder.distance.weight", "encoder.rel_embeddings.weight"),))
)
BASE = DEBERTA.under("bert.", "deberta.")
PREDICTIONS = Renaming(
    bert.PREDICTIONS.rules,
    (
        Tied("cls.predictions.decoder.weight", "deberta.embeddings.word_embeddings.weight"),
        Tied("cls.predictions.decoder.bias", "cls.predictions.bias"),
    ),
)
POOLER = Renaming(linear("classifier.pooler", "pooler.dense"))
OWN_SETTINGS = {
    name: name
    for name in (
        *("relative_attention", "pos_att_type", "max_relative_positions"),
        *("position_biased_input", "pooler_dropout", "pooler_hidden_act"),
    )
}
SETTINGS = bert.SETTINGS | OWN_SETTINGS | {"classifier_dropout": "cls_dropout"}
TOKEN_SETTINGS = {ours: theirs for ours, theirs in SETTINGS.items() if ours != "classifier_dropout"}
OURS = {"p2c_as_in_paper": False}


def _conversion(
    architecture: str,
    renaming: Renaming,
    settings: dict[str, str] = SETTINGS,
    ours: dict[str, Any] = OURS,
    **fixed: Any,
) -> Conversion:
    return Conversion(
        architecture,
        renaming,
        "DebertaConfig",
        settings,
        fixed,
        old={"talking_head": False},
        same=SAME,
        ours=ours,
        forms={"pos_att_type": (lambda theirs: tuple(theirs or ()), list)},
        grouped=True,
    )


CONVERSIONS = {
    "Deberta": _conversion("DebertaModel", DEBERTA, ours=OURS | {"add_pooling_layer": False}),
    "DebertaForMaskedLM": _conversion(
        "DebertaForMaskedLM", BASE + PREDICTIONS, tie_word_embeddings=True, legacy=True
    ),
    "DebertaForSequenceClassification": _conversion(
        "DebertaForSequenceClassification", BASE + bert.CLASSIFIER + POOLER
    ),
    "DebertaForTokenClassification": _conversion(
        "DebertaForTokenClassification",
        BASE + bert.CLASSIFIER,
        TOKEN_SETTINGS,
        ours=OURS | {"classifier_dropout": None},
    ),
    "DebertaForQuestionAnswering": _conversion(
        "DebertaForQuestionAnswering",
        BASE + bert.ANSWERS,
        **SPANS,
    ),
}
