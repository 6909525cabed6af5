"""word2vec: word vectors that predict neighboring words (chapter 05).

Every word has two vectors, v as an input and u as an output. Skip-gram predicts each context word
from the center word (Mikolov et al. 2013b, "Distributed
representations of words and phrases and their compositionality", eq. 2):

    p(o | c) = exp(u_o · v_c) / Σ_w exp(u_w · v_c)

CBOW, the continuous bag of words, predicts the center from the mean of the context words
(Mikolov et al. 2013a, "Efficient estimation of word representations in vector space", section 3.1):

    p(c | context) = exp(u_c · h) / Σ_w exp(u_w · h)        h = mean of v over the context

The full softmax suits small vocabularies. Negative sampling compares each pair with a few noise
pairs (see `lmcourse.models.negative_sampling`). The vectors v are the result.

Gradients are exact here. The published program and gensim update every context vector of CBOW by
the gradient of h, without dividing it by the number of contexts (Irsoy et al. 2021, "Corrected CBOW
performs as well as skip-gram").
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import check_range
from lmcourse.models.negative_sampling import negative_sampling_loss
from lmcourse.models.outputs import ModelOutput


@dataclass(frozen=True)
class Word2VecConfig:
    """Settings of both models.

    Attributes:
        vocab_size: number of words.
        hidden_size: width of a vector.
        cbow_mean: CBOW averages the context vectors instead of summing them.
        sparse: use sparse gradients, for a large vocabulary (with `torch.optim.SparseAdam` or SGD).
    """

    vocab_size: int
    hidden_size: int = 100
    cbow_mean: bool = True
    sparse: bool = False

    @classmethod
    def google_news(cls) -> "Word2VecConfig":
        """The published vectors: three million words and phrases of news, 300 numbers each."""
        return cls(vocab_size=3_000_000, hidden_size=300)


@dataclass(frozen=True)
class Word2VecOutput(ModelOutput):
    """Output of both models.

    Attributes:
        loss: the mean over the batch, in nats.
        scores: u · v of each real pair.
        negative_scores: u · v of the noise pairs, with negative sampling.
        logits: the scores of all words, with the full softmax.
    """

    loss: Float[Tensor, ""]
    scores: Float[Tensor, " batch"]
    negative_scores: Float[Tensor, "batch negative"] | None = None
    logits: Float[Tensor, "batch vocab"] | None = None


class Word2Vec(Model):
    """The two vectors of each word, base of `SkipGram` and `CBOW`."""

    Config: ClassVar[type] = Word2VecConfig
    config: Word2VecConfig

    def __init__(self, config: Word2VecConfig) -> None:
        super().__init__(config)
        # v small and random, u zero, as in the published program: all words start equally likely.
        self.input_embeddings, self.output_embeddings = (
            nn.Embedding(config.vocab_size, config.hidden_size, sparse=config.sparse)
            for _ in range(2)
        )
        bound = 0.5 / config.hidden_size
        nn.init.uniform_(self.input_embeddings.weight, -bound, bound)
        nn.init.zeros_(self.output_embeddings.weight)

    @property
    def vectors(self) -> Float[Tensor, "vocab width"]:
        """The words' vectors v, without a gradient."""
        return self.input_embeddings.weight.detach()


class SkipGram(Word2Vec):
    """The center word predicts each context word."""

    def forward(
        self,
        centers: Int[Tensor, " batch"],
        contexts: Int[Tensor, " batch"],
        negatives: Int[Tensor, "batch negative"] | None = None,
    ) -> Word2VecOutput:
        """Predict contexts from centers.

        Args:
            centers, contexts: the two words of each pair (see `context_pairs`).
            negatives: noise words (see `draw_negatives`); None: the full softmax.
        """
        _check(self.config.vocab_size, centers, contexts, 1, negatives)
        hidden = self.input_embeddings(centers)
        return _predict(self.output_embeddings, hidden, contexts, negatives)


class CBOW(Word2Vec):
    """The context words predict the center word."""

    def forward(
        self,
        centers: Int[Tensor, " batch"],
        contexts: Int[Tensor, "batch position"],
        negatives: Int[Tensor, "batch negative"] | None = None,
        context_mask: Bool[Tensor, "batch position"] | Int[Tensor, "batch position"] | None = None,
    ) -> Word2VecOutput:
        """Predict centers from contexts.

        Args:
            centers, contexts: as from `context_windows`.
            negatives: noise words; None: the full softmax.
            context_mask: 1 where there is a context word. An empty window predicts from a vector of
                zeros.
        """
        _check(self.config.vocab_size, centers, contexts, 2, negatives)
        if context_mask is None:
            context_mask = torch.ones_like(contexts)
        weights = context_mask.to(self.input_embeddings.weight.dtype)
        if self.config.cbow_mean:
            weights = weights / weights.sum(-1, keepdim=True).clamp(min=1)
        hidden = (weights.unsqueeze(-1) * self.input_embeddings(contexts)).sum(1)
        return _predict(self.output_embeddings, hidden, centers, negatives)


def _predict(
    output: nn.Embedding,
    hidden: Float[Tensor, "batch width"],
    targets: Int[Tensor, " batch"],
    negatives: Int[Tensor, "batch negative"] | None,
) -> Word2VecOutput:
    """Predict the targets from v or h: eq. 4 with negatives, eq. 2 without."""
    targets = targets.long()  # cross-entropy needs int64
    if negatives is None:
        logits = hidden @ output.weight.T
        scores = logits.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
        return Word2VecOutput(functional.cross_entropy(logits, targets), scores, logits=logits)
    scores = (output(targets) * hidden).sum(-1)
    negative_scores = (output(negatives) * hidden.unsqueeze(1)).sum(-1)
    counted = negatives != targets.unsqueeze(-1)
    loss = negative_sampling_loss(scores, negative_scores, counted)
    return Word2VecOutput(loss, scores, negative_scores)


def _check(
    vocab_size: int, centers: Tensor, contexts: Tensor, axes: int, negatives: Tensor | None
) -> None:
    """Check the ids, their number, and the contexts' number of axes."""
    for name, ids, wanted in (
        ("centers", centers, 1),
        ("contexts", contexts, axes),
        ("negatives", negatives, 2),
    ):
        if ids is None:
            continue
        if ids.ndim != wanted or not ids.numel() or len(ids) != len(centers):
            raise CourseError(
                f"{name} has shape {tuple(ids.shape)}, centers {tuple(centers.shape)}.",
                f"Give {name} with {wanted} {'axis' if wanted == 1 else 'axes'}, one row a center.",
            )
        check_range(ids, vocab_size, name)
