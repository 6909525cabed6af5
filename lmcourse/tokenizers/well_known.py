"""What BERT, GPT-2 and RoBERTa put around a model, whether it was trained here or published.

``recipes`` trains the model, ``published_files`` reads it; the rest of the tokenizer is the same.
"""

from lmcourse.errors import CourseError
from lmcourse.tokenizers import decoders, processors
from lmcourse.tokenizers.added_tokens import AddedToken
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.wordpiece import WordPiece
from lmcourse.tokenizers.template import TemplateProcessing
from lmcourse.tokenizers.text import normalizers, pre_tokenizers
from lmcourse.tokenizers.tokenizer import Tokenizer

BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA_TOKENS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
GPT2_TOKEN = "<|endoftext|>"


def wordpiece(model: WordPiece, lowercase: bool) -> Tokenizer:
    """BERT's text handling around a WordPiece model, not yet framed."""
    return Tokenizer(
        model,
        normalizers.BertNormalizer(lowercase=lowercase),
        pre_tokenizers.BertPreTokenizer(),
        decoder=decoders.WordPiece(),
    )


def byte_level(model: BPE) -> Tokenizer:
    """GPT-2's text handling around a BPE model."""
    return Tokenizer(
        model,
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        post_processor=processors.ByteLevel(trim_offsets=False),
        decoder=decoders.ByteLevel(),
    )


def frame_as_bert(tokenizer: Tokenizer, pad_token: str = "[PAD]") -> None:
    """Read ``[CLS] A [SEP] B [SEP]`` in two segments, and fill up batches.

    Raises:
        CourseError: the vocabulary lacks one of the special tokens.
    """
    cls, sep, pad = (_known(tokenizer, token) for token in ("[CLS]", "[SEP]", pad_token))
    tokenizer.post_processor = TemplateProcessing.of(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", cls), ("[SEP]", sep)]
    )
    tokenizer.enable_padding(pad_id=pad, pad_token=pad_token)


def frame_as_roberta(tokenizer: Tokenizer) -> None:
    """Read ``<s> A </s></s> B </s>``, fill up batches; ``<mask>`` takes the space before it.

    Raises:
        CourseError: the vocabulary lacks one of the special tokens.
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
            "Add it to the special tokens: they must have what frames a text and fills it up.",
        )
    return id_
