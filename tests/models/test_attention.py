"""Attention beside loops over single numbers, and its two paths beside each other."""

import math

import pytest
import torch
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.models.attention import (
    AdditiveAttention,
    DotAttention,
    MultiHeadAttention,
    attend,
    causal_mask,
    masked_softmax,
)


def looked_up(scores: list[float], seen: list[bool], values: list[Tensor]) -> Tensor:
    """Σ softmax(score) value over what is seen, one number at a time."""
    powers = [math.exp(s) if see else 0.0 for s, see in zip(scores, seen, strict=True)]
    total = sum(powers)
    if total == 0:
        return torch.zeros_like(values[0])
    return sum((p / total * v for p, v in zip(powers, values, strict=True)), torch.tensor(0.0))


def random_mask(batch: int, query: int, key: int) -> Tensor:
    """With a row that sees nothing."""
    seen = torch.rand(batch, query, key) < 0.6
    seen[0, 0] = False
    return seen


@pytest.mark.parametrize("seed", range(5))
def test_additive_and_dot_scores_are_the_equations(seed: int) -> None:
    torch.manual_seed(seed)
    batch, queries, keys, size, wide = 2, 3, 4, 5, 7
    short, long = (torch.randn(batch, queries, width).double() for width in (size, wide))
    key = torch.randn(batch, keys, size).double()
    seen = random_mask(batch, queries, keys)
    additive = AdditiveAttention(wide, size, 6).double()
    general = DotAttention(wide, size, general=True).double()
    scores = (
        (additive, long, lambda q, k: additive.v @ torch.tanh(additive.W @ q + additive.U @ k)),
        (general, long, lambda q, k: q @ general.W @ k),
        (DotAttention(size, size), short, lambda q, k: q @ k),
    )
    for module, query, score in scores:
        found, weights = module(query, key, seen)
        for b in range(batch):
            for t in range(queries):
                row = [score(query[b, t], key[b, k]).item() for k in range(keys)]
                want = looked_up(row, seen[b, t].tolist(), list(key[b]))
                torch.testing.assert_close(found[b, t], want)
                torch.testing.assert_close(weights[b, t] @ key[b], want)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_the_fused_path_is_the_readable_one(causal: bool, masked: bool) -> None:
    """Values and gradients, also where a query sees nothing, and with fewer queries than keys."""
    for seed in range(10):
        torch.manual_seed(seed)
        keys = 5 if causal else int(torch.randint(2, 7, ()))
        inputs = [
            torch.randn(2, 3, n, 4, dtype=torch.double, requires_grad=True) for n in (5, keys, keys)
        ]
        seen = random_mask(2, 5, keys)[:, None] if masked else None
        scale = None if seed % 2 else 0.7
        gradients = []
        outputs = []
        for need_weights in (True, False):
            found, weights = attend(
                *inputs, seen, causal=causal, scale=scale, need_weights=need_weights
            )
            assert (weights is not None) == need_weights
            outputs.append(found)
            probe = (found * torch.arange(found.numel()).view_as(found).cos()).sum()
            gradients.append(torch.autograd.grad(probe, inputs))
        torch.testing.assert_close(*outputs)
        torch.testing.assert_close(*gradients)


def test_dropout_drops_weights_and_keeps_their_mean() -> None:
    torch.manual_seed(0)
    query, key = torch.randn(1, 1, 8), torch.randn(1, 6, 8)
    value = torch.eye(6)[None]
    weights = attend(query, key, value)[1]
    draws = torch.stack([attend(query, key, value, dropout=0.5)[0] for _ in range(4000)])
    assert ((draws == 0).double().mean() - 0.5).abs() < 0.02
    assert torch.equal(attend(query, key, value, dropout=0.5)[1], weights)  # as before the dropout
    torch.testing.assert_close(draws.mean(0), weights, atol=0.02, rtol=0)


def test_the_softmax_is_safe_for_large_scores_and_empty_rows() -> None:
    scores = torch.tensor([[1000.0, 999.0, -1000.0], [1.0, 2.0, 3.0]], requires_grad=True)
    seen = torch.tensor([[True, True, False], [False, False, False]])
    weights = masked_softmax(scores, seen)
    assert weights[0].tolist() == pytest.approx([1 / (1 + math.exp(-1)), 1 / (1 + math.e), 0])
    assert weights[1].tolist() == [0, 0, 0]
    weights.sum().backward()
    assert scores.grad is not None and scores.grad.isfinite().all()


@pytest.mark.parametrize("need_weights", [False, True])
def test_half_precision_holds_large_vectors(need_weights: bool) -> None:
    """Products of 64 entries of 40 are beyond float16's 65,504, their eighths are not."""
    query = torch.full((1, 1, 64), 40.0, dtype=torch.float16)
    key = torch.cat([query, -query], 1)
    found, _ = attend(query, key, key, need_weights=need_weights)
    assert torch.equal(found, query)


@pytest.mark.parametrize("need_weights", [False, True])
def test_a_mask_of_one_axis_is_one_of_the_keys(need_weights: bool) -> None:
    query, key = torch.randn(2, 6, 3, 4), torch.randn(2, 6, 5, 4)
    row = torch.tensor([True, False, True, True, False])
    for causal in (False, True):
        found, whole = (
            attend(query, key, key, seen, causal=causal, need_weights=need_weights)[0]
            for seen in (row, row.expand(2, 6, 3, 5))
        )
        torch.testing.assert_close(found, whole)


def test_each_head_attends_in_its_own_part() -> None:
    """Two heads are two attentions of half the width, side by side."""
    torch.manual_seed(0)
    both = MultiHeadAttention(8, 2).double()
    hidden = torch.randn(2, 5, 8, dtype=torch.double)
    found, weights = both(hidden, need_weights=True)
    parts = []
    for head in range(2):
        part = slice(4 * head, 4 * head + 4)
        q, k, v = (getattr(both, name)(hidden)[..., part] for name in ("query", "key", "value"))
        one = (q @ k.mT / 2).softmax(-1)
        torch.testing.assert_close(weights[:, head], one)
        parts.append(one @ v)
    torch.testing.assert_close(found, both.output(torch.cat(parts, -1)))


def test_the_causal_mask_ends_at_the_query_s_own_place() -> None:
    assert causal_mask(2, 3, torch.zeros(1)).tolist() == [[True, False, False], [True, True, False]]


@pytest.mark.bad_input
def test_bad_input() -> None:
    with pytest.raises(CourseError, match=r"3 heads cannot share a width of 8"):
        MultiHeadAttention(8, 3)
    with pytest.raises(CourseError, match=r"queries of 3 and keys of 4"):
        DotAttention(3, 4)


@pytest.mark.bad_input
@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8])
def test_a_mask_holds_booleans(dtype: torch.dtype) -> None:
    """The fused kernel would add a mask of numbers to the scores."""
    x, mask = torch.randn(2, 3, 4), torch.ones(2, 3, 3, dtype=dtype)
    message = rf"visible has the type {dtype}.*mask\.bool\(\).*mask == 0"
    for need_weights in (False, True):
        with pytest.raises(CourseError, match=message):
            attend(x, x, x, mask, need_weights=need_weights)
        with pytest.raises(CourseError, match=message):
            MultiHeadAttention(4, 2)(x, visible=mask[:, None], need_weights=need_weights)
    for one_head in (DotAttention(4, 4), AdditiveAttention(4, 4, 4)):
        with pytest.raises(CourseError, match=message):
            one_head(x, x, mask)
    with pytest.raises(CourseError, match=message):
        masked_softmax(x, mask)


@pytest.mark.bad_input
def test_a_mask_has_all_axes() -> None:
    """A tokenizer's (batch, key) has the shape of (query, key) where the batch is as large."""
    x, seen = torch.randn(3, 3, 4), torch.ones(3, 3, dtype=torch.bool)
    many = MultiHeadAttention(4, 2)
    for mask in (seen, seen[None], seen[:, None, None, :2], seen.expand(3, 3, 3, 3)):
        shape = ", ".join(map(str, mask.shape))
        message = rf"shape \({shape}\), the scores \(3, 2, 3, 3\).*\[:, None, None, :\]"
        with pytest.raises(CourseError, match=message):
            many(x, visible=mask)
    one, context = torch.randn(3, 2, 4), torch.randn(3, 3, 4)
    for single in (DotAttention(4, 4), AdditiveAttention(4, 4, 4)):
        single(one, context, seen[None, :2])
        for mask in (seen, seen[:, None, None], seen[:, None, :2]):
            with pytest.raises(CourseError, match=r"scores \(3, 2, 3\).*\[:, None, :\]"):
                single(one, context, mask)
    for good in (seen[:, None, None], seen.expand(3, 2, 3, 3), seen[None, None]):
        many(x, visible=good)
