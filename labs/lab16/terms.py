"""Relative distances, the two terms that use them, and attention with three terms."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lmcourse.labs.answer import Answer
from lmcourse.labs.kit import Call, Example, Function, Task, normal, one_value
from lmcourse.labs.results import Result, shown
from lmcourse.labs.verdict import Wrong


def distances(time: int, k: int) -> Tensor:
    i = torch.arange(time)[:, None]
    j = torch.arange(time)
    return (i - j + k).clamp(0, 2 * k - 1)


def _entry(arguments: Example, value: Result, wanted: Result) -> str:
    time, k = arguments
    (ours,), (right,) = value.parts, wanted.parts
    i, j = (ours != right).nonzero()[0].tolist()
    return (
        f"With time = {time} and k = {k}, δ({i}, {j}) is {ours[i, j]:.6g}; expected: "
        f"{right[i, j]:.0f}. The distance i − j is {i - j}."
    )


def _integers(returned: Any, *_: Any) -> Any:
    """What was returned, if it has integers."""
    try:
        kind = np.asarray(returned).dtype.kind
    except (TypeError, ValueError, RuntimeError):
        return returned  # the kit reports what it is
    if kind == "f":
        raise Wrong(
            "The result has floating-point numbers. δ is the index of a row, so it is an integer: "
            "give the tensor `dtype=torch.long`, or convert it at the end with `.long()`.",
            "type",
        )
    return returned


DISTANCES = Task(
    distances,
    result=_integers,
    examples=[(7, 2), (5, 3), (9, 4), (4, 6)],
    edge_cases={"for one token": (1, 3), "for k = 1": (4, 1), "for a long text": (200, 7)},
    slips="""
The sign is reversed: the distance is i − j, the row minus the column, and increases down the rows.
    i - j + k -> j - i + k
    or
    return (i - j + k).clamp(0, 2 * k - 1) -> return 2 * k - 1 - (i - j + k).clamp(0, 2 * k - 1)
The largest index is 2k − 1, as the 2k rows of the table are counted from 0.
    clamp(0, 2 * k - 1) -> clamp(0, 2 * k) || clamp(0, 2 * k + 1)
    or
    (i - j + k).clamp(0, 2 * k - 1) -> (i - j).clamp(-k, k) + k
Row 0 is never used. It is for the distance −k and all smaller ones: to the right, distances are
clipped at −k.
    clamp(0, 2 * k - 1) -> clamp(1, 2 * k - 1)
    or
    (i - j + k).clamp(0, 2 * k - 1) -> (i - j).clamp(-k + 1, k - 1) + k
The result is symmetric: before and after are different distances.
    i - j + k -> (i - j).abs() + k || (i - j).abs()
    or
    (i - j + k).clamp(0, 2 * k - 1) -> (i - j).abs().clamp(max=k - 1) ||
        (i - j).abs().clamp(max=k) || (i - j).abs().clamp(max=2 * k - 1) ||
        (i - j).abs().clamp(max=k) + k || (i - j).abs().clamp(max=k - 1) + k
The distances are clipped before they are shifted by k, but to the range of the shifted ones.
    (i - j + k).clamp(0, 2 * k - 1) -> (i - j).clamp(0, 2 * k - 1) + k ||
        (i - j).clamp(0, k - 1) + k || (i - j).clamp(0, k) + k
The distances are not shifted by k: a row index is not negative, and 0 is for the distances −k and
less.
    i - j + k -> i - j
    or
    (i - j + k).clamp(0, 2 * k - 1) -> (i - j).clamp(-k, k - 1) || (i - j).clamp(-k, k)
The table has 2k rows, k for each direction; this uses another number.
    clamp(0, 2 * k - 1) -> clamp(0, k - 1) || clamp(0, k)
    or
    (i - j + k).clamp(0, 2 * k - 1) -> (i - j + k // 2).clamp(0, k - 1)
Not all distances are clipped: 0 is the smallest index, 2k − 1 the largest.
    .clamp(0, 2 * k - 1) -> * 1 || .clamp(min=0) || .clamp(max=2 * k - 1)
Distances beyond k return from the other end: a remainder is not clipping.
    .clamp(0, 2 * k - 1) -> % (2 * k) || .abs().clamp(0, 2 * k - 1)
The distance 0 is in another row: δ(i, i) is k, and rows are counted from 0.
    (i - j + k).clamp(0, 2 * k - 1) -> (i - j + k + 1).clamp(1, 2 * k) ||
        (i - j + k).clamp(0, 2 * k - 1) + 1 || (i - j + k + 1).clamp(0, 2 * k - 1)
    or
    i - j + k -> i - j + k - 1
    or
    (i - j + k).clamp(0, 2 * k - 1) -> (i - j + 2 * k).clamp(0, 2 * k - 1)
Distances beyond k share the rows 0 and 2k − 1 with nearer ones. Here, they have another value, or
the two ends are exchanged.
    (i - j + k).clamp(0, 2 * k - 1) -> torch.where((i - j).abs() < k, i - j + k, 0) ||
        torch.where((i - j).abs() < k, i - j + k, k) ||
        torch.where((i - j).abs() < k, i - j + k, 2 * k - 1) ||
        torch.where(i - j <= -k, 2 * k - 1, torch.where(i - j >= k, 0, i - j + k)) ||
        torch.where((i - j).abs() < k, i - j + k, -1)
One vector of distances is not the matrix of all pairs: its shape is [time, time].
    i = torch.arange(time)[:, None] -> i = torch.arange(time)
    or
    j = torch.arange(time) -> j = 0
""",
    cause=_entry,
    note="The distances k − 1 and all larger ones share the last row, −k and all smaller ones the "
    "first. So all tokens farther away on one side have the same relative position.",
)


class _Largest(TorchDispatchMode):
    """The number of entries of the largest tensor that is stored while the mode is active."""

    numbers = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for each in tree_leaves(made):
            if isinstance(each, Tensor) and each.layout == torch.strided:
                stored = each.untyped_storage().nbytes() // each.element_size()
                self.numbers = max(self.numbers, stored)
        return made


_LARGEST = _Largest()


class _Scores(Task):
    """A task in which the largest tensor of a call is recorded."""

    def _call(self, answer: Answer, example: Example) -> Call:
        _LARGEST.numbers = 0
        with _LARGEST:
            return super()._call(answer, example)

    def _values(self, function: Function, example: Example) -> Any:
        _LARGEST.numbers = 0
        with _LARGEST:
            return super()._values(function, example)


def _with_largest(returned: Any, Q: Tensor, *_: Any) -> Any:
    """The two terms, and 1 if a tensor with time × time × d entries was made."""
    time, width = Q.shape
    large = float(time > 1 and _LARGEST.numbers >= time * time * width)
    both = isinstance(returned, (tuple, list)) or getattr(returned, "ndim", 0) == 3
    if not both or len(returned) != 2:
        raise Wrong("Return two matrices, with a comma between them: c2p, p2c.", "type")
    return returned[0], returned[1], large


def scores(
    Q: Tensor, K: Tensor, Qr: Tensor, Kr: Tensor, as_in_paper: bool
) -> tuple[Tensor, Tensor]:
    time, k = len(Q), len(Kr) // 2
    i, j = torch.arange(time)[:, None], torch.arange(time)
    delta = (i - j + k).clamp(0, 2 * k - 1)
    c2p = (Q @ Kr.T).gather(1, delta)
    pairs = delta if as_in_paper else (j - i + k).clamp(0, 2 * k - 1)
    p2c = (K @ Qr.T).gather(1, pairs).T
    return c2p, p2c


def _head(seed: int, time: int, k: int, width: int, as_in_paper: bool) -> Example:
    Q, K = normal(2, time, width, seed=(seed, "content"))
    Qr, Kr = normal(2, 2 * k, width, seed=(seed, "position"))
    return Q, K, Qr, Kr, as_in_paper


def _pair(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip for one value, or the first pair of tokens that differs."""
    found = one_value(SCORES, arguments, value, wanted)
    if found:
        return found
    Q, _, _, Kr, as_in_paper = arguments
    parts = zip(("c2p", "p2c"), value.parts, wanted.parts, strict=False)
    for name, ours, right in parts:
        bad = ~torch.isclose(ours, right, atol=1e-6) if ours.shape == right.shape else None
        if bad is not None and bool(bad.any()):
            i, j = bad.nonzero()[0].tolist()
            return (
                f"With {len(Q)} tokens, k = {len(Kr) // 2} and as_in_paper = {as_in_paper}, "
                f"{name}[{i}, {j}] is {ours[i, j]:.4g}; expected: {right[i, j]:.4g}."
            )
    return ""


SCORES: Task = _Scores(
    scores,
    examples=[
        *(_head(0, 7, 2, 9, True), _head(1, 6, 3, 11, False)),
        *(_head(2, 9, 4, 13, False), _head(3, 5, 2, 8, True)),
    ],
    edge_cases={
        "if nothing is clipped": _head(4, 4, 8, 40, False),
        "for one token": _head(5, 1, 3, 10, True),
        "for k = 1": _head(6, 5, 1, 6, False),
        "for a long text": _head(7, 120, 5, 24, True),
    },
    slips="""
This makes a tensor of time × time × d entries: a vector for each pair of tokens. Compute the
products with the 2k rows first, [time, 2k], and gather each pair's *entry* from them.
    (Q @ Kr.T).gather(1, delta) -> (Q[:, None] * Kr[delta]).sum(-1)
    or
    (K @ Qr.T).gather(1, pairs).T -> (K[:, None] * Qr[pairs]).sum(-1).T
    or
    (Q @ Kr.T).gather(1, delta) -> (Q[:, None] * Kr[delta]).sum(-1)
    (K @ Qr.T).gather(1, pairs).T -> (K[:, None] * Qr[pairs]).sum(-1).T
The third term has δ(j, i) for `as_in_paper`, and δ(i, j) otherwise; here it is the reverse.
    delta if as_in_paper else (j - i + k).clamp(0, 2 * k - 1) ->
        (j - i + k).clamp(0, 2 * k - 1) if as_in_paper else delta
The mirror image of row n is 2k − n, not 2k − 1 − n, and clipped distances have none: k − 1 and k
share a row, and 1 − k and −k do not. Compute δ(j, i) from the distances.
    delta if as_in_paper else (j - i + k).clamp(0, 2 * k - 1) ->
        delta if as_in_paper else 2 * k - 1 - delta
    or
    delta if as_in_paper else (j - i + k).clamp(0, 2 * k - 1) ->
        2 * k - 1 - delta.T if as_in_paper else delta.T
    or
    delta if as_in_paper else (j - i + k).clamp(0, 2 * k - 1) ->
        delta if as_in_paper else (2 * k - delta).clamp(max=2 * k - 1)
    or
    delta if as_in_paper else (j - i + k).clamp(0, 2 * k - 1) ->
        (2 * k - delta.T).clamp(max=2 * k - 1) if as_in_paper else delta.T
`as_in_paper` has no effect: this is the same convention in both cases. It is δ(j, i), equation 4's,
if `as_in_paper` is True, and δ(i, j), the published code's, otherwise.
    delta if as_in_paper else (j - i + k).clamp(0, 2 * k - 1) -> (j - i + k).clamp(0, 2 * k - 1)
    or
    delta if as_in_paper else (j - i + k).clamp(0, 2 * k - 1) -> delta
A transpose is missing or too much: `c2p[i, j]` and `p2c[i, j]` are both for query i and key j. A
product with K has one row for each *key*.
    (K @ Qr.T).gather(1, pairs).T -> (K @ Qr.T).gather(1, pairs)
    or
    (Q @ Kr.T).gather(1, delta) -> (Q @ Kr.T).gather(1, delta).T
    or
    (K @ Qr.T).gather(1, pairs).T -> (K @ Qr.T).gather(1, pairs)
    (Q @ Kr.T).gather(1, delta) -> (Q @ Kr.T).gather(1, delta).T
    or
    (K @ Qr.T).gather(1, pairs).T -> (K @ Qr.T).gather(1, pairs.T)
The tables or the contents are exchanged: c2p is from queries Q and position keys Kʳ, p2c from keys
K and position queries Qʳ.
    Q @ Kr.T -> Q @ Qr.T
    K @ Qr.T -> K @ Kr.T
    or
    Q @ Kr.T -> Q @ Qr.T
    or
    K @ Qr.T -> K @ Kr.T
    or
    c2p = (Q @ Kr.T) -> c2p = (K @ Kr.T)
    p2c = (K @ Qr.T) -> p2c = (Q @ Qr.T)
    or
    Q @ Kr.T -> K @ Kr.T
    or
    K @ Qr.T -> Q @ Qr.T
    or
    (K @ Qr.T).gather(1, pairs).T -> (Q @ Qr.T).gather(1, pairs) || (Q @ Qr.T).gather(1, pairs.T)
    or
    c2p = (Q @ Kr.T) -> c2p = (K @ Qr.T)
    p2c = (K @ Qr.T) -> p2c = (Q @ Kr.T)
Content to content, Q Kᵀ, is added. It is a term of its own, and is no part of c2p or p2c.
    return c2p, p2c -> return c2p + Q @ K.T, p2c || return c2p, p2c + Q @ K.T ||
        return c2p + Q @ K.T, p2c + Q @ K.T
The terms are in the wrong order, or their sum is in both: return c2p, then p2c.
    return c2p, p2c -> return p2c, c2p
    or
    return c2p, p2c -> return c2p + p2c, c2p + p2c
Content → position uses δ(j, i); it is δ(i, j) in the paper and in the code.
    (Q @ Kr.T).gather(1, delta) -> (Q @ Kr.T).gather(1, delta.T)
    or
    (Q @ Kr.T).gather(1, delta) -> (Q @ Kr.T).gather(1, (j - i + k).clamp(0, 2 * k - 1))
The gather is along the wrong axis: along axis 1, entry [i, j] is `products[i, index[i, j]]`.
    (Q @ Kr.T).gather(1, delta) -> (Q @ Kr.T).T.gather(0, delta)
    (K @ Qr.T).gather(1, pairs).T -> (K @ Qr.T).T.gather(0, pairs)
    or
    (Q @ Kr.T).gather(1, delta) -> (Q @ Kr.T).T.gather(0, delta)
    or
    (Q @ Kr.T).gather(1, delta) -> (Q @ Kr.T).gather(0, delta)
    or
    (Q @ Kr.T).gather(1, delta) -> (Q @ Kr.T).gather(0, delta.clamp(max=time - 1))
    or
    (K @ Qr.T).gather(1, pairs).T -> (K @ Qr.T).gather(0, pairs.clamp(max=time - 1)).T
The distances are other ones than δ: shifted by k and clipped to 0 … 2k − 1, k being half the number
of rows.
    delta = (i - j + k).clamp(0, 2 * k - 1) -> delta = (i - j).clamp(-k, k - 1)
    (j - i + k).clamp(0, 2 * k - 1) -> (j - i).clamp(-k, k - 1)
    or
    delta = (i - j + k).clamp(0, 2 * k - 1) -> delta = (i - j + k) % (2 * k)
    (j - i + k).clamp(0, 2 * k - 1) -> (j - i + k) % (2 * k)
    or
    delta = (i - j + k).clamp(0, 2 * k - 1) -> delta = (i - j + k).clamp(0, 2 * k)
    (j - i + k).clamp(0, 2 * k - 1) -> (j - i + k).clamp(0, 2 * k)
    or
    delta = (i - j + k).clamp(0, 2 * k - 1) -> delta = (i - j).abs().clamp(0, 2 * k - 1)
    (j - i + k).clamp(0, 2 * k - 1) -> (j - i).abs().clamp(0, 2 * k - 1)
    or
    delta = (i - j + k).clamp(0, 2 * k - 1) -> delta = i - j + k
    (j - i + k).clamp(0, 2 * k - 1) -> j - i + k
    or
    time, k = len(Q), len(Kr) // 2 -> time, k = len(Q), len(Kr) || time, k = len(Q),
        len(Kr) // 2 - 1
    or
    delta = (i - j + k).clamp(0, 2 * k - 1) -> delta = (i - j + k - 1).clamp(0, 2 * k - 1)
    (j - i + k).clamp(0, 2 * k - 1) -> (j - i + k - 1).clamp(0, 2 * k - 1)
The terms are scaled. The division by √(3d) comes later, after the sum.
    return c2p, p2c -> d = Q.shape[1]; return c2p / d**0.5, p2c / d**0.5
    or
    return c2p, p2c -> d = Q.shape[1]; return c2p / (3 * d) ** 0.5, p2c / (3 * d) ** 0.5
    or
    return c2p, p2c -> return c2p.softmax(-1), p2c.softmax(-1)
""",
    result=_with_largest,
    names=("c2p", "p2c", "A tensor of time × time × d entries (1: it is made)"),
    cause=_pair,
    note="The products need time × 2k entries; a vector for each pair of tokens would need "
    "time × time × d. With 2k = d, that is a factor as large as the number of tokens.",
)


def disentangled_attention(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    c2p: Tensor | None,
    p2c: Tensor | None,
    visible: Tensor,
) -> tuple[Tensor, Tensor]:
    width = Q.shape[-1]
    added = [term for term in (c2p, p2c) if term is not None]
    total = Q @ K.mT
    for term in added:
        total = total + term
    mask = visible[:, None, None]
    scaled = total / ((1 + len(added)) * width) ** 0.5
    weights = scaled.masked_fill(~mask, -math.inf).softmax(-1)
    return weights @ V, weights


def _batch(
    seed: int, batch: int, heads: int, time: int, width: int, values: int, terms: str
) -> Example:
    """A batch whose sequences end in padding, the first in most."""
    Q, K = normal(2, batch, heads, time, width, seed=(seed, "QK"))
    V = normal(batch, heads, time, values, seed=(seed, "V"))
    both = 2 * normal(2, batch, heads, time, time, seed=(seed, "terms"))
    c2p, p2c = (each if n in terms else None for n, each in zip("cp", both, strict=True))
    lengths = torch.tensor([max(1, time - 2 + n) for n in range(batch)])
    return Q, K, V, c2p, p2c, torch.arange(time) < lengths[:, None]


def _loud() -> Example:
    """Visible scores far below 0, and hidden ones far above."""
    Q, K, V, c2p, p2c, visible = _batch(9, 2, 2, 5, 4, 3, "cp")
    assert c2p is not None
    c2p = c2p + 1e6 * (1 - 2 * visible.double())[:, None, None]
    return Q, 500 * K, V, c2p, p2c, visible


def _row(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip for one value, or the first row of weights that differs."""
    found = one_value(ATTENTION, arguments, value, wanted)
    parts = zip(("output", "weights"), value.parts, wanted.parts, strict=True)
    for name, ours, right in [] if found else [*parts][::-1]:
        bad = ~torch.isclose(ours, right, atol=1e-6).all(-1) if ours.shape == right.shape else None
        if bad is not None and bool(bad.any()):
            b, h, i = bad.nonzero()[0].tolist()
            used = [n for n, it in zip(("c2p", "p2c"), arguments[3:5], strict=True) if it is None]
            without = f" ({' and '.join(used)}: None)" if used else ""
            return (
                f"Sequence {b}, head {h}, query {i}{without}: {name} {shown(ours[b, h, i])}; "
                f"expected: {shown(right[b, h, i])}. Visible: "
                f"{shown(arguments[5][b].nonzero().flatten())}."
            )
    return found


ATTENTION: Task = Task(
    disentangled_attention,
    examples=[
        *(_batch(0, 2, 3, 6, 4, 3, "cp"), _batch(1, 3, 2, 5, 6, 4, "c")),
        *(_batch(2, 3, 2, 7, 5, 5, "p"), _batch(3, 1, 4, 5, 3, 6, "cp")),
    ],
    edge_cases={
        "without the terms c2p and p2c": _batch(4, 2, 2, 6, 4, 3, ""),
        "for one token": _batch(5, 1, 2, 1, 3, 2, "cp"),
        "with large scores": _loud(),
    },
    slips="""
The scale is another one. It is the square root of the number of terms that are used times d, the
width of a query in one head (the last axis of Q): √(3d) with all three, √(2d) with two.
    ((1 + len(added)) * width) ** 0.5 -> width**0.5 || (3 * width) ** 0.5 || (2 * width) ** 0.5 ||
        (len(added) * width) ** 0.5 || (4 * width) ** 0.5 || ((2 + len(added)) * width) ** 0.5
    or
    ((1 + len(added)) * width) ** 0.5 -> ((1 + len(added)) * width) ||
        ((1 + len(added)) * width**0.5) || ((1 + len(added)) ** 0.5 * width) || 1 ||
        (1 + len(added)) || (3 * width) || (3 * width**0.5)
    or
    total / ((1 + len(added)) * width) ** 0.5 -> total * ((1 + len(added)) * width) ** 0.5
    or
    width = Q.shape[-1] -> width = V.shape[-1] || width = Q.shape[1] * Q.shape[-1] || width =
        Q.shape[2] || width = Q.shape[1]
Only content to content is divided by the scale. The sum of all terms is.
    total = Q @ K.mT -> total = Q @ K.mT / ((1 + len(added)) * width) ** 0.5
    scaled = total / ((1 + len(added)) * width) ** 0.5 -> scaled = total
    or
    total = Q @ K.mT -> total = Q @ K.mT / width**0.5
    scaled = total / ((1 + len(added)) * width) ** 0.5 -> scaled = total
A term is missing, subtracted, or used twice: the score is the sum of content to content, c2p and
p2c.
    for term in added -> for term in added[:1]
    or
    for term in added -> for term in added[1:]
    or
    for term in added -> for term in []
    or
    total = total + term -> total = total - term
    or
    total = Q @ K.mT -> total = torch.zeros_like(Q @ K.mT)
    or
    total = total + term -> total = total + 2 * term
A term is transposed: row i of c2p and of p2c belongs to query i already. For scores, Q is on the
left.
    total = total + term -> total = total + term.mT
    or
    total = total + term -> total = total + (term.mT if term is p2c else term)
    or
    total = total + term -> total = total + (term.mT if term is c2p else term)
    or
    Q @ K.mT -> K @ Q.mT
The softmax is computed before the mask, so hidden keys take weight from the visible ones.
    scaled.masked_fill(~mask, -math.inf).softmax(-1) -> scaled.softmax(-1) * mask
A row is 0/0 or ∞/∞: a hidden score may be far above all visible ones, and exponentials of large
scores overflow. Hide scores first, then take the softmax, which subtracts each row's largest one.
    weights = scaled.masked_fill(~mask, -math.inf).softmax(-1) -> weights = scaled.softmax(-1) *
        mask; weights = weights / weights.sum(-1, keepdim=True)
    or
    weights = scaled.masked_fill(~mask, -math.inf).softmax(-1) -> weights = scaled.exp() * mask;
        weights = weights / weights.sum(-1, keepdim=True)
    or
    weights = scaled.masked_fill(~mask, -math.inf).softmax(-1) -> weights = (scaled -
        scaled.amax(-1, keepdim=True)).exp() * mask; weights = weights / weights.sum(-1,
        keepdim=True)
    or
    weights = scaled.masked_fill(~mask, -math.inf).softmax(-1) -> weights = scaled.exp() * mask;
        weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)
    or
    weights = scaled.masked_fill(~mask, -math.inf).softmax(-1) -> weights = scaled.exp() * mask;
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-9)
Hidden keys have weight. Their scores become −∞, not 0 or a negative number that scores can reach.
    masked_fill(~mask, -math.inf) -> masked_fill(~mask, 0.0) || masked_fill(~mask, -1.0) ||
        masked_fill(~mask, -10.0) || masked_fill(~mask, -100.0) ||
        masked_fill(~mask, -1000.0) ||
        masked_fill(~mask, -1e4) || masked_fill(~mask, -65504.0)
    or
    scaled.masked_fill(~mask, -math.inf).softmax(-1) -> scaled.softmax(-1) || (scaled * mask
        ).softmax(-1) || (scaled + mask).softmax(-1)
    or
    scaled.masked_fill(~mask, -math.inf) -> (scaled + (mask.double() - 1) * 1e4) ||
        (scaled + (mask.double() - 1) * 1000)
Padded queries are masked too. The mask is for keys only: a padded query has weights like any other,
and no visible token reads its output.
    visible[:, None, None] -> (visible[:, None] & visible[:, :, None])[:, None]
    or
    visible[:, None, None] -> (visible[:, None] & visible[:, :, None])[:, None]
    softmax(-1) -> softmax(-1).nan_to_num(0.0)
    or
    visible[:, None, None] -> (visible[:, None] & visible[:, :, None])[:, None]
    masked_fill(~mask, -math.inf) -> masked_fill(~mask, torch.finfo(scaled.dtype).min)
    or
    return weights @ V, weights -> weights = weights * visible[:, None, :, None]; return weights @
        V, weights
    or
    return weights @ V, weights -> return (weights @ V) * visible[:, None, :, None], weights
The mask is inverted, or masks queries in place of keys, or is aligned with the wrong axis: it has
one row for each sequence.
    masked_fill(~mask, -math.inf) -> masked_fill(mask, -math.inf)
    or
    visible[:, None, None] -> visible[:, None, :, None]
    or
    visible[:, None, None] -> visible || visible[None, None] || visible[:, None] ||
        visible[None, :, None]
This is softmax(A V). Attention is softmax(A) V: the softmax makes weights of the scores, and the
weights average the values.
    return weights @ V, weights -> return (scaled.masked_fill(~mask, 0.0) @ V).softmax(-1), weights
    or
    return weights @ V, weights -> return (scaled @ V).softmax(-1), weights
    or
    return weights @ V, weights -> return (weights @ V).softmax(-1), weights
The softmax is over another axis than that of the keys, the last one, or its weights are transposed.
    .softmax(-1) -> .softmax(-2).nan_to_num(0.0) || .softmax(1).nan_to_num(0.0) ||
        .softmax(0).nan_to_num(0.0) || .softmax(-2) || .softmax(1) || .softmax(0)
    or
    return weights @ V -> return weights.mT @ V
    or
    return weights @ V, weights -> return weights @ V, weights.mT
The second value is not the weights after the softmax, or the values are in the wrong order: return
the outputs, then the weights.
    return weights @ V, weights -> return weights, weights @ V
    or
    return weights @ V, weights -> return weights @ V, scaled
    or
    return weights @ V, weights -> return weights @ V, total
    or
    return weights @ V, weights -> return weights @ V, scaled.softmax(-1)
""",
    names=("The outputs", "The weights"),
    cause=_row,
    note="If the terms are independent with equal variance, their sum has three times the variance "
    "of one, and √(3d) brings it back to 1.",
)
