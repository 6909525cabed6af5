"""What the wrong answers to 09.5 compute, and what each is told."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.lab09 import searches
from lmcourse.labs.lab09.searches import Rank, Search, by, has_ended, lp, plain, score, search
from lmcourse.labs.lab09.trees import CASES, LONGEST, TOKENS, Target, end_of, tree
from lmcourse.labs.values import Mistake

_NOTHING = -1  # after a target, in a row of numbers that stands for it


def row(target: Target) -> Tensor:
    """A target as a row of numbers, as long as any."""
    return torch.tensor([*target, *[_NOTHING] * (LONGEST - len(target))], dtype=torch.float64)


def rows(found: Search) -> Tensor:
    """What a search finds in each case."""
    return torch.stack([row(found(tree(s), k, alpha, end_of(s))) for s, k, alpha in CASES])


def _known(hint: str, found: Search) -> Mistake:
    return Mistake(hint, lambda: rows(found))


def _with(hint: str, **pieces: Any) -> Mistake:
    return _known(hint, lambda *case: search(*case, **pieces)[0][0])


def _by(hint: str, penalty: Callable[[int, float], float]) -> Mistake:
    rank: Rank = by(penalty)
    return _with(hint, rank=rank)


_MULTIPLIED = (
    "In yours log-probabilities are multiplied, or multiplied by 0 at first: the log-probability "
    "of a target is the *sum* of those of its tokens."
)
_ONE_END = (
    "In yours the same token ends every target: the token that ends it is `end`, whichever that is."
)
_WORST = "In yours the worst are kept: a larger score is better, so sort downward."
_HANDED_ON = (
    "In yours scores are handed on in place of log-probabilities, and divided again in the next "
    "round: keep the sum, and divide it to compare."
)

MISTAKES = (
    _known(
        "In yours this is greedy decoding, whatever `beams` is: keep that many beginnings in each "
        "round.",
        lambda log_p, beams, alpha, end: searches.right(log_p, 1, alpha, end),
    ),
    _known(
        "In yours nothing is pruned, all beginnings are kept: keep the best `beams` of them.",
        lambda log_p, beams, alpha, end: searches.right(log_p, 10**6, alpha, end),
    ),
    _with(_WORST, rank=lambda it, alpha: -score(it, alpha)),
    _with(_WORST, rank=lambda it, alpha: -score(it, alpha), last=score),
    _with(
        "In yours the penalty changes nothing. Is `alpha` used? And is n the length of each "
        "target? The number of the round is the same for all.",
        rank=plain,
    ),
    _with(
        "In yours the penalty comes at the very end alone: it ranks the candidates of each round, "
        "too.",
        rank=plain,
        last=score,
    ),
    _with(
        "In yours the penalty ranks the candidates of each round, and is forgotten at the end: the "
        "best is the one with the largest score.",
        last=plain,
    ),
    _by(
        "In yours log-probabilities are multiplied by the penalty, which makes long targets still "
        "worse: divide.",
        lambda n, alpha: 1 / lp(n, alpha),
    ),
    _by(
        "In yours the penalty is n^α: the equation has (5 + n) / 6 in place of n, which grows more "
        "slowly.",
        lambda n, alpha: n**alpha,
    ),
    _by(
        "In yours `alpha` does not act as the exponent of the whole (5 + n) / 6: is it left out, "
        "or the exponent of the 6 alone?",
        lambda n, alpha: lp(n, 1.0),
    ),
    _by(
        "In yours only n is divided by 6: the sum 5 + n is, so it stands in brackets of its own.",
        lambda n, alpha: float((5 + n / 6) ** alpha),
    ),
    _by(
        "In yours scores are divided by the number of tokens: the penalty is ((5 + n) / 6)^α.",
        lambda n, alpha: float(n),
    ),
    _by(
        "In yours n is larger by one than the number of tokens: is a start token counted, or is 1 "
        "added to `len`?",
        lambda n, alpha: lp(n + 1, alpha),
    ),
    _by(
        "In yours n is smaller by one than the number of tokens: is it the length of the beginning "
        "*before* its last token?",
        lambda n, alpha: lp(n - 1, alpha),
    ),
    _known(
        "In yours n leaves the end out: it counts all tokens of a target, the end among them.",
        searches.ranked_without_end,
    ),
    _with(_HANDED_ON, hand_on=score),
    *(_known(_HANDED_ON, each) for each in searches.HANDING_ON),
    _with(
        "In yours beginnings are ranked by their last token alone: add up the log-probabilities of "
        "all their tokens.",
        add=lambda total, step: step,
    ),
    _with(
        "In yours probabilities are added up: multiply them, or add their logarithms, which "
        "`log_p` gives.",
        add=searches.adding_probabilities,
    ),
    _with(_MULTIPLIED, add=lambda total, step: total * step, first=1.0),
    _with(_MULTIPLIED, add=lambda total, step: total * step),
    _with(_MULTIPLIED, add=lambda total, step: (total or 1.0) * step),
    _with(_MULTIPLIED, add=lambda total, step: (total or -1.0) * step),
    _with(
        "In yours a new token stands in front of the beginning: it comes after the others.",
        grow=lambda y, token: (token, *y),
    ),
    _with(
        "In yours each beginning keeps its own best continuation: the best of all continuations "
        "together are kept, and several may come from one beginning.",
        each_its_own=True,
    ),
    *(_known(_ONE_END, searches.ending_in(token)) for token in range(TOKENS)),
    _known(
        "In yours the search ends before it has begun: is a start token of your own taken for the "
        "end?",
        lambda log_p, beams, alpha, end: (end,),
    ),
    _with(
        "In yours what has ended is continued: a beginning whose last token is `end` stays as it "
        "is.",
        ended=lambda y, end: False,
    ),
    _known(
        "In yours what has ended is continued, and cut off at its end afterward: it must stay in "
        "the beam as it is, with the score that it had there.",
        searches.cut,
    ),
    _with(
        "In yours what has ended gets lost: it stays in the beam, and competes with what goes on.",
        keep_ended=False,
    ),
    _known(
        "In yours what has ended is collected outside of the beam, from all candidates, and its "
        "place goes to another. (Some libraries do that.) Here it stays in the beam, and takes up "
        "one of its places.",
        searches.collecting(searches.from_all),
    ),
    _known(
        "In yours what has ended leaves the beam as soon as it is among the best, and its place "
        "goes to another. (Some libraries do that.) Here it stays, and takes up one of the places.",
        searches.collecting(searches.from_the_best),
    ),
    _known(
        "In yours what has ended leaves the beam, and from the next round on all places belong to "
        "what goes on. Here it stays a candidate, and takes up a place as long as it is among the "
        "best.",
        searches.collecting(searches.unreplaced),
    ),
    _known(
        "In yours what has ended keeps its place for good: it stays a candidate, and better ones "
        "push it out of the beam.",
        searches.collecting(searches.for_good),
    ),
    _with(
        "In yours the search stops as soon as one beginning has ended: others may still overtake "
        "it.",
        until=lambda beam, end: any(has_ended(y, end) for y, _ in beam),
    ),
    _known(
        "In yours the first target that ends is returned: others may still overtake it, so go on "
        "until `longest` rounds are over.",
        searches.first_that_ends,
    ),
    _with(
        "In yours the search stops when the best has ended. Without a penalty nothing could "
        "overtake it; with one a longer target still can, for its score may rise.",
        until=lambda beam, end: has_ended(beam[0][0], end),
    ),
    _known(
        "In yours only targets that have ended are compared at the end: one that has not can have "
        "the largest score, too.",
        searches.best_of_the_ended,
    ),
    _known(
        "In yours the last of the beam is returned: the best one is asked for.",
        lambda *case: search(*case)[-1][0],
    ),
    _known(
        "In yours the end is missing: `end` is a token of the target, too.",
        lambda *case: tuple(token for token in searches.right(*case) if token != case[-1]),
    ),
    _with(
        "In yours there is one round too few: a target may have `longest` tokens.",
        rounds=LONGEST - 1,
    ),
)
