"""The views of a model: what is drawn when a block is opened, as boxes, paths and words.

Both the page and the static picture draw what is computed here.
"""

from typing import Any

from lmcourse.widgets.anatomy_data import Block, Drawing
from lmcourse.widgets.anatomy_frames import Frames
from lmcourse.widgets.anatomy_layout import Edge, Item, place, text_width
from lmcourse.widgets.anatomy_marks import (
    GONE,
    View,
    extent,
    head,
    in_lines,
    rounded,
    shifted,
    written,
)

PAD, HEAD, BRACKET, LOOP, MARGIN = 9, 19, 28, 22, 8


def view(drawing: Drawing, root: int) -> View:
    """Return the picture of the blocks inside one; -1: of the whole model."""
    return _Painter(drawing, root).view()


def views(drawing: Drawing) -> dict[int, View]:
    """Return all pictures, by the block that they show the inside of."""
    roots = [i for i in range(len(drawing.blocks)) if drawing.children(i)]
    models = {i for i in roots if drawing.blocks[i].parent < 0}
    return {-1: view(drawing, -1), **{i: view(drawing, i) for i in roots if i not in models}}


class _Painter(Frames):
    def view(self) -> View:
        """Lay out and draw."""
        _, _, marks = self._frame(self.root, self.within(self.root), frozenset())
        boxes = [extent(it) for it in marks]
        left, top = min(it[0] for it in boxes) - MARGIN, min(it[1] for it in boxes) - MARGIN
        right, bottom = max(it[2] for it in boxes) + MARGIN, max(it[3] for it in boxes) + MARGIN
        moved = shifted(marks, -left, -top)
        return View(round(right - left), round(bottom - top), [rounded(it) for it in moved])

    def _frame(
        self, index: int, inner: list[int], beside: frozenset[int]
    ) -> tuple[float, float, list[list[Any]]]:
        """Return the size and the marks of what is inside a block.

        Args:
            beside: sources whose arrows enter at the left edge.
        """
        pairs, readers, ends = self.connections(index, set(inner))
        aside = self.aside(pairs)
        parts = {i: self._item(i, aside.get(i, frozenset()) | beside) for i in inner}
        items: dict[Any, Item] = {i: item for i, (item, _) in parts.items()}
        edges = [
            Edge(items[a], items[b], s) for a, b, s in pairs if s not in aside.get(b, frozenset())
        ]
        merged: dict[Any, tuple[int, ...]] = {}
        for start, read in readers.items():
            key = (frozenset(read), start in beside)
            merged[key] = (*merged.get(key, ()), start)
        passing = []
        for (read, at_left), starts in merged.items():
            frame = items[next(iter(read))]
            if at_left and len(read) == 1 and starts[0] in frame.heights:
                passing.append((Item(("in", starts), 0, 0, beside=True), frame))
                continue
            item = items["in", starts] = Item(("in", starts), 12, 0, beside=at_left)
            item.side = 6 + text_width(self.port_in(index, starts), 10) if self.shown(index) else 0
            edges += [Edge(item, items[b], start) for b in read for start in starts]
        for key, a in ends:
            item = items.setdefault(
                key, Item(key, max(12, text_width(self.port_out(index, key[1]))), 0)
            )
            edges.append(Edge(items[a], item, key[1]))
        width, height = place([*items.values()], edges)
        lines = [mark for edge in edges for mark in self._arrow(edge, index)]
        marks: list[list[Any]] = []
        for i in inner:
            item, own = parts[i]
            corner = (item.x - item.width / 2, item.y - item.height / 2)
            lines += [it for s in aside.get(i, ()) for it in self._hook(items, pairs, i, s)]
            hooked = any(a == i and s in aside.get(b, ()) for a, b, s in pairs)
            marks += [*shifted(own, *corner), *self._shape(item, i, hooked)]
        self.ports = [item for item in items.values() if isinstance(item.key, tuple)]
        for item, frame in passing:
            item.x = frame.x - frame.width / 2 + frame.inset
            item.y = frame.y + frame.heights[item.key[1][0]]
            self.ports.append(item)
        for item in self.ports:
            marks += self._end(index, item)
        return width, height, lines + marks

    def _hook(self, items: dict[Any, Item], pairs: Any, index: int, source: int) -> list[list[Any]]:
        """Return the arrow from the top of a block to the side of the one beside it."""
        start = next(items[a] for a, b, s in pairs if b == index and s == source)
        end = items[index]
        x, top = start.x + start.exits.get(source, 0.0), start.y - start.height / 2
        y = end.y + end.heights.get(source, 0.0)
        left = end.x - end.width / 2 + (end.inset if source in end.heights else 0)
        turn = max(start.x + start.right, left - 24) + 8
        points = [(x, top), (x, top - 12), (turn, top - 12), (turn, y), (left, y)]
        marks: list[list[Any]] = [["path", points, "line"]]
        if source not in end.heights:
            marks.append(["path", head(points[-2], points[-1]), "head"])
        return marks

    def _item(self, index: int, beside: frozenset[int]) -> tuple[Item, list[list[Any]]]:
        """Return a block's item, and its marks from its upper left corner."""
        block = self.blocks[index]
        if index in self.open:
            return self._opened_item(index, block, beside)
        look = "" if not block.mark else "gone" if block.mark == GONE else "new"
        if len(block.label) == 1 and block.kind == "plain":
            item = Item(index, 22, 22, round=True)
            marks = [
                ["circle", index, 0, 0, 22, 22, block.kind, look],
                ["text", 11, 15.5, block.label, "sign"],
            ]
        else:
            lines = in_lines(block.label)
            width = max(46.0, max(text_width(it) for it in lines) + 18)
            height = 26 if len(lines) == 1 else 40
            item = Item(index, width, height)
            marks = [["box", index, 0, 0, width, height, block.kind, look]]
            marks += [
                ["text", width / 2, height / 2 + 4.5 + 14 * (n - (len(lines) - 1) / 2), it, "name"]
                for n, it in enumerate(lines)
            ]
        edge = item.width
        if block.count > 1 or self.recurs(index):
            marks += self._repeated(block, item.width, item.height)
            count = text_width(f"× {block.count}") if block.count > 1 else 0
            edge += LOOP + count - 4
            item.side = edge - item.width / 2
        if self.changes(index):
            item.side = max(item.side, 6 + text_width(written(block.shape), 10))
        if block.mark:
            wide = text_width(block.mark, 10.5)
            at = (4 - wide, -1) if item.round else (edge + 4, item.height / 2 + 4)
            marks.append(["text", *at, block.mark, "mark"])
            item.side = max(item.side, 0 if item.round else edge - item.width / 2 + 6 + wide)
        return item, marks

    def _opened_item(
        self, index: int, block: Block, beside: frozenset[int]
    ) -> tuple[Item, list[list[Any]]]:
        width, height, inner = self._frame(index, self.within(index), beside)
        ports = self.ports
        bracket = BRACKET if block.count > 1 and not block.in_time else 0
        left = 0 if beside else bracket
        label = f"{block.label}, {block.mark}" if block.mark else block.label
        title = text_width(label, 11.5) + 24
        exits = [it.x for it in ports if it.key[0] == "out"]
        shift = PAD + max(0.0, min(title - PAD - min(exits), title + max(exits) - width - PAD))
        room = max(shift + width + PAD, title)
        at_right = min(exits) + shift < title
        room = max(room, max(exits) + shift + title) if at_right else room
        high = height + HEAD
        marks: list[list[Any]] = [["frame", index, left, 0, room, high, "plain", ""]]
        marks.append(["text", left + (room - title + 14 if at_right else 9), 14, label, "title"])
        for it in ports:
            if it.key[0] == "out":
                x = left + shift + it.x
                marks.append(["path", [(x, HEAD), (x, 0)], "line"])
            elif it.beside:
                marks.append(
                    ["path", [(left, HEAD + it.y), (left + shift + it.x, HEAD + it.y)], "line"]
                )
        marks += shifted(inner, left + shift, HEAD)
        if bracket:
            x, sign = (left - 8, -1) if left else (room + 8, 1)
            points = [(x, 6), (x + 5 * sign, 6), (x + 5 * sign, high - 6), (x, high - 6)]
            marks.append(["path", points, "bracket"])
            look = "count" if left else "times"
            marks.append(["text", x + 9 * sign, high / 2 + 4, f"{block.count} ×", look])
            if block.shared:
                marks.append(["text", x + 9 * sign, high / 2 + 18, "shared", look + " small"])
        elif block.in_time:
            marks += self._repeated(block, room, high)
        total = room + bracket + (LOOP + 20 if block.in_time else 0)
        item = Item(index, total, high)
        item.inset = left
        for it in ports:
            for source in it.key[1] if it.key[0] == "in" else [it.key[1]]:
                x = left + shift + it.x - total / 2
                if it.beside:
                    item.heights[source] = HEAD + it.y - high / 2
                else:
                    (item.exits if it.key[0] == "out" else item.entries)[source] = x
        return item, marks

    def _repeated(self, block: Block, width: float, height: float) -> list[list[Any]]:
        """Return the loop of a recurrent block, and how often any block is repeated."""
        low, high = height * 0.72, height * 0.28
        out = width + 13
        marks: list[list[Any]] = []
        if block.in_time or block.count == 1:
            marks.append(["path", [(width, high), (out, high), (out, low), (width, low)], "line"])
            marks.append(["path", head((out, low), (width, low)), "head"])
        if block.count > 1:
            marks.append(["text", out + 5, height / 2 + 4, f"× {block.count}", "times"])
        return marks

    def _shape(self, item: Item, index: int, hooked: bool) -> list[list[Any]]:
        """Return the shape of a block's output, beside the arrow that begins there."""
        block = self.blocks[index]
        if index in self.open or not self.changes(index):
            return []
        x = item.x - 7 - text_width(written(block.shape), 10.5) if hooked else item.x + 5
        return [["text", x, item.y - item.height / 2 - 5, written(block.shape), "shape"]]

    def _end(self, index: int, item: Item) -> list[list[Any]]:
        """Return the words at the end of an arrow at the edge of a frame."""
        which, key = item.key
        if not self.shown(index):
            return []
        if which == "in":
            return [["text", item.x + 6, item.y - 4, self.port_in(index, key), "shape"]]
        at = (
            (item.x, item.y - 5, "out") if index == self.root else (item.x + 6, item.y + 9, "shape")
        )
        return [["text", *at[:2], self.port_out(index, key), at[2]]]

    def _arrow(self, edge: Edge, index: int) -> list[list[Any]]:
        marks: list[list[Any]] = [["path", edge.points, "line"]]
        ends_here = isinstance(edge.end.key, int) and edge.source not in edge.end.entries
        if ends_here or (isinstance(edge.end.key, tuple) and index == self.root):
            marks.append(["path", head(edge.points[-2], edge.points[-1]), "head"])
        return marks
