"""Rectangles and points of a diagram, in pixels from its top left corner."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A rectangle; ``x`` and ``y`` are its center."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> Point:
        """The middle of the left side."""
        return self.x - self.width / 2, self.y

    @property
    def right(self) -> Point:
        """The middle of the right side."""
        return self.x + self.width / 2, self.y

    @property
    def top(self) -> Point:
        """The middle of the upper side."""
        return self.x, self.y - self.height / 2

    @property
    def bottom(self) -> Point:
        """The middle of the lower side."""
        return self.x, self.y + self.height / 2

    def toward(self, x: float, y: float) -> Point:
        """The middle of the side that faces a point."""
        if abs(x - self.x) * self.height > abs(y - self.y) * self.width:
            return self.right if x > self.x else self.left
        return self.bottom if y > self.y else self.top


def middle_of(points: Sequence[Point]) -> Point:
    """The middle of the longest straight part."""
    parts = list(itertools.pairwise(points))
    (x0, y0), (x1, y1) = max(
        parts, key=lambda it: abs(it[1][0] - it[0][0]) + abs(it[1][1] - it[0][1])
    )
    return (x0 + x1) / 2, (y0 + y1) / 2
