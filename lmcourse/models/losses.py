"""Cross-entropy over the labelled positions, the loss of every model that predicts classes.

The other positions are removed before the mean is taken. Multiplying the mean by a mask afterwards,
a common mistake, would still count every position.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.inputs import IGNORED


def label_loss(
    logits: Float[Tensor, "*positions classes"],
    labels: Int[Tensor, "*positions"],
    label_smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Mean cross-entropy, in nats, over the positions whose label is not ``IGNORED``.

    If all labels are ``IGNORED``, the loss is 0 (PyTorch's mean would be NaN).
    """
    logits, labels = logits.flatten(0, -2), labels.flatten().long()
    chosen = labels != IGNORED
    count = chosen.sum()
    total = functional.cross_entropy(
        logits[chosen], labels[chosen], reduction="sum", label_smoothing=label_smoothing
    )
    return total / count.clamp(min=1)


def position_loss(
    scores: Float[Tensor, "batch time"],
    positions: Int[Tensor, " batch"],
    real: Bool[Tensor, "batch time"] | None,
) -> Float[Tensor, ""]:
    """Mean cross-entropy of one position in each sequence.

    Args:
        positions: see `position_labels`.
        real: False at padding, which is not in the softmax; None: there is none.
    """
    if real is None:
        real = torch.ones_like(scores, dtype=torch.bool)
    return label_loss(scores.masked_fill(~real, -torch.inf), position_labels(positions, real))


def position_labels(
    positions: Int[Tensor, " batch"], real: Bool[Tensor, "batch time"]
) -> Int[Tensor, " batch"]:
    """Return the positions that are predicted, and ``IGNORED`` for those that are no token.

    Args:
        positions: negative ones except ``IGNORED`` count as 0.
        real: False at padding.
    """
    batch = len(real)
    if positions.shape != (batch,):
        raise CourseError(
            f"The answers' positions have shape {tuple(positions.shape)}.",
            f"Give one start and one end for each of the {batch} sequences, ({batch},).",
        )
    inside = positions.long().clamp(0, real.shape[1] - 1)
    token = real.gather(1, inside[:, None])[:, 0] & (positions < real.shape[1])
    return inside.masked_fill(~token | (positions == IGNORED), IGNORED)
