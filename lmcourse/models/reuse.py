"""A pretrained model under another head: what both have is copied, the rest starts anew.

Pre-training is done once; each task then gets a small layer of its own on the same weights (Devlin
et al. 2019, figure 1; chapter 11):

    BertForTokenClassification.on_top_of(pretrained, num_labels=9)
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.checkpoint import Model, load_strictly

M = TypeVar("M", bound=Model)


def on_top_of(
    kind: type[M],
    pretrained: Model,
    base: type[Model],
    part: str,
    changes: dict[str, Any],
    heads: tuple[str, ...] = (),
    same: tuple[type[Model], ...] = (),
) -> M:
    """A model over a copy of the pretrained one's weights, in its mode, type and place.

    Args:
        kind: what is built.
        pretrained: a base model, or one with another head on it.
        base: the base model's class.
        part: what the base model is called below a head.
        changes: settings that are to differ from the pretrained model's.
        heads: those that are copied too where both models have one by that name.
        same: other classes that compute with the same weights as the base model.

    A pooler that only the pretrained model has is dropped; one that only ours has is drawn anew.

    Raises:
        CourseError: it has no such base model; a setting is unknown; a tensor does not fit.
    """
    body = body_of(kind, pretrained, (base, *same), part)
    check_changes(kind.Config, changes)
    model = kind(replace(pretrained.config, **changes))
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
        bases: the classes that it may be of; the first is named if it is of none.
        part: what it is called below a head.

    Raises:
        CourseError: there is none.
    """
    body = pretrained if type(pretrained) in bases else getattr(pretrained, part, None)
    # A base model's subclass has the same names of tensors, and computes something else with them.
    if not isinstance(body, bases) or type(body) not in bases:
        base = bases[0].__name__
        raise CourseError(
            f"{kind.__name__} stands on a {base}, and was given a {type(pretrained).__name__}.",
            f"Give a {base} or a model with one in it; one of the transformers library comes in "
            "by from_transformers of our class of the same name.",
        )
    return body


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
