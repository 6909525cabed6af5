"""Batches: which examples are read together, and the losses that they give to the loop.

Padding is computed like everything else, and thrown away. So examples of like length are read
together: all are shuffled, cut into pools of some batches, and each pool is sorted by length. In a
pool of the size of a batch this is plain shuffling; with 50 batches a pool there is next to no
padding, and each epoch still has other batches, in another order.

Which examples a step reads, and what is drawn for them, depends on the seed and the step alone. So
a run can be left and taken up again at any step. And several processes can share one batch: each
works out all of it, and reads its part.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.models.inputs import whole_number
from lmcourse.training.examples import (
    Batch,
    Example,
    check_examples,
    digest_of,
    length_of,
    padded,
    part_of,
)
from lmcourse.training.objectives import Objective
from lmcourse.training.seeds import generator_of

_ORDER, _DRAWN, _LOSS = range(3)  # what a generator is for


class Batches:
    """The order in which examples are read: each once an epoch.

    Args:
        lengths: of the examples, in tokens.
        batch_size: how many examples a batch has; the last one of an epoch has what is left. None:
            as many as ``max_tokens`` allows.
        max_tokens: how many tokens a batch may have, padding included; None: any number. With it,
            batches of short examples have more of them (Liu et al. 2019, section 4.2, so that
            DOC-SENTENCES' batches have as many tokens as FULL-SENTENCES').
        pool: how many batches are sorted by length together; 1: none.
        seed: of the shuffling.

    Raises:
        CourseError: there are no examples, one is too long, or a number makes no sense.
    """

    def __init__(
        self,
        lengths: Sequence[int],
        *,
        batch_size: int | None = 32,
        max_tokens: int | None = None,
        pool: int = 50,
        seed: int = 0,
    ) -> None:
        for name, value in (("batch_size", batch_size), ("max_tokens", max_tokens), ("pool", pool)):
            if value is not None:
                whole_number(value, name, type(self).__name__)
        if batch_size is None and max_tokens is None:
            raise CourseError("A batch without any bound.", "Give batch_size, max_tokens or both.")
        if not len(lengths):
            raise CourseError(
                "There is no example.",
                "Give at least one: the text may be empty, or all filtered out.",
            )
        longest = max(range(len(lengths)), key=lengths.__getitem__)
        if max_tokens is not None and lengths[longest] > max_tokens:
            raise CourseError(
                f"Example {longest} has {lengths[longest]} tokens, a batch at most {max_tokens}.",
                "Give a larger max_tokens, or cut the example.",
            )
        self.lengths, self.batch_size, self.max_tokens = list(lengths), batch_size, max_tokens
        self.pool, self.seed = pool, seed

    def epoch(self, number: int) -> list[list[int]]:
        """The batches of an epoch, as numbers of examples."""
        generator = generator_of(self.seed, _ORDER, number)
        order = torch.randperm(len(self.lengths), generator=generator).tolist()
        pools = self._cut(order, self._pool_size())
        sorted_pools = [sorted(part, key=self.lengths.__getitem__) for part in pools]
        batches = [batch for part in sorted_pools for batch in self._batches(part)]
        shuffled = torch.randperm(len(batches), generator=generator).tolist()
        return [batches[at] for at in shuffled]

    def padding(self, number: int = 0) -> float:
        """The share of an epoch's places that hold padding."""
        batches = self.epoch(number)
        places = sum(len(batch) * max(self.lengths[i] for i in batch) for batch in batches)
        return 1 - sum(self.lengths) / places

    def _pool_size(self) -> int:
        if self.batch_size is not None:
            return self.pool * self.batch_size
        assert self.max_tokens is not None
        return max(1, self.pool * self.max_tokens * len(self.lengths) // sum(self.lengths))

    def _batches(self, pool: list[int]) -> list[list[int]]:
        """Examples, the shortest first, as batches within both bounds."""
        batches: list[list[int]] = [[]]
        for example in pool:
            size = len(batches[-1]) + 1
            full = self.batch_size is not None and size > self.batch_size
            if full or (self.max_tokens and size * self.lengths[example] > self.max_tokens):
                batches.append([])
            batches[-1].append(example)
        return batches

    @staticmethod
    def _cut(order: list[int], size: int) -> list[list[int]]:
        edges = [*range(0, len(order), size), len(order)]
        return [order[start:end] for start, end in pairwise(edges)]


class BatchLosses(Iterator[tuple[Tensor, int | float]]):
    """The losses of batches, one after the other, for `lmcourse.training.train`.

    Args:
        objective: what is to be learned of a batch: one of `lmcourse.training.objectives`.
        examples: see `lmcourse.training.examples`. They should all be in memory.
        steps: how many batches there are; with ``accumulate``, several of them make one step of
            the optimizer.
        epochs: in place of ``steps``, how often each example is read.
        batch_size, max_tokens, pool: as in `Batches`. Of several processes, all together.
        seed: of the order, and of all that the objective draws.
        share: this process's number and how many there are; None: as ``torch.distributed`` says.

    Attributes:
        step: how many batches were read. ``state_dict`` has this, and so a run can be resumed.
        config: what must be the same then.

    Raises:
        CourseError: this is no objective; there are no examples; one is longer than the model can
            read, or has an id or a label that the model does not know.
    """

    def __init__(
        self,
        objective: Objective,
        examples: Sequence[Example],
        *,
        steps: int | None = None,
        epochs: int | None = None,
        batch_size: int | None = 32,
        max_tokens: int | None = None,
        pool: int = 50,
        seed: int = 0,
        share: tuple[int, int] | None = None,
    ) -> None:
        if not isinstance(objective, Objective):
            raise CourseError(
                f"A {type(objective).__name__} is no objective.",
                "Say what is to be learned of the examples: BatchLosses(MaskedLM(model, masking), "
                "examples, epochs=1), or another one of lmcourse.training.objectives.",
            )
        check_examples(examples, objective.vocab_size, objective.longest, objective.classes)
        lengths = [length_of(example) for example in examples]
        settings: dict[str, Any] = {
            "batch_size": batch_size,
            "max_tokens": max_tokens,
            "pool": pool,
            "seed": whole_number(seed, "seed", type(self).__name__, 0),
        }
        self.objective, self.examples, self.seed = objective, examples, seed
        self.batches = Batches(lengths, **settings)
        self.steps = self._count(steps, epochs)
        self.rank, self.count = _processes() if share is None else share
        self.config = {
            **settings,
            "objective": objective.config,
            "examples": f"{len(examples)} with SHA-256 {digest_of(examples)}",
        }
        self.step = self._epoch = self._at = 0
        self._order = self.batches.epoch(0)

    def __len__(self) -> int:
        """How many there are, counted from the first step."""
        return self.steps

    def __next__(self) -> tuple[Tensor, int | float]:
        """The mean loss of this process's part of the next batch, and its predictions' number."""
        if self.step >= self.steps:
            raise StopIteration
        step, batch = self.step, self._next_batch()
        # What is drawn is drawn for all of it: so it does not depend on who reads which part.
        batch = self.objective.drawn(batch, generator_of(self.seed, _DRAWN, step))
        size = len(batch["input_ids"])
        # A process for which nothing is left reads the first example, which counts nothing: the
        # others wait for its gradient, if only of zeros.
        idle = self.rank >= size
        part = part_of(batch, slice(0, 1) if idle else slice(self.rank, None, self.count))
        generator = generator_of(self.seed, _LOSS, step, self.rank)
        mean, weight = self.objective.loss(part, generator)
        return mean, 0 if idle else weight

    def state_dict(self) -> dict[str, int]:
        """Where this is: a step, and its place in its epoch."""
        return {"step": self.step, "epoch": self._epoch, "at": self._at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on from there."""
        self.step, self._epoch, self._at = state["step"], state["epoch"], state["at"]
        self._order = self.batches.epoch(self._epoch)

    def _next_batch(self) -> Batch:
        if self._at == len(self._order):
            self._epoch, self._at = self._epoch + 1, 0
            self._order = self.batches.epoch(self._epoch)
        chosen, epoch = self._order[self._at], self._epoch
        self._at, self.step = self._at + 1, self.step + 1
        batch = padded([self.examples[i] for i in chosen], self.objective.pad_token_id)
        batch["example"] = torch.tensor(chosen)
        batch["epoch"] = torch.full((len(chosen),), epoch)
        return batch

    def _count(self, steps: int | None, epochs: int | None) -> int:
        if (steps is None) == (epochs is None):
            raise CourseError(
                f"steps={steps} and epochs={epochs} do not say how long to train.", "Give one."
            )
        if steps is not None:
            return whole_number(steps, "steps", type(self).__name__, 0)
        owner = type(self).__name__
        wanted = range(whole_number(epochs, "epochs", owner, 0))
        return sum(len(self.batches.epoch(number)) for number in wanted)


def _processes() -> tuple[int, int]:
    """This process's number, and how many train together."""
    from torch import distributed

    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return 0, 1
