"""A pretrained model under another head: what both have is copied, the rest starts anew.

Pre-training is done once; each task then gets a small layer of its own on the same weights (Devlin
et al. 2019, figure 1; chapter 11):

    BertForTokenClassification.on_top_of(pretrained, num_labels=9)
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.checkpoint import Model, check_as_configured, load_strictly

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
    """A model over a copy of the pretrained one's weights, in its mode, type and place.

    Args:
        kind: what is built.
        pretrained: a base model, or one with another head on it.
        base: the base model's class.
        part: what the base model is called below a head.
        changes: settings that are to differ from the pretrained model's.
        heads: those that are copied too where both models have one by that name.

    A pooler that only the pretrained model has is dropped; one that only ours has is drawn anew.

    Raises:
        CourseError: it has no such base model; a setting is unknown; a tensor does not fit.
    """
    body = body_of(kind, pretrained, (base,), part)
    _check_apart(body)
    model = kind(settings_for(kind.Config, pretrained.config, changes))
    like = next(body.parameters())
    model.to(like.device, like.dtype)
    copied = _under(part, body)
    for head in heads:
        if hasattr(model, head) and hasattr(pretrained, head):
            copied |= _under(head, getattr(pretrained, head))
    own, pooler = model.state_dict(), f"{part}.pooler."
    drawn = {
        name: tensor
        for name, tensor in own.items()
        if name.startswith(pooler) or not name.startswith(f"{part}.")
    }
    copied = {name: t for name, t in copied.items() if name in own or not name.startswith(pooler)}
    load_strictly(model, drawn | copied, f"this {type(pretrained).__name__}")
    return model.train(pretrained.training)


def body_of(kind: type[Model], pretrained: Model, bases: tuple[type[M], ...], part: str) -> M:
    """The base model in a pretrained one, which may be one itself.

    Args:
        kind: what is to be built on it.
        bases: the classes that it may be of, or of their `family`; the first is named if it is
            of none.
        part: what it is called below a head.

    Raises:
        CourseError: there is none, or it is no longer what its configuration makes.
    """
    known = set[type]().union(*map(family, bases))
    body = pretrained if known & family(type(pretrained)) else getattr(pretrained, part, None)
    if not isinstance(body, Model) or not known & family(type(body)):
        base, given = bases[0].__name__, type(pretrained).__name__
        parts = [
            name
            for name, child in pretrained.named_children()
            if known & family(type(getattr(child, part, None)))
        ]
        such = f", such as this {given}'s {' or '.join(parts)}" if parts else ""
        raise CourseError(
            f"{kind.__name__} stands on {base}, and was given {given}.",
            f"Give {base}, or a model with one in it{such}; one of the transformers library comes "
            "in by from_transformers of our class of the same name.",
        )
    check_as_configured(body, "Build on the model as it was, then compress what was built.")
    return cast(M, body)


def family(kind: type) -> set[type]:
    """A base model's class, and those that it names as computing the same with its weights.

    It does not inherit them: a base model's subclass has the same names of tensors, and computes
    something else with them unless it says that it does not.
    """
    return {kind, *vars(kind).get("same_weights", ())}


def settings_for(config: type[C], known: Any, changes: Mapping[str, Any]) -> C:
    """A configuration with those of a pretrained model's settings that it has, and changes.

    Raises:
        CourseError: what is to be changed is no setting.
    """
    check_changes(config, changes)
    own = {field.name for field in fields(cast(Any, config))}
    kept = {f.name: getattr(known, f.name) for f in fields(known) if f.name in own}
    return config(**(kept | dict(changes)))


def _check_apart(body: Model) -> None:
    """See that no layers are one that the configuration, and so a new model, has apart."""
    with torch.device("meta"):
        wanted = type(body)(body.config)
    if len(list(body.parameters())) < len(list(wanted.parameters())):
        raise CourseError(
            f"Layers of this {type(body).__name__} are one, and would be apart under another head.",
            "Build on the model as it was, then share layers of what was built.",
        )


def check_changes(config: type, changes: Mapping[str, Any]) -> None:
    """See that what is to differ from a pretrained model's settings are settings.

    Raises:
        CourseError: one is not.
    """
    unknown = changes.keys() - {field.name for field in fields(config)}
    if unknown:
        raise CourseError(
            f"{config.__name__} has no setting {', '.join(sorted(unknown))}.",
            "Give settings that are to differ from the pretrained model's, by name.",
        )


def _under(part: str, module: nn.Module) -> dict[str, Tensor]:
    return {f"{part}.{name}": tensor for name, tensor in module.state_dict().items()}
