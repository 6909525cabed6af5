"""Claims about students: what a teacher is worth, which of its lessons, and at what size."""

from dataclasses import replace
from typing import Any

from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.deberta import DebertaForMaskedLM
from research.claims.claim import Claim, Column, Contrast, Plan, Variant
from research.claims.encoders import GAP
from research.claims.learners import ShippedRecipe, StudentRecipe
from research.claims.scale import BUDGET, RELATIVE_SIZES, SCARCE, wide
from research.pretrain.students import TEACHER

TEACHES = Plan(ShippedRecipe(TEACHER, "", BertForMaskedLM, {}, BUDGET))
"""One teacher for all students: what another would change is not in the spreads."""

RELATIVE_TEACHES = Plan(ShippedRecipe("bookworld-mlm-relative", "", DebertaForMaskedLM, {}, BUDGET))
"""Another, for the claim about data."""

HALF: dict[str, Any] = wide(128) | {"num_hidden_layers": 2}
SMALLEST: dict[str, Any] = wide(52) | {"num_hidden_layers": 1}  # TinyBERT has 1/3 and 0.4
SHORT = replace(BUDGET, steps=2500)


def _student(name: str, settings: dict[str, Any] = HALF, **changes: Any) -> Plan:
    given: dict[str, Any] = {"budget": SHORT, "start": "teacher", "cosine": 1.0, **changes}
    recipe = StudentRecipe(name, "", BertForMaskedLM, settings, **given)
    return Plan(recipe, TEACHES, source_seed=0)


_GAP = {"gap": "masked/gap"}

# ------------------------------------------------------------------- scarce and plentiful data


def _by_data(distilled: bool, reviews: int) -> Plan:
    """A small student from random weights, with soft targets or without.

    The name is part of a run's digest, so it remains that of the recorded runs.
    """
    name = f"{'taught' if distilled else 'alone'}, {reviews} reviews"
    recipe = StudentRecipe(
        name,
        "",
        DebertaForMaskedLM,
        RELATIVE_SIZES,
        replace(BUDGET, reviews=reviews),
        start="random",
        distillation=5.0 if distilled else 0.0,
        masked_words=2.0,
        cosine=0.0,
    )
    return Plan(recipe, RELATIVE_TEACHES, source_seed=0)


_MANY = BUDGET.reviews
DATA = Claim(
    "distillation-scarce-and-plentiful",
    "A student learns more with a teacher's soft targets, above all from little data",
    "hinton2015",
    "section 6, table 5",
    "17",
    tuple(
        Variant(
            f"{'distilled' if distilled else 'without teacher'}, {reviews:,} reviews",
            "soft targets and masked words" if distilled else "masked words only",
            (_by_data(distilled, reviews),),
            _GAP,
        )
        for reviews in (SCARCE, _MANY)
        for distilled in (True, False)
    ),
    {"gap": GAP},
    tuple(
        Contrast(
            f"distilled, {reviews:,} reviews", f"without teacher, {reviews:,} reviews", "gap", 0.05
        )
        for reviews in (SCARCE, _MANY)
    ),
    "The student without a teacher is trained on the same reviews for the same number of steps: "
    "200 reviews are read 100 times, and the gap after the last step counts, without early "
    "stopping. "
    "The teacher, bookworld-mlm-relative, is twice as wide and was trained on 30,000 reviews. "
    "Students start from random weights; T = 2, and the weights of the losses are 5 and 2.",
)

# ------------------------------------------------------------------------ DistilBERT's lessons

_TRIPLE = _student("DistilBERT")
_RANDOM = _student("random weights", start="random")

ABLATIONS = Claim(
    "distilbert-ablations",
    "Each of the three losses helps; removing the loss on masked words costs least",
    "sanh2019",
    "section 4.2, table 4",
    "17",
    (
        Variant("all three losses", "weights 5, 2 and 1", (_TRIPLE,), _GAP),
        Variant("no soft targets", "", (_student("no soft targets", distillation=0.0),), _GAP),
        Variant("no masked words", "", (_student("no masked words", masked_words=0.0),), _GAP),
        Variant("no cosine", "", (_student("no cosine", cosine=0.0),), _GAP),
        Variant("random weights", "all losses, random initialization", (_RANDOM,), _GAP),
    ),
    {"gap": GAP},
    (
        Contrast("all three losses", "no soft targets", "gap", 0.02),
        Contrast("all three losses", "no cosine", "gap", 0.02),
        Contrast("all three losses", "no masked words", "gap", 0.02, claimed="no worse"),
        Contrast("no soft targets", "random weights", "gap", 0.05),
    ),
    "2,500 steps of 5 reviews at one learning rate, 30 % of the words masked, T = 2. The teacher, "
    "bookworld-teacher, has four layers; where a student starts from it, it has layers 0 and 3. In "
    "short trainings, layers 0 and 2 are a better start (chapter 17).",
)

START = Claim(
    "teacher-initialisation",
    "A student initialized with its teacher's layers is better than one with random weights",
    "sanh2019",
    "section 3, and section 4.2, table 4",
    "17",
    (
        Variant("teacher's layers", "layers 0 and 3 of the teacher's four", (_TRIPLE,), _GAP),
        Variant("random weights", "", (_RANDOM,), _GAP),
    ),
    {"gap": GAP},
    (Contrast("teacher's layers", "random weights", "gap", 0.05),),
    "Both have all three losses, and the settings of distilbert-ablations: 2,500 steps of 5 "
    "reviews at one learning rate.",
)

# ------------------------------------------------------------------------ size, speed and score

_READS = {
    "size": "beside teacher/times as small",
    "speed": "beside teacher/times as fast",
    "retained": "beside teacher/retained accuracy",
}
_TINY = _student("smallest", SMALLEST, start="random", cosine=0.0, budget=BUDGET)
SIZE = Claim(
    "student-size-speed-score",
    "DistilBERT has 40 % fewer parameters, is 60 % faster and retains 97 % of the score; "
    "TinyBERT is 7.5 times smaller and 9.4 times faster, and retains 96.8 %",
    "sanh2019",
    "abstract and table 3; Jiao et al., 2020, abstract",
    "18",
    (
        Variant("DistilBERT", "half of the layers, the teacher's width", (_TRIPLE,), _READS),
        Variant(
            "smallest",
            "a quarter of the layers, 0.4 of the width; no cosine",
            (_TINY,),
            _READS,
        ),
    ),
    {
        "size": Column("times as small as the teacher", "more", digits=2),
        "speed": Column("times as fast", "more", digits=2),
        "retained": Column("share of the teacher's accuracy", "more"),
    },
    (
        Contrast("DistilBERT", 1 / 0.6, "size", 0.1),
        Contrast("DistilBERT", 1.6, "speed", 0.1),
        Contrast("DistilBERT", 0.97, "retained", 0.01),
        Contrast("smallest", 7.5, "size", 0.1),
        Contrast("smallest", 9.4, "speed", 0.5),
        Contrast("smallest", 0.968, "retained", 0.01),
    ),
    "The score is the accuracy on masked words; the papers' is that of downstream tasks. Time is "
    "CPU time of one thread for one batch, student and teacher alternating in one process. "
    "Embeddings are a larger share of a small network, so removing layers saves less.",
)

CLAIMS = (DATA, ABLATIONS, START, SIZE)
