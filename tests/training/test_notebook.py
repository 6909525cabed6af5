"""A training in a notebook: what is displayed, and what Ctrl-C leaves; one kernel for all cells."""

import base64
import io

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from PIL import Image

SETUP = """
import os, signal, torch
from lmcourse.training import History, loss_figure, train, watching
from research.runs import Checkpoints
from lmcourse.training.watching import Line
from tests.training.small_runs import Regression
loss_figure.LossFigure.seconds, watching._SHARE = 0.0, 1e9
drawn = []
original = loss_figure.draw
loss_figure.draw = lambda losses, norms: drawn.append(len(losses)) or original(losses, norms)
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
FIGURES = """
for start in (3.0, 5.0):
    history = History()
    try:
        with watching.watching("plot", history) as watcher:
            for step in range(3):
                history.record(start - step, 0.5)
                watcher.tick()
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
with watching.watching("plot", History()):
    pass
print(drawn)
"""
FAILING = """
history = History()
with watching.watching("plot", history) as watcher:
    history.losses.append(2.0)  # and its gradient's norm is not there yet
    raise ValueError
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
        "figures": FIGURES,
        "failing": FAILING,
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


def test_each_training_has_a_figure_with_words(outputs):
    one, two, none, printed = outputs["figures"]
    for output, first in ((one, 3.0), (two, 5.0)):
        assert output.output_type == "display_data"
        text = output.data["text/plain"]
        assert text == output.metadata["image/png"]["alt"]
        assert f'alt="{text.replace(chr(39), "&#x27;")}"' in output.data["text/html"]
        assert text.startswith(f"The loss over 3 steps: {first:.3f} nats at the first.")
        image = Image.open(io.BytesIO(base64.b64decode(output.data["image/png"])))
        assert image.size == (792, 396)
    assert none.data == {"text/plain": "No step was taken."}
    assert printed.text == "[2, 1, 2, 3, 3, 1, 2, 3, 3]\n"  # 2: before the training


def test_an_error_leaves_the_figure(outputs):
    last, error = outputs["failing"]
    assert "over 1 step: 2.000" in last.data["text/plain"] and error.ename == "ValueError"


def test_a_cell_that_is_interrupted_and_run_again_continues(outputs):
    (error,) = outputs["interrupted"]
    assert error.ename == "KeyboardInterrupt"
    assert outputs["resumed"][0].text == "30 50\n"
