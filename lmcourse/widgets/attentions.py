"""Attention weights in the forms that models return: converted, checked, compressed.

The result is (layer, head, query, key) for one sequence. Each row is a distribution over the keys,
or all zeros for a query that attends to nothing (padding).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.base import LIMIT
from lmcourse.widgets.packing import Array, numbers

PARTS = {
    "self": "attentions",
    "encoder": "encoder_attentions",
    "decoder": "decoder_attentions",
    "cross": "cross_attentions",
}
MOST_HEADS = 64  # in a layer, and layers
MOST_WEIGHTS = 3_600_000  # that are all sent; otherwise thumbnails and the largest
THUMBNAIL = 32  # pixels
LARGEST = 8  # keys per query
LIGHTER = (
    "Pass fewer tokens, or some of the layers and heads, such as attentions[:4]; leave out "
    "queries and keys if there are any: 12 × 12 heads of 512 tokens fit without."
)
TOLERANCE = 0.03  # for a row's sum: the error of bfloat16 over some hundred keys
_EAGER = (
    'Load a model of transformers with attn_implementation="eager", and call it with '
    "output_attentions=True."
)


def is_output(value: Any) -> bool:
    """Return whether it is the output of a model (ours, or of transformers)."""
    return hasattr(value, "to_tuple") or any(hasattr(value, field) for field in PARTS.values())


def as_attentions(name: str, value: Any, part: str | None = None) -> Array:
    """Return the weights of one sequence, float32, (layer, head, query, key).

    Args:
        name: the argument's name, for messages.
        value: a model's output; a tuple or list with one array per layer, (1, head, query, key) or
            (head, query, key); or one array for all layers, possibly with a batch axis of size 1
            after the first, or with fewer axes: (head, query, key) is one layer, (query, key) one
            head.
        part: the part of an output: ``"self"``, ``"encoder"``, ``"decoder"`` or ``"cross"``; None:
            the only one.
    """
    if is_output(value):
        name, value = _of_output(name, value, part)
    elif part is not None:
        raise CourseError(
            f"part={part!r} needs a model's output, and {name} is of type {type(value).__name__}.",
            "Leave out part, or pass the whole output.",
        )
    if value is None:
        raise CourseError(f"{name} is None: the model did not return its weights.", _EAGER)
    stacked = as_layers(name, value)
    _fits(name, stacked.shape)
    check_rows(name, stacked)
    return stacked


def as_layers(name: str, value: Any) -> Array:
    """Return the value as (layer, head, …, …); arguments as for `as_attentions`."""
    if isinstance(value, tuple | list):
        return _of_layers(name, value)
    return _of_array(name, _numbers(name, value))


def check_rows(name: str, weights: Array) -> None:
    """Check that each row is a distribution, or all zeros."""
    sums = weights.sum(-1, dtype=np.float64)
    wrong = ~np.isfinite(sums)
    if wrong.any():
        raise CourseError(
            f"{name} has nan or inf, first in {_where(wrong)}.",
            "If all keys of a query are masked, its softmax is nan: let padding attend to "
            "something, or set such rows to 0.",
        )
    lowest = weights.min(-1)
    wrong = (np.abs(sums - 1) > TOLERANCE) & (np.abs(weights).max(-1) > 0) | (lowest < -1e-6)
    if not wrong.any():
        return
    where = tuple(np.argwhere(wrong)[0])
    cause = f"{name}: the weights of {_where(wrong)} sum to {sums[where]:.3g}, not to 1."
    if lowest.min() < -1e-6:
        raise CourseError(
            f"{name} has weights below 0, first in {_where(lowest < -1e-6)}.",
            "They may be scores before the softmax: pass scores.softmax(-1).",
        )
    if np.allclose(weights.sum(-2, dtype=np.float64), 1, atol=TOLERANCE):
        raise CourseError(cause, "The columns do: swap the last two axes, so that keys are last.")
    raise CourseError(
        cause,
        "The cause may be dropout: call model.eval() first. For scores, apply the softmax; for "
        "some of the keys, divide each row by its sum.",
    )


def quantized(weights: Array) -> Array:
    """Return one byte per weight, round(255 · √p), with an error of at most 0.004.

    Only a weight of exactly 0, such as that of a masked key, becomes 0; others are at least 1.
    """
    roots = np.sqrt(np.clip(weights, 0, 1), dtype=np.float32)
    roots *= 255
    return np.maximum(np.rint(roots, out=roots), weights > 0).astype(np.uint8)


def pooled(codes: Array, size: int) -> Array:
    """Return thumbnails of at most ``size`` × ``size``: the largest weight of each block."""
    for axis in (-2, -1):
        length = codes.shape[axis]
        if length > size:
            starts = -(np.arange(size) * length // -size)  # where i · size // length grows
            codes = np.maximum.reduceat(codes, starts, axis=axis)
    return codes


def largest(codes: Array, count: int) -> tuple[Array, Array]:
    """Return the keys (uint16) and values (uint8) of each query's largest weights."""
    count = min(count, codes.shape[-1])
    keys = np.argpartition(codes, -count, axis=-1)[..., -count:]
    return keys.astype(np.uint16), np.take_along_axis(codes, keys, -1)


def _fits(name: str, shape: tuple[int, ...]) -> None:
    """Check that a page can hold these weights, before computing anything."""
    layers, heads, queries, keys = shape
    if max(layers, heads) > MOST_HEADS:
        raise CourseError(
            f"{name} has {layers} layers of {heads} heads.",
            f"Pass at most {MOST_HEADS} of each, such as attentions[:4].",
        )
    least = layers * heads * (THUMBNAIL**2 + 3 * LARGEST * queries)
    if layers * heads * queries * keys > MOST_WEIGHTS and least > LIMIT:
        raise CourseError(
            f"{name}: {layers} × {heads} heads of {queries} queries take at least "
            f"{least / 1e6:.1f} MB, and a page can hold {LIMIT / 1e6:.0f} MB.",
            LIGHTER,
        )


def _of_output(name: str, output: Any, part: str | None) -> tuple[str, Any]:
    """Return the name and the weights of a part of an output."""
    if part is not None and part not in list(PARTS):
        raise CourseError(f"The part {part!r} is unknown.", f"Choose one of {', '.join(PARTS)}.")
    there = {it: getattr(output, field, None) for it, field in PARTS.items()}
    if part is None:
        given = [it for it, weights in there.items() if weights is not None]
        if len(given) > 1 and "self" not in given:
            choices = " or ".join(f'part="{it}"' for it in given)
            raise CourseError(
                f"This output has the weights of {', '.join(given)}.", f"Pass {choices}."
            )
        part = "self" if "self" in given or not given else given[0]
    return f"{name}.{PARTS[part]}", there[part]


def _of_layers(name: str, layers: Sequence[Any]) -> Array:
    if not layers:
        raise CourseError(f"{name} is empty: the model did not return its weights.", _EAGER)
    found = []
    for i, layer in enumerate(layers):
        which = f"{name}[{i}]"
        if layer is None:
            raise CourseError(f"{which} is None: the model did not return its weights.", _EAGER)
        if isinstance(layer, tuple | list) and any(hasattr(it, "shape") for it in layer):
            raise CourseError(
                f"{which} is a {type(layer).__name__} of arrays.",
                f"Pass one array per layer; from generate(), pass one step: {which}.",
            )
        found.append(_one_layer(which, _numbers(which, layer)))
    shapes = [it.shape for it in found]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise CourseError(
                f"{name}[{i}] has the shape {shape}, {name}[0] has {shapes[0]}.",
                "Pass layers with the same numbers of heads, queries and keys.",
            )
    return np.stack(found)


def _one_layer(name: str, layer: Array) -> Array:
    if layer.ndim == 4:
        _one_sequence(name, layer.shape, 0, "[layer[:1] for layer in attentions]")
        layer = layer[0]
    if layer.ndim == 2:
        layer = layer[None]
    if layer.ndim != 3:
        raise _no_such_shape(name, layer)
    return layer


def _of_array(name: str, array: Array) -> Array:
    if array.ndim == 5:
        _one_sequence(name, array.shape, 1, "attentions[:, :1]")
        array = array[:, 0]
    if array.ndim not in (2, 3, 4):
        raise _no_such_shape(name, array)
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def _one_sequence(name: str, shape: tuple[int, ...], axis: int, remedy: str) -> None:
    if shape[axis] > 1:
        raise CourseError(
            f"{name} has the shape {shape}: {shape[axis]} sequences.",
            f"Pass one of them, such as {remedy}.",
        )


def _no_such_shape(name: str, array: Array) -> CourseError:
    return CourseError(
        f"{name} has the shape {array.shape}, which does not fit an attention.",
        "Pass (layer, head, query, key), or a list with (1, head, query, key) per layer.",
    )


def _numbers(name: str, value: Any) -> Array:
    """Return the value as a float32 array that is not empty."""
    array = numbers(value)
    if array is None:
        raise CourseError(
            f"{name} is of type {type(value).__name__}, not attention weights.",
            "Pass a model's output, its .attentions, or one array (layer, head, query, key).",
        )
    if array.size == 0:
        raise CourseError(
            f"{name} has the shape {array.shape}: it is empty.",
            "Pass at least one layer, head, query and key.",
        )
    return array.astype(np.float32, copy=False)


def _where(wrong: Array) -> str:
    layer, head, query = np.argwhere(wrong)[0]
    return f"layer {layer}, head {head}, query {query}"
