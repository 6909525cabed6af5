"""Right answers to lab 11, written differently from the master's."""

from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights(RIGHT)
