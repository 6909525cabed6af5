"""Which trainer goes with which model, and how it is called: here or in the library."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from lmcourse.errors import CourseError
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.trainers import BpeTrainer, WordPieceTrainer
from lmcourse.tokenizers.models.training import Training, empty_corpus, too_small
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.models.unigram_training import UnigramTrainer
from lmcourse.tokenizers.models.wordpiece import WordPiece
from lmcourse.tokenizers.pipeline import corpus

if TYPE_CHECKING:
    from lmcourse.tokenizers.files import AnyModel
    from lmcourse.tokenizers.tokenizer import Tokenizer

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


def train(
    tokenizer: "Tokenizer", texts: Iterable[str], trainer: Trainer, backend: str
) -> Training[Any, Any]:
    """A model for a tokenizer; BPE and WordPiece keep the options of the one that it has.

    Raises:
        CourseError: see ``Tokenizer.train_from_iterator``.
    """
    check_trainer(tokenizer.model, trainer, backend)
    if backend == "tokenizers":
        model = _trained_by_library(tokenizer, texts, trainer)
        return Training[Any, Any](model, (), trainer)
    word_counts = tokenizer.count_words(texts)
    if isinstance(trainer, UnigramTrainer):
        return trainer.train(word_counts)
    return trainer.train(word_counts, tokenizer.model)


def _trained_by_library(
    tokenizer: "Tokenizer", texts: Iterable[str], trainer: Trainer
) -> "AnyModel":
    """The library's model. The library would say nothing of what it cannot do.

    Raises:
        CourseError: the corpus has no words, or ``vocab_size`` is too small for its characters.
    """
    library, empty = tokenizer.to_library(), True

    def watched(texts: Iterable[str]) -> Iterator[str]:
        nonlocal empty
        for text in texts:
            empty = empty and not tokenizer.count_words([text])
            yield text

    failure = None
    try:
        library.train_from_iterator(watched(corpus(texts)), trainer.to_library())
    except CourseError:
        raise
    except Exception as error:  # the library raises nothing more special
        failure = error
    if empty:
        raise empty_corpus()
    if failure:
        raise CourseError(
            f"The tokenizers library cannot train: {failure}.",
            "Raise vocab_size, give more texts, or train with backend='course' to see more.",
        ) from failure
    size = library.get_vocab_size(with_added_tokens=False)
    if size > trainer.vocab_size:
        raise too_small(trainer.vocab_size, size)
    return type(tokenizer).from_library(library).model
