"""Claims about positions: absolute, relative, and each part of DeBERTa."""

from dataclasses import replace
from typing import Any

from lmcourse.models.deberta import DebertaForMaskedLM
from lmcourse.models.enhanced_mask_decoder import DebertaForPreTraining
from research.claims.claim import Claim, Column, Contrast, Plan, Variant
from research.claims.encoders import GAP, GAP_AND_SIZE, PARAMETERS
from research.claims.scale import BERT, BUDGET, DRAWN, LONGER, RELATIVE, RELATIVE_SIZES, TWICE
from research.pretrain.encoders import MaskedRecipe
from research.pretrain.recipe import Recipe

_FACTORS = 1.0, 0.5, 2.0


def _at_rates(plan: Plan) -> tuple[Plan, ...]:
    """The plan at its learning rates, at half of them and at twice."""
    recipe = plan.recipe
    matrix_rate = recipe.budget.matrix_rate
    assert matrix_rate is not None
    return tuple(
        replace(
            plan,
            recipe=replace(
                recipe,
                budget=replace(
                    recipe.budget,
                    learning_rate=factor * recipe.budget.learning_rate,
                    matrix_rate=factor * matrix_rate,
                ),
            ),
        )
        for factor in _FACTORS
    )


def _tuned(name: str, about: str, plan: Plan) -> Variant:
    """A variant whose learning rates are chosen by the loss on validation reviews."""
    settings = tuple(f"{factor:g} × the learning rates" for factor in _FACTORS)
    return Variant(name, about, _at_rates(plan), GAP_AND_SIZE, "validation/minus loss", settings)


def _deberta(name: str, about: str, model: type = DebertaForMaskedLM, **changes: Any) -> Variant:
    recipe = MaskedRecipe(name, about, model, RELATIVE_SIZES | changes, BUDGET)
    return Variant(name, about, (Plan(recipe),), GAP_AND_SIZE)


def _twice(name: str, about: str, recipe: Recipe) -> Variant:
    reads = GAP_AND_SIZE | {"names": "names/gap"}
    return Variant(f"{name}, twice the updates", about, (Plan(recipe),), reads)


_RELATIVE_TWICE = replace(RELATIVE.recipe, name="relative, twice", budget=TWICE)
_COPY_FIRST = replace(TWICE, repeats=0.1)
_LONGER = (
    ("absolute", "from sinusoids", LONGER),
    ("content to position", "", _RELATIVE_TWICE),
    (
        "absolute, copying phase",
        "at first, rare words that a review repeats count more",
        replace(LONGER, name="bert, twice, copying phase", budget=_COPY_FIRST),
    ),
    (
        "content to position, copying phase",
        "the same",
        replace(_RELATIVE_TWICE, name="relative, twice, copying phase", budget=_COPY_FIRST),
    ),
)
NAMES = Column("of it at names, nats a masked token", "less", 0.0)
_BOTH: tuple[str, ...] = ("c2p", "p2c")

POSITIONS = Claim(
    "relative-positions",
    "Relative positions are better than absolute ones, and each part of DeBERTa helps",
    "he2021",
    "sections 3.1, 3.2 and 5.2, table 4",
    "16",
    (
        _tuned("absolute", "BERT: position embeddings, initialized at random", DRAWN),
        _tuned("absolute, from sinusoids", "initialized as sinusoids", BERT),
        Variant("content to position", "Shaw et al.: c2c + c2p, k = 32", (RELATIVE,), GAP_AND_SIZE),
        _deberta("position to content", "c2c + p2c", pos_att_type=("p2c",)),
        _deberta("both terms", "c2c + c2p + p2c", pos_att_type=_BOTH),
        _deberta(
            "both terms, δ(j, i)",
            "p2c with the index of equation 4",
            pos_att_type=_BOTH,
            p2c_as_in_paper=True,
        ),
        _deberta(
            "both terms and EMD",
            "DeBERTa: and the enhanced mask decoder",
            DebertaForPreTraining,
            pos_att_type=_BOTH,
        ),
        _deberta("no positions", "c2c alone", relative_attention=False),
        *(_twice(name, about, plan) for name, about, plan in _LONGER),
    ),
    {"gap": GAP, "names": NAMES, "parameters": PARAMETERS},
    (
        Contrast("content to position", "absolute", "gap", 0.05),
        Contrast("content to position", "absolute, from sinusoids", "gap", 0.05),
        Contrast("both terms", "content to position", "gap", 0.05),
        Contrast("both terms", "position to content", "gap", 0.05),
        Contrast("both terms", "both terms, δ(j, i)", "gap", 0.05, claimed="equal"),
        Contrast("both terms and EMD", "both terms", "gap", 0.05),
        Contrast("content to position", "no positions", "gap", 0.05),
        *(
            Contrast(f"content to position{how}", f"absolute{how}", column, margin)
            for how in (", twice the updates", ", copying phase, twice the updates")
            for column, margin in (("gap", 0.05), ("names", 0.025))
        ),
    ),
    "The learning rates of the absolute positions are tuned, those of the others are not.",
)

CLAIMS = (POSITIONS,)
