"""The cells on real English, with a model that the reader names.

`make test` runs every notebook with the installed releases, and once more without them
(``tests/device``). Here the cells tagged ``real`` run with a masked language model, which they
download from a hub on this machine; and without any.
"""

import os
import re

import pytest

from coursekit import course
from coursekit.notebooks.sources import read_notebook
from tests.hub import saved
from tests.hub.conftest import _own_caches, hub  # noqa: F401 (fixtures)

SOURCES = [each for each in course.sources() if "hub.real(" in each.path.read_text("utf-8")]
NAMES = [each.slug for each in SOURCES]
ENCODERS = [each for each in SOURCES if "encoder = hub.real(" in each.path.read_text("utf-8")]


def run(source) -> dict:
    """Run the first code cell and those tagged ``real``; their names and values."""
    codes = [cell for cell in read_notebook(source.path).cells if cell.cell_type == "code"]
    real = [cell for cell in codes if "real" in cell.metadata.get("tags", [])]
    assert real, "the cells after hub.real are tagged `real`"
    space: dict = {"__name__": "__main__"}
    for cell in (codes[0], *real):
        exec(compile(cell.source, source.slug, "exec"), space)
    return space


@pytest.mark.parametrize("source", ENCODERS, ids=[each.slug for each in ENCODERS])
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
    space = run(source)
    plt.close("all")
    assert space["encoder"].source == "org/tiny-bert"
    assert "org/tiny-bert (commit" in capsys.readouterr().out


@pytest.mark.parametrize("source", SOURCES, ids=NAMES)
def test_its_cells_say_in_a_line_what_is_left_out(source, monkeypatch, capsys):
    monkeypatch.setenv("LMCOURSE_REAL", "off")
    space = run(source)
    loaded = re.findall(r"^(\w+) = hub\.real\(", source.path.read_text("utf-8"), re.MULTILINE)
    assert loaded and all(space[name] is None for name in loaded)
    assert capsys.readouterr().out.count("Left out: ") == len(loaded)


def test_there_are_such_chapters():
    assert {"05-word-embeddings", "08-attention", "09-the-transformer", "10-bert"} <= {*NAMES}
    assert len(ENCODERS) >= 3
    assert os.environ.get("LMCOURSE_REAL") != "off"
