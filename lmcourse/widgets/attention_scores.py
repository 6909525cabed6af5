"""How a weight comes about: softmax(q · k · scale + bias + mask), checked against the weights."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.attentions import as_layers, numbers
from lmcourse.widgets.packing import Array, as_array

HIDDEN = -3e38  # what stands for -inf on the way to a browser: a page's numbers are finite
MASKED = -1e9  # from here on, what is added hides a key
TOLERANCE = 0.02


def scores(
    weights: Array,
    queries: Any,
    keys: Any,
    mask: Any = None,
    bias: Any = None,
    scale: float | None = None,
) -> dict[str, Array]:
    """The arrays q, k, mask, bias and scale that lead to these weights, as far as they are given.

    Args:
        weights: (layer, head, query, key).
        queries, keys: (layer, head, query, width) and (layer, head, key, width), or a list of one
            array a layer.
        mask: added to the scores, or booleans, True where a query may look; any shape that
            broadcasts to that of the weights.
        bias: added to the scores, too.
        scale: what q · k is multiplied by; None: 1/√width.

    Raises:
        CourseError: one does not fit, or they lead to other weights.
    """
    if queries is None and keys is None:
        if mask is not None or bias is not None or scale is not None:
            raise CourseError(
                "A mask, a bias or a scale was given without queries and keys.",
                "Pass queries= and keys=, too, or nothing of them.",
            )
        return {}
    if queries is None or keys is None:
        missing = "queries" if queries is None else "keys"
        raise CourseError(f"{missing} is None.", "Pass queries and keys, or none of them.")
    q, k = as_layers("queries", queries), as_layers("keys", keys)
    layers, heads, query, key = weights.shape
    width = q.shape[-1]
    q = as_array("queries", q, (layers, heads, query, None))
    k = as_array("keys", k, (layers, heads, key, width))
    out = {"q": q, "k": k, "scale": np.array([_scale(scale, width)], np.float32)}
    if mask is not None:
        out["mask"] = _added("mask", mask, weights.shape)
    if bias is not None:
        out["bias"] = _added("bias", bias, weights.shape)
    _agree(weights, out)
    return out


def _scale(scale: float | None, width: int) -> float:
    if scale is None:
        return 1 / math.sqrt(width)
    try:
        number = float(scale)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < 1e6:
        raise CourseError(f"scale is {scale!r}.", "Pass a number above 0, such as 1/√width.")
    return number


def _added(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """What is added to the scores, with four axes; what hides is ``HIDDEN``."""
    array = numbers(value)
    if array is None:
        raise CourseError(
            f"{name} is no array of numbers.", "Pass numbers, or booleans: True is seen."
        )
    if name == "mask" and _counts(array):
        raise CourseError(
            "mask holds 0 and 1, which would be added to the scores.",
            "Where 1 is seen, as in an attention_mask, pass mask == 1: booleans, True is seen.",
        )
    if array.dtype == bool:
        array = np.where(array, 0.0, HIDDEN)
    else:
        array = np.where(array <= MASKED, HIDDEN, array)
    array = array.reshape((1,) * (4 - array.ndim) + array.shape) if array.ndim < 4 else array
    if array.ndim > 4 or any(
        size not in (1, whole) for size, whole in zip(array.shape, shape, strict=True)
    ):
        raise CourseError(
            f"{name} has the shape {array.shape}, the weights {shape}.",
            "Pass one that broadcasts: (query, key), or (layer, head, query, key) with some of 1.",
        )
    return as_array(name, array, (None,) * 4).astype(np.float32)


def _counts(array: Array) -> bool:
    """Whether an array tells what is seen by 1 and 0, and not by booleans."""
    if array.dtype == bool or not np.isin(array, (0, 1)).all():
        return False
    return array.dtype.kind in "iu" or bool(array.any())  # to add 0.0 everywhere is no mask


def computed(
    parts: Mapping[str, Array],
    layer: int,
    head: int,
    temperature: float = 1.0,
    scaling: str = "given",
    masking: str = "given",
) -> dict[str, Array]:
    """One head's weights with all that they come from, float64, (query, key) or broadcasting to it.

    Returns:
        dot, scale, bias, mask, score = (dot · scale + bias) / temperature + mask, power =
        exp(score − highest), sum, and p = power / sum: zeros of a query that may look nowhere.
    """
    q, k = (parts[name][layer, head].astype(np.float64) for name in "qk")
    dot = q @ k.T
    scale = np.float64(1 if scaling == "none" else parts["scale"][0])
    bias, mask = (_of_head(parts.get(name), layer, head) for name in ("bias", "mask"))
    mask = np.broadcast_to(mask if masking == "given" else np.float64(0), dot.shape)
    hidden = mask < MASKED
    if masking == "causal":
        hidden = np.greater.outer(np.arange(dot.shape[1]), np.arange(dot.shape[0])).T
    mask = np.where(hidden, -np.inf, mask)
    score = (dot * scale + bias) / temperature + mask
    highest = score.max(-1, keepdims=True)
    power = np.exp(score - np.where(np.isfinite(highest), highest, 0))
    total = power.sum(-1, keepdims=True)
    out = {"dot": dot, "scale": scale, "bias": bias, "mask": mask, "score": score, "power": power}
    return out | {"sum": total, "p": power / np.where(total > 0, total, 1)}


def _of_head(array: Array | None, layer: int, head: int) -> Array:
    if array is None:
        return np.zeros((1, 1))
    return array[layer % array.shape[0], head % array.shape[1]].astype(np.float64)


def _agree(weights: Array, parts: dict[str, Array]) -> None:
    """See that the arithmetic gives the weights, head by head."""
    for layer, head in np.ndindex(*weights.shape[:2]):
        p = computed(parts, layer, head)["p"]
        away = np.abs(p - weights[layer, head])
        if away.max() > TOLERANCE:
            query, key = np.unravel_index(np.argmax(away), away.shape)
            raise CourseError(
                f"In layer {layer}, head {head}, softmax(q · k · scale + mask) gives query {query} "
                f"a weight of {p[query, key]:.3g} on key {key}; "
                f"the attentions say {weights[layer, head, query, key]:.3g}.",
                f"The scale is {parts['scale'][0]:.4g}: pass scale= if it is another, mask= and "
                "bias= if something is added to the scores, and queries and keys of the same call.",
            )
