"""What `lmcourse brown` does: list the table, or do the runs that are missing."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import torch

from lmcourse.files import require_writable
from research.brown import recorded
from research.brown.entries import ENTRIES, Learner, NGram
from research.brown.results import (
    Record,
    Result,
    Run,
    found_of,
    seeds,
    trials,
    untuned,
    with_dropouts,
)
from research.brown.runs import clean, counted, learned
from research.brown.text import Text
from research.record_files import ELSEWHERE

Say = Callable[[str], None]


def done(
    entries: Sequence[NGram | Learner],
    text: Text,
    say: Say,
    folder: Path | None = None,
    shelf: Path | None = None,
) -> Record:
    """Do the runs of some models that are missing, the most important ones first.

    Each result is written as soon as it is there. A run that was killed continues from its last
    checkpoint.

    Args:
        entries: the models.
        text: the corpus.
        say: called with each line of progress.
        folder: where runs are; None: ``_build/brown``.
        shelf: where results are written; None: ``data/brown``.

    Raises:
        CourseError: a result cannot be written; n-gram models are missing that networks are mixed
            with.
    """
    folder, shelf = folder or recorded.home(), shelf or recorded.shelf()
    require_writable(folder / "results", ELSEWHERE)
    require_writable(shelf / recorded.RESULTS, ELSEWHERE)
    torch.set_num_threads(1)
    record = recorded.record_of(text, shelf)
    for entry in entries:
        if isinstance(entry, NGram) and not found_of(entry, record):
            say(f"{entry.name} is counted ...")
            record = _with(record, counted(entry, text, folder), shelf)
            say(f"{entry.name}: {_said(entry, record)}")
    learners = [entry for entry in entries if isinstance(entry, Learner)]
    while (run := missing(learners, record)) is not None:
        say(f"{_name(run)} ...")
        result = learned(run, text, folder, record)
        record = _with(record, {run.digest(text.digest): result}, shelf)
        clean(run.digest(text.digest), folder)
        say(
            f"{_name(run)}: validation {result.validation:.1f}, test {result.test:.1f}, "
            f"{result.cpu_seconds / 60:.1f} minutes"
        )
    return record


def missing(learners: Sequence[Learner], record: Record) -> Run | None:
    """The next run, or None if there is none.

    First each network is trained once before it is tuned, then its learning rate is tuned, then its
    dropout; then it is trained from other seeds.
    """
    stages: list[Callable[[Learner], list[Run]]] = [
        lambda entry: [untuned(entry)],
        lambda entry: trials(entry) + with_dropouts(entry, record)[:1],
        lambda entry: with_dropouts(entry, record),
        lambda entry: seeds(entry, record),
    ]
    for stage in stages:
        for entry in learners:
            for run in stage(entry):
                if run.digest(record.text) not in record.runs:
                    return run
    return None


def overview(shelf: Path | None = None) -> Iterator[str]:
    """Yield a line for each model: what was found."""
    record = recorded.read(shelf or recorded.shelf())
    for entry in ENTRIES.values():
        yield f"{entry.name}: {'nothing yet' if record is None else _said(entry, record)}"


def _said(entry: NGram | Learner, record: Record) -> str:
    found = found_of(entry, record)
    if not found:
        return "nothing yet"
    tests = ", ".join(f"{result.test:.1f}" for result in found)
    return f"test perplexity {tests} ({len(found)} seed{'s' * (len(found) != 1)})"


def _with(record: Record, found: dict[str, Result], shelf: Path) -> Record:
    record = msgspec.structs.replace(record, runs=record.runs | found)
    recorded.write(record, shelf)
    return record


def _name(run: Run) -> str:
    settings = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in run.setting.items())
    epochs = f"{run.epochs} epoch{'s' * (run.epochs != 1)}"
    return f"{run.entry.name} ({settings}; {epochs}; seed {run.seed})"
