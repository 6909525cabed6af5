"""The traced calls as parts to draw: what leads to the output, with repeated parts drawn once.

Layers that are alike and read each other's output are one part with a count, as are the steps of a
recurrent layer. Parts are alike if their calls, shapes and connections are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from torch import Tensor, nn

from lmcourse.evaluation.anatomy.calls import Call, tensors
from lmcourse.evaluation.anatomy.tracing import Tracer

BY_PRODUCTS = {"hidden_states", "attentions", "state", "terms"}


@dataclass(eq=False)
class Part:
    """A block of the drawing.

    Attributes:
        calls: the calls that it stands for, one for each repetition, outer repetitions first.
        parent: the part around it.
        children: the parts inside it.
        count: how often it is repeated in its parent.
        in_time: whether the repetitions are time steps.
        group: whether it is no call of its own, but a layer written out in the part around it; its
            output is that of its last call.
        number: its index among all parts.
        inputs: the indices of the parts that it reads, by the arguments' names.
    """

    calls: list[Call]
    parent: "Part | None" = None
    children: list["Part"] = field(default_factory=list)
    count: int = 1
    in_time: bool = False
    group: bool = False
    number: int = -1
    inputs: dict[str, list[int]] = field(default_factory=dict)

    @property
    def call(self) -> Call:
        """The first call."""
        return self.calls[0]

    @property
    def lineage(self) -> list["Part"]:
        """The parts around it, from the model, and itself."""
        return [*(self.parent.lineage if self.parent else []), self]

    def everything(self) -> Iterator["Part"]:
        """Yield the part and all parts inside it."""
        yield self
        for child in self.children:
            yield from child.everything()


@dataclass(frozen=True)
class Arrow:
    """A connection: ``end`` reads what ``start`` returns; of the previous time step if ``back``.

    ``name`` is what the code calls it, if it does.
    """

    start: int
    end: int
    back: bool = False
    name: str = ""


@dataclass
class Graph:
    """The parts in order, the connections of those without children, and the outputs by name."""

    model: nn.Module
    parts: list[Part]
    arrows: list[Arrow]
    outputs: dict[str, int]


def fold(model: nn.Module, tracer: Tracer, output: Any) -> Graph:
    """Return what to draw of one pass."""
    calls = tracer.calls
    results = _results(output, tracer, calls)
    alive = _ancestors(calls, [i for origins in results.values() for i in origins])
    for index in list(alive):
        parent = calls[index].parent
        while parent is not None and parent not in alive:
            alive.add(parent)
            parent = calls[parent].parent
    folder = _Folder(calls, alive)
    top = [c for c in calls if c.parent is None and c.index in alive]
    parts = [part for c in top for part in folder.part([c]).everything()]
    for number, part in enumerate(parts):
        part.number = number
    place = {c.index: (part, n) for part in parts for n, c in enumerate(part.calls)}
    arrows: dict[tuple[int, int, bool], str] = {}
    for part in parts:
        for n, call in enumerate(part.calls if not part.children else ()):
            for key, source in ((key, i) for key, it in call.sources.items() for i in it):
                start, m = place[source]
                group = _changing(start, m, part, n)
                if group is None or group.in_time:
                    ends = (start.number, part.number, group is not None)
                    arrows.setdefault(ends, key.rstrip(" 0123456789"))
    named = {name: place[origins[-1]][0].number for name, origins in results.items()}
    for part in parts:
        part.inputs = {
            name: [place[i][0].number for i in origins if i in place]
            for name, origins in part.call.sources.items()
            if not part.group
        }
    return Graph(model, parts, [Arrow(*ends, name) for ends, name in arrows.items()], named)


def _results(output: Any, tracer: Tracer, calls: Sequence[Call]) -> dict[str, tuple[int, ...]]:
    """Return the origins of the outputs, without what further outputs are computed from."""
    if isinstance(output, Tensor):
        named = {"output": output}
    elif hasattr(output, "items"):
        named = {k: v for k, v in output.items() if k not in BY_PRODUCTS and isinstance(v, Tensor)}
    else:
        named = {"output": next(tensors(output))}
    found = {name: tracer.origins[id(t)] for name, t in named.items() if id(t) in tracer.origins}
    final = [name for name in found if name == "loss" or name.endswith("logits")]
    used = _ancestors(calls, [s for n in final for i in found[n] for s in _sources(calls[i])])
    return {n: o for n, o in found.items() if n in final or not used.issuperset(o)}


def _sources(call: Call) -> Iterable[int]:
    return (i for origins in call.sources.values() for i in origins)


def _ancestors(calls: Sequence[Call], roots: Iterable[int]) -> set[int]:
    alive: set[int] = set()
    stack = list(roots)
    while stack:
        index = stack.pop()
        if index not in alive:
            alive.add(index)
            stack.extend(_sources(calls[index]))
    return alive


def _changing(start: Part, m: int, end: Part, n: int) -> Part | None:
    """Return the outermost part of which the two calls are different repetitions."""
    for group in end.lineage:
        if group not in start.lineage:
            return None
        if group.count > 1 and _repetition(group, start, m) != _repetition(group, end, n):
            return group
    return None


def _repetition(group: Part, part: Part, number: int) -> int:
    lineage = part.lineage
    inner = prod(it.count for it in lineage[lineage.index(group) + 1 :])
    return number // inner % group.count


class _Folder:
    """Finds the repetitions."""

    def __init__(self, calls: Sequence[Call], alive: set[int]) -> None:
        self.calls = calls
        self.inside: dict[int, list[Call]] = {}
        for call in calls:
            if call.parent is not None and call.index in alive:
                self.inside.setdefault(call.parent, []).append(call)
        for found in self.inside.values():  # tables are read in between, and belong before
            found.sort(key=lambda call: (call.kind not in ("table", "constant"), call.index))
        self.readers: dict[int, set[int]] = {}
        for index in alive:
            for source in _sources(calls[index]):
                self.readers.setdefault(source, set()).add(index)
        self._signatures: dict[int, Any] = {}

    def signature(self, call: Call) -> Any:
        """Return what must be equal in repetitions."""
        if call.index not in self._signatures:
            shapes = [tuple(p.shape) for p in call.module.parameters()] if call.module else []
            self._signatures[call.index] = (
                *(call.kind, type(call.module), call.name if call.module is None else ""),
                *(() if call.output is None else tuple(call.output.shape)),
                *(tuple(shapes), len(call.parameters)),
                tuple(self.signature(child) for child in self.inside.get(call.index, ())),
            )
        return self._signatures[call.index]

    def part(self, instances: list[Call], parent: Part | None = None) -> Part:
        """Return the part that stands for these calls, which are alike."""
        part = Part(instances, parent)
        rows = [self.inside.get(call.index, []) for call in instances]
        at = 0
        for period, count in self._runs(rows[0]):
            columns = [
                [row[at + offset + r * period] for row in rows for r in range(count)]
                for offset in range(period)
            ]
            at += period * count
            if period > 1:  # a layer that has no module of its own
                layer = Part(columns[-1], part, count=count, group=True)
                layer.children = [self.part(column, layer) for column in columns]
                part.children.append(layer)
                continue
            child = self.part(columns[0], part)
            child.count, child.in_time = count, count > 1 and child.call.kind == "step"
            part.children.append(child)
        return part

    def _runs(self, row: list[Call]) -> Iterator[tuple[int, int]]:
        """Yield (period, count) of the repetitions in the order of the calls; (1, 1) of others."""
        signatures = [self.signature(call) for call in row]
        reads = self._reads(row)
        at = 0
        while at < len(row):
            best = (1, 1)
            for period in range(1, (len(row) - at) // 2 + 1):
                if not any(self.inside.get(c.index) for c in row[at : at + period]):
                    continue
                count = 1
                while self._again(signatures, reads, at, period, count):
                    count += 1
                longer = count > 1 and period * count > best[0] * best[1]
                if longer and self._alone(row, at, period, count):
                    best = (period, count)
            yield best
            at += best[0] * best[1]

    @staticmethod
    def _again(signatures: Any, reads: Any, start: int, period: int, count: int) -> bool:
        """Whether the calls after ``count`` repetitions are one more."""
        first = start + count * period
        chained = False
        for at in range(first, first + period):
            if at >= len(signatures) or signatures[at] != signatures[at - period]:
                return False
            own = {at - it for it in reads[at] if isinstance(it, int) and it >= first}
            before = {
                at - period - it
                for it in reads[at - period]
                if isinstance(it, int) and it >= first - period
            }
            outside = {it for it in reads[at] if not isinstance(it, int) or it < start}
            if own != before or not outside <= reads[at - period]:
                return False
            chained |= any(isinstance(it, int) and start <= it < first for it in reads[at])
        return chained

    def _alone(self, row: list[Call], start: int, period: int, count: int) -> bool:
        """Whether only the next repetition reads what a layer returns; steps are read by all."""
        if row[start].kind == "step":
            return True
        last = start + period * (count - 1)
        inner = {i for call in row[start:last] for i in self._descendants(call)}
        final = {i for call in row[last : last + period] for i in self._descendants(call)}
        return all(self.readers.get(i, set()) <= inner | final for i in inner)

    def _reads(self, row: list[Call]) -> list[set[Any]]:
        """Return what each call reads: positions in the row, or calls elsewhere, as strings."""
        home = {index: at for at, call in enumerate(row) for index in self._descendants(call)}
        found = []
        for at, call in enumerate(row):
            sources = {i for index in self._descendants(call) for i in _sources(self.calls[index])}
            found.append({home.get(i, f"{i}") for i in sources if home.get(i) != at})
        return found

    def _descendants(self, call: Call) -> Iterator[int]:
        yield call.index
        for child in self.inside.get(call.index, ()):
            yield from self._descendants(child)
