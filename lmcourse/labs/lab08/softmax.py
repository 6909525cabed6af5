"""08.2 A softmax without accidents: over the keys, for scores of any size."""

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

_SHAPES = ((4, 4), (3, 5), (2, 1))  # query, key


def judge(answer: Answer) -> str:
    for seed, (queries, keys) in enumerate(_SHAPES):
        scores = _scores(seed, queries, keys)
        value = tensor(answer(scores), (queries, keys))
        if not same(value, scores.softmax(-1)):
            explain(value, MISTAKES, scores)
            raise Wrong(
                "Not a softmax over the keys. Row by row: exponentials, divided by the sum of the "
                "row's exponentials."
            )
    _check_large(answer)
    return (
        "The largest score is subtracted, and nothing changes but what the numbers can hold: "
        "softmax(s − m) = softmax(s)."
    )


def _check_large(answer: Answer) -> None:
    """Scores for which e^s is infinite, all zero, or one of each in two rows."""
    for scores, hint in (
        (
            torch.tensor([[500.0, 501.0, 499.0]]),
            "Right for small scores; for scores of 500 the result is not finite: e⁵⁰⁰ is more than "
            "a float can hold. A number may be taken from all scores of a row before `exp`.",
        ),
        (
            torch.tensor([[-500.0, -501.0, -499.0]]),
            "Right for small scores and for large ones; for scores near −500 every exponential is "
            "0, and 0/0 is NaN. Take the row's largest score away, whatever its sign.",
        ),
        (
            torch.tensor([[-1.0, 0.0, 1.0], [600.0, 601.0, 602.0]]),
            "A row of small scores beside a row of large ones goes wrong: each row needs its own "
            "largest score, not the largest of all (`amax(-1, keepdim=True)`).",
        ),
        (
            torch.tensor([[-200.0, 200.0, 0.0]]),
            "Scores from −200 to 200 go wrong. After the subtraction no exponent may be positive: "
            "take away the largest score, not the mean or the smallest.",
        ),
    ):
        try:
            value = tensor(answer(scores), scores.shape)
            right = same(value, scores.softmax(-1), tolerance=1e-3)  # 500 has few digits left
        except Wrong as wrong:
            if not any(word in str(wrong) for word in ("NaN", "nfinit")):
                raise
            right = False
        if not right:
            raise Wrong(hint)


def _scores(seed: int, queries: int, keys: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 2 * torch.randn(queries, keys, generator=generator)


MISTAKES = (
    Mistake(
        "The softmax runs over the queries: here the columns sum to 1, and the rows should (the "
        "last axis, `-1`).",
        lambda s: s.softmax(0),
    ),
    Mistake(
        "The whole table sums to 1: each row should, since each query has weights of its own.",
        lambda s: s.flatten().softmax(0).view_as(s),
    ),
    Mistake(
        "The exponentials are not normalized yet: divide by the sum of their row.",
        lambda s: s.exp(),
    ),
    Mistake(
        "The largest score is taken away, and then the exponentials are not normalized: the "
        "largest entry of each row is 1. Divide by the row's sum.",
        lambda s: (s - s.amax(-1, keepdim=True)).exp(),
    ),
    Mistake(
        "These are logarithms of the weights (a log-softmax).",
        lambda s: s.log_softmax(-1),
    ),
    Mistake(
        "The scores are divided by their sum; exponentials are missing, and without them a "
        "negative score makes a negative weight.",
        lambda s: s / s.sum(-1, keepdim=True),
    ),
    Mistake(
        "The sign of the scores is turned: the smallest score gets the most weight.",
        lambda s: (-s).softmax(-1),
    ),
    Mistake(
        "The base is 2: a softmax takes powers of e.",
        lambda s: 2**s / (2**s).sum(-1, keepdim=True),
    ),
)
