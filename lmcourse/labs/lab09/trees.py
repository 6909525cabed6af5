"""The trees that the beams of 09.5 search, small enough to know every target's probability."""

import functools
from collections.abc import Callable

import torch

Target = tuple[int, ...]
LogP = Callable[[Target], list[float]]

TOKENS, END, LONGEST = 4, 0, 5
# Where what has ended is collected outside of the beam, where a target that has ended is overtaken
# by a longer one, and where a penalty that comes too late loses: seldom, so they were looked for.
_RARE = (
    *((90, 3, 0.0), (105, 2, 0.0), (134, 2, 0.0), (37, 2, 0.0), (40, 3, 0.0)),
    *((10, 2, 1.5), (10, 3, 1.5), (34, 3, 1.5), (92, 2, 1.5), (1, 3, 1.5), (129, 2, 1.5)),
    *((147, 2, 1.5), (5, 2, 1.5), (9, 2, 1.5), (12, 3, 1.5), (64, 3, 1.5)),
)
# seed, beams, alpha: so many that each mistake shows in some; beams = 1 and alpha = 0 among them.
_USUAL = tuple((seed, k, alpha) for k in (1, 2, 3) for alpha in (0.0, 1.5) for seed in range(4))
CASES = (*_USUAL, *_RARE)


def tree(seed: int) -> LogP:
    """Log-probabilities of the next token after each beginning: peaked, and different for each."""
    return lambda beginning: list(_log_p(seed, tuple(beginning)))


@functools.cache
def _log_p(seed: int, beginning: Target) -> list[float]:
    place = sum((token + 1) * 7**i for i, token in enumerate(beginning))
    generator = torch.Generator().manual_seed(1000 * seed + place)
    logits = 2.0 * torch.randn(TOKENS, generator=generator, dtype=torch.float64)
    logits[END] -= 0.5
    return list(logits.log_softmax(-1).tolist())
