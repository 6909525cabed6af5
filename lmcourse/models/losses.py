"""The loss of every model that predicts classes: cross-entropy over the places that have a label.

The mean is taken over the labelled places, after the others are left out. Multiplied by a mask
*after* it was averaged, as one finds it, the loss would count every place.
"""

from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from lmcourse.models.inputs import IGNORED


def label_loss(
    logits: Float[Tensor, "*places classes"],
    labels: Int[Tensor, "*places"],
    label_smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Mean cross-entropy, in nats, over the places whose label is not ``IGNORED``.

    Only these rows of the logits are turned into probabilities: of a masked language model's, one
    in seven. Without any label the loss is 0 (PyTorch's mean over nothing would be NaN).
    """
    logits, labels = logits.flatten(0, -2), labels.flatten().long()
    chosen = labels != IGNORED
    count = chosen.sum()
    total = functional.cross_entropy(
        logits[chosen], labels[chosen], reduction="sum", label_smoothing=label_smoothing
    )
    return total / count.clamp(min=1)
