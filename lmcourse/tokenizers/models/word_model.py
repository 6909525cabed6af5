"""What the models share: tokens, the steps that lead to them, and a repr that fits on a line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Generic, NamedTuple, TypeVar

Span = tuple[int, int]  # characters, the end excluded
StepT = TypeVar("StepT")


class Token(NamedTuple):
    """One token of a word, as a model segments it."""

    id: int
    value: str
    offsets: Span  # characters of the word


@dataclass(frozen=True)
class Steps(Generic[StepT]):
    """How a word was segmented (``dataclasses.asdict`` makes it JSON).

    Attributes:
        word: the word.
        steps: what the model did, in order; each step names the characters that it concerns.
        tokens: the result: the same as ``tokenize`` gives.
    """

    word: str
    steps: tuple[StepT, ...]
    tokens: tuple[Token, ...]


class WordModel:
    """A dataclass that segments words."""

    def __repr__(self) -> str:
        """The options that are set, and the sizes of the tables."""
        values: Mapping[str, Any] = {it.name: getattr(self, it.name) for it in fields(self)}  # type: ignore[arg-type]  # subclasses are dataclasses
        shown = [
            f"{name}=<{len(value):,}>" if isinstance(value, dict | tuple) else f"{name}={value!r}"
            for name, value in values.items()
            if value is not None and value is not False
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def numbered(tokens: Iterable[str]) -> dict[str, int]:
    """Ids from 0 in the order of the tokens; a repeated token keeps its first id."""
    return {token: id_ for id_, token in enumerate(dict.fromkeys(tokens))}
