"""Every notebook runs on a device, and computes there what it computes on the CPU."""

from pathlib import Path

import pytest

from coursekit import course
from tests.device.notebook import DRAWN, differences, recorded, run, unrecorded
from tests.device.pretend import NAMES, PRETENDED

SOURCES = [source for kind in course.FOLDERS for source in course.sources(kind)]


@pytest.mark.parametrize("path", [source.path for source in SOURCES], ids=lambda path: path.name)
@pytest.mark.parametrize("device", NAMES)
def test_a_notebook_runs_on_a_device(path: Path, device: str):
    there, error = run(path, device)
    assert error is None
    drawn = path.name in DRAWN
    if not unrecorded(there, recorded(path.name), drawn):
        return
    here, error = run(path, "cpu")  # cut short, too: what does not hold there either was learned
    assert error is None
    assert differences(here, there, drawn=drawn) == []


def test_what_is_recorded_saves_a_run_only_if_the_device_computes_it():
    loss = ("measured", "loss", 0.5, False)
    assert not unrecorded([loss, ("identity", "sum", 3.0, True)], {"loss": 0.5})
    assert not unrecorded([("measured", "loss", 0.5, True)], {})
    assert unrecorded([loss], {})
    assert unrecorded([loss], {"loss": 0.51})
    assert unrecorded([loss, ("measured", "other", 0.5, False)], {"loss": 0.5})


NOTEBOOK = """\
---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {name: python3, display_name: Python 3, language: python}
---

```{code-cell} ipython3
import torch
from lmcourse import device, expect
from lmcourse.training import fit

torch.manual_seed(0)
model = torch.nn.Linear(2, 2).to(device())
x = torch.ones(5, 2).to(device())
history = fit(model, (model(x).square().mean() for _ in range(1000)), watch="nothing")
expect("the loss", history.losses[1], at_most=0)
```

```{code-cell} ipython3
rounds = 0
for _ in range(1000):
    model(x).sum().backward()
    rounds += 1
expect("rounds", rounds, close_to=1000, within=0)
```
"""


def test_trainings_are_cut_and_checks_compared(tmp_path: Path):
    path = tmp_path / "small.md"
    path.write_text(NOTEBOOK)
    here, there = (run(path, device) for device in ("cpu", PRETENDED))
    assert here == there
    values, error = here
    assert error is None and [name for _, name, *_ in values] == ["the loss", "rounds"]
    assert values[1] == ("measured", "rounds", 2, False)


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("torch.ones(5, 2).to(device())", "torch.ones(5, 2)", "on the same device"),
        ("history.losses[1]", "model(x).detach().numpy().sum()", "to numpy"),
        ("torch.ones(5, 2).to(device())", "torch.ones(5, 2).to(device()).double()", "float64"),
    ],
)
def test_what_was_forgotten_is_found(right, wrong, says, tmp_path: Path):
    path = tmp_path / "small.md"
    path.write_text(NOTEBOOK.replace(right, wrong))
    (_, error) = run(path, PRETENDED)
    assert error is not None and says in error and error.startswith("cell 0: import torch")


def test_a_value_that_differs_is_found():
    one = [("measured", "loss", 1.0, False), ("identity", "nan", float("nan"), False)]
    assert differences(one, one) == []
    assert differences(one[:1], [("measured", "loss", 1.00001, False)]) == []
    assert len(differences(one[:1], [("measured", "loss", 1.01, True)])) == 1
    assert len(differences(one, [one[0], ("identity", "nan", 2.0, True)])) == 1
    assert differences([("measured", "loss", 1.0, True)], [("measured", "loss", 2.0, True)]) == []
    assert len(differences(one, one[:1])) == 1
    assert differences(one[:1], [("measured", "loss", 2.0, True)], drawn=True) == []
    other = [one[0], ("identity", "nan", 2.0, False)]
    assert len(differences(one, other, drawn=True)) == 1
