"""What a language model says at each place: the logits of all tokens, and what they depend on."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.sampling import evaluating

FORWARD = ("logits", "forward_logits")
"""Where a left-to-right model has the logits of the *next* token; the second is ELMo's."""
MASKED = ("logits", "prediction_logits")
"""Where a masked model has those of the token at *this* place; the second is pretraining's."""
NOISE = 1e-5  # of the largest logit: a change that rounding makes
PROBE = 32  # tokens on which it is seen what a model looks at

Ask = Callable[[Int[Tensor, "batch time"]], Float[Tensor, "batch time vocab"]]


def check_module(model: Any) -> None:
    """See that a model is one itself, not what it came in.

    Raises:
        CourseError: it is something else, such as what `lmcourse.hub.load` gives.
    """
    if not isinstance(model, nn.Module):
        inside = isinstance(getattr(model, "model", None), nn.Module)
        raise CourseError(
            f"{type(model).__name__} is no model.",
            "Pass what is in it: loaded.model." if inside else "Pass a model of lmcourse.models.",
        )


def asking(model: nn.Module, names: tuple[str, ...]) -> Ask:
    """A model as a function from ids, wherever they are, to logits."""
    return lambda ids: token_logits(model(input_ids=ids.to(device_of(model))), names)


def token_logits(result: Any, names: tuple[str, ...]) -> Float[Tensor, "batch time vocab"]:
    """The logits of all tokens at each place.

    Args:
        result: what a model returned.
        names: under which they may stand: ``FORWARD`` or ``MASKED``.

    Raises:
        CourseError: there are none.
    """
    for name in names:
        logits = getattr(result, name, None)
        if isinstance(logits, Tensor) and logits.ndim == 3:
            return logits
    raise CourseError(
        f"The model returns {type(result).__name__}, without scores of all tokens at each place.",
        "Pass a language model, such as GPTForCausalLM or RNNLanguageModel."
        if names == FORWARD
        else "Pass a masked language model, such as BertForMaskedLM.",
    )


def device_of(model: nn.Module) -> torch.device:
    """Where a model computes."""
    return next((each.device for each in model.parameters()), torch.device("cpu"))


@torch.no_grad()
def effect(ask: Ask, ids: Int[Tensor, " time"], place: int) -> tuple[float, float]:
    """How far another token at one place changes what is said before it, and what behind it.

    Returns:
        The largest change of a logit, as a share of the largest logit; 0 where no place is.
    """
    first = ask(ids[None])[0]
    other = ids.clone()
    other[place] = (other[place] + 1) % first.shape[-1]
    change = (first - ask(other[None])[0]).abs() / first.abs().max().clamp_min(1e-30)
    before, behind = change[:place].flatten().tolist(), change[place + 1 :].flatten().tolist()
    return max(before, default=0.0), max(behind, default=0.0)


def check_looks_ahead(model: nn.Module, ids: Int[Tensor, " time"]) -> None:
    """See that a model that is to be asked about masked tokens looks at both sides of a place.

    A left-to-right model has, at each place, the logits of the token *behind* it.

    Args:
        ids: two tokens or more.

    Raises:
        CourseError: what comes changes nothing of what it says, and what was does.
    """
    ask = asking(model, MASKED)
    with evaluating(model):
        ahead, _ = effect(ask, ids, len(ids) - 1)
        _, back = effect(ask, ids, 0)
    if ahead <= NOISE < back:
        raise CourseError(
            f"{type(model).__name__} looks to the left alone: no later token changes what it says. "
            "Its logits are of the token behind each place, not of the one that is masked there.",
            "Ask text_score of it, or of_causal; or pass a masked model, such as BertForMaskedLM.",
        )
