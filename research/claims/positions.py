"""Claims about positions: absolute, relative, and each part of DeBERTa."""

from dataclasses import replace
from typing import Any

from lmcourse.models.deberta import DebertaForMaskedLM
from lmcourse.models.enhanced_mask_decoder import DebertaForPreTraining
from research.claims.claim import Claim, Contrast, Plan, Variant
from research.claims.encoders import GAP, GAP_AND_SIZE, PARAMETERS
from research.claims.scale import BERT, BUDGET, DRAWN, LONGER, RELATIVE, RELATIVE_SIZES, TWICE
from research.pretrain.encoders import MaskedRecipe

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
    """A variant whose learning rates are chosen by the accuracy on the masked tokens."""
    settings = tuple(f"{factor:g} × the learning rates" for factor in _FACTORS)
    return Variant(name, about, _at_rates(plan), GAP_AND_SIZE, "masked/accuracy", settings)


def _deberta(name: str, about: str, model: type = DebertaForMaskedLM, **changes: Any) -> Variant:
    recipe = MaskedRecipe(name, about, model, RELATIVE_SIZES | changes, BUDGET)
    return Variant(name, about, (Plan(recipe),), GAP_AND_SIZE)


_BOTH: tuple[str, ...] = ("c2p", "p2c")

POSITIONS = Claim(
    "relative-positions",
    "Relative positions are better than absolute ones, and each part of DeBERTa helps",
    "he2021",
    "sections 3.1 and 5.2, table 5",
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
        Variant("absolute, twice the updates", "from sinusoids", (Plan(LONGER),), GAP_AND_SIZE),
        Variant(
            "content to position, twice the updates",
            "",
            (
                replace(
                    RELATIVE, recipe=replace(RELATIVE.recipe, name="relative, twice", budget=TWICE)
                ),
            ),
            GAP_AND_SIZE,
        ),
    ),
    {"gap": GAP, "parameters": PARAMETERS},
    (
        Contrast("content to position", "absolute", "gap", 0.05),
        Contrast("content to position", "absolute, from sinusoids", "gap", 0.05),
        Contrast("both terms", "content to position", "gap", 0.05),
        Contrast("both terms", "position to content", "gap", 0.05),
        Contrast("both terms", "both terms, δ(j, i)", "gap", 0.05, claimed="equal"),
        Contrast("both terms and EMD", "both terms", "gap", 0.05),
        Contrast("content to position", "no positions", "gap", 0.05),
        Contrast(
            "content to position, twice the updates", "absolute, twice the updates", "gap", 0.05
        ),
    ),
    "The learning rates of the absolute positions are tuned, those of the others are not.",
)

CLAIMS = (POSITIONS,)
