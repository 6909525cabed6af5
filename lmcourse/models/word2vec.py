"""word2vec: a word's vector is what predicts the words around it (chapter 05).

Every word has two vectors: v as the word that is looked from, u as the word that is predicted.
Skip-gram predicts each word around from the word in the middle (Mikolov et al. 2013b, "Distributed
representations of words and phrases and their compositionality", eq. 2):

    p(o | c) = exp(u_o · v_c) / Σ_w exp(u_w · v_c)

CBOW, the continuous bag of words, predicts the middle from the mean of the words around it
(Mikolov et al. 2013a, "Efficient estimation of word representations in vector space", section 3.1):

    p(c | context) = exp(u_c · h) / Σ_w exp(u_w · h)        h = mean of v over the context

The full softmax is for small vocabularies. With negative sampling each pair is compared with a few
invented ones (see `lmcourse.models.negative_sampling`). The vectors v are the result.

These losses have exact gradients. The published program and gensim change every context vector of
CBOW by the gradient of h, where the gradient of a mean is that over the number of contexts (Irsoy
et al. 2021, "Corrected CBOW performs as well as skip-gram").
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import check_mask, check_range, check_settings
from lmcourse.models.negative_sampling import negative_sampling_loss
from lmcourse.models.outputs import ModelOutput


@dataclass(frozen=True)
class Word2VecConfig:
    """The sizes of either model.

    Attributes:
        vocab_size: how many words.
        hidden_size: width of a vector.
        cbow_mean: CBOW's h is the mean of the context's vectors, or else their sum.
        sparse: whether gradients hold only the rows that a batch touches, for a large vocabulary
            (with `torch.optim.SparseAdam` or SGD).
    """

    vocab_size: int
    hidden_size: int = 100
    cbow_mean: bool = True
    sparse: bool = False

    def __post_init__(self) -> None:
        check_settings(self, ("vocab_size", "hidden_size"))

    @classmethod
    def google_news(cls) -> "Word2VecConfig":
        """The published vectors: three million words and phrases of news, 300 numbers each."""
        return cls(vocab_size=3_000_000, hidden_size=300)


@dataclass(frozen=True)
class Word2VecOutput(ModelOutput):
    """What one call returns.

    Attributes:
        loss: nats, the mean over the batch.
        scores: u · v of each real pair.
        negative_scores: those of the invented pairs, with negative sampling.
        logits: the scores of all words, with the full softmax.
    """

    loss: Float[Tensor, ""]
    scores: Float[Tensor, " batch"]
    negative_scores: Float[Tensor, "batch negative"] | None = None
    logits: Float[Tensor, "batch vocab"] | None = None


class Word2Vec(Model):
    """The two vectors of each word, which skip-gram and CBOW learn in their own ways."""

    Config: ClassVar[type] = Word2VecConfig
    config: Word2VecConfig

    def __init__(self, config: Word2VecConfig) -> None:
        super().__init__(config)
        # v, small and random; u, zero: so the published program starts, and all words are alike.
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
    """A word predicts each word around it."""

    def forward(
        self,
        centers: Int[Tensor, " batch"],
        contexts: Int[Tensor, " batch"],
        negatives: Int[Tensor, "batch negative"] | None = None,
    ) -> Word2VecOutput:
        """How well each center predicts its context.

        Args:
            centers, contexts: the two words of each pair (see `context_pairs`).
            negatives: invented contexts (see `draw_negatives`); None: the full softmax.

        Raises:
            CourseError: a shape or an id does not fit.
        """
        _check(self.config.vocab_size, centers, contexts, 1, negatives)
        hidden = self.input_embeddings(centers)
        return _predict(self.output_embeddings, hidden, contexts, negatives)


class CBOW(Word2Vec):
    """The words around predict the word in the middle."""

    def forward(
        self,
        centers: Int[Tensor, " batch"],
        contexts: Int[Tensor, "batch place"],
        negatives: Int[Tensor, "batch negative"] | None = None,
        context_mask: Bool[Tensor, "batch place"] | Int[Tensor, "batch place"] | None = None,
    ) -> Word2VecOutput:
        """How well each context predicts its center.

        Args:
            centers: the word in the middle.
            contexts: the words around it (see `context_windows`).
            negatives: invented centers; None: the full softmax.
            context_mask: 1 where there is a context word. A window without any predicts from a
                vector of zeros: every word is as likely as every other.

        Raises:
            CourseError: a shape, an id or the mask does not fit.
        """
        _check(self.config.vocab_size, centers, contexts, 2, negatives)
        if context_mask is None:
            context_mask = torch.ones_like(contexts)
        if context_mask.shape != contexts.shape:
            raise CourseError(
                f"context_mask has shape {tuple(context_mask.shape)}, contexts "
                f"{tuple(contexts.shape)}.",
                "Give one number of context_mask for each context word.",
            )
        check_mask(context_mask, "context_mask")
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
    """The loss of predicting the targets from v or h: eq. 4 with negatives, eq. 2 without."""
    targets = targets.long()  # cross-entropy takes no smaller integers
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
    """See that the ids are ids, and as many as there are centers.

    Args:
        axes: how many the contexts have.

    Raises:
        CourseError: they are not.
    """
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
