"""A gap table: the numbers of `GapNumbers`, and how they are shown."""

from dataclasses import dataclass, replace

from lmcourse import show
from lmcourse.errors import CourseError
from lmcourse.evaluation import gap_figure, gap_forms
from lmcourse.evaluation.gap_numbers import GapNumbers, Sums

__all__ = ["GapTable", "Sums"]


@dataclass(frozen=True, repr=False)
class GapTable(GapNumbers):
    """Models next to the floor, by phenomenon; displayed as a table in a notebook."""

    def __or__(self, other: "GapTable") -> "GapTable":
        """Join the models of two tables; the second replaces those of the same name."""
        if not isinstance(other, GapTable):
            return NotImplemented
        if (self.kind, self.key) != (other.kind, other.key):
            raise CourseError(
                f"The tables are of different kinds ({self.kind}, {other.kind}) or of different "
                f"reviews ({self.tokens.shape[1]} and {other.tokens.shape[1]} of them).",
                "Compute both with the same world, kind, reviews and seed.",
            )
        return replace(self, models={**self.models, **other.models})

    def figure(self) -> None:
        """Show the gaps as a figure with alternative text."""
        show.figure(gap_figure.drawn(self), gap_figure.alt(self))

    def markdown(self) -> str:
        """Return the table in Markdown."""
        return gap_forms.markdown(self)

    def __repr__(self) -> str:
        return gap_forms.text(self)

    def _repr_html_(self) -> str:
        return gap_forms.html(self)
