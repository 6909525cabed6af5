"""What `lmcourse compression` does: list the encoders, or do what is missing of the grid."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import mean

import msgspec
import torch

from lmcourse import checkout, files
from lmcourse.corpus.bookworld import BookWorld
from lmcourse.files import require_writable
from research import recorded
from research.by_name import by_name
from research.compression.encoders import ENCODERS, Encoder
from research.compression.figure import POINTS, as_json
from research.compression.grid import RECOVERY, SEEDS, TUNED, TUNING, Grid, Result
from research.compression.methods import METHODS
from research.compression.page import page
from research.compression.records import Record, Row
from research.compression.speed import ROUNDS, Speed, speeds
from research.compression.tasks import AMOUNTS, data_of
from research.pretrain.records import Machine

STARTED = "started.json"  # all runs, beside the fine-tuned models


def shelf() -> Path:
    """Where results are: ``data/compression``."""
    return checkout.root() / "data" / "compression"


def done(
    encoders: Sequence[Encoder],
    say: Callable[[str], None],
    *,
    steps: int | None = None,
    folder: Path | None = None,
    build: Path | None = None,
) -> Record:
    """Do what is missing of the grid of these encoders, and measure their speed.

    Args:
        encoders: which; what is recorded is all that are done, with times in units of the first's.
        say: called with each line of progress.
        steps: take so few updates only, as a trial; nothing is written into ``data``.
        folder: where results are written; None: ``data/compression``.
        build: where runs and fine-tuned models are kept; None: in ``_build``.

    Raises:
        CourseError: results cannot be read or written.
    """
    amounts = AMOUNTS if steps is None else AMOUNTS.shortened(steps)
    build = build or checkout.root() / "_build" / "compression" / (f"{steps}" if steps else "grid")
    folder = folder or (shelf() if steps is None else build)
    require_writable(folder / recorded.RESULTS, recorded.ELSEWHERE)
    torch.set_num_threads(1)
    world = BookWorld()
    data = data_of(world, amounts)
    runs = recorded.read(build / STARTED, dict[str, Result]) or {}
    grid = Grid(world, data, amounts, build, runs, lambda: _keep(runs, build), say)
    for seed, encoder, task in product(SEEDS, encoders, data):
        grid.run(encoder, task, seed)
    known = [it for it in ENCODERS if all(grid.is_done(it, task) for task in data)]
    models = {encoder.name: encoder.load(world) for encoder in known}
    rounds = ROUNDS if steps is None else 2
    times = {name: speeds(models, it, say, rounds) for name, it in data.items()}
    record = Record(
        world=world.digest,
        machine=Machine.here(torch.device("cpu")),
        amounts=msgspec.to_builtins(amounts),
        lengths={name: round(it.length, 1) for name, it in data.items()},
        reference={name: it.reference for name, it in data.items()},
        runs=len(runs),
        cpu_seconds=round(sum(it.cpu_seconds for it in runs.values())),
        rows=[
            _row(grid, encoder, task, method, times[task][encoder.name].get(method))
            for encoder, task in product(known, data)
            for method in (TUNED, *(it.name for it in METHODS))
        ],
    )
    write(record, folder)
    return record


def write(record: Record, folder: Path) -> None:
    """Write the record, its page, and the points of its figure."""
    pages = {recorded.PAGE: page(record).encode(), POINTS: as_json(record)}
    recorded.write({recorded.RESULTS: record, **pages}, folder)


def overview(folder: Path | None = None) -> Iterator[str]:
    """Yield a line for each encoder: what it scores without compression."""
    record = recorded.read((folder or shelf()) / recorded.RESULTS, Record)
    for encoder in ENCODERS:
        found = [
            f"{row.task} {mean(row.scores):.3f}"
            for row in (record.rows if record else ())
            if (row.encoder, row.method) == (encoder.name, METHODS[0].name)
        ]
        yield f"{encoder.name}: {', '.join(found) or 'nothing yet'}"


def chosen(names: Sequence[str]) -> list[Encoder]:
    """Return the encoders of these names.

    Raises:
        CourseError: there is no such encoder.
    """
    known = {encoder.name: encoder for encoder in ENCODERS}
    wanted = {by_name(name, known, "encoder").name for name in names}
    return [encoder for encoder in ENCODERS if encoder.name in wanted]


def _row(grid: Grid, encoder: Encoder, task: str, method: str, speed: Speed | None) -> Row:
    """The results of all seeds in one row."""
    found = [grid.chosen(encoder, task, method, seed) for seed in SEEDS]
    results = [it for it in found if it is not None]
    rates = TUNING if method == TUNED else RECOVERY
    tried = [grid.get(encoder, task, method, SEEDS[0], rate) for rate in rates]
    timing = {} if speed is None else {"time": speed.ratio, "fast": speed.low, "slow": speed.high}
    return Row(
        encoder=encoder.name,
        task=task,
        method=method,
        rate=results[0].rate,
        trials={f"{it.rate:g}": it.validation for it in tried if it is not None},
        scores=[it.test for it in results],
        stored=results[0].stored,
        sparse=results[0].sparse,
        gzip=results[0].gzip,
        parameters=results[0].parameters,
        **timing,
    )


def _keep(runs: dict[str, Result], build: Path) -> None:
    build.mkdir(parents=True, exist_ok=True)
    with files.replacing(build / STARTED) as file:
        file.write(msgspec.json.encode(runs))
