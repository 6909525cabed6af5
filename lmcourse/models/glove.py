"""GloVe: vectors whose products fit the logarithms of co-occurrence counts (chapter 05).

X_ij counts how often word j occurs in the context of word i. Pennington et al. (2014, "GloVe:
global vectors for word representation") fit log X_ij by weighted least squares (eq. 8 and 9):

    J = Σ_{i,j} f(X_ij) (w_i · w̃_j + b_i + b̃_j − log X_ij)²

    f(x) = (x / x_max)^α if x < x_max, else 1        x_max = 100, α = 3/4

Rare pairs are noisy and get a small weight; pairs that never occur get none, so log 0 is never
needed. Each word has two vectors, w as a word and w̃ as a context; the result is w + w̃ (section
4.2).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.models.checkpoint import Model
from lmcourse.models.context_windows import windows_in_blocks
from lmcourse.models.inputs import check_range
from lmcourse.models.outputs import ModelOutput

BLOCK = 2**17
"""Number of words whose windows are counted at a time, to limit memory."""


@dataclass(frozen=True)
class GloVeConfig:
    """The sizes.

    Attributes:
        vocab_size: number of words.
        hidden_size: width of a vector.
        x_max: the count from which the weight is 1.
        alpha: the power of the weight below it.
    """

    vocab_size: int
    hidden_size: int = 100
    x_max: float = 100.0
    alpha: float = 0.75

    @classmethod
    def wikipedia_gigaword(cls, hidden_size: int = 300) -> "GloVeConfig":
        """The published vectors of Wikipedia and Gigaword: 400,000 words, 50 to 300 numbers."""
        return cls(vocab_size=400_000, hidden_size=hidden_size)


@dataclass(frozen=True)
class GloVeOutput(ModelOutput):
    """The mean loss, and the prediction of log X for each pair."""

    loss: Float[Tensor, ""]
    predictions: Float[Tensor, " pair"]


class GloVe(Model):
    """Two vectors and two biases for each word."""

    Config: ClassVar[type] = GloVeConfig
    config: GloVeConfig

    def __init__(self, config: GloVeConfig) -> None:
        super().__init__(config)
        bound = 0.5 / (config.hidden_size + 1)  # as in the published program
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
        """Return the mean loss over the pairs.

        Args:
            words, contexts: i and j of each pair.
            counts: X_ij; pairs with 0 are ignored.
        """
        check_range(words, self.config.vocab_size, "words")
        check_range(contexts, self.config.vocab_size, "contexts")
        fitted = (self.words(words) * self.contexts(contexts)).sum(-1)
        fitted = fitted + (self.word_biases(words) + self.context_biases(contexts)).squeeze(-1)
        weights = weight(counts, self.config.x_max, self.config.alpha)
        logs = counts.masked_fill(counts == 0, 1.0).log()
        return GloVeOutput((weights * (fitted - logs).square()).mean(), fitted)

    @property
    def vectors(self) -> Float[Tensor, "vocab width"]:
        """The word vectors w + w̃, detached."""
        return (self.words.weight + self.contexts.weight).detach()


def weight(
    counts: Float[Tensor, "*axes"], x_max: float = 100.0, alpha: float = 0.75
) -> Float[Tensor, "*axes"]:
    """Return f of eq. 9, the weight of each count; 0 for a count of 0."""
    weights = (counts / x_max).clamp(max=1.0) ** alpha
    return weights.masked_fill(counts == 0, 0.0)  # 0⁰ = 1 would fit pairs that do not occur


def count_cooccurrences(
    sentences: Iterable[Sequence[int]],
    vocab_size: int,
    window: int = 10,
    *,
    symmetric: bool = True,
    by_distance: bool = True,
) -> Float[Tensor, "vocab vocab"]:
    """Return X as a sparse tensor, the counts of word j around word i.

    `X.indices()` are the i and j of the pairs that occur and `X.values()` their counts, as `GloVe`
    expects them.

    Args:
        sentences: lists of ids; windows do not cross sentences.
        vocab_size: number of words.
        window: number of positions on each side.
        symmetric: use both sides, or only the left context.
        by_distance: count a pair at distance d as 1/d (section 4.2) instead of 1.
    """
    sums: list[tuple[Tensor, Tensor]] = []
    for centers, contexts, mask, distances in windows_in_blocks(sentences, window, BLOCK):
        check_range(centers, vocab_size, "sentences")
        if not symmetric:
            mask[:, window:] = False  # the right context
        row, column = mask.nonzero(as_tuple=True)
        counts = 1 / distances[column] if by_distance else torch.ones(len(row))
        pairs = centers[row] * vocab_size + contexts[row, column]
        sums.append(_summed([(pairs, counts)]))
        if sum(len(block) for block, _ in sums[1:]) > len(sums[0][0]):  # rarely: it sorts all
            sums = [_summed(sums)]
    pairs, counts = _summed(sums)
    indices = torch.stack([pairs // vocab_size, pairs % vocab_size])
    size = (vocab_size, vocab_size)
    return torch.sparse_coo_tensor(indices, counts, size, is_coalesced=True, check_invariants=True)


def _summed(
    blocks: list[tuple[Tensor, Tensor]],
) -> tuple[Int[Tensor, " pair"], Float[Tensor, " pair"]]:
    """Return each pair once, i · vocab_size + j in ascending order, with its total count."""
    pairs, counts = (torch.cat(parts) for parts in zip(*blocks, strict=True))
    unique, inverse = pairs.unique(return_inverse=True)
    return unique, counts.new_zeros(len(unique)).index_add_(0, inverse, counts)
