"""08.4 Who may look where: attention's weights under a causal mask and padding, in a batch."""

import contextlib
import math

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

Probe = tuple[Tensor, Tensor, Tensor]  # Q, K, real
# Behind each text some places are padding; batch and time differ, but for the last.
_RIGHT_PADDED = (([5, 3], 4), ([4, 6, 2], 8), ([2, 4, 3, 4], 3))  # lengths, width


def judge(answer: Answer) -> str:
    for seed, (lengths, width) in enumerate(_RIGHT_PADDED):
        real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
        probe = _probe(seed, real, width)
        value = _finite(answer, probe)
        if not same(value, _right(*probe)):
            explain(value, MISTAKES, *probe)
            raise Wrong(
                "The visible keys do not have the weights of a softmax over them alone. Print your "
                "mask for one sequence: row i is True up to column i, and never at padding."
            )
        if bool((value[~_visible(real)] != 0).any()):
            raise Wrong(
                "Hidden keys get weights that are tiny, and not 0: is a number such as −20 in the "
                "place of −∞? Whatever stands there leaks a little."
            )
    _check_nowhere(answer)
    for scores, hint in _HARD:
        _check_hard(answer, torch.tensor(scores), hint)
    return (
        "Hidden means hidden: change a hidden key as you like, and no weight moves. That is how a "
        "model's mask is tested."
    )


def _finite(answer: Answer, probe: Probe) -> Tensor:
    shape = (*probe[2].shape, probe[2].shape[1])
    result = answer(*probe)
    try:
        return tensor(result, shape)
    except Wrong as wrong:
        if "NaN" not in str(wrong):
            raise
        with contextlib.suppress(TypeError, ValueError, RuntimeError):  # a list of lists, say
            explain(torch.as_tensor(result).detach().double().nan_to_num(), MISTAKES, *probe)
        raise Wrong(
            "There is NaN in rows that do see a key: is −∞ multiplied by the mask? ∞ · 0 is NaN. "
            "Choose between score and −∞ instead of multiplying."
        ) from None


def _check_nowhere(answer: Answer) -> None:
    """Padding in front: the first places see nothing; and a sequence that is all padding."""
    real = torch.tensor([[False, False, True, True], [False] * 4, [True] * 4])
    probe = _probe(5, real, 4)
    empty = ~_visible(real).any(-1)
    try:
        value = tensor(answer(*probe), (3, 4, 4))
    except Wrong as wrong:
        if "NaN" not in str(wrong):
            raise
        raise Wrong(
            "Right where each query sees a key. With the padding in front, the first places see "
            "none, and get NaN, the softmax of nothing but −∞: give them zeros."
        ) from None
    if same(value, _right(*probe)):
        return
    if same(value[empty], torch.full((int(empty.sum()), 4), 0.25)):
        raise Wrong(
            "A query that sees no key gets even weights on all hidden ones: a large negative "
            "number hides keys beside visible ones only. Give such a query zeros."
        )
    if same(value[empty].sum(-1), torch.ones(int(empty.sum()))):
        raise Wrong(
            "A query that sees no key gets weights that sum to 1, and so looks at what is hidden: "
            "give it zeros."
        )
    raise Wrong("A query that sees no key should get zeros, and each other one its softmax.")


# Scores of the last query, whose third key is padding, and what it says if they go wrong.
_HARD = (
    (
        [1.0, 2.0, 300.0, 1.5],
        "A hidden key with a score of 300 still spoils the others' weights (beside it, their "
        "exponentials are 0): hide it before the softmax and before a maximum is taken.",
    ),
    (
        [1000.0, 1001.0, 300.0, 1000.5],
        "Visible scores near 1,000 go wrong: e¹⁰⁰⁰ is infinite. `softmax` takes the largest "
        "visible score away first; `exp` by itself does not.",
    ),
    (
        [-30000.0, -30001.0, 0.0, -30000.5],
        "Visible scores near −30,000 beside a hidden 0 go wrong: whatever number you put in the "
        "place of a hidden score, it must be below *every* score. −∞ is.",
    ),
)


def _check_hard(answer: Answer, scores: Tensor, hint: str) -> None:
    """Q and K of width 4 whose scores, scaled, are these for every query, to the last digit."""
    q, k = torch.zeros(1, 4, 4), torch.zeros(1, 4, 4)
    q[..., 0], k[..., 0] = 2.0, scores
    probe = q, k, torch.tensor([[True, True, False, True]])
    try:
        good = same(tensor(answer(*probe), (1, 4, 4)), _right(*probe))
    except Wrong as wrong:
        if "NaN" not in str(wrong) and "nfinit" not in str(wrong):
            raise
        good = False
    if not good:
        raise Wrong(hint)


def _probe(seed: int, real: Tensor, width: int) -> Probe:
    generator = torch.Generator().manual_seed(seed)
    shape = (*real.shape, width)
    q, k = (1.5 * torch.randn(shape, generator=generator) for _ in range(2))
    return q, k, real


def _causal(real: Tensor) -> Tensor:
    return torch.ones(real.shape[1], real.shape[1], dtype=torch.bool).tril()


def _visible(real: Tensor) -> Tensor:
    return real[:, None, :] & _causal(real)


def _scaled(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.mT / math.sqrt(q.shape[-1])


def _hide(scores: Tensor, seen: Tensor, axis: int = -1) -> Tensor:
    return scores.masked_fill(~seen, -math.inf).softmax(axis).nan_to_num()


def _right(q: Tensor, k: Tensor, real: Tensor) -> Tensor:
    return _hide(_scaled(q, k), _visible(real))


# Each takes (Q, K, real).
MISTAKES = (
    Mistake(
        "The scale is missing: divide the scores by √width.",
        lambda q, k, real: _hide(q @ k.mT, _visible(real)),
    ),
    Mistake(
        "The scores are divided by the width; divide by its square root.",
        lambda q, k, real: _hide(q @ k.mT / q.shape[-1], _visible(real)),
    ),
    Mistake(
        "Queries and keys have changed places: the axes are [batch, query, key].",
        lambda q, k, real: _hide(_scaled(k, q), _visible(real)),
    ),
    Mistake(
        "The future is hidden, the padding is not: `real` has to hide keys as well.",
        lambda q, k, real: _hide(_scaled(q, k), _causal(real)),
    ),
    Mistake(
        "The padding is hidden, the future is not: query i may look at keys 0 to i.",
        lambda q, k, real: _hide(_scaled(q, k), real[:, None].expand(-1, real.shape[1], -1)),
    ),
    Mistake(
        "A key is visible if it is real *or* not in the future: both must hold.",
        lambda q, k, real: _hide(_scaled(q, k), real[:, None] | _causal(real)),
    ),
    Mistake(
        "Each query is hidden from itself: its own place is visible, too.",
        lambda q, k, real: _hide(_scaled(q, k), real[:, None] & _causal(real).tril(-1)),
    ),
    Mistake(
        "The triangle is the other one: here a query sees what comes later.",
        lambda q, k, real: _hide(_scaled(q, k), real[:, None] & _causal(real).T),
    ),
    Mistake(
        "`real` stands along the queries: it hides rows, and the padding among the keys is still "
        "seen. Which axis of [batch, query, key] should it follow?",
        lambda q, k, real: _hide(_scaled(q, k), real[:, :, None] & _causal(real)),
    ),
    Mistake(
        "The mask is turned round: what may be seen is hidden.",
        lambda q, k, real: _hide(_scaled(q, k), ~_visible(real)),
    ),
    Mistake(
        "`real` is turned round: it is True where a token stands.",
        lambda q, k, real: _hide(_scaled(q, k), ~real[:, None] & _causal(real)),
    ),
    Mistake(
        "A place is hidden from the whole batch if one sequence has padding there: each sequence "
        "has a mask of its own.",
        lambda q, k, real: _hide(_scaled(q, k), real.all(0) & _causal(real)),
    ),
    Mistake(
        "The mask comes after the softmax: the weights that are left do not sum to 1, since hidden "
        "keys have taken their share.",
        lambda q, k, real: _scaled(q, k).softmax(-1) * _visible(real),
    ),
    Mistake(
        "Hidden scores are set to 0. A score of 0 is a score like any other: e⁰ = 1.",
        lambda q, k, real: (_scaled(q, k) * _visible(real)).softmax(-1),
    ),
    Mistake(
        "The mask is added to the scores as 0 and 1: visible keys get a little more, and hidden "
        "ones are still seen.",
        lambda q, k, real: (_scaled(q, k) + _visible(real)).softmax(-1),
    ),
    Mistake(
        "Nothing is hidden.",
        lambda q, k, real: _scaled(q, k).softmax(-1),
    ),
    Mistake(
        "The softmax runs over the queries: hide, then normalize each row, over the keys.",
        lambda q, k, real: _hide(_scaled(q, k), _visible(real), axis=-2),
    ),
    Mistake(
        "Hidden keys are hidden, and the rest is not normalized: divide by the sum of the row.",
        lambda q, k, real: _scaled(q, k).exp() * _visible(real),
    ),
)
