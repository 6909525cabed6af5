"""All recipes, by name: what `lmcourse pretrain` can train."""

from lmcourse.errors import CourseError
from lmcourse.pretrain.causal import CAUSAL
from lmcourse.pretrain.electra import ELECTRA
from lmcourse.pretrain.encoders import ENCODERS
from lmcourse.pretrain.recipe import Trainable

RECIPES: dict[str, Trainable] = {recipe.name: recipe for recipe in (*ENCODERS, *CAUSAL, ELECTRA)}


def recipe(name: str) -> Trainable:
    """The recipe of a name.

    Raises:
        CourseError: there is none.
    """
    if name not in RECIPES:
        raise CourseError(f"There is no recipe {name!r}.", f"Choose one of: {', '.join(RECIPES)}.")
    return RECIPES[name]
