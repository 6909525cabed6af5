"""The parity table, over fewer configurations than the command's: each row is a test."""

import pytest
import torch

from tests.parity import __main__ as command
from tests.parity import gensim_training
from tests.parity.__main__ import main
from tests.parity.architectures import ARCHITECTURES
from tests.parity.comparing import Architecture

CASES = [(one, dtype) for one in ARCHITECTURES for dtype in one.dtypes]


@pytest.mark.parametrize(
    ("architecture", "dtype"), CASES, ids=[f"{one.name} {str(dtype)[6:]}" for one, dtype in CASES]
)
def test_equals_its_reference(architecture: Architecture, dtype: torch.dtype) -> None:
    comparison = architecture.run(seed=0, configurations=5, dtype=dtype)
    assert comparison.passed(dtype), (comparison.worst, comparison.where)
    assert comparison.tensors["outputs"] >= 5 and comparison.tensors["gradients"] >= 5


def test_what_cannot_be_compared_here_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = [row.name for row in gensim_training.ARCHITECTURES]
    rows = [row.name for row in gensim_training.ROWS]
    assert here + list(gensim_training.LEFT_OUT) == rows
    monkeypatch.setattr(command, "LEFT_OUT", dict.fromkeys(rows, "gensim is not installed"))
    monkeypatch.setattr(command, "ARCHITECTURES", [a for a in ARCHITECTURES if a.name not in rows])
    assert command.main(["--configurations", "1", "--only", "skip-gram"]) == 0
    printed = capsys.readouterr().out
    assert "skip-gram, one epoch is left out: gensim is not installed." in printed
    assert "CBOW" not in printed
    assert command.main(["--only", "CBOW, one"]) == 0
    assert "CBOW, one epoch is left out" in capsys.readouterr().out


def test_the_command_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "1", "--configurations", "1", "--only", "multi-head"]) == 0
    printed = capsys.readouterr().out
    assert "multi-head attention" in printed and "float64" in printed and "✗" not in printed
    assert main(["--only", "no such model"]) == 1
    assert "There are: " in capsys.readouterr().out
