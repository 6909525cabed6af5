"""Claims about what is masked, and what is asked of two sentences."""

from dataclasses import replace
from typing import Any, Literal, cast

from lmcourse.models.bert_heads import BertForPreTraining
from lmcourse.models.spanbert import SpanBertForPreTraining
from research.claims.claim import Claim, Column, Contrast, Plan, Variant
from research.claims.encoders import BEST_LAYER, GAP, SENSE, STARTED_RELATIVE
from research.claims.learners import PairRecipe, StartedRecipe, StaticRecipe
from research.claims.scale import BUDGET, LONGER, RELATIVE, SIZES, TWICE
from research.claims.span_questions import ANSWERS, COLUMNS, tuned
from research.pretrain.encoders import MaskedRecipe, Masks

# ----------------------------------------------------------------- static and dynamic masking

FEW = replace(BUDGET, reviews=400)  # read 50 times
_RELATIVE = RELATIVE.recipe
_PLAIN: dict[str, Any] = {name: getattr(_RELATIVE, name) for name in ("model", "settings")}


def _static(copies: int) -> Plan:
    name = f"{copies} fixed mask{'s' * (copies > 1)}"
    return Plan(StaticRecipe(name, "", **_PLAIN, budget=FEW, copies=copies))


_GAP = {"gap": "masked/gap"}
DYNAMIC = Claim(
    "dynamic-masking",
    "A new mask for each epoch is at least as good as ten fixed masks",
    "liu2019",
    "section 4.1, table 1",
    "12",
    (
        Variant("1 fixed mask", "the same masked positions in each epoch", (_static(1),), _GAP),
        Variant("10 fixed masks", "as in BERT's training", (_static(10),), _GAP),
        Variant(
            "dynamic",
            "drawn again in each epoch",
            (Plan(replace(_RELATIVE, name="dynamic", budget=FEW)),),
            _GAP,
        ),
    ),
    {"gap": GAP},
    (
        Contrast("dynamic", "1 fixed mask", "gap", 0.05),
        Contrast("dynamic", "10 fixed masks", "gap", 0.05, claimed="no worse"),
        Contrast("10 fixed masks", "1 fixed mask", "gap", 0.05),
    ),
    "An encoder with relative positions, trained for 50 epochs on 400 reviews, so that it can "
    "memorize a fixed mask: ten masks are used five times each. 30 % of the words are selected, "
    "and all of these become [MASK]. The gap after the last step is measured, on held-out reviews.",
)

# --------------------------------------------------------------------- pairs of sentences

_SENTENCES = replace(BUDGET, steps=1300, batch_size=32, reviews=4000)


def _pairs(asks: Literal["next", "order"]) -> Plan:
    settings = SIZES | {"type_vocab_size": 2, "add_pooling_layer": True}
    recipe = PairRecipe(
        f"{asks} sentences", "", BertForPreTraining, settings, _SENTENCES, asks=asks
    )
    return Plan(recipe)


_BOTH_TASKS = {"NSP": "pairs/next", "SOP": "pairs/order"}
ORDER = Claim(
    "nsp-against-sop",
    "A model trained on sentence order also solves next-sentence prediction; the reverse does "
    "not hold",
    "lan2020",
    "section 4.6, table 5",
    "13",
    (
        Variant(
            "NSP", "is B the next sentence, or another review's?", (_pairs("next"),), _BOTH_TASKS
        ),
        Variant("SOP", "are A and B swapped?", (_pairs("order"),), _BOTH_TASKS),
    ),
    {
        "NSP": Column("next sentence, accuracy", "more", "pairs/next, exact"),
        "SOP": Column("sentence order, accuracy", "more", "pairs/order, exact"),
    },
    (
        Contrast("SOP", "NSP", "SOP", 0.05),
        Contrast("NSP", "SOP", "NSP", 0.05),
        Contrast("NSP", 0.5, "SOP", 0.05, claimed="equal"),
        Contrast("SOP", 0.5, "NSP", 0.05),
    ),
    "Each model is trained on masked words and on one of the two tasks, with pairs of single "
    "sentences, and evaluated on both. Chance is 0.5.",
)

# ------------------------------------------------------------------------------ masked spans


_SPANS = replace(LONGER, name="spans", masks=Masks(select="spans"))
_BOUNDARY = MaskedRecipe(
    "spans and boundary",
    "",
    SpanBertForPreTraining,
    SIZES | {"span_position_size": 32},
    TWICE,
    Masks(select="spans"),
)
SPANS = Claim(
    "span-masking",
    "Masked spans, and their prediction from the boundaries, help where answers are spans",
    "joshi2020",
    "section 6",
    "14",
    (
        Variant("tokens", "single words are masked", (tuned(Plan(LONGER)),), ANSWERS),
        Variant("spans", "spans of words are masked", (tuned(Plan(_SPANS)),), ANSWERS),
        Variant(
            "spans and boundary",
            "spans are also predicted from their boundary tokens",
            (tuned(Plan(_BOUNDARY)),),
            ANSWERS,
        ),
    ),
    COLUMNS,
    (
        Contrast("spans", "tokens", "F1", 0.03),
        Contrast("spans and boundary", "tokens", "F1", 0.03),
        Contrast("spans and boundary", "spans", "F1", 0.03),
    ),
    "Each model is pretrained for 8,000 steps and then fine-tuned on 4,000 questions.",
)

# ---------------------------------------------------------------------- [MASK], and other words

_PLAIN_RULE = cast(StartedRecipe, STARTED_RELATIVE.recipe)
_MIXED_RULE = replace(
    _PLAIN_RULE, name=f"{_PLAIN_RULE.name}, 80/10/10", masks=Masks(masked=0.8, random=0.1)
)
_MIXED = replace(STARTED_RELATIVE, recipe=_MIXED_RULE)
RULE = Claim(
    "masking-rule",
    "[MASK] does not occur after pretraining: leaving some selected words unchanged, and "
    "replacing some by random words, hardly matters if all weights are fine-tuned, and helps if "
    "states are features",
    "devlin2019",
    "appendix C.2, table 8",
    "10",
    (
        Variant("[MASK] alone", "states as features", (STARTED_RELATIVE,), BEST_LAYER),
        Variant("80/10/10", "states as features", (_MIXED,), BEST_LAYER),
        Variant("[MASK] alone, fine-tuned", "", (tuned(STARTED_RELATIVE),), ANSWERS),
        Variant("80/10/10, fine-tuned", "", (tuned(_MIXED),), ANSWERS),
    ),
    {"sense": SENSE, **COLUMNS},
    (
        Contrast("80/10/10", "[MASK] alone", "sense", 0.02),
        Contrast("80/10/10, fine-tuned", "[MASK] alone, fine-tuned", "F1", 0.03, claimed="equal"),
    ),
    "30 % of the words are selected. The encoder has relative positions, with which it learns "
    "senses fastest. The paper's feature-based task is named-entity recognition; here it is word "
    "sense, by the nearest neighbor. Both are fine-tuned on 4,000 span questions.",
)

CLAIMS = (DYNAMIC, ORDER, SPANS, RULE)
