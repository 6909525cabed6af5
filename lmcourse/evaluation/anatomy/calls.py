"""What a trace records, and what it asks Python: who called, where, with which arguments."""

import inspect
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn

_HIDDEN = (str(Path(torch.__file__).parent), str(Path(__file__).parent))
_WRAPPERS = ("contextlib.py", "mock.py", "jaxtyping", "beartype")


@dataclass(frozen=True)
class Place:
    """Lines of a source file, from 1."""

    file: str
    first: int
    last: int

    def text(self) -> list[str]:
        """Return the lines."""
        return [linecache.getline(self.file, n).rstrip() for n in range(self.first, self.last + 1)]


@dataclass(eq=False)
class Call:
    """What one call of a module, a step or a function read and returned.

    Attributes:
        index: position in the order of the calls' beginnings.
        parent: the scope that called it; None for the model, its inputs and constants.
        name: of a module its path from the model, of a function its name.
        inputs: what it was called with, tensors and numbers, by name.
        sources: for each tensor in ``inputs`` that is followed, the indices of its origins.
        parameters: the names of the parameters that the function itself takes.
        output: the first tensor that it returned.
        place: the expression that called it.
    """

    index: int
    parent: int | None
    kind: str  # "module", "step", "function", "input", "table", "constant"
    name: str
    module: nn.Module | None = None
    inputs: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, tuple[int, ...]] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()
    output: Tensor | None = None
    place: Place | None = None
    leaf: bool = True


def tensors(value: Any) -> Iterator[Tensor]:
    """Yield the tensors in nested sequences, dictionaries and outputs of models."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, str | bytes | nn.Module):
        return
    elif hasattr(value, "items"):
        for _, it in value.items():
            yield from tensors(it)
    elif isinstance(value, tuple | list):
        for it in value:
            yield from tensors(it)


def flattened(args: Any) -> Iterator[Any]:
    for it in args:
        if isinstance(it, tuple | list):
            yield from flattened(it)
        elif isinstance(it, Tensor | int | float):
            yield it


def adds_nothing(inputs: dict[str, Any], sources: Mapping[str, Any]) -> bool:
    """Whether only zeros are added."""
    rest = [it for key, it in inputs.items() if key not in sources]
    return not any(bool(it.any()) if isinstance(it, Tensor) else it for it in rest)


def mapped(value: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """Return nested arguments with every tensor replaced."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, dict):
        return {name: mapped(it, function) for name, it in value.items()}
    if isinstance(value, tuple | list):
        return type(value)(mapped(it, function) for it in value)
    return value


def options_of(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: it for name, it in options.items() if isinstance(it, int | float | str)}


def hides(name: str, args: tuple[Any, ...]) -> bool:
    """Whether this hides scores from a softmax, which a figure shows."""
    return name == "masked_fill" and args[2] == -torch.inf


def paths_of(model: nn.Module) -> dict[nn.Module, str]:
    """Return the names of all modules, and of those of a frozen teacher, which is no submodule."""
    found = {part: name for name, part in model.named_modules()}
    for part, path in list(found.items()):
        for name, value in vars(part).items():
            if isinstance(inner := getattr(value, "model", None), nn.Module):
                prefix = f"{path}.{name}".strip(".")
                for inside, it in inner.named_modules():
                    found.setdefault(it, f"{prefix}.{inside}".strip("."))
    return found


def arguments_of(module: nn.Module) -> list[str]:
    """Return the names of the arguments of ``forward``."""
    return list(inspect.signature(type(module).forward).parameters)


def bound(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments by name."""
    names = arguments_of(module)[1:]
    positional = {names[i] if i < len(names) else f"{i}": it for i, it in enumerate(args)}
    return {name: it for name, it in (positional | kwargs).items() if it is not None}


def name_of(func: Any) -> str:
    """Return ``mT`` for ``Tensor.mT.__get__``, ``add`` for ``Tensor.__radd__``."""
    name: str = getattr(func, "__name__", str(func))
    if name == "__get__":
        return str(getattr(func.__self__, "__name__", "get"))
    name = name.strip("_")
    return name[1:] if name in ("radd", "rmul", "rmatmul", "iadd") else name


def caller() -> FrameType:
    """Return the frame of the course's (or a student's) code that runs now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (
        frame.f_code.co_filename.startswith(_HIDDEN)
        or any(it in frame.f_code.co_filename for it in _WRAPPERS)
        or frame.f_code.co_name.startswith("<")
    ):
        frame = frame.f_back
    assert frame is not None
    return frame


def place_of(frame: FrameType) -> Place:
    positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    first = positions[0] or frame.f_lineno
    return Place(frame.f_code.co_filename, first, positions[1] or first)
