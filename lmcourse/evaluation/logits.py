"""The logits of language models at each position, and the direction of their context."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.sampling import evaluating

FORWARD = ("logits", "forward_logits")
"""Fields with the logits of the *next* token; the second is ELMo's."""
MASKED = ("logits", "prediction_logits")
"""Fields with the logits of the token at *this* position; the second is that of pretraining."""
NOISE = 1e-5  # relative to the largest logit: changes by rounding
PROBE = 32  # tokens on which the direction of the context is tested

Logits = Callable[[Int[Tensor, "batch time"]], Float[Tensor, "batch time vocab"]]


def check_module(model: Any) -> None:
    """Check that a model is a module."""
    if not isinstance(model, nn.Module):
        inside = isinstance(getattr(model, "model", None), nn.Module)
        raise CourseError(
            f"{type(model).__name__} is no model.",
            "Pass the model in it: loaded.model." if inside else "Pass a model of lmcourse.models.",
        )


def logits_of(model: nn.Module, names: tuple[str, ...]) -> Logits:
    """Return a model as a function from ids, on any device, to logits."""
    return lambda ids: token_logits(model(input_ids=ids.to(device_of(model))), names)


def token_logits(result: Any, names: tuple[str, ...]) -> Float[Tensor, "batch time vocab"]:
    """Return the logits of all tokens at each position.

    Args:
        result: a model's output.
        names: the fields that may hold them: ``FORWARD`` or ``MASKED``.
    """
    for name in names:
        logits = getattr(result, name, None)
        if isinstance(logits, Tensor) and logits.ndim == 3:
            return logits
    raise CourseError(
        f"The model returns {type(result).__name__}, without logits of all tokens.",
        "Pass a language model, such as GPTForCausalLM or RNNLanguageModel."
        if names == FORWARD
        else "Pass a masked language model, such as BertForMaskedLM.",
    )


def device_of(model: nn.Module) -> torch.device:
    """Return the device of a model's parameters."""
    return next((each.device for each in model.parameters()), torch.device("cpu"))


@torch.no_grad()
def effect(logits: Logits, ids: Int[Tensor, " time"], position: int) -> tuple[float, float]:
    """Return the effect of another token at a position on the logits before it, and after it.

    Returns:
        The largest change of a logit, relative to the largest logit; 0 if there is no position.
    """
    first = logits(ids[None])[0]
    other = ids.clone()
    other[position] = (other[position] + 1) % first.shape[-1]
    change = (first - logits(other[None])[0]).abs() / first.abs().max().clamp_min(1e-30)
    before, after = change[:position].flatten(), change[position + 1 :].flatten()
    return max(before.tolist(), default=0.0), max(after.tolist(), default=0.0)


def check_looks_ahead(model: nn.Module, ids: Int[Tensor, " time"]) -> None:
    """Check that a model of masked tokens attends to both sides of a position.

    A left-to-right model has, at each position, the logits of the *next* token.

    Args:
        ids: two tokens or more.
    """
    logits = logits_of(model, MASKED)
    with evaluating(model):
        later, _ = effect(logits, ids, len(ids) - 1)
        _, earlier = effect(logits, ids, 0)
    if later <= NOISE < earlier:
        raise CourseError(
            f"{type(model).__name__} reads from left to right: no later token changes its logits, "
            "which are those of the next token, not of the masked one.",
            "Use perplexity or of_causal; or pass a masked model, such as BertForMaskedLM.",
        )
