"""An exercise and its check.

A lab's package lists its exercises; each names its task, which is imported on first use, so that
reading the list costs no torch. The cell below the exercise says ``lab10.check_pairs()``.
"""

import importlib
import os
import sys
from dataclasses import dataclass, replace

from lmcourse.labs import progress
from lmcourse.labs.lookup import find
from lmcourse.labs.verdict import CheckFailed, Unwritten, Verdict, Wrong

_NOTHING = object()  # None may be an answer


@dataclass(frozen=True)
class Exercise:
    """One exercise of a lab. Calling it checks the answer."""

    name: str  # "02.1"
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
        verdict = self.verdict(answer, {**caller.f_globals, **caller.f_locals})
        if verdict.state in ("right", "wrong"):
            notice = progress.record(self.name, self.title, verdict.passed)
            verdict = replace(verdict, notice=notice)
        verdict.show()
        if os.environ.get("LMCOURSE_STRICT") == "1" and not verdict.passed:
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
        return Verdict(self.name, self.title, state, message, printed)
