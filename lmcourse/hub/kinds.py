"""Which of our classes a model is of, by its name here or in the `transformers` library."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from lmcourse import models
from lmcourse.errors import CourseError
from lmcourse.models.checkpoint import Model
from lmcourse.models.conversion import MODULES, Conversion

Known = dict[str, tuple[Conversion, ...]]


def class_named(name: str) -> type[Model] | None:
    """Our class of this name, wherever in `lmcourse.models` it is."""
    modules = [module.name for module in iter_modules(models.__path__) if not module.ispkg]
    likely = tuple(of for beginning, of in MODULES.items() if name.startswith(beginning))
    # Those that share the beginning of its name come first, since each import takes time.
    for module in sorted(modules, key=lambda module: not module.startswith(likely)):
        found = getattr(import_module(f"{models.__name__}.{module}"), name, None)
        if isinstance(found, type) and issubclass(found, Model) and hasattr(found, "Config"):
            return found
    return None


@cache
def conversions() -> Known:
    """Every conversion, by the name of our class."""
    found: Known = {}
    for module in MODULES.values():
        known = import_module(f"lmcourse.models.conversion.{module}").CONVERSIONS
        for name, one in known.items():
            found[name] = one if isinstance(one, tuple) else (one,)
    return found


def kind_for(
    config: dict[str, Any], wanted: type[Model] | None, place: str
) -> tuple[type[Model], Conversion]:
    """Our class for a model of the `transformers` library, and how it becomes one.

    Args:
        config: the configuration that was saved with it.
        wanted: the class to take; None: what the configuration names, else the base model.
        place: what to call the model in an error.

    Raises:
        CourseError: there is none, or it is not the one that is wanted.
    """
    architecture = next(iter(_list(config.get("architectures"))), None)
    kind = str(config.get("model_type"))
    for name, several in conversions().items():
        for one in several:
            fits = name in MODULES if architecture is None else one.architecture == architecture
            if kind == _model_type(one) and (name == wanted.__name__ if wanted else fits):
                found = wanted or class_named(name)
                assert found is not None  # a test looks at each of them
                return found, one
    what = f"a model of the type {kind!r}" + (f" ({architecture})" if architecture else "")
    ours = [name for name, several in conversions().items() if kind in [*map(_model_type, several)]]
    if wanted is not None:
        raise CourseError(
            f"{place} holds {what}, which {wanted.__name__} cannot take in.",
            f"Load it as one of {', '.join(ours)}."
            if ours
            else "Give a model of the architecture of that class.",
        )
    types = sorted({_model_type(one) for several in conversions().values() for one in several})
    raise CourseError(
        f"{place} holds {what}, which is none of the course's models.",
        f"Say as which class to load it: one of {', '.join(ours)}."
        if ours
        else f"Give one of the type {', '.join(types)}.",
    )


def _model_type(conversion: Conversion) -> str:
    import transformers

    return str(getattr(transformers, conversion.config).model_type)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
