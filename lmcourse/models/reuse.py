"""A new head on a pretrained model: shared tensors are copied, the rest is initialized.

Each task gets its own small layer on the same pretrained weights (Devlin et al. 2019, figure 1;
chapter 11):

    BertForTokenClassification.on_top_of(pretrained, num_labels=9)
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar, cast

from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.checkpoint import Model, check_as_configured
from lmcourse.models.weights import load_strictly

M = TypeVar("M", bound=Model)
C = TypeVar("C")


def on_top_of(
    kind: type[M],
    pretrained: Model,
    base: type[Model],
    part: str,
    changes: dict[str, Any],
    heads: tuple[str, ...] = (),
) -> M:
    """Build a model on a copy of pretrained weights, in their mode, type and device.

    Args:
        kind: the class to build.
        pretrained: a base model, or one with a head.
        base: the base model's class.
        part: the base model's attribute name in a model with a head.
        changes: settings that differ from the pretrained model's.
        heads: heads to copy if both models have them.

    A pooler is dropped or initialized if only one of the models has it.
    """
    body = body_of(kind, pretrained, (base,), part)
    model = kind(settings_for(kind.Config, pretrained.config, changes))
    like = next(body.parameters())
    model.to(like.device, like.dtype)
    copied = _under(part, body)
    for head in heads:
        if hasattr(model, head) and hasattr(pretrained, head):
            copied |= _under(head, getattr(pretrained, head))
    own, pooler = model.state_dict(), f"{part}.pooler."
    initialized = {
        name: tensor
        for name, tensor in own.items()
        if name.startswith(pooler) or not name.startswith(f"{part}.")
    }
    copied = {name: t for name, t in copied.items() if name in own or not name.startswith(pooler)}
    load_strictly(model, initialized | copied, f"this {type(pretrained).__name__}")
    return model.train(pretrained.training)


def body_of(kind: type[Model], pretrained: Model, bases: tuple[type[M], ...], part: str) -> M:
    """Return the base model of a pretrained model, or the model itself.

    Args:
        kind: the class to be built.
        bases: the possible classes, or members of their `family`; the error names the first.
        part: its attribute name in a model with a head.
    """
    known = set[type]().union(*map(family, bases))
    body = pretrained if known & family(type(pretrained)) else getattr(pretrained, part, None)
    if not isinstance(body, Model) or not known & family(type(body)):
        base, found = bases[0].__name__, type(pretrained).__name__
        parts = [
            name
            for name, child in pretrained.named_children()
            if known & family(type(getattr(child, part, None)))
        ]
        such = f", such as this {found}'s {' or '.join(parts)}" if parts else ""
        raise CourseError(
            f"{kind.__name__} needs {base}, but got {found}.",
            f"Give {base}, or a model that contains one{such}; convert a model of the transformers "
            "library with from_transformers first.",
        )
    check_as_configured(body, "Build on the original model, then compress the result.")
    return cast(M, body)


def family(kind: type) -> set[type]:
    """Return a base model's class and its ``same_weights``.

    They are not inherited: a subclass may compute something else with the same tensors.
    """
    return {kind, *vars(kind).get("same_weights", ())}


def settings_for(config: type[C], known: Any, changes: Mapping[str, Any]) -> C:
    """Return a configuration with a pretrained model's settings, and changes."""
    own = {field.name for field in fields(cast(Any, config))}
    kept = {f.name: getattr(known, f.name) for f in fields(known) if f.name in own}
    return config(**(kept | dict(changes)))


def _under(part: str, module: nn.Module) -> dict[str, Tensor]:
    return {f"{part}.{name}": tensor for name, tensor in module.state_dict().items()}
