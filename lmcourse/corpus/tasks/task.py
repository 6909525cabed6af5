"""What all tasks have in common: examples with labels, and the best score of any model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Generic, TypeVar

import numpy as np

from lmcourse.corpus.bookworld.floors import ratio
from lmcourse.errors import CourseError, check_sizes


@dataclass(frozen=True)
class Example:
    """One text and its label.

    Attributes:
        tokens: what a model is shown.
        label: the right answer, one of the task's labels.
    """

    tokens: tuple[str, ...]
    label: str


@dataclass(frozen=True)
class SentencePair:
    """Two sentences and a label of the two together."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    label: str

    @property
    def tokens(self) -> tuple[str, ...]:
        """Both sentences, one after the other."""
        return self.first + self.second


E = TypeVar("E")
# An example's exact posterior, [decisions, answers]: one row per requested answer.
Solver = Callable[[E], np.ndarray]


@dataclass(frozen=True)
class Best:
    """The best score that any model can reach on exactly this task.

    Attributes:
        score: in the task's metric; for a bound, no model can be better.
        error: standard error of ``score``; the examples are the independent units.
        exact: whether a model that knows BookWorld reaches it; otherwise it is an upper bound.
        how: one sentence on why it is so.
    """

    score: float
    error: float
    exact: bool
    how: str


@dataclass(frozen=True)
class Task(Generic[E]):
    """A question about texts, with examples.

    Attributes:
        name: the builder's name.
        question: the question that each example poses.
        labels: the answers among which a model chooses.
        examples: the first k of them are the same however many are built.
        chance: the score of the best answer that does not look at the text.
        metric: what a score is.
        how: why the best score is what it is.
        solver: the exact posterior of an example; None where the best score is known without it.
        bound: the best score where it is known without a solver.
    """

    name: str
    question: str
    labels: tuple[str, ...]
    examples: tuple[E, ...]
    chance: float
    metric: str
    how: str
    solver: Solver[E] | None = None
    bound: Best | None = None

    def __repr__(self) -> str:
        return f"Task({self.name}, {len(self)} examples: {self.question})"

    def __len__(self) -> int:
        return len(self.examples)

    def first(self, k: int) -> "Task[E]":
        """The task of the first ``k`` examples; its best score costs less to compute."""
        check_sizes(0, k=k)
        return replace(self, examples=self.examples[:k])

    @cached_property
    def posteriors(self) -> list[np.ndarray]:
        """The exact posterior of each example, [decisions, answers]; computed on first use.

        It costs one to five passes of inference for each example, some 5 to 50 ms each.
        """
        if self.solver is None:
            raise CourseError(
                f"The task {self.name} has no exact posteriors.",
                "Read task.best: it says what is known, and why.",
            )
        return [np.atleast_2d(self.solver(example)) for example in self.examples]

    @cached_property
    def best(self) -> Best:
        """The best score, computed on first use where it takes the posteriors.

        The best answer is the most probable one, and it is right as often as it is probable: so the
        best expected score is the mean of the posteriors' maxima.
        """
        if self.bound is not None:
            return self.bound
        right = [rows.max(1).sum() for rows in self.posteriors]
        decisions = [len(rows) for rows in self.posteriors]
        return Best(*ratio(right, decisions), exact=True, how=self.how)

    def score(self, answers: Sequence[str | Sequence[str]]) -> float:
        """The share of right answers, [examples] in their order.

        Where an example asks for several (``tagging``), its answer is a sequence of them.
        """
        wanted = [_listed(each.label) for each in self.examples]  # type: ignore[attr-defined]
        given = [_listed(answer) for answer in answers]
        if [len(each) for each in given] != [len(each) for each in wanted]:
            raise CourseError(
                f"The task {self.name} asks for {sum(map(len, wanted))} answers in {len(wanted)} "
                f"examples, and {sum(map(len, given))} were given for {len(given)}.",
                "Give one answer for each label of each example, in their order.",
            )
        pairs = zip(chain(*given), chain(*wanted), strict=True)
        return float(np.mean([one == other for one, other in pairs]))


def _listed(label: str | Sequence[str]) -> list[str]:
    return [label] if isinstance(label, str) else list(label)


def certain(how: str) -> Best:
    """The best score of a task whose label is a function of the text."""
    return Best(1.0, 0.0, exact=True, how=how)


def checked_option(option: str, value: str, choices: Sequence[str]) -> str:
    """``value``, if it is one of the choices."""
    if value not in choices:
        raise CourseError(
            f"The option {option}={value!r} is unknown.", f"Choose one of: {', '.join(choices)}."
        )
    return value
