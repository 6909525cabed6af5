"""10.1 A pair of texts: framed by special tokens, each in its segment, and not too long."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.values import Mistake, explain, same, tensor
from lmcourse.labs.verdict import Wrong

_CLS, _SEP = 1, 2
Texts = tuple[list[int], list[int]]
Probe = tuple[list[int], list[int], int, int, int]
# Of each probe the tokens of the first and the second text, and how long the pair may be.
_PROBES = ((4, 3, 12), (9, 2, 10), (3, 6, 9), (6, 5, 10), (2, 2, 7), (7, 1, 8))


def judge(answer: Answer) -> str:
    for first, second, length in _PROBES:
        probe = _probe(first, second, length)
        value = _read(answer(*probe))
        if not same(value, _right(*probe)):
            explain(value, MISTAKES, *probe)
            raise Wrong(
                f"With texts of {first} and {second} tokens, and room for {length}, another pair "
                f"comes out: {value.shape[1]} tokens. Print both lists beside each other, and "
                "compare them with [CLS] A [SEP] B [SEP]."
            )
    return (
        "So each pair is built that BERT reads, in pretraining as in later tasks. In half of the "
        "cases B is what follows A; else it comes from another document."
    )


def _probe(first: int, second: int, length: int) -> Probe:
    return [*range(10, 10 + first)], [*range(30, 30 + second)], _CLS, _SEP, length


def _read(value: Any) -> Tensor:
    """Ids and segments, [2, time]."""
    if not isinstance(value, (tuple, list, Tensor)) or len(value) != 2:
        raise Wrong("Return two lists, one behind the other: the ids, and the segments.")
    if not all(hasattr(each, "__len__") for each in value):
        raise Wrong("The ids and the segments are lists: `return ids, segments`.")
    if len(value[0]) != len(value[1]):
        raise Wrong(
            f"There are {len(value[0])} ids and {len(value[1])} segments: each token has one."
        )
    return torch.stack([tensor(each, (len(each),)) for each in value])


def _framed(a: list[int], b: list[int], ones: int = 0) -> Tensor:
    """Both rows; ``ones``: how many tokens earlier segment 1 begins."""
    ids = [_CLS, *a, _SEP, *b, _SEP]
    zeros = len(a) + 2 - ones
    return torch.tensor([ids, [0] * zeros + [1] * (len(ids) - zeros)])


def _fitted(a: list[int], b: list[int], room: int, tie: int = 1, at: int = -1) -> Texts:
    """The longer one loses a token, until there is room for both; of equals the one ``tie``."""
    texts = [*a], [*b]
    while sum(map(len, texts)) > room:
        longer = tie if len(texts[0]) == len(texts[1]) else int(len(texts[1]) > len(texts[0]))
        del texts[longer][at]
    return texts


def _right(a: list[int], b: list[int], cls: int, sep: int, length: int) -> Tensor:
    return _framed(*_fitted(a, b, length - 3))


def _without(place: int) -> Callable[..., Tensor]:
    """A special token is missing; the texts have its room, or they have not."""

    def pair(a: list[int], b: list[int], cls: int, sep: int, length: int) -> Tensor:
        rows = _right(a, b, cls, sep, length)
        keep = torch.ones(rows.shape[1], dtype=torch.bool)
        keep[place] = False
        return rows[:, keep]

    return pair


def _last_in_first(*probe: Any) -> Tensor:
    rows = _right(*probe)
    rows[1, -1] = 0
    return rows


# Each takes (a, b, cls, sep, length).
MISTAKES = (
    Mistake("[CLS] is missing: it stands in front of the pair.", _without(0)),
    Mistake("The last [SEP] is missing: one stands behind *each* text.", _without(-1)),
    Mistake(
        "The first [SEP] is in segment 1: it belongs to the text that it ends.",
        lambda a, b, cls, sep, length: _framed(*_fitted(a, b, length - 3), ones=1),
    ),
    Mistake("The last [SEP] is in segment 0: it belongs to the text that it ends.", _last_in_first),
    Mistake(
        "The pair may be too long: nothing is cut off.",
        lambda a, b, cls, sep, length: _framed(a, b),
    ),
    Mistake(
        "The three special tokens need room as well: they count to the length.",
        lambda a, b, cls, sep, length: _framed(*_fitted(a, b, length)),
    ),
    Mistake(
        "The framed pair is cut at its end, and so loses its last [SEP]: cut the texts, and frame "
        "them then.",
        lambda a, b, cls, sep, length: _framed(a, b)[:, :length],
    ),
    Mistake(
        "Only the second text is cut: take the longer one, as often as needed.",
        lambda a, b, cls, sep, length: _framed(a, b[: max(0, length - 3 - len(a))]),
    ),
    Mistake(
        "Each text is cut to half of the room: a short one leaves the rest of its half to the "
        "other.",
        lambda a, b, cls, sep, length: _framed(a[: (length - 3) // 2], b[: (length - 3) // 2]),
    ),
    Mistake(
        "Tokens are lost in front: take the last one of the longer text.",
        lambda a, b, cls, sep, length: _framed(*_fitted(a, b, length - 3, at=0)),
    ),
    Mistake(
        "Of two texts that are equally long, the first one is cut: it should be the second.",
        lambda a, b, cls, sep, length: _framed(*_fitted(a, b, length - 3, tie=0)),
    ),
)
