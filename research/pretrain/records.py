"""The record next to each checkpoint: how it was trained, and its scores.

``data/checkpoints/NAME.json`` is a `Record`. Whoever wants to know how a model was trained, or to
train it again, finds all of it there; tables are made from it alone (`research.pretrain.tables`).
"""

import hashlib
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import torch

from lmcourse import files
from lmcourse.errors import CourseError
from lmcourse.evaluation import GapTable
from lmcourse.evaluation.phenomena import ALL
from lmcourse.evaluation.probes import HeadProbe
from lmcourse.evaluation.uncertainty import Score
from lmcourse.models.checkpoint import Model

POINTS = 200  # of a curve
Curve = list[tuple[int, float]]
"""(step, loss in nats)."""


class Number(msgspec.Struct, frozen=True):
    """A score with its standard error and its 95 % interval; None is what JSON has no number for:
    an infinite loss, the error of one review alone."""

    value: float | None
    error: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.value is None:
            return "∞"
        return str(Score(*(float("nan") if it is None else it for it in self._all)))

    @property
    def _all(self) -> tuple[float | None, ...]:
        return (self.value, self.error, self.low, self.high)


class Measured(msgspec.Struct, frozen=True):
    """One model in one row: see `GapTable`."""

    loss: Number
    difference: Number
    gap: Number


class Row(msgspec.Struct, frozen=True):
    """One phenomenon."""

    phenomenon: str
    tokens: int
    floor: Number
    models: dict[str, Measured]


class Table(msgspec.Struct, frozen=True):
    """A gap table: how far models are above BookWorld's floor, by phenomenon.

    Attributes:
        saw_targets: the models to which the targets were visible (`GapTable.saw_targets`).
    """

    kind: str
    reviews: int
    rows: list[Row]
    saw_targets: list[str]

    def row(self, phenomenon: str = ALL) -> Row:
        """The row of a phenomenon; that of all tokens."""
        return next(row for row in self.rows if row.phenomenon == phenomenon)

    def own(self, name: str) -> Measured | None:
        """What the model so named has over all tokens, or the part of it: "NAME, part".

        None if all that is measured is another model, or is not shipped.
        """
        found = (one for it, one in self.row().models.items() if it.split(", ")[0] == name)
        return next(found, None)


class Head(msgspec.Struct, frozen=True):
    """The head that finds best what words are linked to: see `HeadProbe`, whose names these are."""

    layer: int
    head: int
    score: Number
    offset: int
    baseline: Number
    chance: float
    links: int


class Scores(msgspec.Struct, frozen=True):
    """What a model is worth.

    Attributes:
        table: its gap table; None if it predicts no words.
        others: what else was measured, by what it is.
        heads: the best attention head for each kind of link.
    """

    table: Table | None = None
    others: dict[str, Number] = {}
    heads: dict[str, Head] = {}

    @classmethod
    def of(
        cls,
        table: GapTable | None,
        others: Mapping[str, Score] | None = None,
        heads: Mapping[str, HeadProbe] | None = None,
    ) -> "Scores":
        """Scores as `lmcourse.evaluation` gives them."""
        found: dict[str, Any] = {"table": None, "others": {}, "heads": {}}
        if table is not None:
            saw = [name for name in table.models if table.saw_targets(name)]
            found["table"] = table_numbers(table) | {"saw_targets": saw}
        found["others"] = {name: score._asdict() for name, score in (others or {}).items()}
        for name, probe in (heads or {}).items():
            every = {part: getattr(probe, part) for part in Head.__struct_fields__}
            numbers = {part: every[part]._asdict() for part in ("score", "baseline")}
            found["heads"][name] = every | numbers
        return msgspec.json.decode(msgspec.json.encode(found), type=cls)


def table_numbers(table: GapTable) -> dict[str, Any]:
    """Return all numbers of a gap table as lists and dictionaries for JSON."""
    return {
        "kind": table.kind,
        "reviews": int(table.tokens.shape[1]),
        "rows": [
            {
                "phenomenon": name,
                "tokens": table.count(name),
                "floor": table.floor(name)._asdict(),
                "models": {
                    model: {
                        what: getattr(table, what)(name, model)._asdict()
                        for what in ("loss", "difference", "gap")
                    }
                    for model in table.models
                },
            }
            for name in table.phenomena
        ],
    }


class Machine(msgspec.Struct, frozen=True):
    """Where a model was trained: ``device`` is ``cpu`` or an accelerator's name."""

    device: str
    threads: int
    python: str
    pytorch: str
    lmcourse: str

    @classmethod
    def here(cls, device: torch.device) -> "Machine":
        """This one."""
        name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
        versions = platform.python_version(), str(torch.__version__), version("lmcourse")
        return cls(name, torch.get_num_threads(), *versions)


class Again(msgspec.Struct, frozen=True):
    """The same recipe from another seed: where, how long, and its scores."""

    seed: int
    device: str
    wall_seconds: float
    scores: dict[str, float]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """How a model came about, and what it is worth.

    Attributes:
        name, about: of the recipe.
        architecture: the class of the model.
        parameters: their number.
        bytes: the size of its file.
        digest: of its tensors, see `digest`.
        recipe, seed, steps: what trained it; ``steps`` were taken.
        world: BookWorld's digest.
        machine: where it was trained.
        wall_seconds, cpu_seconds: of the training, all its parts together; of the CPU, summed over
            the threads. Reviews are drawn before, and the model is measured after.
        tokens: how many it read.
        loss: of the training, `POINTS` means at most.
        held_out: of reviews that it did not learn from.
        best_step: the step whose parameters were kept.
        scores: on the test split.
        few: the losses of the table's models on the first few reviews of the split alone: what a
            test can look at again in a moment.
        again: what the same recipe gave from other seeds.
    """

    name: str
    about: str
    architecture: str
    parameters: int
    bytes: int
    digest: str
    recipe: dict[str, Any]
    seed: int
    steps: int
    world: str
    machine: Machine
    wall_seconds: float
    cpu_seconds: float
    tokens: int
    loss: Curve
    held_out: Curve
    best_step: int
    scores: Scores
    few: dict[str, float]
    again: list[Again] = []

    def write(self, path: Path) -> None:
        """Write it, replacing an earlier one.

        Raises:
            CourseError: it cannot be written, or would be read back as another one.
        """
        content = msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"
        if msgspec.json.decode(content, type=Record) != self:
            raise CourseError(
                f"The record of {self.name} is not the same once it is read back.",
                "Give it numbers, text, lists and dictionaries alone: no tuple, NaN or infinity.",
            )
        try:
            with files.replacing(path) as file:
                file.write(content)
        except OSError as error:
            raise files.trouble(error, path, "Give another folder.") from error

    @classmethod
    def read(cls, path: Path) -> "Record":
        """The record in a file.

        Raises:
            CourseError: there is none.
        """
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except FileNotFoundError as error:
            raise CourseError(
                f"The record {path} is not there.",
                f"Train and ship the model again: lmcourse pretrain {path.stem}",
            ) from error
        except (OSError, msgspec.DecodeError, RecursionError) as error:
            raise CourseError(
                f"The record {path} cannot be read: {error}.",
                f"Restore it (git checkout -- {path}), or train and ship the model again.",
            ) from error


def thinned(losses: Sequence[float], points: int = POINTS) -> Curve:
    """A curve by few points: the mean of each stretch, at the stretch's last step."""
    count = min(points, len(losses))
    ends = [round((k + 1) * len(losses) / count) for k in range(count)]
    starts = [0, *ends[:-1]]
    return [
        (end, sum(losses[start:end]) / (end - start))
        for start, end in zip(starts, ends, strict=True)
    ]


def digest(model: Model) -> str:
    """A fingerprint of a model's tensors, by their names, shapes and bytes."""
    found = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        array = tensor.detach().cpu().contiguous().numpy()
        found.update(f"{name} {array.dtype} {array.shape}\n".encode() + array.tobytes())
    return found.hexdigest()
