"""bertviz's head view and model view, the pictures of many papers, without a network.

`bertviz <https://github.com/jessevig/bertviz>`_ (Vig, "A Multiscale Visualization of Attention in
the Transformer Model", 2019) draws each weight as a line. Its page asks a CDN for its libraries,
writes its data twice, and would run a token that ends a script. Here its own two scripts draw, in a
frame that may do nothing else: libraries inside, data once and inert.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.attentions import PARTS, as_attentions, is_output
from lmcourse.widgets.bertviz_page import BertViz, framed
from lmcourse.widgets.packing import Array
from lmcourse.widgets.tokens import as_tokens, visible

MOST_LINES = 40_000  # on the page at once: a second to draw, and some 100 ms a hover
MOST_WEIGHTS = 300_000  # on the page at all: 2.5 MB
LEAST_HEADS = 8  # fewer are drawn as small as these, or a sentence is taller than a screen
LONGEST = 16  # characters of a token
SELECTS = 34  # pixels of the line with lists to choose from
DIGITS = 4  # of a weight, which becomes the opacity of a line


def head_view(
    attentions: Any = None,
    tokens: Sequence[str] | None = None,
    *,
    sentence_b_start: int | None = None,
    encoder_attention: Any = None,
    decoder_attention: Any = None,
    cross_attention: Any = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    include_layers: Sequence[int] | None = None,
) -> BertViz:
    """bertviz's head view: a layer's heads as lines from each token to those it attends to.

    The arguments are bertviz's own. Layers, heads and tokens are counted from 0.

    Args:
        attentions: what `lmcourse.widgets.attentions.as_attentions` takes: a model's output, its
            weights, or an array (layer, head, query, key) of one sequence. Of an output with
            encoder and decoder all three parts are shown.
        tokens: one string a query and key.
        sentence_b_start: of a pair, where the second sentence begins.
        encoder_attention, decoder_attention, cross_attention: in place of ``attentions``.
        encoder_tokens, decoder_tokens: theirs.
        layer: which is shown at first; None: the first.
        heads: which are switched on at first; None: all.
        include_layers: which can be chosen; None: all.

    Raises:
        CourseError: the weights and tokens do not fit, bertviz is not installed, or there is more
            than bertviz can draw.
    """
    data = _data(
        attentions,
        tokens,
        sentence_b_start,
        encoder_attention,
        decoder_attention,
        cross_attention,
        encoder_tokens,
        decoder_tokens,
    )
    shape = _shape(data)
    layers = _among("include_layers", include_layers, shape[0])
    chosen = layers[0] if layer is None else layer
    if chosen not in layers:
        raise CourseError(f"layer is {layer!r}, which is not shown.", f"Choose one of {layers}.")
    on = _among("heads", heads, shape[1])
    _see_that_it_is_small(data, len(layers), shape[1], at_once=1)
    made = _module().head_view(
        **_arguments(data),
        prettify_tokens=False,
        layer=chosen,
        include_layers=layers,
        heads=None if heads is None else on,
        html_action="return",
    )
    longest = max(len(it) for _, queries, keys in data.values() for it in (queries, keys))
    weights, queries, keys = next(iter(data.values()))
    strongest = _strongest(weights[chosen, on], queries, keys)
    return framed(
        made.data,
        f"bertviz, head view: {_counted(layers, 'layer')}, {_counted(on, 'head')}",
        f"bertviz's head view of layer {chosen}: a line from each token on the left to each that "
        f"it attends to on the right, in its head's color, as dark as its weight. {strongest}",
        "Point at a token. A click on a color switches its head, a double click leaves it alone.",
        SELECTS + 30 + longest * 22.5,
    )


def model_view(
    attentions: Any = None,
    tokens: Sequence[str] | None = None,
    *,
    sentence_b_start: int | None = None,
    encoder_attention: Any = None,
    decoder_attention: Any = None,
    cross_attention: Any = None,
    encoder_tokens: Sequence[str] | None = None,
    decoder_tokens: Sequence[str] | None = None,
    include_layers: Sequence[int] | None = None,
    include_heads: Sequence[int] | None = None,
) -> BertViz:
    """bertviz's model view: all heads of all layers at once; a click shows one with its tokens.

    Args:
        include_layers, include_heads: which are drawn; None: all. The others as in `head_view`.

    Raises:
        CourseError: as `head_view` does.
    """
    data = _data(
        attentions,
        tokens,
        sentence_b_start,
        encoder_attention,
        decoder_attention,
        cross_attention,
        encoder_tokens,
        decoder_tokens,
    )
    shape = _shape(data)
    layers = _among("include_layers", include_layers, shape[0])
    heads = _among("include_heads", include_heads, shape[1])
    _see_that_it_is_small(data, len(layers), len(heads), at_once=len(layers))
    made = _module().model_view(
        **_arguments(data),
        prettify_tokens=False,
        display_mode="light",
        include_layers=layers,
        include_heads=heads,
        html_action="return",
    )
    longest = max(len(it) for _, queries, keys in data.values() for it in (queries, keys))
    drawn = max(LEAST_HEADS, shape[1])
    thumbnails = len(layers) * (longest * 7 * 12 / drawn + 10) + 38
    weights, queries, keys = next(iter(data.values()))
    strongest = _strongest(weights[np.ix_(layers, heads)].max(0), queries, keys)
    return framed(
        made.data,
        f"bertviz, model view: {_counted(layers, 'layer')}, {_counted(heads, 'head')}",
        f"bertviz's model view: a small picture for each of {_counted(heads, 'head')} (columns) in "
        f"{_counted(layers, 'layer')} (rows), with a line from each token to each that it attends "
        f"to, as dark as its weight. {strongest}",
        "Click a head to see its tokens, and again to put it away.",
        (len(data) > 1) * SELECTS + max(thumbnails, longest * 18 + 55),
        total_heads=drawn,
    )


Data = dict[str, tuple[Array, list[str], list[str]]]  # weights, queries, keys by bertviz's names


def _data(
    attentions: Any,
    tokens: Sequence[str] | None,
    sentence_b_start: int | None,
    encoder: Any,
    decoder: Any,
    cross: Any,
    encoder_tokens: Sequence[str] | None,
    decoder_tokens: Sequence[str] | None,
) -> Data:
    """The weights and tokens by what bertviz calls them, each seen to fit."""
    parts = {"encoder": encoder, "decoder": decoder, "cross": cross}
    if is_output(attentions) and all(it is None for it in parts.values()):
        given = {it: getattr(attentions, PARTS[it], None) for it in parts}
        if tokens is None and any(it is not None for it in given.values()):
            attentions, parts = None, given
    if (attentions is None) == all(it is None for it in parts.values()):
        raise CourseError(
            "head_view and model_view take attentions, or those of an encoder and a decoder.",
            "Pass attentions and tokens, or cross_attention, encoder_tokens and decoder_tokens.",
        )
    if attentions is not None:
        weights = as_attentions("attentions", attentions)
        if weights.shape[2] != weights.shape[3]:
            raise CourseError(
                f"attentions has {weights.shape[2]} queries and {weights.shape[3]} keys.",
                "Pass it as cross_attention, with encoder_tokens and decoder_tokens.",
            )
        names = as_tokens("tokens", tokens, weights.shape[2])
        _see_that_a_pair_is_one(sentence_b_start, len(names))
        found: Data = {"attention": (weights, names, names)}
        return found if sentence_b_start is None else found | _halves(found, sentence_b_start)
    if sentence_b_start is not None:
        raise CourseError(
            "sentence_b_start is for a pair in one sequence, not for an encoder and a decoder.",
            "Leave it out.",
        )
    of_encoder = ("encoder_tokens", encoder_tokens)
    of_decoder = ("decoder_tokens", decoder_tokens)
    found = {}
    for part, value in parts.items():
        if value is None:
            continue
        weights = as_attentions(f"{part}_attention", value)
        queries = of_encoder if part == "encoder" else of_decoder
        keys = of_decoder if part == "decoder" else of_encoder
        found[f"{part}_attention"] = (
            weights,
            as_tokens(*queries, weights.shape[2]),
            as_tokens(*keys, weights.shape[3]),
        )
    return found


def _see_that_a_pair_is_one(start: int | None, count: int) -> None:
    if start is None:
        return
    if isinstance(start, bool) or not isinstance(start, int | np.integer) or not 0 < start < count:
        raise CourseError(
            f"sentence_b_start is {start!r}, where {count} tokens stand.",
            f"Pass the place of the second sentence's first token, from 1 to {count - 1}.",
        )


def _halves(data: Data, start: int) -> Data:
    """What bertviz adds for a pair: each half looking at each, another copy of its weights."""
    weights, tokens, _ = data["attention"]
    halves = slice(0, start), slice(start, None)
    return {
        f"{i}{j}": (weights[..., halves[i], halves[j]], tokens[halves[i]], tokens[halves[j]])
        for i, j in ((0, 0), (0, 1), (1, 0), (1, 1))
    }


def _shape(data: Data) -> tuple[int, int]:
    """Layers and heads, which must be alike in all parts: bertviz has one list for all."""
    shapes = {name: weights.shape[:2] for name, (weights, _, _) in data.items()}
    first = next(iter(shapes.values()))
    for name, shape in shapes.items():
        if shape != first:
            raise CourseError(
                f"{name} has {shape[0]} layers of {shape[1]} heads, {next(iter(shapes))} has "
                f"{first[0]} of {first[1]}.",
                "Pass one of them at a time.",
            )
    return first[0], first[1]


def _among(name: str, chosen: Sequence[int] | None, count: int) -> list[int]:
    """The numbers of layers or heads, which exist and come once each."""
    if chosen is None:
        return list(range(count))
    try:
        found = [int(it) for it in chosen]
    except (TypeError, ValueError):
        found = []
    if not found or len(set(found)) < len(found) or not all(0 <= it < count for it in found):
        raise CourseError(
            f"{name} is {chosen!r}, where there are {count}, counted from 0.",
            f"Pass some of them, such as {name}={list(range(min(2, count)))}.",
        )
    return found


def _see_that_it_is_small(data: Data, layers: int, heads: int, at_once: int) -> None:
    pairs = [len(queries) * len(keys) for _, queries, keys in data.values()]
    lines, weights = max(pairs) * heads * at_once, sum(pairs) * layers * heads
    if lines > MOST_LINES or weights > MOST_WEIGHTS:
        raise CourseError(
            f"{lines:,} lines at once, of {weights:,} weights, are too many for bertviz, "
            f"which slows down after {MOST_LINES:,} and {MOST_WEIGHTS:,}.",
            "Pass fewer tokens or some layers (include_layers=[0, 1]), or use AttentionHeads, "
            "which shows 12 × 12 heads of 512 tokens.",
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


def _arguments(data: Data) -> dict[str, Any]:
    """bertviz's arguments: tensors of float64, whose rounded numbers are short in JSON."""
    import torch

    def tensors(weights: Array) -> list[Any]:
        rounded = torch.from_numpy(weights.astype(np.float64).round(DIGITS))
        return list(rounded[:, None])

    arguments: dict[str, Any] = {}
    for name, (weights, queries, keys) in data.items():
        if not name.isdigit():
            arguments[name] = tensors(weights)
        if name == "attention":
            arguments["tokens"] = [_short(it) for it in queries]
        elif name in ("encoder_attention", "cross_attention"):
            arguments["encoder_tokens"] = [_short(it) for it in keys]
        if name in ("decoder_attention", "cross_attention"):
            arguments["decoder_tokens"] = [_short(it) for it in queries]
    if "00" in data:
        arguments["sentence_b_start"] = len(data["00"][1])
    return arguments


def _short(token: str) -> str:
    shown = visible(token)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def _counted(items: Sequence[int], noun: str) -> str:
    return f"{len(items)} {noun}{'s' * (len(items) != 1)}"


def _strongest(weights: Array, queries: list[str], keys: list[str]) -> str:
    """The largest of weights (head, query, key), in words."""
    _, query, key = np.unravel_index(int(weights.argmax()), weights.shape)
    return (
        f"The largest weight, {weights.max():.2f}, goes from “{_short(queries[query])}” to "
        f"“{_short(keys[key])}”."
    )
