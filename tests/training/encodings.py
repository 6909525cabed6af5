"""Encodings of the tokenizers library, of given ids and words."""

from collections.abc import Sequence
from itertools import groupby

from tokenizers import Encoding, Tokenizer, models
from tokenizers.pre_tokenizers import WhitespaceSplit

from lmcourse.tokenizers.well_known import frame_as_bert

SPECIAL = {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "[UNK]": 3}
NUMBERS = Tokenizer(models.WordLevel({str(id_): id_ for id_ in range(100_000)}, "3"))
NUMBERS.pre_tokenizer = WhitespaceSplit()
FRAMED = Tokenizer(models.WordLevel({**SPECIAL, "a": 7}, "[UNK]"))
frame_as_bert(FRAMED)


def encoding(ids: Sequence[int], words: Sequence[int]) -> Encoding:
    """The encoding with these ids, where words are numbered from 0 in order."""
    pieces = groupby(zip(words, ids, strict=True), key=lambda it: it[0])
    texts = [" ".join(str(id_) for _, id_ in run) for _, run in pieces]
    found = NUMBERS.encode(texts, is_pretokenized=True)
    assert (found.ids, found.word_ids) == (list(ids), list(words))
    return found
