"""The Elman network, and a language model on top of it (chapter 02).

The recurrence is Elman's (1990, "Finding structure in time"), as `torch.nn.RNN` computes it:

    h_t = φ(U x_t + W h_{t-1} + b)        φ = tanh or ReLU

with one bias where PyTorch keeps two that are only ever added. The language model is Mikolov et
al.'s (2010, "Recurrent neural network based language model"): embed a token, take one step, and
read the distribution of the next token off the hidden state.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.errors import CourseError

Nonlinearity = Literal["tanh", "relu"]
NONLINEARITIES: dict[str, Callable[[Tensor], Tensor]] = {"tanh": torch.tanh, "relu": torch.relu}

Boundary = Callable[[int, Tensor], Tensor]
"""What happens to the state on its way into step t: see `lmcourse.training.truncation`."""


class RNN(nn.Module):
    """One recurrent layer, read step by step.

    Args:
        input_width: width of x_t.
        hidden_width: width of h_t.
        nonlinearity: φ, ``"tanh"`` or ``"relu"``.
    """

    def __init__(
        self, input_width: int, hidden_width: int, nonlinearity: Nonlinearity = "tanh"
    ) -> None:
        super().__init__()
        if nonlinearity not in NONLINEARITIES:
            raise CourseError(
                f"The nonlinearity {nonlinearity!r} is not known.",
                f"Choose one of {', '.join(NONLINEARITIES)}.",
            )
        self.nonlinearity = nonlinearity
        self.U = nn.Parameter(torch.empty(hidden_width, input_width))
        self.W = nn.Parameter(torch.empty(hidden_width, hidden_width))
        self.b = nn.Parameter(torch.zeros(hidden_width))
        bound = 1 / math.sqrt(hidden_width)  # as torch.nn.RNN starts
        nn.init.uniform_(self.U, -bound, bound)
        nn.init.uniform_(self.W, -bound, bound)

    @property
    def input_width(self) -> int:
        return self.U.shape[1]

    @property
    def hidden_width(self) -> int:
        return self.W.shape[0]

    def forward(
        self,
        inputs: Float[Tensor, "batch time input"],
        state: Float[Tensor, "batch hidden"] | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
        boundary: Boundary | None = None,
    ) -> tuple[Float[Tensor, "batch time hidden"], Float[Tensor, "batch hidden"]]:
        """Run over a batch of sequences.

        Args:
            inputs: x_1 … x_T of each sequence.
            state: h_0; zeros if it is not given.
            lengths: how many steps of each sequence are real. Beyond them the state stands still
                and the output is zero, as with PyTorch's packed sequences.
            boundary: called with (t, h_{t-1}) before step t; the step uses what it returns.
                Truncation is one such function.

        Returns:
            h_1 … h_T, and the last state of each sequence.

        Raises:
            CourseError: a shape does not fit.
        """
        self._check(inputs, state, lengths)
        phi = NONLINEARITIES[self.nonlinearity]
        h = inputs.new_zeros(inputs.shape[0], self.hidden_width) if state is None else state
        driven = inputs @ self.U.T + self.b  # U x_t + b needs no recurrence: all steps at once
        hidden_states = []
        for t, driven_t in enumerate(driven.unbind(1)):
            if boundary is not None:
                h = boundary(t, h)
            new = phi(driven_t + h @ self.W.T)
            if lengths is None:
                h = new
                hidden_states.append(h)
            else:
                real = (t < lengths).unsqueeze(1)
                h = torch.where(real, new, h)
                hidden_states.append(torch.where(real, new, 0.0))
        return torch.stack(hidden_states, dim=1), h

    def _check(self, inputs: Tensor, state: Tensor | None, lengths: Tensor | None) -> None:
        if inputs.ndim != 3 or inputs.shape[2] != self.input_width or inputs.shape[1] == 0:
            raise CourseError(
                f"The inputs have shape {tuple(inputs.shape)}.",
                f"This RNN takes (batch, time, {self.input_width}) with at least one time step.",
            )
        batch, time, _ = inputs.shape
        if state is not None and state.shape != (batch, self.hidden_width):
            raise CourseError(
                f"The state has shape {tuple(state.shape)}.",
                f"For this batch it must be ({batch}, {self.hidden_width}).",
            )
        if lengths is not None and (
            lengths.shape != (batch,) or bool(((lengths < 1) | (lengths > time)).any())
        ):
            raise CourseError(
                f"The lengths {lengths.tolist()} do not fit a batch of {batch} sequences "
                f"of {time} steps.",
                f"Give one length between 1 and {time} for each sequence.",
            )

    @classmethod
    def from_torch(cls, reference: nn.RNN) -> "RNN":
        """A copy of a one-layer, one-direction `torch.nn.RNN`."""
        if reference.num_layers != 1 or reference.bidirectional or reference.proj_size:
            raise CourseError(
                f"{reference} has more than this RNN can hold.",
                "Give a torch.nn.RNN with one layer and one direction.",
            )
        nonlinearity = cast(Nonlinearity, reference.nonlinearity)
        layer = cls(reference.input_size, reference.hidden_size, nonlinearity)
        weights = dict(reference.named_parameters())
        layer.to(weights["weight_hh_l0"])
        with torch.no_grad():
            layer.U.copy_(weights["weight_ih_l0"])
            layer.W.copy_(weights["weight_hh_l0"])
            if reference.bias:
                layer.b.copy_(weights["bias_ih_l0"] + weights["bias_hh_l0"])
        return layer

    def to_torch(self) -> nn.RNN:
        """A `torch.nn.RNN` (batch first) with the same weights; b becomes its first bias."""
        reference = nn.RNN(
            self.input_width, self.hidden_width, nonlinearity=self.nonlinearity, batch_first=True
        ).to(self.W)
        weights = {
            "weight_ih_l0": self.U,
            "weight_hh_l0": self.W,
            "bias_ih_l0": self.b,
            "bias_hh_l0": torch.zeros_like(self.b),
        }
        reference.load_state_dict(weights)
        return reference


@dataclass(frozen=True)
class RNNConfig:
    """Sizes of an `RNNLanguageModel`."""

    vocabulary_size: int
    embedding_width: int = 64
    hidden_width: int = 128
    nonlinearity: Nonlinearity = "tanh"


class RNNLanguageModelOutput(NamedTuple):
    """What one call returns; ``loss`` is None where no labels were given."""

    logits: Float[Tensor, "batch time vocab"]
    last_hidden_state: Float[Tensor, "batch time hidden"]
    state: Float[Tensor, "batch hidden"]
    loss: Float[Tensor, ""] | None


class RNNLanguageModel(nn.Module):
    """p(w_{t+1} | w_1 … w_t) from a recurrent state: embedding, `RNN`, linear read-out."""

    def __init__(self, config: RNNConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary_size, config.embedding_width)
        self.rnn = RNN(config.embedding_width, config.hidden_width, config.nonlinearity)
        self.output = nn.Linear(config.hidden_width, config.vocabulary_size)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"],
        labels: Int[Tensor, "batch time"] | None = None,
        state: Float[Tensor, "batch hidden"] | None = None,
        boundary: Boundary | None = None,
    ) -> RNNLanguageModelOutput:
        """Predict the token after each of ``input_ids``.

        Args:
            input_ids: tokens w_1 … w_T.
            labels: the tokens that follow, w_2 … w_{T+1}: already shifted, so that a text can be
                read window after window without losing a target. The loss is their mean negative
                log-likelihood in nats.
            state: h_0, as the window before left it.
            boundary: as in `RNN.forward`.
        """
        self._check(input_ids)
        hidden, state = self.rnn(self.embedding(input_ids), state, boundary=boundary)
        logits = self.output(hidden)
        loss = None
        if labels is not None:
            loss = functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        return RNNLanguageModelOutput(logits, hidden, state, loss)

    def _check(self, input_ids: Tensor) -> None:
        if input_ids.ndim != 2 or input_ids.numel() == 0:
            raise CourseError(
                f"input_ids has shape {tuple(input_ids.shape)}.",
                "Give a batch of sequences, (batch, time), with at least one token each.",
            )
        low, high = int(input_ids.min()), int(input_ids.max())
        if low < 0 or high >= self.config.vocabulary_size:
            raise CourseError(
                f"input_ids holds the id {low if low < 0 else high}.",
                f"This model's vocabulary has the ids 0 to {self.config.vocabulary_size - 1}: "
                "encode the text with the vocabulary that the model was built for.",
            )
