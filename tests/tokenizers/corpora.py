"""Words to train on and to cut, and what the ``tokenizers`` library makes of them."""

import json
from random import Random
from typing import Any

import msgspec
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from lmcourse.tokenizers.component import Token
from lmcourse.tokenizers.models.merging import MergeStep
from lmcourse.tokenizers.models.merging_fast import learn_merges_fast
from lmcourse.tokenizers.models.scores import frequency
from lmcourse.tokenizers.models.trainers import BpeTrainer, WordPieceTrainer

Merges = list[tuple[str, str]]


def random_counts(random: Random, letters: str, words: int, longest: int) -> dict[str, int]:
    """Words of few letters, so that counts often tie and words often share pieces."""
    return {
        "".join(random.choices(letters, k=random.randint(1, longest))): random.randint(1, 9)
        for _ in range(words)
    }


def library_model(tokenizer: Tokenizer) -> dict[str, Any]:
    """The model as tokenizer.json holds it."""
    return json.loads(tokenizer.to_str())["model"]


def library_bpe(
    counts: dict[str, int], trainer: "trainers.BpeTrainer"
) -> tuple[Merges, dict[str, int]]:
    """The library's merges and vocabulary for counted words (without line ends)."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Split("\n", "removed")
    text = "\n".join(word for word, count in counts.items() for _ in range(count))
    tokenizer.train_from_iterator([text], trainer)
    model = library_model(tokenizer)
    return [(left, right) for left, right in model["merges"]], model["vocab"]


def learned(
    trainer: BpeTrainer | WordPieceTrainer, counts: dict[str, int], library_vocab: dict[str, int]
) -> tuple[list[MergeStep], list[str]]:
    """Our merges and tokens, from the library's own order of the first tokens.

    With a prefix or suffix, the library numbers the first pieces in an order that differs from run
    to run; which tokens these are does not.
    """
    prefix = trainer.continuing_subword_prefix or ""
    words, ours = trainer.words(counts), trainer.first_tokens(counts)
    first = sorted(library_vocab, key=library_vocab.__getitem__)[: len(ours)]
    assert sorted(first) == sorted(ours)
    steps = list(
        learn_merges_fast(
            words, first, trainer.vocab_size, trainer.min_frequency, frequency, prefix
        )
    )
    return steps, list(dict.fromkeys([*first, *(step.token for step in steps)]))


def last_of_each(merges: Merges) -> Merges:
    """A pair that is listed twice only where it stands last, as the library keeps it."""
    return [pair for place, pair in enumerate(merges) if pair not in merges[place + 1 :]]


def library_of(model: msgspec.Struct) -> Tokenizer:
    """The library's tokenizer with the same model, through JSON, and nothing besides."""
    nothing = dict.fromkeys(
        ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    )
    content = {"version": "1.0", **nothing, "added_tokens": [], "model": msgspec.to_builtins(model)}
    return Tokenizer.from_str(json.dumps(content))


def library_tokens(tokenizer: Tokenizer, word: str) -> list[Token]:
    """The library's tokens of a word, with places in characters."""
    encoding = tokenizer.encode(word, add_special_tokens=False)
    return list(map(Token, encoding.ids, encoding.tokens, encoding.offsets))


def random_word(random: Random, letters: str, longest: int = 12) -> str:
    """A word of some of these letters."""
    return "".join(random.choices(letters, k=random.randint(1, longest)))
