"""Perplexity of a language model on held-out text."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.models.rnn_lm import RNNLanguageModel


def perplexity(probabilities: Float[Tensor, " predicted"]) -> float:
    """The inverse probability of a text, normalized by its length: exp of the mean −log p.

    Args:
        probabilities: what the model gave each token of the text, in (0, 1]. Zero gives infinity.
    """
    return torch.exp(-probabilities.double().log().mean()).item()


@torch.no_grad()
def token_probabilities(
    model: RNNLanguageModel, ids: Int[Tensor, " tokens"], window: int = 1024
) -> Float[Tensor, " predicted"]:
    """p of every token of a text but the first, each given all those before it.

    The text is read in windows, through which the state is carried; the result is on the CPU.

    Raises:
        CourseError: there is no second token to predict.
    """
    if len(ids) < 2:
        raise CourseError(
            f"A text of {len(ids)} tokens has none to predict.", "Give at least two tokens."
        )
    model.eval()
    device = next(model.parameters()).device
    state, parts = None, []
    for start in range(0, len(ids) - 1, window):
        part = ids[start : start + window + 1].to(device)
        result = model(part[None, :-1], state=state)
        state = result.state
        p = result.logits[0].softmax(-1).gather(1, part[1:, None])
        parts.append(p.squeeze(1).cpu())
    return torch.cat(parts)
