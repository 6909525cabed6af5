"""What AttentionHeads is given beside its weights: tokens, segments, settings to choose from."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.attentions import LARGEST, THUMBNAIL, WHOLE, largest, numbers, pooled
from lmcourse.widgets.packing import Array, as_array
from lmcourse.widgets.tokens import as_tokens

LINES = {
    "1": "the largest",
    "3": "the 3 largest",
    "8": "the 8 largest",
    "50%": "half of the weight",
    "90%": "90 % of the weight",
    "100%": "all keys",
}
COMPARE = {"off": "off", "beside": "side by side", "difference": "difference"}
BETWEEN = {
    "all": "all tokens",
    "A-A": "A looks at A",
    "B-B": "B looks at B",
    "A-B": "A looks at B",
    "B-A": "B looks at A",
}
MASKING = {"given": "the model’s", "none": "none", "causal": "causal"}
SCALING = {"given": "the model’s", "none": "none"}


def as_names(tokens: Any, key_tokens: Any, shape: tuple[int, ...]) -> tuple[list[str], list[str]]:
    """The tokens that look, and those that are looked at: the same, if there are no key_tokens.

    Raises:
        CourseError: they are not as many as the weights have queries and keys.
    """
    rows = as_tokens("tokens", tokens, shape[2])
    columns = rows if key_tokens is None else as_tokens("key_tokens", key_tokens)
    if len(columns) != shape[3]:
        raise CourseError(
            f"The attentions have {shape[2]} queries and {shape[3]} keys, and "
            f"there are {len(columns)} {'tokens' if key_tokens is None else 'key_tokens'}.",
            "Pass one token a query and, of cross-attention, one a key as key_tokens.",
        )
    return rows, columns


def as_segments(segments: Any, length: int, same: bool) -> list[int]:
    """0 or 1 a token; an empty list where there is no pair.

    Raises:
        CourseError: they are something else, or there is no text that looks at itself.
    """
    if segments is None:
        return []
    if not same:
        raise CourseError(
            "Segments go with one text that looks at itself, and there are key_tokens.",
            "Leave out one of the two.",
        )
    listed = numbers(segments)
    if listed is not None and listed.shape == (1, length):  # token_type_ids of one sequence
        segments = listed[0]
    found = as_array("segments", segments, (length,))
    if not np.isin(found, (0, 1)).all():
        raise CourseError(
            f"segments holds {found[~np.isin(found, (0, 1))][0]}.",
            "Pass 0 for a token of the first sentence, 1 for one of the second.",
        )
    return [int(it) for it in found] if found.min() != found.max() else []


def choose_from(
    channels: Sequence[str], shape: tuple[int, ...], whole: bool, pair: bool, computed: bool
) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """The settings that are chosen from a list: name, label, and each value with its words.

    Args:
        channels: their names.
        shape: of the first channel's weights.
        whole: whether the page has all weights; a difference and segments need them.
        pair: whether there are segments.
        computed: whether there are queries and keys.
    """
    several = bool(channels[1:]) or shape[0] * shape[1] > 1
    out: list[tuple[str, str, Mapping[str, str], int]] = [  # and how many of them there are
        ("channel", "Show", {it: it for it in channels}, len(channels)),
        ("lines", "Lines to", LINES, len(LINES)),
        ("compare", "Compare", COMPARE, 1 + several + (several and whole)),
        ("between", "Segments", BETWEEN, len(BETWEEN) if pair and whole else 1),
        ("masking", "Mask", MASKING, 3 if computed else 1),
        ("scaling", "Scale", SCALING, 2 if computed else 1),
    ]
    return [(name, label, list(values.items())[:count]) for name, label, values, count in out]


def as_bytes(codes: list[Array], found: list[Array]) -> dict[str, Array]:
    """What a page gets: each channel's mean entropies, as shares of log2(keys); and its weights,
    whole or as thumbnails and the largest of them.
    """
    whole = sum(it.size for it in codes) <= WHOLE
    out = {}
    for i, weights in enumerate(codes):
        most = np.log2(weights.shape[-1]) or 1.0
        out[f"entropy{i}"] = np.clip(found[i][..., 0] / most, 0, 1)
        if whole:
            out[f"weights{i}"] = weights
        else:
            out[f"thumbs{i}"] = pooled(weights, THUMBNAIL)
            out[f"at{i}"], out[f"top{i}"] = largest(weights, LARGEST)
    return out
