"""tokenizer.json: a whole tokenizer in one file, as the ``tokenizers`` library writes it.

The file holds each part as an object: ``"type"`` is the class's name, the other keys are its
fields. So the classes themselves say how the file is read and written. What remains to do here is
to read what older versions of the library wrote, and to say clearly why a file cannot be read.
"""

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, get_args

import msgspec

from lmcourse.errors import CourseError
from lmcourse.tokenizers.added_tokens import AddedToken
from lmcourse.tokenizers.component import Id
from lmcourse.tokenizers.decoders import Decoder
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.models.word_level import WordLevel
from lmcourse.tokenizers.models.wordpiece import WordPiece
from lmcourse.tokenizers.older_files import RIGHT_FILE, Json, upgraded_metaspace, upgraded_model
from lmcourse.tokenizers.padding import Padding, Truncation
from lmcourse.tokenizers.processors import Processor, check_named
from lmcourse.tokenizers.text.normalizers import Normalizer
from lmcourse.tokenizers.text.pre_tokenizers import PreTokenizer

VERSION = "1.0"
AnyModel = BPE | WordPiece | WordLevel | Unigram

PARTS = {  # the parts of a file, what each may be, and the key under which a Sequence holds others
    "normalizer": (Normalizer, "normalizers"),
    "pre_tokenizer": (PreTokenizer, "pretokenizers"),
    "post_processor": (Processor, "processors"),
    "decoder": (Decoder, "decoders"),
    "model": (AnyModel, ""),
}


class AddedTokenEntry(msgspec.Struct, frozen=True):
    """An added token with its id, as tokenizer.json writes it."""

    id: Id
    content: str
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool
    special: bool

    @property
    def token(self) -> AddedToken:
        """The token without its id."""
        fields = {name: getattr(self, name) for name in AddedToken.__struct_fields__}
        return AddedToken(**fields)


class TokenizerFile(msgspec.Struct, frozen=True, kw_only=True):
    """What a tokenizer.json holds, in its order."""

    version: str = VERSION
    truncation: Truncation | None = None
    padding: Padding | None = None
    added_tokens: tuple[AddedTokenEntry, ...] = ()
    normalizer: Normalizer | None = None
    pre_tokenizer: PreTokenizer | None = None
    post_processor: Processor | None = None
    decoder: Decoder | None = None
    model: AnyModel


def write(file: TokenizerFile, pretty: bool = False) -> str:
    """A tokenizer.json."""
    written = msgspec.json.encode(file)
    return (msgspec.json.format(written, indent=2) if pretty else written).decode()


def checked_path(path: object) -> Path:
    """The path itself, if it is one.

    Raises:
        CourseError: it is none, or empty.
    """
    if not isinstance(path, str | os.PathLike) or not str(path):
        raise CourseError(f"{path!r} is no path of a file.", 'Give one, such as "tokenizer.json".')
    return Path(path)


def read_text(path: str | Path, remedy: str = RIGHT_FILE) -> str:
    """The text of a file.

    Args:
        remedy: which file to give instead, if it is another one.

    Raises:
        CourseError: there is no such file, it cannot be read, or it is no text.
    """
    path = checked_path(path)
    try:
        content = path.read_bytes()
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        kind = " It may be a SentencePiece model." if path.suffix in (".model", ".spm") else ""
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            kind = " It seems to be UTF-16, which an editor can save as UTF-8."
        raise CourseError(
            f"{path} is no text file: byte {error.start} is no UTF-8.{kind}", remedy
        ) from None
    except (FileNotFoundError, ValueError):  # a null character is in no name
        raise CourseError(f"There is no file {path}.", "Check its name and folder.") from None
    except IsADirectoryError:
        raise CourseError(f"{path} is a folder, not a file.", remedy) from None
    except OSError as error:
        raise CourseError(
            f"{path} cannot be read: {error.strerror or error}.",
            "Check its permissions, or copy it to a folder of yours.",
        ) from None


def read(text: str, place: str) -> TokenizerFile:
    """A tokenizer.json, of this or an older version of the library.

    Args:
        place: what to call the file in an error.

    Raises:
        CourseError: it is no such file, of another version, names a part that is not known, or a
            part does not hold together.
    """
    value = read_json(text, place)
    _check_kind(value, place)
    value = {key: part for key, part in value.items() if key in TokenizerFile.__struct_fields__}
    for name, (kind, inner) in PARTS.items():
        if value.get(name) is not None:
            value[name] = _upgraded(name, value[name], inner, get_args(kind), f"{place}, {name}")
    try:
        return msgspec.convert(value, TokenizerFile)
    except msgspec.ValidationError as error:
        cause = f"{place} does not fit: {error}{_wrong_id(str(error), value)}."
        raise CourseError(cause, RIGHT_FILE) from None
    except CourseError as error:
        raise CourseError(f"{place}: {error.cause}", error.remedy) from None


def _wrong_id(message: str, value: Json) -> str:
    """The first entry of the vocabulary with an id that is none: msgspec does not name it."""
    if "`$.model.vocab[...]`" not in message:
        return ""
    entries = value["model"]["vocab"].items()
    wrong = [
        f", where {token!r} has the id {id_!r}" for token, id_ in entries if type(id_) is not int
    ]
    return wrong[0] if wrong else ""


def read_json(text: str, place: str, remedy: str = RIGHT_FILE) -> Json:
    """What a JSON text holds.

    Args:
        place: what to call the file in an error.
        remedy: which file to give instead, if it is another one.

    Raises:
        CourseError: it is no JSON, or an object in it has a key twice.
    """
    try:
        value = json.loads(
            text, object_pairs_hook=lambda pairs: _object(pairs, place), parse_constant=_no_number
        )
    except json.JSONDecodeError as error:
        _explain(text, error, place, remedy)
    except (ValueError, RecursionError) as error:
        raise CourseError(f"{place} is no JSON that can be read: {error}.", remedy) from None
    if "\\u" in text:  # only an escape can hide half of a surrogate pair in UTF-8
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise CourseError(
                f"{place} holds the lone surrogate U+{ord(error.object[error.start]):04X}, half of "
                "a pair that never was a character.",
                "Write the file again with a program that knows Unicode.",
            ) from None
    return value


def _object(pairs: list[tuple[str, Json]], place: str) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise CourseError(
            f"{place} has an object that lists {twice!r} twice.",
            "Keep one of the two: in a vocabulary, each token has one id.",
        )
    return found


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _explain(text: str, error: json.JSONDecodeError, place: str, remedy: str) -> NoReturn:
    """Say where a text stops being JSON, and what the file seems to be instead."""
    if not text.strip():
        raise CourseError(f"{place} is empty.", remedy) from None
    first = text.lstrip().split("\n", 1)[0].strip()
    if first.startswith("#version"):
        cause = "is a list of merges"
        remedy = "Read it behind its vocab.json: from_vocab_json(vocab, merges)."
    elif first in ("[PAD]", "[UNK]", "<s>", "<pad>", "<unk>"):
        cause, remedy = "is a list of tokens, one a line", "Read a vocab.txt with from_vocab_txt."
    elif error.pos >= len(text.rstrip()):
        cause, remedy = "ends too early", "Copy or download it again."
    else:
        cause = "is no JSON"
    raise CourseError(
        f"{place} {cause}: line {error.lineno}, column {error.colno}: {error.msg}.", remedy
    ) from None


def _check_kind(value: Json, place: str) -> None:
    """Raise an error if the JSON is none of a tokenizer, or of one of another version."""
    cause = ""
    if not isinstance(value, dict):
        kinds = {list: "a list", str: "a string", type(None): "null", bool: "true or false"}
        cause = f"{place} holds {kinds.get(type(value), 'a number')}, not an object."
    elif "model" not in value:
        cause = f"{place} has no model: {_likely_kind(value)}."
    elif value.get("version", VERSION) != VERSION:
        cause = f"{place} has version {value['version']!r}; the known one is {VERSION!r}."
    if cause:
        raise CourseError(cause, RIGHT_FILE)


def _likely_kind(value: dict[str, Json]) -> str:
    if value and all(type(id_) is int for id_ in value.values()):
        return "it looks like a vocab.json, a vocabulary without its merges"
    if value.keys() & {"tokenizer_class", "model_max_length", "do_lower_case"}:
        return "it looks like a tokenizer_config.json"
    if value.keys() & {"architectures", "hidden_size", "model_type"}:
        return "it looks like a model's config.json"
    if value.keys() & {"cls_token", "unk_token", "bos_token"}:
        return "it looks like a special_tokens_map.json"
    return f"its keys are {', '.join(list(value)[:5]) or 'none'}"


def _upgraded(name: str, part: Json, inner: str, known: tuple[type, ...], place: str) -> Json:
    """A part of the file as this version writes it, and the parts in it.

    Raises:
        CourseError: its type is not known.
    """
    if not isinstance(part, dict):
        raise CourseError(f"{place} is {part!r}, not an object with a type.", RIGHT_FILE)
    if name == "model":
        part = upgraded_model(part, place)
    kind = part.get("type")
    if kind not in [each.__name__ for each in known]:
        cause = f"is of the type {kind!r}, which is not known here" if kind else "has no type"
        names = ", ".join(sorted(each.__name__ for each in known))
        raise CourseError(f"{place}, {cause}.", f"Known are: {names}.")
    if kind == "Sequence" and isinstance(part.get(inner), list):
        parts = [
            _upgraded(name, each, inner, known, f"{place}, {inner} {position}")
            for position, each in enumerate(part[inner], start=1)
        ]
        return {**part, inner: parts}
    return upgraded_metaspace(part, place) if kind == "Metaspace" else part


def check_added(file: TokenizerFile, token_to_id: Callable[[str], int | None], place: str) -> None:
    """Check that the ids in a file are those that the tokens get.

    Raises:
        CourseError: an added token, or a special token that the post-processor adds, has another.
    """
    for entry in file.added_tokens:
        found = token_to_id(entry.content)
        if found != entry.id:
            raise CourseError(
                f"{place} gives the added token {entry.content!r} the id {entry.id}, but behind "
                f"the model's vocabulary its place is {found}.",
                "Sort the added tokens by id, and number them on from the model's vocabulary "
                "without holes.",
            )
    check_named(file.post_processor, token_to_id)
