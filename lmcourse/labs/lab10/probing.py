"""How lab 10's judges look: a mistake is named only if the answer makes it on every probe.

On one probe two mistakes may compute the same; the first of them would be named, and perhaps not
the one that was made.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from torch import Tensor

from lmcourse.labs.values import Mistake, same
from lmcourse.labs.verdict import Wrong

Probe = TypeVar("Probe", bound=tuple[Any, ...])


def first_wrong(
    probes: Iterable[Probe],
    call: Callable[[Probe], Tensor],
    right: Callable[..., Any],
    mistakes: Sequence[Mistake],
) -> tuple[Probe, Tensor] | None:
    """The first probe that is answered wrongly, with the answer; None: all are right.

    An answer that fails on a later probe is judged by what it gave before, if that was wrong.

    Args:
        probes: the arguments of each call.
        call: hands a probe to the student's function, and reads what comes back.
        right: computes the right value from a probe's arguments.
        mistakes: those with a name, the most specific first.

    Raises:
        Wrong: a mistake gives the same on all probes, or the call found something.
    """
    done: list[tuple[Probe, Tensor]] = []
    failed: Wrong | None = None
    for probe in probes:
        try:
            done.append((probe, call(probe)))
        except Wrong as wrong:
            failed = wrong
            break
    bad = [(probe, value) for probe, value in done if not same(value, right(*probe))]
    for known in mistakes if bad else ():
        if all(_made(known, probe, value) for probe, value in done):
            raise Wrong(known.hint)
    if failed is not None and not bad:
        raise failed
    return bad[0] if bad else None


def _made(known: Mistake, probe: tuple[Any, ...], value: Tensor) -> bool:
    """Whether this mistake gives this value."""
    try:
        return same(value, known.compute(*probe))
    except (ArithmeticError, IndexError, RuntimeError, ValueError):
        return False  # it cannot run on this probe
