"""The page ``data/brown/README.md``: our table beside the paper's, made from the results alone."""

import csv
from collections.abc import Sequence

from lmcourse import checkout, table_forms
from lmcourse.findings.language_models import spread
from research.brown.entries import ENTRIES, LEARNERS, NGRAMS, Learner, NGram
from research.brown.results import (
    Record,
    Run,
    discounts_of,
    found_of,
    results_of,
    seeds,
    trials,
    with_dropouts,
)
from research.brown.table import row
from research.brown.text import PAPER
from research.record_files import machine_said

_HEAD = """# Table 1 of Bengio et al. (2003), again

Bengio, Ducharme, Vincent and Jauvin, "A neural probabilistic language model", JMLR 3, compared
n-gram models with the first neural language model on the Brown corpus. Here the comparison is
repeated with the same split and the same rule for rare words, and with the networks that came
later. `lmcourse brown --all` does the runs that are missing and rewrites this page from
`results.json`; `lmcourse real install` brings the corpus."""

_READING = """Perplexity on the test split, lower is better. Words that occur at most three times in
the corpus are merged into one symbol, which is predicted like any other word: perplexities without
that symbol would be higher. All models predict all words of the split, each from the context that
they can read, across sentences and texts. Several seeds: mean ± standard deviation. *Mixed*: p is
the weighted mean of the network's p and that of the n-gram model that is best on validation; the
weight is tuned on validation. *Epochs*: how often the training text is read. *Minutes*: of one core
of a CPU, training alone, mean over the seeds."""

_PAPER = """As published; `paper.csv` has the numbers. n − 1 words are read. *Mixed*: with the
deleted interpolation trigram, half and half. Its 252 is that of a mixture: the networks alone reach
268 at best. The table has no repetitions and no parameters."""

_BOTH = """A model that reads a word's neighbors on both sides has no perplexity. Its
pseudo-perplexity is the same formula with p of each word given all words around it in a window. It
is no language model's score, and cannot be compared with the table above."""

_VERSIONS = """The paper's text is another version of the corpus. It counts marks between
paragraphs, which ours does not have. It distinguishes upper from lower case, and yet it has fewer
different words than ours has in lower case; so it was cut into words in another way, which the
paper does not describe. The split goes by the order of the texts, so its parts have other genres
(words, with a mark after each text):"""

_TUNING = """All choices are made on validation. Networks: three learning rates for a short time
(and untied output weights, where a network can have them), then two dropouts for all epochs. The
chosen one is repeated from other seeds. N-gram models: the modified form's own discounts, or one of
five for all counts."""


def page(record: Record) -> str:
    """The whole page, in Markdown."""
    causal = [entry for entry in LEARNERS if not entry.both_sides]
    both = [entry for entry in LEARNERS if entry.both_sides]
    parts = [
        _HEAD,
        "## Ours",
        _READING,
        _table([*NGRAMS, *causal], record),
        "## The paper's",
        _PAPER,
        _papers_table(),
        "## The text",
        _counts(record),
        "## With the words on both sides",
        _BOTH,
        _table(both, record),
        "## How they were tuned",
        _TUNING,
        *[_grid(entry, record) for entry in ENTRIES.values()],
        "## Cost",
        _cost(record),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(entries: Sequence[NGram | Learner], record: Record) -> str:
    rows = [_row(entry, record) for entry in entries if found_of(entry, record)]
    header = ["model", "parameters", "epochs", "validation", "test", "mixed, test", "minutes"]
    return table_forms.markdown(header, rows) if rows else "No run is complete yet."


def _row(entry: NGram | Learner, record: Record) -> list[str]:
    found = row(entry, record)
    counts = " counts" if isinstance(entry, NGram) else ""
    return [
        found.about,
        f"{found.parameters:,}{counts}",
        str(found.epochs),
        *map(spread, (found.validation, found.test, found.mixed)),
        f"{found.minutes:.1f}",
    ]


def _papers_table() -> str:
    path = checkout.root() / "data" / "brown" / "paper.csv"
    header, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    return table_forms.markdown(header[:-1], [row[:-1] for row in rows], words=(0, 5, 6))


def _counts(record: Record) -> str:
    shares = [name for name in record.counts if "share" in name]
    rows = [
        [name, f"{count:,.0f}", f"{PAPER[name]:,}" if name in PAPER else ""]
        for name, count in record.counts.items()
        if name not in shares
    ] + [[name, f"{record.counts[name]:.1%}", ""] for name in shares]
    genres = [
        f"{name}: {', '.join(f'{genre} {words:,}' for genre, words in split.items())}"
        for name, split in record.genres.items()
    ]
    return "\n\n".join(
        [
            table_forms.markdown(["", "ours", "paper"], rows),
            _VERSIONS,
            "\n".join(f"- {line}" for line in genres),
        ]
    )


def _grid(entry: NGram | Learner, record: Record) -> str:
    tried: list[Run] = (
        discounts_of(entry)
        if isinstance(entry, NGram)
        else [*trials(entry), *with_dropouts(entry, record)]
    )
    found = results_of(tried, record)
    if not found:
        return ""
    names = list(found[0].setting)
    rows = [
        [
            *(_value(result.setting[name]) for name in names),
            f"{result.epochs}",
            f"{result.validation:.1f}",
        ]
        for result in found
    ]
    header = [*(name.replace("_", " ") for name in names), "epochs", "validation"]
    text = "" if isinstance(entry, NGram) else f" Seeds: {_seeds(entry, record)}."
    return f"**{entry.about}**.{text}\n\n{table_forms.markdown(header, rows)}"


def _seeds(entry: Learner, record: Record) -> str:
    each = results_of(seeds(entry, record), record)
    return "; ".join(f"{it.seed}: {it.test:.1f}" for it in each) or "none yet"


def _value(value: object) -> str:
    if value is None:
        return "modified"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value:g}"


def _cost(record: Record) -> str:
    runs = record.runs.values()
    if not runs:
        return ""
    hours = sum(it.cpu_seconds + it.scoring_seconds for it in runs) / 3600
    machines = sorted({machine_said(it.machine) for it in runs})
    return f"{len(runs)} runs, {hours:.1f} hours of one core in all ({'; '.join(machines)})."
