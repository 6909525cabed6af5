"""What every part of a tokenizer is: a small frozen record that tokenizer.json can hold."""

import reprlib
from functools import cache
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Protocol,
    Union,
    get_args,
    get_origin,
    runtime_checkable,
)

import msgspec
from msgspec import Meta
from msgspec.structs import FieldInfo, force_setattr

from lmcourse.errors import CourseError

# What a number may be; the description says it in an error. The library keeps ids in 32 bits.
Count = Annotated[int, Meta(ge=0, description="a whole number from 0 on")]
Positive = Annotated[int, Meta(ge=1, description="a whole number from 1 on")]
Id = Annotated[int, Meta(ge=0, lt=2**32, description="a whole number from 0 on, below 2 ** 32")]


class Record(msgspec.Struct, frozen=True):
    """A record whose fields hold what their annotations say, however it was made.

    msgspec checks what comes from a file; this checks what is built by hand. A subclass with
    a ``__post_init__`` of its own calls this one first.

    Raises:
        CourseError: a field holds something else.
    """

    def __post_init__(self) -> None:
        for field in _fields(type(self)):
            what = f"{field.name} of {type(self).__name__}"
            value = checked(getattr(self, field.name), field.type, what)
            force_setattr(self, field.name, value)


class Component(Record, frozen=True, tag_field="type", tag=True, dict=True):
    """A normalizer, pre-tokenizer, model, post-processor or decoder.

    Its fields are the keys that the ``tokenizers`` library writes into tokenizer.json, in the
    library's order, beside ``"type"``, which is the class's name. (``dict=True`` makes room for
    cached properties: tables that follow from the fields.)
    """


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def checked(value: Any, kind: Any, what: str) -> Any:
    """The value as an annotation wants it: a list becomes a tuple, a name its usual form.

    Args:
        kind: the annotation, such as ``tuple[str, ...]`` or ``Normalizer | None``.
        what: what to call the value in an error, such as "behavior of Split".

    Raises:
        CourseError: the value is of another kind.
    """
    try:
        return msgspec.convert(_meant(value, kind), kind)
    except msgspec.ValidationError:
        wrong = _wrong_entry(value, kind) if isinstance(value, dict) else value
        remedy = f"Give {_described(kind)}."
        if isinstance(value, type):
            remedy = f"Make one of it, with brackets: {value.__name__}()."
        raise CourseError(f"The {what} cannot be {reprlib.repr(wrong)}.", remedy) from None


def _meant(value: Any, kind: Any) -> Any:
    """The value that a plain string stands for, where the annotation tells."""
    if isinstance(value, str) and get_origin(kind) is Literal:  # "merged_with_previous"
        plain = value.replace("_", "").lower()
        return next((name for name in get_args(kind) if name.lower() == plain), value)
    if isinstance(value, str) and isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind(value)  # its first field: Pattern("-")
    return value


def _wrong_entry(value: dict[Any, Any], kind: Any) -> dict[Any, Any]:
    """The first entry of a mapping that does not fit; a vocabulary has too many to show."""
    for entry in value.items():
        try:
            msgspec.convert(dict([entry]), kind)
        except msgspec.ValidationError:
            return dict([entry])
    return value


def _described(kind: Any) -> str:
    """An annotation in words."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return "one of these: " + ", ".join(map(repr, inner))
    if origin is Annotated:
        return str(inner[1].description)
    if origin in (Union, UnionType):
        return " or ".join(map(_described, inner))
    if origin is tuple and inner[-1] is ...:
        return f"a tuple of entries, each {_described(inner[0])}"
    if origin is tuple:
        return f"a tuple ({', '.join(map(_described, inner))})"
    if origin is dict:
        return f"a dict from {_described(inner[0])} to {_described(inner[1])}"
    return IN_WORDS.get(kind, kind.__name__)


IN_WORDS = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    type(None): "None",
}


class Token(NamedTuple):
    """One token of a word, as a model cuts it."""

    id: int
    value: str
    offsets: tuple[int, int]  # characters of the word, the end excluded


@runtime_checkable
class Model(Protocol):
    """What cuts a word (a piece that the pre-tokenizer has made) into tokens."""

    @property
    def ids(self) -> dict[str, int]:
        """Each token's id."""

    @property
    def tokens(self) -> dict[int, str]:
        """Each id's token."""

    def tokenize(self, word: str) -> list[Token]:
        """The tokens of a word, from left to right.

        Raises:
            CourseError: a character is not known and there is no unknown token.
        """
