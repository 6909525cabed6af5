"""09.5 Beam search with a length penalty, on small trees whose probabilities are known."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.lab09.trees import CASES, END, LONGEST, TOKENS, LogP, Target, tree
from lmcourse.labs.values import Mistake, explain, same
from lmcourse.labs.verdict import Wrong

_NOTHING = -1  # behind a target, in a row of numbers that stands for it


def judge(answer: Answer) -> str:
    values = torch.stack([_call(answer, *case) for case in CASES])
    wanted = torch.stack([_row(_right(tree(s), k, alpha)) for s, k, alpha in CASES])
    if not same(values, wanted):
        explain(values, MISTAKES)
        right = [bool((value == want).all()) for value, want in zip(values, wanted, strict=True)]
        raise Wrong(_where(right))
    return (
        "Which target wins depends on α as well as on the model. No α is right by itself: people "
        "choose it by the score of what comes out, on texts held out."
    )


def _where(right: list[bool]) -> str:
    """Which cases are wrong, the simplest first."""
    cases = list(zip(right, CASES, strict=True))
    if not all(fits for fits, (_, beams, _) in cases if beams == 1):
        return (
            "Wrong already for one beam, which is greedy decoding: the likeliest token each time, "
            f"until token {END} (`end`) or {LONGEST} tokens (`longest`)."
        )
    if not all(fits for fits, (_, _, alpha) in cases if alpha == 0):
        return (
            "Right for one beam, and wrong for more, already without a penalty (`alpha` is 0). In "
            "each round: all continuations of all beginnings, and of those that have ended "
            "themselves; then the best of all these together."
        )
    return (
        "Right without a penalty, wrong with one. Compute the score of a target of two tokens by "
        "hand, and compare: n counts its tokens, the end among them."
    )


def _given(seed: int) -> LogP:
    """What the answer is given: it sees to what it is asked."""
    known = tree(seed)

    def log_p(beginning: Any) -> list[float]:
        try:
            tokens = tuple(int(token) for token in beginning)
        except TypeError:
            raise TypeError(
                "`log_p` takes a beginning, a tuple of tokens such as (2, 1); at first ()."
            ) from None
        return known(tokens)

    return log_p


def _call(answer: Answer, seed: int, beams: int, alpha: float) -> Tensor:
    value = answer(_given(seed), beams, alpha, LONGEST, END)
    if isinstance(value, Tensor):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        raise Wrong("Your function returns one number: return the target, a tuple of tokens.")
    if value and isinstance(value[0], (list, tuple)):
        if len(value) == 2 and not isinstance(value[1], (list, tuple)):
            raise Wrong("Your function returns the target with its score: return its tokens alone.")
        raise Wrong("Your function returns more than one target: return the tokens of the best.")
    if len(value) > LONGEST:
        raise Wrong(
            f"Your target has {len(value)} tokens, and `longest` is {LONGEST}: is there a start "
            "token in it, or a round too many?"
        )
    return _row(tuple(_token(each) for each in value))


def _token(value: Any) -> int:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not number.is_integer() or not 0 <= number < TOKENS:
        raise Wrong("What you return holds numbers that are no tokens: is it the scores?")
    return int(number)


def _row(target: Target) -> Tensor:
    return torch.tensor([*target, *[_NOTHING] * (LONGEST - len(target))], dtype=torch.float64)


Beam = list[tuple[Target, float]]
Penalty = Callable[[int, float], float]


def _lp(n: int, alpha: float) -> float:
    return ((5 + n) / 6) ** alpha


def _score(it: tuple[Target, float], alpha: float, penalty: Penalty = _lp) -> float:
    return it[1] / penalty(len(it[0]), alpha)


def _has_ended(y: Target) -> bool:
    return bool(y) and y[-1] == END


def _search(
    log_p: LogP,
    beams: int,
    alpha: float,
    rounds: int = LONGEST,
    add: Callable[[float, float], float] = lambda total, step: total + step,
    rank: Callable[[tuple[Target, float], float], float] = _score,
    last: Callable[[tuple[Target, float], float], float] | None = None,
    has_ended: Callable[[Target], bool] = _has_ended,
    keep_ended: bool = True,
    each_its_own: bool = False,
    until: Callable[[Beam], bool] = lambda beam: False,
    hand_on: Callable[[tuple[Target, float], float], float] = lambda it, alpha: it[1],
    first: float = 0.0,
) -> Beam:
    """Beam search, with one piece changed: so does each mistake. The best by ``last`` is first."""
    beam: Beam = [((), first)]
    for _ in range(rounds):
        families: list[Beam] = []
        for y, total in beam:
            if has_ended(y):
                families.append([(y, total)] if keep_ended else [])
            else:
                steps = enumerate(log_p(y))
                families.append([((*y, token), add(total, step)) for token, step in steps])
        if each_its_own and len(families) > 1:
            families = [[max(it, key=lambda each: rank(each, alpha))] for it in families]
        together = [it for family in families for it in family]
        if not together:
            break
        together.sort(key=lambda it: rank(it, alpha), reverse=True)
        beam = [(y, hand_on((y, total), alpha)) for y, total in together[:beams]]
        if until(beam):
            break
    return sorted(beam, key=lambda it: (last or rank)(it, alpha), reverse=True)


def _right(log_p: LogP, beams: int, alpha: float) -> Target:
    return _search(log_p, beams, alpha)[0][0]


def _known(target: Callable[[LogP, int, float], Target]) -> Callable[[], Tensor]:
    return lambda: torch.stack([_row(target(tree(s), k, alpha)) for s, k, alpha in CASES])


def _with(**pieces: Any) -> Callable[[], Tensor]:
    return _known(lambda *how: _search(*how, **pieces)[0][0])


def _by(penalty: Penalty) -> Callable[[], Tensor]:
    """Another penalty."""
    return _with(rank=lambda it, alpha: _score(it, alpha, penalty))


def _plain(it: tuple[Target, float], alpha: float) -> float:
    return it[1]


def _cut(target: Target) -> Target:
    return target[: target.index(END) + 1] if END in target else target


def _collected(log_p: LogP, beams: int, alpha: float) -> Target:
    """What has ended is collected outside of the beam, whose places all go on."""
    beam: Beam = [((), 0.0)]
    ended: Beam = []
    for _ in range(LONGEST):
        grown = [((*y, v), total + step) for y, total in beam for v, step in enumerate(log_p(y))]
        ended += [it for it in grown if _has_ended(it[0])]
        going = [it for it in grown if not _has_ended(it[0])]
        beam = sorted(going, key=lambda it: _score(it, alpha), reverse=True)[:beams]
    return max(ended + beam, key=lambda it: _score(it, alpha))[0]


def _collected_from_the_best(log_p: LogP, beams: int, alpha: float) -> Target:
    """The same, of the best of each round alone; the beam is filled up again."""
    beam: Beam = [((), 0.0)]
    ended: Beam = []
    for _ in range(LONGEST):
        grown = [((*y, v), total + step) for y, total in beam for v, step in enumerate(log_p(y))]
        grown.sort(key=lambda it: _score(it, alpha), reverse=True)
        ended += [it for it in grown[:beams] if _has_ended(it[0])]
        beam = [it for it in grown if not _has_ended(it[0])][:beams]
    return max(ended + beam, key=lambda it: _score(it, alpha))[0]


_every: Sequence[tuple[str, Callable[[], Tensor]]] = (
    (
        "This is greedy decoding, whatever `beams` is: keep that many beginnings in each round.",
        _known(lambda log_p, beams, alpha: _right(log_p, 1, alpha)),
    ),
    (
        "Nothing is pruned: all beginnings are kept, not the best of them.",
        _known(lambda log_p, beams, alpha: _right(log_p, 10**6, alpha)),
    ),
    (
        "The worst are kept: a larger score is better, so sort downward.",
        _with(rank=lambda it, alpha: -_score(it, alpha)),
    ),
    (
        "There is no penalty: `alpha` changes nothing.",
        _with(rank=_plain),
    ),
    (
        "The penalty comes at the very end alone: it ranks the candidates of each round, too.",
        _with(rank=_plain, last=_score),
    ),
    (
        "The penalty ranks the candidates of each round, and is forgotten at the end: the best is "
        "the one with the largest score.",
        _with(last=_plain),
    ),
    (
        "Log-probabilities are multiplied by the penalty, which makes long targets still worse: "
        "divide.",
        _by(lambda n, alpha: 1 / _lp(n, alpha)),
    ),
    (
        "The penalty is n^α: the equation has (5 + n) / 6 in place of n, which grows more slowly.",
        _by(lambda n, alpha: n**alpha),
    ),
    (
        "The penalty does not use `alpha`: it is the exponent of (5 + n) / 6.",
        _by(lambda n, alpha: _lp(n, 1.0)),
    ),
    (
        "Scores are divided by the number of tokens: the penalty is ((5 + n) / 6)^α.",
        _by(lambda n, alpha: float(n)),
    ),
    (
        "n leaves the end out: it counts all tokens of a target, the end among them.",
        _with(rank=lambda it, alpha: it[1] / _lp(len(it[0]) - _has_ended(it[0]), alpha)),
    ),
    (
        "Scores are handed on in place of log-probabilities, and divided again in the next round: "
        "keep the sum, and divide it to compare.",
        _with(hand_on=_score),
    ),
    (
        "Beginnings are ranked by their last token alone: add up the log-probabilities of all "
        "their tokens.",
        _with(add=lambda total, step: step),
    ),
    (
        "Probabilities are added up: multiply them, or add their logarithms, which `log_p` gives.",
        _with(add=lambda total, step: total + math.exp(step)),
    ),
    (
        "Each beginning keeps its own best continuation: the best of all continuations together "
        "are kept, and several may come from one beginning.",
        _with(each_its_own=True),
    ),
    (
        "What has ended is continued: a beginning whose last token is `end` stays as it is.",
        _with(has_ended=lambda y: False),
    ),
    (
        "What has ended is continued, and cut off at its end afterward: it must stay in the beam "
        "as it is, with the score that it had there.",
        _known(
            lambda log_p, beams, alpha: _cut(
                _search(log_p, beams, alpha, has_ended=lambda y: False)[0][0]
            )
        ),
    ),
    (
        "What has ended gets lost: it stays in the beam, and competes with what goes on.",
        _with(keep_ended=False),
    ),
    (
        "What has ended is collected outside of the beam, from all candidates, and its place goes "
        "to another. (Some libraries do that.) Here it stays in the beam, and takes up one of its "
        "places.",
        _known(_collected),
    ),
    (
        "What has ended leaves the beam as soon as it is among the best, and its place goes to "
        "another. (Some libraries do that.) Here it stays, and takes up one of the places.",
        _known(_collected_from_the_best),
    ),
    (
        "The search stops as soon as one beginning has ended: others may still overtake it.",
        _with(until=lambda beam: any(_has_ended(y) for y, _ in beam)),
    ),
    (
        "The search stops when the best has ended. Without a penalty nothing could overtake it; "
        "with one a longer target still can, for its score may rise.",
        _with(until=lambda beam: _has_ended(beam[0][0])),
    ),
    (
        "The last of the beam is returned: the best one is asked for.",
        _known(lambda *how: _search(*how)[-1][0]),
    ),
    (
        "The end is missing: `end` is a token of the target, too.",
        _known(lambda *how: tuple(token for token in _right(*how) if token != END)),
    ),
    (
        "There is one round too few: a target may have `longest` tokens.",
        _with(rounds=LONGEST - 1),
    ),
)

MISTAKES = tuple(Mistake(hint, compute) for hint, compute in _every)
