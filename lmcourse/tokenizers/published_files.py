"""The vocabulary files that were published with BERT, GPT-2 and RoBERTa, before tokenizer.json.

They hold a vocabulary only. Everything else (lower case, what is a word, special tokens) was in
the code beside them, and is set here as that code did it.
"""

import re
from pathlib import Path

from lmcourse.errors import CourseError
from lmcourse.tokenizers.files import read_json, read_text
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.wordpiece import WordPiece
from lmcourse.tokenizers.older_files import split_merges
from lmcourse.tokenizers.tokenizer import Tokenizer
from lmcourse.tokenizers.well_known import (
    BERT_TOKENS,
    GPT2_TOKEN,
    ROBERTA_TOKENS,
    byte_level,
    frame_as_bert,
    frame_as_roberta,
    wordpiece,
)

# Which file to give, if it was another one.
VOCAB_TXT = (
    "Give the vocab.txt that was published with the model: each line is a token, and its number "
    "is the token's id."
)
VOCAB_JSON = "Give the vocab.json of the model, an object that names each token's id."
MERGES_TXT = "Give the merges.txt that was published with the vocab.json, downloaded anew."
# Special tokens, and the words with which fairseq fills RoBERTa's vocabulary up.
NEVER_MADE = re.compile(r"<.*>|\[.*\]|madeupword\d+")


def from_vocab_txt(path: str | Path, lowercase: bool = True) -> Tokenizer:
    """BERT's tokenizer from its vocab.txt: one token a line, the first has the id 0.

    Args:
        lowercase: make letters small and strip accents. False for the cased models.

    Raises:
        CourseError: the file cannot be read, lists a token twice or none, or lacks a special token.
    """
    vocab: dict[str, int] = {}
    for number, line in enumerate(_lines(path, VOCAB_TXT), start=1):
        token = line.removesuffix("\r")
        if token in vocab or not token:
            raise CourseError(
                f"{path}, line {number}, "
                + (f"has {token!r}, as line {vocab[token] + 1} has." if token else "is empty."),
                VOCAB_TXT,
            )
        vocab[token] = number - 1
    for token in BERT_TOKENS:
        _check_known(token, vocab, path)
    tokenizer = wordpiece(WordPiece(vocab=vocab), lowercase)
    tokenizer.add_special_tokens(BERT_TOKENS)
    frame_as_bert(tokenizer)
    return tokenizer


def from_vocab_json(vocab: str | Path, merges: str | Path) -> Tokenizer:
    """The byte-level BPE of GPT-2 or RoBERTa from its vocab.json and merges.txt.

    Which of the two it is follows from the special tokens in the vocabulary.

    Args:
        vocab: an object with each token's id.
        merges: one merge a line, the oldest first, after a line with the version.

    Raises:
        CourseError: a file cannot be read, a merge is not in the vocabulary, or a token is made
            by no merge.
    """
    ids = read_json(read_text(vocab, VOCAB_JSON), str(vocab), VOCAB_JSON)
    if not isinstance(ids, dict) or not all(type(id_) is int for id_ in ids.values()):
        raise CourseError(
            f"{vocab} is no vocabulary.",
            f"{VOCAB_JSON} A whole tokenizer.json is read by Tokenizer.from_file.",
        )
    lines = [line for line in _lines(merges, MERGES_TXT) if line.strip()]
    pairs = split_merges([line.rstrip("\r") for line in lines], str(merges))
    model = BPE(vocab=ids, merges=tuple((left, right) for left, right in pairs))
    _check_all_made(model, merges)
    tokenizer = byte_level(model)
    if all(token in ids for token in ROBERTA_TOKENS[:-1]):  # the mask was added later
        frame_as_roberta(tokenizer)
    elif GPT2_TOKEN in ids:
        tokenizer.add_special_tokens([GPT2_TOKEN])
    return tokenizer


def _lines(path: str | Path, remedy: str) -> list[str]:
    """The lines of a text file. Only a line feed ends one: a token may hold other line ends."""
    return read_text(path, remedy).removesuffix("\n").split("\n")


def _check_all_made(model: BPE, merges: str | Path) -> None:
    """Check that each token of several characters, unless it looks special, has its merge."""
    made = {left + right for left, right in model.merges}
    missing = [
        token
        for token in model.vocab
        if len(token) > 1 and token not in made and not NEVER_MADE.fullmatch(token)
    ]
    if missing:
        raise CourseError(
            f"{merges} has no merge for {len(missing)} tokens of the vocabulary, such as "
            f"{missing[0]!r}: it is cut short, or of another model.",
            MERGES_TXT,
        )


def _check_known(token: str, vocab: dict[str, int], path: str | Path) -> None:
    """Check that a file has a special token."""
    if token not in vocab and next(iter(vocab)).startswith("{"):
        raise CourseError(
            f"{path} is JSON, not one token a line.",
            "Read a vocab.json with from_vocab_json, a tokenizer.json with Tokenizer.from_file.",
        )
    if token not in vocab:
        raise CourseError(
            f"{path} lacks the special token {token!r}.",
            "Give the vocab.txt of a BERT model; another WordPiece vocabulary goes into "
            "WordPiece(vocab=…).",
        )
