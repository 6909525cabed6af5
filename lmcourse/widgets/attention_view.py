"""What AttentionHeads shows at its settings: `compute` of web/widgets/attention_heads.js in Python.

Weights are what the page has: those of bytes or, with queries and keys, computed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lmcourse.widgets.attention_scores import computed
from lmcourse.widgets.packing import Array
from lmcourse.widgets.tokens import visible


@dataclass
class Data:
    """What the settings choose from.

    Attributes:
        quotes: queries and keys as sentences name them.
        segments: 0 or 1 a token; empty: there is no pair.
        codes: each channel's weights, a byte each, (layer, head, query, key).
        parts: what the first channel's weights come from, as `scores` gives it, or nothing.
        partners: whom each head is compared with, as `partners` gives it.
        says: each channel's heads in words.
        less: what a page says in addition that has not all weights.
    """

    quotes: tuple[list[str], list[str]]
    segments: list[int]
    codes: Mapping[str, Array]
    parts: dict[str, Array]
    partners: dict[str, Array]
    says: list[list[str]] = field(default_factory=list)
    less: str = ""

    def among(self, between: str) -> tuple[list[int], list[int]]:
        """The queries and keys of a choice of segments, such as ``"all"`` or ``"A-B"``."""
        first, _, last = between.partition("-")
        return tuple(  # type: ignore[return-value]
            [i for i in range(len(quotes)) if of == "all" or self.segments[i] == (of == "B")]
            for quotes, of in zip(self.quotes, (first, last or first), strict=True)
        )


@dataclass(frozen=True)
class Head:
    """One head: its weights among the chosen tokens, and ``rows``, those of all."""

    place: tuple[int, int]
    name: str
    says: str
    p: Array
    rows: Array
    computed: Mapping[str, Array] | None


class View:
    """What is shown; ``settings`` has the widget's settings as attributes."""

    def __init__(self, data: Data, settings: Any) -> None:
        self._data, self._now = data, settings
        self.lines, self.between, self.temperature = (
            settings.lines,
            settings.between,
            settings.temperature,
        )
        self.among = data.among(settings.between)
        self.quotes = [
            [quotes[i] for i in places]
            for quotes, places in zip(data.quotes, self.among, strict=True)
        ]
        mine = list(data.codes).index(settings.channel)
        self.size = data.codes[settings.channel].shape[:2]
        self.head = self._look(mine, settings.layer, settings.head)
        self.other = None if settings.compare == "off" else self._other(mine)
        self.i, self.j = (
            places.index(pin) if pin in places else 0
            for pin, places in zip((settings.query, settings.key), self.among, strict=True)
        )
        self.place = self.among[0][self.i]
        self.computed = self.head.computed
        self.whole = not data.less
        self.biased = "bias" in data.parts

    def cell(self) -> dict[str, Array]:
        """The pinned weight's arithmetic."""
        at = self.place, self.among[1][self.j]
        return {
            name: np.broadcast_to(it, self.head.rows.shape)[at]
            for name, it in (self.computed or {}).items()
        }

    def _look(self, which: int, layer: int, head: int) -> Head:
        data, now = self._data, self._now
        channel, codes = list(data.codes.items())[which]
        at = min(layer, len(codes) - 1), min(head, codes.shape[1] - 1)
        name = f"Layer {at[0]}, head {at[1]}" + f" of {channel}" * (len(data.codes) > 1)
        parts = None
        if data.parts and not which:
            how = (now.temperature, now.scaling, now.masking)
            name += ", computed anew" * (how != (1, "given", "given"))
            parts = computed(data.parts, *at, *how)
            rows = parts["p"].astype(np.float32)
        else:
            rows = (codes[at].astype(np.float32) ** 2) / np.float32(65025)
        says = data.says[which][at[0] * codes.shape[1] + at[1]] + data.less * (parts is None)
        return Head(at, name, says, rows[np.ix_(*self.among)], rows, parts)

    def _other(self, mine: int) -> Head:
        """Whom the shown head is compared with: never itself."""
        layer, head = self.head.place
        layers, heads = self.size
        if self._now.held is not None:
            held = self._look(mine, *self._now.held)
            if held.place != self.head.place:
                return held
        if len(self._data.codes) > 1:
            partners = self._data.partners.get(f"partner{mine}")
            at = (layer, head) if partners is None else partners[layer, head].tolist()
            return self._look(int(not mine), *at)
        at = (layer, (head + 1) % heads) if heads > 1 else ((layer + 1) % layers, 0)
        return self._look(0, *at)


def quoted(tokens: Sequence[str]) -> list[str]:
    """Tokens as sentences name them: quoted, with their places, and apart from the direction of
    what stands around them.
    """
    out = []
    for i, token in enumerate(tokens):
        seen = visible(token)
        seen = seen if len(seen) <= 30 else f"{seen[:29]}…"
        out.append(f"“\u2068{seen}\u2069” ({i})")
    return out
