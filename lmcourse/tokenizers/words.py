"""BookWorld's words as the pre-trained models read them: ``[CLS] a word a token [SEP]``.

A token is a word, so what a model says of a token can be held against BookWorld's exact answer.
The five special tokens come first; the world's words follow in its own order. Its end mark has no
token: [SEP] represents it, as in `lmcourse.evaluation.predictors`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tokenizers import Tokenizer, pre_tokenizers

from lmcourse.corpus.bookworld import END, BookWorld, Review
from lmcourse.tokenizers import recipes
from lmcourse.tokenizers.vocabulary import Vocabulary
from lmcourse.tokenizers.well_known import BERT_TOKENS

PAD, UNKNOWN, CLS, SEP, MASK = range(5)
"""The ids of [PAD], [UNK], [CLS], [SEP] and [MASK]."""


def words(world: BookWorld) -> Tokenizer:
    """The tokenizer of a world: text in lower case, cut at spaces and around each sign."""
    tokenizer = recipes.words(Vocabulary(_listed(world.vocabulary), unknown=None))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()  # '."' is two tokens, not one
    return tokenizer


def size(world: BookWorld) -> int:
    """How many tokens there are: the special ones, and the words."""
    return len(BERT_TOKENS) + len(_listed(world.vocabulary))


def ids(world: BookWorld) -> Mapping[str, int]:
    """Each token's id, as `lmcourse.evaluation.of_masked` takes them."""
    tokens = [*BERT_TOKENS, *_listed(world.vocabulary)]
    return {token: id_ for id_, token in enumerate(tokens)}


def examples(reviews: Sequence[Review]) -> list[dict[str, Any]]:
    """Reviews to learn from: what `words` makes of their texts, but a hundred times as fast.

    The end of a review is a word of BookWorld, and none that is ever masked: [CLS] and [SEP] are
    special tokens.
    """
    if not reviews:
        return []
    table = _table(reviews[0].network.vocabulary)
    found = []
    for review in reviews:
        read = np.concatenate([[CLS], table[list(review.ids)]])  # whose last is the end mark
        special = np.zeros_like(read)
        special[[0, -1]] = 1
        word = np.where(special, -1, np.arange(len(read)) - 1)
        found.append({"input_ids": read, "special_tokens_mask": special, "word_ids": word})
    return found


def _listed(vocabulary: Sequence[str]) -> list[str]:
    return [word for word in vocabulary if word != END]


def _table(vocabulary: Sequence[str]) -> np.ndarray:
    """The token's id of each of a world's words."""
    own = {word: len(BERT_TOKENS) + at for at, word in enumerate(_listed(vocabulary))}
    return np.array([SEP if word == END else own[word] for word in vocabulary])
