"""What a slide shows of a code cell."""

import pytest

from coursekit.book.slides.cells import chosen, parts, source_of, without_docstrings
from lmcourse.errors import CourseError
from tests.slides import trees
from tests.slides.trees import cell

CODE = """\
import math

def f(x):
    return math.exp(x)


y = f(
    2,
)
for each in (1, 2):
    expect("each", each)
expect("y", y,
       close_to=7.4)
print(y)"""
CONTRACT = trees.display(
    text_html='<div class="lmcourse-check" data-kind="measured">✓</div>', text_plain="✓ y"
)
LISTING = trees.display(
    text_html='<style></style><div class="highlight">',
    text_plain='# lmcourse/a.py\ndef f():\n    """Why."""\n    x = 1\n    return x\n',
)


def shown(block: trees.Node, **marks: str) -> list[str]:
    return [node["type"] for node in parts(block, marks, "slide 2")]


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (
            None,
            "import math\n\ndef f(x):\n    return math.exp(x)\n\ny = f(\n    2,\n)\nprint(y)",
        ),
        ("3-4", "def f(x):\n    return math.exp(x)"),
        ("4", "return math.exp(x)"),
        ("1, 7-9", "import math\n# ...\ny = f(\n    2,\n)"),
        ("7-14", "y = f(\n    2,\n)\nprint(y)"),
        ("3-4, 14", "def f(x):\n    return math.exp(x)\n# ...\nprint(y)"),
        ("12-13", ""),
    ],
)
def test_lines_are_chosen_and_contracts_left_out(lines, code):
    assert chosen(CODE, lines, "slide 2") == code


@pytest.mark.parametrize("lines", ["0-3", "3-99", "x", "5-3", "7-8", "12"])
def test_lines_that_are_wrong_are_named(lines):
    with pytest.raises(CourseError, match=f"slide 2: `lines: {lines}`"):
        chosen(CODE, lines, "slide 2")


def test_what_is_shown_of_a_cell():
    both = cell("x = 1", trees.stream("1"), CONTRACT)
    assert shown(both) == ["code", "outputs"]
    (_, outputs) = parts(both, {}, "slide 2")
    assert len(outputs["children"]) == 1, "a contract is never on a slide"
    assert shown(both, show="output") == ["outputs"]
    assert shown(both, show="code") == ["code"]
    assert shown(both, show="code then output") == ["code", "outputs"]
    assert shown(cell("draw()", trees.figure(), hide=True)) == ["outputs"]
    assert shown(cell("draw()", trees.figure(), hide=True), show="code") == ["code"]
    assert shown(cell("expect('a', 1)", CONTRACT)) == []
    progress = trees.display(text_plain="1,000 steps · loss 1.234")
    assert shown(cell("expect('a', 1)", progress)) == []
    with pytest.raises(CourseError, match="show: all"):
        shown(both, show="all")


def test_a_cell_that_only_asks_for_a_listing_is_the_listing():
    assert shown(cell("show.source(f)", LISTING)) == ["outputs"]
    assert shown(cell("show.source(f)\nx = 1", LISTING)) == ["code", "outputs"]


def test_a_listing_does_without_docstrings_and_shows_chosen_lines():
    (outputs,) = parts(cell("show.source(f)", LISTING), {}, "slide 2")
    text = "# lmcourse/a.py\ndef f():\n    x = 1\n    return x\n"
    assert source_of(outputs["children"][0]) == text
    marks = {"show": "output", "lines": "1, 3"}
    (outputs,) = parts(cell("show.source(f)", LISTING), marks, "slide 2")
    text = "# lmcourse/a.py\ndef f():\n    # ...\n    return x"
    assert source_of(outputs["children"][0]) == text


def test_docstrings():
    code = 'def f():\n    """Why.\n\n    More.\n    """\n    return "a # b"  # kept\n'
    assert without_docstrings(code) == 'def f():\n    return "a # b"  # kept\n'
    assert without_docstrings("def f(:") == "def f(:"
    only = 'def f():\n    """Why."""\n'
    assert without_docstrings(only) == only  # else nothing of it would be left
