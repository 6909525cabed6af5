"""The cells on real English: with MiniLM, without it, and with a model of a hub.

`make test` runs every notebook with the installed releases. Here each one that uses them runs
without them, whole; and its cells tagged ``real`` run with a masked language model, which they
download from a hub on this machine.
"""

import os

import pytest

from coursekit import course
from coursekit.book import execute
from coursekit.notebooks.sources import read_notebook
from tests.hub import saved
from tests.hub.conftest import hub  # noqa: F401 (a fixture)

SOURCES = [each for each in course.sources() if "hub.real(" in each.path.read_text("utf-8")]
NAMES = [each.slug for each in SOURCES]


def outputs(notebook) -> str:
    """All that the cells tagged ``real`` print."""
    cells = [cell for cell in notebook.cells if "real" in cell.metadata.get("tags", [])]
    assert cells, "the cells after hub.real are tagged `real`"
    return "".join(each.get("text", "") for cell in cells for each in cell.outputs)


@pytest.mark.parametrize("source", SOURCES, ids=NAMES)
def test_it_runs_whole_without_them_and_says_what_is_left_out(source, monkeypatch):
    monkeypatch.setenv("LMCOURSE_REAL", "off")
    notebook = execute.run(source).notebook
    said = outputs(notebook)
    assert said.count("Left out: ") == source.path.read_text("utf-8").count("hub.real(")


@pytest.mark.parametrize("source", SOURCES, ids=NAMES)
def test_its_cells_take_the_model_that_the_reader_names(
    source,
    hub,  # noqa: F811
    tmp_path,
    monkeypatch,
    capsys,
):
    import matplotlib.pyplot as plt

    hub.add("org/tiny-bert", saved.save(tmp_path, max_position_embeddings=128))
    monkeypatch.setenv("LMCOURSE_MODEL", "org/tiny-bert")
    for name in ("LMCOURSE_REAL", "LMCOURSE_STRICT"):
        monkeypatch.delenv(name, raising=False)
    codes = [cell for cell in read_notebook(source.path).cells if cell.cell_type == "code"]
    space = {"__name__": "__main__"}
    for cell in (codes[0], *(each for each in codes if "real" in each.metadata.get("tags", []))):
        exec(compile(cell.source, source.slug, "exec"), space)
    plt.close("all")
    assert space["encoder"].source == "org/tiny-bert"
    assert "org/tiny-bert (commit" in capsys.readouterr().out


def test_there_are_such_chapters():
    assert {"08-attention", "09-the-transformer", "10-bert"} <= {*NAMES}
    assert os.environ.get("LMCOURSE_REAL") != "off"
