"""What BERT, GPT-2 and RoBERTa add to a model: parts of the ``tokenizers`` library."""

from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, normalizers, pre_tokenizers, processors

from lmcourse.errors import CourseError

BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA_TOKENS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
GPT2_TOKEN = "<|endoftext|>"


def with_parts(model: Any, **parts: Any) -> Tokenizer:
    """A tokenizer of this model (the library's) and these parts."""
    tokenizer = Tokenizer(model)
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    return tokenizer


def wordpiece(model: Any, lowercase: bool) -> Tokenizer:
    """A WordPiece model with BERT's normalization and pre-tokenization, not yet framed."""
    return with_parts(
        model,
        normalizer=normalizers.BertNormalizer(lowercase=lowercase),
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        decoder=decoders.WordPiece(),
    )


def byte_level(model: Any) -> Tokenizer:
    """A BPE model with GPT-2's pre-tokenization."""
    return with_parts(
        model,
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        post_processor=processors.ByteLevel(trim_offsets=False),
        decoder=decoders.ByteLevel(),
    )


def frame_as_bert(tokenizer: Tokenizer, pad_token: str = "[PAD]") -> None:
    """Frame texts as ``[CLS] A [SEP] B [SEP]`` in two segments, and pad batches."""
    cls, sep, pad = (_known(tokenizer, token) for token in ("[CLS]", "[SEP]", pad_token))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", cls), ("[SEP]", sep)],
    )
    tokenizer.enable_padding(pad_id=pad, pad_token=pad_token)


def frame_as_roberta(tokenizer: Tokenizer) -> None:
    """Frame texts as ``<s> A </s></s> B </s>``, and pad batches.

    ``<mask>`` includes the space before it.
    """
    *others, mask = ROBERTA_TOKENS
    tokenizer.add_special_tokens([*others, AddedToken(mask, lstrip=True)])
    cls, pad, sep = (_known(tokenizer, token) for token in ROBERTA_TOKENS[:3])
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", sep), ("<s>", cls), add_prefix_space=False
    )
    tokenizer.enable_padding(pad_id=pad, pad_token="<pad>")


def _known(tokenizer: Tokenizer, token: str) -> int:
    """A special token's id."""
    id_ = tokenizer.token_to_id(token)
    if id_ is None:
        raise CourseError(
            f"The vocabulary lacks the special token {token!r}.",
            "Add it to the special tokens: framing and padding need it.",
        )
    return int(id_)
