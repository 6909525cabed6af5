"""09.5 Beam search, on small trees whose probabilities are known."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same
from lmcourse.labs.verdict import Wrong

_TOKENS, _END, _LONGEST = 4, 0, 4
_NOTHING = -1  # behind a target, in a row of numbers that stands for it
# seed, k: so many that each mistake shows in some, and k = 1 among them.
_CASES = tuple((seed, k) for k in (1, 2, 3) for seed in range(8))
Target = tuple[int, ...]
LogP = Callable[[Target], list[float]]


def judge(answer: Answer) -> str:
    values = torch.stack([_call(answer, seed, k) for seed, k in _CASES])
    wanted = torch.stack([_row(_right(tree(seed), k)) for seed, k in _CASES])
    if not same(values, wanted):
        explain(values, MISTAKES)
        right = [bool((value == want).all()) for value, want in zip(values, wanted, strict=True)]
        ones = [fits for fits, (_, k) in zip(right, _CASES, strict=True) if k == 1]
        if not all(ones):
            raise Wrong(
                "Wrong already for k = 1, which is greedy decoding: the likeliest token each time, "
                f"until token {_END} (`end`) or {_LONGEST} tokens (`longest`)."
            )
        raise Wrong(
            f"Right for k = 1, and for {sum(right)} of {len(right)} targets in all. In each "
            "round: all continuations of all k beginnings, and of those that have ended "
            "themselves; then the k best of all these together."
        )
    return (
        "A wider beam finds a target at least as likely in nearly every case, not in every one: "
        "the best beginning may be pushed out by others that end badly."
    )


def tree(seed: int) -> LogP:
    """Log-probabilities of the next token after each beginning: peaked, and different for each."""

    def log_p(beginning: Target) -> list[float]:
        place = sum((token + 1) * 7**i for i, token in enumerate(beginning))
        generator = torch.Generator().manual_seed(1000 * seed + place)
        logits = 1.5 * torch.randn(_TOKENS, generator=generator, dtype=torch.float64)
        logits[_END] -= 0.5
        return list(logits.log_softmax(-1).tolist())

    return log_p


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


def _call(answer: Answer, seed: int, k: int) -> Tensor:
    value = answer(_given(seed), k, _LONGEST, _END)
    if isinstance(value, Tensor):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        raise Wrong("Your function returns one number: return the target, a tuple of tokens.")
    if value and isinstance(value[0], (list, tuple)):
        if len(value) == 2 and not isinstance(value[1], (list, tuple)):
            raise Wrong("Your function returns the target with its score: return its tokens alone.")
        raise Wrong("Your function returns more than one target: return the tokens of the best.")
    if len(value) > _LONGEST:
        raise Wrong(
            f"Your target has {len(value)} tokens, and `longest` is {_LONGEST}: is there a start "
            "token in it, or a round too many?"
        )
    return _row(tuple(_token(each) for each in value))


def _token(value: Any) -> int:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not number.is_integer() or not 0 <= number < _TOKENS:
        raise Wrong("What you return holds numbers that are no tokens: is it the scores?")
    return int(number)


def _row(target: Target) -> Tensor:
    return torch.tensor([*target, *[_NOTHING] * (_LONGEST - len(target))], dtype=torch.float64)


Beam = list[tuple[Target, float]]


def _search(
    log_p: LogP,
    k: int,
    rounds: int = _LONGEST,
    add: Callable[[float, float], float] = lambda total, step: total + step,
    rank: Callable[[tuple[Target, float]], float] = lambda it: it[1],
    has_ended: Callable[[Target], bool] = lambda y: bool(y) and y[-1] == _END,
    keep_ended: bool = True,
    choose: Callable[[list[Beam], int, Callable[..., float]], Beam] | None = None,
    until: Callable[[Beam], bool] = lambda beam: False,
    first: float = 0.0,
) -> Beam:
    """Beam search, with one piece changed: so does each mistake."""
    beam: Beam = [((), first)]
    for _ in range(rounds):
        families: list[Beam] = []
        for y, total in beam:
            if has_ended(y):
                families.append([(y, total)] if keep_ended else [])
            else:
                steps = enumerate(log_p(y))
                families.append([((*y, token), add(total, step)) for token, step in steps])
        together = [it for family in families for it in family]
        if not together:
            break
        beam = choose(families, k, rank) if choose else sorted(together, key=rank, reverse=True)[:k]
        if until(beam):
            break
    return beam


def _right(log_p: LogP, k: int) -> Target:
    return _search(log_p, k)[0][0]


def _known(target: Callable[[LogP, int], Target]) -> Callable[[], Tensor]:
    return lambda: torch.stack([_row(target(tree(seed), k)) for seed, k in _CASES])


def _with(**pieces: Any) -> Callable[[], Tensor]:
    return _known(lambda log_p, k: _search(log_p, k, **pieces)[0][0])


def _each_its_own(families: list[Beam], k: int, rank: Callable[..., float]) -> Beam:
    """The best continuation of each beginning; in the first round the k best."""
    if len(families) == 1 and k > 1:
        return sorted(families[0], key=rank, reverse=True)[:k]
    best = [max(family, key=rank) for family in families if family]
    return sorted(best, key=rank, reverse=True)


def _last_of(beam: Beam) -> Target:
    return beam[-1][0]


def _never_end(y: Target) -> bool:
    return False


def _cut(target: Target) -> Target:
    return target[: target.index(_END) + 1] if _END in target else target


def _per_token(it: tuple[Target, float]) -> float:
    return it[1] / max(1, len(it[0]))


def _best_per_token(log_p: LogP, k: int) -> Target:
    return max(_search(log_p, k), key=_per_token)[0]


def _without_end(log_p: LogP, k: int) -> Target:
    return tuple(token for token in _right(log_p, k) if token != _END)


def _ended_apart(log_p: LogP, k: int) -> Target:
    """What has ended leaves the beam for good; the best of what is left."""
    return _search(log_p, k, keep_ended=False)[0][0]


_every: Sequence[tuple[str, Callable[[], Tensor]]] = (
    (
        "This is greedy decoding, whatever k is: keep the k best beginnings in each round.",
        _known(lambda log_p, k: _right(log_p, 1)),
    ),
    (
        "Nothing is pruned: all beginnings are kept, not the k best.",
        _known(lambda log_p, k: _right(log_p, 10**6)),
    ),
    (
        "The worst are kept: a larger log-probability is better, so sort downward.",
        _with(rank=lambda it: -it[1]),
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
        "Log-probabilities are multiplied: add them.",
        _with(add=lambda total, step: total * step, first=1.0),
    ),
    (
        "Each beginning keeps its own best continuation: the k best of all continuations together "
        "are kept, and several may come from one beginning.",
        _with(choose=_each_its_own),
    ),
    (
        "What has ended is continued: a beginning whose last token is `end` stays as it is.",
        _with(has_ended=_never_end),
    ),
    (
        "What has ended is continued, and cut off at its end afterward: it must stay in the beam "
        "as it is, with the score that it had there.",
        _known(lambda log_p, k: _cut(_search(log_p, k, has_ended=_never_end)[0][0])),
    ),
    (
        "The search ends rightly when the best has ended, but a beginning that has ended behind it "
        "is continued: it stays as it is, and may become the best later.",
        _with(has_ended=_never_end, until=lambda beam: beam[0][0][-1] == _END),
    ),
    (
        "What has ended gets lost: it stays in the beam, and competes with what goes on.",
        _known(_ended_apart),
    ),
    (
        "The search stops as soon as one beginning has ended: others may still overtake it.",
        _with(until=lambda beam: any(y[-1] == _END for y, _ in beam)),
    ),
    (
        "Scores are divided by the number of tokens in the end: no penalty is asked for here.",
        _known(_best_per_token),
    ),
    (
        "The last of the beam is returned: the best one is asked for.",
        _known(lambda log_p, k: _last_of(_search(log_p, k))),
    ),
    (
        "The end is missing: `end` is a token of the target, too.",
        _known(_without_end),
    ),
    (
        "There is one round too few: a target may have `longest` tokens.",
        _with(rounds=_LONGEST - 1),
    ),
)

MISTAKES = tuple(Mistake(hint, compute) for hint, compute in _every)
