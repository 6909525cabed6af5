"""A pretrained model under another head: what both have is copied, the rest starts anew.

Pre-training is done once; each task then gets a small layer of its own on the same weights (Devlin
et al. 2019, figure 1; chapter 11):

    BertForTokenClassification.on_top_of(pretrained, num_labels=9)
"""

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
    body = pretrained if type(pretrained) is base else getattr(pretrained, part, None)
    # A base model's subclass has the same names of tensors, and computes something else with them.
    if not isinstance(body, Model) or type(body) is not base:
        raise CourseError(
            f"{kind.__name__} stands on a {base.__name__}, and was given a "
            f"{type(pretrained).__name__}.",
            f"Give a {base.__name__} or a model with one in it; one of the transformers library "
            "comes in by from_transformers of our class of the same name.",
        )
    unknown = changes.keys() - {field.name for field in fields(kind.Config)}
    if unknown:
        raise CourseError(
            f"{kind.Config.__name__} has no setting {', '.join(sorted(unknown))}.",
            "Give settings that are to differ from the pretrained model's, by name.",
        )
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


def _under(part: str, module: nn.Module) -> dict[str, Tensor]:
    return {f"{part}.{name}": tensor for name, tensor in module.state_dict().items()}
