"""Attention weights in whatever form models return them: accepted, checked, made small.

One form comes out: (layer, head, query, key), of one sequence, each row a distribution over the
keys, or all zeros where a query looks nowhere (padding).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.base import LIMIT
from lmcourse.widgets.packing import Array

PARTS = {
    "self": "attentions",
    "encoder": "encoder_attentions",
    "decoder": "decoder_attentions",
    "cross": "cross_attentions",
}
MOST_HEADS = 64  # in a layer, and layers
WHOLE = 3_600_000  # weights that are sent as they are; of more, thumbnails and the largest
THUMBNAIL = 32  # pixels
LARGEST = 8  # keys a query
LIGHTER = (
    "Pass fewer tokens, or some of the layers and heads, such as attentions[:4]; leave out "
    "queries and keys if they are given: 12 × 12 heads of 512 tokens fit without."
)
TOLERANCE = 0.03  # of a row's sum: what bfloat16 makes of a softmax over some hundred keys
_EAGER = (
    'Load a model of transformers with attn_implementation="eager", and call it with '
    "output_attentions=True."
)


def is_output(value: Any) -> bool:
    """Whether it is what a model's call returns (ours, or that of transformers)."""
    return hasattr(value, "to_tuple") or any(hasattr(value, field) for field in PARTS.values())


def as_attentions(name: str, value: Any, part: str | None = None) -> Array:
    """The weights of one sequence, float32, (layer, head, query, key).

    Args:
        name: the argument's, for messages.
        value: a model's output; a tuple or list of one array a layer, (1, head, query, key) or
            (head, query, key); or all layers in one array, also with a batch axis of 1 behind the
            first, or with less axes: (head, query, key) is one layer, (query, key) one head.
        part: of an output: ``"self"``, ``"encoder"``, ``"decoder"`` or ``"cross"``; None: the one
            that is there.

    Raises:
        CourseError: there are none, of several sequences, of unlike shapes, or no distributions.
    """
    if is_output(value):
        name, value = _of_output(name, value, part)
    elif part is not None:
        raise CourseError(
            f"part={part!r} chooses from a model's output, and {name} is of type "
            f"{type(value).__name__}.",
            "Leave out part, or pass the whole output.",
        )
    if value is None:
        raise CourseError(f"{name} is None: the model did not return its weights.", _EAGER)
    stacked = as_layers(name, value)
    _fits(name, stacked.shape)
    check_rows(name, stacked)
    return stacked


def as_layers(name: str, value: Any) -> Array:
    """The value as (layer, head, …, …), whatever it holds; arguments as in `as_attentions`.

    Raises:
        CourseError: it is of several sequences, of unlike shapes, or holds no numbers.
    """
    if isinstance(value, tuple | list):
        return _of_layers(name, value)
    return _of_array(name, _numbers(name, value))


def check_rows(name: str, weights: Array) -> None:
    """See that each row is a distribution, or all zeros.

    Raises:
        CourseError: one is not; the message says which, and the likely cause.
    """
    sums = weights.sum(-1, dtype=np.float64)
    wrong = ~np.isfinite(sums)
    if wrong.any():
        raise CourseError(
            f"{name} holds nan or inf, first in {_place(wrong)}.",
            "Where a query may look nowhere, the softmax of nothing but -inf is nan: let padding "
            "attend to something, or set such rows to 0.",
        )
    lowest = weights.min(-1)
    wrong = (np.abs(sums - 1) > TOLERANCE) & (np.abs(weights).max(-1) > 0) | (lowest < -1e-6)
    if not wrong.any():
        return
    where = tuple(np.argwhere(wrong)[0])
    cause = f"{name}: the weights of {_place(wrong)} sum to {sums[where]:.3g}, not to 1."
    if lowest.min() < -1e-6:
        raise CourseError(
            f"{name} has weights below 0, first in {_place(lowest < -1e-6)}.",
            "These look like scores before the softmax: pass scores.softmax(-1).",
        )
    if np.allclose(weights.sum(-2, dtype=np.float64), 1, atol=TOLERANCE):
        raise CourseError(cause, "The columns do: swap the last two axes, so that keys are last.")
    raise CourseError(
        cause,
        "Dropout does that in training: call model.eval() first. Of scores take the softmax; "
        "of a part of the keys, divide each row by its sum.",
    )


def quantized(weights: Array) -> Array:
    """One byte a weight, round(255 · √p): off by 0.004 at most, and small weights survive.

    0 stands for a weight of 0 alone, as that of a key that is masked; of others, 1 is the least.
    """
    roots = np.sqrt(np.clip(weights, 0, 1), dtype=np.float32)
    roots *= 255
    return np.maximum(np.rint(roots, out=roots), weights > 0).astype(np.uint8)


def pooled(codes: Array, size: int) -> Array:
    """Thumbnails: the largest of each block, ``size`` × ``size`` of them at most."""
    for axis in (-2, -1):
        length = codes.shape[axis]
        if length > size:
            starts = -(np.arange(size) * length // -size)  # where i · size // length grows
            codes = np.maximum.reduceat(codes, starts, axis=axis)
    return codes


def largest(codes: Array, count: int) -> tuple[Array, Array]:
    """Each query's largest weights: their keys (uint16), and what they are (uint8)."""
    count = min(count, codes.shape[-1])
    keys = np.argpartition(codes, -count, axis=-1)[..., -count:]
    return keys.astype(np.uint16), np.take_along_axis(codes, keys, -1)


def _fits(name: str, shape: tuple[int, ...]) -> None:
    """See that so many can be shown, before anything is computed of them.

    Raises:
        CourseError: they cannot.
    """
    layers, heads, queries, keys = shape
    if max(layers, heads) > MOST_HEADS:
        raise CourseError(
            f"{name} has {layers} layers of {heads} heads.",
            f"Pass at most {MOST_HEADS} of each, such as attentions[:4].",
        )
    least = layers * heads * (THUMBNAIL**2 + 3 * LARGEST * queries)
    if layers * heads * queries * keys > WHOLE and least > LIMIT:
        raise CourseError(
            f"{name}: {layers} × {heads} heads of {queries} queries take {least / 1e6:.1f} MB at "
            f"the least, and a page carries {LIMIT / 1e6:.0f} MB.",
            LIGHTER,
        )


def _of_output(name: str, output: Any, part: str | None) -> tuple[str, Any]:
    """What the output calls its weights, and the weights."""
    if part is not None and part not in list(PARTS):
        raise CourseError(f"The part {part!r} is not known.", f"Choose one of {', '.join(PARTS)}.")
    there = {it: getattr(output, field, None) for it, field in PARTS.items()}
    if part is None:
        given = [it for it, weights in there.items() if weights is not None]
        if len(given) > 1 and "self" not in given:
            choices = " or ".join(f'part="{it}"' for it in given)
            raise CourseError(
                f"This output has the weights of {', '.join(given)}.", f"Say {choices}."
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
                f"Pass one array a layer; of what generate() returned, one step: {which}.",
            )
        found.append(_one_layer(which, _numbers(which, layer)))
    shapes = [it.shape for it in found]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise CourseError(
                f"{name}[{i}] has the shape {shape}, {name}[0] has {shapes[0]}.",
                "Pass layers of the same heads, queries and keys; others go into another widget.",
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
            f"Pass one of them, the first by {remedy}.",
        )


def _no_such_shape(name: str, array: Array) -> CourseError:
    return CourseError(
        f"{name} has the shape {array.shape}, which is no attention's.",
        "Pass (layer, head, query, key), or a list of one (1, head, query, key) a layer.",
    )


def numbers(value: Any) -> Array | None:
    """The value as an array of numbers or booleans, or None: it is none."""
    try:
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            value = value.float() if value.is_floating_point() else value
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError):  # ragged; or a tensor that holds no data
        return None
    return array if array.dtype.kind in "fiub" else None


def _numbers(name: str, value: Any) -> Array:
    """The value as an array of float32 with none of its axes empty."""
    array = numbers(value)
    if array is None:
        raise CourseError(
            f"{name} is of type {type(value).__name__}, and holds no attention weights.",
            "Pass a model's output, its .attentions, or one array (layer, head, query, key).",
        )
    if array.size == 0:
        raise CourseError(
            f"{name} has the shape {array.shape}: there is nothing in it.",
            "Pass at least one layer, head, query and key.",
        )
    return array.astype(np.float32, copy=False)


def _place(wrong: Array) -> str:
    layer, head, query = np.argwhere(wrong)[0]
    return f"layer {layer}, head {head}, query {query}"
