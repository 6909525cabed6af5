"""bertviz's head view and model view, the pictures of many papers, without a network.

`bertviz <https://github.com/jessevig/bertviz>`_ (Vig, "A Multiscale Visualization of Attention in
the Transformer Model", 2019) draws each weight as a line. Its page asks a CDN for its libraries,
writes its data twice, and would run a token that ends a script. Here its own two scripts draw, in a
frame that may load nothing: libraries inside, data once and inert.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Unpack

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.bertviz_data import (
    Data,
    Parts,
    arguments,
    as_data,
    layers_and_heads,
    see_that_it_is_small,
    some_of,
    strongest,
    whole,
)
from lmcourse.widgets.bertviz_page import BertViz, framed

LEAST_HEADS = 8  # fewer are drawn as small as these, or a sentence is taller than a screen
SELECTS = 34  # pixels of the line with lists to choose from
POINTER = "By pointer only; AttentionHeads takes keys, too."


def head_view(
    attentions: Any = None,
    tokens: Sequence[str] | None = None,
    *,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    include_layers: Sequence[int] | None = None,
    **parts: Unpack[Parts],
) -> BertViz:
    """bertviz's head view: a layer's heads as lines from each token to those it attends to.

    The arguments are bertviz's own. Layers, heads and tokens are counted from 0.

    Args:
        attentions: what `lmcourse.widgets.attentions.as_attentions` takes: a model's output, its
            weights, or an array (layer, head, query, key) of one sequence. Of an output with
            encoder and decoder all three parts are shown.
        tokens: one string a query and key.
        layer: which is shown at first; None: the first.
        heads: which are switched on at first; None: all.
        include_layers: which can be chosen; None: all.
        parts: ``sentence_b_start``, where the second sentence of a pair begins; or, in place of
            attentions and tokens, ``encoder_attention``, ``decoder_attention`` and
            ``cross_attention`` or some of these, with ``encoder_tokens`` and ``decoder_tokens``.

    Raises:
        CourseError: the weights and tokens do not fit, an argument would be left out, bertviz is
            not installed, or there is more than bertviz can draw.
    """
    data = as_data(attentions, tokens, parts)
    shape = layers_and_heads(data)
    layers = some_of("include_layers", include_layers, shape[0])
    chosen = layers[0] if layer is None else whole(layer)
    if chosen not in layers:
        raise CourseError(f"layer is {layer!r}, which is not shown.", f"Choose one of {layers}.")
    on = some_of("heads", heads, shape[1])
    see_that_it_is_small(data, len(layers), shape[1], at_once=1)
    made = _module().head_view(
        **arguments(data),
        prettify_tokens=False,
        layer=chosen,
        include_layers=layers,
        heads=None if heads is None else on,
        html_action="return",
    )
    weights = next(iter(data.values()))[0]
    return framed(
        made.data,
        f"bertviz, head view: {_counted(layers, 'layer')}, {_counted(on, 'head')}",
        f"bertviz's head view of layer {chosen}: a line from each token on the left to each that "
        "it attends to on the right, in its head's color, as dark as its weight. "
        f"{strongest(weights[chosen, on], data)} {POINTER}",
        "Point at a token. Click a color (the left is head 0) to switch its head, double-click "
        f"to show only that head. {POINTER}",
        SELECTS + 30 + _longest(data) * 22.5,
    )


def model_view(
    attentions: Any = None,
    tokens: Sequence[str] | None = None,
    *,
    include_layers: Sequence[int] | None = None,
    include_heads: Sequence[int] | None = None,
    **parts: Unpack[Parts],
) -> BertViz:
    """bertviz's model view: all heads of all layers at once; a click shows one with its tokens.

    Args:
        include_layers, include_heads: which are drawn; None: all. The others as in `head_view`.

    Raises:
        CourseError: as `head_view` does.
    """
    data = as_data(attentions, tokens, parts)
    shape = layers_and_heads(data)
    layers = some_of("include_layers", include_layers, shape[0])
    heads = some_of("include_heads", include_heads, shape[1])
    see_that_it_is_small(data, len(layers), len(heads), at_once=len(layers))
    made = _module().model_view(
        **arguments(data),
        prettify_tokens=False,
        display_mode="light",
        include_layers=layers,
        include_heads=heads,
        html_action="return",
    )
    longest, drawn = _longest(data), max(LEAST_HEADS, shape[1])
    thumbnails = len(layers) * (longest * 7 * 12 / drawn + 10) + 38
    weights = next(iter(data.values()))[0]
    return framed(
        made.data,
        f"bertviz, model view: {_counted(layers, 'layer')}, {_counted(heads, 'head')}",
        f"bertviz's model view: a small picture for each of {_counted(heads, 'head')} (columns) in "
        f"{_counted(layers, 'layer')} (rows), with a line from each token to each that it attends "
        f"to, as dark as its weight. {strongest(weights[np.ix_(layers, heads)].max(0), data)} "
        + POINTER,
        f"Click a head to see its tokens, and again to put it away. {POINTER}",
        (len(data) > 1) * SELECTS + max(thumbnails, longest * 18 + 55),
        total_heads=drawn,
    )


def _module() -> ModuleType:
    """bertviz itself, which takes a second to import."""
    try:
        import bertviz
    except ImportError as error:
        raise CourseError(
            f"bertviz could not be imported: {error}.",
            "Run `python -m pip install -c requirements.lock bertviz` in the course's folder.",
        ) from error
    return bertviz


def _longest(data: Data) -> int:
    """How many tokens stand above each other."""
    return max(len(it) for _, queries, keys in data.values() for it in (queries, keys))


def _counted(items: Sequence[int], noun: str) -> str:
    return f"{len(items)} {noun}{'s' * (len(items) != 1)}"
