"""What `lmcourse compression` records: a row for each encoder, task and method."""

from typing import Any

import msgspec

from research.pretrain.records import Machine


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A compressed encoder on one task.

    Attributes:
        encoder, task, method: which; a method of "fine-tuned" is the model before any.
        rate: the learning rate of its last updates, chosen on validation.
        trials: by learning rate, what the first seed scores on validation.
        scores: on the test, one for each seed.
        stored, sparse, gzip: bytes of its file; of the first trial, see `grid.Result`.
        parameters: their number.
        time: in units of the teacher's time, the median; `fast` and `slow` are the quartiles. None
            for a model before any method.
    """

    encoder: str
    task: str
    method: str
    rate: float
    trials: dict[str, float]
    scores: list[float]
    stored: int
    sparse: int
    gzip: int
    parameters: int
    time: float | None = None
    fast: float | None = None
    slow: float | None = None


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The whole grid.

    Attributes:
        world: BookWorld's digest.
        machine: where it was run.
        amounts: of examples and updates, see `tasks.Amounts`.
        lengths: the mean number of tokens of an example, by tasks.
        reference: by tasks, the score of a bag of words; None: there is none.
        runs, cpu_seconds: how many results there are, trials included, and what they took.
        rows: what is found.
    """

    world: str
    machine: Machine
    amounts: dict[str, Any]
    lengths: dict[str, float]
    reference: dict[str, float | None]
    runs: int
    cpu_seconds: int
    rows: list[Row]
