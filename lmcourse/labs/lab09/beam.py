"""09.5 Beam search with a length penalty, on small trees whose probabilities are known."""

import math
from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.lab09 import searches
from lmcourse.labs.lab09.beam_slips import MISTAKES, row, rows
from lmcourse.labs.lab09.trees import CASES, LONGEST, TOKENS, LogP, end_of, tree
from lmcourse.labs.values import explain, same
from lmcourse.labs.verdict import Wrong


def judge(answer: Answer) -> str:
    values = torch.stack([_call(answer, *case) for case in CASES])
    wanted = rows(searches.right)
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
            "put after the others, until this token is `end` or there are `longest`."
        )
    if not all(fits for fits, (_, _, alpha) in cases if alpha == 0):
        return (
            "Right for one beam, and wrong for more, already without a penalty (`alpha` is 0). In "
            "each round: all continuations of all beginnings, and of those that have ended "
            "themselves; then the best of all these together. And what becomes of those that have "
            "ended, in the rounds and at the end?"
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
    value = answer(_given(seed), beams, alpha, LONGEST, end_of(seed))
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
    return row(tuple(_token(each) for each in value))


def _token(value: Any) -> int:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not number.is_integer() or not 0 <= number < TOKENS:
        raise Wrong("What you return holds numbers that are no tokens: is it the scores?")
    return int(number)
