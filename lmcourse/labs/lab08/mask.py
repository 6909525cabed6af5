"""08.4 The mask: weights of the visible keys alone, and zeros where there is none."""

import math

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong


def judge(answer: Answer) -> str:
    for seed, (queries, keys) in enumerate(((4, 4), (3, 6))):
        probe = _probe(seed, queries, keys)
        value = _finite(answer, probe, (queries, keys))
        if not same(value, _right(*probe)):
            explain(value, MISTAKES, *probe)
            raise Wrong(
                "The visible keys do not have the weights of a softmax over them alone. What must "
                "a hidden key's score be, so that its exponential is 0?"
            )
    _check_nowhere(answer)
    _check_high(answer)
    return (
        "Hidden means hidden: change the score of a hidden key as you like, and no weight moves. "
        "That is how a model's mask is tested."
    )


def _finite(answer: Answer, probe: tuple[Tensor, Tensor], shape: tuple[int, int]) -> Tensor:
    try:
        return tensor(answer(*probe), shape)
    except Wrong as wrong:
        if "NaN" not in str(wrong):
            raise
        raise Wrong(
            "There is NaN in rows that do see a key: is −∞ multiplied by the mask? ∞ · 0 is NaN. "
            "Choose between score and −∞ instead of multiplying."
        ) from None


def _check_nowhere(answer: Answer) -> None:
    """Rows in which nothing is visible, beside a row that sees all."""
    scores, _ = _probe(2, 3, 4)
    visible = torch.tensor([[True] * 4, [False] * 4, [False] * 4])
    try:
        value = tensor(answer(scores, visible), (3, 4))
    except Wrong as wrong:
        if "NaN" not in str(wrong):
            raise
        raise Wrong(
            "Right where each query sees a key. A query that sees none gets NaN, the softmax of "
            "nothing but −∞: give it zeros."
        ) from None
    if same(value, _right(scores, visible)):
        return
    if same(value[1:], torch.full((2, 4), 0.25)):
        raise Wrong(
            "A query that sees no key gets even weights on all hidden ones: a large negative "
            "number hides keys beside visible ones only. Give such a query zeros."
        )
    if same(value[1:].sum(-1), torch.ones(2)):
        raise Wrong(
            "A query that sees no key gets weights that sum to 1, and so looks at what is hidden: "
            "give it zeros."
        )
    raise Wrong("A query that sees no key should get zeros, and one that sees all a softmax.")


def _check_high(answer: Answer) -> None:
    """A hidden key whose score dwarfs all others."""
    scores = torch.tensor([[1.0, 2.0, 300.0]])
    visible = torch.tensor([[True, True, False]])
    try:
        value = tensor(answer(scores, visible), (1, 3))
    except Wrong as wrong:
        if "NaN" not in str(wrong):
            raise
        value = torch.full((1, 3), math.inf)
    if not same(value, _right(scores, visible)):
        raise Wrong(
            "A hidden key with a score of 300 still spoils the others' weights (beside it, their "
            "exponentials are 0): hide it before the softmax, not after."
        )


def _probe(seed: int, queries: int, keys: int) -> tuple[Tensor, Tensor]:
    """Scores, and a mask in which each query and each key has one that is visible."""
    generator = torch.Generator().manual_seed(seed)
    scores = 2 * torch.randn(queries, keys, generator=generator)
    visible = torch.rand(queries, keys, generator=generator) < 0.5
    place = torch.arange(max(queries, keys))
    visible[place % queries, place % keys] = True
    visible[0, 1:3] = False  # so that no mask is its own opposite or transpose
    return scores, visible


def _right(s: Tensor, seen: Tensor) -> Tensor:
    a = s.masked_fill(~seen, -math.inf).softmax(-1)
    return a.masked_fill(~seen.any(-1, keepdim=True), 0.0)


# Each takes (scores, visible).
MISTAKES = (
    Mistake(
        "The mask is turned round: `visible` is True where a query *may* look.",
        lambda s, seen: s.masked_fill(seen, -math.inf).softmax(-1).nan_to_num(),
    ),
    Mistake(
        "The mask comes after the softmax: the weights that are left do not sum to 1, since hidden "
        "keys have taken their share.",
        lambda s, seen: s.softmax(-1) * seen,
    ),
    Mistake(
        "Hidden scores are set to 0. A score of 0 is a score like any other: e⁰ = 1.",
        lambda s, seen: (s * seen).softmax(-1),
    ),
    Mistake(
        "Hidden keys get −1 in place of −∞: their exponential is not 0.",
        lambda s, seen: s.masked_fill(~seen, -1.0).softmax(-1),
    ),
    Mistake(
        "The mask is added to the scores as 0 and 1: visible keys get a little more, and hidden "
        "ones are still seen.",
        lambda s, seen: (s + seen).softmax(-1),
    ),
    Mistake(
        "The mask is not used.",
        lambda s, seen: s.softmax(-1),
    ),
    Mistake(
        "The softmax runs over the queries: hide, then normalize each row, over the keys.",
        lambda s, seen: s.masked_fill(~seen, -math.inf).softmax(0).nan_to_num(),
    ),
    Mistake(
        "Hidden keys are hidden, and the rest is not normalized: divide by the sum of the row.",
        lambda s, seen: s.exp() * seen,
    ),
    Mistake(
        "A key is hidden from all queries if one may not see it: the mask has a row for each "
        "query.",
        lambda s, seen: s.masked_fill(~seen.all(0), -math.inf).softmax(-1).nan_to_num(),
    ),
)
