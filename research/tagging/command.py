"""What `lmcourse tagging` does: list the taggers, or do the runs that are missing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import msgspec
import torch

from lmcourse import checkout
from lmcourse.corpus.brown import Sentence
from lmcourse.files import require_writable
from research import recorded
from research.pretrain.clock import Seconds
from research.pretrain.records import Machine
from research.tagging.entries import ENTRIES, Entry, Learned, Record, Result, Run, rows, stages
from research.tagging.page import page, percent
from research.tagging.scores import accuracies
from research.tagging.text import Text, size


def shelf() -> Path:
    """Where results are: ``data/tagging``."""
    return checkout.root() / "data" / "tagging"


def done(
    entries: Sequence[Entry],
    texts: Mapping[str, Text],
    say: Callable[[str], None],
    folder: Path | None = None,
) -> Record:
    """Do the runs of some taggers that are missing; each is recorded as soon as it is done.

    Args:
        entries: the taggers.
        texts: by tasks.
        say: called with each line of progress.
        folder: where results are written; None: ``data/tagging``.

    Raises:
        CourseError: results cannot be read or written.
    """
    folder = folder or shelf()
    require_writable(folder / recorded.RESULTS, recorded.ELSEWHERE)
    torch.set_num_threads(1)
    record = Record.of(texts)
    before = recorded.read(folder / recorded.RESULTS, Record)
    if before is not None and before.texts == record.texts:
        record = before
    while (run := _missing(entries, record)) is not None:
        setting = f"{run.entry.setting} {run.setting:g}, " if run.entry.setting else ""
        epochs = f", {run.epochs} epochs" if run.epochs else ""
        say(f"{run.entry.name} ({setting}seed {run.seed}{epochs}, {run.task}) ...")
        result = learned(run, texts[run.task])
        runs = record.runs | {run.digest(record): result}
        record = msgspec.structs.replace(record, runs=runs)
        _write(record, folder)
        seconds = result.cpu_seconds + result.scoring_seconds
        say(f"    validation {result.validation:.2%}, {seconds:.0f} s of the CPU")
    _write(record, folder)
    return record


def learned(run: Run, text: Text) -> Result:
    """Train a tagger and score it."""
    start = Seconds.now()
    tagger: Learned = run.entry.learn(text, run.setting, run.seed, run.epochs)
    trained = Seconds.now()
    validation = _accuracy(text.validation, tagger.tagged(text.validation))
    right = text.right(tagger.tagged(text.test))
    return Result(
        name=run.entry.name,
        task=run.task,
        setting=run.setting,
        seed=run.seed,
        config=run.config,
        parameters=tagger.num_parameters,
        validation=validation,
        right=right,
        cpu_seconds=(trained - start).cpu,
        scoring_seconds=(Seconds.now() - trained).cpu,
        machine=Machine.here(torch.device("cpu")),
    )


def overview(folder: Path | None = None) -> Iterator[str]:
    """Yield a line for each tagger: what was found."""
    record = recorded.read((folder or shelf()) / recorded.RESULTS, Record)
    for entry in ENTRIES.values():
        results = [] if record is None else rows(entry, record)
        if record is None or not results:
            yield f"{entry.name}: nothing yet"
            continue
        scores = percent(accuracies(results, record))
        yield f"{entry.name}: {scores} % of the test's tags are right"


def _write(record: Record, folder: Path) -> None:
    recorded.write({recorded.RESULTS: record, recorded.PAGE: page(record).encode()}, folder)


def _missing(entries: Sequence[Entry], record: Record) -> Run | None:
    """The next run: all trials are before all seeds."""
    for each in zip(*(stages(entry, record) for entry in entries), strict=True):
        for run in chain(*each):
            if run.digest(record) not in record.runs:
                return run
    return None


def _accuracy(sentences: Sequence[Sentence], predicted: Sequence[Sequence[str]]) -> float:
    pairs = zip(sentences, predicted, strict=True)
    right = sum(a == b for it, tags in pairs for a, b in zip(it.tags, tags, strict=True))
    return right / size(sentences)
