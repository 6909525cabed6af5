"""The course's table of language models on the Brown corpus, ``data/brown/table.json``.

    language_models("2-gram", "5-gram", "rnn")       # three of its rows, for a notebook

`research/brown` counts, trains and scores the models, and writes the file.
"""

import html as escaping
from pathlib import Path
from statistics import mean, stdev

import msgspec

from lmcourse import checkout, checks, table_forms
from lmcourse.errors import CourseError

FILE = "data/brown/table.json"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A model, with its scores by seed; of an n-gram model, and before tuning, there is one.

    Attributes:
        name, about: what it is called.
        parameters: their number; an n-gram model's counts.
        epochs: how often it read the training text.
        setting: what was tuned on the validation text, such as the learning rate.
        tuned: whether all settings were tried.
        seeds: of the first weights.
        validation, test: perplexities.
        mixed: perplexities on the test, mixed with the best n-gram model.
        minutes: of one core, for training.
    """

    name: str
    about: str
    parameters: int
    epochs: int
    setting: str
    tuned: bool
    seeds: list[int]
    validation: list[float]
    test: list[float]
    mixed: list[float]
    minutes: float


class LanguageModels(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of the table, which show themselves.

    Attributes:
        text: which text, and how it is split.
        rows: the models.
    """

    text: str
    rows: list[Row]

    def row(self, name: str) -> Row:
        """The row of a name.

        Raises:
            CourseError: there is none.
        """
        for row in self.rows:
            if row.name == name:
                return row
        names = ", ".join(row.name for row in self.rows)
        raise CourseError(f"The table has no model {name!r}.", f"Choose one of: {names}.")

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """The header, and the rows."""
        header = ["", "parameters or counts", "validation", "test", "mixed, test"]
        rows = [
            [
                row.about,
                f"{row.parameters:,}",
                *map(spread, (row.validation, row.test, row.mixed)),
            ]
            for row in self.rows
        ]
        return header, rows

    def caption(self) -> str:
        """What the table is of."""
        return f"Perplexity of words. {self.text}. Mixed: with the best n-gram model."

    def setup(self) -> list[str]:
        """How each model was trained."""
        return [_setup(row) for row in self.rows]

    def __repr__(self) -> str:
        head = f"recorded · {self.caption()}"
        return "\n".join([head, table_forms.text(*self.cells()), *self.setup()])

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{escaping.escape(line)}</li>" for line in self.setup())
        below = f"<details><summary>Setup of each model</summary><ul>{lines}</ul></details>"
        return checks.framed_table("recorded", self.caption(), *self.cells(), below)


def language_models(*names: str, path: Path | None = None) -> LanguageModels:
    """Read rows of the table, in the order of the names.

    Raises:
        CourseError: there is no such row, or the table cannot be read.
    """
    path = path or checkout.shared(FILE)
    try:
        table = msgspec.json.decode(path.read_bytes(), type=LanguageModels)
    except (OSError, msgspec.DecodeError) as error:
        raise CourseError(
            f"The table {path} cannot be read: {error}.",
            f"Restore it (git checkout -- {FILE}), or make it again: lmcourse brown --all.",
        ) from error
    return msgspec.structs.replace(table, rows=[table.row(name) for name in names])


def spread(values: list[float]) -> str:
    """Mean ± standard deviation over seeds; of one seed, the value; of none, nothing."""
    if len(values) < 2:
        return "".join(f"{value:.1f}" for value in values)
    return f"{mean(values):.1f} ± {stdev(values):.1f}"


def _setup(row: Row) -> str:
    if not row.mixed:  # an n-gram model
        return f"{row.about}: {row.setting}."
    epochs = f"{row.epochs} epoch{'s' * (row.epochs != 1)}"
    seeds = f"seed{'s' * (len(row.seeds) != 1)} {', '.join(map(str, row.seeds))}"
    tuned = "tuned on validation" if row.tuned else "before tuning"
    return (
        f"{row.about}: {epochs}, {row.setting} ({tuned}), {seeds}; "
        f"{row.minutes:.1f} minutes of one core."
    )
