"""Low rank: a matrix becomes the product of two thin ones (chapter 18).

The singular value decomposition writes a matrix as a sum of products, the largest first. Its first
r are the best that a matrix of rank r can do (Eckart and Young 1936), and what is lost is what was
left out:

    W = U S Vᵀ = Σ_i s_i u_i v_iᵀ        W_r = Σ_{i ≤ r} s_i u_i v_iᵀ
    min ‖W − W'‖² over rank(W') ≤ r  =  ‖W − W_r‖²  =  Σ_{i > r} s_i²

A layer of m outputs and n inputs becomes two: n → r by S^½ Vᵀ, then r → m by U S^½. That is
r (m + n) numbers instead of m n: fewer only below the break-even rank m n / (m + n).

What matters is not W but W x, for the x that come. With C = E[x xᵀ], E‖(W − W') x‖² is the norm of
(W − W') C^½: so decompose W C^½, and multiply by C^−½ afterwards (Chen et al. 2021, "DRONE"). A
direction that no x had would then cost nothing, and be lost. But few x are not all that there are:
so to N of them in n dimensions come n more, one along each axis, of the mean size,

    C = (Σ x xᵀ + n c I) / (N + n)        c = Σ ‖x‖² / (n N)

which is the empirical C drawn towards c I by n / (N + n): much where x are few, hardly where they
are many (the form is Ledoit and Wolf's, 2004, "A well-conditioned estimator").

An embedding matrix is split the same way: V × H becomes V × r and r × H, as ALBERT has it from the
start (Lan et al. 2020, section 3.1).
"""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.compression.layers import (
    Compressed,
    Kinds,
    M,
    Where,
    change,
    check_numbers,
    check_untied,
    chosen,
    copy_of,
    fraction,
    replaced,
    whole,
)
from lmcourse.errors import CourseError


class LowRankLinear(nn.Module):
    """Two linear layers in place of one, with few numbers between them."""

    def __init__(self, in_features: int, out_features: int, rank: int, bias: bool = True) -> None:
        super().__init__()
        self.rank = rank
        self.reduce = nn.Linear(in_features, rank, bias=False)
        self.expand = nn.Linear(rank, out_features, bias=bias)

    @property
    def weight(self) -> Float[Tensor, "out_features in_features"]:
        """The matrix that both make together."""
        return self.expand.weight @ self.reduce.weight

    def forward(
        self, x: Float[Tensor, "*places in_features"]
    ) -> Float[Tensor, "*places out_features"]:
        return self.expand(self.reduce(x))


class LowRankEmbedding(nn.Module):
    """A short vector for each number, and a matrix that makes it long.

    It can be read as an `nn.Embedding`, also by heads that compute with its ``weight``.
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
        """The matrix that both make together."""
        return self.reduce.weight @ self.expand

    def forward(self, ids: Tensor) -> Float[Tensor, "*places embedding_dim"]:
        return self.reduce(ids) @ self.expand


def factorize(
    model: M,
    *,
    rank: int | None = None,
    energy: float | None = None,
    budget: float | None = None,
    kinds: Kinds = nn.Linear,
    where: Where = "*",
    moments: Mapping[str, Tensor] | None = None,
) -> Compressed[M]:
    """A copy of the model with its matrices in two factors each.

    One of the first three says how thin they are. A matrix that would not become smaller stays.

    Args:
        rank: so many singular values are kept, of each matrix.
        energy: as few as hold this share of Σ s_i² are kept; 0 < energy ≤ 1. With moments, the s_i
            are those of W C^½.
        budget: as many as take this share of the matrix's numbers; 0 < budget < 1.
        kinds: `nn.Linear`, `nn.Embedding` or both.
        where: patterns of the layers' names, see `layers.chosen`.
        moments: E[x xᵀ] by layer, from `second_moments`, of all layers that are meant: what is kept
            is then what matters for such x. (The table still says how far the matrix itself moved.)

    Raises:
        CourseError: not one of the three is given, or it makes no sense, or no matrix becomes
            smaller by it; no layer fits; a weight is also another layer's, or NaN, or on the meta
            device; a layer has no moment; the model is quantized or under masks.
    """
    _check_one(rank, energy, budget)
    model = copy_of(model)
    layers = chosen(model, kinds, where)
    check_untied(model, layers)
    check_numbers(layers)
    new: dict[nn.Module, nn.Module] = {}
    changes = []
    for name, layer in layers.items():
        moment = None if moments is None else _moment(moments, name, layer)
        wanted = _rank(layer.weight, moment, rank, energy, budget)
        if pays(layer.weight, wanted):
            two = _with_factors(layer, wanted, moment)
            kept = wanted * sum(layer.weight.shape)
            changes.append(change(name, layer.weight, two.weight, kept))
            new[layer] = two
    if not new:
        # the largest rank below m n / (m + n)
        sizes = [(layer.weight.numel(), sum(layer.weight.shape)) for layer in layers.values()]
        most = max((numbers - 1) // edge for numbers, edge in sizes)
        raise CourseError(
            "No matrix would become smaller: two factors of this rank are larger than one matrix.",
            f"A rank of 1 to {most} makes one smaller." if most else "Leave these as they are.",
        )
    return Compressed(replaced(model, new), tuple(changes))


def pays(weight: Tensor, rank: int) -> bool:
    """Whether two factors of this rank are smaller than the matrix: r (m + n) < m n.

    Raises:
        CourseError: the rank is no whole number, or less than 1.
    """
    return whole(rank, "The rank", 1) * sum(weight.shape) < weight.numel()


def rank_of_energy(
    weight: Float[Tensor, "m n"], energy: float, moment: Float[Tensor, "n n"] | None = None
) -> int:
    """The least r whose singular values hold this share of all: Σ_{i ≤ r} s_i² ≥ energy Σ s_i².

    Args:
        moment: C = E[x xᵀ]: the singular values are then those of W C^½.
    """
    matrix = weight.detach().double()
    if moment is not None:
        matrix = matrix @ _roots(moment.double())[0]
    squares = torch.linalg.svdvals(matrix) ** 2
    shares = squares.cumsum(0) / squares.sum()
    return min(int((shares < energy).sum()) + 1, len(squares))


def factors(
    weight: Float[Tensor, "m n"], rank: int, moment: Float[Tensor, "n n"] | None = None
) -> tuple[Float[Tensor, "m rank"], Float[Tensor, "rank n"]]:
    """The two matrices U S^½ and S^½ Vᵀ whose product is nearest to a matrix.

    Args:
        moment: C = E[x xᵀ]: nearest is then meant of the products with such x.

    Raises:
        CourseError: the rank is not 1 to the matrix's own size; the moment is of another size.
    """
    if not 1 <= rank <= min(weight.shape):
        raise CourseError(
            f"A matrix of {weight.shape[0]} × {weight.shape[1]} has no factors of rank {rank}.",
            f"Give a rank of 1 to {min(weight.shape)}.",
        )
    matrix = weight.detach().double()
    if moment is None:
        left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    else:
        if moment.shape != (weight.shape[1], weight.shape[1]):
            raise CourseError(
                f"The moment has shape {tuple(moment.shape)}, the matrix {tuple(weight.shape)}.",
                "Take second_moments of the same model, on batches of its inputs.",
            )
        root, inverse = _roots(moment.double())
        left, values, right = torch.linalg.svd(matrix @ root, full_matrices=False)
        right = right @ inverse
    half = values[:rank].sqrt()
    first, second = left[:, :rank] * half, half[:, None] * right[:rank]
    return first.to(weight.dtype), second.to(weight.dtype)


@torch.no_grad()
def second_moments(
    model: nn.Module, batches: Iterable[Mapping[str, Any]], where: Where = "*"
) -> dict[str, Float[Tensor, "inputs inputs"]]:
    """C = E[x xᵀ] of what goes into each linear layer, over all places of these batches, drawn
    towards c I as said above.

    Dropout is off; padded places count as others do. A layer that no batch reaches has none.

    Raises:
        CourseError: no layer fits; there is no batch; what goes into a layer is not finite.
    """
    layers = chosen(model, (nn.Linear,), where)
    sums: dict[str, Tensor] = {}
    counts = dict.fromkeys(layers, 0)

    def hook(name: str) -> Any:
        def collect(_: nn.Module, arguments: tuple[Tensor, ...]) -> None:
            x = arguments[0].flatten(0, -2).double()
            sums[name] = sums.get(name, torch.zeros((), device=x.device)) + x.T @ x
            counts[name] += len(x)

        return collect

    training = model.training
    model.eval()
    try:
        with ExitStack() as hooks:
            for name, layer in layers.items():
                hooks.callback(layer.register_forward_pre_hook(hook(name)).remove)
            for batch in batches:
                model(**batch)
    finally:
        model.train(training)
    if not sums:
        raise CourseError("No layer was reached by a batch.", "Give one batch at least.")
    for name, total in sums.items():
        if not total.isfinite().all():
            raise CourseError(
                f"What goes into {name} is infinite or NaN.", "Look for where training failed."
            )
    return {name: _drawn_to_identity(total, counts[name]) for name, total in sums.items()}


def in_two(layer: Any, rank: int) -> LowRankLinear | LowRankEmbedding:
    """Layers that can take this one's place, in its mode, type and place; weights not set."""
    outputs, inputs = layer.weight.shape
    new: LowRankLinear | LowRankEmbedding
    if isinstance(layer, nn.Embedding):
        new = LowRankEmbedding(outputs, inputs, rank, layer.padding_idx)
    else:
        new = LowRankLinear(inputs, outputs, rank, layer.bias is not None)
    return new.to(layer.weight.device, layer.weight.dtype).train(layer.training)


def _drawn_to_identity(total: Float[Tensor, "n n"], count: int) -> Float[Tensor, "n n"]:
    """(Σ x xᵀ + n c I) / (N + n), with n c = tr(Σ x xᵀ) / N."""
    more = total.trace() / count * torch.eye(len(total), dtype=total.dtype, device=total.device)
    return (total + more) / (count + len(total))


def _moment(moments: Mapping[str, Tensor], name: str, layer: nn.Module) -> Tensor:
    """The moment of this layer's inputs."""
    if name not in moments:
        if isinstance(layer, nn.Embedding):
            remedy = "Moments are of linear layers' inputs: factorize embeddings without."
        else:
            remedy = "Take second_moments of the same model and where=…, or leave this layer out."
        raise CourseError(f"There is no moment for {name or 'the layer'}.", remedy)
    return moments[name]


def _with_factors(layer: Any, rank: int, moment: Tensor | None) -> LowRankLinear | LowRankEmbedding:
    """The layer as two, whose product is nearest to it."""
    left, right = factors(layer.weight, rank, moment)
    new = in_two(layer, rank)
    learns = layer.weight.requires_grad
    left, right = (nn.Parameter(part.contiguous(), learns) for part in (left, right))
    if isinstance(new, LowRankEmbedding):
        new.reduce.weight, new.expand = left, right
    else:
        new.reduce.weight, new.expand.weight, new.expand.bias = right, left, layer.bias
    return new


def _check_one(rank: int | None, energy: float | None, budget: float | None) -> None:
    """See that one of these is given, and makes sense."""
    if sum(given is not None for given in (rank, energy, budget)) != 1:
        raise CourseError("The rank is not clear.", "Give one of rank, energy and budget.")
    if energy is not None:
        fraction(energy, "The energy", zero=False, one=True)
    if budget is not None:
        fraction(budget, "The budget", zero=False, one=False)


def _rank(
    weight: Tensor,
    moment: Tensor | None,
    rank: int | None,
    energy: float | None,
    budget: float | None,
) -> int:
    """The rank that is meant for this matrix."""
    if energy is not None:
        return rank_of_energy(weight, energy, moment)
    if budget is not None:
        return max(int(budget * weight.numel() / sum(weight.shape)), 1)
    assert rank is not None
    return rank


def _roots(moment: Float[Tensor, "n n"]) -> tuple[Float[Tensor, "n n"], Float[Tensor, "n n"]]:
    """C^½ and C^−½; where no x ever points, the inverse is 0."""
    values, vectors = torch.linalg.eigh(moment)
    seen = values > values.max() * 1e-10
    roots = values.clamp(min=0).sqrt()
    inverse = torch.where(seen, 1 / roots.clamp(min=1e-300), 0.0)
    return (vectors * (roots * seen)) @ vectors.T, (vectors * inverse) @ vectors.T
