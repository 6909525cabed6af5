"""Which trainer goes with which model, and how it is called: here or in the library."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lmcourse.errors import CourseError
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.trainers import BpeTrainer, WordPieceTrainer
from lmcourse.tokenizers.models.training import Training
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.models.unigram_training import UnigramTrainer
from lmcourse.tokenizers.models.wordpiece import WordPiece
from lmcourse.tokenizers.text.normalized_string import checked_text

if TYPE_CHECKING:
    import tokenizers

Trainer = BpeTrainer | WordPieceTrainer | UnigramTrainer
TRAINED: dict[type, type] = {BpeTrainer: BPE, WordPieceTrainer: WordPiece, UnigramTrainer: Unigram}


def check_trainer(model: object, trainer: Trainer, backend: str) -> None:
    """Check that a trainer is for this kind of model, and that there is such a backend.

    Raises:
        CourseError: it is for another, or there is none.
    """
    kind = TRAINED.get(type(trainer))
    if kind is None or not isinstance(model, kind):
        fitting = [each.__name__ for each, kind in TRAINED.items() if isinstance(model, kind)]
        raise CourseError(
            f"{type(trainer).__name__} cannot train the tokenizer's model, which is a "
            f"{type(model).__name__}.",
            f"Use {fitting[0]}." if fitting else "Use a tokenizer of BPE, WordPiece or Unigram.",
        )
    if backend not in ("course", "tokenizers"):
        raise CourseError(
            f"There is no backend {backend!r}.", "Choose 'course' or 'tokenizers' (the library)."
        )


def train(trainer: Trainer, word_counts: Mapping[str, int], model: Any) -> Training[Any, Any]:
    """A model trained on counted words; BPE and WordPiece keep the options of the old one."""
    if isinstance(trainer, UnigramTrainer):
        return trainer.train(word_counts)
    return trainer.train(word_counts, model)


def train_library(library: "tokenizers.Tokenizer", texts: Iterable[str], trainer: Trainer) -> None:
    """Train a tokenizer of the library, which would say nothing of what it cannot do.

    Raises:
        CourseError: the corpus has no words, or ``vocab_size`` is too small for its characters.
    """
    empty = True

    def checked() -> Iterator[str]:
        nonlocal empty
        for text in texts:
            empty = not checked_text(text).strip() and empty
            yield text

    try:
        library.train_from_iterator(checked(), trainer.to_library())
    except CourseError:
        raise
    except Exception as error:  # the library raises nothing more special
        raise CourseError(
            f"The tokenizers library cannot train: {error}.",
            "Raise vocab_size, give more texts, or train with backend='course' to see more.",
        ) from error
    if empty:
        raise CourseError(
            "The corpus is empty: there is no word to learn from.",
            "Give at least one text with a character that normalizer and pre-tokenizer keep.",
        )
    if library.get_vocab_size(with_added_tokens=False) > trainer.vocab_size:
        raise CourseError(
            f"A vocabulary of {trainer.vocab_size} tokens is too small: special tokens and "
            f"alphabet alone are {library.get_vocab_size(with_added_tokens=False)}.",
            "Raise vocab_size, or set limit_alphabet to fewer characters than the corpus has.",
        )
