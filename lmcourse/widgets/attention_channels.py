"""Several attentions over the same tokens, and which head of one stands beside which of another."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.attentions import as_attentions, is_output
from lmcourse.widgets.packing import Array

MOST = 8


def as_channels(value: Any, part: str | None = None) -> dict[str, Array]:
    """The weights by channel, (layer, head, query, key) each; a channel may have its own layers.

    Args:
        value: what `as_attentions` takes, or a mapping of names to that.

    Raises:
        CourseError: one is no attention, or they are of other tokens.
    """
    if not isinstance(value, Mapping) or is_output(value):
        return {"attention": as_attentions("attentions", value, part)}
    if not 1 <= len(value) <= MOST:
        raise CourseError(f"attentions has {len(value)} channels.", f"Pass 1 to {MOST}, by name.")
    for name in value:
        if not isinstance(name, str) or not 1 <= len(name) <= 40:
            raise CourseError(
                f"A channel is called {name!r}.", "Name each by a string of 1 to 40 characters."
            )
    found = {name: as_attentions(f"attentions[{name!r}]", it, part) for name, it in value.items()}
    first, *others = found
    for name in others:
        if found[name].shape[2:] != found[first].shape[2:]:
            raise CourseError(
                f"{name!r} has {' × '.join(map(str, found[name].shape[2:]))} queries and keys, "
                f"{first!r} has {' × '.join(map(str, found[first].shape[2:]))}.",
                "Compare attentions over the same tokens.",
            )
    return found


def partners(
    channels: Mapping[str, Array], layer_map: Mapping[str, Sequence[int]] | None
) -> dict[str, Array]:
    """For channels whose layers or heads are not the first's: whom each head is compared with.

    Layers go by ``layer_map``, or at the same share of the depth (Jiao et al. 2020, "TinyBERT",
    section 3.1: uniform). Where the numbers of heads are equal, so are the heads; else it is the
    most similar head of that layer.

    Returns:
        ``partner0``, …: uint16 (layer, head, 2), the layer and the head in the first channel; of
        the first, in the second.

    Raises:
        CourseError: a map is no map.
    """
    names = list(channels)
    if not isinstance(layer_map or {}, Mapping):
        raise CourseError(
            f"layer_map is of type {type(layer_map).__name__}.",
            "Pass a mapping of a channel's name to layers, such as {'student': [1, 3]}.",
        )
    maps = {name: _map(name, channels, (layer_map or {}).get(name)) for name in names[1:]}
    if unknown := set(layer_map or {}) - set(names[1:]):
        raise CourseError(
            f"layer_map has {next(iter(unknown))!r}, which is no second channel.",
            f"Give maps for some of: {', '.join(names[1:]) or 'none, as there is one channel'}.",
        )
    out = {}
    for i, name in enumerate(names):
        other = names[0] if i else names[min(1, len(names) - 1)]
        mine, theirs = channels[name], channels[other]
        if i:
            chosen = maps[name]
        else:
            chosen = (
                [_nearest(maps[other], layer) for layer in range(len(mine))] if names[1:] else []
            )
        if not chosen or (mine.shape == theirs.shape and chosen == list(range(len(mine)))):
            continue
        out[f"partner{i}"] = np.array(
            [
                [
                    (chosen[at], _like(head, h, len(layer), theirs[chosen[at]]))
                    for h, head in enumerate(layer)
                ]
                for at, layer in enumerate(mine)
            ],
            np.uint16,
        )
    return out


def _map(name: str, channels: Mapping[str, Array], given: Any) -> list[int]:
    own, first = len(channels[name]), len(next(iter(channels.values())))
    if given is None:
        return [max(round((m + 1) * first / own) - 1, 0) for m in range(own)]
    try:
        layers = [int(it) for it in given]
    except (TypeError, ValueError):
        layers = []
    if len(layers) != own or not all(0 <= it < first for it in layers):
        raise CourseError(
            f"layer_map[{name!r}] is {given!r}.",
            f"Give {own} layers of the first channel, each from 0 to {first - 1}.",
        )
    return layers


def _nearest(layers: Sequence[int], layer: int) -> int:
    return min(range(len(layers)), key=lambda m: abs(layers[m] - layer))


def _like(weights: Array, head: int, heads: int, others: Array) -> int:
    """The head of the same number or, where there are more or less of them, the most similar."""
    if len(others) == heads:
        return head
    return int(np.abs(others - weights).mean((1, 2)).argmin())
