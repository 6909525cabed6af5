"""The vocabulary files that were published with BERT, GPT-2 and RoBERTa, before tokenizer.json.

They hold a vocabulary only. Everything else (lower case, what is a word, special tokens) was in
the code beside them, and is set here as that code did it.
"""

from pathlib import Path

from lmcourse.errors import CourseError
from lmcourse.tokenizers import decoders, processors
from lmcourse.tokenizers.added_tokens import AddedToken
from lmcourse.tokenizers.files import read_json, read_text
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.wordpiece import WordPiece
from lmcourse.tokenizers.older_files import split_merges
from lmcourse.tokenizers.template import TemplateProcessing
from lmcourse.tokenizers.text import normalizers, pre_tokenizers
from lmcourse.tokenizers.tokenizer import Tokenizer

BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA_TOKENS = ("<s>", "<pad>", "</s>", "<unk>")
GPT2_TOKEN = "<|endoftext|>"


def from_vocab_txt(path: str | Path, lowercase: bool = True) -> Tokenizer:
    """BERT's tokenizer from its vocab.txt: one token a line, the first has the id 0.

    Args:
        lowercase: make letters small and strip accents. False for the cased models.

    Raises:
        CourseError: the file cannot be read, lists a token twice or none, or lacks a special token.
    """
    vocab: dict[str, int] = {}
    for number, line in enumerate(_lines(Path(path)), start=1):
        token = line.removesuffix("\r")
        if token in vocab or not token:
            raise CourseError(
                f"{path}, line {number}, "
                + (f"has {token!r}, as line {vocab[token] + 1} has." if token else "is empty."),
                "Give the vocab.txt that was published with the model: each line is a token, and "
                "its number is the token's id.",
            )
        vocab[token] = number - 1
    ids = {token: _known(token, vocab, path) for token in BERT_TOKENS}
    tokenizer = Tokenizer(
        WordPiece(vocab=vocab),
        normalizer=normalizers.BertNormalizer(lowercase=lowercase),
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        post_processor=TemplateProcessing.of(
            "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [*ids.items()][2:4]
        ),
        decoder=decoders.WordPiece(),
    )
    tokenizer.add_special_tokens(BERT_TOKENS)
    return tokenizer


def from_vocab_json(vocab: str | Path, merges: str | Path) -> Tokenizer:
    """The byte-level BPE of GPT-2 or RoBERTa from its vocab.json and merges.txt.

    Which of the two it is follows from the special tokens in the vocabulary.

    Args:
        vocab: an object with each token's id.
        merges: one merge a line, the oldest first, after a line with the version.

    Raises:
        CourseError: a file cannot be read, or a merge is not in the vocabulary.
    """
    ids = read_json(read_text(Path(vocab)), str(vocab))
    if not isinstance(ids, dict) or not all(type(id_) is int for id_ in ids.values()):
        raise CourseError(
            f"{vocab} is no vocabulary.",
            "Give a vocab.json, an object that names each token's id. A whole tokenizer.json is "
            "read by Tokenizer.from_file.",
        )
    lines = [line for line in _lines(Path(merges)) if line.strip()]
    pairs = split_merges([line.rstrip("\r") for line in lines], str(merges))
    model = BPE(vocab=ids, merges=tuple((left, right) for left, right in pairs))
    tokenizer = Tokenizer(
        model,
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        post_processor=processors.ByteLevel(trim_offsets=False),
        decoder=decoders.ByteLevel(),
    )
    if all(token in ids for token in ROBERTA_TOKENS):
        tokenizer.post_processor = processors.RobertaProcessing(
            sep=("</s>", ids["</s>"]), cls=("<s>", ids["<s>"]), add_prefix_space=False
        )
        mask = AddedToken("<mask>", lstrip=True)
        tokenizer.add_special_tokens([*ROBERTA_TOKENS, mask])
    elif GPT2_TOKEN in ids:
        tokenizer.add_special_tokens([GPT2_TOKEN])
    return tokenizer


def _lines(path: Path) -> list[str]:
    """The lines of a text file. Only a line feed ends one: a token may hold other line ends."""
    return read_text(path).removesuffix("\n").split("\n")


def _known(token: str, vocab: dict[str, int], path: str | Path) -> int:
    if token not in vocab:
        raise CourseError(
            f"{path} lacks the special token {token!r}.",
            "Give the vocab.txt of a BERT model; another WordPiece vocabulary goes into "
            "WordPiece(vocab=…).",
        )
    return vocab[token]
