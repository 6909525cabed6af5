"""All recipes, by name: what `lmcourse pretrain` can train."""

from research.by_name import by_name
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
    return by_name(name, RECIPES, "recipe")
