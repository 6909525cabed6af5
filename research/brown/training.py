"""Training on the stream of words, window after window; a run that is killed continues."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from lmcourse.training import train
from lmcourse.training.fit import Loss
from lmcourse.training.schedules import linear, scheduled
from lmcourse.training.seeds import generator_of
from research.brown.networks import Network
from research.brown.softmax import mean_nats
from research.pretrain.clock import Clocked, Seconds
from research.runs import Checkpoints

_ORDER, _DRAW = range(2)  # the purpose of a generator


@dataclass(frozen=True)
class Budget:
    """How long a network learns, and how fast.

    Attributes:
        epochs: how often it reads the training text, in the end.
        rows, time: a step learns from so many windows of so many words.
        learning_rate: Adam's, after ``warmup`` of the steps (a share); it falls to 0 linearly.
        clip: the largest norm of a gradient.
    """

    epochs: int
    rows: int = 8
    time: int = 32
    learning_rate: float = 3e-3
    warmup: float = 0.05
    clip: float = 1.0


class WindowLosses(Iterator[Loss]):
    """The losses of successive windows.

    For each epoch, the text is turned to begin at a random word, as if its end were before its
    beginning, and cut into ``rows`` streams, which are read side by side.

    Args:
        network: in training; its state is carried from window to window, without its gradient.
        ids: the training text.
        seed: of the beginnings, and of masks.
        epochs: how often the text is read.
    """

    def __init__(
        self,
        network: Network,
        ids: Int[Tensor, " words"],
        budget: Budget,
        seed: int,
        epochs: int,
    ) -> None:
        self.network, self.ids, self.budget, self.seed = network, ids, budget, seed
        self.epochs = epochs
        self.length = len(ids) // budget.rows  # of a stream
        self.per_epoch = -(-self.length // budget.time)
        self.config = {"seed": seed, "words": len(ids)}
        self.step = 0
        self.state: Any = None
        self._streams: tuple[int, Tensor] | None = None

    def __len__(self) -> int:
        return self.per_epoch * self.epochs

    def __next__(self) -> Loss:
        if self.step >= len(self):
            raise StopIteration
        epoch, at = divmod(self.step, self.per_epoch)
        before, after = self.network.margins
        start, end = at * self.budget.time, min((at + 1) * self.budget.time, self.length)
        window = self._epoch(epoch)[:, start : end + before + after]
        state = self.state if at else None
        draw = generator_of(self.seed, _DRAW, self.step)
        features, words, state = self.network.predictions(window, state, draw)
        self.state = state if self.network.carries else None
        self.step += 1
        return mean_nats(features, self.network.weight, self.network.bias, words), len(words)

    def state_dict(self) -> dict[str, Any]:
        """The step, and the recurrent state."""
        return {"step": self.step, "state": self.state}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from there."""
        self.step, self.state = state["step"], state["state"]

    def _epoch(self, number: int) -> Int[Tensor, "rows time"]:
        """The streams of an epoch, each with its margins."""
        if self._streams is None or self._streams[0] != number:
            draw = generator_of(self.seed, _ORDER, number)
            shift = int(torch.randint(len(self.ids), (), generator=draw))
            before, after = self.network.margins
            starts = shift + self.length * torch.arange(self.budget.rows)[:, None]
            offsets = torch.arange(-before, self.length + after)
            self._streams = number, self.ids[(starts + offsets) % len(self.ids)]
        return self._streams[1]


def trained(
    network: Network,
    ids: Int[Tensor, " words"],
    budget: Budget,
    seed: int,
    checkpoints: Checkpoints | None,
    epochs: int,
) -> Seconds:
    """Train a network, or continue where the checkpoints are; return how long it took.

    The output layer begins with the words' frequencies.
    """
    with torch.no_grad():
        counts = torch.bincount(ids, minlength=len(network.bias)) + 1.0
        network.bias.copy_((counts / counts.sum()).log())
    losses = WindowLosses(network, ids, budget, seed, epochs)
    clocked = Clocked(losses)
    optimizer = torch.optim.Adam(network.parameters(), lr=budget.learning_rate, fused=True)
    warmup = min(round(budget.warmup * len(losses)), len(losses) - 1)
    train(
        network,
        clocked,
        clip=budget.clip,
        optimizer=optimizer,
        scheduler=scheduled(optimizer, linear(warmup, len(losses))),
        checkpoints=checkpoints,
        watch="nothing",
    )
    network.eval()
    return clocked.spent
