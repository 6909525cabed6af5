"""Diagrams: boxes, tokens, cells, arrows and brackets, drawn with matplotlib.

A diagram shows what is connected to what; a plot shows measurements. Lengths are pixels of the
full-size picture, from the top left corner. Labels may contain mathematics between dollar signs.
The colors of the kinds of parts are those of `lmcourse.style.PARTS`.
"""

import io
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lmcourse.errors import CourseError
from lmcourse.shapes import Box, Point, middle_of
from lmcourse.style import INK, LINES, PARTS, tint

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.text import Text

_DPI = 100
_MARGIN = 3  # pixels that a label keeps from the edge of its box


class Diagram:
    """A drawing that `lmcourse.show.figure` displays.

    Args:
        width: pixels; 480 is readable on a phone, 640 fills a page.
        height: pixels.
        size: of the type, in pixels; on a phone 480 pixels shrink to 330.

    Raises:
        CourseError: a label does not fit in its box or in the diagram.
    """

    def __init__(self, width: float, height: float, *, size: float = 15) -> None:
        from matplotlib.figure import Figure

        self.width, self.height, self.size = width, height, size
        self.figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)
        self.figure.set_layout_engine("none")  # the style sheet would move the axes
        self._axes = self.figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
        self._axes.set_axis_off()
        self._earlier: list[set[Artist]] = []  # what had been drawn when each step began

    def step(self) -> None:
        """Begin the next step: on a slide, what is drawn from here on appears at a key press.

        A page, a notebook and print show all steps.
        """
        self._earlier.append({*self._axes.patches, *self._axes.texts})

    def box(
        self,
        label: str,
        x: float,
        y: float,
        *,
        kind: str = "plain",
        width: float | None = None,
        height: float = 32,
        dashed: bool = False,
        size: float | None = None,
    ) -> Box:
        """Draw a part with its label around a center.

        Args:
            kind: a key of `lmcourse.style.PARTS`.
            width: pixels; by default as the label needs.
        """
        text = self.text(label, x, y, size=size)
        needed = self._extent(text)[0] + 2 * _MARGIN
        shape = Box(x, y, needed + 14 if width is None else width, height)
        self._fits(label, needed, shape.width)
        self._rectangle(shape, kind, dashed=dashed, rounded=min(8, height / 4))
        return shape

    def tokens(self, words: Sequence[str], x: float, y: float, *, gap: float = 8) -> list[Box]:
        """Draw a row of tokens whose first begins at ``x``."""
        boxes = []
        for word in words:
            wide = self._extent(self.text(word, x + 8, y, align="left"))[0] + 16
            boxes.append(Box(x + wide / 2, y, wide, 28))
            self._rectangle(boxes[-1], "token", rounded=4)
            x += wide + gap
        self._fits(" ".join(words), x - gap, self.width)
        return boxes

    def cells(
        self,
        rows: Iterable[Iterable[Any]],
        x: float,
        y: float,
        *,
        side: float = 34,
        height: float | None = None,
        kind: str = "plain",
        shade: bool = False,
    ) -> list[list[Box]]:
        """Draw a matrix of cells whose upper left corner is at ``x``, ``y``; numbers or labels.

        Args:
            side: the width of a cell, and its height unless ``height`` is given.
            kind: whose color the cells have.
            shade: whether numbers from 0 to 1 set the strength of the color.
        """
        tall = height or side
        grid: list[list[Box]] = []
        for i, row in enumerate(rows):
            grid.append([])
            for j, value in enumerate(row):
                cell = Box(x + (j + 0.5) * side, y + (i + 0.5) * tall, side, tall)
                number = isinstance(value, int | float)
                label = f"{value:.2f}" if isinstance(value, float) else str(value)
                strength = 0.06 + 0.6 * value if shade and number else None
                self._rectangle(cell, kind, rounded=0, strength=strength)
                text = self.text(label, cell.x, cell.y, size=self.size - 2)
                self._fits(label, self._extent(text)[0], side)
                grid[-1].append(cell)
        return grid

    def circle(
        self, label: str, x: float, y: float, *, kind: str = "plain", radius: float = 11
    ) -> Box:
        """Draw an operation, such as + or ×."""
        from matplotlib.patches import Circle

        edge, fill = _colors(kind)
        face = Circle((x, y), radius, facecolor=fill, edgecolor=edge, lw=1.1, zorder=1.4)
        self._axes.add_patch(face)
        self.text(label, x, y)
        return Box(x, y, 2 * radius, 2 * radius)

    def arrow(
        self,
        start: Box | Point,
        end: Box | Point,
        label: str = "",
        *,
        through: Sequence[Point] = (),
        bend: float = 0.0,
        color: str = LINES,
        dashed: bool = False,
        head: bool = True,
        width: float = 1.3,
        at: Point = (6, 0),
    ) -> None:
        """Draw an arrow between the facing sides of two boxes, or between points.

        Args:
            through: corners on the way.
            bend: how far its middle is off the straight line, as a share of its length; positive:
                to the left of its direction.
            label: beside its middle, ``at`` pixels off, and left-aligned there (right-aligned,
                if the first of these is negative).
            head: False for a line.
        """
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path

        first = through[0] if through else (end if isinstance(end, tuple) else (end.x, end.y))
        last = (
            through[-1] if through else (start if isinstance(start, tuple) else (start.x, start.y))
        )
        begin = start if isinstance(start, tuple) else start.toward(*first)
        finish = end if isinstance(end, tuple) else end.toward(*last)
        points = [begin, *through, finish]
        middle = middle_of(points)
        codes = None
        if bend:
            (x0, y0), (x1, y1) = begin, finish
            control = (x0 + x1) / 2 + bend * 2 * (y1 - y0), (y0 + y1) / 2 - bend * 2 * (x1 - x0)
            points = [begin, control, finish]
            codes = [Path.MOVETO, Path.CURVE3, Path.CURVE3]
            middle = (
                (begin[0] + finish[0] + 2 * control[0]) / 4,
                (begin[1] + finish[1] + 2 * control[1]) / 4,
            )
        self._axes.add_patch(
            FancyArrowPatch(
                path=Path(points, codes),
                arrowstyle="-|>,head_width=2.5,head_length=5" if head else "-",
                color=color,
                lw=width,
                linestyle=(0, (4, 3)) if dashed else "-",
                joinstyle="round",
                fill=head,
                zorder=1.5,
            )
        )
        if label:
            x, y = middle[0] + at[0], middle[1] + at[1]
            side = "center" if at[0] == 0 else "left" if at[0] > 0 else "right"
            self.text(label, x, y, size=self.size - 2, align=side)

    def text(
        self,
        label: str,
        x: float,
        y: float,
        *,
        size: float | None = None,
        align: str = "center",
        color: str = INK,
        bold: bool = False,
    ) -> "Text":
        """Write a label, vertically centered at ``y``."""
        text = self._axes.text(
            x,
            y,
            label,
            fontsize=(size or self.size) * 72 / _DPI,
            ha=align,
            va="center_baseline",
            color=color,
            weight="bold" if bold else "normal",
            zorder=4,
        )
        self._inside(text)
        return text

    def bracket(self, start: Point, end: Point, label: str, *, at: Point = (8, 0)) -> None:
        """Draw a square bracket from one point to another, to the left of its direction.

        Args:
            at: pixels from its middle to the label.
        """
        (x0, y0), (x1, y1) = start, end
        long = max(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5, 1)
        off = 7 * (y1 - y0) / long, -7 * (x1 - x0) / long
        corners = [(x0 + off[0], y0 + off[1]), (x1 + off[0], y1 + off[1])]
        self.arrow(start, end, label, through=corners, head=False, at=at)

    def frame(self, boxes: Iterable[Box], label: str = "", *, pad: float = 12) -> Box:
        """Draw a dashed rectangle around boxes, with a label at its upper right, outside."""
        found = list(boxes)
        left = min(box.left[0] for box in found) - pad
        right = max(box.right[0] for box in found) + pad
        top = min(box.top[1] for box in found) - pad
        bottom = max(box.bottom[1] for box in found) + pad
        shape = Box((left + right) / 2, (top + bottom) / 2, right - left, bottom - top)
        self._rectangle(shape, "frame", dashed=True, rounded=10)
        if label:
            self.text(label, right + 6, top + 10, align="left", size=self.size - 1)
        return shape

    def svg(self) -> str:
        """The drawing as SVG, with its type as outlines and a white background."""
        import matplotlib as mpl

        for number, part in enumerate((*self._axes.patches, *self._axes.texts)):
            if step := sum(part not in earlier for earlier in self._earlier):
                part.set_gid(f"step-{step}-{number}")
        buffer = io.StringIO()
        with mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "diagram"}):
            self.figure.savefig(buffer, format="svg", facecolor="white", metadata={"Date": None})
        size = f'width="{self.width:g}" height="{self.height:g}"'
        return re.sub(
            r'width="[\d.]+pt" height="[\d.]+pt"|width="[^"]+pt"', size, buffer.getvalue(), count=1
        )

    def _rectangle(
        self,
        shape: Box,
        kind: str,
        *,
        rounded: float,
        dashed: bool = False,
        strength: float | None = None,
    ) -> None:
        from matplotlib.patches import FancyBboxPatch

        edge, fill = _colors(kind, strength)
        self._axes.add_patch(
            FancyBboxPatch(
                (shape.left[0] + rounded, shape.top[1] + rounded),
                shape.width - 2 * rounded,
                shape.height - 2 * rounded,
                boxstyle=f"round,pad={rounded},rounding_size={rounded}",
                facecolor=fill,
                edgecolor=edge,
                lw=1.1,
                linestyle=(0, (4, 3)) if dashed else "-",
                zorder=1 if kind == "frame" else 2,
            )
        )

    def _extent(self, text: "Text") -> Point:
        """The width and height of a text in pixels."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        extent = text.get_window_extent(FigureCanvasAgg(self.figure).get_renderer())
        return extent.width, extent.height

    def _inside(self, text: "Text") -> None:
        wide, (x, y) = self._extent(text)[0], text.get_position()
        left = x - {"left": 0.0, "center": wide / 2, "right": wide}[text.get_horizontalalignment()]
        if left < 0 or left + wide > self.width or not 0 <= y <= self.height:
            raise CourseError(
                f"The label {text.get_text()!r} reaches from x = {left:.0f} to {left + wide:.0f} "
                f"at y = {y:.0f}; the diagram has {self.width} × {self.height} pixels.",
                "Move it, shorten it, or enlarge the diagram.",
            )

    def _fits(self, label: str, needed: float, width: float) -> None:
        if needed > width:
            raise CourseError(
                f"The label {label!r} needs {needed:.0f} pixels and has {width:.0f}.",
                "Shorten it, or enlarge its box.",
            )


def _colors(kind: str, strength: float | None = None) -> tuple[Any, Any]:
    """The color of a part's edge, and of its inside."""
    if kind == "frame":
        return LINES, "none"
    if kind not in PARTS:
        raise CourseError(
            f"There is no kind of part {kind!r}.", f"Choose one of {', '.join(PARTS)}."
        )
    color = PARTS[kind]
    edge = LINES if kind == "plain" else tuple(0.8 * part for part in tint(color, 1))
    return edge, tint(color, 0.25 if strength is None else strength)
