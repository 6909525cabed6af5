"""08.4 Who may look where: attention's weights under a causal mask and padding, in a batch."""

import contextlib
import math
from typing import Any

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
            _explain(answer, value, probe)
            raise Wrong(_what_is_right(value, _visible(real)))
        if bool((value[~_visible(real)] != 0).any()):
            raise Wrong(
                "Hidden keys get weights that are tiny, and not 0: is a number such as −20 in the "
                "place of −∞? Whatever stands there leaks a little."
            )
    _check_nowhere(answer)
    _check_hard(answer)
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
            _explain(answer, _without_nan(result), probe)
        raise Wrong(
            "There is NaN in rows that do see a key: is −∞ multiplied by the mask? ∞ · 0 is NaN. "
            "Choose between score and −∞ instead of multiplying."
        ) from None


def _without_nan(result: Any) -> Tensor:
    return torch.as_tensor(result).detach().double().nan_to_num()


def _explain(answer: Answer, value: Tensor, probe: Probe) -> None:
    """Raise Wrong with the hint of a known mistake, if it is one."""
    explain(value, MISTAKES, *probe)
    if not same(value, _along_queries(*probe)):
        return
    # Behind a text, padding is in the future of all real queries: only in front of it can `real`
    # along the queries alone be told from `real` along both.
    q, k, real = _padded_in_front()
    try:
        in_front = _without_nan(answer(q, k, real))
    except (Wrong, TypeError, ValueError, RuntimeError):
        raise Wrong(_PADDING_GETS_ZEROS) from None
    alone = same(in_front, _along_queries(q, k, real))
    raise Wrong(_REAL_ALONG_QUERIES if alone else _PADDING_GETS_ZEROS)


def _what_is_right(value: Tensor, visible: Tensor) -> str:
    """The hint where no known mistake fits."""
    if bool((value[~visible].abs() < 1e-6).all()) and bool((value[visible] > 0).all()):
        return (
            "The right keys are hidden; the visible ones do not have the weights of "
            "softmax(q · k / √width). Look at the scores: the products, and their scale."
        )
    return (
        "The visible keys do not have the weights of a softmax over them alone. Print your mask "
        "for one sequence: row i is True up to column i, and never at padding."
    )


def _padded_in_front() -> Probe:
    """Padding in front: the first places see nothing; and a sequence that is all padding."""
    return _probe(5, torch.tensor([[False, False, True, True], [False] * 4, [True] * 4]), 4)


def _check_nowhere(answer: Answer) -> None:
    probe = _padded_in_front()
    empty = ~_visible(probe[2]).any(-1)
    try:
        value = tensor(answer(*probe), (3, 4, 4))
    except Wrong as wrong:
        if "NaN" not in str(wrong):
            raise
        raise Wrong(
            "Right where each query sees a key. With the padding in front, the first places see "
            "none, and get NaN, the softmax of nothing but −∞ (or 0/0): give them zeros."
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


_REAL_ALONG_QUERIES = (
    "In yours `real` stands along the queries: it hides rows, and padding in front of a text is "
    "still seen as a key. Which axis of [batch, query, key] should it follow?"
)
_PADDING_GETS_ZEROS = (
    "In yours no padding query has a weight on any key. Padding behind a text still sees the "
    "text's keys, and has its weights on them; only a query that sees no key gets zeros."
)
_EXP_FIRST = (
    "In yours `exp` comes before the mask, with no maximum taken away: e³⁰⁰, of a hidden key, is "
    "infinite, and ∞ · 0 is NaN. Hide before `exp`, and leave large scores to `softmax`."
)
# Scores of the last query, whose third key is padding, and what it says if they go wrong.
_HARD = (
    (
        [1.0, 2.0, 300.0, 1.5],
        "In yours a hidden key with a score of 300 still spoils the others' weights: beside it, "
        "the softmax gives them 0. Hide it before the softmax and before a maximum is taken.",
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


def _check_hard(answer: Answer) -> None:
    good = [_is_right_for(answer, torch.tensor(scores)) for scores, _ in _HARD]
    if not good[0] and not good[1]:
        raise Wrong(_EXP_FIRST)
    for fine, (_, hint) in zip(good, _HARD, strict=True):
        if not fine:
            raise Wrong(hint)


def _is_right_for(answer: Answer, scores: Tensor) -> bool:
    """Q and K of width 4 whose scores, scaled, are these for every query, to the last digit."""
    q, k = torch.zeros(1, 4, 4), torch.zeros(1, 4, 4)
    q[..., 0], k[..., 0] = 2.0, scores
    probe = q, k, torch.tensor([[True, True, False, True]])
    try:
        return same(tensor(answer(*probe), (1, 4, 4)), _right(*probe))
    except Wrong as wrong:
        if "NaN" not in str(wrong) and "nfinit" not in str(wrong):
            raise
        return False


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


def _along_queries(q: Tensor, k: Tensor, real: Tensor) -> Tensor:
    return _hide(_scaled(q, k), real[:, :, None] & _causal(real))


# Each takes (Q, K, real).
MISTAKES = (
    Mistake(
        "The scale is missing: divide the scores by √width.",
        lambda q, k, real: _hide(q @ k.mT, _visible(real)),
    ),
    Mistake(
        "In yours the scores are divided by the width; divide by its square root.",
        lambda q, k, real: _hide(q @ k.mT / q.shape[-1], _visible(real)),
    ),
    Mistake(
        "In yours the scores are divided by the square root of the time: `shape[1]` is the time, "
        "the width is the last axis.",
        lambda q, k, real: _hide(q @ k.mT / math.sqrt(q.shape[1]), _visible(real)),
    ),
    Mistake(
        "Queries and keys have changed places: the axes are [batch, query, key].",
        lambda q, k, real: _hide(_scaled(k, q), _visible(real)),
    ),
    Mistake(
        "In yours the future is hidden, the padding is not: `real` has to hide keys as well.",
        lambda q, k, real: _hide(_scaled(q, k), _causal(real)),
    ),
    Mistake(
        "In yours the padding is hidden, the future is not: query i may look at keys 0 to i.",
        lambda q, k, real: _hide(_scaled(q, k), real[:, None].expand(-1, real.shape[1], -1)),
    ),
    Mistake(
        "In yours a key is visible if it is real *or* not in the future: both must hold.",
        lambda q, k, real: _hide(_scaled(q, k), real[:, None] | _causal(real)),
    ),
    Mistake(
        "In yours each query is hidden from itself: it may see its own place, too.",
        lambda q, k, real: _hide(_scaled(q, k), real[:, None] & _causal(real).tril(-1)),
    ),
    Mistake(
        "In yours the triangle is the other one: a query sees what comes later.",
        lambda q, k, real: _hide(_scaled(q, k), real[:, None] & _causal(real).T),
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
        "In yours a place is hidden from the whole batch if one sequence has padding there: each "
        "sequence needs a mask of its own.",
        lambda q, k, real: _hide(_scaled(q, k), real.all(0) & _causal(real)),
    ),
    Mistake(
        "In yours the mask comes after the softmax: the weights that are left do not sum to 1, "
        "since hidden keys have taken their share.",
        lambda q, k, real: _scaled(q, k).softmax(-1) * _visible(real),
    ),
    Mistake(
        "In yours hidden scores are set to 0. A score of 0 is a score like any other: e⁰ = 1.",
        lambda q, k, real: (_scaled(q, k) * _visible(real)).softmax(-1),
    ),
    Mistake(
        "In yours the mask is added to the scores as 0 and 1: visible keys get a little more, and "
        "hidden ones are still seen.",
        lambda q, k, real: (_scaled(q, k) + _visible(real)).softmax(-1),
    ),
    Mistake(
        "In yours nothing is hidden.",
        lambda q, k, real: _scaled(q, k).softmax(-1),
    ),
    Mistake(
        "In yours the softmax runs over the queries: hide, then normalize each row, over the keys.",
        lambda q, k, real: _hide(_scaled(q, k), _visible(real), axis=-2),
    ),
    Mistake(
        "In yours hidden keys get 0, and the rest is not normalized: divide by the sum of the row.",
        lambda q, k, real: _scaled(q, k).exp() * _visible(real),
    ),
)
