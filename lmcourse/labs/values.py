"""The judges' vocabulary: read what an answer returned, compare it, name the known mistake."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lmcourse.labs.verdict import Wrong


@dataclass(frozen=True)
class Mistake:
    """A named misconception: what to tell, and what it computes from the exercise's arguments."""

    hint: str
    compute: Callable[..., Any]


def explain(
    value: Any, mistakes: Iterable[Mistake], *arguments: Any, tolerance: float = 1e-5
) -> None:
    """Raise Wrong with the hint of the first mistake that gives ``value`` on these arguments."""
    for known in mistakes:
        try:
            wrong = known.compute(*arguments)
        except (ArithmeticError, IndexError, RuntimeError, ValueError):
            continue  # this mistake cannot run on these shapes
        if same(value, wrong, tolerance):
            raise Wrong(known.hint)


def same(value: Any, wanted: Any, tolerance: float = 1e-5) -> bool:
    """Whether shapes are equal, and numbers within ``tolerance`` relative to the largest wanted."""
    first, second = (torch.as_tensor(each, dtype=torch.float64) for each in (value, wanted))
    if first.shape != second.shape or not bool(torch.isfinite(first).all()):
        return False
    scale = second.abs().max().item() if second.numel() else 0.0
    return bool(((first - second).abs() <= tolerance * (scale or 1.0)).all())


def multiple(value: Tensor, wanted: Tensor, tolerance: float = 1e-5) -> float | None:
    """The factor c if ``value`` is c times ``wanted`` and c is not 1; None otherwise."""
    factor = float((value * wanted).sum() / (wanted * wanted).sum())
    if (
        same(value, factor * wanted, tolerance)
        and abs(factor - 1) > tolerance
        and abs(factor) > tolerance
    ):
        return factor
    return None


def number(value: Any) -> float:
    """Read one real number: a Python or numpy number, or a tensor or array of one element."""
    if isinstance(value, (bool, np.bool_)):
        raise Wrong("Your function returns True or False; a number is asked for.")
    array = _array(value, "a number")
    if isinstance(value, (list, tuple)) or array.size != 1:
        raise Wrong(f"Your function returns {_size(value, array)}; one number is asked for.")
    return _finite(array.reshape(())).item()


def tensor(value: Any, shape: Sequence[int]) -> Tensor:
    """Read real numbers of this shape (as float64) from a tensor, an array, or nested lists."""
    wanted = tuple(shape)
    if isinstance(value, tuple) and (len(wanted) == 0 or len(value) != wanted[0]):
        raise Wrong(
            f"Your function returns {len(value)} values (a tuple); return only the one asked for."
        )
    array = _array(value, "a tensor")
    if array.shape != wanted:
        raise Wrong(
            f"Your result has shape {_shape(array.shape)}; the shape asked for is {_shape(wanted)}."
        )
    return torch.from_numpy(_finite(array))


def unchanged(before: Any, after: Any) -> bool:
    """Whether an argument still holds what it held; `requires_grad_()` or `eval()` is no change."""
    if isinstance(before, Tensor):
        return (
            isinstance(after, Tensor)
            and before.shape == after.shape
            and torch.equal(before.detach().isnan(), after.detach().isnan())
            and torch.equal(before.detach().nan_to_num(), after.detach().nan_to_num())
        )
    if isinstance(before, np.ndarray):
        return before.shape == after.shape and bool(np.array_equal(before, after))
    if isinstance(before, (list, tuple)):
        return len(before) == len(after) and all(map(unchanged, before, after))
    if isinstance(before, dict):
        return list(before) == list(after) and all(
            unchanged(before[key], after[key]) for key in before
        )
    if isinstance(before, torch.nn.Module):
        return unchanged(before.state_dict(), after.state_dict())
    if isinstance(before, (str, bytes, int, float, complex, type(None))):
        return bool(before == after)
    return True  # functions, generators: not copied


def _array(value: Any, wanted: str) -> np.ndarray:
    """Read real numbers as a float64 array; ``wanted`` says in words what was asked for."""
    array: np.ndarray
    try:
        if isinstance(value, (list, tuple)):
            array = np.stack([_array(each, wanted) for each in value]) if value else np.empty(0)
        elif isinstance(value, Tensor):
            dense = value.detach().to_dense() if value.layout != torch.strided else value.detach()
            plain = dense.resolve_conj().resolve_neg().cpu()
            array = (plain if plain.is_complex() else plain.double()).numpy()
        else:
            array = np.asarray(value)
    except Wrong:
        raise
    except Exception:  # whatever the student's own class does when it is read
        raise Wrong(
            f"Your function returns {_type(value)} that cannot be read as {wanted}."
        ) from None
    if np.iscomplexobj(array):
        raise Wrong(
            "Your function returns complex numbers; is there a root or a power of a negative "
            "number?"
        )
    if array.dtype.kind not in "fiub" and not (array.dtype == object and _is_real(value)):
        raise Wrong(f"Your function returns {_type(value)}; {wanted} is asked for.")
    return _float64(array, value, wanted)


def _float64(array: np.ndarray, value: Any, wanted: str) -> np.ndarray:
    """Convert an array of real numbers; one of Python objects may hold anything."""
    try:
        return array.astype(np.float64)
    except OverflowError:
        what = "a whole number" if isinstance(value, int) else kind(value)
        raise Wrong(
            f"Your function returns {what} that is too large to be read as {wanted}: the largest "
            "that a float can hold is about 1.8e308. Does something grow without end, like a "
            "power or a product?"
        ) from None
    except Exception:  # whatever else stands among the objects
        raise Wrong(
            f"Your function returns {_type(value)} that cannot be read as {wanted}."
        ) from None


def _is_real(value: Any) -> bool:
    """Whether it is another library's number (Fraction, Decimal): anything that float() reads."""
    return hasattr(value, "__float__")


def _finite(array: np.ndarray) -> np.ndarray:
    if np.isnan(array).any():
        raise Wrong(
            "Your result contains NaN: is there a 0/0, an inf − inf, or a log of a negative number?"
        )
    if np.isinf(array).any():
        raise Wrong(
            "Your result is infinite: does something divide by zero, take log 0, or overflow in "
            "exp?"
        )
    return array


def kind(value: Any) -> str:
    """The kind of a value with its article, as it is spoken: "a `dict`", "an `int`"."""
    name = type(value).__name__
    vowel = name[0].lower() in "aeiou" or name == "ndarray"  # "n-d-array"
    return f"{'an' if vowel else 'a'} `{name}`"


def _type(value: Any) -> str:
    return "a text (`str`)" if isinstance(value, str) else kind(value)


def _size(value: Any, array: np.ndarray) -> str:
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"{array.size} numbers (shape {_shape(array.shape)})"


def _shape(shape: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
