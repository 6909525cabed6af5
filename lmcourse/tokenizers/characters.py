"""Tokenizers whose tokens are single characters, with the special tokens of the word models."""

from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from lmcourse.corpus.bookworld import END, BookWorld
from lmcourse.tokenizers.models.word_model import numbered
from lmcourse.tokenizers.well_known import BERT_TOKENS, frame_as_bert, with_parts

_ANY = Regex(r"[\s\S]")


def characters(alphabet: Iterable[str]) -> Tokenizer:
    """The tokenizer of an alphabet: ``[CLS]``, a token for each character as it is, ``[SEP]``."""
    tokenizer = with_parts(
        models.WordLevel(numbered([*BERT_TOKENS, *sorted(set(alphabet))]), BERT_TOKENS[1]),
        pre_tokenizer=pre_tokenizers.Split(_ANY, "isolated"),
        decoder=decoders.Fuse(),
    )
    tokenizer.add_special_tokens(list(BERT_TOKENS))
    frame_as_bert(tokenizer)
    return tokenizer


def alphabet(world: BookWorld) -> list[str]:
    """All characters that a text of a world can have, in order."""
    letters = {letter for word in world.vocabulary if word != END for letter in word}
    return sorted({" ", *letters, *(letter.upper() for letter in letters)})
