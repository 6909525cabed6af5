"""One query of Visibility: its softmax, and its description."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lmcourse.widgets.packing import Array
from lmcourse.widgets.tokens import visible


def weights_of(scores: Array, seen: Array, added: str, after: bool) -> NDArray[np.float64]:
    """Return one query's weights as computed by the page."""
    number = {"-inf": -np.inf, "-10000": -1e4, "lowest": float(np.finfo(np.float32).min)}[added]
    single = scores.astype(np.float32)
    with np.errstate(all="ignore"):  # NaN if all scores are −∞
        masked = single if after else np.where(seen, single, single + np.float32(number))
        parts = np.exp(masked.astype(np.float64) - masked.max())
        weights: NDArray[np.float64] = parts / parts.sum() * (seen if after else 1)
    return weights


def largest(tokens: Sequence[str], weights: NDArray[np.float64], seen: Array) -> str:
    """Return the description of a query's largest weights."""
    if np.isnan(weights).any():
        return "All its weights are NaN: every score is −∞, and the softmax is 0/0."
    order = [int(j) for j in np.argsort(-weights, kind="stable")[:3] if weights[j] > 0]
    said = [
        f"“{visible(tokens[j])}” {weights[j]:.3g}{'' if seen[j] else ' (hidden)'}" for j in order
    ]
    sums = f"they sum to {weights.sum():.3g}"
    return f"Its largest weights: {', '.join(said)}; {sums}." if said else "All its weights are 0."
