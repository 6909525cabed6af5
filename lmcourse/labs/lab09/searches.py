"""Beam search for 09.5, and what it becomes when one piece is written otherwise."""

import math
from collections.abc import Callable

from lmcourse.labs.lab09.trees import LONGEST, LogP, Target

Candidate = tuple[Target, float]  # a beginning, and its log-probability
Beam = list[Candidate]
Rank = Callable[[Candidate, float], float]  # of a candidate and alpha
Search = Callable[[LogP, int, float, int], Target]  # of log_p, beams, alpha and end


def lp(n: float, alpha: float) -> float:
    """The penalty of Wu et al. 2016."""
    return float(((5 + n) / 6) ** alpha)


def by(penalty: Callable[[int, float], float]) -> Rank:
    """The rank that another penalty of n and alpha gives."""
    return lambda it, alpha: it[1] / penalty(len(it[0]), alpha)


def plain(it: Candidate, alpha: float) -> float:
    """The rank without a penalty."""
    return it[1]


score = by(lp)


def has_ended(y: Target, end: int) -> bool:
    """Whether the last token is the end."""
    return y[-1:] == (end,)


def search(
    log_p: LogP,
    beams: int,
    alpha: float,
    end: int,
    rounds: int = LONGEST,
    add: Callable[[float, float], float] = lambda total, step: total + step,
    grow: Callable[[Target, int], Target] = lambda y, token: (*y, token),
    rank: Rank = score,
    last: Rank | None = None,
    ended: Callable[[Target, int], bool] = has_ended,
    keep_ended: bool = True,
    each_its_own: bool = False,
    until: Callable[[Beam, int], bool] = lambda beam, end: False,
    hand_on: Rank = lambda it, alpha: it[1],
    first: float = 0.0,
) -> Beam:
    """Beam search, with one piece changed: so does each mistake. The best by ``last`` is first."""
    beam: Beam = [((), first)]
    for _ in range(rounds):
        families: list[Beam] = []
        for y, total in beam:
            if ended(y, end):
                families.append([(y, total)] if keep_ended else [])
            else:
                steps = enumerate(log_p(y))
                families.append([(grow(y, token), add(total, step)) for token, step in steps])
        if each_its_own and len(families) > 1:
            families = [[max(it, key=lambda each: rank(each, alpha))] for it in families]
        together = [it for family in families for it in family]
        if not together:
            break
        together.sort(key=lambda it: rank(it, alpha), reverse=True)
        beam = [(y, hand_on((y, total), alpha)) for y, total in together[:beams]]
        if until(beam, end):
            break
    return sorted(beam, key=lambda it: (last or rank)(it, alpha), reverse=True)


def right(log_p: LogP, beams: int, alpha: float, end: int) -> Target:
    """The target that is asked for."""
    return search(log_p, beams, alpha, end)[0][0]


def cut(log_p: LogP, beams: int, alpha: float, end: int) -> Target:
    """What has ended is continued, and cut off at its end."""
    target = search(log_p, beams, alpha, end, ended=lambda y, end: False)[0][0]
    return target[: target.index(end) + 1] if end in target else target


def ranked_without_end(log_p: LogP, beams: int, alpha: float, end: int) -> Target:
    """The penalty's n leaves the end out."""

    def rank(it: Candidate, alpha: float) -> float:
        return it[1] / lp(len(it[0]) - has_ended(it[0], end), alpha)

    return search(log_p, beams, alpha, end, rank=rank)[0][0]


def ending_in(token: int) -> Search:
    """The same token ends every target."""
    return lambda log_p, beams, alpha, end: right(log_p, beams, alpha, token)


def handing_on(ended: bool, at_the_end: Rank) -> Search:
    """Scores are kept and added to; those of what has ended are divided again, or they are not."""

    def found(log_p: LogP, beams: int, alpha: float, end: int) -> Target:
        beam: Beam = [((), 0.0)]
        for _ in range(LONGEST):
            grown = [it for it in beam if has_ended(it[0], end)]
            grown = [(y, score((y, s), alpha) if ended else s) for y, s in grown]
            for y, s in beam:
                if not has_ended(y, end):
                    sums = [((*y, v), s + step) for v, step in enumerate(log_p(y))]
                    grown += [(it[0], score(it, alpha)) for it in sums]
            beam = sorted(grown, key=lambda it: it[1], reverse=True)[:beams]
        return max(beam, key=lambda it: at_the_end(it, alpha))[0]

    return found


HANDING_ON = (handing_on(False, plain), handing_on(True, plain), handing_on(False, score))


def best_of_the_ended(log_p: LogP, beams: int, alpha: float, end: int) -> Target:
    """At the end the beam's targets that have not ended are left out, if any has."""
    beam = search(log_p, beams, alpha, end)
    return next((y for y, _ in beam if has_ended(y, end)), beam[0][0])


def first_that_ends(log_p: LogP, beams: int, alpha: float, end: int) -> Target:
    """The best that has ended, as soon as the beam holds one."""
    beam = search(
        log_p, beams, alpha, end, until=lambda beam, end: any(has_ended(y, end) for y, _ in beam)
    )
    return next((y for y, _ in beam if has_ended(y, end)), beam[0][0])


def collecting(kept: Callable[[Beam, int, int, int], tuple[Beam, Beam]]) -> Search:
    """What has ended is collected outside of the beam.

    ``kept(grown, beams, end, done)`` says what of the sorted candidates is collected and what goes
    on; ``done`` is how many were collected before.
    """

    def found(log_p: LogP, beams: int, alpha: float, end: int) -> Target:
        beam: Beam = [((), 0.0)]
        ended: Beam = []
        for _ in range(LONGEST):
            grown = [((*y, v), s + step) for y, s in beam for v, step in enumerate(log_p(y))]
            grown.sort(key=lambda it: score(it, alpha), reverse=True)
            done, beam = kept(grown, beams, end, len(ended))
            ended += done
        return max(ended + beam, key=lambda it: score(it, alpha))[0]

    return found


def _apart(beam: Beam, end: int) -> tuple[Beam, Beam]:
    """What has ended, and what has not."""
    done = [it for it in beam if has_ended(it[0], end)]
    return done, [it for it in beam if not has_ended(it[0], end)]


def from_all(grown: Beam, beams: int, end: int, done: int) -> tuple[Beam, Beam]:
    """Whatever has ended is collected; the best of the rest go on."""
    ended, going = _apart(grown, end)
    return ended, going[:beams]


def from_the_best(grown: Beam, beams: int, end: int, done: int) -> tuple[Beam, Beam]:
    """What has ended among the best is collected; the beam is filled up again."""
    return _apart(grown[:beams], end)[0], _apart(grown, end)[1][:beams]


def unreplaced(grown: Beam, beams: int, end: int, done: int) -> tuple[Beam, Beam]:
    """What has ended among the best is collected, and the others of the best go on."""
    return _apart(grown[:beams], end)


def for_good(grown: Beam, beams: int, end: int, done: int) -> tuple[Beam, Beam]:
    """What has ended among the best keeps its place, whatever comes."""
    return _apart(grown[: beams - done], end)


def adding_probabilities(total: float, step: float) -> float:
    """A probability in place of a log-probability."""
    return total + math.exp(step)
