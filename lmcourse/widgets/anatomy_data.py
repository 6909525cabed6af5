"""What the widget Anatomy draws: the blocks of a model, their connections, and their numbers."""

from dataclasses import dataclass, field
from typing import Any

from lmcourse.widgets.packing import Array


@dataclass
class Block:
    """One module, step or function, or several alike.

    Attributes:
        parent: the index of the block around it; -1: none.
        kind: a key of `lmcourse.style.PARTS`.
        label: its name in the drawing.
        path: the module's name in the model, or the function's.
        what: its class or function.
        inputs: the indices of the blocks that it reads, by the arguments' names.
        shape: of its output, without the axis of the batch.
        count: how often it is repeated in the block around it.
        in_time: whether the repetitions are time steps.
        closed: whether it is drawn as one box in the views of the blocks around it.
        parameters: the number in one repetition.
        total: the number in all repetitions; shared ones count once.
        paper: the same two numbers at the size of the publication; None: unknown.
        shared: whether repetitions share the parameters.
        tied: the paths of other blocks that use the same parameters.
        equation: what it computes.
        sources: indices of its definition and of the expression that calls it.
        numbers: for each repetition of the layers around it, arrays by name: offset and shape.
        range: minimum, mean and maximum of its output.
        mark: how it differs from its counterpart in another model.
    """

    parent: int
    kind: str
    label: str
    path: str
    what: str
    inputs: dict[str, list[int]]
    shape: tuple[int, ...]
    count: int = 1
    in_time: bool = False
    closed: bool = False
    parameters: int = 0
    total: int = 0
    paper: tuple[int, int] | None = None
    shared: bool = False
    tied: tuple[str, ...] = ()
    equation: str = ""
    sources: tuple[int, ...] = ()
    numbers: list[dict[str, Any]] = field(default_factory=list)
    range: tuple[float, float, float] | None = None
    mark: str = ""


@dataclass
class Drawing:
    """A model as `lmcourse.evaluation.anatomy.anatomy` reads it.

    Attributes:
        title: the model's name.
        paper: the name of the published configuration.
        tokens: the text that it read.
        blocks: from outside to inside, in the order of the pass.
        arrows: (from, to, whether from the previous time step, the value's name), between blocks
            without blocks inside.
        outputs: the blocks that compute the outputs, by name.
        sources: (file, first line, text) of the code.
        values: the numbers that the blocks refer to.
    """

    title: str
    paper: str
    tokens: list[str]
    blocks: list[Block]
    arrows: list[tuple[int, int, bool, str]]
    outputs: dict[str, int]
    sources: list[tuple[str, int, str]]
    values: Array

    def children(self, index: int) -> list[int]:
        """Return the blocks directly inside one."""
        return [i for i, block in enumerate(self.blocks) if block.parent == index]

    def lineage(self, index: int) -> list[int]:
        """Return the blocks around one, from outside, and itself."""
        found = [index]
        while (index := self.blocks[index].parent) >= 0:
            found.append(index)
        return found[::-1]
