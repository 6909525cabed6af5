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
    batch, queries, keys, size = 2, 3, 4, 5
    query, key = torch.randn(batch, queries, size).double(), torch.randn(batch, keys, size).double()
    seen = random_mask(batch, queries, keys)
    additive = AdditiveAttention(size, size, 6).double()
    general = DotAttention(size, size, general=True).double()
    W, U, v = (getattr(additive, name).weight for name in "WUv")
    scores = {
        additive: lambda q, k: (v[0] * torch.tanh(W @ q + U @ k)).sum(),
        general: lambda q, k: (general.W.weight @ q) @ k,
        DotAttention(size, size): lambda q, k: q @ k,
    }
    for module, score in scores.items():
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
    torch.testing.assert_close(draws.mean(0), weights, atol=0.02, rtol=0)


def test_the_softmax_is_safe_for_large_scores_and_empty_rows() -> None:
    scores = torch.tensor([[1000.0, 999.0, -1000.0], [1.0, 2.0, 3.0]], requires_grad=True)
    seen = torch.tensor([[True, True, False], [False, False, False]])
    weights = masked_softmax(scores, seen)
    assert weights[0].tolist() == pytest.approx([1 / (1 + math.exp(-1)), 1 / (1 + math.e), 0])
    assert weights[1].tolist() == [0, 0, 0]
    weights.sum().backward()
    assert scores.grad is not None and scores.grad.isfinite().all()


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
    with pytest.raises(CourseError, match="cannot take over a Linear"):
        MultiHeadAttention.from_torch(torch.nn.Linear(2, 2))
    with pytest.raises(CourseError, match="keys and values of the same width"):
        MultiHeadAttention.from_torch(torch.nn.MultiheadAttention(8, 2, kdim=4, vdim=4))
    with pytest.raises(CourseError, match="no added keys"):
        MultiHeadAttention.from_torch(torch.nn.MultiheadAttention(8, 2, add_zero_attn=True))
