"""Sampling the next token, from all tokens or from the most likely ones (chapter 10).

    p(token) = softmax(logits / τ)        τ, the temperature: 1 is the model's own distribution,
                                          less is sharper, and 0 takes the most likely token

Top-k sampling (Fan et al. 2018, "Hierarchical neural story generation", section 5) sets all but the
k highest logits to −∞ before the softmax.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError, check_sizes


def sample(
    logits: Float[Tensor, "batch vocab"],
    temperature: float = 1.0,
    top_k: int | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "batch 1"]:
    """Sample one token for each row.

    Args:
        temperature: the logits' divisor; 0 takes the most likely token.
        top_k: the number of most likely tokens to sample from; None: all. Ties are broken
            arbitrarily.
        generator: the random number generator.
    """
    if temperature < 0:
        raise CourseError(
            f"The temperature is {temperature}.",
            "Give a number of at least 0: 1 is the model's distribution, 0 its most likely token.",
        )
    check_sizes(top_k=top_k)
    if temperature == 0:
        return logits.argmax(-1, keepdim=True)
    if top_k is not None:
        kept, tokens = logits.topk(min(top_k, logits.shape[-1]))
        logits = torch.full_like(logits, -torch.inf).scatter(-1, tokens, kept)
    # With the maximum subtracted, a quotient may underflow to −∞ but not overflow; a temperature
    # that is 0 in float32 becomes the smallest positive number.
    logits = logits.float() - logits.float().amax(-1, keepdim=True)
    coldest = torch.finfo(torch.float32).tiny
    return (logits / max(temperature, coldest)).softmax(-1).multinomial(1, generator=generator)


def inverse_transform(
    logits: Float[Tensor, "*positions vocab"], uniform: Float[Tensor, "*positions"]
) -> Int[Tensor, "*positions"]:
    """Return the token at which the distribution function exceeds a uniform random number.

    A token then depends on its own logits and number alone, not on the rest of the batch.

    Args:
        uniform: numbers in [0, 1), one for each row of logits.
    """
    # In float32, rounding errors of a sum over a vocabulary exceed a rare token's probability;
    # Apple's GPUs have no float64.
    wide = torch.float64 if logits.device.type in ("cpu", "cuda") else torch.float32
    cumulative = logits.to(wide).softmax(-1).cumsum(-1)
    reached = uniform[..., None].to(wide) * cumulative[..., -1:]
    found = torch.searchsorted(cumulative, reached, right=True).squeeze(-1)
    return found.clamp(max=logits.shape[-1] - 1)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Use evaluation mode within the block, then restore the mode of each part."""
    modes = {part: part.training for part in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for part, training in modes.items():
            part.training = training
