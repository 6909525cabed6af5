"""What every chapter, lab and widget page owes its reader, checked on the sources."""

import re
import shutil
import subprocess
import sys

import pytest

from coursekit import course, form
from coursekit.notebooks.sources import read_notebook
from lmcourse import widgets

SOURCES = course.sources()
GALLERY = [source for source in SOURCES if source.kind == "widget"]


def name(source):
    return f"{source.kind}-{source.number or source.slug}"


def code_cells(source):
    return [cell for cell in read_notebook(source.path).cells if cell.cell_type == "code"]


def prose(source):
    cells = read_notebook(source.path).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_a_source_has_the_form(source):
    assert not (found := form.report([source])), found


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


def test_each_widget_has_a_page():
    shown = {each for source in GALLERY for each in widgets.__all__ if each in text_of(source)}
    assert shown == set(widgets.__all__) - {"Widget"}


def text_of(source):
    return "\n".join(cell.source for cell in code_cells(source))


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
