"""The line that tells how training goes."""

import io
import sys

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from lmcourse.training import ticker
from lmcourse.training.ticker import Ticker


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_a_terminal_gets_one_line_and_a_log_none(monkeypatch, stream):
    monkeypatch.setattr(ticker, "_SECONDS", 0.0)
    monkeypatch.setattr(sys, "stderr", written := stream())
    line = Ticker()
    line.tick(3, 1.5)
    line.end(4, 1.25)
    text = written.getvalue()
    if stream is Terminal:
        assert "\rstep 3 · loss 1.500" in text and text.endswith("4 steps · loss 1.250\x1b[K\n")
    else:
        assert text == ""


def test_a_notebook_gets_one_line_for_all_trainings_of_a_cell():
    code = """
from lmcourse.training.ticker import Ticker
for steps in (5, 7):
    Ticker().end(steps, 0.5)
print("after")
"""
    notebook = new_notebook(cells=[new_code_cell(code), new_code_cell(code)])
    NotebookClient(notebook, kernel_name="python3").execute()
    for cell in notebook.cells:
        shown = [out.data["text/plain"] for out in cell.outputs if "data" in out]
        assert shown == ["7 steps · loss 0.500"]
        assert [out.text for out in cell.outputs if out.output_type == "stream"] == ["after\n"]
