"""The parity table, over fewer configurations than the command's: each row is a test."""

import pytest
import torch

from lmcourse.models.parity.__main__ import main
from lmcourse.models.parity.architectures import ARCHITECTURES
from lmcourse.models.parity.comparing import Architecture

CASES = [(one, dtype) for one in ARCHITECTURES for dtype in one.dtypes]


@pytest.mark.parametrize(
    ("architecture", "dtype"), CASES, ids=[f"{one.name} {str(dtype)[6:]}" for one, dtype in CASES]
)
def test_equals_its_reference(architecture: Architecture, dtype: torch.dtype) -> None:
    comparison = architecture.run(seed=0, configurations=5, dtype=dtype)
    assert comparison.passed(dtype), (comparison.worst, comparison.where)
    assert comparison.tensors["outputs"] >= 5 and comparison.tensors["gradients"] >= 5


def test_the_command_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "1", "--configurations", "1", "--only", "multi-head"]) == 0
    printed = capsys.readouterr().out
    assert "multi-head attention" in printed and "float64" in printed and "✗" not in printed
    assert main(["--only", "no such model"]) == 1
    assert "There are: " in capsys.readouterr().out
