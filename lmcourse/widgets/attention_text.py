"""The description of AttentionHeads, computed as in web/widgets/attention_heads.js.

Weights are those of the page: decoded from bytes or, with queries and keys, computed. A test
compares the sentences with those of web/widgets/attention_heads/words.js.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from lmcourse.widgets.attention_scores import computed
from lmcourse.widgets.packing import Array
from lmcourse.widgets.tokens import visible

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass
class Data:
    """The data of a widget.

    Attributes:
        quotes: queries and keys, as quoted in sentences.
        segments: 0 or 1 per token; empty for a single segment.
        codes: each channel's weights as bytes, (layer, head, query, key).
        parts: what the first channel's weights are computed from (see `scores`), or empty.
        partners: the head that each head is compared with (see `partners`).
        norms: the norms of the values, (layer, head, key), if there are any.
        says: the description of each channel's heads.
        less: an addition for pages that do not have all weights.
    """

    quotes: tuple[list[str], list[str]]
    segments: list[int]
    codes: Mapping[str, Array]
    parts: dict[str, Array]
    partners: dict[str, Array]
    norms: Any = None
    says: list[list[str]] = field(default_factory=list)
    less: str = ""

    def among(self, between: str) -> tuple[list[int], list[int]]:
        """Return the queries and keys of a choice of segments, such as ``"all"`` or ``"A-B"``."""
        first, _, last = between.partition("-")
        return tuple(  # type: ignore[return-value]
            [i for i in range(len(quotes)) if of == "all" or self.segments[i] == (of == "B")]
            for quotes, of in zip(self.quotes, (first, last or first), strict=True)
        )


@dataclass(frozen=True)
class Head:
    """One head: its weights ``p`` among the chosen tokens, and ``rows`` among all."""

    index: tuple[int, int]
    name: str
    says: str
    p: Array
    rows: Array
    computed: Mapping[str, Array] | None


class View:
    """What is shown; ``settings`` has the widget's settings as attributes."""

    def __init__(self, data: Data, settings: Any) -> None:
        now = SimpleNamespace(**settings.trait_values())
        if now.picture in ("map", "scores"):
            now.measure = "weight"
        if now.picture == "scores":  # of the first channel
            now.compare, now.channel, now.lines = "off", next(iter(data.codes)), "8"
        self._data, self._now = data, now
        self.among = data.among(now.between)
        self.quotes = [
            [quotes[i] for i in positions]
            for quotes, positions in zip(data.quotes, self.among, strict=True)
        ]
        mine = list(data.codes).index(now.channel)
        self.size = data.codes[now.channel].shape[:2]
        self.head = self._head(mine, now.layer, now.head)
        self.other = None if now.compare == "off" else self._other(mine)
        self.i, self.j = (
            positions.index(pin) if pin in positions else 0
            for pin, positions in zip((now.query, now.key), self.among, strict=True)
        )

    def alternative(self) -> str:
        """Return the description of the whole figure."""
        pinned = "; ".join([self._pair(self.i, self.j), *self._steps()])
        (queries, keys), (layers, heads), now = self.head.p.shape, self.size, self._now
        column = self._most(self.head.p[:, self.j], self.quotes[0])
        return (
            f"{layers} × {heads} heads; {queries} queries, {keys} keys. {self._about()} "
            f"Pinned: {pinned}. Lines: {now.lines}; segments: {now.between}. "
            f"{self.quotes[1][self.j]} is attended to by {column}."
        )

    def _head(self, which: int, layer: int, head: int) -> Head:
        data, now = self._data, self._now
        channel, codes = list(data.codes.items())[which]
        at = min(layer, len(codes) - 1), min(head, codes.shape[1] - 1)
        how = (now.temperature, now.scaling, now.masking)
        exact = bool(data.parts) and not which

        def weights(layer: int, head: int) -> Array:
            if not exact:
                return _decoded(codes[layer, head])
            return np.asarray(computed(data.parts, layer, head, *how)["p"], np.float32)

        rows = weights(*at)
        says = data.says[which][at[0] * codes.shape[1] + at[1]] + data.less * (not exact)
        name = f"Layer {at[0]}, head {at[1]}"
        if now.measure == "norm":
            rows, name = rows * data.norms[at], f"{name}, × norm"
        elif now.measure != "weight":
            heads = range(codes.shape[1])
            means = [np.mean([weights(i, it) for it in heads], 0) for i in range(at[0] + 1)]
            rows, name = means[-1], f"Layer {at[0]}, mean of heads"
            if now.measure == "rollout":
                rows, name = rollout(np.array(means)), f"Rollout to layer {at[0]}"
            bits = [_entropy(row) for row in rows if row.any()]
            says = f"mean entropy {number(float(np.mean(bits or [0])))} bits"
        name += f" of {channel}" * (len(data.codes) > 1)
        name += ", recomputed" * (exact and how != (1, "given", "given"))
        steps = computed(data.parts, *at, *how) if exact and now.measure == "weight" else None
        return Head(at, name, says, rows[np.ix_(*self.among)], rows, steps)

    def _other(self, mine: int) -> Head:
        """Return the head that the shown one is compared with: never itself."""
        layer, head = self.head.index
        layers, heads = self.size
        if self._now.held is not None:
            held = self._head(mine, *self._now.held)
            if held.name != self.head.name:
                return held
        if len(self._data.codes) > 1:
            partners = self._data.partners.get(f"partner{mine}")
            at = (layer, head) if partners is None else partners[layer, head].tolist()
            return self._head(int(not mine), *at)
        at = (layer, (head + 1) % heads) if heads > 1 else ((layer + 1) % layers, 0)
        return self._head(0, *at)

    def _pair(self, i: int, j: int) -> str:
        """Return one weight with its position; the other head's, and the difference."""
        p, other = self.head.p, self.other
        text = f"{self.quotes[0][i]} → {self.quotes[1][j]}: {weight(p[i, j])}"
        if not p[i].any():
            text += "; attends to none of these"
        if other is not None:
            difference = weight(np.subtract(p[i, j], other.p[i, j], dtype=np.float32))
            text += f"; {other.name}: {weight(other.p[i, j])}; difference: {difference}"
        return text

    def _about(self) -> str:
        """Return the description of the head and its pinned query."""
        head, other, row = self.head, self.other, self.head.p[self.i]
        parts = [f"{head.name}: {head.says}."]
        if other is not None:
            parts.append(f"Compared: {other.name}: {other.says}.")
            away = np.abs(head.p - other.p)
            i, j = np.unravel_index(np.argmax(away), away.shape)
            if not self._data.less and away[i, j]:
                parts.append(f"Largest difference: {self._pair(int(i), int(j))}.")
        rest = ""  # for a query without weights
        if whole := head.rows[self.among[0][self.i]].sum():
            share = row.sum() / whole
            rest = f"; {int(100 * share)}% of its weight is shown"
            if share >= 0.999:
                rest = f"; entropy {number(_entropy(row))} bits"
        attends = f"attends to {self._most(row, self.quotes[1])}{rest}"
        return " ".join([*parts, f"{self.quotes[0][self.i]} {attends}."])

    def _most(self, row: Array, quotes: Sequence[str]) -> str:
        """Return the tokens with the largest weights in a row or a column."""
        found = [f"{quotes[j]} {weight(row[j])}" for j in chosen(row, self._now.lines)[:4]]
        return ", ".join(found) or "none of these"

    def _steps(self) -> list[str]:
        """Return the steps from q · k to the weight."""
        if self.head.computed is None:
            return []
        at = self.among[0][self.i], self.among[1][self.j]
        cell = {
            name: float(np.broadcast_to(it, self.head.rows.shape)[at])
            for name, it in self.head.computed.items()
        }
        scaled = cell["dot"] * cell["scale"]
        out = [("q · k", cell["dot"]), (f"× scale {number(cell['scale'])}", scaled)]
        if "bias" in self._data.parts:
            out.append((f"+ bias {number(cell['bias'])}", scaled + cell["bias"]))
        temperature = self._now.temperature
        out += [
            (f"÷ T = {number(temperature)}", (scaled + cell["bias"]) / temperature),
            (f"+ mask {number(cell['mask'])}", cell["score"]),
            ("exp(score − highest)", cell["power"]),
            (f"÷ sum {number(cell['sum'])}", cell["p"]),
        ]
        return [f"{words}: {number(x)}" for words, x in out]


def _decoded(codes: Array) -> Array:
    return (codes.astype(np.float32) ** 2) / np.float32(65025)


def rollout(means: Array) -> Array:
    """Return the attention rollout of layers' mean weights (Abnar and Zuidema 2020, section 3)."""
    out = np.eye(len(means[0]), dtype=np.float32)
    for mean in means:
        mixed = mean + np.eye(len(mean), dtype=np.float32)  # the residual connection
        out = mixed / mixed.sum(-1, keepdims=True) @ out
    return out


def labels(tokens: Sequence[str], most: int = 12) -> list[str]:
    """Return tokens as displayed, without invisible characters and not too long."""
    shown = [visible(token) for token in tokens]
    return [it if len(it) <= most else f"{it[: most - 1]}…" for it in shown]


def quoted(tokens: Sequence[str]) -> list[str]:
    """Return tokens as quoted in sentences: with positions, and isolated from text direction."""
    return [f"“\u2068{it}\u2069” ({i})" for i, it in enumerate(labels(tokens, 30))]


def weight(p: float) -> str:
    """Return a weight or a difference with the precision of a byte; the last digit may be off."""
    if p == 0:
        return "0"
    if abs(p) < 5e-4:
        return "≈ 0"
    return f"{p:.{3 if abs(p) < 0.00995 else 2}f}".replace("-", "−")


def number(x: float) -> str:
    """Return three digits: 0.0417, 12.3, 3.1·10⁻⁹."""
    if x < -1e9:
        return "−∞"
    if x == 0 or 0.01 <= abs(x) < 999.5:
        return f"{float(f'{x:.3g}'):g}".replace("-", "−")
    digits, exponent = f"{x:.1e}".split("e")
    return f"{digits}·10{str(int(exponent)).translate(_SUPERSCRIPTS)}".replace("-", "−")


def chosen(row: Array, lines: str) -> list[int]:
    """Return the keys that get a line, the largest first."""
    order = [int(j) for j in np.argsort(-row, kind="stable") if row[j]]
    if not lines.endswith("%"):
        return order[: int(lines)]
    wanted = row.sum() * float(lines[:-1]) / 100 - 1e-6
    before = np.cumsum(row[order]) - row[order]
    return [j for j, total in zip(order, before, strict=True) if total < wanted]


def _entropy(row: Array) -> float:
    """Return the entropy in bits of a row that sums to approximately 1."""
    p = row[row > 0] / row.sum()
    return float(-(p * np.log2(p)).sum()) + 0.0
