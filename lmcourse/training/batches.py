"""Batches: which examples are read together, and the losses that the loop computes of them.

Padding costs as much time as tokens. So examples of similar length are read together: all are
shuffled, cut into pools of some batches, and each pool is sorted by length. With one batch a pool
this is plain shuffling; with 50 there is next to no padding, and each epoch still has other
batches, in another order.

The examples and random draws of a step depend on the seed and the step alone. So a run can be
resumed at any step; and several processes can share a batch: each computes its order and draws as a
whole, and reads its part.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import torch

from lmcourse.errors import CourseError, check_sizes
from lmcourse.training.distributed import here
from lmcourse.training.examples import (
    Batch,
    Example,
    digest_of,
    length_of,
    padded,
    part_of,
)
from lmcourse.training.fit import Terms
from lmcourse.training.objectives import Objective
from lmcourse.training.seeds import generator_of

_ORDER, _DRAW = range(2)  # the purpose of a generator


class Batches:
    """The order in which examples are read: each once an epoch.

    Args:
        lengths: of the examples, in tokens.
        batch_size: the number of examples in a batch; the last one of an epoch may have fewer.
            None: as many as ``max_tokens`` allows.
        max_tokens: the maximal number of tokens in a batch, padding included; None: any number.
            With it, batches of short examples have more of them (Liu et al. 2019, section 4.2, so
            that DOC-SENTENCES' batches have as many tokens as FULL-SENTENCES').
        pool: how many batches are sorted by length together; 1: none.
        seed: of the shuffling.
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
        check_sizes(batch_size=batch_size, max_tokens=max_tokens, pool=pool)
        self.lengths, self.batch_size, self.max_tokens = list(lengths), batch_size, max_tokens
        self.pool, self.seed = pool, seed

    def epoch(self, number: int) -> list[list[int]]:
        """The batches of an epoch, as indices of examples."""
        generator = generator_of(self.seed, _ORDER, number)
        order = torch.randperm(len(self.lengths), generator=generator).tolist()
        pools = self._cut(order, self._pool_size())
        sorted_pools = [sorted(part, key=self.lengths.__getitem__) for part in pools]
        batches = [batch for part in sorted_pools for batch in self._batches(part)]
        shuffled = torch.randperm(len(batches), generator=generator).tolist()
        return [batches[at] for at in shuffled]

    def padding(self, number: int = 0) -> float:
        """The share of padding among the positions of an epoch."""
        batches = self.epoch(number)
        positions = sum(len(batch) * max(self.lengths[i] for i in batch) for batch in batches)
        return 1 - sum(self.lengths) / positions

    def _pool_size(self) -> int:
        if self.batch_size is not None:
            return self.pool * self.batch_size
        assert self.max_tokens is not None
        return max(1, self.pool * self.max_tokens * len(self.lengths) // sum(self.lengths))

    def _batches(self, pool: list[int]) -> list[list[int]]:
        """Examples, the shortest first, as batches within both limits."""
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


class BatchLosses(Iterator[Terms]):
    """The losses of successive batches, for `lmcourse.training.fit` and `lmcourse.training.train`.

    Args:
        objective: computes the loss of a batch: one of `lmcourse.training.objectives`.
        examples: see `lmcourse.training.examples`. They should all be in memory.
        steps: the number of batches; with ``accumulate``, several of them make one step of the
            optimizer.
        epochs: in place of ``steps``, how often each example is read.
        batch_size, max_tokens, pool: see `Batches`. They count the parts of all processes.
        seed: of the order, and of the objective's random draws.
        share: the rank of this process and the number of processes; None: those of torchrun.

    Attributes:
        step: the number of batches read so far, from which a run resumes.
        config: what must be the same then.

    Raises:
        CourseError: there are no examples. (The model checks ids and lengths in each batch.)
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
        if not examples:
            raise CourseError(
                "There is no example.", "Were all texts empty or filtered out? Provide one or more."
            )
        check_sizes(0, steps=steps, epochs=epochs)
        lengths = [length_of(example) for example in examples]
        settings: dict[str, Any] = {
            "batch_size": batch_size,
            "max_tokens": max_tokens,
            "pool": pool,
            "seed": seed,
        }
        self.objective, self.examples, self.seed = objective, examples, seed
        self.batches = Batches(lengths, **settings)
        self.steps = self._count(steps, epochs)
        self.rank, self.count = share or (here().rank, here().count)
        self.config = {
            **settings,
            "objective": objective.config,
            "examples": f"{len(examples)} with SHA-256 {digest_of(examples)}",
        }
        self.step = self._epoch = self._at = 0
        self._order = self.batches.epoch(0)

    def __len__(self) -> int:
        """The number of steps, from the first one."""
        return self.steps

    def __next__(self) -> Terms:
        """The terms of the loss of this process's part of the next batch."""
        if self.step >= self.steps:
            raise StopIteration
        part, counts = self._next_part()
        return [*zip(self.objective.means(part), counts, strict=True)]

    def ahead(self, number: int) -> list[Sequence[int | float]]:
        """The terms' numbers of predictions in each of the next batches, which stay unread."""
        before = self.state_dict()
        left = min(number, self.steps - self.step)
        counts = [self._next_part()[1] for _ in range(left)]
        self.load_state_dict(before)
        return counts

    def state_dict(self) -> dict[str, int]:
        """The step, and its position in its epoch."""
        return {"step": self.step, "epoch": self._epoch, "at": self._at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Continue from there."""
        if self._epoch != state["epoch"]:
            self._order = self.batches.epoch(state["epoch"])
        self.step, self._epoch, self._at = state["step"], state["epoch"], state["at"]

    def _next_part(self) -> tuple[Batch, Sequence[int | float]]:
        """This process's part of the next batch, and each term's number of predictions in it."""
        step, batch = self.step, self._next_batch()
        # Drawn for the whole batch, so that it does not depend on how processes share it.
        batch = self.objective.sample(batch, generator_of(self.seed, _DRAW, step))
        # A process without an example reads the first one, with weight 0: the others wait for its
        # gradient, even if it is zero.
        idle = self.rank >= len(batch["input_ids"])
        part = part_of(batch, slice(0, 1) if idle else slice(self.rank, None, self.count))
        counts = self.objective.counts(part)
        return part, [0] * len(counts) if idle else counts

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
                f"steps={steps} and epochs={epochs} do not determine the length of the training.",
                "Choose one of them.",
            )
        if steps is not None:
            return steps
        return sum(len(self.batches.epoch(number)) for number in range(epochs or 0))
