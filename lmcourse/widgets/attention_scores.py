"""The computation of weights, softmax(q · k · scale + bias + mask), checked against them."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.attentions import as_layers
from lmcourse.widgets.packing import Array, as_array, numbers

HIDDEN = -3e38  # represents -inf in a page, whose numbers are finite
MASKED = -1e9  # additive masks below this hide a key
TOLERANCE = 0.02


def scores(
    weights: Array,
    queries: Any,
    keys: Any,
    mask: Any = None,
    bias: Any = None,
    scale: float | None = None,
) -> dict[str, Array]:
    """Return the arrays q, k, mask, bias and scale that produce these weights, if given.

    Args:
        weights: (layer, head, query, key).
        queries, keys: (layer, head, query, width) and (layer, head, key, width), or a list with one
            array per layer.
        mask: added to the scores, or booleans, True where a key is visible; any shape that
            broadcasts to that of the weights.
        bias: added to the scores.
        scale: the factor of q · k; None: 1/√width.
    """
    if all(it is None for it in (queries, keys, mask, bias, scale)):
        return {}
    if queries is None or keys is None:
        missing = "queries" if queries is None else "keys"
        raise CourseError(
            f"{missing} is None.",
            "Pass queries and keys, or none of queries, keys, mask, bias, scale.",
        )
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


def value_norms(values: Any, shape: tuple[int, ...]) -> dict[str, Array]:
    """Return the norm of each head's value of each key, (layer, head, key), as ``norms0``.

    No weight is negative, so the norm of weight · value is weight · norm (Kobayashi et al. 2020).

    Args:
        values: (layer, head, key, width), or a list with one array per layer; None: no norms.
        shape: (layer, head, query, key).
    """
    if values is None:
        return {}
    layers, heads, _, keys = shape
    found = as_array("values", as_layers("values", values), (layers, heads, keys, None))
    return {"norms0": np.linalg.norm(found.astype(np.float64), axis=-1)}


def _scale(scale: float | None, width: int) -> float:
    if scale is None:
        return 1 / math.sqrt(width)
    try:
        number = float(scale)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 < number < 1e6:
        raise CourseError(f"scale is {scale!r}.", "Pass a positive number, such as 1/√width.")
    return number


def _added(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """Return an additive mask or bias with four axes; −inf is ``HIDDEN``."""
    array = numbers(value)
    if array is None:
        raise CourseError(
            f"{name} is not an array of numbers.", "Pass numbers, or booleans: True is visible."
        )
    if name == "mask" and _is_binary(array):
        raise CourseError(
            "mask has 0 and 1, which would be added to the scores.",
            "For an attention_mask, pass mask == 1: booleans, True is visible.",
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
            "Pass a shape that broadcasts, such as (query, key).",
        )
    return as_array(name, array, (None,) * 4).astype(np.float32)


def _is_binary(array: Array) -> bool:
    """Return whether an array marks visible keys by 1 and 0 instead of booleans."""
    if array.dtype == bool or not np.isin(array, (0, 1)).all():
        return False
    return array.dtype.kind in "iu" or bool(array.any())  # 0.0 everywhere is an additive mask


def computed(
    parts: Mapping[str, Array],
    layer: int,
    head: int,
    temperature: float = 1.0,
    scaling: str = "given",
    masking: str = "given",
) -> dict[str, Array]:
    """Return one head's weights and their computation, float64, broadcastable to (query, key).

    Returns:
        dot, scale, bias, mask, score = (dot · scale + bias) / temperature + mask, power =
        exp(score − highest), sum, and p = power / sum, or zeros if all keys are masked.
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
    """Check that the computation produces the weights, head by head."""
    for layer, head in np.ndindex(*weights.shape[:2]):
        p = computed(parts, layer, head)["p"]
        away = np.abs(p - weights[layer, head])
        if away.max() > TOLERANCE:
            query, key = np.unravel_index(np.argmax(away), away.shape)
            raise CourseError(
                f"In layer {layer}, head {head}, softmax(q · k · scale + mask) gives query {query} "
                f"a weight of {p[query, key]:.3g} on key {key}; "
                f"in the attentions it is {weights[layer, head, query, key]:.3g}.",
                f"The scale is {parts['scale'][0]:.4g}: pass scale=, mask= and bias= of the model, "
                "and queries and keys of the same call.",
            )
