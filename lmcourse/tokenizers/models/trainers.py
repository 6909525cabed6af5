"""Trainers: from counted words to a model, with every step kept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from lmcourse.errors import CourseError
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.merging import MergeStep, Pieces, spelled
from lmcourse.tokenizers.models.merging_fast import learn_merges_fast
from lmcourse.tokenizers.models.scores import Score, frequency, likelihood, pmi
from lmcourse.tokenizers.models.training import Training, checked_counts, checked_specials
from lmcourse.tokenizers.models.wordpiece import WordPiece

if TYPE_CHECKING:
    import tokenizers


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
    """

    vocab_size: int = 30_000
    min_frequency: int = 0
    special_tokens: Sequence[str] = ()
    limit_alphabet: int | None = None
    initial_alphabet: Sequence[str] = ()

    def alphabet(self, word_counts: Mapping[str, int]) -> list[str]:
        """The characters that are kept, by code point.

        Raises:
            CourseError: ``initial_alphabet`` holds something else than single characters, or
                ``limit_alphabet`` is below 1.
        """
        if self.limit_alphabet is not None and self.limit_alphabet < 1:
            raise CourseError(
                f"An alphabet limited to {self.limit_alphabet} characters leaves no text.",
                "Set limit_alphabet to 1 or more, or leave it out to keep every character.",
            )
        for character in self.initial_alphabet:
            if len(character) != 1:
                raise CourseError(
                    f"The initial alphabet lists {character!r}, which is not one character.",
                    "List single characters, such as ['a', 'b'] or simply 'ab'.",
                )
        counts: dict[str, float] = {}
        for word, count in word_counts.items():
            for character in word:
                counts[character] = counts.get(character, 0) + count
        counts |= dict.fromkeys(self.initial_alphabet, float("inf"))
        kept = sorted(counts, key=lambda character: (-counts[character], character))
        return sorted(kept[: self.limit_alphabet])

    def words(
        self, word_counts: Mapping[str, int], prefix: str = "", suffix: str = ""
    ) -> dict[Pieces, int]:
        """The words cut into their first pieces, and their counts: where the training starts."""
        known = {*self.special_tokens, *self.alphabet(word_counts)}
        words: dict[Pieces, int] = {}
        for word, count in word_counts.items():
            pieces = zip(word, spelled(word, prefix, suffix), strict=True)
            kept = tuple(piece for character, piece in pieces if character in known)
            words[kept] = words.get(kept, 0) + count
        return words

    def first_tokens(
        self, word_counts: Mapping[str, int], prefix: str = "", suffix: str = ""
    ) -> list[str]:
        """The tokens before any merge, in the order of their ids.

        These are the special tokens, the alphabet, and the pieces that carry the prefix or suffix
        (by code point; the library leaves their order to chance).

        Raises:
            CourseError: they are more than ``vocab_size``, or the special tokens are no list of
                different ones.
        """
        specials = checked_specials(self.special_tokens)
        alphabet = self.alphabet(word_counts)
        pieces = {piece for word in self.words(word_counts, prefix, suffix) for piece in word}
        tokens = list(dict.fromkeys([*specials, *alphabet, *sorted(pieces)]))
        if len(tokens) > self.vocab_size:
            raise CourseError(
                f"A vocabulary of {self.vocab_size} tokens is too small: special tokens and "
                f"alphabet alone are {len(tokens)}.",
                f"Set vocab_size to more than {len(tokens)}, or limit_alphabet to fewer characters "
                "than the corpus has.",
            )
        return tokens

    def _learn(
        self,
        word_counts: Mapping[str, int],
        prefix: str | None,
        suffix: str | None,
        score: Score,
    ) -> tuple[dict[str, int], list[MergeStep]]:
        """The vocabulary, and the merges that made it."""
        counts = checked_counts(word_counts)
        tokens = self.first_tokens(counts, prefix or "", suffix or "")
        words = self.words(counts, prefix or "", suffix or "")
        steps = list(
            learn_merges_fast(
                words, tokens, self.vocab_size, self.min_frequency, score, prefix or ""
            )
        )
        tokens = list(dict.fromkeys([*tokens, *(step.token for step in steps)]))
        return {token: id_ for id_, token in enumerate(tokens)}, steps

    def _library_options(self, **more: str | None) -> dict[str, Any]:
        """What the library's trainer is called with; it knows no None."""
        options = {
            "vocab_size": self.vocab_size,
            "min_frequency": self.min_frequency,
            "special_tokens": list(self.special_tokens),
            "limit_alphabet": self.limit_alphabet,
            "initial_alphabet": list(self.initial_alphabet),
            "show_progress": False,
            **more,
        }
        return {name: value for name, value in options.items() if value is not None}


@dataclass(frozen=True)
class BpeTrainer(MergeTrainer):
    """Train BPE: merge the most frequent pair, again and again (see ``merging``).

    Args:
        continuing_subword_prefix: stands before every piece but a word's first.
        end_of_word_suffix: stands after a word's last piece.
        (and those of ``MergeTrainer``)
    """

    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None

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
        prefix, suffix = self.continuing_subword_prefix, self.end_of_word_suffix
        vocab, steps = self._learn(word_counts, prefix, suffix, frequency)
        trained = msgspec.structs.replace(
            model or BPE(),
            continuing_subword_prefix=prefix,
            end_of_word_suffix=suffix,
            vocab=vocab,
            merges=_last_of_each(steps),
        )
        return Training(trained, steps)

    def to_library(self) -> "tokenizers.trainers.BpeTrainer":
        """The same trainer of the ``tokenizers`` library."""
        from tokenizers import trainers

        options = self._library_options(
            continuing_subword_prefix=self.continuing_subword_prefix,
            end_of_word_suffix=self.end_of_word_suffix,
        )
        return trainers.BpeTrainer(**options)


@dataclass(frozen=True)
class WordPieceTrainer(MergeTrainer):
    """Train WordPiece.

    Args:
        continuing_subword_prefix: stands before every piece but a word's first.
        end_of_word_suffix: stands after a word's last piece.
        score: ``"likelihood"`` merges the pair that raises the likelihood most (Schuster &
            Nakajima 2012); ``"pmi"`` the one that raises it most per occurrence, as it is often
            taught; ``"frequency"`` the most frequent one, which is BPE, and what the ``tokenizers``
            library does. See ``scores``.
        (and those of ``MergeTrainer``)
    """

    continuing_subword_prefix: str = "##"
    end_of_word_suffix: str | None = None
    score: Literal["likelihood", "pmi", "frequency"] = "likelihood"

    def train(
        self, word_counts: Mapping[str, int], model: WordPiece | None = None
    ) -> Training[WordPiece, MergeStep]:
        """Learn pieces.

        Args:
            word_counts: how often each word (as the pre-tokenizer cuts them) occurs.
            model: where the unknown token and the longest word come from.

        Raises:
            CourseError: there is nothing to learn from, ``vocab_size`` is too small, the score is
                another one, or the model's unknown token is not among the special tokens.
        """
        scores = {"likelihood": likelihood, "pmi": pmi, "frequency": frequency}
        if self.score not in scores:
            raise CourseError(
                f"WordPiece cannot be trained by the score {self.score!r}.",
                "Choose 'likelihood' (Schuster & Nakajima 2012), 'pmi' (as it is often taught) or "
                "'frequency' (as the library).",
            )
        prefix = self.continuing_subword_prefix
        vocab, steps = self._learn(word_counts, prefix, self.end_of_word_suffix, scores[self.score])
        trained = msgspec.structs.replace(
            model or WordPiece(), continuing_subword_prefix=prefix, vocab=vocab
        )
        return Training(trained, steps)

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
        options = self._library_options(
            continuing_subword_prefix=self.continuing_subword_prefix,
            end_of_word_suffix=self.end_of_word_suffix,
        )
        return trainers.WordPieceTrainer(**options)


def _last_of_each(steps: Iterable[MergeStep]) -> tuple[tuple[str, str], ...]:
    """The merges, each pair once, where it stands last (for which see ``learn_merges``)."""
    last = {step.pair: number for number, step in enumerate(steps)}
    return tuple(sorted(last, key=last.__getitem__))
