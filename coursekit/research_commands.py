"""The commands that train the shipped models, test the papers' claims and measure real text."""

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lmcourse.errors import CourseError
from lmcourse.files import expanded


class Device(enum.StrEnum):
    """Where models run."""

    cpu = "cpu"
    cuda = "cuda"
    mps = "mps"


def add_to(app: typer.Typer) -> None:
    """Add the commands to the course's."""
    app.command()(pretrain)
    app.command()(claims)
    app.command()(brown)
    app.command()(tagging)
    app.command()(texts)
    app.command()(scaling)
    app.command()(compression)


def pretrain(
    name: Annotated[
        str | None, typer.Argument(help="The recipe: bookworld-mlm. Without one, all are listed.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights, order and masks.")] = 0,
    device: Annotated[
        Device | None, typer.Option(help="Device to train on. Default: the best one available.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Folder of the run. Default: _build/pretrain/NAME-SEED"),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Train so many steps only, as a trial; ships nothing.")
    ] = None,
    ship: Annotated[
        bool, typer.Option("--ship/--no-ship", help="Put the model into data/checkpoints.")
    ] = True,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Keep the shipped model; add this seed's result to its record."
        ),
    ] = False,
) -> None:
    """Train one of the course's models from nothing, measure it, and put it into the course.

    Ctrl-C leaves it and ships nothing; the same command goes on from there.
    """
    from research.pretrain import overview, run, spread

    if name is None:
        print(overview.overview())
        return
    if again and steps is not None:
        raise CourseError(
            "--again repeats a whole training run, and --steps runs only part of one.",
            "Omit one of the two.",
        )
    where, beside = None if device is None else device.value, []
    folder = None if folder is None else expanded(folder)
    try:
        if again:
            record, shipped = run.again(name, seed=seed, device=where, folder=folder)
            beside = spread.compared(record, shipped)
        else:
            record = run.pretrain(
                name, seed=seed, device=where, folder=folder, ship=ship, steps=steps
            )
    except KeyboardInterrupt:
        raise CourseError(
            f"The training of {name} was interrupted, and nothing is shipped.",
            "Run the same command again to continue from its last checkpoint.",
        ) from None
    print("\n".join([overview.summary(record), *beside]))


def _chosen(
    names: Sequence[str] | None,
    every: bool,
    overview: Callable[[], Iterable[str]],
    known: Iterable[str],
) -> list[str]:
    """Return the given names, or all; print an overview if there are neither names nor --all."""
    if not names and not every:
        for line in overview():
            print(line, flush=True)
    return list(known) if every else list(names or [])


@contextmanager
def _resumable(what: str) -> Iterator[None]:
    """Report an interruption with Ctrl-C, and what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        raise CourseError(what, "Run the same command again to continue from there.") from None


def claims(
    names: Annotated[
        list[str] | None, typer.Argument(help="Claims to test. Without one, all are listed.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Test all of them.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time, one thread each.")] = 1,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Default: as many as its finding has, 3 or more.")
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Train so many steps only, as a trial; writes nothing."),
    ] = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Repeat runs that data/claims records.")
    ] = False,
) -> None:
    """Test the papers' claims again, and write what is found into data/claims.

    Runs that are there, or that data/claims records, are not done again. Ctrl-C leaves it; the same
    command goes on from there.
    """
    print("Reading the claims and their runs ...", flush=True)
    from research.claims import command, table

    wanted = _chosen(names, every, command.overview, table.CLAIMS)
    if not wanted:
        return
    with _resumable("The test of the claims was interrupted; finished runs are kept."):
        found = command.tested(
            wanted,
            at_once=jobs,
            seeds=seeds,
            steps=steps,
            anew=anew,
            say=partial(print, flush=True),
        )
    print("\n\n".join(map(repr, found)))


def brown(
    names: Annotated[
        list[str] | None, typer.Argument(help="Models to count or train. Without one: a list.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="All of them, some 6 hours on one core.")
    ] = False,
) -> None:
    """Re-run table 1 of Bengio et al. (2003) on the Brown corpus, and write it into data/brown.

    Runs that data/brown records are not done again. Ctrl-C leaves it; the same command goes on from
    there. `lmcourse real install` brings the corpus.
    """
    from lmcourse.corpus.brown import Brown
    from research.brown import command, entries
    from research.brown.text import text_of

    chosen = entries.chosen(_chosen(names, every, command.overview, entries.ENTRIES))
    with _resumable("The runs on the Brown corpus were interrupted; finished ones are recorded."):
        if chosen:
            print("Reading the Brown corpus ...", flush=True)
            command.done(chosen, text_of(Brown().sentences()), partial(print, flush=True))


def tagging(
    names: Annotated[
        list[str] | None, typer.Argument(help="Taggers to train. Without one: a list.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="All of them, some 15 minutes on one core.")
    ] = False,
) -> None:
    """Train taggers on the Brown corpus, and write their accuracy into data/tagging.

    Runs that data/tagging records are not done again. Ctrl-C leaves it; the same command goes on
    from there. `lmcourse real install` brings the corpus.
    """
    from lmcourse.corpus.brown import Brown
    from research.tagging import command, entries
    from research.tagging.text import texts_of

    chosen = entries.chosen(_chosen(names, every, command.overview, entries.ENTRIES))
    with _resumable("The training of taggers was interrupted; finished runs are recorded."):
        if chosen:
            print("Reading the Brown corpus ...", flush=True)
            command.done(chosen, texts_of(Brown().sentences()), partial(print, flush=True))


def texts(
    names: Annotated[
        list[str] | None, typer.Argument(help="Tables to measure. Without one: a list.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="All of them, some 20 minutes on one core.")
    ] = False,
) -> None:
    """Measure genres, spam, Zipf's law and tokenizers on real text, and write data/real_text.

    What data/real_text records is not measured again. Ctrl-C leaves it; the same command goes on
    from there. `lmcourse real install` brings the corpora, word vectors and the encoder.
    """
    from research.real_text import command, tables
    from research.real_text.sources import Sources

    chosen = tables.chosen(_chosen(names, every, command.overview, tables.TABLES))
    with _resumable("The tables of real text were interrupted; finished parts are recorded."):
        if chosen:
            command.done(chosen, Sources(), partial(print, flush=True))


def scaling(
    run: Annotated[
        bool, typer.Option("--run", help="Do the missing runs, some 2 hours on one core.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time, one thread each.")] = 1,
) -> None:
    """Train the networks of the course's scaling law, and write data/scaling.

    Runs that data/scaling records are not done again. Ctrl-C leaves it; the same command goes on
    from there.
    """
    from research.scaling import command

    if not run:
        print(command.overview())
        return
    with _resumable("The scaling runs were interrupted; finished runs are recorded."):
        command.done(jobs, partial(print, flush=True))


def compression(
    names: Annotated[
        list[str] | None, typer.Argument(help="Encoders to compress. Without one, all are listed.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="All of them, some 25 minutes on one core.")
    ] = False,
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Take so many updates only, as a trial; writes only to _build."),
    ] = None,
) -> None:
    """Fine-tune encoders, compress them in many ways, and write what they cost and score.

    The record is in data/compression. Runs that _build has are not done again. Ctrl-C leaves it;
    the same command goes on from there.
    """
    from research.compression import command, encoders

    known = {encoder.name: encoder for encoder in encoders.ENCODERS}
    chosen = command.chosen(_chosen(names, every, command.overview, known))
    with _resumable("The compression of encoders was interrupted; finished runs are kept."):
        if chosen:
            command.done(chosen, partial(print, flush=True), steps=steps)
