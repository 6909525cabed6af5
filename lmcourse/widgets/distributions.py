"""What widgets compute of distributions."""

import numpy as np
from numpy.typing import NDArray

from lmcourse.widgets.packing import Array


def divergence(p: Array, q: Array) -> NDArray[np.float64]:
    """KL(p ‖ q) in nats over the last axis; inf where p is above 0 and q is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0)
    found: NDArray[np.float64] = np.maximum(terms.sum(-1), 0.0)  # rounding takes it no lower
    return found
