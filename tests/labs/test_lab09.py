"""Lab 09's checks: right answers pass, each named wrong answer fails with a hint of its own."""

from tests.labs.kit import LabTests
from tests.labs.right09 import RIGHT
from tests.labs.wrong09 import WRONG


class TestLab09(LabTests):
    number, right, wrong = "09", RIGHT, WRONG
