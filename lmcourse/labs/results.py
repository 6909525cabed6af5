"""Results as numbers: read from whatever an answer returns, compared, and shown.

A tensor, a NumPy array or nested lists count alike, in any numeric type.
"""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lmcourse.engine import Value
from lmcourse.labs.verdict import Wrong

LARGEST = 1_000_000  # numbers that are read of a result
_HALF = {torch.float16: 1e-2, torch.bfloat16: 6e-2}  # their rounding, some eight steps of it


@dataclass(frozen=True)
class Result:
    """The numbers of one call, a float64 tensor for each value returned.

    Args:
        parts: the tensors.
        rounding: of each part's type, relative.
    """

    parts: tuple[Tensor, ...]
    rounding: tuple[float, ...]

    @cached_property
    def sizes(self) -> tuple[float, ...]:
        """The largest finite number of each part; 1 if there is none but 0."""
        finite = (part[part.isfinite()].abs() for part in self.parts)
        return tuple((part.max().item() if part.numel() else 0.0) or 1.0 for part in finite)


def read(value: Any, like: Any) -> Result:
    """Read ``value``, which should be built as ``like``: a tuple of values, or one.

    Raises:
        Wrong: it cannot be read so; its kind is "type", "shape" (for a number) or "size".
    """
    if not isinstance(like, tuple):
        rounding = _HALF.get(value.dtype, 0.0) if isinstance(value, Tensor) else 0.0
        return Result((_read_one(value, like),), (rounding,))
    several = isinstance(value, (tuple, list)) or getattr(value, "ndim", 0) > 0
    if not several or len(value) != len(like):
        returned = f"{len(value)}" if isinstance(value, (tuple, list)) else with_article(value)
        raise Wrong(
            f"Return {len(like)} values, with a comma between them; your function returns "
            f"{returned}.",
            "type",
        )
    found = []
    for number, (each, part) in enumerate(zip(value, like, strict=True), 1):
        try:
            found.append(read(each, part))
        except Wrong as wrong:
            raise Wrong(f"Value {number} of {len(like)}: {wrong}", wrong.kind) from None
    parts = tuple(part for each in found for part in each.parts)
    return Result(parts, tuple(rounding for each in found for rounding in each.rounding))


def _read_one(value: Any, like: Any) -> Tensor:
    wanted = torch.as_tensor(like)
    what = ("numbers" if type(like) is list else "a tensor") if wanted.ndim else "a number"
    kind = type(value) if isinstance(value, (bool, np.bool_)) else getattr(value, "dtype", None)
    if kind in (bool, np.bool_, np.dtype(bool), torch.bool) and wanted.is_floating_point():
        raise Wrong(f"Your function returns True or False; it should return {what}.", "type")
    numbers = _numbers(value, what)
    if wanted.ndim:
        return numbers
    if isinstance(value, (list, tuple)) or numbers.numel() != 1:
        raise Wrong(
            f"Your function returns {with_article(value)} of shape {list(numbers.shape)}; it "
            "should return one number.",
            "shape",
        )
    return numbers.reshape(())


def _numbers(value: Any, what: str) -> Tensor:
    """Read real numbers of any shape, as float64; ``what`` names what they should be."""
    shape = value.shape if isinstance(value, (Tensor, np.ndarray)) else ()
    size = len(value) if isinstance(value, (list, tuple, range)) else math.prod(shape)
    if size > LARGEST:
        raise Wrong(f"Your function returns {size:,} numbers, too many to be read.", "size")
    try:
        if isinstance(value, Tensor):
            plain = value.detach().to_dense() if value.layout != torch.strided else value.detach()
            plain = plain.resolve_conj().resolve_neg().cpu()
            return _real(plain).double()
        if isinstance(value, (list, tuple, range)):
            parts = [_numbers(each, what) for each in value]
            return torch.stack(parts) if parts else torch.empty(0, dtype=torch.float64)
        if isinstance(value, np.ndarray):
            return _numbers(value.tolist() if value.dtype == object else torch.tensor(value), what)
        if hasattr(value, "__array__") and not isinstance(value, np.generic):
            return _numbers(np.asarray(value), what)
        if isinstance(value, (complex, np.complexfloating)):
            _real(torch.tensor(value))
        if hasattr(value, "__float__"):
            return torch.tensor(float(value), dtype=torch.float64)
    except Wrong:
        raise
    except OverflowError:
        raise Wrong(
            f"Your function returns {with_article(value)} too large to be read as {what}: a float "
            "ends at about 1.8e308. Does a power or a product grow without bound?",
            "type",
        ) from None
    except Exception:  # whatever the student's own class does when it is read
        raise Wrong(
            f"Your function returns {with_article(value)} that cannot be read as {what}.", "type"
        ) from None
    raise Wrong(f"Your function returns {with_article(value)}; it should return {what}.", "type")


def _real(numbers: Tensor) -> Tensor:
    if numbers.is_complex():
        raise Wrong(
            "Your function returns complex numbers: is there a root or a power of a negative one?",
            "type",
        )
    return numbers


def same(first: Result, second: Result, tolerance: float) -> bool:
    """Whether the shapes are equal, and the numbers too.

    They may differ by ``tolerance`` (or the rounding of the part's type) relative to the largest
    of ``second``; NaN equals NaN.
    """
    return len(first.parts) == len(second.parts) and all(
        ours.shape == theirs.shape and not bool(_differs(first, second, at, tolerance).any())
        for at, (ours, theirs) in enumerate(zip(first.parts, second.parts, strict=True))
    )


def same_part(first: Result, second: Result, at: int, tolerance: float) -> bool:
    """Whether one part is equal in both, as `same` compares it."""
    shapes = first.parts[at].shape == second.parts[at].shape
    return shapes and not bool(_differs(first, second, at, tolerance).any())


def _differs(value: Result, wanted: Result, at: int, tolerance: float) -> Tensor:
    allowed = max(tolerance, value.rounding[at]) * wanted.sizes[at]
    ours, theirs = value.parts[at], wanted.parts[at]
    return ~torch.isclose(ours, theirs, rtol=0.0, atol=allowed, equal_nan=True)


def difference(value: Result, wanted: Result, tolerance: float, names: tuple[str, ...]) -> Wrong:
    """What differs: a shape, a NaN, or the first number, with both sides."""
    names = names or ("Your result",)
    if len(names) != len(wanted.parts):  # a value that is a tuple itself has several parts
        names = tuple(f"Part {n}" for n in range(1, len(wanted.parts) + 1))
    parts = zip(names, value.parts, wanted.parts, strict=True)
    for part, (name, ours, theirs) in enumerate(parts):
        bad = (~ours.isfinite()).nonzero()
        if len(bad):
            at = tuple(bad[0].tolist())
            found = "NaN" if bool(ours[at].isnan()) else "infinite"
            return Wrong(
                f"{name}: {found}{_where(at)}. Is there a 0/0, an inf − inf, a 0 · inf, "
                "a log of 0 or of a negative number, or an overflow in exp?",
                "nan",
            )
        short = ours.ndim == theirs.ndim == 1 and max(len(ours), len(theirs)) <= 16
        if ours.shape != theirs.shape and not short:
            shapes = f"shape {list(ours.shape)}; expected: {list(theirs.shape)}"
            return Wrong(f"{name}: {shapes}.", "shape")
        if ours.shape == theirs.shape:
            differs = _differs(value, wanted, part, tolerance)
            if not bool(differs.any()):
                continue
            factor = float((ours * theirs).sum() / (theirs * theirs).sum().clamp(min=1e-300))
            if theirs.numel() > 1 and factor and _multiple(ours, theirs, factor):
                return Wrong(f"{name}: {factor:.4g} times what is expected.")
        if short:
            return Wrong(f"{name}: {shown(ours)}; expected: {shown(theirs)}.")
        at = tuple(differs.nonzero()[0].tolist())
        return Wrong(f"{name}{_where(at)}: {ours[at]:.6g}; expected: {theirs[at]:.6g}.")
    return Wrong("Your result differs from the expected one.")


def _multiple(ours: Tensor, theirs: Tensor, factor: float) -> bool:
    return same(Result((ours,), (0.0,)), Result((factor * theirs,), (0.0,)), 1e-6)


def _where(at: tuple[int, ...]) -> str:
    return f" at position {list(at)}" if at else ""


def shown(value: Any) -> str:
    """A value as a message shows it: numbers with at most four significant digits."""
    if isinstance(value, Tensor):
        whole = not value.is_floating_point() or bool((value == value.round()).all())
        return shown((value.long() if whole else value).tolist())
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(shown, value)) + "]"
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def call_shown(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """The arguments by their names, without the longest: "`a = [1, 2]`, `rate = 0.5`"."""
    plain = (bool, int, float, str, list, dict, Tensor)
    pairs = zip(inspect.signature(function).parameters, arguments, strict=False)
    texts = [f"`{name} = {shown(each)}`" for name, each in pairs if isinstance(each, plain)]
    while len("".join(texts)) > 400:
        texts.remove(max(texts, key=len))
    return ", ".join(texts)


def unchanged(before: Any, after: Any) -> bool:
    """Whether an argument holds what it held; `eval()` of a module is no change.

    Call it within the limits of an answer: what was put into an argument may compare itself.
    """
    if type(before) is not type(after) or left_a_gradient(before, after):
        return False
    if isinstance(before, Value):
        return _same_graph(before, after)
    if isinstance(before, torch.nn.Module):
        return unchanged(dict(before.state_dict()), dict(after.state_dict()))
    if isinstance(before, Tensor):
        return unchanged(before.detach().numpy(), after.detach().numpy())
    if isinstance(before, np.ndarray):
        if before.dtype == object:
            return before.shape == after.shape and unchanged(before.tolist(), after.tolist())
        return np.array_equal(before, after, equal_nan=before.dtype.kind == "f")
    if isinstance(before, dict):
        before, after = [*before.items()], [*after.items()]
    if isinstance(before, (list, tuple)):
        return len(before) == len(after) and all(map(unchanged, before, after))
    if isinstance(before, (str, bytes, int, float, complex, type(None))):
        return before is after or bool(before == after)
    return True  # functions, generators: not copied


def _same_graph(before: Value, after: Value) -> bool:
    """Whether nodes of the engine were computed from the same nodes, with the same numbers.

    The gradients may differ: a backward pass writes them.
    """
    nodes, waiting = {before: after}, [before]
    for ours in waiting:
        theirs = nodes[ours]
        numbers = [(node.value, node.partials) for node in (ours, theirs)]
        if not unchanged(*numbers) or len(ours.parents) != len(theirs.parents):
            return False
        for one, other in zip(ours.parents, theirs.parents, strict=True):
            if one not in nodes:
                nodes[one] = other
                waiting.append(one)
            if nodes[one] is not other:
                return False
    return True


def left_a_gradient(before: Any, after: Any) -> bool:
    """Whether a backward pass left a gradient in a tensor or a module: the next would add to it."""
    if isinstance(before, torch.nn.Module):
        return any(map(left_a_gradient, before.parameters(), after.parameters()))
    if not isinstance(before, Tensor):
        return False
    return after.is_leaf and after.grad is not None and (not before.is_leaf or before.grad is None)


def with_article(value: Any) -> str:
    """The type of a value with its article: "a `dict`", "an `int`"."""
    if isinstance(value, str):
        return "a string (`str`)"
    name = type(value).__name__
    vowel = name[0].lower() in "aeiou" or name == "ndarray"  # "n-d-array"
    return f"{'an' if vowel else 'a'} `{name}`"
