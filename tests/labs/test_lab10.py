"""Lab 10's checks: right answers pass, each named wrong answer fails with a hint of its own."""

import pytest

from tests.labs.also10 import ALSO
from tests.labs.kit import LabTests, WrongAnswer
from tests.labs.right10 import RIGHT
from tests.labs.wrong10 import WRONG


class TestLab10(LabTests):
    number, right, wrong = "10", RIGHT, WRONG

    @pytest.mark.parametrize("other", ALSO, ids=[each.name for each in ALSO])
    def test_another_way_into_a_mistake_gets_its_hint(self, other: WrongAnswer) -> None:
        self.test_a_wrong_answer_fails_with_its_own_hint(other)
