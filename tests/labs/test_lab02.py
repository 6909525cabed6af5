"""Lab 02's checks: right answers pass, each named wrong answer fails with a hint of its own."""

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch

from lmcourse.labs import exercises, lab02
from lmcourse.labs.check import Exercise
from lmcourse.labs.verdict import Verdict
from tests.labs import master
from tests.labs.right02 import RIGHT
from tests.labs.wrong02 import WRONG, WrongAnswer

BY_NAME = {exercise.name: exercise for exercise in exercises("02")}


@cache
def verdict_on(wrong: WrongAnswer) -> Verdict:
    return BY_NAME[wrong.exercise].verdict(wrong.function)


@pytest.mark.parametrize("check", [name for name in vars(lab02) if name.startswith("check_")])
def test_the_solution_passes(check: str) -> None:
    exercise: Exercise = getattr(lab02, check)
    verdict = exercise.verdict(master.solutions()[check])
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    ("exercise", "name", "function"), RIGHT, ids=[name for _, name, _ in RIGHT]
)
def test_another_right_answer_passes(exercise: str, name: str, function: Any) -> None:
    verdict = BY_NAME[exercise].verdict(function)
    assert verdict.passed, verdict


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_a_wrong_answer_fails_with_its_own_hint(wrong: WrongAnswer) -> None:
    verdict = verdict_on(wrong)
    assert verdict.state == "wrong", verdict
    assert wrong.phrase in verdict.message.lower(), verdict


@pytest.mark.parametrize("exercise", BY_NAME)
def test_no_two_wrong_answers_share_a_hint(exercise: str) -> None:
    hints: dict[str, str] = {}
    for wrong in (each for each in WRONG if each.exercise == exercise):
        message = verdict_on(wrong).message
        assert message not in hints, f"{wrong.name} is told the same as {hints.get(message)}"
        hints[message] = wrong.name
    rights = sum(each == exercise for each, _, _ in RIGHT)
    assert len(hints) >= 5 and rights >= 2


@pytest.mark.parametrize("exercise", BY_NAME.values(), ids=lambda exercise: exercise.name)
def test_every_mistake_that_a_judge_knows_is_made_by_some_wrong_answer(exercise: Exercise) -> None:
    judges = importlib.import_module(exercise.judge.split(":")[0])
    told = {verdict_on(wrong).message for wrong in WRONG if wrong.exercise == exercise.name}
    assert [known.hint for known in judges.MISTAKES if known.hint not in told] == []


def test_the_count_of_wrong_answers_caught(record_property: Callable[[str, object], None]) -> None:
    verdicts = [verdict_on(each) for each in WRONG]
    caught = [verdict for verdict in verdicts if verdict.state == "wrong"]
    hints = {(verdict.exercise, verdict.message) for verdict in caught}
    own = "each with its own hint" if len(hints) == len(caught) else f"with {len(hints)} hints"
    # A property, which the summary prints: what a worker of xdist prints itself is lost.
    record_property("wrong answers", f"{len(caught)} of {len(WRONG)} caught, {own}")
    assert len(caught) == len(hints) == len(WRONG)


@pytest.mark.parametrize("huge", [10**400, [10**400] * 2], ids=["number", "list"])
@pytest.mark.parametrize("exercise", BY_NAME)
def test_a_number_beyond_all_floats_is_the_answers_fault(exercise: str, huge: Any) -> None:
    assert BY_NAME[exercise].verdict(lambda *_: huge).state == "wrong"


@pytest.mark.parametrize("exercise", BY_NAME)
def test_hints_do_not_contain_the_solution(exercise: str) -> None:
    check = next(name for name, value in vars(lab02).items() if value is BY_NAME[exercise])
    cell = next(c for c, k in master.exercise_cells(master.notebook().cells) if check in k.source)
    body = cell.source.split("### BEGIN SOLUTION")[1].split("### END SOLUTION")[0]
    lines = [line.split("  #")[0].strip() for line in body.splitlines()]
    long = [line.removeprefix("return ") for line in lines if len(line) > 25]
    told = [verdict_on(each).message for each in WRONG if each.exercise == exercise]
    assert long
    assert not [(line, hint) for line in long for hint in told if line in hint]


def test_hard_coded_numbers_do_not_pass() -> None:
    """Whoever copies the first result gets stuck at the second probe."""
    seen: list[Any] = []

    def first_result(log_probabilities: torch.Tensor) -> Any:
        seen.append(float(torch.exp(-log_probabilities.mean())))
        return seen[0]

    assert not lab02.check_perplexity.verdict(first_result).passed


def test_checks_leave_the_random_state_alone() -> None:
    torch.manual_seed(3)
    before = torch.get_rng_state()
    for check, solution in master.solutions().items():
        getattr(lab02, check).verdict(solution)
    assert torch.equal(before, torch.get_rng_state())
