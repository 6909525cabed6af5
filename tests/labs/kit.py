"""What every lab's checks owe: right answers pass, each named wrong answer fails with its own hint.

A lab's test file has a class of its own:

    class TestLab02(LabTests):
        number, right, wrong = "02", RIGHT, WRONG
"""

import importlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple

import pytest
import torch

from lmcourse.labs import exercises
from lmcourse.labs.check import Exercise
from lmcourse.labs.verdict import Verdict
from tests.labs import master

Function = Callable[..., Any]


class WrongAnswer(NamedTuple):
    """A wrong answer as students write it, and words that only its hint has, in lower case."""

    exercise: str
    name: str
    function: Function
    phrase: str


class RightAnswer(NamedTuple):
    """A right answer that is written differently from the master's."""

    exercise: str
    name: str
    function: Function


def rights(into: list[RightAnswer]) -> Callable[[str], Callable[[Function], Function]]:
    """A decorator that keeps right answers: ``@right("08.1")``."""

    def right(exercise: str) -> Callable[[Function], Function]:
        def add(function: Function) -> Function:
            into.append(RightAnswer(exercise, function.__name__, function))
            return function

        return add

    return right


def wrongs(into: list[WrongAnswer]) -> Callable[[str, str], Callable[[Function], Function]]:
    """A decorator that keeps wrong answers: ``@wrong("08.1", "words of the hint")``."""

    def wrong(exercise: str, phrase: str) -> Callable[[Function], Function]:
        def add(function: Function) -> Function:
            into.append(WrongAnswer(exercise, function.__name__, function, phrase))
            return function

        return add

    return wrong


@cache
def _verdict(exercise: Exercise, function: Function) -> Verdict:
    return exercise.verdict(function)


class LabTests:
    """The tests; `conftest.py` gives each its parameters."""

    number: ClassVar[str]
    right: ClassVar[Sequence[Any]]  # (exercise, name, function)
    wrong: ClassVar[Sequence[Any]]  # (exercise, name, function, phrase)

    @classmethod
    def parametrize(cls, metafunc: pytest.Metafunc) -> None:
        """Give a test its parameters, by the names of its arguments."""
        found: dict[str, tuple[Sequence[Any], list[str]]] = {
            "check": (list(master.checks(cls.number)), list(master.checks(cls.number))),
            "answer": (cls.right, [name for _, name, _ in cls.right]),
            "mistaken": (cls.wrong, [each.name for each in cls.wrong]),
            "exercise": (exercises(cls.number), [each.name for each in exercises(cls.number)]),
        }
        for name in found.keys() & set(metafunc.fixturenames):
            values, ids = found[name]
            metafunc.parametrize(name, values, ids=ids)

    def verdict_on(self, wrong: Any) -> Verdict:
        """What a wrong answer is told; judged once."""
        return _verdict(self.named(wrong.exercise), wrong.function)

    def named(self, name: str) -> Exercise:
        """The exercise of that name."""
        (found,) = (each for each in exercises(self.number) if each.name == name)
        return found

    def wrong_in(self, exercise: Exercise) -> list[Any]:
        """The wrong answers to one exercise."""
        return [each for each in self.wrong if each.exercise == exercise.name]

    def test_the_solution_passes(self, check: str) -> None:
        verdict = master.checks(self.number)[check].verdict(master.solutions(self.number)[check])
        assert verdict.passed, verdict

    def test_another_right_answer_passes(self, answer: Any) -> None:
        exercise, _, function = answer
        verdict = self.named(exercise).verdict(function)
        assert verdict.passed, verdict

    def test_a_wrong_answer_fails_with_its_own_hint(self, mistaken: Any) -> None:
        verdict = self.verdict_on(mistaken)
        assert verdict.state == "wrong", verdict
        assert mistaken.phrase in verdict.message.lower(), verdict

    def test_no_two_wrong_answers_share_a_hint(self, exercise: Exercise) -> None:
        hints: dict[str, str] = {}
        for wrong in self.wrong_in(exercise):
            message = self.verdict_on(wrong).message
            assert message not in hints, f"{wrong.name} is told the same as {hints.get(message)}"
            hints[message] = wrong.name
        rights = sum(each == exercise.name for each, _, _ in self.right)
        assert len(hints) >= 5 and rights >= 2

    def test_every_mistake_that_a_judge_knows_is_made_by_some_wrong_answer(
        self, exercise: Exercise
    ) -> None:
        judges = importlib.import_module(exercise.judge.split(":")[0])
        told = {self.verdict_on(wrong).message for wrong in self.wrong_in(exercise)}
        assert [known.hint for known in judges.MISTAKES if known.hint not in told] == []

    def test_the_count_of_wrong_answers_caught(
        self, record_property: Callable[[str, object], None]
    ) -> None:
        verdicts = [self.verdict_on(each) for each in self.wrong]
        caught = [verdict for verdict in verdicts if verdict.state == "wrong"]
        hints = {(verdict.exercise, verdict.message) for verdict in caught}
        own = "each with its own hint" if len(hints) == len(caught) else f"with {len(hints)} hints"
        # A property, which the summary prints: what a worker of xdist prints itself is lost.
        record_property("wrong answers", f"{len(caught)} of {len(self.wrong)} caught, {own}")
        assert len(caught) == len(hints) == len(self.wrong)

    @pytest.mark.parametrize("huge", [10**400, [10**400] * 2], ids=["number", "list"])
    def test_a_number_beyond_all_floats_is_the_answers_fault(
        self, exercise: Exercise, huge: Any
    ) -> None:
        assert exercise.verdict(lambda *_: huge).state == "wrong"

    def test_hints_do_not_contain_the_solution(self, check: str) -> None:
        exercise = master.checks(self.number)[check]
        cells = master.exercise_cells(master.notebook(self.number).cells)
        cell = next(c for c, k in cells if f"{check}(" in k.source)
        body = cell.source.split("### BEGIN SOLUTION")[1].split("### END SOLUTION")[0]
        lines = [line.split("  #")[0].strip() for line in body.splitlines()]
        long = [line.removeprefix("return ") for line in lines if len(line) > 25]
        told = [self.verdict_on(each).message for each in self.wrong_in(exercise)]
        assert long
        assert not [(line, hint) for line in long for hint in told if line in hint]

    def test_checks_leave_the_random_state_alone(self) -> None:
        torch.manual_seed(3)
        before = torch.get_rng_state()
        for check, solution in master.solutions(self.number).items():
            master.checks(self.number)[check].verdict(solution)
        assert torch.equal(before, torch.get_rng_state())
