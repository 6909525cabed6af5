"""An exercise and its check.

A lab's module lists its exercises; each names its judge, which is imported on first use, so that
reading the list costs no torch. In the notebook stands ``lab02.check_perplexity(perplexity)``.
"""

import importlib
import os
from dataclasses import dataclass, replace

from lmcourse.labs import progress
from lmcourse.labs.verdict import CheckFailed, Unwritten, Verdict, Wrong

_NOTHING = object()  # None may be an answer


@dataclass(frozen=True)
class Exercise:
    """One exercise of a lab. Calling it with the student's answer checks the answer."""

    name: str  # "02.1"
    title: str
    minutes: int
    difficulty: int  # 1 (one line) to 5 (open)
    judge: str  # "package.module:function", imported on first use
    seconds: float = 5.0  # for all calls of the student's function in one check

    def __call__(self, answer: object = _NOTHING) -> None:
        """Judge the answer, show the verdict, and note it in the student's progress file."""
        verdict = self.verdict(answer)
        if verdict.state in ("right", "wrong"):
            notice = progress.record(self, verdict.passed)
            verdict = replace(verdict, notice=notice)
        verdict.show()
        if os.environ.get("LMCOURSE_STRICT") == "1" and not verdict.passed:
            raise CheckFailed(str(verdict))

    def verdict(self, answer: object) -> Verdict:
        """Judge the answer: nothing is shown, noted or raised, whatever the answer does."""
        if answer is _NOTHING:
            message = "The check was given nothing: put your function's name between its brackets."
            return Verdict(self.name, self.title, "wrong", message)
        from lmcourse.labs.answer import Answer

        module, function = self.judge.split(":")
        judge = getattr(importlib.import_module(module), function)
        handed_in = Answer(answer, self.seconds)
        try:
            state, message = "right", judge(handed_in)
        except Unwritten:
            state = "unwritten"
            message = "Write your answer in the cell above, run that cell, then this one."
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
