"""Conversion from and to other libraries: names of tensors, and settings.

Each module is for one architecture. `lmcourse.models.checkpoint.Model.from_transformers` and
`to_transformers` find their conversion by the class's name. No module here, except `published`,
imports models.
"""

from functools import cache
from importlib import import_module
from typing import Any

from lmcourse.errors import CourseError
from lmcourse.models.conversion.rules import Conversion

MODULES = {
    "Bert": "bert",
    "GPT": "gpt",
    "Albert": "albert",
    "Deberta": "deberta",
    "Roberta": "roberta",
    "DistilBert": "distilbert",
    "SpanBert": "spanbert",
    "KBert": "kbert",
    "Electra": "electra",
}
"""The module of each architecture, by the prefix of a class's name."""


def conversion_of(kind: type, architecture: str | None = None, config: Any = None) -> Conversion:
    """Return the conversion of one of our classes.

    If a class has several counterparts, it is the one that fits best, whose error is the most
    helpful.

    Args:
        architecture: the name of the counterpart's class.
        config: the settings of the model to convert.
    """
    if several := conversions().get(kind.__name__):
        named = [one for one in several if architecture in (None, one.architecture)]
        return min(named or several, key=lambda one: one.distance(config))
    raise CourseError(
        f"The transformers library has no counterpart of {kind.__name__}.",
        "Save it with model.save(path), or convert one of its parts.",
    )


@cache
def conversions() -> dict[str, tuple[Conversion, ...]]:
    """Every conversion, by the name of the course's class."""
    found: dict[str, tuple[Conversion, ...]] = {}
    for module in MODULES.values():
        for name, one in import_module(f"{__name__}.{module}").CONVERSIONS.items():
            found[name] = one if isinstance(one, tuple) else (one,)
    return found
