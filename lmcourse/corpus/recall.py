"""The recall task: read some symbols, then output the one at a given distance back.

It measures the capacity of a state of fixed width: any symbol may be queried, so all of them must
pass through the state (the encoding bottleneck of chapter 02; attention removes it in chapter 08).
After the copying tasks of Hochreiter and Schmidhuber (1997) and Graves et al. (2014).
"""

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from lmcourse.errors import CourseError, check_sizes


@dataclass(frozen=True)
class RecallTask:
    """``length`` random symbols, then a query; the answer is the symbol ``distance`` before it.

    The ids are 0 … symbols-1 for the symbols, then one query for each distance 1 … length.
    """

    symbols: int = 8
    length: int = 12

    def __post_init__(self) -> None:
        check_sizes(symbols=self.symbols, length=self.length)

    @property
    def vocabulary_size(self) -> int:
        return self.symbols + self.length

    @property
    def chance(self) -> float:
        """The accuracy of a random guess."""
        return 1 / self.symbols

    def query(self, distance: int) -> int:
        """Return the id of the query for the symbol ``distance`` before it."""
        return self.symbols + distance - 1

    def batch(
        self, size: int, distance: int | None = None, generator: torch.Generator | None = None
    ) -> tuple[Int[Tensor, "batch time"], Int[Tensor, " batch"]]:
        """Draw sequences of length + 1 tokens, and the queried symbol of each.

        Args:
            size: the number of sequences.
            distance: of all queries, 1 … length; None: drawn for each sequence.
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
