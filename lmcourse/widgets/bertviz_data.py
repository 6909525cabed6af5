"""What bertviz's views are given: weights and tokens by its names, checked, and few enough."""

import operator
from collections.abc import Sequence
from typing import Any, TypedDict, cast

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.attention_measures import largest
from lmcourse.widgets.attention_view import quoted
from lmcourse.widgets.attentions import PARTS, as_attentions, is_output
from lmcourse.widgets.packing import Array
from lmcourse.widgets.tokens import as_tokens, visible

MOST_LINES = 40_000  # on the page at once: a second to draw, and some 100 ms a hover
MOST_WEIGHTS = 300_000  # on the page at all: 2.5 MB
LONGEST = 16  # characters of a token
DIGITS = 4  # of a weight, which becomes the opacity of a line

Data = dict[str, tuple[Array, list[str], list[str]]]  # weights, queries, keys by bertviz's names
TOKENS = {  # of queries and of keys
    "encoder": ("encoder_tokens", "encoder_tokens"),
    "decoder": ("decoder_tokens", "decoder_tokens"),
    "cross": ("decoder_tokens", "encoder_tokens"),
}


class Parts(TypedDict, total=False):
    """What both views take beside attentions and tokens; the names are bertviz's own."""

    sentence_b_start: int | None
    encoder_attention: Any
    decoder_attention: Any
    cross_attention: Any
    encoder_tokens: Sequence[str] | None
    decoder_tokens: Sequence[str] | None


def as_data(attentions: Any, tokens: Sequence[str] | None, parts: Parts) -> Data:
    """The weights and tokens by what bertviz calls them, each seen to fit.

    Raises:
        CourseError: they do not, or something is given that would be left out.
    """
    unknown = [name for name in parts if name not in Parts.__annotations__]
    if unknown:
        raise CourseError(
            f"{unknown[0]} is no argument of this view.",
            f"Beside its own it takes attentions, tokens, {', '.join(Parts.__annotations__)}.",
        )
    given = {name: value for name, value in parts.items() if value is not None}
    weights = {it: given[f"{it}_attention"] for it in TOKENS if f"{it}_attention" in given}
    if is_output(attentions) and not weights:
        of_output = {it: getattr(attentions, PARTS[it], None) for it in TOKENS}
        weights = {it: value for it, value in of_output.items() if value is not None}
        if weights and (tokens is None or getattr(attentions, PARTS["self"], None) is None):
            attentions = None
        else:
            weights = {}
    if (attentions is None) == (not weights):
        raise CourseError(
            "head_view and model_view take attentions, or those of an encoder and a decoder.",
            "Pass attentions and tokens, or cross_attention, encoder_tokens and decoder_tokens.",
        )
    if weights:
        return _of_two(weights, given | ({} if tokens is None else {"tokens": tokens}))
    return _of_one(attentions, tokens, given)


def _of_one(attentions: Any, tokens: Any, given: dict[str, Any]) -> Data:
    """One sequence that looks at itself, or a pair in one."""
    weights = as_attentions("attentions", attentions)
    count, keys = weights.shape[2:]
    if count != keys:
        raise CourseError(
            f"attentions has {count} queries and {keys} keys.",
            "Pass it as cross_attention, with encoder_tokens and decoder_tokens.",
        )
    names = as_tokens("tokens", tokens, count)
    for other in ("encoder_tokens", "decoder_tokens"):
        if other in given:
            raise CourseError(
                f"{other} is for an encoder and a decoder, not for attentions.", "Pass tokens only."
            )
    found: Data = {"attention": (weights, names, names)}
    if "sentence_b_start" not in given:
        return found
    start = whole(given["sentence_b_start"])
    if start is None or not 0 < start < count:
        raise CourseError(
            f"sentence_b_start is {given['sentence_b_start']!r}, where {count} tokens stand.",
            f"Pass the place of the second sentence's first token, from 1 to {count - 1}.",
        )
    return found | _halves(weights, names, start)


def _of_two(parts: dict[str, Any], given: dict[str, Any]) -> Data:
    """An encoder, a decoder, and what the decoder sees of the encoder, or some of these."""
    if "sentence_b_start" in given:
        raise CourseError(
            "sentence_b_start is for a pair in one sequence, not for an encoder and a decoder.",
            "Leave it out.",
        )
    used = {name for part in parts for name in TOKENS[part]}
    for name in ("tokens", "encoder_tokens", "decoder_tokens"):
        if name in given and name not in used:
            raise CourseError(
                f"{name} is of no use beside {' and '.join(f'{it}_attention' for it in parts)}.",
                f"Pass {' and '.join(sorted(used, reverse=True))} only.",
            )
    found: Data = {}
    for part, value in parts.items():
        weights = as_attentions(f"{part}_attention", value)
        queries, keys = (
            as_tokens(name, given.get(name), count)
            for name, count in zip(TOKENS[part], weights.shape[2:], strict=True)
        )
        found[f"{part}_attention"] = (weights, queries, keys)
    return found


def _halves(weights: Array, tokens: list[str], start: int) -> Data:
    """What bertviz adds for a pair: each half looking at each, another copy of its weights."""
    halves = slice(0, start), slice(start, None)
    return {
        f"{i}{j}": (weights[..., halves[i], halves[j]], tokens[halves[i]], tokens[halves[j]])
        for i, j in ((0, 0), (0, 1), (1, 0), (1, 1))
    }


def layers_and_heads(data: Data) -> tuple[int, int]:
    """How many there are, which must be alike in all parts: bertviz has one list for all."""
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


def whole(value: Any) -> int | None:
    """The value as Python's whole number, or None if it is another kind: 1.0, "1", True."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def some_of(name: str, chosen: Sequence[int] | None, count: int) -> list[int]:
    """The numbers of layers or heads, which exist and come once each; None: all."""
    if chosen is None:
        return list(range(count))
    try:
        found = [whole(it) for it in chosen]
    except TypeError:
        found = []
    if not found or len(set(found)) < len(found) or not set(found) <= set(range(count)):
        raise CourseError(
            f"{name} is {chosen!r}, where there are {count}, counted from 0.",
            f"Pass some of them, such as {name}={list(range(min(2, count)))}.",
        )
    return cast(list[int], found)


def see_that_it_is_small(data: Data, layers: int, heads: int, at_once: int) -> None:
    """See that bertviz can draw it.

    Args:
        layers, heads: how many can be chosen.
        at_once: how many layers are drawn at once.

    Raises:
        CourseError: it would take minutes.
    """
    pairs = [len(queries) * len(keys) for _, queries, keys in data.values()]
    lines, weights = max(pairs) * heads * at_once, sum(pairs) * layers * heads
    if lines > MOST_LINES or weights > MOST_WEIGHTS:
        raise CourseError(
            f"{lines:,} lines at once, of {weights:,} weights, are too many for bertviz, "
            f"which slows down after {MOST_LINES:,} and {MOST_WEIGHTS:,}.",
            "Pass fewer tokens or some layers (include_layers=[0, 1]), or use AttentionHeads, "
            "which shows 12 × 12 heads of 512 tokens.",
        )


def arguments(data: Data) -> dict[str, Any]:
    """bertviz's arguments: tensors of float64, whose rounded numbers are short in JSON."""
    import torch

    found: dict[str, Any] = {}
    for name, (weights, queries, keys) in data.items():
        if name.isdigit():
            continue
        found[name] = list(torch.from_numpy(weights.astype(np.float64).round(DIGITS))[:, None])
        part = name.removesuffix("_attention")
        of_queries, of_keys = TOKENS.get(part, ("tokens", "tokens"))
        found[of_queries] = [short(it) for it in queries]
        found[of_keys] = [short(it) for it in keys]
    if "00" in data:
        found["sentence_b_start"] = len(data["00"][1])
    return found


def short(token: str) -> str:
    """The token as bertviz shows it."""
    shown = visible(token)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def strongest(weights: Array, data: Data) -> str:
    """The largest of weights (head, query, key) of the first part, in words: of a text that looks
    at itself, the largest that leads to another token.
    """
    name, (_, *tokens) = next(iter(data.items()))
    queries, keys = map(quoted, tokens)
    same = name != "cross_attention"
    i, j, most = largest(weights.max(0), same)
    if most < 0.005:
        return "No token looks at another."
    what = "The largest weight" + " on another token" * same
    return f"{what}, {most:.2f}, goes from {queries[i]} to {keys[j]}."
