"""Anatomy: a model drawn from one forward pass, from its layers down to one number."""

import re
from dataclasses import replace
from typing import Any, ClassVar

import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.anatomy_data import Block, Drawing
from lmcourse.widgets.anatomy_marks import GONE, View, written
from lmcourse.widgets.anatomy_svg import svg
from lmcourse.widgets.anatomy_view import views
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import index_below, within

MOST_MODELS = 3
OPTIONAL = ("block", "row", "column")


class Anatomy(Widget):
    """The blocks of a model, their connections, shapes, parameters, equations, code and numbers.

    `lmcourse.evaluation.anatomy.anatomy` reads them off one pass of any model:

        Anatomy(anatomy(model, tokens=tokens, input_ids=ids))
        Anatomy(anatomy(bert, input_ids=ids), anatomy(albert, input_ids=ids))

    Several models are drawn side by side, and what differs from the first is marked. A block is
    opened by a second click. Settings are traits.

    Args:
        drawings: one to three models.
        inside: the block whose inside is shown, by its index or its path; -1: the whole model.
        block: the selected block, by its index or its path; None: none.
        model: the model that ``inside`` and ``block`` belong to, from 0.
        layer: which repetition the numbers are from, from 0.
        head: which head, or another leading axis, the numbers are from.
        row, column: the number whose computation is shown; None: none.

    Raises:
        CourseError: there are no drawings or too many; a setting is out of range; there is too much
            data for a page.
    """

    _esm = module("anatomy")
    title: ClassVar[str] = "Anatomy"
    lighter: ClassVar[str] = "Call anatomy(…, most=50_000), or draw fewer models."

    models: Any = traitlets.List().tag(sync=True, data=True)
    inside = traitlets.Int(-1).tag(sync=True)
    block = traitlets.Int(None, allow_none=True).tag(sync=True)
    model = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    row = traitlets.Int(None, allow_none=True).tag(sync=True)
    column = traitlets.Int(None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        *drawings: Drawing,
        inside: int | str = -1,
        block: int | str | None = None,
        model: int = 0,
        layer: int = 0,
        head: int = 0,
        row: int | None = None,
        column: int | None = None,
    ) -> None:
        if not 1 <= len(drawings) <= MOST_MODELS or not all(
            isinstance(it, Drawing) for it in drawings
        ):
            raise CourseError(
                f"Anatomy draws 1 to {MOST_MODELS} results of anatomy(…), not {len(drawings)} "
                f"({', '.join(type(it).__name__ for it in drawings)}).",
                "Pass anatomy(model, input_ids=ids), of lmcourse.evaluation.anatomy.",
            )
        within("model", model, 0, len(drawings) - 1)
        # copies: a comparison marks the blocks
        drawings = tuple(
            replace(it, blocks=[replace(b, mark="") for b in it.blocks]) for it in drawings
        )
        self._drawings = drawings
        self._same = [_compare(drawings[0], it) if n else {} for n, it in enumerate(drawings)]
        self._views = [views(it) for it in drawings]
        super().__init__(
            **self.hold({f"numbers {n}": it.values for n, it in enumerate(drawings)}),
            models=[self._packed(n) for n in range(len(drawings))],
            model=model,
            inside=_found(drawings[model], "inside", inside),
            block=None if block is None else _found(drawings[model], "block", block),
            layer=layer,
            head=head,
            row=row,
            column=column,
        )

    def _packed(self, number: int) -> dict[str, Any]:
        drawing = self._drawings[number]
        return {
            "title": drawing.title,
            "tokens": drawing.tokens,
            "sources": [list(it) for it in drawing.sources],
            "blocks": [_block(drawing, i) for i in range(len(drawing.blocks))],
            "views": {
                str(i): [it.width, it.height, it.marks] for i, it in self._views[number].items()
            },
            "same": {str(i): j for i, j in self._same[number].items()},
        }

    def shown(self) -> list[tuple[str, View]]:
        """The title and the picture of each model, as the settings say."""
        base = {j: i for i, j in self._same[self.model].items()} if self.model else None
        found = []
        for n, drawing in enumerate(self._drawings):
            view = self.inside
            if n != self.model and view >= 0:
                first = view if base is None else base.get(view, -1)
                view = self._same[n].get(first, -1) if n else first
            found.append((drawing.title, self._views[n].get(view, self._views[n][-1])))
        return found

    def svg(self) -> str:
        """Return the figure without a page around it, for print and slides."""
        return svg(self.shown(), self.alt)

    @property
    def alt(self) -> str:
        """A description of the figure at the present settings."""
        drawing = self._drawings[self.model]
        blocks = drawing.blocks
        said = [f"Anatomy of {' and '.join(it.title for it in self._drawings)}."]
        where = (
            "the whole model"
            if self.inside < 0
            else f"the inside of {_named(drawing, self.inside)}"
        )
        marks = self._views[self.model][self.inside].marks
        found = sorted(it[1] for it in marks if it[0] in ("box", "circle"))
        names = ", ".join(_in_words(blocks[i]) for i in found)
        said.append(f"Shown is {where}, in the order of the pass: {names}.")
        differing = [b for i in found if (b := blocks[i]).mark]
        if differing:
            said.append(f"Marked: {', '.join(f'{it.label} ({it.mark})' for it in differing)}.")
        if self.block is not None:
            said.append(
                f"Selected: {_named(drawing, self.block)}, {written(blocks[self.block].shape)}."
            )
        return " ".join(said)

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**options)
        return {**data, "image/svg+xml": self.svg()}, metadata

    @traitlets.validate("inside", "block", "model", "layer", "head", "row", "column")
    def _setting_is_one(self, proposal: Any) -> int | None:
        name, value = proposal["trait"].name, proposal["value"]
        if name in OPTIONAL and value is None:
            return None
        if name == "inside":
            known = self._views[self.model]
            if value not in known:
                raise CourseError(
                    f"inside is {value}, and this block has no inside.",
                    f"Choose one of {', '.join(map(str, known))}.",
                )
            return int(value)
        counts = {"block": len(self._drawings[self.model].blocks), "model": len(self._drawings)}
        return index_below(name, value, counts.get(name, 1000))


def _block(drawing: Drawing, index: int) -> dict[str, Any]:
    it = drawing.blocks[index]
    return {
        "parent": it.parent,
        "label": it.label,
        "listed": _in_words(it),
        "named": _named(drawing, index),
        "shape": list(it.shape),
        "slices": "Head" if _attends(drawing, index) else "Slice",
        "equation": it.equation,
        "sources": list(it.sources),
        "numbers": it.numbers,
        "facts": [list(fact) for fact in _facts(drawing, index) if fact[1]],
        "mark": it.mark,
    }


def _attends(drawing: Drawing, index: int) -> bool:
    return any(drawing.blocks[i].kind == "attention" for i in drawing.lineage(index))


def _facts(drawing: Drawing, index: int) -> list[tuple[str, str]]:
    it = drawing.blocks[index]
    inner = [i for i in range(len(drawing.blocks)) if index in drawing.lineage(i)]
    reads = [a for a, b, *_ in drawing.arrows if b in inner and a not in inner]
    output = written(it.shape)
    if it.range:
        low, mean, high = (f"{x:.3g}".replace("-", "−") for x in it.range)
        output += f", from {low} to {high}, mean {mean}"
    how = ", once for each time step" if it.in_time else ""
    how = ", with the same parameters" if it.shared else how
    return [
        ("Output", output),
        ("Reads", ", ".join(dict.fromkeys(drawing.blocks[i].label for i in reads))),
        ("Repeated", f"{it.count} times{how}" if it.count > 1 else ""),
        ("Parameters", _counted(it.parameters, it.total)),
        (drawing.paper, _counted(*it.paper) if it.paper else ""),
        ("Same parameters in", ", ".join(it.tied)),
        ("Compared", it.mark),
    ]


def _counted(each: int, total: int) -> str:
    if not total:
        return ""
    return f"{each:,}" if each == total else f"{each:,} each, {total:,} in all"


def _found(drawing: Drawing, name: str, value: int | str) -> int:
    """Return the index of a block that is named by its path."""
    if not isinstance(value, str):
        return value
    paths = [it.path for it in drawing.blocks]
    if value not in paths:
        raise CourseError(
            f"{drawing.title} has no {name} {value!r}.",
            f"Choose one of {', '.join(it for it in dict.fromkeys(paths) if it)}.",
        )
    return paths.index(value)


def _named(drawing: Drawing, index: int) -> str:
    it = drawing.blocks[index]
    return f"{it.label} ({it.path})" if it.path and it.path != it.label else it.label


def _in_words(block: Block) -> str:
    times = f", {block.count} times" if block.count > 1 else ""
    return f"{block.label} ({written(block.shape)}{times})"


def _compare(first: Drawing, other: Drawing) -> dict[int, int]:
    """Mark what differs between two models; return the counterparts of the first's blocks."""
    same = _matched(first, other)
    for drawing, mark, known in (first, GONE, set(same)), (other, "new", set(same.values())):
        for n, block in enumerate(drawing.blocks):
            if n not in known and _is_box(drawing, n):
                block.mark = mark
    for i, j in same.items():
        a, b = first.blocks[i], other.blocks[j]
        if a.count != b.count and not a.in_time:
            b.mark = f"{b.count} instead of {a.count}"
        elif _shares(other, j) and not _shares(first, i) and b.parameters and _is_box(other, j):
            b.mark = "shared"
        elif a.parameters != b.parameters and a.parameters and _is_box(other, j):
            b.mark = f"× {b.parameters / a.parameters:.2g}"
    paths = {it.path: j for j, it in enumerate(other.blocks) if other.children(j)}
    for i, block in enumerate(first.blocks):
        if i not in same and first.children(i) and block.path in paths:
            same[i] = paths[block.path]
    models = [next(i for i, it in enumerate(d.blocks) if d.children(i)) for d in (first, other)]
    return same | {models[0]: models[1]}


def _matched(first: Drawing, other: Drawing) -> dict[int, int]:
    """Return the blocks that two models have in common: first those that read the same."""
    same: dict[int, int] = {}
    for reads in (True, False):
        places: dict[Any, tuple[list[int], list[int]]] = {}
        for side, drawing, known in (0, first, set(same)), (1, other, set(same.values())):
            for n, key in enumerate(_keys(drawing, reads)):
                if n not in known:
                    places.setdefault(key, ([], []))[side].append(n)
        for pair in places.values():
            same |= dict(zip(*pair, strict=False))
    return same


def _keys(drawing: Drawing, reads: bool) -> list[Any]:
    """Return what is equal in counterparts: kind and label, without numbers, and what is read."""
    labels = [re.sub(r"[\d.]+", "", it.label) for it in drawing.blocks]
    keys: list[Any] = [[it.kind, label] for it, label in zip(drawing.blocks, labels, strict=True)]
    for start, end, *_ in drawing.arrows if reads else ():
        keys[end].append(labels[start])
    return [tuple(key) for key in keys]


def _is_box(drawing: Drawing, index: int) -> bool:
    return drawing.blocks[index].closed or not drawing.children(index)


def _shares(drawing: Drawing, index: int) -> bool:
    return any(drawing.blocks[i].shared for i in drawing.lineage(index))
