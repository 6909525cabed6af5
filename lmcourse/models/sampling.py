"""Drawing the next token: from all that a model says, or from the likeliest alone (chapter 10).

    p(token) = softmax(logits / τ)        τ, the temperature: 1 is the model's own distribution,
                                          less is sharper, and 0 the likeliest token

Of the k likeliest tokens only, as Fan et al. (2018, "Hierarchical neural story generation", section
5) draw: the others' logits become −∞ before the softmax.
"""

import math
import operator
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError


def sample(
    logits: Float[Tensor, "batch vocab"],
    temperature: float = 1.0,
    top_k: int | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "batch 1"]:
    """One token for each row.

    Args:
        temperature: what the logits are divided by; 0 takes the likeliest token.
        top_k: how many of the likeliest tokens may be drawn; None: all. Of tokens that are as
            likely as each other, some are left out if need be.
        generator: where chance comes from.
    """
    if temperature == 0:
        return logits.argmax(-1, keepdim=True)
    if top_k is not None:
        kept, tokens = logits.topk(min(top_k, logits.shape[-1]))
        logits = torch.full_like(logits, -torch.inf).scatter(-1, tokens, kept)
    # Counted from the likeliest down, a quotient may fall to −∞ but never rises to it; and a
    # temperature that float32 knows only as 0 is as cold as the least that it knows.
    logits = logits.float() - logits.float().amax(-1, keepdim=True)
    coldest = torch.finfo(torch.float32).tiny
    return (logits / max(temperature, coldest)).softmax(-1).multinomial(1, generator=generator)


def check_sampling(max_new_tokens: int, temperature: float, top_k: int | None) -> None:
    """See that tokens can be drawn so.

    Raises:
        CourseError: a number is of the wrong kind, or out of range.
    """
    for name, value, least in (("max_new_tokens", max_new_tokens, 0), ("top_k", top_k, 1)):
        if not _whole(value, least) and not (name == "top_k" and value is None):
            raise CourseError(
                f"{name} is {value!r}.",
                f"Give a whole number of at least {least}"
                + (", or None for all tokens." if name == "top_k" else "."),
            )
    number = isinstance(temperature, int | float) and not isinstance(temperature, bool)
    if not number or not 0 <= temperature < math.inf:
        raise CourseError(
            f"temperature is {temperature!r}.",
            "Give a number of at least 0: 1 draws as the model says, 0 takes the likeliest token.",
        )


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Dropout is off within the block; behind it each part is in the mode that it was in."""
    modes = {part: part.training for part in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for part, training in modes.items():
            part.training = training


def _whole(value: object, least: int) -> bool:
    try:
        return not isinstance(value, bool) and operator.index(value) >= least  # type: ignore[arg-type]
    except TypeError:
        return False
