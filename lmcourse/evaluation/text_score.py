"""A language model's loss on texts: per token, word and byte, with standard errors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.evaluation.uncertainty import Score, mean_of_ratio


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


def scored_text(log_probabilities: Sequence[Tensor], texts: Sequence[str] | None) -> TextScore:
    """Return the sums over documents of their log-probabilities."""
    nats = np.array([-row.double().sum().item() for row in log_probabilities])
    tokens = np.array([len(row) for row in log_probabilities])
    if texts is None:
        return TextScore(nats, tokens)
    words = np.array([len(text.split()) for text in texts])
    return TextScore(nats, tokens, words, np.array([len(it.encode()) for it in texts]))


def documents_of(
    documents: Sequence[Any], start: int | None = None
) -> list[Int[Tensor, " tokens"]]:
    """Return each document's ids as a tensor, after the ``start`` id.

    Args:
        start: read before each document; None: nothing.
    """
    before = [] if start is None else [start]
    rows = [_ids(document, before) for document in documents]
    if not rows:
        raise CourseError("There is no text.", "Pass one document or more, each a list of ids.")
    if not any(len(row) > 1 for row in rows):
        needed = "one token" if before else "two tokens"
        raise CourseError("These texts have no token to predict.", f"Pass at least {needed}.")
    return rows


def _ids(document: Any, before: list[int]) -> Int[Tensor, " tokens"]:
    ids = document.tolist() if isinstance(document, Tensor) else list(document)
    return torch.tensor([*before, *ids], dtype=torch.long)


def _exponential(nats: Score) -> Score:
    """exp of a mean, with its error to first order and the transformed interval."""
    value = np.exp(nats.value)
    return Score(
        float(value), float(value * nats.error), float(np.exp(nats.low)), float(np.exp(nats.high))
    )
