"""Low rank: replace a matrix by the product of two thin ones (chapter 18).

The singular value decomposition writes a matrix as a sum of rank-1 matrices, in decreasing order.
Its first r terms are the best approximation of rank r, and the error is the sum of the others
(Eckart and Young 1936):

    W = U S Vᵀ = Σ_i s_i u_i v_iᵀ        W_r = Σ_{i ≤ r} s_i u_i v_iᵀ
    min ‖W − W'‖² over rank(W') ≤ r  =  ‖W − W_r‖²  =  Σ_{i > r} s_i²

A layer with m outputs and n inputs becomes two: n → r by S^½ Vᵀ, then r → m by U S^½. They have
r (m + n) weights instead of m n: fewer only below the break-even rank m n / (m + n).

An embedding matrix is factorized likewise: V × H becomes V × r and r × H, as in ALBERT (Lan et al.
2020, section 3.1).
"""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.compression.layers import (
    Compressed,
    LayerTypes,
    M,
    Where,
    change_of,
    check_share,
    copy_model,
    replace_modules,
    select_layers,
)
from lmcourse.errors import CourseError


class LowRankLinear(nn.Module):
    """A linear layer whose weight is a product of two thin matrices."""

    def __init__(self, in_features: int, out_features: int, rank: int, bias: bool = True) -> None:
        super().__init__()
        self.rank = rank
        self.reduce = nn.Linear(in_features, rank, bias=False)
        self.expand = nn.Linear(rank, out_features, bias=bias)

    @property
    def weight(self) -> Float[Tensor, "out_features in_features"]:
        """The product of the two matrices."""
        return self.expand.weight @ self.reduce.weight

    def forward(
        self, x: Float[Tensor, "*batch in_features"]
    ) -> Float[Tensor, "*batch out_features"]:
        return self.expand(self.reduce(x))


class LowRankEmbedding(nn.Module):
    """An embedding whose matrix is a product of two thin matrices.

    It replaces `nn.Embedding`, also for output layers that use its ``weight``.
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, rank: int, padding_idx: int | None = None
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.rank = num_embeddings, embedding_dim, rank
        self.padding_idx = padding_idx
        self.reduce = nn.Embedding(num_embeddings, rank, padding_idx=padding_idx)
        self.expand = nn.Parameter(torch.empty(rank, embedding_dim))

    @property
    def weight(self) -> Float[Tensor, "num_embeddings embedding_dim"]:
        """The product of the two matrices."""
        return self.reduce.weight @ self.expand

    def forward(self, ids: Tensor) -> Float[Tensor, "*batch embedding_dim"]:
        return self.reduce(ids) @ self.expand


def factorize(
    model: M,
    *,
    rank: int | None = None,
    energy: float | None = None,
    types: LayerTypes = nn.Linear,
    where: Where = "*",
) -> Compressed[M]:
    """Return a copy of the model whose matrices are factorized.

    Either ``rank`` or ``energy`` determines the ranks. Matrices that would not become smaller are
    kept.

    Args:
        rank: the rank of all matrices.
        energy: choose the smallest rank with this fraction of Σ s_i², 0 < energy ≤ 1.
        types: `nn.Linear`, `nn.Embedding` or both.
        where: one or more patterns of layer names, see `layers.select_layers`.
    """
    rank_of = _rank_rule(rank, energy)
    model = copy_model(model)
    layers = select_layers(model, types, where, untied=True)
    new: dict[nn.Module, nn.Module] = {}
    changes = []
    for name, layer in layers.items():
        r = rank_of(layer.weight)
        if is_smaller(layer.weight, r):
            factorized = new[layer] = _factorized(layer, r)
            kept = r * sum(layer.weight.shape)
            changes.append(change_of(name, layer.weight, factorized.weight, kept))
    if not new:
        # the largest rank below m n / (m + n)
        sizes = [(layer.weight.numel(), sum(layer.weight.shape)) for layer in layers.values()]
        most = max((weights - 1) // edge for weights, edge in sizes)
        raise CourseError(
            "No matrix would become smaller: two factors of this rank have more weights.",
            f"Choose a rank of 1 to {most}." if most else "Keep these matrices.",
        )
    return Compressed(replace_modules(model, new), tuple(changes))


def is_smaller(weight: Tensor, rank: int) -> bool:
    """Return whether two factors of this rank have fewer weights: r (m + n) < m n."""
    return rank * sum(weight.shape) < weight.numel()


def rank_of_energy(weight: Float[Tensor, "m n"], energy: float) -> int:
    """Return the smallest r with Σ_{i ≤ r} s_i² ≥ energy Σ s_i²."""
    squares = torch.linalg.svdvals(weight.detach().double()) ** 2
    fractions = squares.cumsum(0) / squares.sum()
    return min(int((fractions < energy).sum()) + 1, len(squares))


def factors(
    weight: Float[Tensor, "m n"], rank: int
) -> tuple[Float[Tensor, "m rank"], Float[Tensor, "rank n"]]:
    """Return U S^½ and S^½ Vᵀ, whose product is the best approximation of this rank."""
    if not 1 <= rank <= min(weight.shape):
        raise CourseError(
            f"A matrix of {weight.shape[0]} × {weight.shape[1]} has no factors of rank {rank}.",
            f"Choose a rank of 1 to {min(weight.shape)}.",
        )
    left, values, right = torch.linalg.svd(weight.detach().double(), full_matrices=False)
    half = values[:rank].sqrt()
    first, second = left[:, :rank] * half, half[:, None] * right[:rank]
    return first.to(weight.dtype), second.to(weight.dtype)


def _factorized(layer: Any, rank: int) -> LowRankLinear | LowRankEmbedding:
    """Return the low-rank layer whose product is closest to the layer's weight."""
    outputs, inputs = layer.weight.shape
    requires_grad = layer.weight.requires_grad
    left, right = (
        nn.Parameter(part.contiguous(), requires_grad) for part in factors(layer.weight, rank)
    )
    if isinstance(layer, nn.Embedding):
        embedding = LowRankEmbedding(outputs, inputs, rank, layer.padding_idx)
        embedding.reduce.weight, embedding.expand = left, right
        return embedding.train(layer.training)
    linear = LowRankLinear(inputs, outputs, rank, layer.bias is not None)
    linear.reduce.weight, linear.expand.weight, linear.expand.bias = right, left, layer.bias
    return linear.train(layer.training)


def _rank_rule(rank: int | None, energy: float | None) -> Callable[[Tensor], int]:
    """Return the function that determines the rank from a weight."""
    if (rank is None) == (energy is None):
        raise CourseError("The rank is ambiguous.", "Pass either rank or energy.")
    if energy is not None:
        check_share(energy, "energy", one=True)
        return lambda weight: rank_of_energy(weight, energy)
    assert rank is not None
    return lambda _: rank
