"""All recipes, by name: what `lmcourse pretrain` can train."""

from lmcourse.errors import CourseError
from research.pretrain.causal import CAUSAL
from research.pretrain.electra import ELECTRA
from research.pretrain.elmo import ELMO
from research.pretrain.encoders import ENCODERS
from research.pretrain.recipe import Trainable
from research.pretrain.recurrent import RECURRENT
from research.pretrain.seq2seq import TRANSFORMER
from research.pretrain.students import STUDENTS
from research.pretrain.vectors import VECTORS

RECIPES: dict[str, Trainable] = {
    recipe.name: recipe
    for recipe in (
        *(*VECTORS, *RECURRENT, ELMO, TRANSFORMER),
        *(*ENCODERS, *CAUSAL, ELECTRA, *STUDENTS),
    )
}


def recipe(name: str) -> Trainable:
    """The recipe of a name.

    Raises:
        CourseError: there is none.
    """
    if name not in RECIPES:
        raise CourseError(f"There is no recipe {name!r}.", f"Choose one of: {', '.join(RECIPES)}.")
    return RECIPES[name]
