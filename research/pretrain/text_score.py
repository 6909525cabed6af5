"""A language model's loss on texts: per token, word and byte, with standard errors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.evaluation.perplexity import log_probabilities
from lmcourse.evaluation.uncertainty import Score, mean_of_ratio
from lmcourse.models.ngram import NGramModel


@dataclass(frozen=True, repr=False)
class TextScore:
    """Sums over each document. All standard errors are over documents.

    Attributes:
        nats: −log p of all predicted tokens.
        tokens: the number of predicted tokens.
        words, bytes: the numbers of words between spaces and of UTF-8 bytes of the text; None if
            the texts were not passed.
    """

    nats: Float[np.ndarray, " document"]
    tokens: Int[np.ndarray, " document"]
    words: Int[np.ndarray, " document"] | None = None
    bytes: Int[np.ndarray, " document"] | None = None

    @property
    def nats_per_token(self) -> Score:
        """The mean of −log p over tokens, not over documents."""
        return mean_of_ratio(self.nats, self.tokens)

    @property
    def perplexity(self) -> Score:
        """exp(nats per token): the number of equally likely tokens with the same loss."""
        return _exponential(self.nats_per_token)

    @property
    def word_perplexity(self) -> Score:
        """exp(nats per word): comparable between tokenizers."""
        return _exponential(mean_of_ratio(self.nats, self._of_text("words", self.words)))

    @property
    def bits_per_byte(self) -> Score:
        """The code length of the text in bits per byte: comparable between all models.

        With arithmetic coding, a token of probability p takes −log₂ p bits.
        """
        of_bytes = mean_of_ratio(self.nats, self._of_text("bytes", self.bytes))
        return Score(*(each / np.log(2) for each in of_bytes))

    def __repr__(self) -> str:
        size = f"{self.tokens.sum():,} tokens in {len(self.tokens):,} documents"
        scores = [f"perplexity {self.perplexity}", f"{self.nats_per_token} nats per token"]
        if self.bytes is not None:
            scores.append(f"{self.bits_per_byte} bits per byte")
        return f"TextScore({', '.join(scores)}; {size})"

    def _of_text(self, what: str, counts: np.ndarray | None) -> np.ndarray:
        if counts is None or not counts.sum():
            raise CourseError(f"The {what} of these texts are not known.", "Pass texts=….")
        return counts


def text_score(
    model: NGramModel | nn.Module,
    documents: Sequence[Any],
    *,
    texts: Sequence[str] | None = None,
    start: int | None = None,
    window: int | None = None,
    stride: int | None = None,
) -> TextScore:
    """Return the perplexity over documents with standard errors; per word and byte given the texts.

        text_score(model, [review.ids for review in reviews], start=end_id).perplexity

    Args:
        model, documents, start, window, stride: as in `log_probabilities`.
        texts: the text of each document. They need ``start``: otherwise the first token is not
            predicted, but its bytes would count.

    Raises:
        CourseError: as in `log_probabilities`; there are not as many texts as documents.
    """
    if texts is not None and start is None:
        raise CourseError(
            "The first token of each text is not predicted, but its bytes would count.",
            "Pass the id to read before each text: start=….",
        )
    found = log_probabilities(model, documents, start=start, window=window, stride=stride)
    return scored_text(found, texts)


def scored_text(log_probabilities: Sequence[Tensor], texts: Sequence[str] | None) -> TextScore:
    """Return the sums over documents of their log-probabilities."""
    nats = np.array([-row.double().sum().item() for row in log_probabilities])
    tokens = np.array([len(row) for row in log_probabilities])
    if texts is None:
        return TextScore(nats, tokens)
    words = np.array([len(text.split()) for text in texts])
    return TextScore(nats, tokens, words, np.array([len(it.encode()) for it in texts]))


def _exponential(nats: Score) -> Score:
    """exp of a mean, with its error to first order and the transformed interval."""
    value = np.exp(nats.value)
    return Score(
        float(value), float(value * nats.error), float(np.exp(nats.low)), float(np.exp(nats.high))
    )
