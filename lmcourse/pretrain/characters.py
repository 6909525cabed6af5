"""Tokenizers whose tokens are single characters, with the special tokens of the word models."""

from collections.abc import Iterable

from lmcourse.corpus.bookworld import END, BookWorld
from lmcourse.tokenizers import Tokenizer, decoders, pre_tokenizers
from lmcourse.tokenizers.models.word_level import WordLevel
from lmcourse.tokenizers.text.pattern import Pattern
from lmcourse.tokenizers.well_known import BERT_TOKENS, frame_as_bert

_ANY = r"[\s\S]"


def characters(alphabet: Iterable[str]) -> Tokenizer:
    """The tokenizer of an alphabet: ``[CLS]``, a token for each character as it is, ``[SEP]``."""
    tokens = [*BERT_TOKENS, *sorted(set(alphabet))]
    tokenizer = Tokenizer(
        WordLevel({token: id_ for id_, token in enumerate(tokens)}, BERT_TOKENS[1]),
        pre_tokenizer=pre_tokenizers.Split(Pattern(regex=_ANY), "Isolated"),
        decoder=decoders.Fuse(),
    )
    tokenizer.add_special_tokens(list(BERT_TOKENS))
    frame_as_bert(tokenizer)
    return tokenizer


def alphabet(world: BookWorld) -> list[str]:
    """All characters that a text of a world can have, in order."""
    letters = {letter for word in world.vocabulary if word != END for letter in word}
    return sorted({" ", *letters, *(letter.upper() for letter in letters)})
