"""A lab's exercises and their checks.

A lab's package lists its exercises; each names its task, which is imported on first use, so that
reading the list costs no torch. The cell below the exercise says ``lab10.check_pairs()``.
"""

import importlib
import os
import sys
from contextlib import nullcontext
from dataclasses import dataclass, replace

from lmcourse.labs import progress
from lmcourse.labs.lookup import find
from lmcourse.labs.verdict import CheckFailed, Notice, Unwritten, Verdict, Wrong

_NOTHING = object()  # None may be an answer


@dataclass(frozen=True)
class Exercise:
    """One exercise of a lab. Calling it checks the answer."""

    number: str  # "02.1": its position in the lab, shown to readers
    slug: str  # "02-perplexity": names it everywhere else, wherever it is in the lab
    title: str
    minutes: int
    difficulty: int  # 1 (one line) to 5 (open)
    task: str  # "package.module:TASK", imported on first use
    seconds: float = 20.0  # for one call of the student's function

    def __call__(self, answer: object = _NOTHING) -> None:
        """Check the answer, show the verdict, and note it in the student's progress file.

        Args:
            answer: the student's function. Left out, it is the one that has the exercise's name
                where the check is called: in the notebook.
        """
        caller = sys._getframe(1)
        strict = os.environ.get("LMCOURSE_STRICT") == "1"
        with nullcontext() if strict else Notice(self.seconds) as notice:
            verdict = self.verdict(answer, {**caller.f_globals, **caller.f_locals})
        if verdict.state in ("right", "wrong"):
            told = progress.record(self.slug, self.title, verdict.passed)
            verdict = replace(verdict, notice=told)
        verdict.show(notice)
        if strict and not verdict.passed:
            raise CheckFailed(str(verdict))

    def verdict(self, answer: object = _NOTHING, names: dict[str, object] | None = None) -> Verdict:
        """Check the answer: nothing is shown, noted or raised, whatever the answer does."""
        from lmcourse.labs.answer import Answer

        module, name = self.task.split(":")
        task = getattr(importlib.import_module(module), name)
        handed_in = Answer(None, self.seconds)
        try:
            if answer is _NOTHING:
                answer = find(task.reference.__name__, names or {})
            handed_in = Answer(answer, self.seconds)
            state, message = "right", task(handed_in)
        except Unwritten as unwritten:
            state, message = "unwritten", str(unwritten)
        except Wrong as wrong:
            state, message = "wrong", str(wrong)
        except Exception as error:  # ours, not the student's: those arrive as Wrong
            state = "broken"
            message = (
                "Your answer may well be right. Please report this: "
                f"{type(error).__name__}: {error}"
            )
        printed = handed_in.printed if state == "wrong" else ""
        return Verdict(self.number, self.title, state, message, printed)


class Lab:
    """The exercises of a lab, numbered in the order in which its package lists them.

    Args:
        package: its name, "lmcourse.labs.lab02".
    """

    def __init__(self, package: str) -> None:
        self.exercises: list[Exercise] = []
        self._package, self._number = package, package[-2:]

    def exercise(self, name: str, title: str, minutes: int, difficulty: int, task: str) -> Exercise:
        """Add the next exercise.

        Args:
            name: of its check, without ``check_``: "perplexity". A student's record of what is
                solved refers to it, so it stays as it is.
            title, minutes, difficulty: as the lab's text states them.
            task: in the package's modules, "basics:PERPLEXITY".
        """
        number = f"{self._number}.{len(self.exercises) + 1}"
        slug, task = f"{self._number}-{name}", f"{self._package}.{task}"
        self.exercises.append(Exercise(number, slug, title, minutes, difficulty, task))
        return self.exercises[-1]
