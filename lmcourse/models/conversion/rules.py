"""How a model of the course and its counterpart of the `transformers` library become each other."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import nn

from lmcourse.errors import CourseError
from lmcourse.models.conversion.renaming import Renaming
from lmcourse.models.weights import load_strictly, meta_device

SAME = {"gelu_pytorch_tanh": "gelu_new"}
"""Another name of theirs for the activation gelu_new."""


TIED: dict[str, Any] = {"tie_word_embeddings": True}
SPANS: dict[str, Any] = {"num_labels": 2}
"""A start and an end are two scores, whatever ``num_labels`` says to our other heads."""
FIXED_BY = {"ForPreTraining": TIED, "ForMaskedLM": TIED, "ForQuestionAnswering": SPANS}
"""The settings of theirs that a head has only one value of."""


@dataclass(frozen=True)
class Conversion:
    """One of our models and its counterpart of the `transformers` library.

    Args:
        architecture: the name of the counterpart's class.
        renaming: the tensors' names.
        settings: our settings' names → theirs.
        config: the name of the counterpart's configuration class.
        fixed: settings of theirs that have only one value in ours.
        old: settings of theirs that later versions ignore → the value that they use.
        same: their names for values → ours.
        ours: settings of ours that have only one value in theirs; the first distinguishes a class's
            counterparts.
        usual: normalizes a configuration of ours before it is compared with ``ours``.
        parts: settings of ours for optional parts → the part's name in the counterpart, and its
            constructor argument.
        forms: settings that theirs writes differently → functions from theirs and to theirs.
        grouped: whether the counterpart stacks tensors head by head.
    """

    architecture: str
    renaming: Renaming
    config: str
    settings: dict[str, str]
    fixed: dict[str, Any]
    old: dict[str, Any] = field(default_factory=dict)
    same: dict[str, Any] = field(default_factory=dict)
    ours: dict[str, Any] = field(default_factory=dict)
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
        """Return our settings whose values the counterpart does not support."""
        usual = self.usual(config)
        return [name for name, value in self.ours.items() if getattr(usual, name) != value]

    def distance(self, config: Any = None) -> list[bool]:
        """Return how badly a configuration fits, in an order of lists."""
        lacking = () if config is None else self.lacking(config)
        return [name in lacking for name in self.ours]

    def to_ours(self, kind: Any, reference: nn.Module) -> Any:
        """Return our model with a copy of the reference's weights, in its mode."""
        name = type(reference).__name__
        if name != self.architecture:
            through = f", and call {kind.__name__}.on_top_of with the result"
            raise CourseError(
                f"{kind.__name__} cannot be built from {name}.",
                f"Give {self.architecture} of the transformers library; or convert this to our "
                f"class of its name{through if hasattr(kind, 'on_top_of') else ''}.",
            )
        theirs = reference.config
        for setting, value in (self.fixed | self.old).items():
            if getattr(theirs, setting, value) != value:
                raise CourseError(
                    f"The reference has {setting}={getattr(theirs, setting)!r}, which our "
                    f"{kind.__name__} lacks.",
                    f"Give one with {setting}={value!r}.",
                )
        settings = {
            ours: self._ours(ours, getattr(theirs, own))
            for ours, own in self.settings.items()
            if hasattr(theirs, own)
        }
        parts = {
            ours: getattr(reference, part) is not None for ours, (part, _) in self.parts.items()
        }
        with meta_device():  # its weights are about to be replaced
            model = kind(kind.Config(**settings, **parts, **self.ours))
        state = self.names(theirs).to_ours(reference.state_dict())
        load_strictly(model, state, f"this {name}")
        return model.train(reference.training)

    def to_theirs(self, model: Any) -> nn.Module:
        """Return the counterpart with a copy of the model's weights, in its mode."""
        import transformers

        lacking = self.lacking(model.config)
        if lacking:
            has = [f"{name}={getattr(model.config, name)!r}" for name in lacking]
            wanted = [f"{name}={self.ours[name]!r}" for name in lacking]
            raise CourseError(
                f"This {type(model).__name__} has {' and '.join(has)}, "
                f"which its counterpart {self.architecture} lacks.",
                f"Convert one with {' and '.join(wanted)}.",
            )
        settings = {
            own: self._theirs(ours, getattr(model.config, ours))
            for ours, own in self.settings.items()
        }
        kind = getattr(transformers, self.config)
        special = _no_special_tokens(kind, settings)
        config = kind(**(settings | self.fixed | special))
        parts = {name: getattr(model.config, ours) for ours, (_, name) in self.parts.items()}
        reference = getattr(transformers, self.architecture)(config, **parts)
        state = self.names(model.config).to_theirs(model.state_dict())
        load_strictly(reference, state, f"this {type(model).__name__}")
        return reference.train(model.training)

    def _ours(self, name: str, value: Any) -> Any:
        return self.forms[name][0](value) if name in self.forms else self.same.get(value, value)

    def _theirs(self, name: str, value: Any) -> Any:
        return self.forms[name][1](value) if name in self.forms else value


def heads(
    name: str,
    body: Conversion,
    base: Renaming,
    own: Mapping[str, Renaming],
    fixed: Mapping[str, dict[str, Any]] = FIXED_BY,
) -> dict[str, Conversion]:
    """Return the conversions of an architecture with heads, by the class's name in both libraries.

    Args:
        name: of the architecture, with which these names begin.
        body: the conversion of the model without a head.
        base: the names of its tensors in a model with a head.
        own: the names of each head's tensors.
        fixed: settings of theirs that a head has only one value of.
    """
    return {
        f"{name}{head}": replace(
            body,
            architecture=f"{name}{head}",
            renaming=base + renaming,
            fixed=body.fixed | fixed.get(head, {}),
            parts={},
        )
        for head, renaming in own.items()
    }


def _no_special_tokens(kind: type, settings: dict[str, Any]) -> dict[str, None]:
    """Return None for special tokens whose default ids exceed the vocabulary."""
    defaults, last = kind(), settings["vocab_size"] - 1
    names = ("bos_token_id", "eos_token_id")
    return {name: None for name in names if (getattr(defaults, name, None) or 0) > last}
