"""What a run is and what comes of it; and which runs a row of the table needs.

A run is identified by the digest of everything that decides it, and is never done twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from research.brown.entries import DISCOUNTS, SEEDS, Learner, NGram, Setting
from research.brown.text import Text
from research.pretrain.records import Machine
from research.recorded import digest_of
from research.runs.run_config import plain


class Mixed(msgspec.Struct, frozen=True):
    """A network mixed with the best n-gram model.

    Attributes:
        weight: the network's, with which validation is best.
        validation, test: perplexities.
    """

    weight: float
    validation: float
    test: float


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A run and its scores.

    Attributes:
        name: the model's.
        config: everything that decides the run: see `Run.config`.
        setting: what was tuned.
        epochs, seed: how long it learned, from which beginning.
        parameters: their number; an n-gram model's counts.
        validation, test: perplexities.
        mixed: None for an n-gram model, and if the network reads both sides.
        cpu_seconds, wall_seconds: of the training, or of counting; all parts of it together.
        scoring_seconds: of the CPU, on validation and test.
        machine: where it ran.
    """

    name: str
    config: dict[str, Any]
    setting: dict[str, Any]
    epochs: int
    seed: int
    parameters: int
    validation: float
    test: float
    mixed: Mixed | None = None
    cpu_seconds: float
    wall_seconds: float
    scoring_seconds: float
    machine: Machine


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """All results on one text.

    Attributes:
        text: `Text.digest`.
        counts: `Text.counts`.
        genres: `Text.genres`.
        runs: by their digests.
    """

    text: str
    counts: dict[str, float]
    genres: dict[str, dict[str, int]]
    runs: dict[str, Result] = {}

    @classmethod
    def of(cls, text: Text) -> "Record":
        """An empty one."""
        genres = {name: dict(split) for name, split in text.genres.items()}
        return cls(text=text.digest, counts=text.counts(), genres=genres)


@dataclass(frozen=True)
class Run:
    """A model with one setting, from one seed."""

    entry: NGram | Learner
    setting: Setting
    epochs: int = 1
    seed: int = 0

    @property
    def config(self) -> dict[str, Any]:
        """Everything that decides it, except the text."""
        described: dict[str, Any] = plain(vars(self.entry))
        del described["about"]
        if isinstance(self.entry, Learner):
            described["network"] = self.entry.network.__name__
            del described["budget"]["learning_rate"]  # the setting has it
        setting = dict(self.setting)
        return described | {"setting": setting, "epochs": self.epochs, "seed": self.seed}

    def digest(self, text: str) -> str:
        """An identification, on a text with this digest."""
        return digest_of([text, self.config])


def untuned(entry: Learner) -> Run:
    """The long run that is done before any other, with the setting before tuning."""
    return Run(entry, entry.first, entry.budget.epochs)


def trials(entry: Learner) -> list[Run]:
    """The short runs that choose the learning rate."""
    return [Run(entry, setting, entry.trial_epochs) for setting in entry.trials()]


def long(entry: Learner, record: Record) -> list[Run]:
    """The long runs that choose the output weights; none while a short one is missing."""
    best = best_of(trials(entry), record)
    if best is None:
        return []
    settings = [best.setting]
    if entry.untied:
        settings.append(dict(best.setting) | {"tied": False})
    return [Run(entry, setting, entry.budget.epochs) for setting in settings]


def seeds(entry: Learner, record: Record) -> list[Run]:
    """The best long run, and the same from other seeds; none while a long one is missing."""
    best = best_of(long(entry, record), record)
    if best is None:
        return []
    return [Run(entry, best.setting, best.epochs, seed) for seed in range(SEEDS)]


def best_of(runs: Sequence[Run], record: Record) -> Run | None:
    """The run with the lowest perplexity on validation; None while one of them is missing."""
    done = [record.runs.get(run.digest(record.text)) for run in runs]
    scores = [result.validation for result in done if result is not None]
    if not scores or len(scores) < len(runs):
        return None
    return runs[scores.index(min(scores))]


def results_of(runs: Sequence[Run], record: Record) -> list[Result]:
    """Those that are there."""
    digests = [run.digest(record.text) for run in runs]
    return [record.runs[digest] for digest in digests if digest in record.runs]


def discounts_of(entry: NGram) -> list[Run]:
    """An n-gram model with each discount."""
    return [Run(entry, {"discount": discount}) for discount in DISCOUNTS]


def found_of(entry: NGram | Learner, record: Record) -> list[Result]:
    """What a row of the table shows: a result for each seed.

    While tuning is not complete, the best long run that is there, those before tuning included.
    """
    if isinstance(entry, NGram):
        return sorted(results_of(discounts_of(entry), record), key=_validation)[:1]
    if found := results_of(seeds(entry, record), record):
        return found
    done = results_of([*long(entry, record), untuned(entry)], record)
    return sorted(done, key=_validation)[:1]


def _validation(result: Result) -> float:
    return result.validation
