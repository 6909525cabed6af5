"""GloVe: vectors whose products are the logarithms of co-occurrence counts (chapter 05).

X_ij says how often word j stands in the context of word i. Pennington et al. (2014) fit log X_ij
by least squares, weighted by f (eq. 8 and 9):

    J = Σ_{i,j} f(X_ij) (w_i · w̃_j + b_i + b̃_j − log X_ij)²

    f(x) = (x / x_max)^α if x < x_max, else 1        x_max = 100, α = 3/4

Rare pairs are noise and weigh little; pairs that never occur weigh nothing, so that log 0 is never
needed. Each word has two vectors, w as a word and w̃ as a context; the result is w + w̃ (section
4.2).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.checkpoint import Model
from lmcourse.models.context_windows import context_windows
from lmcourse.models.inputs import check_range, check_settings
from lmcourse.models.outputs import ModelOutput


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
        check_settings(self, ("vocab_size", "hidden_size"))

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
        if not counts.is_meta and not bool((counts >= 0).all()):
            raise CourseError(
                f"A pair has the count {float(counts.min()):g}.",
                "Counts are 0 or more: give X_ij itself, not its logarithm.",
            )


def weight(
    counts: Float[Tensor, "*axes"], x_max: float = 100.0, alpha: float = 0.75
) -> Float[Tensor, "*axes"]:
    """f of eq. 9: how much a pair with each count weighs."""
    return (counts / x_max).clamp(max=1.0) ** alpha


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
    centers, contexts, mask, distances = context_windows(sentences, window)
    check_range(centers, vocab_size, "sentences")
    if not symmetric:
        mask[:, window:] = False  # the places after the word
    row, place = mask.nonzero(as_tuple=True)
    pairs = torch.stack([centers[row], contexts[row, place]])
    counts = torch.ones(len(row))
    if by_distance:
        counts = counts / distances[place]
    size = (vocab_size, vocab_size)
    return torch.sparse_coo_tensor(pairs, counts, size, check_invariants=True).coalesce()
