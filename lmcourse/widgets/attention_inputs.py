"""The inputs of AttentionHeads: channels of weights, tokens, segments, choices of settings."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.attentions import (
    LARGEST,
    MOST_WEIGHTS,
    THUMBNAIL,
    as_attentions,
    is_output,
    largest,
    pooled,
)
from lmcourse.widgets.packing import Array, as_array, numbers
from lmcourse.widgets.tokens import as_tokens

MOST_CHANNELS = 8
PICTURE = {
    "map": "Map",
    "lines": "Lines",
    "heads": "All heads",
    "scores": "Scores",
}
MEASURE = {
    "weight": "weights of one head",
    "norm": "weights × norm of the values",
    "mean": "mean of the layer’s heads",
    "rollout": "rollout over the layers",
}
LINES = {
    "1": "the largest",
    "3": "the 3 largest",
    "8": "the 8 largest",
    "50%": "half of the weight",
    "90%": "90% of the weight",
    "100%": "all keys",
}
COMPARE = {"off": "off", "beside": "side by side", "difference": "difference"}
BETWEEN = {
    "all": "all tokens",
    "A-A": "A attends to A",
    "B-B": "B attends to B",
    "A-B": "A attends to B",
    "B-A": "B attends to A",
}
MASKING = {"given": "the model’s", "none": "none", "causal": "causal"}
SCALING = {"given": "the model’s", "none": "none"}


def as_channels(value: Any, part: str | None = None) -> dict[str, Array]:
    """Return the weights by channel, (layer, head, query, key); channels may differ in layers.

    Args:
        value: what `as_attentions` takes, or a mapping of names to that.
    """
    if not isinstance(value, Mapping) or is_output(value):
        return {"attention": as_attentions("attentions", value, part)}
    if not 1 <= len(value) <= MOST_CHANNELS:
        raise CourseError(
            f"attentions has {len(value)} channels.", f"Pass 1 to {MOST_CHANNELS}, by name."
        )
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
    """Return the head that each head is compared with, if it is not the one of the same index.

    Layers are matched by ``layer_map``, or at the same relative depth (the uniform mapping of Jiao
    et al. 2020, "TinyBERT", section 3.1). Heads are matched by index if the layers have the same
    number of them, else by similarity.

    Returns:
        ``partner0``, …: uint16 (layer, head, 2), layer and head in the first channel; for the first
        channel, in the second.
    """
    first, *others = channels
    if not isinstance(layer_map or {}, Mapping) or set(layer_map or {}) - set(others):
        raise CourseError(
            f"layer_map is {layer_map!r:.60}.",
            f"Map names of further channels ({', '.join(others) or 'there are none'}) to layers, "
            "such as {'student': [1, 3]}.",
        )
    maps = {name: _map(name, channels, (layer_map or {}).get(name)) for name in others}
    if not others:
        return {}
    reverse = [
        min(range(len(maps[others[0]])), key=lambda m: abs(maps[others[0]][m] - layer))
        for layer in range(len(channels[first]))
    ]
    out = {}
    for i, (name, mine) in enumerate(channels.items()):
        matched = maps[name] if i else reverse
        theirs = channels[first if i else others[0]]
        if mine.shape == theirs.shape and matched == list(range(len(mine))):
            continue
        out[f"partner{i}"] = np.array(
            [
                [(it, _most_similar(mine[layer], head, theirs[it])) for head in range(len(mine[0]))]
                for layer, it in enumerate(matched)
            ],
            np.uint16,
        )
    return out


def _map(name: str, channels: Mapping[str, Array], layers: Any) -> list[int]:
    own, first = len(channels[name]), len(next(iter(channels.values())))
    if layers is None:
        return [max(round((m + 1) * first / own) - 1, 0) for m in range(own)]
    try:
        listed = [int(it) for it in layers]
    except (TypeError, ValueError):
        listed = []
    if len(listed) != own or not all(0 <= it < first for it in listed):
        raise CourseError(
            f"layer_map[{name!r}] is {layers!r}.",
            f"Pass {own} layers of the first channel, each from 0 to {first - 1}.",
        )
    return listed


def _most_similar(layer: Array, head: int, others: Array) -> int:
    """Return the head of the same index or, if the layers have different numbers, the closest."""
    if len(others) == len(layer):
        return head
    return int(np.abs(others - layer[head]).mean((1, 2)).argmin())


def as_names(tokens: Any, key_tokens: Any, shape: tuple[int, ...]) -> tuple[list[str], list[str]]:
    """Return the tokens of queries and keys, which are the same without ``key_tokens``."""
    rows = as_tokens("tokens", tokens, shape[2])
    columns = rows if key_tokens is None else as_tokens("key_tokens", key_tokens)
    if len(columns) != shape[3]:
        raise CourseError(
            f"The attentions have {shape[2]} queries and {shape[3]} keys, but "
            f"there are {len(columns)} {'tokens' if key_tokens is None else 'key_tokens'}.",
            "Pass one token per query and, for cross-attention, one per key as key_tokens.",
        )
    return rows, columns


def as_segments(segments: Any, length: int, same: bool) -> list[int]:
    """Return 0 or 1 per token; an empty list if there is only one segment."""
    if segments is None:
        return []
    if not same:
        raise CourseError(
            "Segments need self-attention, and there are key_tokens.", "Leave out one of the two."
        )
    listed = numbers(segments)
    if listed is not None and listed.shape == (1, length):  # token_type_ids of one sequence
        segments = listed[0]
    found = as_array("segments", segments, (length,))
    if not np.isin(found, (0, 1)).all():
        raise CourseError(
            f"segments has the value {found[~np.isin(found, (0, 1))][0]}.",
            "Pass 0 for tokens of the first sentence, 1 for those of the second.",
        )
    return [int(it) for it in found] if found.min() != found.max() else []


def choose_from(
    channels: Sequence[str], shape: tuple[int, ...], **there: bool
) -> list[tuple[str, str, dict[str, str]]]:
    """Return the settings with choices: name, label, and the values with their labels.

    Args:
        channels: the names of the channels.
        shape: the shape of the first channel's weights.
        there: whether the page has all weights (``whole``), which a difference, segments, and all
            measures but the weight need; segments (``pair``); queries and keys (``computed``);
            ``norms`` of values; and the ``same`` tokens as queries and keys.
    """
    several, whole = bool(channels[1:]) or shape[0] * shape[1] > 1, there["whole"]
    drawn = {"heads": shape[1] > 1, "scores": there["computed"]}
    measured = {"norm": there["norms"], "mean": shape[1] > 1}
    measured["rollout"] = there["same"] and shape[0] > 1
    pictures = {it: words for it, words in PICTURE.items() if drawn.get(it, True)}
    measures = {it: x for it, x in MEASURE.items() if it == "weight" or (whole and measured[it])}
    out: list[tuple[str, str, Mapping[str, str], int]] = [  # the last is the number of choices
        ("picture", "Draw", pictures, 4),
        ("measure", "Numbers", measures, 4),
        ("channel", "Show", {it: it for it in channels}, len(channels)),
        ("lines", "Lines to", LINES, len(LINES)),
        ("compare", "Compare", COMPARE, 1 + several + (several and whole)),
        ("between", "Segments", BETWEEN, len(BETWEEN) if there["pair"] and whole else 1),
        ("masking", "Mask", MASKING, 3 if there["computed"] else 1),
        ("scaling", "Scale", SCALING, 2 if there["computed"] else 1),
    ]
    return [(name, label, dict(list(it.items())[:count])) for name, label, it, count in out]


def as_bytes(codes: list[Array], measured: list[Array]) -> dict[str, Array]:
    """Return the arrays for the page: each channel's mean entropies as fractions of log2(keys), and
    its weights, either all, or thumbnails and the largest.
    """
    whole = sum(it.size for it in codes) <= MOST_WEIGHTS
    out = {}
    for i, weights in enumerate(codes):
        most = np.log2(weights.shape[-1]) or 1.0
        out[f"entropy{i}"] = np.clip(measured[i][..., 0] / most, 0, 1)
        if whole:
            out[f"weights{i}"] = weights
        else:
            out[f"thumbs{i}"] = pooled(weights, THUMBNAIL)
            out[f"at{i}"], out[f"top{i}"] = largest(weights, LARGEST)
    return out
