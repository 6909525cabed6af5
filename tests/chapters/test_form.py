"""What every chapter, lab and widget page owes its reader, checked on the sources."""

import ast
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from coursekit import course
from coursekit.notebooks.sources import read_notebook
from lmcourse import widgets

SOURCES = course.sources()
CHAPTERS = [source for source in SOURCES if source.kind == "chapter"]
GALLERY = [source for source in SOURCES if source.kind == "widget"]
NUMBERED = [source for source in SOURCES if source.number]
COLUMNS = 100
DIAGRAMS = 4  # cells of a chapter that draw one, at least
VISIBLE_LINES = 25  # of a cell that is not folded away


def name(source):
    return f"{source.kind}-{source.number or source.slug}"


def code_cells(source):
    return [cell for cell in read_notebook(source.path).cells if cell.cell_type == "code"]


def prose(source):
    cells = read_notebook(source.path).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def calls(cell, *names):
    """The calls of a cell whose function is written as one of the names."""
    tree = ast.parse(re.sub(r"^%.*$", "pass", cell.source, flags=re.MULTILINE))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [node for node in found if ast.unparse(node.func) in names]


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_the_front_matter_says_what_it_is(source):
    matter = yaml.safe_load(source.path.read_text(encoding="utf-8").split("---\n")[1])
    assert matter["title"]
    assert source.kind == "widget" or (source.minutes and 30 <= source.minutes <= 120)
    assert source.kind == "lab" or matter["question"].endswith("?")


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_code_fits_the_page(source):
    for cell in code_cells(source):
        lines = cell.source.splitlines()
        assert max(map(len, lines)) <= COLUMNS, lines
        folded = {"hide-input", "solution", "check"} & set(cell.metadata.get("tags", []))
        assert folded or len(lines) <= VISIBLE_LINES or source.kind == "lab", cell.source


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_every_figure_has_words_and_nothing_is_shown_without(source):
    for cell in code_cells(source):
        figures = calls(cell, "plt.subplots", "plt.figure")
        shown = calls(cell, "show.figure")
        assert len(shown) >= len(figures) and not calls(cell, "plt.show"), cell.source
        for call in shown:
            words = ast.unparse(call.args[1])
            assert len(words.split()) >= 12, f"say what is to be seen: {words}"


@pytest.mark.parametrize("source", NUMBERED, ids=name)
def test_figures_have_captions_and_numbers_in_order(source):
    shown = [call for cell in code_cells(source) for call in calls(cell, "show.figure")]
    numbers = [option(call, "number", 3) for call in shown]
    assert numbers == [str(number) for number in range(1, len(shown) + 1)]
    for call in shown:
        caption = option(call, "caption", 2)
        assert len(caption.split()) >= 4, f"say what to conclude: {ast.unparse(call)[:80]}"


def option(call, keyword, position):
    """The source of an argument of a call; "" if it is not passed. A number is by keyword only."""
    named = [ast.unparse(each.value) for each in call.keywords if each.arg == keyword]
    placed = [ast.unparse(each) for each in call.args[position : position + 1]]
    return "".join([*named, *placed])


@pytest.mark.parametrize("source", CHAPTERS, ids=name)
def test_a_chapter_has_diagrams(source):
    drawn = [cell for cell in code_cells(source) if calls(cell, "Diagram", "Anatomy")]
    assert len(drawn) >= DIAGRAMS


@pytest.mark.parametrize("source", CHAPTERS, ids=name)
def test_equations_that_are_referred_to_exist(source):
    text = prose(source)
    labels = re.findall(r"^\$\$ \((eq-[\w-]+)\)$", text, re.MULTILINE)
    assert len(labels) == len(set(labels))
    assert set(re.findall(r"\{eq\}`([\w-]+)`", text)) <= set(labels)


def test_a_label_stands_once_in_the_book():
    """In a book, labels of equations and other targets are of all pages together."""
    labels = [
        label
        for source in SOURCES
        for pair in re.findall(r"^\$\$ \(([\w-]+)\)$|^\(([\w-]+)\)=$", prose(source), re.M)
        for label in pair
        if label
    ]
    assert len(labels) > 30 and sorted(labels) == sorted(set(labels))


@pytest.mark.parametrize("source", CHAPTERS, ids=name)
def test_a_chapter_asks_answers_shows_and_promises(source):
    text, cells = prose(source), code_cells(source)
    assert text.count("{admonition} Question") == text.count("{dropdown} Answer") >= 3
    assert "## Takeaways" in text and "## Further reading" in text
    assert sum(len(calls(cell, "expect")) for cell in cells) >= 8
    assert any(calls(cell, "show.source") for cell in cells)
    slides = [c for c in read_notebook(source.path).cells if "slideshow" in c.metadata]
    assert len(slides) >= 10


SECTIONS = ["What it shows", "How to read it", "Keys", "In Python"]


@pytest.mark.parametrize("source", GALLERY, ids=name)
def test_a_widgets_page_shows_explains_and_says_its_keys(source):
    text, cells = prose(source), code_cells(source)
    assert source.title == re.search(r"^# (.+)$", text, re.MULTILINE)[1]
    assert re.findall(r"^## (.+)$", text, re.MULTILINE)[:4] == SECTIONS  # others may follow
    assert 2 <= len(cells) <= 5 and not any("slideshow" in cell.metadata for cell in cells)
    assert 250 <= len(re.findall(r"\w+", text)) <= 900
    keys = text[text.index("## Keys") : text.index("## In Python")]
    assert len(re.findall(r"^\|.+\|.+\|$", keys, re.MULTILINE)) >= 5, "a table"


def test_each_widget_has_a_page():
    shown = {each for source in GALLERY for each in widgets.__all__ if each in text_of(source)}
    assert shown == set(widgets.__all__) - {"Widget"}


def text_of(source):
    return "\n".join(cell.source for cell in code_cells(source))


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_the_voice(source):
    found = re.findall(
        r"\b(simply|obviously|trivially|colour|behaviour|modell\w+)\b", prose(source)
    )
    assert not found


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Copies of all sources, opened and saved as notebooks by one call of jupytext."""
    folder = tmp_path_factory.mktemp("saved")
    shutil.copy(course.root() / "jupytext.toml", folder)
    copies = [shutil.copy(source.path, folder / source.path.name) for source in SOURCES]
    command = [sys.executable, "-m", "jupytext", "--from", "md:myst", "--to", "md:myst"]
    subprocess.run([*command, *copies], check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_opening_and_saving_a_source_as_a_notebook_changes_nothing(source, saved):
    copy = saved / source.path.name
    assert copy.read_text(encoding="utf-8") == source.path.read_text(encoding="utf-8")
