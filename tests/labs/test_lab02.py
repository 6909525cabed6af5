"""Lab 02's checks: right answers pass, each named wrong answer fails with a hint of its own."""

from typing import Any

import torch

from lmcourse.labs import lab02
from tests.labs.kit import LabTests
from tests.labs.right02 import RIGHT
from tests.labs.wrong02 import WRONG


class TestLab02(LabTests):
    number, right, wrong = "02", RIGHT, WRONG


def test_hard_coded_numbers_do_not_pass() -> None:
    """Whoever copies the first result gets stuck at the second probe."""
    seen: list[Any] = []

    def first_result(log_probabilities: torch.Tensor) -> Any:
        seen.append(float(torch.exp(-log_probabilities.mean())))
        return seen[0]

    assert not lab02.check_perplexity.verdict(first_result).passed
