"""The page ``data/brown/README.md``: our table beside the paper's, made from the results alone."""

import csv
from collections.abc import Sequence
from itertools import pairwise
from statistics import mean

from lmcourse import checkout, table_forms
from lmcourse.findings.language_models import Row, spread
from research.brown.entries import ENTRIES, LEARNERS, NGRAMS, Learner, NGram
from research.brown.results import Record, found_of
from research.brown.table import row
from research.brown.text import PAPER
from research.recorded import cost

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

_ORDER = """Each model less the one above it, in percent of the latter's test perplexity; the models
go by validation. *Between seeds*: the least and the greatest difference between a seed of one and a
seed of the other; the verdict is "lower" if all are negative, and "higher" if all are positive. It
says nothing of other texts. Without several seeds of each network there is none. All networks read
the text three times: longer training, or wider ones, can change the order."""

_BESIDE = """Against its Kneser–Ney trigram, the paper's best network has {paper_alone} on its own
(MLP1), MLP9, of the kind that is trained here, {paper_own}, and the best mixture {paper_mixed}
(MLP10, half and half with another trigram). Ours, after {epochs} epochs, has {alone} against our
trigram, and {mixed} mixed with the best n-gram model."""
SAME = "3-gram", "neural-ngram"  # what both tables have

_VERSIONS = """The paper's text is another version of the corpus. It counts marks between
paragraphs, which ours does not have. It distinguishes upper from lower case, and yet it has fewer
different words than ours has in lower case; so it was cut into words in another way, which the
paper does not describe. The split goes by the order of the texts, so its parts have other genres
(words, with a mark after each text):"""

_TUNING = """All choices are made on validation. Networks: three learning rates for a short time,
then, where a network can have them, untied output weights for all epochs. The chosen one is
repeated from other seeds. N-gram models: the modified form's own discounts, or one of five for all
counts. Every run that was done is here."""


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
        "## What beats what",
        _ORDER,
        _order([*NGRAMS, *causal], record),
        _beside(record),
        "## The text",
        _counts(record),
        "## With the words on both sides",
        _BOTH,
        _table(both, record),
        "## How they were tuned",
        _TUNING,
        *[_grid(entry, record) for entry in ENTRIES.values()],
        "## Cost",
        cost(record.runs.values()) if record.runs else "",
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
    header, *rows = _published()
    return table_forms.markdown(header[:-1], [row[:-1] for row in rows], words=(0, 5, 6))


def _order(entries: Sequence[NGram | Learner], record: Record) -> str:
    found = [row(entry, record) for entry in entries if found_of(entry, record)]
    found.sort(key=lambda it: -mean(it.validation))
    rows = [[better.about, *_difference(worse, better)] for worse, better in pairwise(found)]
    header = ["model", "less the one above", "between seeds", "verdict"]
    return table_forms.markdown(header, [[found[0].about, "", "", ""], *rows]) if rows else ""


def _difference(worse: Row, better: Row) -> list[str]:
    less = mean(worse.test)
    each = [(b - a) / less for a in worse.test for b in better.test]
    networks = [it for it in (worse, better) if it.name not in {ngram.name for ngram in NGRAMS}]
    if not networks or any(len(it.test) < 2 for it in networks):
        return [_percent(mean(each), 1), "", ""]
    verdict = "lower" if max(each) < 0 else "higher" if min(each) > 0 else "inconclusive"
    between = f"{_percent(min(each), 1)} … {_percent(max(each), 1)}"
    return [_percent(mean(each), 1), between, verdict]


def _percent(change: float, digits: int = 0) -> str:
    return f"{change:+.{digits}%}".replace("-", "−")


def _beside(record: Record) -> str:
    """How far below its trigram model the paper's network is, and ours of the same kind."""
    if not all(name in ENTRIES and found_of(ENTRIES[name], record) for name in SAME):
        return ""
    tests = {tuple(it[:2]): float(it[9]) for it in _published()[1:]}
    theirs = tests["Kneser–Ney back-off", "3"]
    trigram, own = (row(ENTRIES[name], record) for name in SAME)
    return _BESIDE.format(
        paper_alone=_percent(tests["MLP1", "5"] / theirs - 1),
        paper_mixed=_percent(tests["MLP10", "5"] / theirs - 1),
        paper_own=_percent(tests["MLP9", "5"] / theirs - 1),
        epochs=own.epochs,
        alone=_percent(mean(own.test) / mean(trigram.test) - 1),
        mixed=_percent(mean(own.mixed) / mean(trigram.test) - 1),
    )


def _published() -> list[list[str]]:
    path = checkout.root() / "data" / "brown" / "paper.csv"
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


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
    """All runs of a model, the short ones first."""
    found = [result for result in record.runs.values() if result.name == entry.name]
    if not found:
        return ""
    names = list(found[0].setting)
    rows = [
        [
            *(_value(result.setting[name]) for name in names),
            *(str(it) for it in (result.epochs, result.seed)),
            *(f"{it:.1f}" for it in (result.validation, result.test)),
        ]
        for result in sorted(found, key=lambda it: (it.epochs, it.seed))
    ]
    header = [*(name.replace("_", " ") for name in names), "epochs", "seed", "validation", "test"]
    return f"**{entry.about}**\n\n{table_forms.markdown(header, rows)}"


def _value(value: object) -> str:
    if value is None:
        return "modified"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value:g}"
