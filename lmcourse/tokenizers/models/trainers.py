"""The trainers of BPE and WordPiece: from counted words to a model, with every step recorded."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from lmcourse.errors import CourseError
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.merging import (
    MergeStep,
    Pieces,
    Score,
    frequency,
    learn_merges,
    likelihood,
    pmi,
    spelled,
)
from lmcourse.tokenizers.models.word_model import Training, contents, nonempty, numbered, too_small
from lmcourse.tokenizers.models.wordpiece import WordPiece

if TYPE_CHECKING:
    from tokenizers import AddedToken, trainers

SCORES: dict[str, Score] = {"likelihood": likelihood, "pmi": pmi, "frequency": frequency}


@dataclass(frozen=True)
class MergeTrainer:
    """What training BPE and training WordPiece have in common; the defaults are the library's.

    Args:
        vocab_size: tokens in total: special tokens, alphabet and merges.
        min_frequency: stop when no pair occurs so often.
        special_tokens: tokens that text never has; they take the first ids.
        limit_alphabet: keep this many characters, the most frequent (of equal ones those with the
            lower code point; the library leaves that to chance). Other characters are removed from
            their words.
        initial_alphabet: characters that are kept even if the corpus lacks them.
        continuing_subword_prefix: precedes every piece except a word's first.
        end_of_word_suffix: follows a word's last piece.
    """

    vocab_size: int = 30_000
    min_frequency: int = 0
    special_tokens: "Sequence[str | AddedToken]" = ()
    limit_alphabet: int | None = None
    initial_alphabet: Sequence[str] = ()
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None

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
        """The words segmented into their first pieces, and their counts: where training starts."""
        known = {*contents(self.special_tokens), *self.alphabet(word_counts)}
        prefix, suffix = self.continuing_subword_prefix or "", self.end_of_word_suffix or ""
        words: Counter[Pieces] = Counter()
        for word, count in word_counts.items():
            pieces = zip(word, spelled(word, prefix, suffix), strict=True)
            words[tuple(piece for character, piece in pieces if character in known)] += count
        return dict(words)

    def first_tokens(self, word_counts: Mapping[str, int]) -> list[str]:
        """The tokens before any merge, in the order of their ids.

        These are the special tokens, the alphabet, and the pieces that carry the prefix or suffix
        (by code point; the library leaves their order to chance).
        """
        pieces = {piece for word in self.words(word_counts) for piece in word}
        first = [*contents(self.special_tokens), *self.alphabet(word_counts), *sorted(pieces)]
        tokens = list(dict.fromkeys(first))
        if len(tokens) > self.vocab_size:
            raise too_small(self.vocab_size, len(tokens))
        return tokens

    def _learn(
        self, counts: Mapping[str, int], score: Score
    ) -> tuple[dict[str, int], list[MergeStep]]:
        """The vocabulary, and the merges from which it results."""
        tokens, words = self.first_tokens(counts), self.words(counts)
        prefix = self.continuing_subword_prefix or ""
        steps = list(
            learn_merges(words, tokens, self.vocab_size, self.min_frequency, score, prefix)
        )
        return numbered([*tokens, *(step.token for step in steps)]), steps

    def _library_options(self) -> dict[str, Any]:
        """The arguments of the library's trainer, which does not take None."""
        options = {name: getattr(self, name) for name in MergeTrainer.__dataclass_fields__}
        for name in ("special_tokens", "initial_alphabet"):
            options[name] = list(options[name])
        return {"show_progress": False} | {n: it for n, it in options.items() if it is not None}


@dataclass(frozen=True)
class BpeTrainer(MergeTrainer):
    """Train BPE: merge the most frequent pair, repeatedly (see ``merging``).

    Its settings are those of ``MergeTrainer``.
    """

    def train(
        self, word_counts: Mapping[str, int], model: BPE | None = None
    ) -> Training[BPE, MergeStep]:
        """Learn merges.

        Args:
            word_counts: how often each word (as the pre-tokenizer gives them) occurs.
            model: gives the model's other options: unknown token, byte fallback, and so on.
        """
        counts = nonempty(word_counts)
        vocab, steps = self._learn(counts, frequency)
        last = {step.pair: number for number, step in enumerate(steps)}  # see `learn_merges`
        trained = replace(
            model or BPE(),
            continuing_subword_prefix=self.continuing_subword_prefix,
            end_of_word_suffix=self.end_of_word_suffix,
            vocab=vocab,
            merges=tuple(sorted(last, key=last.__getitem__)),
        )
        return Training(trained, steps, self, counts)

    def to_library(self) -> "trainers.BpeTrainer":
        """The same trainer of the ``tokenizers`` library."""
        from tokenizers import trainers

        return trainers.BpeTrainer(**self._library_options())


@dataclass(frozen=True)
class WordPieceTrainer(MergeTrainer):
    """Train WordPiece.

    Args:
        score: ``"likelihood"`` merges the pair that raises the likelihood most (Schuster &
            Nakajima 2012); ``"pmi"`` the pair that raises it most per occurrence, as is often
            taught; ``"frequency"`` the most frequent pair, as BPE and the ``tokenizers`` library
            do. See `merging`.
        (and those of ``MergeTrainer``)
    """

    continuing_subword_prefix: str | None = "##"
    score: Literal["likelihood", "pmi", "frequency"] = "likelihood"

    def train(
        self, word_counts: Mapping[str, int], model: WordPiece | None = None
    ) -> Training[WordPiece, MergeStep]:
        """Learn pieces.

        Args:
            word_counts: how often each word (as the pre-tokenizer gives them) occurs.
            model: gives the unknown token, which must be a special token, and the longest word.
        """
        counts = nonempty(word_counts)
        vocab, steps = self._learn(counts, SCORES[self.score])
        trained = replace(
            model or WordPiece(),
            continuing_subword_prefix=self.continuing_subword_prefix or "",
            vocab=vocab,
        )
        return Training(trained, steps, self, counts)

    def to_library(self) -> "trainers.WordPieceTrainer":
        """The same trainer of the ``tokenizers`` library."""
        from tokenizers import trainers

        if self.score != "frequency":
            raise CourseError(
                f"The tokenizers library cannot train WordPiece by {self.score}.",
                "Train with the course's own trainer, or set score='frequency'.",
            )
        return trainers.WordPieceTrainer(**self._library_options())
