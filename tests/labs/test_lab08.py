"""Lab 08's checks: right answers pass, each named wrong answer fails with a hint of its own."""

from tests.labs.kit import LabTests
from tests.labs.right08 import RIGHT
from tests.labs.wrong08 import WRONG


class TestLab08(LabTests):
    number, right, wrong = "08", RIGHT, WRONG
