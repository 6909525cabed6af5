"""How an answer is judged: by the reference on examples, and by slips where it differs.

A slip is a likely mistake: the reference with pieces of its source replaced. A table of slips is a
text; each is a hint, with its replacements indented below it:

    The special tokens are not all counted: `length` includes `[CLS]` and both `[SEP]`.
        + 3 -> + 0 || + 1 || + 2
    A `[SEP]` is missing: one follows *each* text.
        *b, sep] -> *b]
        (len(b) + 1) -> len(b)
        or
        def pair(a, b, cls, sep, length):
            ...

Several lines replace several pieces, each found exactly once. "||" separates variants of a piece,
"or" forms of one mistake; a form that begins with "def" is a whole function; a line indented
further continues the one above it.
"""

import copy
import inspect
import re
import textwrap
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lmcourse.labs import guards, results
from lmcourse.labs.answer import Answer, text_of
from lmcourse.labs.results import Result, read
from lmcourse.labs.verdict import Wrong

Function = Callable[..., Any]
Example = tuple[Any, ...]  # the arguments of a call
Outcome = Result | Wrong


class Call(NamedTuple):
    """One call of the student's function."""

    arguments: Example
    copies: Example  # the arguments as the function left them: recorders hold what it asked
    outcome: Outcome


@dataclass(frozen=True)
class Slip:
    """A mistake: its hint, and the functions that make it."""

    hint: str
    forms: tuple[Function, ...]


@dataclass(frozen=True)
class Task:
    """What an exercise asks, and how its answer is judged.

    Args:
        reference: the right answer. Its name is the name of the student's function.
        examples: arguments; random ones from a fixed seed, so that fixed numbers do not pass.
        slips: the table.
        note: what a right answer reads: a fact worth knowing.
        edge_cases: further examples by what is special about them ("with logits near 1000").
            They are judged only if all examples are right.
        result: makes the compared values of what was returned and the call's own copies of the
            arguments (which may be recorders). Default: what was returned.
        names: of the compared values.
        cause: looks for a cause where no slip matches and the shape of the first value is right:
            gets the call's copies of the arguments, the result and the expected one; "" if none.
        tolerance: relative to the largest number expected.
        autograd: whether the answer may use it.
        exact_zeros: compare which numbers are exactly 0 as well.
    """

    reference: Function
    examples: Sequence[Example]
    slips: str
    note: str
    edge_cases: Mapping[str, Example] = field(default_factory=dict)
    result: Callable[..., Any] = lambda returned, *arguments: returned
    names: tuple[str, ...] = ()
    cause: Callable[[Example, Result, Result], str] = lambda arguments, value, wanted: ""
    tolerance: float = 1e-4
    autograd: bool = True
    exact_zeros: bool = False

    def __call__(self, answer: Answer) -> str:
        """Judge the answer: the note if it is right, else Wrong with the likely cause."""
        calls: list[Call] = []
        edges = ((name, [example]) for name, example in self.edge_cases.items())
        for label, examples in (("", self.examples), *edges):
            for example in examples:
                calls.append(self._call(answer, example))
                if isinstance(calls[-1].outcome, Wrong):
                    break
            wrong = [
                each for each in calls if not self._agree(each.outcome, self._give(each.arguments))
            ]
            if wrong:
                raise self._explained(calls, wrong[0], label)
        return self.note

    @cached_property
    def _given(self) -> dict[tuple[int, int], Outcome]:
        return {}

    @cached_property
    def _built(self) -> dict[int, Any]:
        return {}

    @cached_property
    def known(self) -> tuple[Slip, ...]:
        """The slips, compiled."""
        return compiled(self.slips, self.reference)

    def _call(self, answer: Answer, example: Example) -> Call:
        like, copies = self._like(example), example

        def take(returned: Any, arguments: Example) -> Result:
            nonlocal copies
            copies = arguments
            return self._read(self.result(returned, *arguments), like)

        outcome: Outcome
        try:
            with nullcontext() if self.autograd else guards.no_autograd():
                outcome = answer.call(example, take)
        except Wrong as wrong:
            outcome = wrong
        return Call(example, copies, outcome)

    def _read(self, value: Any, like: Any) -> Result:
        found = read(value, like)
        zeros = tuple((part == 0).double() for part in found.parts if self.exact_zeros)
        return Result((*found.parts, *zeros), (*found.rounding, *(0.0 for _ in zeros)))

    def _values(self, function: Function, example: Example) -> Any:
        arguments = copy.deepcopy(example)
        return self.result(function(*arguments), *arguments)

    def _like(self, example: Example) -> Any:
        """What the reference gives for an example, as it is built; computed once."""
        if id(example) not in self._built:
            self._built[id(example)] = self._values(self.reference, example)
        return self._built[id(example)]

    def _give(self, example: Example, function: Function | None = None) -> Outcome:
        """The outcome of the reference, or of a slip; computed once."""
        key = id(example), id(function)
        if key not in self._given:
            like = self._like(example)
            try:
                values = self._values(function, example) if function else like
                self._given[key] = self._read(values, like)
            except Wrong as wrong:
                self._given[key] = wrong
            except Exception as error:
                self._given[key] = Wrong("", "raised", error)
        return self._given[key]

    def _agree(self, first: Outcome, second: Outcome) -> bool:
        if isinstance(first, Result) and isinstance(second, Result):
            return results.same(first, second, self.tolerance)
        if isinstance(first, Wrong) and isinstance(second, Wrong):
            if first.error is None or second.error is None:
                return str(first) == str(second)
            # Of one cause: what a message ends with may differ, "size 2" or "size 3".
            texts = [text_of(error)[:36] for error in (first.error, second.error)]
            return type(first.error) is type(second.error) and texts[0] == texts[1]
        return False

    def _explained(self, calls: Sequence[Call], wrong: Call, label: str) -> Wrong:
        """The hint of the slip that gives the same everywhere; else what differs, and where."""
        hint = next((slip.hint for slip in self.known if self._made(slip, calls)), "")
        value, wanted = wrong.outcome, self._give(wrong.arguments)
        start = f"Your answer is right for ordinary arguments, and wrong {label}. " if label else ""
        if isinstance(value, Wrong):
            if hint and value.error is not None:
                hint = f"{value}\nA likely cause: {hint}"
            return Wrong(hint or f"{start}{value}", value.kind, value.error)
        assert isinstance(wanted, Result)
        if not hint and not label and value.parts[0].shape == wanted.parts[0].shape:
            hint = self.cause(wrong.copies, value, wanted)
        if hint:
            return Wrong(hint)
        found = results.difference(value, wanted, self.tolerance, self.names)
        given = results.call_shown(self.reference, wrong.arguments)
        return Wrong(f"{start}{f'For {given}: ' if given else ''}{found}", found.kind)

    def _made(self, slip: Slip, calls: Sequence[Call]) -> bool:
        """Whether one form of the slip gives the student's outcome in every call."""
        return any(
            all(self._agree(each.outcome, self._give(each.arguments, form)) for each in calls)
            for form in slip.forms
        )


def one_value(task: Task, arguments: Example, value: Result, wanted: Result) -> str:
    """A `Task.cause`: the hint of a slip that makes the first wrong value, whatever the others are.

    For answers of several values, of which a student may get each wrong in a different way.
    """
    close = partial(results.same_part, value, tolerance=task.tolerance)
    wrong = [at for at in range(len(value.parts)) if not close(wanted, at)]
    like = task._values(task.reference, arguments)
    for at, slip in [(wrong[0], slip) for slip in task.known] if wrong else ():
        for form in slip.forms:
            with suppress(Exception):  # what a slip raises
                if close(task._read(task._values(form, arguments), like), at):
                    return f"{task.names[at]}: {slip.hint}"
    return ""


def normal(*shape: int, seed: object) -> Tensor:
    """Random numbers, normally distributed, in float64; the same for the same seed."""
    generator = torch.Generator().manual_seed(zlib.crc32(repr(seed).encode()))
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def compiled(table: str, reference: Function) -> tuple[Slip, ...]:
    """Read a table of slips.

    Raises:
        ValueError: an entry has no hint or no replacement, or a piece is not found exactly once
            in the reference's source.
        SyntaxError: a slip is no Python.
    """
    source = textwrap.dedent(inspect.getsource(reference))
    slips = []
    entries = r"((?:^\S.*\n)*)((?:^ .*\n|^\n)+)"
    for hint, code in re.findall(entries, table.lstrip("\n"), flags=re.MULTILINE):
        if not hint.strip():
            raise ValueError(f"This slip of {reference.__name__} has no hint: {code!r}")
        forms = re.split(r"^or\n", textwrap.dedent(code), flags=re.MULTILINE)
        sources = [each for form in forms for each in _sources(source, form)]
        functions = tuple(_compile(each, reference) for each in sources)
        slips.append(Slip(" ".join(hint.split()), functions))
    return tuple(slips)


def _sources(source: str, form: str) -> list[str]:
    """The source of each variant of one form of a slip."""
    if form.startswith("def "):
        return [form]
    sources = [source]
    for line in filter(None, re.sub(r"\n +", " ", form).splitlines()):
        old, arrow, new = line.partition(" -> ")
        if not arrow:
            raise ValueError(f"{line!r} is no replacement: write it as `old -> new`")
        if sources[0].count(old) != 1:
            raise ValueError(f"{line!r}: {old!r} is found {sources[0].count(old)} times, not once")
        sources = [each.replace(old, piece) for each in sources for piece in new.split(" || ")]
    return sources


def _compile(source: str, reference: Function) -> Function:
    names: dict[str, Any] = dict(reference.__globals__)
    exec(compile(source, f"<slip of {reference.__name__}>", "exec"), names)
    function: Function = names[reference.__name__]
    return function
