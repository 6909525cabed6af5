"""What the property kit examines: a model, how a small one is built, and a batch for it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from lmcourse.models.checkpoint import Model
from tests.parity.comparing import shaken

Batch = dict[str, Tensor]


@dataclass(frozen=True)
class Subject:
    """A model to be examined.

    Attributes:
        name: what it is.
        build: makes a small one with dropout in it, drawn from PyTorch's generator.
        batch: makes keyword arguments for a call of it from PyTorch's generator: ids with random
            padding (the first row is full, one is padded on the right by two or more), the mask,
            segments where it has them, labels where it has a loss.
        ids: the names of the arguments that run along the sequence, (batch, time); the mask's too.
        mask: the name of the mask, None if the model takes none; (batch, time), or (batch, time,
            time) where each token sees itself and none sees padding.
        causal: whether a place sees only itself and what stands before it.
        output: the name of the result that has one entry a place, (batch, time, …); where there is
            none, ``hidden_states``, with the option that asks for them.
        pooled: names of results with one entry a sequence, (batch, …).
        shift: how far the labels stand behind the logits that predict them (1: a language model
            that shifts them itself), None if the loss is not the mean cross-entropy of ``logits``
            and ``labels``.
        chance: what ``logits`` of the freshly made model cost: log of the number of classes; None
            if there is no such loss.
        attentions, hidden_states: what the results are called that belong to the sequence;
            None if there are none, or if there are not as many hidden states and one more.
        options: what besides the batch every call gets.
        unused: parameters that get no gradient from this batch, and why.
        dropouts: how often a call comes to a dropout with the probability of this name in the
            configuration (or in a part of it); None if another test sees to it.
    """

    name: str
    build: Callable[[], Model]
    batch: Callable[[], Batch]
    ids: tuple[str, ...] = ("input_ids", "attention_mask")
    mask: str | None = "attention_mask"
    causal: bool = False
    output: str = "last_hidden_state"
    pooled: tuple[str, ...] = ()
    shift: int | None = None
    chance: float | None = None
    attentions: str | None = "attentions"
    hidden_states: str | None = "hidden_states"
    options: dict[str, Any] = field(default_factory=dict)
    unused: dict[str, str] = field(default_factory=dict)
    dropouts: dict[str, int] | None = None

    def __str__(self) -> str:
        return self.name

    def call(self, model: nn.Module, batch: Batch, **options: Any) -> Any:
        return model(**batch, **(self.options | options))

    def places(self, result: Any) -> Tensor:
        """The result with one entry a place: of several, one a layer, the last."""
        found = result[self.output]
        return found if isinstance(found, Tensor) else found[-1]

    def made(self, dtype: torch.dtype = torch.float64) -> Model:
        """A model in evaluation mode, with every parameter moved at random."""
        return shaken(self.build().to(dtype))

    def real(self, batch: Batch) -> Tensor:
        """True at the places that are no padding."""
        if self.mask is None:
            return torch.ones_like(batch[self.ids[0]], dtype=torch.bool)
        mask = batch[self.mask].bool()
        return mask if mask.ndim == 2 else mask.diagonal(dim1=1, dim2=2)
