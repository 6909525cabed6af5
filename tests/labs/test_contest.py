"""The contest of lab 18: what is stored is what is loaded, and the reader's runs are kept."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from lmcourse.labs.lab18 import contest

from lmcourse.errors import CourseError


@pytest.fixture
def workbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LMCOURSE_WORKBOOK", str(tmp_path))
    monkeypatch.setattr(contest, "_here", [])
    monkeypatch.setattr(contest, "measure", lambda name, forms, model: forms)
    return tmp_path


def run(name: str, size: int, loss: float) -> contest.Run:
    return contest.Run("", name, size, loss, 0.5)


def test_what_is_stored_is_loaded_back(tmp_path: Path) -> None:
    torch.manual_seed(0)
    w = torch.randn(7, 5)
    sparse = w * (w.abs() > 1.5)
    forms = {f"q{bits}": contest.in_bits(w, bits) for bits in range(2, 9)}
    forms |= {
        "whole": w,
        "half": w.half(),
        "array": w.numpy().astype(np.float16),
        "sparse": sparse,
        "zeros": torch.zeros(3, 4),
        "constant": (torch.ones(2, 2), torch.tensor(0.25)),
        "unsigned": (torch.arange(256).reshape(4, 64), torch.ones(4)),
        "vector": (torch.tensor([3, -2, 1]), torch.tensor(0.5)),
        "product": [contest.in_bits(w, 6), [w.T.half(), contest.in_bits(w, 3)]],
    }
    size = contest.save(forms, tmp_path / "x.safetensors")
    loaded = contest.load(tmp_path / "x.safetensors")
    assert size == contest.file_size(forms) == (tmp_path / "x.safetensors").stat().st_size
    assert loaded.keys() == forms.keys()
    for name, form in forms.items():
        assert torch.equal(loaded[name], contest.tensor_of(form)), name
    assert torch.equal(loaded["whole"], w) and torch.equal(loaded["sparse"], sparse)


def test_fewer_bits_take_fewer_bytes() -> None:
    w = torch.randn(200, 64)
    sizes = [contest.file_size({"w": contest.in_bits(w, bits)}) for bits in range(2, 9)]
    for smaller, larger in pairwise(sizes):  # the header is padded to multiples of 8
        assert 0 <= larger - smaller - 200 * 64 // 8 <= 8


@pytest.mark.parametrize(
    "form",
    [
        None,
        [],
        (torch.ones(2, 2),),
        torch.ones(2, 2).int(),
        (torch.tensor([[0.5]]), torch.ones(1)),
        (torch.tensor([[300.0, -300.0]]), torch.ones(1)),
        (torch.ones(2, 3), torch.ones(3)),
        (torch.ones(2, 3) * torch.nan, torch.ones(2)),
    ],
)
def test_other_forms_are_refused(form: object) -> None:
    with pytest.raises(CourseError):
        contest.file_size({"w": form})


def test_runs_are_added_and_never_replaced(workbook: Path) -> None:
    contest.enter("first | one", run("first | one", 150_000, 2.0), "")
    before = (workbook / contest.FILE).read_bytes()
    contest.enter("second", run("second", 190_000, 1.5), "")
    contest.enter("second", run("second", 190_000, 1.5), "")  # the same once more
    contest.enter("large", run("large", 250_000, 1.0), "")
    assert (workbook / contest.FILE).read_bytes().startswith(before)
    assert [each.name for each in contest.runs()] == ["first | one", "second", "large"]
    rows = contest.table(run("given", 100_000, 3.0)).splitlines()[2:]
    assert [row.split(" | ")[1] for row in rows] == ["second", "first / one", "given", "large"]
    assert rows[-1].startswith("| too large |")


def test_a_damaged_line_loses_nothing_else(workbook: Path) -> None:
    contest.enter("first", run("first", 150_000, 2.0), "")
    file = workbook / contest.FILE
    file.write_text(file.read_text() + "2026-01-01,torn,12", encoding="utf-8")
    contest.enter("second", run("second", 190_000, 1.5), "")
    assert "torn,12\n" in file.read_text()
    assert [each.name for each in contest.runs()] == ["first", "second"]


def test_without_a_workbook_runs_are_kept_for_the_session(
    workbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contest.progress, "folder", lambda: None)
    contest.enter("first", run("first", 150_000, 2.0), "")
    assert [each.name for each in contest.runs()] == ["first"]
    assert not (workbook / contest.FILE).exists()
