"""What `lmcourse texts` does: list the tables, or measure what is missing of them."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch

from lmcourse import checkout
from lmcourse.files import require_writable
from research import recorded
from research.pretrain.clock import Seconds
from research.pretrain.records import Machine
from research.real_text.sources import Sources
from research.real_text.tables import TABLES
from research.recorded import ELSEWHERE, PAGE, RESULTS, machine_said

_HEAD = """# Text that people wrote: genres, spam, Zipf's law, tokenizers

Measured on the Brown corpus and on SpamAssassin's mails, which `lmcourse real install` brings, as
well as GloVe and MiniLM. `lmcourse texts --all` measures what is missing and rewrites this page
from `results.json`."""


class Measured(msgspec.Struct, frozen=True):
    """A part of a table: what was measured, in how many seconds of the CPU, and where."""

    values: dict[str, Any]
    cpu_seconds: float
    machine: Machine


class Done(msgspec.Struct, frozen=True):
    """What is done of a table with this setup."""

    setup: dict[str, Any]
    units: dict[str, Measured] = {}


class Record(msgspec.Struct, frozen=True):
    """All tables."""

    tables: dict[str, Done] = {}


def shelf() -> Path:
    """Where results are: ``data/real_text``."""
    return checkout.root() / "data" / "real_text"


def done(
    names: Sequence[str], sources: Sources, say: Callable[[str], None], folder: Path | None = None
) -> Record:
    """Measure what is missing of some tables; each part is written as soon as it is there.

    Args:
        names: of the tables.
        sources: what they read.
        say: called with each line of progress.
        folder: where results are written; None: ``data/real_text``.

    Raises:
        CourseError: a corpus, vectors or the encoder are not installed; results cannot be read or
            written.
    """
    folder = folder or shelf()
    require_writable(folder / RESULTS, ELSEWHERE)
    torch.set_num_threads(1)
    record = read(folder)
    for name in names:
        for unit, measure in TABLES[name].units.items():
            found = kept(name, record)
            if unit in found.units:
                continue
            say(f"{name}: {unit} ...")
            start = Seconds.now()
            values = msgspec.to_builtins(measure(sources), enc_hook=float)
            # Features that an interrupted command has kept count, too.
            spent = max((Seconds.now() - start).cpu, values.get("encoding_seconds", 0.0))
            measured = Measured(values, spent, Machine.here(torch.device("cpu")))
            found = msgspec.structs.replace(found, units=found.units | {unit: measured})
            record = Record(record.tables | {name: found})
            write(record, folder)
    write(record, folder)  # the page of an earlier version, too
    return record


def read(folder: Path) -> Record:
    """The record in a folder; an empty one if there is none."""
    return recorded.read(folder / RESULTS, Record) or Record()


def write(record: Record, folder: Path) -> None:
    """Write the results and the page."""
    recorded.write({RESULTS: record, PAGE: page(record).encode()}, folder)


def kept(name: str, record: Record) -> Done:
    """What counts of a table: what was measured with its present setup."""
    setup = msgspec.to_builtins(TABLES[name].setup)
    found = record.tables.get(name)
    return found if found is not None and found.setup == setup else Done(setup)


def overview(folder: Path | None = None) -> Iterator[str]:
    """Yield a line for each table: how much of it is done."""
    record = read(folder or shelf())
    for name, table in TABLES.items():
        units = kept(name, record).units
        minutes = sum(it.cpu_seconds for it in units.values()) / 60
        yield f"{name}: {len(units)} of {len(table.units)} parts, {minutes:.1f} minutes"


def page(record: Record) -> str:
    """The page ``README.md``, in Markdown."""
    parts = [_HEAD]
    for name, table in TABLES.items():
        found = kept(name, record)
        missing = len(table.units) - len(found.units)
        parts.append(f"## {table.about}")
        if missing:
            parts.append(f"{missing} of {len(table.units)} parts are not measured yet.")
        else:
            parts.append(table.section({it: found.units[it].values for it in table.units}))
            settings = [f"- {key}: {_said(value)}" for key, value in found.setup.items()]
            minutes = sum(it.cpu_seconds for it in found.units.values()) / 60
            machines = sorted({machine_said(it.machine) for it in found.units.values()})
            cost = f"- cost: {minutes:.1f} minutes of one core ({'; '.join(machines)})"
            parts.append("\n".join(["Setup:", "", *settings, cost]))
    return "\n\n".join(parts) + "\n"


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"*{key}*: {it}" for key, it in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else f"{value}"
