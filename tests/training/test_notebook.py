"""A training in a notebook: what is displayed, and what Ctrl-C leaves; one kernel for all cells."""

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

SETUP = """
import os, signal, torch
from lmcourse.training import History, train
from research.runs import Checkpoints
from lmcourse.training.watching import Line
from tests.training.small_runs import Regression
class Losses(Regression):
    def __iter__(self):
        for loss in super().__iter__():
            if self.at == 30 and not again:
                os.kill(os.getpid(), signal.SIGINT)  # as the notebook's button does
            yield loss
model, again = torch.nn.Linear(4, 1), False
"""
LINES = """
for steps in (5, 7):
    Line(History([0.5] * steps)).close()
print("after")
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of each cell, by name."""
    folder = str(tmp_path_factory.mktemp("kept"))
    training = 'history = train(model, Losses(model, 50), checkpoints=kept, watch="nothing")'
    cells = {
        "setup": SETUP + f"kept = Checkpoints({folder!r})",
        "lines": LINES,
        "lines again": LINES,
        "interrupted": training,
        "resumed": f"again = True\n{training}\nprint(kept.resumed, len(history.losses))",
    }
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells.values()])
    NotebookClient(notebook, kernel_name="python3", allow_errors=True).execute()
    return {name: cell.outputs for name, cell in zip(cells, notebook.cells, strict=True)}


@pytest.mark.parametrize("cell", ["lines", "lines again"])
def test_all_trainings_of_a_cell_share_one_line(outputs, cell):
    shown = [output.data["text/plain"] for output in outputs[cell] if "data" in output]
    assert shown == ["7 steps · loss 0.500"]
    assert [o.text for o in outputs[cell] if o.output_type == "stream"] == ["after\n"]


def test_a_cell_that_is_interrupted_and_run_again_continues(outputs):
    (error,) = outputs["interrupted"]
    assert error.ename == "KeyboardInterrupt"
    assert outputs["resumed"][0].text == "30 50\n"
