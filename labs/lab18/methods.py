"""Three methods by hand: pruning, quantization, low rank."""

from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal, one_value
from lmcourse.labs.results import Result, read, shown, with_article
from lmcourse.labs.verdict import Wrong


def prune_masks(weights: list[Tensor], sparsity: float, scope: str) -> list[Tensor]:
    flat = [w.flatten() for w in weights]
    groups = flat if scope == "layer" else [torch.cat(flat)]
    masks = []
    for group in groups:
        size = group.abs()
        count = round(sparsity * len(group))
        mask = torch.ones(len(group))
        mask[size.argsort(stable=True)[:count]] = 0
        masks.append(mask)
    parts = torch.cat(masks).split([w.numel() for w in weights])
    return [part.view_as(w) for part, w in zip(parts, weights, strict=True)]


def _numbers(mask: Any) -> Any:
    """Booleans of any kind as numbers."""
    with suppress(Exception):  # what cannot be an array is read, and refused, as any result is
        array = np.asarray(mask.detach().cpu() if isinstance(mask, Tensor) else mask)
        if array.dtype == bool:
            return torch.tensor(array, dtype=torch.float64)
    return mask


def _kept(returned: Any, weights: list[Tensor], sparsity: float, scope: str) -> tuple[Any, ...]:
    """The number of pruned weights, and the kept magnitudes: equal weights may be exchanged."""
    if not isinstance(returned, (list, tuple)) or len(returned) != len(weights):
        what = f"{len(returned)}" if isinstance(returned, (list, tuple)) else with_article(returned)
        raise Wrong(
            f"Return a list of {len(weights)} masks, one for each matrix, not {what}.", "type"
        )
    zeros, kept = [], []
    for number, (mask, w) in enumerate(zip(returned, weights, strict=True)):
        (found,) = read(_numbers(mask), [0.0]).parts
        if found.shape != w.shape:
            raise Wrong(
                f"Mask {number} has the shape {list(found.shape)}; its matrix: {list(w.shape)}.",
                "shape",
            )
        if not bool(((found == 0) | (found == 1)).all()):
            raise Wrong("A mask contains 0 and 1 only. Are these the pruned weights themselves?")
        zeros.append((found == 0).sum().double())
        kept.append((found * w.abs()).flatten())
    if scope == "layer":
        return torch.stack(zeros), torch.cat([each.sort().values for each in kept])
    return torch.stack(zeros).sum(), torch.cat(kept).sort().values


def _weights(seed: int, sparsity: float, scope: str, *shapes: tuple[int, int]) -> Example:
    """Matrices of different scales."""
    matrices = [
        (0.4 + layer) * normal(*shape, seed=(seed, layer)) for layer, shape in enumerate(shapes)
    ]
    return matrices, sparsity, scope


def _ties(scope: str, sparsity: float) -> Example:
    """Many equal magnitudes, with both signs, and zeros."""
    steps = [(2 * normal(*shape, seed=shape)).round() / 2 for shape in ((4, 5), (3, 3))]
    return steps, sparsity, scope


def _count(arguments: Example, value: Result, wanted: Result) -> str:
    """The numbers of pruned weights, where they are wrong."""
    if torch.equal(value.parts[0], wanted.parts[0]):
        return ""
    weights, sparsity, scope = arguments
    total = [w.numel() for w in weights] if scope == "layer" else sum(w.numel() for w in weights)
    return (
        f"For the scope `{scope!r}` and a sparsity of {sparsity:g}, you prune "
        f"{shown(value.parts[0])} of {total} weights; expected: {shown(wanted.parts[0])}."
    )


PRUNE: Task = Task(
    prune_masks,
    examples=[
        _weights(0, 0.6, "layer", (3, 4), (2, 7)),  # 7.2 and 8.4
        _weights(1, 0.6, "global", (3, 4), (2, 7)),  # 15.6
        _weights(2, 0.3, "layer", (4, 4), (3, 3), (2, 2)),  # 4.8, 2.7, 1.2
        _weights(3, 0.8, "global", (5, 3), (2, 4), (3, 3)),  # 25.6
    ],
    edge_cases={
        "where magnitudes are equal": _ties("layer", 0.4),
        "where magnitudes of several matrices are equal": _ties("global", 0.3),
        "where all magnitudes are equal": ([torch.full((3, 4), -0.5).double()], 0.25, "layer"),
        "for a sparsity of 0": _weights(4, 0.0, "layer", (2, 3), (3, 2)),
    },
    result=_kept,
    names=("The number of pruned weights", "The kept magnitudes, sorted, 0 where pruned"),
    slips="""
The smallest *values* are pruned, so large negative weights go first. Compare magnitudes.
    group.abs() -> group
The largest weights are pruned.
    .argsort(stable=True) -> .argsort(stable=True, descending=True)
    mask = torch.ones(len(group)) -> mask = torch.ones(len(group))
The mask is inverted: it is 0 where a weight is pruned, and 1 where it is kept.
    torch.ones(len(group)) -> torch.zeros(len(group))
    [:count]] = 0 -> [:count]] = 1
All weights that equal the threshold are pruned, or none of them. Only some of them may be needed.
    mask[size.argsort(stable=True)[:count]] = 0 ->
        mask[size <= size.sort().values[max(count - 1, 0)]] = 0 ||
        mask[size <= (size.kthvalue(count).values if count else -1)] = 0 ||
        mask[size < size.sort().values[count]] = 0 ||
        mask[torch.isin(size, size.unique()[: len(size.unique()) * count // len(size)])] = 0
One weight too few is pruned: the one that is the threshold itself is among the smallest.
    mask[size.argsort(stable=True)[:count]] = 0 ->
        mask[size < size.sort().values[max(count - 1, 0)]] = 0 ||
        mask[size.argsort()[: max(count - 1, 0)]] = 0
The number of pruned weights is cut off or rounded up. Round it to the nearest integer.
    round(sparsity * len(group)) -> int(sparsity * len(group)) ||
        -int(-sparsity * len(group) // 1)
A quantile interpolates between two weights, so the number of weights below it is not exact.
    mask[size.argsort(stable=True)[:count]] = 0 -> mask[size < size.quantile(sparsity)] = 0 ||
        mask[size <= size.quantile(sparsity)] = 0
The same share of each matrix is pruned in both scopes. With `"global"`, all matrices compete.
    flat if scope == "layer" else [torch.cat(flat)] -> flat
All matrices compete in both scopes. With `"layer"`, each matrix loses its own smallest weights.
    flat if scope == "layer" else [torch.cat(flat)] -> [torch.cat(flat)]
The two scopes are exchanged.
    flat if scope == "layer" -> flat if scope != "layer"
This many weights are *kept*. The sparsity is the share of pruned weights.
    round(sparsity * -> round((1 - sparsity) *
The threshold is a share of the largest or mean magnitude. The sparsity is a share of the *number*.
    mask[size.argsort(stable=True)[:count]] = 0 -> mask[size < sparsity * size.max()] = 0 ||
        mask[size < sparsity * size.mean()] = 0 || mask[size < sparsity] = 0 ||
        mask[size < sparsity * group.std()] = 0
""",
    cause=_count,
    note="A pruned matrix has its old shape: each zero takes four bytes and one multiplication, as "
    "any other number does.",
)


def int8_linear(x: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, ...]:
    def quantize(rows: Tensor) -> tuple[Tensor, Tensor]:
        largest = rows.abs().amax(1)
        scale = largest / 127
        scale = torch.where(scale > 0, scale, 1.0)
        return (rows / scale[:, None]).round().clamp(-127, 127), scale

    q_x, s_x = quantize(x)
    q, s = quantize(weight)
    products = q_x @ q.T
    y = products * s_x[:, None] * s + bias
    return q, s, products, y


def _parts(returned: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Any:
    """The scale of a row of zeros may be any finite number."""
    if not isinstance(returned, (list, tuple)) or len(returned) != 4:
        return returned
    q, s, products, y = map(_tensor, returned)
    q, products = (each.double() if isinstance(each, Tensor) else each for each in (q, products))
    if isinstance(s, Tensor) and s.numel() == len(weight):
        free = (weight == 0).all(1) & s.flatten().isfinite()
        s = torch.where(free, 1.0, s.flatten().double())
    return q, s, products, y


def _tensor(value: Any) -> Any:
    """What a list or an array of numbers holds; anything else as it is."""
    try:
        return torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        return value


def _layer(seed: int, tokens: int, outputs: int, inputs: int, zero: str = "") -> Example:
    x = normal(tokens, inputs, seed=(seed, "x")) * normal(tokens, 1, seed=seed).exp()
    weight = 0.2 * normal(outputs, inputs, seed=(seed, "w"))
    weight = weight * (1.5 * normal(outputs, 1, seed=(seed, "s"))).exp()
    x[0] *= zero != "x"
    weight[1] *= zero != "w"
    return x, weight, normal(outputs, seed=(seed, "b"))


INT8: Task = Task(
    int8_linear,
    examples=[_layer(0, 3, 4, 6), _layer(1, 5, 3, 40), _layer(2, 2, 6, 12)],
    edge_cases={
        "where a row of the weight is 0": _layer(3, 3, 4, 5, "w"),
        "where an input is 0": _layer(4, 3, 4, 5, "x"),
    },
    result=_parts,
    names=("The integers of the weight", "The scales of the weight", "The products", "y"),
    slips="""
Fractions are cut off. Round to the nearest integer.
    .round().clamp -> .trunc().clamp || .floor().clamp || .ceil().clamp
All rows share one scale. A row of small weights then has few different integers.
    rows.abs().amax(1) -> rows.abs().max().expand(len(rows))
    or
    quantize(weight) -> (lambda p: (p[0].reshape(weight.shape), p[1].expand(len(weight))))(
        quantize(weight.reshape(1, -1)))
The inputs share one scale. Here each token, a row of x, has its own.
    quantize(x) -> (lambda p: (p[0].reshape(x.shape), p[1].expand(len(x))))(
        quantize(x.reshape(1, -1)))
The scale is of another range: the largest magnitude of a row becomes 127.
    largest / 127 -> largest / 128 || largest / 127.5 || largest / 255 || largest / 256 ||
        2 * largest / 255 || largest / 126 || largest / 63
The largest value is taken with its sign. A row may have its largest magnitude below 0.
    rows.abs().amax(1) -> rows.amax(1) || rows.amax(1).abs() || rows.abs().max(1).values * 0 +
        rows.max(1).values
The range is that from the smallest to the largest value, which needs a zero point. This one is
symmetric about 0.
    largest / 127 -> (rows.amax(1) - rows.amin(1)) / 255 || (rows.amax(1) - rows.amin(1)) / 254
The product overflows: a sum of products of two 8-bit integers needs more than 8, or 16, bits.
    q_x @ q.T -> (q_x.to(torch.int8) @ q.to(torch.int8).T).double() ||
        (q_x @ q.T).to(torch.int64).to(torch.int8).double() ||
        (q_x @ q.T).clamp(-128, 127) || (q_x @ q.T).to(torch.int64).to(torch.int16).double()
The products are rescaled by one of the two scales only, or not at all.
    products * s_x[:, None] * s + bias -> products * s_x[:, None] + bias || products * s + bias ||
        products + bias
The products are divided by the scales. The integers were divided, so their product is multiplied.
    products * s_x[:, None] * s + bias -> products / s_x[:, None] / s + bias ||
        products / (s_x[:, None] * s) + bias
The bias is missing, or it is rescaled as well. It is a real number, added at the end.
    products * s_x[:, None] * s + bias -> products * s_x[:, None] * s ||
        (products + bias) * s_x[:, None] * s || products * s_x[:, None] * s - bias
These are real-valued products. The multiplication is of integers, and the scales follow at the end.
    products = q_x @ q.T -> products = x @ q.T || products = x @ weight.T ||
        products = (q_x * s_x[:, None]) @ (q * s[:, None]).T || products = q_x @ weight.T
    y = products * s_x[:, None] * s + bias -> y = (q_x * s_x[:, None]) @ (q * s[:, None]).T
        + bias || y = x @ weight.T + bias || y = products + bias || y = products * s + bias
A row of zeros divides 0 by 0. Its integers are 0, and any finite scale is right for it.
    torch.where(scale > 0, scale, 1.0) -> scale
""",
    cause=lambda *call: one_value(INT8, *call),
    note="The sums are exact: a sum of n products is below 127² n, and int32 holds it up to "
    "n = 133,000. All error comes from rounding the two factors.",
)


def low_rank(W: Tensor, budget: int) -> tuple[list[Tensor], Any]:
    m, n = W.shape
    if 4 * m * n <= budget:
        return [W], 0.0
    r = budget // (4 * (m + n))
    U, S, Vh = torch.linalg.svd(W, full_matrices=False)
    left, right = U[:, :r] * S[:r], Vh[:r]
    error = S[r:].square().sum() / S.square().sum()
    return [left, right], error


def _product(returned: Any, W: Tensor, budget: int) -> tuple[Any, ...]:
    """What does not depend on how the singular values are divided between the factors."""
    if not isinstance(returned, (list, tuple)) or len(returned) != 2:
        raise Wrong("Return a list of factors, and the error: two values.", "type")
    factors, error = returned
    if not isinstance(factors, (list, tuple)) or len(factors) not in (1, 2):
        sized = isinstance(factors, (list, tuple))
        what = f"a list of {len(factors)}" if sized else with_article(factors)
        raise Wrong(
            f"The first value is {what}. Return a list of one or two matrices.",
            "type",
        )
    matrices = [read(each, [[0.0]]).parts[0] for each in factors]
    shapes = " and ".join(str(list(each.shape)) for each in matrices)
    fits = all(each.ndim == 2 for each in matrices) and (
        len(matrices) == 1 or matrices[0].shape[1] == matrices[1].shape[0]
    )
    product = torch.linalg.multi_dot(matrices) if fits and len(matrices) > 1 else matrices[0]
    if not fits or product.shape != W.shape:
        raise Wrong(
            f"Matrices of {shapes} have no product of {list(W.shape)}, the shape of W.", "shape"
        )
    rank = matrices[0].shape[1] if len(matrices) > 1 else 0
    return float(len(matrices)), float(rank), product, error


def _matrix(seed: int, m: int, n: int, budget: int) -> Example:
    """A matrix whose singular values fall, as those of trained layers do."""
    k = min(m, n)
    falling = torch.linspace(0, 2.5, k, dtype=torch.float64).neg().exp()
    left = torch.linalg.qr(normal(m, k, seed=(seed, "U"))).Q
    right = torch.linalg.qr(normal(n, k, seed=(seed, "V"))).Q
    return 3 * left * falling @ right.T, budget


def _bytes(arguments: Example, value: Result, wanted: Result) -> str:
    """What is stored, where it is not what should be; else the slip of the first wrong value."""
    W, budget = arguments
    m, n = W.shape
    count, rank, product = value.parts[:3]
    whole = f"W has {m} · {n} numbers, {4 * m * n} bytes of a budget of {budget}."
    if count != wanted.parts[0]:
        if count > 1:
            return f"You return two factors, but W fits: {whole}"
        if torch.allclose(product, W):
            return f"You return W itself. {whole}"
        return "You return one matrix, as large as W: is it the product? Return its two factors."
    if rank != wanted.parts[1]:
        size = 4 * int(rank) * (m + n)
        return (
            f"Two factors of rank {int(rank)} have {size} bytes for W of {m} × {n}; the budget is "
            f"{budget}. Is this the largest rank that fits?"
        )
    return one_value(LOW_RANK, arguments, value, wanted)


LOW_RANK: Task = Task(
    low_rank,
    examples=[
        _matrix(0, 12, 9, 4 * 21 * 3 + 50),
        _matrix(1, 7, 16, 4 * 23 * 2 + 3),
        _matrix(2, 10, 10, 4 * 20 * 4 + 79),
        _matrix(3, 6, 8, 4 * 50),
    ],
    edge_cases={
        "where two factors fill the budget exactly": _matrix(4, 9, 7, 4 * 16 * 2),
        "where W fills the budget exactly": _matrix(5, 6, 5, 4 * 30),
        "where W misses the budget by one byte": _matrix(6, 8, 6, 4 * 48 - 1),
    },
    result=_product,
    names=("The number of matrices", "The rank", "The product", "The error"),
    slips="""
The budget is in bytes, and a number takes four.
    4 * m * n <= budget -> m * n <= budget
    budget // (4 * (m + n)) -> budget // (m + n)
    or
    budget // (4 * (m + n)) -> budget // (m + n)
The rank is rounded up, so the factors do not fit into the budget.
    budget // (4 * (m + n)) -> -(-budget // (4 * (m + n))) || budget // (4 * (m + n)) + 1
The rank is too small: it is the largest one that fits, and a full budget fits as well.
    budget // (4 * (m + n)) -> (budget - 1) // (4 * (m + n)) || budget // (4 * (m + n)) - 1
The factors have m r and r n numbers, so r (m + n) in all. Here only a part of them is counted, or
another number.
    budget // (4 * (m + n)) -> budget // (4 * m) || budget // (4 * n) ||
        budget // (4 * max(m, n)) || budget // (4 * min(m, n)) || budget // (4 * (m + n + 1)) ||
        budget * m // (4 * m * n)
W is factorized although it fits: it is then both exact and allowed.
    4 * m * n <= budget -> m * n < 0
W fills the budget exactly, which is allowed: then it is returned as it is.
    4 * m * n <= budget -> 4 * m * n < budget
The rank is compared with the break-even rank. W fits, or does not fit, whatever the rank is.
    4 * m * n <= budget -> budget // (4 * (m + n)) >= m * n // (m + n)
The singular values are missing from the product, or are in it twice.
    U[:, :r] * S[:r], Vh[:r] -> U[:, :r], Vh[:r] || U[:, :r] * S[:r], S[:r, None] * Vh[:r] ||
        U[:, :r] * S[:r].sqrt(), Vh[:r]
    error = -> error =
The smallest singular values are kept. The largest ones belong to the best approximation.
    U[:, :r] * S[:r], Vh[:r] -> U[:, -r:] * S[-r:], Vh[-r:]
    S[r:].square().sum() / -> S[r:].square().sum() / || S[:-r].square().sum() /
`torch.linalg.svd` returns Vᵀ, whose *rows* belong to the singular values. Yours are its columns.
    U[:, :r] * S[:r], Vh[:r] -> U[:, :r] * S[:r], Vh[:, :r].T || U[:, :r] * S[:r], Vh[:, :r]
The error is a share of *squares*: ‖W − W_r‖² / ‖W‖².
    S[r:].square().sum() / S.square().sum() -> S[r:].sum() / S.sum() ||
        (S[r:].square().sum() / S.square().sum()).sqrt() || S[r:].square().sum() ||
        S[r:].square().mean() / S.square().mean() || S[r:].square().sum().sqrt() ||
        S[r:].square().sum() / (m * n)
This is the share that is kept, not the error; or the error begins at another singular value.
    S[r:].square().sum() / -> S[:r].square().sum() / || S[r + 1 :].square().sum() / ||
        S[max(r - 1, 0) :].square().sum() /
""",
    cause=_bytes,
    note="No other pair of factors of this rank has a smaller error (Eckart and Young, 1936). "
    "Whether it is small enough depends on the singular values.",
)
