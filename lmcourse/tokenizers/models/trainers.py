"""Trainers: from counted words to a model, with every step kept."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from lmcourse.errors import CourseError
from lmcourse.tokenizers.component import Count, Positive
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.merging import MergeStep, Pieces, spelled
from lmcourse.tokenizers.models.merging_fast import learn_merges_fast
from lmcourse.tokenizers.models.scores import Score, frequency, likelihood, pmi
from lmcourse.tokenizers.models.settings import (
    Alphabet,
    SpecialTokens,
    check_settings,
    contents,
    library_tokens,
)
from lmcourse.tokenizers.models.training import Training, checked_counts, too_small
from lmcourse.tokenizers.models.wordpiece import WordPiece

if TYPE_CHECKING:
    import tokenizers

SCORES: dict[str, Score] = {"likelihood": likelihood, "pmi": pmi, "frequency": frequency}


@dataclass(frozen=True)
class MergeTrainer:
    """What training BPE and training WordPiece have in common.

    Args:
        vocab_size: tokens in all: special tokens, alphabet and merges.
        min_frequency: stop when no pair occurs so often.
        special_tokens: tokens that text never has; they take the first ids.
        limit_alphabet: keep so many characters, the most frequent (of equal ones those with the
            lower code point; the library leaves that to chance). Others are left out of their
            words.
        initial_alphabet: characters that are kept even if the corpus lacks them.
        continuing_subword_prefix: stands before every piece but a word's first.
        end_of_word_suffix: stands after a word's last piece.

    Raises:
        CourseError: a setting is of another kind, or a special token is listed twice.
    """

    vocab_size: Positive = 30_000
    min_frequency: Count = 0
    special_tokens: SpecialTokens = ()
    limit_alphabet: Positive | None = None
    initial_alphabet: Alphabet = ()
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None

    def __post_init__(self) -> None:
        check_settings(self)

    def alphabet(self, word_counts: Mapping[str, int]) -> list[str]:
        """The characters that are kept, by code point."""
        counts: dict[str, float] = {}
        for word, count in word_counts.items():
            for character in word:
                counts[character] = counts.get(character, 0) + count
        counts |= dict.fromkeys(self.initial_alphabet, float("inf"))
        kept = sorted(counts, key=lambda character: (-counts[character], character))
        return sorted(kept[: self.limit_alphabet])

    def words(self, word_counts: Mapping[str, int]) -> dict[Pieces, int]:
        """The words cut into their first pieces, and their counts: where the training starts."""
        known = {*contents(self.special_tokens), *self.alphabet(word_counts)}
        prefix, suffix = self.continuing_subword_prefix or "", self.end_of_word_suffix or ""
        words: dict[Pieces, int] = {}
        for word, count in word_counts.items():
            pieces = zip(word, spelled(word, prefix, suffix), strict=True)
            kept = tuple(piece for character, piece in pieces if character in known)
            words[kept] = words.get(kept, 0) + count
        return words

    def first_tokens(self, word_counts: Mapping[str, int]) -> list[str]:
        """The tokens before any merge, in the order of their ids.

        These are the special tokens, the alphabet, and the pieces that carry the prefix or suffix
        (by code point; the library leaves their order to chance).

        Raises:
            CourseError: they are more than ``vocab_size``.
        """
        specials, alphabet = contents(self.special_tokens), self.alphabet(word_counts)
        pieces = {piece for word in self.words(word_counts) for piece in word}
        tokens = list(dict.fromkeys([*specials, *alphabet, *sorted(pieces)]))
        if len(tokens) > self.vocab_size:
            settled = {*specials, *self.initial_alphabet}  # these are kept in any case
            raise too_small(self.vocab_size, len(tokens), len(settled) < self.vocab_size)
        return tokens

    def _learn(
        self, counts: Mapping[str, int], score: Score
    ) -> tuple[dict[str, int], list[MergeStep]]:
        """The vocabulary, and the merges that made it."""
        tokens, words = self.first_tokens(counts), self.words(counts)
        prefix = self.continuing_subword_prefix or ""
        steps = list(
            learn_merges_fast(words, tokens, self.vocab_size, self.min_frequency, score, prefix)
        )
        tokens = list(dict.fromkeys([*tokens, *(step.token for step in steps)]))
        return {token: id_ for id_, token in enumerate(tokens)}, steps

    def _library_options(self) -> dict[str, Any]:
        """What the library's trainer is called with; it knows no None."""
        options = {
            "vocab_size": self.vocab_size,
            "min_frequency": self.min_frequency,
            "special_tokens": library_tokens(self.special_tokens),
            "limit_alphabet": self.limit_alphabet,
            "initial_alphabet": list(self.initial_alphabet),
            "continuing_subword_prefix": self.continuing_subword_prefix,
            "end_of_word_suffix": self.end_of_word_suffix,
            "show_progress": False,
        }
        return {name: value for name, value in options.items() if value is not None}


@dataclass(frozen=True)
class BpeTrainer(MergeTrainer):
    """Train BPE: merge the most frequent pair, again and again (see ``merging``).

    Its settings are those of ``MergeTrainer``.
    """

    def train(
        self, word_counts: Mapping[str, int], model: BPE | None = None
    ) -> Training[BPE, MergeStep]:
        """Learn merges.

        Args:
            word_counts: how often each word (as the pre-tokenizer cuts them) occurs.
            model: where the model's other options come from: unknown token, dropout, and so on.

        Raises:
            CourseError: there is nothing to learn from, ``vocab_size`` is too small, or the
                model's unknown token is not among the special tokens.
        """
        counts = checked_counts(word_counts)
        vocab, steps = self._learn(counts, frequency)
        trained = msgspec.structs.replace(
            model or BPE(),
            continuing_subword_prefix=self.continuing_subword_prefix,
            end_of_word_suffix=self.end_of_word_suffix,
            vocab=vocab,
            merges=_last_of_each(steps),
        )
        return Training(trained, steps, self, counts)

    def to_library(self) -> "tokenizers.trainers.BpeTrainer":
        """The same trainer of the ``tokenizers`` library."""
        from tokenizers import trainers

        return trainers.BpeTrainer(**self._library_options())


@dataclass(frozen=True)
class WordPieceTrainer(MergeTrainer):
    """Train WordPiece.

    Args:
        score: ``"likelihood"`` merges the pair that raises the likelihood most (Schuster &
            Nakajima 2012); ``"pmi"`` the one that raises it most per occurrence, as it is often
            taught; ``"frequency"`` the most frequent one, which is BPE, and what the ``tokenizers``
            library does. See ``scores``.
        (and those of ``MergeTrainer``)
    """

    continuing_subword_prefix: str = "##"
    score: Literal["likelihood", "pmi", "frequency"] = "likelihood"

    def train(
        self, word_counts: Mapping[str, int], model: WordPiece | None = None
    ) -> Training[WordPiece, MergeStep]:
        """Learn pieces.

        Args:
            word_counts: how often each word (as the pre-tokenizer cuts them) occurs.
            model: where the unknown token and the longest word come from.

        Raises:
            CourseError: there is nothing to learn from, ``vocab_size`` is too small, or the
                model's unknown token is not among the special tokens.
        """
        counts = checked_counts(word_counts)
        vocab, steps = self._learn(counts, SCORES[self.score])
        trained = msgspec.structs.replace(
            model or WordPiece(),
            continuing_subword_prefix=self.continuing_subword_prefix,
            vocab=vocab,
        )
        return Training(trained, steps, self, counts)

    def to_library(self) -> "tokenizers.trainers.WordPieceTrainer":
        """The same trainer of the ``tokenizers`` library.

        Raises:
            CourseError: the score is not frequency, the only one that the library has.
        """
        from tokenizers import trainers

        if self.score != "frequency":
            raise CourseError(
                f"The tokenizers library cannot train WordPiece by {self.score}.",
                "Train with the course's own trainer, or set score='frequency'.",
            )
        return trainers.WordPieceTrainer(**self._library_options())


def _last_of_each(steps: Iterable[MergeStep]) -> tuple[tuple[str, str], ...]:
    """The merges, each pair once, where it stands last (for which see ``learn_merges``)."""
    last = {step.pair: number for number, step in enumerate(steps)}
    return tuple(sorted(last, key=last.__getitem__))
