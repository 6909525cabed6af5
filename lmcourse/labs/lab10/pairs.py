"""10.1 A pair of texts: framed by special tokens, each in its segment, and not too long."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.lab10.probing import first_wrong
from lmcourse.labs.values import Mistake, same, tensor
from lmcourse.labs.verdict import Wrong

_CLS, _SEP = 1, 2
_A, _B = 10, 30  # the ids of their first tokens
Texts = tuple[list[int], list[int]]
Probe = tuple[list[int], list[int], int, int, int]
# Of each probe the tokens of the first and the second text, and how long the pair may be.
_PROBES = (
    *((4, 3, 12), (9, 2, 10), (3, 6, 9), (6, 5, 10), (2, 2, 7), (7, 1, 8), (2, 9, 8)),
    *((6, 2, 12), (8, 8, 13)),
)


def judge(answer: Answer) -> str:
    probes = [_probe(*each) for each in _PROBES]
    found = first_wrong(probes, lambda probe: _read(answer(*probe)), _right, MISTAKES)
    if found is not None:
        raise Wrong(_compared(*found))
    return (
        "So each pair is built that BERT reads, in pretraining as in later tasks. In half of the "
        "cases B is what follows A; else it comes from another document."
    )


def _compared(probe: Probe, value: Tensor) -> str:
    """Both pairs, a wrong one and the right one, in words."""
    right, (a, b, *_, length) = _right(*probe), probe
    case = f"With texts of {len(a)} and {len(b)} tokens, and room for {length},"
    if value.shape == right.shape and same(value[0], right[0]):
        return (
            f"{case} the ids are right and the segments are not: {_listed(right[1])} should come "
            f"out, and you have {_listed(value[1])}."
        )
    return f"{case} it should be {_named(right[0])}. You have {_named(value[0])}."


def _listed(row: Tensor) -> str:
    return " ".join(f"{each:g}" for each in row.tolist())


def _named(ids: Tensor) -> str:
    """The tokens of a pair by names: a1 is the first one of A."""
    names = {_CLS: "[CLS]", _SEP: "[SEP]"}
    names |= {_A + i: f"a{i + 1}" for i in range(_B - _A)}
    names |= {_B + i: f"b{i + 1}" for i in range(_B - _A)}
    return " ".join(names.get(each, f"{each:g}") for each in ids.tolist()) or "nothing"


def _probe(first: int, second: int, length: int) -> Probe:
    return [*range(_A, _A + first)], [*range(_B, _B + second)], _CLS, _SEP, length


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


def _fitted(
    a: list[int], b: list[int], room: int, tie: int = 1, at: int = -1, most: int = 99
) -> Texts:
    """The longer one loses a token, until there is room for both; of equals the one ``tie``.

    Args:
        a, b: the texts.
        room: for how many tokens.
        tie: which of two equally long ones loses a token.
        at: where it loses it.
        most: so many tokens are lost at most.
    """
    texts = [*a], [*b]
    for _ in range(min(most, max(0, len(a) + len(b) - room))):
        longer = tie if len(texts[0]) == len(texts[1]) else int(len(texts[1]) > len(texts[0]))
        del texts[longer][at]
    return texts


def _right(a: list[int], b: list[int], cls: int, sep: int, length: int) -> Tensor:
    return _framed(*_fitted(a, b, length - 3))


def _shortened(by: Callable[[list[int], list[int], int], Texts]) -> Callable[..., Tensor]:
    """The pair if ``by(a, b, room)`` shortens the texts."""
    return lambda a, b, cls, sep, length: _framed(*by(a, b, length - 3))


def _b_then_a(a: list[int], b: list[int], room: int) -> Texts:
    return a[:room], b[: max(0, room - len(a))]


def _a_then_b(a: list[int], b: list[int], room: int) -> Texts:
    return a[: max(0, room - len(b))], b[:room]


def _both(a: list[int], b: list[int], room: int) -> Texts:
    """Each round takes one token of either text."""
    while len(a) + len(b) > room:
        a, b = a[:-1], b[:-1]
    return a, b


def _in_turn(first: int) -> Callable[[list[int], list[int], int], Texts]:
    """The texts lose a token in turn, beginning with the text ``first``."""

    def by(a: list[int], b: list[int], room: int) -> Texts:
        excess = max(0, len(a) + len(b) - room)
        lost = [excess // 2, excess // 2]
        lost[first] += excess % 2
        return a[: max(0, len(a) - lost[0])], b[: max(0, len(b) - lost[1])]

    return by


def _whole_excess(a: list[int], b: list[int], room: int) -> Texts:
    excess = max(0, len(a) + len(b) - room)
    if len(a) > len(b):
        return a[: max(0, len(a) - excess)], b
    return a, b[: max(0, len(b) - excess)]


def _halves(up: int, always: bool) -> Callable[[list[int], list[int], int], Texts]:
    """Half of the room for each text, ``up`` if an odd token is A's; ``always`` if it fits, too."""

    def by(a: list[int], b: list[int], room: int) -> Texts:
        if not always and len(a) + len(b) <= room:
            return a, b
        return a[: (room + up) // 2], b[: room // 2]

    return by


def _without(place: int, room: int) -> Callable[..., Tensor]:
    """A special token is missing, the middle one at ``place`` 1; ``room`` is for the texts."""

    def pair(a: list[int], b: list[int], cls: int, sep: int, length: int) -> Tensor:
        texts = _fitted(a, b, length - room)
        rows = _framed(*texts)
        keep = torch.ones(rows.shape[1], dtype=torch.bool)
        keep[len(texts[0]) + 1 if place == 1 else place] = False
        return rows[:, keep]

    return pair


def _last_in_first(*probe: Any) -> Tensor:
    rows = _right(*probe)
    rows[1, -1] = 0
    return rows


def _counting(marks: int) -> Callable[..., Tensor]:
    """So many special tokens count to the length."""
    return lambda a, b, cls, sep, length: _framed(*_fitted(a, b, length - marks))


_HALVES = (
    "Each text is cut to half of the room: a short one leaves the rest of its half to the other."
)
_NO_CLS = "[CLS] is missing: it stands in front of the pair."
_NO_END = "The last [SEP] is missing: one stands behind *each* text."
_NO_MIDDLE = "The first [SEP] is missing: one stands behind *each* text."

# Each takes (a, b, cls, sep, length).
MISTAKES = (
    *(Mistake(_NO_CLS, _without(0, room)) for room in (3, 2)),
    *(Mistake(_NO_END, _without(-1, room)) for room in (3, 2)),
    *(Mistake(_NO_MIDDLE, _without(1, room)) for room in (3, 2)),
    Mistake(
        "The segments come first: return the ids, and behind them the segments.",
        lambda *probe: _right(*probe).flip(0),
    ),
    Mistake(
        "B stands in front of A.",
        lambda a, b, cls, sep, length: _right(b, a, cls, sep, length),
    ),
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
        "One token is cut off, and then no other: as long as the pair is too long, the text that "
        "is the longer one *now* loses a token.",
        lambda a, b, cls, sep, length: _framed(*_fitted(a, b, length - 3, most=1)),
    ),
    Mistake("The three special tokens need room as well: they count to the length.", _counting(0)),
    Mistake(
        "A long pair comes out two tokens too long: all three special tokens count to the length.",
        _counting(1),
    ),
    Mistake(
        "A long pair comes out one token too long: there are three special tokens, [CLS] and a "
        "[SEP] behind each text.",
        _counting(2),
    ),
    Mistake(
        "A long pair comes out one token too short: it may have exactly `length` tokens.",
        _counting(4),
    ),
    Mistake(
        "The framed pair is cut at its end, and so loses its last [SEP]: cut the texts, and frame "
        "them then.",
        lambda a, b, cls, sep, length: _framed(a, b)[:, :length],
    ),
    Mistake(
        "Only the second text is cut: take the longer one, as often as needed.",
        _shortened(lambda a, b, room: (a, b[: max(0, room - len(a))])),
    ),
    Mistake(
        "Only the first text is cut: take the longer one, as often as needed.",
        _shortened(lambda a, b, room: (a[: max(0, room - len(b))], b)),
    ),
    Mistake(
        "The second text is used up before the first one is cut: ask before *each* token which is "
        "longer.",
        _shortened(_b_then_a),
    ),
    Mistake(
        "The first text is used up before the second one is cut: ask before *each* token which is "
        "longer.",
        _shortened(_a_then_b),
    ),
    Mistake("Both texts lose a token each time: only the longer one does.", _shortened(_both)),
    *(
        Mistake(
            "The texts lose a token in turn: it is always the longer one that does.",
            _shortened(_in_turn(first)),
        )
        for first in (0, 1)
    ),
    Mistake(
        "The text that is longer at first loses all that is too much: after each token, ask anew "
        "which is longer.",
        _shortened(_whole_excess),
    ),
    *(
        Mistake(_HALVES, _shortened(_halves(up, always)))
        for up in (0, 1)
        for always in (True, False)
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
