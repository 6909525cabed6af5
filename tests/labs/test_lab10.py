"""Lab 10's checks: right answers pass, each named wrong answer fails with a hint of its own."""

from tests.labs.kit import LabTests
from tests.labs.right10 import RIGHT
from tests.labs.wrong10 import WRONG


class TestLab10(LabTests):
    number, right, wrong = "10", RIGHT, WRONG
