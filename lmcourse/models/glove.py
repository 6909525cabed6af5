"""GloVe: vectors whose products are the logarithms of co-occurrence counts (chapter 05).

X_ij says how often word j stands in the context of word i. Pennington et al. (2014, "GloVe: global
vectors for word representation") fit log X_ij by least squares, weighted by f (eq. 8 and 9):

    J = Σ_{i,j} f(X_ij) (w_i · w̃_j + b_i + b̃_j − log X_ij)²

    f(x) = (x / x_max)^α if x < x_max, else 1        x_max = 100, α = 3/4

Rare pairs are noise and weigh little; pairs that never occur weigh nothing, so that log 0 is never
needed. Each word has two vectors, w as a word and w̃ as a context; the result is w + w̃ (section
4.2).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.checkpoint import Model
from lmcourse.models.context_windows import windows_in_blocks
from lmcourse.models.inputs import check_range, check_settings
from lmcourse.models.outputs import ModelOutput

BLOCK = 2**17
"""How many words' windows are counted at a time: the windows of a long text fill the memory."""


@dataclass(frozen=True)
class GloVeConfig:
    """The sizes.

    Attributes:
        vocab_size: how many words.
        hidden_size: width of a vector.
        x_max: from this count on a pair has its full weight.
        alpha: how the weight grows below it.
    """

    vocab_size: int
    hidden_size: int = 100
    x_max: float = 100.0
    alpha: float = 0.75

    def __post_init__(self) -> None:
        check_settings(self, ("vocab_size", "hidden_size"), positive=("x_max",))
        _check_weight(self.x_max, self.alpha)

    @classmethod
    def wikipedia_gigaword(cls, hidden_size: int = 300) -> "GloVeConfig":
        """The published vectors of Wikipedia and Gigaword: 400,000 words, 50 to 300 numbers."""
        return cls(vocab_size=400_000, hidden_size=hidden_size)


@dataclass(frozen=True)
class GloVeOutput(ModelOutput):
    """What one call returns: the mean loss, and for each pair what was fitted to log X."""

    loss: Float[Tensor, ""]
    predictions: Float[Tensor, " pair"]


class GloVe(Model):
    """Two vectors and two biases for each word."""

    Config: ClassVar[type] = GloVeConfig
    config: GloVeConfig

    def __init__(self, config: GloVeConfig) -> None:
        super().__init__(config)
        bound = 0.5 / (config.hidden_size + 1)  # as the published program starts
        self.words, self.contexts = (
            nn.Embedding(config.vocab_size, config.hidden_size) for _ in range(2)
        )
        self.word_biases, self.context_biases = (
            nn.Embedding(config.vocab_size, 1) for _ in range(2)
        )
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)

    def forward(
        self,
        words: Int[Tensor, " pair"],
        contexts: Int[Tensor, " pair"],
        counts: Float[Tensor, " pair"],
    ) -> GloVeOutput:
        """How well the vectors fit the counts of some pairs.

        Args:
            words, contexts: i and j of each pair.
            counts: X_ij. A pair with 0 counts nothing.

        Returns:
            The mean over the pairs: J over their number, if these are all pairs.

        Raises:
            CourseError: a shape, an id or a count does not fit.
        """
        self._check(words, contexts, counts)
        fitted = (self.words(words) * self.contexts(contexts)).sum(-1)
        fitted = fitted + (self.word_biases(words) + self.context_biases(contexts)).squeeze(-1)
        weights = weight(counts, self.config.x_max, self.config.alpha)
        logs = counts.masked_fill(counts == 0, 1.0).log()
        return GloVeOutput((weights * (fitted - logs).square()).mean(), fitted)

    @property
    def vectors(self) -> Float[Tensor, "vocab width"]:
        """The words' vectors w + w̃, without a gradient."""
        return (self.words.weight + self.contexts.weight).detach()

    def _check(self, words: Tensor, contexts: Tensor, counts: Tensor) -> None:
        for name, tensor in (("words", words), ("contexts", contexts), ("counts", counts)):
            if tensor.ndim != 1 or not len(tensor) or len(tensor) != len(words):
                raise CourseError(
                    f"{name} has shape {tuple(tensor.shape)}, words {tuple(words.shape)}.",
                    "Give words, contexts and counts with one number for each pair, (pair,).",
                )
        check_range(words, self.config.vocab_size, "words")
        check_range(contexts, self.config.vocab_size, "contexts")
        if counts.is_meta:
            return
        wrong = ~((counts >= 0) & counts.isfinite())
        if bool(wrong.any()):
            raise CourseError(
                f"A pair has the count {float(counts[wrong][0]):g}.",
                "Counts are 0 or more, and finite: give X_ij itself, not its logarithm.",
            )


def weight(
    counts: Float[Tensor, "*axes"], x_max: float = 100.0, alpha: float = 0.75
) -> Float[Tensor, "*axes"]:
    """f of eq. 9: how much a pair with each count weighs; one that never occurs, nothing.

    Raises:
        CourseError: x_max is not above zero, or alpha below zero.
    """
    _check_weight(x_max, alpha)
    weights = (counts / x_max).clamp(max=1.0) ** alpha
    return weights.masked_fill(counts == 0, 0.0)  # 0⁰ = 1 would fit a pair that never occurs


def count_cooccurrences(
    sentences: Iterable[Sequence[int]],
    vocab_size: int,
    window: int = 10,
    *,
    symmetric: bool = True,
    by_distance: bool = True,
) -> Float[Tensor, "vocab vocab"]:
    """X as a sparse tensor: how often word j stands around word i.

    `X.indices()` gives the i and j of the pairs that occur and `X.values()` their counts, as
    `GloVe` takes them; `X.to_dense()` the whole matrix.

    Args:
        sentences: ids; no window reaches from one into another.
        vocab_size: how many words there are.
        window: how many places on either side.
        symmetric: whether the context is both sides, or only what stands before the word.
        by_distance: whether a pair d places apart counts 1/d (section 4.2), or 1.

    Raises:
        CourseError: an id is beyond the vocabulary, the window is empty, or there is no word.
    """
    sums: list[tuple[Tensor, Tensor]] = []
    for centers, contexts, mask, distances in windows_in_blocks(sentences, window, BLOCK):
        check_range(centers, vocab_size, "sentences")
        if not symmetric:
            mask[:, window:] = False  # the places after the word
        row, place = mask.nonzero(as_tuple=True)
        counts = 1 / distances[place] if by_distance else torch.ones(len(row))
        pairs = centers[row] * vocab_size + contexts[row, place]
        sums.append(_summed([(pairs, counts)]))
        if sum(len(block) for block, _ in sums[1:]) > len(sums[0][0]):  # rarely: it costs all
            sums = [_summed(sums)]
    pairs, counts = _summed(sums)
    indices = torch.stack([pairs // vocab_size, pairs % vocab_size])
    size = (vocab_size, vocab_size)
    return torch.sparse_coo_tensor(indices, counts, size, is_coalesced=True, check_invariants=True)


def _summed(
    blocks: list[tuple[Tensor, Tensor]],
) -> tuple[Int[Tensor, " pair"], Float[Tensor, " pair"]]:
    """Every pair once, i · vocab_size + j in ascending order, and the sum of its counts."""
    pairs, counts = (torch.cat(parts) for parts in zip(*blocks, strict=True))
    found, which = pairs.unique(return_inverse=True)
    return found, counts.new_zeros(len(found)).index_add_(0, which, counts)


def _check_weight(x_max: float, alpha: float) -> None:
    if not 0 < x_max < math.inf:
        raise CourseError(f"x_max is {x_max}.", "Give a count above zero; the paper has 100.")
    if not 0 <= alpha < math.inf:
        raise CourseError(f"alpha is {alpha}.", "Give a power of 0 or more; the paper has 0.75.")
