"""The trees that the beams of 09.5 search, small enough to know every target's probability."""

import functools
from collections.abc import Callable

import torch

Target = tuple[int, ...]
LogP = Callable[[Target], list[float]]

TOKENS, LONGEST = 4, 5
# Looked for: any two mistakes differ in at least six of `CASES`.
_RARE = (
    *((10, 2, 0.0), (18, 2, 0.0), (10, 3, 0.0), (18, 2, 0.6), (24, 2, 0.6), (1, 3, 0.6)),
    *((24, 3, 0.6), (74, 3, 0.6), (10, 2, 1.5), (68, 2, 1.5), (98, 2, 1.5), (10, 3, 1.5)),
    *((18, 3, 1.5), (98, 3, 1.5), (1, 2, 3.0), (10, 2, 3.0), (12, 2, 3.0), (20, 2, 3.0)),
    *((22, 2, 3.0), (28, 2, 3.0), (54, 2, 3.0), (86, 2, 3.0), (10, 3, 3.0), (22, 3, 3.0)),
    *((32, 3, 3.0), (57, 3, 3.0), (86, 3, 3.0), (106, 3, 3.0), (147, 3, 3.0)),
)
# seed, beams, alpha: so many that each mistake shows in some; beams = 1 and alpha = 0 among them.
_USUAL = tuple((seed, k, alpha) for k in (1, 2, 3) for alpha in (0.0, 1.5) for seed in range(4))
CASES = (*_USUAL, *_RARE)


def end_of(seed: int) -> int:
    """The token that ends a target: another one in the next tree."""
    return seed % TOKENS


def tree(seed: int) -> LogP:
    """Log-probabilities of the next token after each beginning: peaked, and different for each."""
    return lambda beginning: list(_log_p(seed, tuple(beginning)))


@functools.cache
def _log_p(seed: int, beginning: Target) -> list[float]:
    place = sum((token + 1) * 7**i for i, token in enumerate(beginning))
    generator = torch.Generator().manual_seed(1000 * seed + place)
    logits = 2.0 * torch.randn(TOKENS, generator=generator, dtype=torch.float64)
    logits[end_of(seed)] -= 0.5
    return list(logits.log_softmax(-1).tolist())
