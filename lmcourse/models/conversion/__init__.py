"""Our models as other libraries' and back: names of tensors, and settings.

Each module here knows one architecture; `lmcourse.models.checkpoint.Model.from_transformers` and
`to_transformers` look their conversion up by the class's name.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lmcourse.errors import CourseError
from lmcourse.models.conversion.renaming import Renaming

if TYPE_CHECKING:
    from torch import nn

    from lmcourse.models.checkpoint import Model

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
"""Which module here knows a model: by the beginning of its class's name."""

SAME = {"gelu_pytorch_tanh": "gelu_new"}
"""Two of their names for one activation: GPT's approximation, fused and in steps."""


@dataclass(frozen=True)
class Conversion:
    """One of our models and its counterpart of the `transformers` library.

    Args:
        architecture: the counterpart's class, by name.
        renaming: the tensors' names.
        settings: our settings' names (where two differ from theirs, both) → theirs.
        config: the counterpart's class of configurations, by name.
        fixed: settings of theirs that ours has no other value for.
        old: settings of older versions of theirs, which later ones silently ignore → the value
            that is still computed with.
        same: their names for values that are ours by another name.
        given: settings that are needed to make theirs, and say nothing about ours.
        ours: settings of ours that theirs has no other value for; the first is the one that tells
            a class's counterparts apart.
        least: settings of ours that theirs has no lower value of.
        usual: a configuration of ours with what is written out though it is the default as the
            default: so it is held against ``ours``.
        parts: settings of ours that say whether there is a part → its name in the counterpart,
            which is None there without it, and the argument that the counterpart is made with.
        forms: settings of ours that theirs writes in another way → what makes ours of theirs, and
            theirs of ours.
        grouped: whether the counterpart stacks tensors head by head.
    """

    architecture: str
    renaming: Renaming
    config: str
    settings: dict[str, str]
    fixed: dict[str, Any]
    old: dict[str, Any] = field(default_factory=dict)
    same: dict[str, Any] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)
    least: dict[str, int] = field(default_factory=dict)
    usual: Callable[[Any], Any] = lambda config: config
    parts: dict[str, tuple[str, str]] = field(default_factory=dict)
    forms: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = field(
        default_factory=dict
    )
    grouped: bool = False

    def names(self, config: Any) -> Renaming:
        """The tensors' names for a model with these settings, ours or theirs."""
        if not self.grouped:
            return self.renaming
        return self.renaming.in_groups(config.num_attention_heads)

    def lacking(self, config: Any) -> list[str]:
        """Settings of this configuration of ours that the counterpart has other values of."""
        usual = self.usual(config)
        return [name for name, value in self.ours.items() if getattr(usual, name) != value]

    def distance(self, config: Any = None) -> list[bool]:
        """How ill a configuration of ours fits; as lists compare, the first setting weighs most."""
        lacking = () if config is None else self.lacking(config)
        return [name in lacking for name in self.ours]

    def to_ours(self, kind: "type[Model]", reference: "nn.Module") -> "Model":
        """A model of ours with a copy of the reference's weights, in its mode.

        Raises:
            CourseError: it is of another architecture, or has a setting that ours lacks.
        """
        from lmcourse.models.checkpoint import load_strictly

        name = type(reference).__name__
        if name != self.architecture:
            through = f", and call {kind.__name__}.on_top_of with what it becomes"
            raise CourseError(
                f"{kind.__name__} cannot take over {name}.",
                f"Give {self.architecture} of the transformers library; or take in what you have "
                f"by our class of its name{through if hasattr(kind, 'on_top_of') else ''}.",
            )
        theirs = reference.config
        for setting, value in (self.fixed | self.old).items():
            if getattr(theirs, setting, value) != value:
                raise CourseError(
                    f"The reference has {setting}={getattr(theirs, setting)!r}, which our "
                    f"{kind.__name__} has not.",
                    f"Give one with {setting}={value!r}.",
                )
        settings = {
            ours: self._ours(ours, getattr(theirs, own, None))
            for ours, own in self.settings.items()
        }
        parts = {
            ours: getattr(reference, part) is not None for ours, (part, _) in self.parts.items()
        }
        model = kind(kind.Config(**settings, **parts, **self.ours))
        state = self.names(theirs).to_ours(reference.state_dict())
        load_strictly(model, state, f"this {name}")
        return model.train(reference.training)

    def to_theirs(self, model: "Model") -> "nn.Module":
        """The counterpart with a copy of the model's weights, in its mode.

        Raises:
            CourseError: the counterpart lacks a setting that the model has.
        """
        import transformers

        from lmcourse.models.checkpoint import load_strictly

        lacking = self.lacking(model.config)
        if lacking:
            has = [f"{name}={getattr(model.config, name)!r}" for name in lacking]
            wanted = [f"{name}={self.ours[name]!r}" for name in lacking]
            raise CourseError(
                f"This {type(model).__name__} has {' and '.join(has)}, "
                f"which its counterpart {self.architecture} has not.",
                f"Convert one with {' and '.join(wanted)}.",
            )
        for name, least in self.least.items():
            if getattr(model.config, name) < least:
                raise CourseError(
                    f"This {type(model).__name__} has {name}={getattr(model.config, name)!r}; its "
                    f"counterpart {self.architecture} has at least {least}.",
                    f"Convert one with {name}={least} or more, or save it with model.save(path).",
                )
        settings = {
            own: self._theirs(ours, getattr(model.config, ours))
            for ours, own in self.settings.items()
        }
        kind = getattr(transformers, self.config)
        special = _no_special_tokens(kind, settings)
        config = kind(**(settings | self.fixed | special | self.given))
        parts = {name: getattr(model.config, ours) for ours, (_, name) in self.parts.items()}
        reference = getattr(transformers, self.architecture)(config, **parts)
        state = self.names(model.config).to_theirs(model.state_dict())
        load_strictly(reference, state, f"this {type(model).__name__}")
        return reference.train(model.training)

    def _ours(self, name: str, value: Any) -> Any:
        return self.forms[name][0](value) if name in self.forms else self.same.get(value, value)

    def _theirs(self, name: str, value: Any) -> Any:
        return self.forms[name][1](value) if name in self.forms else value


def _no_special_tokens(kind: type, settings: dict[str, Any]) -> dict[str, None]:
    """None for the special tokens whose default ids a small vocabulary does not reach."""
    defaults, last = kind(), settings["vocab_size"] - 1
    names = ("bos_token_id", "eos_token_id")
    return {name: None for name in names if (getattr(defaults, name, None) or 0) > last}


def conversion_of(
    kind: "type[Model]", architecture: str | None = None, config: Any = None
) -> Conversion:
    """The conversion of one of our classes.

    Where a class has several counterparts, the one that fits, or comes closest: it will say what
    does not.

    Args:
        architecture: the counterpart's class, by name.
        config: the settings of the model that is to be converted.

    Raises:
        CourseError: the `transformers` library has no such model.
    """
    for beginning, module in MODULES.items():
        if kind.__name__.startswith(beginning):
            found: dict[str, Conversion | tuple[Conversion, ...]]
            found = import_module(f"{__name__}.{module}").CONVERSIONS
            if kind.__name__ in found:
                known = found[kind.__name__]
                several = (known,) if isinstance(known, Conversion) else known
                named = [one for one in several if architecture in (None, one.architecture)]
                return min(named or several, key=lambda one: one.distance(config))
    raise CourseError(
        f"The transformers library has no counterpart of {kind.__name__}.",
        "Save it with model.save(path), or convert one of its parts.",
    )
