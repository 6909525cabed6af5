"""What is beside what on a sheet: text and code on the left, what they lead to on the right.

Of the ways in which everything fits, the one is chosen that shows the text and the figure largest.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coursekit.book.content import Node
from coursekit.book.slides import images, sizes
from coursekit.book.slides.cells import source_of, widest

_GAP = 36  # between two columns
_SHARES = (0.34, 0.4, 0.46, 0.5, 0.54, 0.6, 0.66)  # of the width that the left column has
_SIZES = (28, 24, 20)


@dataclass(frozen=True)
class Arrangement:
    """A way to show a sheet's nodes."""

    left: float = 0.0  # the share of the left column; 0: all below each other
    right: frozenset[int] = frozenset()  # the numbers of the nodes that are on the right
    height: float = 0.0  # about, in pixels, at the smallest size
    labels: float = math.inf  # about, in pixels: the smallest letters of the figures
    score: float = 0.0  # larger is better; 0: it does not fit

    @property
    def width(self) -> float:
        """Return the width of the left column in pixels."""
        return sizes.WIDTH * self.left if self.left else sizes.WIDTH


def arranged(nodes: Sequence[Node], room: float, sizes_of: sizes.ImageSizes) -> Arrangement:
    """Return the best way to show nodes; if there is none, the one that is least too high."""
    if any(map(sizes.is_widget, nodes)):
        return Arrangement(height=room if len(nodes) == 1 else 2 * room)
    options = list(_options(nodes, room, sizes_of))
    best = max(options, key=lambda it: it.score)
    return best if best.score else min(options, key=lambda it: it.height)


def _options(
    nodes: Sequence[Node], room: float, sizes_of: sizes.ImageSizes
) -> Iterator[Arrangement]:
    yield _measured(nodes, room, sizes_of, 0.0, frozenset())
    shown = [number for number, node in enumerate(nodes) if _is_exhibit(node, sizes_of)]
    if not 0 < len(shown) < len(nodes):
        return
    rest = [node for number, node in enumerate(nodes) if number not in shown]
    if not _images(nodes, sizes_of) and not all(map(sizes.code_of, rest)):
        return  # what is printed belongs to the code: it is below it where there is text, too
    for share in _SHARES:
        if _columns_fit(nodes, shown, share):
            yield _measured(nodes, room, sizes_of, share, frozenset(shown))


def _is_exhibit(node: Node, sizes_of: sizes.ImageSizes) -> bool:
    """Say whether a node is what text and code lead to: a figure, or what a cell prints."""
    if node["type"] != "outputs":
        return sizes.is_figure(node, sizes_of)
    return not any(map(source_of, node["children"])) and not _is_table(node)


def _is_table(node: Node) -> bool:
    forms = [(each.get("jupyter_data") or {}).get("data", {}) for each in node["children"]]
    return any("text/markdown" in form for form in forms)


def _columns_fit(nodes: Sequence[Node], right: Sequence[int], share: float) -> bool:
    """Say whether code, equations and printed lines are not too wide for two columns."""
    widths = {False: sizes.WIDTH * share, True: sizes.WIDTH * (1 - share) - _GAP}
    for number, node in enumerate(nodes):
        width = widths[number in right]
        if not sizes.code_fits(sizes.code_of(node), width):
            return False
        if sizes.equation_width(node, sizes.SMALLEST + 4) > width or _has_table(node):
            return False
        if widest(sizes.printed(node)) * sizes.LETTER * sizes.CODE[1] > width - 40:
            return False
    return True


def _has_table(node: Node) -> bool:
    return node["type"] == "table" or any(map(_has_table, node.get("children", [])))


def _measured(
    nodes: Sequence[Node],
    room: float,
    sizes_of: sizes.ImageSizes,
    share: float,
    right: frozenset[int],
) -> Arrangement:
    """Measure one way to show nodes, at the largest size at which they fit."""
    if share:
        widths = [sizes.WIDTH * share, sizes.WIDTH * (1 - share) - _GAP]
        groups = [
            [node for number, node in enumerate(nodes) if (number in right) == side]
            for side in (False, True)
        ]
    else:
        widths, groups = [sizes.WIDTH], [list(nodes)]
    needed, score, labels = 0.0, 0.0, math.inf
    for size in _SIZES:
        heights = [
            sizes.stacked([sizes.height(node, width, size, sizes_of) for node in group], size)
            for group, width in zip(groups, widths, strict=True)
        ]
        needed = max(heights)
        if needed > room:
            continue
        number = len(_images(nodes, sizes_of))
        area, own = 0.0, sizes.FIGURE * number
        for group, width, tall in zip(groups, widths, heights, strict=True):
            for wide, high, letters in _images(group, sizes_of):
                free = (room - tall + own) / number
                scale = min(width / wide, free / high)
                area += scale**2 * wide * high / (sizes.WIDTH * room)
                labels = min(labels, scale * letters)
        beside = 0.3 if share and not number else 0.0  # code beside what it prints
        balance = 0.1 * (1 - abs(heights[0] - heights[-1]) / room) if share else 0.0
        score = size / sizes.LARGEST + 1.5 * area + beside + balance
        break
    return Arrangement(share, right, needed, labels, score)


def _images(nodes: Sequence[Node], sizes_of: sizes.ImageSizes) -> list[tuple[float, float, float]]:
    """Return the width and height of each image, and the size of its smallest letters."""
    found = []
    for node in nodes:
        outputs = node["children"] if node["type"] == "outputs" else [node]
        for each in outputs:
            if size := sizes_of(each):
                found.append((*size, images.smallest(each) or math.inf))
    return found
