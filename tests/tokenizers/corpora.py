"""Words to learn from and to segment, and the ``tokenizers`` library's results for them."""

import json
from random import Random
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers

from lmcourse.tokenizers.library import AnyModel
from lmcourse.tokenizers.models.merging import MergeStep, frequency, learn_merges
from lmcourse.tokenizers.models.trainers import BpeTrainer, WordPieceTrainer
from lmcourse.tokenizers.models.word_model import Token, numbered

Merges = list[tuple[str, str]]


def random_counts(random: Random, letters: str, words: int, longest: int) -> dict[str, int]:
    """Words of few letters, so that counts often tie and words often share pieces."""
    return {
        "".join(random.choices(letters, k=random.randint(1, longest))): random.randint(1, 9)
        for _ in range(words)
    }


def library_trained(
    counts: dict[str, int], trainer: BpeTrainer | WordPieceTrainer
) -> dict[str, Any]:
    """The library's model, as tokenizer.json has it, for counted words (without line ends)."""
    bpe = isinstance(trainer, BpeTrainer)
    tokenizer = Tokenizer(models.BPE() if bpe else models.WordPiece({}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("\n", "removed")
    text = "\n".join(word for word, count in counts.items() for _ in range(count))
    tokenizer.train_from_iterator([text], trainer.to_library())
    model: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    return model


def learned(
    trainer: BpeTrainer | WordPieceTrainer, counts: dict[str, int], library_vocab: dict[str, int]
) -> tuple[list[MergeStep], dict[str, int]]:
    """Our merges and vocabulary, from the library's own order of the first tokens.

    With a prefix or suffix, the library numbers the first pieces in an order that differs from run
    to run; which tokens these are does not.
    """
    prefix = trainer.continuing_subword_prefix or ""
    words, ours = trainer.words(counts), trainer.first_tokens(counts)
    first = sorted(library_vocab, key=library_vocab.__getitem__)[: len(ours)]
    assert sorted(first) == sorted(ours)
    steps = list(
        learn_merges(words, first, trainer.vocab_size, trainer.min_frequency, frequency, prefix)
    )
    return steps, numbered([*first, *(step.token for step in steps)])


def last_of_each(merges: Merges) -> Merges:
    """A repeated pair only at its last position, as the library keeps it."""
    return [pair for index, pair in enumerate(merges) if pair not in merges[index + 1 :]]


def library_of(model: AnyModel) -> Tokenizer:
    """A tokenizer of the library with the same model and nothing else."""
    return Tokenizer(model.to_library())


def library_tokens(library: Tokenizer, word: str) -> list[Token]:
    """The library's tokens of a word, with offsets in characters."""
    encoding = library.encode(word, add_special_tokens=False)
    return list(map(Token, encoding.ids, encoding.tokens, encoding.offsets))


def random_word(random: Random, letters: str, longest: int = 12) -> str:
    """A word of some of these letters."""
    return "".join(random.choices(letters, k=random.randint(1, longest)))
