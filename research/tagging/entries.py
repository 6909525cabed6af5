"""The taggers, how they are tuned, and the runs that a row of the table needs.

Each tagger has at most one setting, of which three values are tried: a network's learning rate, in
a shorter training; the perceptron's epochs. The best one on validation is used for all seeds, and
to train some taggers without fiction. All networks have about as many parameters.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import msgspec
import torch

from lmcourse.corpus.brown import Sentence
from research.by_name import by_name
from research.pretrain.records import Machine
from research.recorded import digest_of
from research.tagging import networks
from research.tagging.features import MostFrequentTag, Perceptron
from research.tagging.networks import DROPOUT, EMBEDDING, ROWS
from research.tagging.text import EVERY, WITHOUT, Text

SEEDS = 3
EPOCHS, TRIAL = 6, 3  # how often a network reads the training text
RATES = (6e-3, 1.2e-2, 2.4e-2)


@runtime_checkable
class Learned(Protocol):
    """A trained tagger."""

    @property
    def num_parameters(self) -> int: ...

    def tagged(self, sentences: Sequence[Sentence]) -> list[list[str]]: ...


Learn = Callable[[Text, float, int, int], Learned]
"""Trains a tagger on a text, with a setting, from a seed, for some epochs."""


@dataclass(frozen=True)
class Entry:
    """A tagger.

    Attributes:
        name: what the command calls it.
        about: what the page calls it.
        learn: trains it.
        config: everything else that decides what it learns.
        setting: what is tuned.
        values: those that are tried.
        seeds: how many.
        shifted: whether it is trained without fiction, too.
        epochs, trial: how long, and how long a trial is; 0 where the setting decides.
    """

    name: str
    about: str
    learn: Learn
    config: Mapping[str, Any] = field(default_factory=dict)
    setting: str = ""
    values: tuple[float, ...] = (0.0,)
    seeds: int = SEEDS
    shifted: bool = False
    epochs: int = 0
    trial: int = 0


def network(
    name: str,
    about: str,
    epochs: int = EPOCHS,
    trial: int = TRIAL,
    shifted: bool = False,
    **sizes: Any,
) -> Entry:
    """A network of some sizes."""

    def learn(text: Text, learning_rate: float, seed: int, epochs: int) -> Learned:
        torch.manual_seed(seed)  # of the first weights, of dropout and of unknown words
        tagger = networks.Tagger(text, **sizes)
        networks.learned(tagger, text, learning_rate, epochs, seed)
        return tagger

    config = {**sizes, "embedding": EMBEDDING, "rows": ROWS, "dropout": DROPOUT}
    return Entry(
        name,
        about,
        learn,
        config,
        "learning rate",
        RATES,
        shifted=shifted,
        epochs=epochs,
        trial=trial,
    )


CHARACTERS = {"hidden": 46, "bidirectional": True, "characters": True}
_ALL = [
    Entry(
        "most-frequent",
        "most frequent tag",
        lambda text, *_: MostFrequentTag(text),
        seeds=1,
        shifted=True,
    ),
    Entry(
        "perceptron",
        "averaged perceptron",
        lambda text, epochs, seed, _: Perceptron(text, int(epochs), seed),
        setting="epochs",
        values=(3.0, 6.0, 12.0),
        shifted=True,
    ),
    network("lstm", "LSTM", hidden=96),
    network("lstm-delay", "LSTM, delay of one word", hidden=96, delay=1),
    network("bilstm", "BiLSTM", hidden=64, bidirectional=True),
    network("bilstm-characters", "BiLSTM, characters", shifted=True, **CHARACTERS),
]
ENTRIES = {entry.name: entry for entry in _ALL}


def chosen(names: Sequence[str]) -> list[Entry]:
    """The taggers of these names.

    Raises:
        CourseError: there is no such tagger.
    """
    wanted = {by_name(name, ENTRIES, "model").name for name in names}
    return [entry for name, entry in ENTRIES.items() if name in wanted]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A run and its scores.

    Attributes:
        name, task, setting, seed: of the run.
        config: see `Run`.
        parameters: their number; of the most frequent tag, the words; of the perceptron, the
            weights that are not 0.
        validation: accuracy.
        right: see `Text.right`.
        cpu_seconds, scoring_seconds: of the training; on validation and test.
        machine: where it ran.
    """

    name: str
    task: str
    setting: float
    seed: int
    config: dict[str, Any]
    parameters: int
    validation: float
    right: dict[str, list[int]]
    cpu_seconds: float
    scoring_seconds: float
    machine: Machine


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """All results on one corpus.

    Attributes:
        texts: by tasks, `Text.digest`.
        counts: by tasks, `Text.counts`.
        genres: `Text.genres`.
        tokens: by tasks, for each kind of token, how many each text of the test has.
        runs: by their digests.
    """

    texts: dict[str, str]
    counts: dict[str, dict[str, list[int]]]
    genres: dict[str, str]
    tokens: dict[str, dict[str, list[int]]]
    runs: dict[str, Result] = {}

    @classmethod
    def of(cls, texts: Mapping[str, Text]) -> "Record":
        """An empty one."""
        return cls(
            texts={task: text.digest for task, text in texts.items()},
            counts={task: text.counts() for task, text in texts.items()},
            genres=texts[EVERY].genres,
            tokens={
                task: text.right(sentence.tags for sentence in text.test)
                for task, text in texts.items()
            },
        )


@dataclass(frozen=True)
class Run:
    """A tagger with one setting, from one seed, trained for one task."""

    entry: Entry
    setting: float
    seed: int = 0
    task: str = EVERY
    epochs: int = 0

    @property
    def config(self) -> dict[str, Any]:
        """What decides the result besides its setting, its seed and its text."""
        return {**self.entry.config, **({"epochs": self.epochs} if self.epochs else {})}

    def digest(self, record: Record) -> str:
        """An identification by everything that decides the result."""
        decides = [self.entry.name, self.config, self.setting, self.seed]
        return digest_of([record.texts[self.task], *decides])


def stages(entry: Entry, record: Record) -> list[list[Run]]:
    """The runs of a row: its trials, its seeds, and its seeds without fiction, as far as known."""
    shifted = seeds(entry, WITHOUT, record) if entry.shifted else []
    return [trials_of(entry), seeds(entry, EVERY, record), shifted]


def trials_of(entry: Entry) -> list[Run]:
    """The runs that choose the setting."""
    return [Run(entry, value, epochs=entry.trial) for value in entry.values]


def seeds(entry: Entry, task: str, record: Record) -> list[Run]:
    """The runs with the best setting; none while a trial is missing."""
    trials = trials_of(entry)
    done = found(trials, record)
    if len(done) < len(trials):
        return []
    best = max(done, key=lambda result: result.validation).setting
    return [Run(entry, best, seed, task, entry.epochs) for seed in range(entry.seeds)]


def found(runs: Sequence[Run], record: Record) -> list[Result]:
    """The results that are there."""
    digests = [run.digest(record) for run in runs]
    return [record.runs[digest] for digest in digests if digest in record.runs]


def rows(entry: Entry, record: Record, task: str = EVERY) -> list[Result]:
    """The results of a row of the table, one for each seed."""
    return found(seeds(entry, task, record), record)
