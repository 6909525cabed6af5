"""All recipes, by name: what `lmcourse pretrain` can train."""

from lmcourse.errors import CourseError
from lmcourse.pretrain.causal import CAUSAL
from lmcourse.pretrain.electra import ELECTRA
from lmcourse.pretrain.elmo import ELMO
from lmcourse.pretrain.encoders import ENCODERS
from lmcourse.pretrain.recipe import Trainable
from lmcourse.pretrain.recurrent import RECURRENT
from lmcourse.pretrain.seq2seq import TRANSFORMER
from lmcourse.pretrain.students import STUDENTS
from lmcourse.pretrain.vectors import VECTORS

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
