"""The recall task: read some symbols, then name the one that stood a given distance back.

It asks what a state of fixed width can hold: every symbol may be asked for, so all of them must go
through the state (the encoding bottleneck of chapter 02, which attention removes in chapter 08).
After the copying tasks of Hochreiter and Schmidhuber (1997) and Graves et al. (2014).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from lmcourse.errors import CourseError


@dataclass(frozen=True)
class RecallTask:
    """``length`` random symbols, then a query; the answer is the symbol ``distance`` before it.

    The ids are 0 … symbols-1 for the symbols, then one query for each distance 1 … length.
    """

    symbols: int = 8
    length: int = 12

    def __post_init__(self) -> None:
        if self.symbols < 2 or self.length < 1:
            raise CourseError(
                f"A recall task with {self.symbols} symbols and length {self.length} asks nothing.",
                "Give at least 2 symbols and a length of at least 1.",
            )

    @property
    def vocabulary_size(self) -> int:
        return self.symbols + self.length

    @property
    def chance(self) -> float:
        """The accuracy of a blind guess."""
        return 1 / self.symbols

    def query(self, distance: int) -> int:
        """The id of the token that asks for the symbol ``distance`` before it."""
        return self.symbols + distance - 1

    def batch(
        self, size: int, distance: int | None = None, generator: torch.Generator | None = None
    ) -> tuple[Int[Tensor, "batch time"], Int[Tensor, " batch"]]:
        """Draw sequences of length + 1 tokens, and the symbol that each asks for.

        Args:
            size: how many sequences.
            distance: how far back all of them ask, 1 … length; None: drawn for each.
        """
        if size < 1 or (distance is not None and not 1 <= distance <= self.length):
            raise CourseError(
                f"A batch of {size} sequences with distance {distance} cannot be drawn.",
                f"Give a size of at least 1 and a distance from 1 to {self.length}.",
            )
        symbols = torch.randint(self.symbols, (size, self.length), generator=generator)
        if distance is None:
            back = torch.randint(1, self.length + 1, (size, 1), generator=generator)
        else:
            back = torch.full((size, 1), distance)
        answer = symbols.gather(1, self.length - back).squeeze(1)
        return torch.cat([symbols, self.symbols + back - 1], dim=1), answer
