"""Tokenizers whose tokens are single characters, with the special tokens of the word models."""

from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

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
