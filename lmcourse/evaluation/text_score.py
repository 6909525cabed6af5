"""What a language model loses on texts: by token, by word and by byte, with standard errors."""

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
    """Sums over each document. The documents are the units of all standard errors.

    Attributes:
        nats: −log p of all predicted tokens.
        tokens: how many these are.
        words, bytes: of the document's text: what stands between spaces, and UTF-8's bytes. None
            where the text was not given.
        pseudo: whether these are *pseudo* log-likelihoods, each token given all others
            (`lmcourse.evaluation.pseudo_perplexity`).
    """

    nats: Float[np.ndarray, " document"]
    tokens: Int[np.ndarray, " document"]
    words: Int[np.ndarray, " document"] | None = None
    bytes: Int[np.ndarray, " document"] | None = None
    pseudo: bool = False

    @property
    def nats_per_token(self) -> Score:
        """The mean of −log p: what is averaged is tokens, not documents."""
        return mean_of_ratio(self.nats, self.tokens)

    @property
    def perplexity(self) -> Score:
        """exp(nats a token): among how many equally likely tokens the model hesitates."""
        return _exponential(self.nats_per_token)

    @property
    def word_perplexity(self) -> Score:
        """exp(nats a word): comparable between models that cut words differently.

        Raises:
            CourseError: the texts were not given.
        """
        return _exponential(mean_of_ratio(self.nats, self._of_text("words", self.words)))

    @property
    def bits_per_byte(self) -> Score:
        """How many bits the model's code takes for one byte of text: comparable between all.

        A model is a compressor: with arithmetic coding, a token of probability p takes −log₂ p
        bits.

        Raises:
            CourseError: the texts were not given; the scores are pseudo log-likelihoods.
        """
        if self.pseudo:
            raise CourseError(
                "A pseudo log-likelihood is no code's length: who decodes a token does not yet "
                "have those behind it.",
                "Compare masked models with one vocabulary by their pseudo-perplexity.",
            )
        of_bytes = mean_of_ratio(self.nats, self._of_text("bytes", self.bytes))
        return Score(*(each / np.log(2) for each in of_bytes))

    def __repr__(self) -> str:
        kind = "pseudo-perplexity" if self.pseudo else "perplexity"
        many = f"{self.tokens.sum():,} tokens in {len(self.tokens):,} documents"
        told = [f"{kind} {self.perplexity}", f"{self.nats_per_token} nats a token"]
        if self.bytes is not None and not self.pseudo:
            told.append(f"{self.bits_per_byte} bits a byte")
        return f"TextScore({', '.join(told)}; {many})"

    def _of_text(self, what: str, counts: np.ndarray | None) -> np.ndarray:
        if counts is None or not counts.sum():
            raise CourseError(f"The {what} of these texts are not known.", "Pass texts=….")
        return counts


def scored_text(
    log_probabilities: Sequence[Tensor], texts: Sequence[str] | None, pseudo: bool = False
) -> TextScore:
    """Sums over documents, of each one's log-probabilities.

    Raises:
        CourseError: there are not as many texts, or they are no strings.
    """
    nats = np.array([-row.double().sum().item() for row in log_probabilities])
    tokens = np.array([len(row) for row in log_probabilities])
    if texts is None:
        return TextScore(nats, tokens, pseudo=pseudo)
    strings = not isinstance(texts, str) and all(isinstance(text, str) for text in texts)
    if not strings or len(texts) != len(nats):
        raise CourseError(
            f"texts is {'no list of strings' if not strings else f'{len(texts)} strings'}, for "
            f"{len(nats)} documents.",
            "Pass the text of each document, in their order.",
        )
    words = np.array([len(text.split()) for text in texts])
    return TextScore(nats, tokens, words, np.array([len(it.encode()) for it in texts]), pseudo)


def documents_of(
    documents: Sequence[Any], start: int | None = None, least: int = 2
) -> list[Int[Tensor, " tokens"]]:
    """Each document's ids as a tensor, behind the one that is read before it.

    Args:
        least: how many tokens one of them must have at least, that one included.

    Raises:
        CourseError: these are no lists of ids, or nothing is there to be predicted.
    """
    before = [] if start is None else [start]
    rows = [_ids(document, before) for document in documents]
    if not rows:
        raise CourseError("There is no text.", "Pass one document or more, each a list of ids.")
    if not any(len(row) >= least for row in rows):
        count, needed = len(rows[0]) - len(before), least - len(before)
        told = f"{count} tokens has none" if count else "no token has none"
        one = f"A text of {told}" if len(rows) == 1 else "These texts have none"
        raise CourseError(
            f"{one} to predict.", f"Give at least {'one token' if needed == 1 else 'two tokens'}."
        )
    return rows


def _ids(document: Any, before: list[int]) -> Int[Tensor, " tokens"]:
    remedy = "Give documents as lists of ids: [[3, 1, 4], [1, 5]]; a single one is [[3, 1]]."
    if isinstance(document, str):
        raise CourseError("A document is a string.", remedy)
    try:
        found = document.detach().cpu() if isinstance(document, Tensor) else torch.tensor(document)
    except (TypeError, ValueError, RuntimeError):
        raise CourseError(f"A document is {document!r:.60}.", remedy) from None
    whole = not (found.is_floating_point() or found.is_complex() or found.dtype == torch.bool)
    if found.ndim != 1 or (len(found) and not whole):
        raise CourseError(
            f"A document has the shape {tuple(found.shape)} and the type {found.dtype}.", remedy
        )
    return torch.cat([torch.tensor(before, dtype=torch.long), found.long()])


def _exponential(nats: Score) -> Score:
    """exp of a mean; its error to first order, its interval mapped end by end."""
    value = np.exp(nats.value)
    return Score(
        float(value), float(value * nats.error), float(np.exp(nats.low)), float(np.exp(nats.high))
    )
