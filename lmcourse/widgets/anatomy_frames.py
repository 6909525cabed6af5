"""What a view of a model shows: which blocks are open, and which arrows enter and leave them."""

from typing import Any

from lmcourse.widgets.anatomy_data import Drawing
from lmcourse.widgets.anatomy_marks import written

MOST = 34  # blocks in a view; what is deeper opens with a click


class Frames:
    """The blocks inside one of a drawing, and around each other."""

    def __init__(self, drawing: Drawing, root: int) -> None:
        self.drawing, self.blocks, self.root = drawing, drawing.blocks, root
        self.lines = {i: drawing.lineage(i) for i in range(len(self.blocks))}
        self.open = self.opened()

    def within(self, index: int) -> list[int]:
        """Return the blocks directly inside; the model's own frame is left out."""
        found = self.drawing.children(index)
        if index < 0:
            found = [j for i in found for j in (self.drawing.children(i) or [i])]
        return [self.only(i) for i in found]

    def only(self, index: int) -> int:
        """Return the one block inside of a block that has no other, for a frame less."""
        inner = self.drawing.children(index)
        alone = len(inner) == 1 and self.drawing.children(inner[0])
        return self.only(inner[0]) if alone else index

    def opened(self) -> set[int]:
        """Return the blocks that are drawn as frames, from outside while there is room."""
        waiting, opened = list(self.within(self.root)), set()
        count = len(waiting)
        while waiting:
            index = waiting.pop(0)
            inner = self.within(index)
            block = self.blocks[index]
            closed = block.closed and not (block.in_time and len(waiting) < 4)
            if not inner or closed or count + len(inner) > MOST:
                continue
            opened.add(index)
            waiting += inner
            count += len(inner) - 1
        return opened

    def connections(self, index: int, within: set[int]) -> tuple[Any, Any, Any]:
        """Return the arrows inside a frame, and those that enter and leave it."""
        pairs: dict[tuple[int, int, int], None] = {}
        readers: dict[int, set[int]] = {}
        ends: dict[tuple[tuple[str, int], int], None] = {}
        for start, end, back, _ in self.drawing.arrows:
            a, b = self.lifted(start, within), self.lifted(end, within)
            around = back and index >= 0 and self.loops(index, start, end)
            if (back or a == b) and not around and a is not None and b is not None:
                continue
            if a is not None and b is not None and not around:
                pairs[a, b, start] = None
                continue
            if a is not None:
                ends[("out", start), a] = None
            if b is not None:
                readers.setdefault(start, set()).add(b)
        for number in self.drawing.outputs.values():
            if (a := self.lifted(number, within)) is not None:
                ends[("out", number), a] = None
        return [*pairs], readers, [*ends]

    def aside(self, pairs: list[tuple[int, int, int]]) -> dict[int, frozenset[int]]:
        """Return for each block what it reads of a block beside it, as a decoder of its encoder."""
        before: dict[int, set[int]] = {}
        for a, b, _ in pairs:
            before.setdefault(b, set()).add(a)

        def ancestors(i: int) -> set[int]:
            return {i}.union(*(ancestors(j) for j in before.get(i, ())))

        found: dict[int, frozenset[int]] = {}
        for a, b, start in pairs:
            independent = [
                j for j in before[b] - {a} if a not in ancestors(j) and j not in ancestors(a)
            ]
            inner = self.drawing.children
            if inner(a) and inner(b) and independent:
                found[b] = found.get(b, frozenset()) | {start}
        return found

    def loops(self, index: int, start: int, end: int) -> bool:
        """Whether a block is the time step that the arrow goes around."""
        return (
            self.blocks[index].in_time and index in self.lines[start] and index in self.lines[end]
        )

    def lifted(self, index: int, within: set[int]) -> int | None:
        return next((i for i in self.lines[index] if i in within), None)

    def recurs(self, index: int) -> bool:
        return self.blocks[index].in_time or any(
            self.blocks[i].in_time and index in self.lines[i] for i in range(len(self.blocks))
        )

    def changes(self, index: int) -> bool:
        """Whether a block's output has another shape than its input."""
        block = self.blocks[index]
        before = {
            self.blocks[start].shape
            for start, end, back, _ in self.drawing.arrows
            if index in self.lines[end] and index not in self.lines[start] and not back
        }
        return before != {block.shape}

    def shown(self, index: int) -> bool:
        """Whether the arrows at the edge of a frame have names."""
        return index == self.root or self.blocks[index].in_time

    def port_in(self, index: int, starts: tuple[int, ...]) -> str:
        """Return the name of what a block reads, and its shape."""
        block, ends = self.blocks[index], self.drawing.arrows
        names = [name for name, origins in block.inputs.items() if set(starts) & set(origins)]
        names += [n for a, b, _, n in ends if a in starts and index in self.lines[b]]
        known = next((it for it in names if it and not it.isdigit()), "")
        if block.in_time:
            loops = any(a in starts and back for a, _, back, _ in ends)
            return f"{known}ₜ₋₁" if loops else ""
        shape = written(self.blocks[starts[0]].shape)
        return f"{known}, {shape}" if known else shape

    def port_out(self, index: int, start: int) -> str:
        """Return the name of what a block returns."""
        if index >= 0 and self.blocks[index].in_time:
            names = [n for a, _, back, n in self.drawing.arrows if a == start and back and n]
            return f"{names[0]}ₜ" if names else ""
        if index != self.root:
            return ""
        return ", ".join(
            n.replace("_", " ") for n, it in self.drawing.outputs.items() if it == start
        )
