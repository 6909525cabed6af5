"""Where the blocks of a view lie, and how arrows go around them: layers from bottom to top.

The method is Sugiyama's (1981, "Methods for visual understanding of hierarchical system
structures"): ranks by the longest path, an order within each rank with few crossings, then
coordinates that keep long arrows straight. Frames around blocks are laid out first, from inside.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

GAP = 21  # between ranks, without arrows that cross from side to side
TRACK = 9  # between such arrows
SPACE = 16  # between blocks of a rank
LANE = 8  # half the width of an arrow that passes a rank
NARROW, BROAD = "iljtfr.,:;|'()[]1 ·", "mwMWΣ@%"


@dataclass(eq=False)
class Item:
    """A block, a frame, or the end of an arrow at the frame around it; x and y are its center.

    Attributes:
        key: a block's index, or ("in" | "out", …) of an arrow's end.
        side: room for a label to the right of the center.
        beside: whether an arrow begins here at the left edge of the frame.
        entries, exits, heights: of a frame, offsets from the center where arrows pass its lower,
            upper and left edge, by their source.
        inset: how far its left edge is from the item's.
    """

    key: Any
    width: float
    height: float
    round: bool = False
    side: float = 0
    x: float = 0
    y: float = 0
    rank: int = 0
    lane: bool = False
    beside: bool = False
    entries: dict[int, float] = field(default_factory=dict)
    exits: dict[int, float] = field(default_factory=dict)
    heights: dict[int, float] = field(default_factory=dict)
    inset: float = 0

    @property
    def left(self) -> float:
        return self.width / 2

    @property
    def right(self) -> float:
        return max(self.width / 2, self.side)


@dataclass(eq=False)
class Edge:
    """An arrow between items of a frame: what ``source`` returns, from item to item."""

    start: Item
    end: Item
    source: int
    lanes: list[Item] = field(default_factory=list)
    points: list[tuple[float, float]] = field(default_factory=list)


def text_width(text: str, size: float = 12) -> float:
    """Return about how wide a text is, in pixels."""
    wide = sum(
        0.31 if c in NARROW else 0.86 if c in BROAD else 0.68 if c.isupper() else 0.56 for c in text
    )
    return wide * size


def place(items: list[Item], edges: list[Edge]) -> tuple[float, float]:
    """Set the items' positions and the edges' points; return width and height."""
    _rank(items, edges)
    ranks = _with_lanes(items, edges)
    _order(ranks, edges)
    _across(ranks, edges)
    height = _up(ranks, edges)
    everything = [it for rank in ranks for it in rank]
    low = min(it.x - it.left for it in everything)
    for it in everything:
        it.x -= low
    for edge in edges:
        edge.points = [(x - low, y) for x, y in edge.points]
    return max(it.x + it.right for it in everything), height


def _rank(items: list[Item], edges: list[Edge]) -> None:
    """Give each item the length of the longest path to it; without one, just below its reader."""
    before: dict[Item, list[Item]] = {it: [] for it in items}
    after: dict[Item, list[Item]] = {it: [] for it in items}
    for edge in edges:
        before[edge.end].append(edge.start)
        after[edge.start].append(edge.end)
    known: dict[Item, int] = {}

    def rank(item: Item) -> int:
        if item not in known:
            known[item] = 0
            known[item] = max((rank(it) + 1 for it in before[item]), default=0)
        return known[item]

    for item in items:
        item.rank = rank(item)
    for item in items:
        if not before[item] and after[item] and (item.beside or not _end(item, "in")):
            item.rank = max(0, min(it.rank for it in after[item]) - 1)
    top = max(it.rank for it in items)
    for item in items:
        if _end(item, "out"):
            item.rank = max(top, 1)


def _end(item: Item, which: str) -> bool:
    return isinstance(item.key, tuple) and item.key[0] == which


def _with_lanes(items: list[Item], edges: list[Edge]) -> list[list[Item]]:
    """Return the ranks, with a lane where an arrow passes one; arrows from one source share it."""
    ranks: list[list[Item]] = [[] for _ in range(1 + max(it.rank for it in items))]
    lanes: dict[tuple[Item, int, int], Item] = {}
    for edge in edges:
        for rank in range(edge.start.rank + 1, edge.end.rank):
            key = (edge.start, edge.source, rank)
            if key not in lanes:
                lanes[key] = Item(None, 2 * LANE, 0, rank=rank, lane=True)
                ranks[rank].append(lanes[key])
            edge.lanes.append(lanes[key])
    for item in items:
        ranks[item.rank].append(item)
    return ranks


def _links(edges: Iterable[Edge]) -> Iterator[tuple[Item, Item, float, float]]:
    """Yield the pieces of arrows between neighboring ranks, with the offsets of their ends."""
    for edge in edges:
        path = [edge.start, *edge.lanes, edge.end]
        for one, other in pairwise(path):
            yield (
                *(one, other),
                *(one.exits.get(edge.source, 0.0), other.entries.get(edge.source, 0.0)),
            )


def _order(ranks: list[list[Item]], edges: list[Edge]) -> None:
    """Sort each rank so that few arrows cross: by the mean of the neighbors, up and down."""
    links = list(dict.fromkeys(_links(edges)))

    def crossings() -> int:
        at = {it: n for rank in ranks for n, it in enumerate(rank)}
        by_rank: dict[int, list[tuple[float, float]]] = {}
        for one, other, out, into in links:
            pair = (at[one] + out / 1e4, at[other] + into / 1e4)
            by_rank.setdefault(one.rank, []).append(pair)
        return sum(
            (a[0] - b[0]) * (a[1] - b[1]) < 0
            for pairs in by_rank.values()
            for n, a in enumerate(pairs)
            for b in pairs[:n]
        )

    for rank in ranks:
        rank.sort(key=lambda it: not it.beside)
    best, least = [list(rank) for rank in ranks], crossings()
    for sweep in range(10):
        down = sweep % 2
        for rank in reversed(ranks) if down else ranks:
            at = {it: n for row in ranks for n, it in enumerate(row)}
            means = {}
            for item in rank:
                near = [
                    (at[one] + out / 1e4 if not down else at[other] + into / 1e4)
                    for one, other, out, into in links
                    if (one if down else other) is item
                ]
                means[item] = sum(near) / len(near) if near else at[item]
            rank.sort(key=lambda it: (not it.beside, means[it]))
        if (count := crossings()) < least:
            best, least = [list(rank) for rank in ranks], count
    for rank, order in zip(ranks, best, strict=True):
        rank[:] = order


def _across(ranks: list[list[Item]], edges: list[Edge]) -> None:
    """Set x: near the neighbors, without overlaps. Blocks are in line with blocks, not lanes."""
    links = list(dict.fromkeys(_links(edges)))
    for rank in ranks:
        x = 0.0
        for item in rank:
            item.x = x + item.left
            x += item.left + item.right + SPACE
    near: dict[Item, list[tuple[Item, float, float]]] = {it: [] for rank in ranks for it in rank}
    for a, b, out, into in links:
        for item, other, shift in ((a, b, into - out), (b, a, out - into)):
            pull = (4.0 if other.lane else 0.02) if item.lane else 0.001 if other.lane else 10.0
            near[item].append((other, shift, pull))
    for sweep in range(300):
        before = [it.x for rank in ranks for it in rank]
        for rank in ranks if sweep % 2 else reversed(ranks):
            wanted = []
            for item in rank:
                pulls = [(other.x + shift, pull) for other, shift, pull in near[item]]
                weight = float(sum(w for _, w in pulls))
                mean = sum(x * w for x, w in pulls) / weight if weight else item.x
                beyond = 1.7 if sweep < 200 else 1.0  # overrelaxation
                wanted.append((item.x + beyond * (mean - item.x), max(weight, 0.001)))
            _separate(rank, wanted)
        moved = zip(before, (it.x for rank in ranks for it in rank), strict=True)
        if max(abs(a - b) for a, b in moved) < 0.05:
            break


def _separate(rank: list[Item], wanted: list[tuple[float, float]]) -> None:
    """Put the items of a rank as near as possible to where they belong, in order, apart.

    Least squares under order constraints: neighbors that would overlap move as one.
    """
    offset = 0.0
    offsets: list[float] = []
    for one, other in pairwise([rank[0], *rank]):
        offset += 0 if not offsets else one.right + other.left + SPACE / (1 + other.lane + one.lane)
        offsets.append(offset)
    groups: list[list[float]] = []  # sum of weighted positions, weight, members
    for (x, weight), moved in zip(wanted, offsets, strict=True):
        groups.append([(x - moved) * weight, weight, 1])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            last = groups.pop()
            groups[-1] = [a + b for a, b in zip(groups[-1], last, strict=True)]
    at = [total / weight for total, weight, members in groups for _ in range(int(members))]
    for item, x, moved in zip(rank, at, offsets, strict=True):
        item.x = x + moved


def _up(ranks: list[list[Item]], edges: list[Edge]) -> float:
    """Set y, from the bottom up, and the arrows' points; return the height."""
    heights = [max(it.height for it in rank) for rank in ranks]
    gaps, tracks = _tracks(ranks, edges)
    total = sum(heights) + sum(gaps)
    y = total
    bottoms = []
    for rank, height, gap in zip(ranks, heights, [*gaps, 0.0], strict=True):
        bottoms.append(y)
        for item in rank:  # frames side by side begin at one height
            item.y = y - (height if height < 60 else item.height) / 2
            if _end(item, "in") and not item.beside:
                item.y = y
        y -= height + gap
    for edge in edges:
        path = [edge.start, *edge.lanes, edge.end]
        out = edge.start.x + edge.start.exits.get(edge.source, 0.0)
        edge.points = [(out, edge.start.y - edge.start.height / 2)]
        for one, other in pairwise(path):
            x = one.x if one.lane else out
            last = other is edge.end
            to = other.x + other.entries.get(edge.source, 0.0)
            if last and other.round and abs(x - to) > 1 and _free(ranks[other.rank], x, other):
                side = other.x + (other.width / 2) * (1 if x > other.x else -1)
                edge.points += [(x, other.y), (side, other.y)]
                continue
            if abs(x - to) > 0.5:
                turn = bottoms[one.rank] - heights[one.rank] - tracks[edge, one]
                edge.points += [(x, turn), (to, turn)]
            end = other.y + other.height / 2 if last else other.y
            edge.points.append((to, end))
    return total


def _free(rank: list[Item], x: float, target: Item) -> bool:
    """Whether nothing lies between x and an item, on its rank."""
    low, high = sorted((x, target.x))
    others = [it for it in rank if it is not target and not (it.lane and abs(it.x - x) < 1)]
    return all(it.x + it.right + 4 < low or it.x - it.left - 4 > high for it in others)


def _tracks(
    ranks: list[list[Item]], edges: list[Edge]
) -> tuple[list[float], dict[tuple[Edge, Item], float]]:
    """Return the gap above each rank, and how far above the rank an arrow turns.

    Arrows from different sources that would overlap turn at different heights.
    """
    turns: dict[int, dict[tuple[Item, int], list[tuple[Edge, Item, float, float]]]] = {}
    for edge in edges:
        path = [edge.start, *edge.lanes, edge.end]
        for one, other in pairwise(path):
            x = one.x + (0 if one.lane else one.exits.get(edge.source, 0.0))
            to = other.x + other.entries.get(edge.source, 0.0)
            if abs(x - to) <= 0.5:
                continue
            by_source = turns.setdefault(one.rank, {})
            by_source.setdefault((edge.start, edge.source), []).append((edge, one, x, to))
    gaps: list[float] = []
    found: dict[tuple[Edge, Item], float] = {}
    for rank in range(len(ranks) - 1):
        used: list[list[tuple[float, float]]] = []
        room = 14 if any(it.side for it in ranks[rank]) else 0
        for pieces in turns.get(rank, {}).values():
            low = min(min(x, to) for *_, x, to in pieces)
            high = max(max(x, to) for *_, x, to in pieces)
            track = next(
                (n for n, spans in enumerate(used) if all(high < a or b < low for a, b in spans)),
                len(used),
            )
            used[track:] = used[track:] or [[]]
            used[track].append((low - 6, high + 6))
            for edge, one, *_ in pieces:
                found[edge, one] = 10.0 + room + TRACK * track
        gaps.append(GAP + room + TRACK * max(0, len(used) - 1))
    return gaps, found
