"""bertviz's head view and model view, as in many papers, without a network.

`bertviz <https://github.com/jessevig/bertviz>`_ (Vig, "A Multiscale Visualization of Attention in
the Transformer Model", 2019) draws each weight as a line. Its page loads libraries
from a CDN, has its data twice, and would run a token that ends a script. Here its own two scripts
draw in a sandboxed frame with the libraries inside, and with the data once and escaped.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.attention_measures import largest
from lmcourse.widgets.attention_text import quoted
from lmcourse.widgets.attentions import as_attentions
from lmcourse.widgets.bertviz_page import REMEDY, BertViz, framed
from lmcourse.widgets.packing import Array
from lmcourse.widgets.tokens import as_tokens, visible

LEAST_HEADS = 8  # fewer have the size of these, or a sentence would not fit on a screen
SELECT = 34  # height of the list of layers in pixels
POINTER = "By pointer only; AttentionHeads also has keys."
MOST_LINES = 40_000  # at once: 1 s to draw, and 100 ms per hover
MOST_WEIGHTS = 300_000  # on the page: 2.5 MB
LONGEST = 16  # characters of a token
DIGITS = 4  # of a weight, the opacity of a line


def head_view(
    attentions: Any,
    tokens: Sequence[str],
    *,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    include_layers: Sequence[int] | None = None,
) -> BertViz:
    """bertviz's head view: a layer's heads as lines from each token to those it attends to.

    The arguments are bertviz's own. Layers, heads and tokens are counted from 0.

    Args:
        attentions: what `lmcourse.widgets.attentions.as_attentions` takes: a model's output, its
            weights, or an array (layer, head, query, key) of one sequence.
        tokens: one string per token.
        layer: the layer shown at first; None: the first.
        heads: the heads shown at first; None: all.
        include_layers: the layers to choose from; None: all.

    Raises:
        CourseError: weights and tokens do not fit, bertviz is not installed, or there are too many
            weights.
    """
    weights, names = _data(attentions, tokens)
    layers = _indices("include_layers", include_layers, weights.shape[0])
    chosen = layers[0] if layer is None else int(layer)
    if chosen not in layers:
        raise CourseError(f"layer is {layer!r}, which is not shown.", f"Choose one of {layers}.")
    on = _indices("heads", heads, weights.shape[1])
    _check_size(weights[layers], at_once=1)
    made = _module().head_view(
        *_arguments(weights, names),
        prettify_tokens=False,
        layer=chosen,
        include_layers=layers,
        heads=None if heads is None else on,
        html_action="return",
    )
    return framed(
        made.data,
        f"bertviz, head view: {_counted(layers, 'layer')}, {_counted(on, 'head')}",
        f"bertviz's head view of layer {chosen}: a line from each token on the left to each that "
        "it attends to on the right, in its head's color, as dark as its weight. "
        f"{_strongest(weights[chosen, on], names)} {POINTER}",
        "Point at a token. Click a color (the left is head 0) to switch its head, double-click "
        f"to show only that head. {POINTER}",
        SELECT + 30 + len(names) * 22.5,
    )


def model_view(
    attentions: Any,
    tokens: Sequence[str],
    *,
    include_layers: Sequence[int] | None = None,
    include_heads: Sequence[int] | None = None,
) -> BertViz:
    """bertviz's model view: all heads of all layers at once; a click shows one with its tokens.

    Args:
        attentions, tokens: as in `head_view`.
        include_layers, include_heads: the layers and heads drawn; None: all.
    """
    weights, names = _data(attentions, tokens)
    layers = _indices("include_layers", include_layers, weights.shape[0])
    heads = _indices("include_heads", include_heads, weights.shape[1])
    drawn = weights[np.ix_(layers, heads)]
    _check_size(drawn, at_once=len(layers))
    made = _module().model_view(
        *_arguments(weights, names),
        prettify_tokens=False,
        display_mode="light",
        include_layers=layers,
        include_heads=heads,
        html_action="return",
    )
    columns = max(LEAST_HEADS, weights.shape[1])
    thumbnails = len(layers) * (len(names) * 7 * 12 / columns + 10) + 38
    return framed(
        made.data,
        f"bertviz, model view: {_counted(layers, 'layer')}, {_counted(heads, 'head')}",
        f"bertviz's model view: a small picture for each of {_counted(heads, 'head')} (columns) in "
        f"{_counted(layers, 'layer')} (rows), with a line from each token to each that it attends "
        f"to, as dark as its weight. {_strongest(drawn.max(0), names)} {POINTER}",
        f"Click a head to see its tokens, and again to put it away. {POINTER}",
        max(thumbnails, len(names) * 18 + 55),
        total_heads=columns,
    )


def _module() -> ModuleType:
    """Return bertviz, which takes a second to import."""
    try:
        import bertviz
    except ImportError as error:
        raise CourseError(f"bertviz could not be imported: {error}.", REMEDY) from error
    return bertviz


def _data(attentions: Any, tokens: Sequence[str]) -> tuple[Array, list[str]]:
    """Return weights (layer, head, token, token), and the tokens."""
    weights = as_attentions("attentions", attentions)
    queries, keys = weights.shape[2:]
    if queries != keys:
        raise CourseError(
            f"attentions has {queries} queries and {keys} keys.",
            "Pass self-attention; AttentionHeads also shows attention between two sequences.",
        )
    return weights, as_tokens("tokens", tokens, keys)


def _indices(name: str, chosen: Sequence[int] | None, count: int) -> list[int]:
    """Return the indices of layers or heads, checked; None: all."""
    if chosen is None:
        return list(range(count))
    found = np.asarray(chosen)
    wrong = found.ndim != 1 or found.dtype.kind not in "iu" or len(set(found.tolist())) < len(found)
    if wrong or not len(found) or not set(found.tolist()) <= set(range(count)):
        raise CourseError(
            f"{name} is {chosen!r}, but there are {count}, counted from 0.",
            f"Pass some of them, such as {name}={list(range(min(2, count)))}.",
        )
    return found.tolist()


def _check_size(weights: Array, at_once: int) -> None:
    """Check that bertviz can draw these weights quickly, so many layers at once."""
    lines = weights[0].size * at_once
    if lines > MOST_LINES or weights.size > MOST_WEIGHTS:
        raise CourseError(
            f"{lines:,} lines at once, of {weights.size:,} weights, are too many for bertviz, "
            f"which slows down after {MOST_LINES:,} and {MOST_WEIGHTS:,}.",
            "Pass fewer tokens or some layers (include_layers=[0, 1]), or use AttentionHeads, "
            "which shows 12 × 12 heads of 512 tokens.",
        )


def _arguments(weights: Array, tokens: Sequence[str]) -> tuple[list[Any], list[str]]:
    """Return bertviz's arguments: tensors of float64, rounded to be short in JSON; tokens."""
    import torch

    rounded = torch.from_numpy(weights.astype(np.float64).round(DIGITS))
    return list(rounded[:, None]), [_short(it) for it in tokens]


def _short(token: str) -> str:
    """Return the token as shown by bertviz."""
    shown = visible(token)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def _strongest(weights: Array, tokens: Sequence[str]) -> str:
    """Return the description of the largest of weights (head, query, key) on another token."""
    i, j, most = largest(weights.max(0), True)
    if most < 0.005:
        return "No token attends to another."
    names = quoted(tokens)
    return f"The largest weight on another token, {most:.2f}, goes from {names[i]} to {names[j]}."


def _counted(items: Sequence[int], noun: str) -> str:
    return f"{len(items)} {noun}{'s' * (len(items) != 1)}"
