"""Diagrams: boxes have the size of their labels, arrows meet facing sides, nothing is cut off."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from matplotlib.patches import FancyArrowPatch

from lmcourse.diagram import Box, Diagram
from lmcourse.errors import CourseError
from lmcourse.style import PARTS


@pytest.fixture
def diagram() -> Diagram:
    return Diagram(480, 200)


def paths(diagram: Diagram) -> list[list[list[float]]]:
    return [
        patch._path_original.vertices.tolist()
        for patch in diagram.figure.axes[0].patches
        if isinstance(patch, FancyArrowPatch)
    ]


def test_a_box_is_as_wide_as_its_label(diagram):
    short, long = diagram.box("a", 100, 50), diagram.box("softmax of scores", 300, 50)
    assert long.width > 3 * short.width
    assert (short.left, short.right) == ((100 - short.width / 2, 50), (100 + short.width / 2, 50))
    assert (short.top, short.bottom) == ((100, 34), (100, 66))


def test_tokens_follow_each_other(diagram):
    first, second = diagram.tokens(["the", "plot"], 10, 20, gap=7)
    assert first.left[0] == 10 and second.left[0] == pytest.approx(first.right[0] + 7)


def test_cells_are_a_grid(diagram):
    grid = diagram.cells([[0.1, 0.9], [1, "$h$"]], 10, 20, side=40, height=30, shade=True)
    assert [[(cell.x, cell.y) for cell in row] for row in grid] == [
        [(30, 35), (70, 35)],
        [(30, 65), (70, 65)],
    ]
    assert [text.get_text() for text in diagram.figure.axes[0].texts] == [
        "0.10",
        "0.90",
        "1",
        "$h$",
    ]


@pytest.mark.parametrize(
    ("to", "sides"),
    [
        (Box(300, 90, 40, 20), ([120, 100], [280, 90])),
        (Box(20, 100, 10, 10), ([80, 100], [25, 100])),
        (Box(110, 20, 40, 20), ([100, 90], [110, 30])),
        (Box(95, 180, 40, 20), ([100, 110], [95, 170])),
    ],
)
def test_an_arrow_joins_facing_sides(diagram, to, sides):
    diagram.arrow(Box(100, 100, 40, 20), to)
    assert paths(diagram) == [[*sides]]


def test_an_arrow_goes_through_corners_and_bends(diagram):
    diagram.arrow((10, 10), (110, 60), through=[(110, 10)])
    diagram.arrow((10, 10), (110, 10), bend=0.2)  # to its left: upward
    diagram.bracket((50, 150), (50, 100), "gone")
    corner, bent, bracket = paths(diagram)
    assert corner == [[10, 10], [110, 10], [110, 60]]
    assert bent == [[10, 10], [60, -30], [110, 10]]
    assert bracket == [[50, 150], [43, 150], [43, 100], [50, 100]]


def test_an_arrow_ends_at_the_edge_of_a_circle(diagram):
    diagram.arrow((10, 50), diagram.circle("+", 100, 50, radius=20))
    assert paths(diagram) == [[[10, 50], [80, 50]]]


def test_a_frame_is_around_its_boxes(diagram):
    frame = diagram.frame([Box(100, 100, 40, 20), Box(200, 120, 20, 20)], "N×", pad=10)
    assert (frame.left[0], frame.right[0]) == (70, 220)
    assert (frame.top[1], frame.bottom[1]) == (80, 140)


@pytest.mark.parametrize("kind", PARTS)
def test_every_kind_has_a_color_of_its_own(diagram, kind):
    others = {PARTS[it] for it in PARTS if it != kind}
    assert PARTS[kind] not in others
    diagram.box("x", 100, 100, kind=kind)


def test_what_does_not_fit_is_refused(diagram):
    with pytest.raises(CourseError, match=r"'attention' needs \d+ pixels and has 40"):
        diagram.box("attention", 100, 100, width=40)
    with pytest.raises(CourseError, match="reaches from x = -"):
        diagram.text("to the left of the edge", 20, 50)
    with pytest.raises(CourseError, match="at y = 230; the diagram has 480 × 200 pixels"):
        diagram.text("below", 100, 230)
    with pytest.raises(CourseError, match="no kind of part 'magic'"):
        diagram.box("x", 100, 100, kind="magic")
    with pytest.raises(CourseError, match="needs"):
        diagram.cells([["a long label"]], 200, 10)


def test_the_image_is_the_same_each_time_and_has_its_size():
    def draw() -> str:
        diagram = Diagram(480, 200)
        diagram.arrow(diagram.box("$h_1$", 100, 100, kind="state"), (300, 100), "W", dashed=True)
        return diagram.svg()

    first = draw()
    root = ElementTree.fromstring(first)
    assert (root.get("width"), root.get("height")) == ("480", "200")
    assert "<text" not in first and first == draw()


def test_steps_name_their_parts_and_change_no_picture():
    drawings = []
    for step in (lambda diagram: None, Diagram.step):
        diagram = Diagram(200, 100)
        box = diagram.box("one", 40, 50)
        step(diagram)
        diagram.arrow(box, diagram.box("two", 160, 50))
        step(diagram)
        diagram.text("three", 100, 80)
        drawings.append(diagram.svg())
    plain, stepped = drawings
    steps = re.findall(r'<g id="step-(\d)-\d+"', stepped)
    assert sorted(steps) == ["1", "1", "1", "2"]  # an arrow, a box and its label; a text
    shape = re.compile(r'<path [^>]*? d="[^"]*"')
    assert shape.findall(plain) == shape.findall(stepped)
