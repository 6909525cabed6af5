"""The page ``data/tagging/README.md``, made from the results alone."""

from collections.abc import Sequence
from statistics import mean, stdev

from lmcourse import table_forms
from lmcourse.corpus.brown import GENRES
from research.recorded import cost
from research.tagging.entries import (
    ENTRIES,
    EPOCHS,
    TRIAL,
    Entry,
    Record,
    Result,
    found,
    rows,
    trials_of,
)
from research.tagging.scores import Contrast, accuracies, contrast
from research.tagging.text import (
    ALL,
    EVERY,
    FICTION,
    KINDS,
    TEST,
    UNSEEN,
    VALIDATION,
    WITHOUT,
    WORDS,
)

_HEAD = """# Part-of-speech tagging of text that people wrote

Taggers learn the twelve universal tags of the Brown corpus from the same sentences.
`lmcourse tagging --all` does the runs that are missing and rewrites this page from `results.json`;
`lmcourse real install` brings the corpus."""

_READING = f"""All learn from the same {WORDS:,} words, which the networks read {EPOCHS} times.
Percent of the test's tokens with the right tag, punctuation included. *Unseen*:
tokens of words that the training text does not have. *Ambiguous*: tokens of words that have more
than one tag in it. Several seeds: mean ± standard deviation. *Parameters*: of a network, mostly the
vectors of words; of the most frequent tag, the words; of the perceptron, the weights that are not
0. *Minutes*: of one core of a CPU, training alone, mean over the seeds.

- **Most frequent tag**: of the word; for unseen words, that of the words that occur once.
- **Averaged perceptron**: the word, its prefixes and suffixes of up to four characters, its case,
  digits and hyphens, two words on each side, pairs of words, and the two tags that it gave before.
- **LSTM**: chapter 04's tagger, from left to right. With a **delay**, it reads the next word before
  it tags a word. **BiLSTM**: both directions, with narrower states.
- **Characters**: chapter 07's convolution over a word's characters, beside the word's vector; still
  narrower states.

The networks that read words alone have one vector for all unseen words: they see neither endings
nor capitals, which the perceptron does."""

_CONTRASTS = """Differences in percentage points. *Over texts*: the 95 % interval of the difference
of the means over seeds, by a bootstrap of whole texts. *Over seeds*: the least and the greatest
difference between a seed of one and a seed of the other. A verdict is given where both exclude 0;
the others are inconclusive. The intervals are not corrected for their number."""

_GENRES = """Percent of the tokens of each genre's test texts, mean over the seeds. Most genres have
few texts, so these numbers are rough."""

_SHIFT = """Some of the taggers, with the settings of the table above, trained on as many words
without {fiction}. The test texts are the same.
*Difference*: without fiction less with all genres, in percentage points, on the test texts of these
five genres, with intervals as above; on the other texts, the mean."""

_TEXT = f"""Whole texts are held out. The texts of each genre are numbered from 0 in the order of
the corpus: every twentieth, from number {VALIDATION[0]} on, validates, and every tenth, from number
{TEST[0]} on, tests. Training texts are drawn at random from the others until they have {WORDS:,}
words, less than a tenth of the corpus: each run takes a minute. More text may change the order."""

_TUNING = f"""One setting of each tagger, three values; the accuracy on validation chooses. Networks
read the training text {TRIAL} times in these trials, and {EPOCHS} times in the table above. A value
at the end of its range may not be the best possible. The width of the networks, their dropout and
the number of their epochs are fixed; longer training may change the order, too."""

PAIRS = [
    ("perceptron", "most-frequent"),
    ("bilstm", "lstm"),
    ("bilstm", "lstm-delay"),
    ("lstm-delay", "lstm"),
    ("bilstm-characters", "bilstm"),
    ("lstm", "perceptron"),
    ("bilstm", "perceptron"),
    ("bilstm-characters", "perceptron"),
]
"""The rows whose differences the page shows."""


def page(record: Record) -> str:
    """The whole page, in Markdown."""
    done = [entry for entry in ENTRIES.values() if rows(entry, record)]
    shifted = [entry for entry in done if rows(entry, record, WITHOUT)]
    parts = [
        _HEAD,
        *("## Accuracy", _READING, _scores(done, record)),
        *("## What beats what", _CONTRASTS, _contrasts(record)),
        *("## Genres", _GENRES, _genres(done, record)),
        *(
            "## Trained without fiction",
            _SHIFT.format(fiction=", ".join(FICTION).replace("_", " ")),
        ),
        _shift(shifted, record),
        *("## The text", _TEXT, _counts(record)),
        *("## How they were tuned", _TUNING, _tuning(record)),
        *("## Cost", cost(record.runs.values())),
    ]
    return "\n\n".join(parts) + "\n"


def percent(shares: Sequence[float]) -> str:
    """Mean ± standard deviation in percent; of one share, the value."""
    spread = f" ± {stdev(shares):.2%}" if len(shares) > 1 else ""
    return f"{mean(shares):.2%}{spread}".replace("%", "")


def _scores(done: Sequence[Entry], record: Record) -> str:
    lines = []
    for entry in done:
        results = rows(entry, record)
        scores = [percent(accuracies(results, record, kind)) for kind in KINDS]
        minutes = mean(result.cpu_seconds for result in results) / 60
        parameters = f"{mean(result.parameters for result in results):,.0f}"
        lines.append([entry.about, parameters, *scores, f"{minutes:.1f}"])
    return table_forms.markdown(["tagger", "parameters", *KINDS, "minutes"], lines)


def _contrasts(record: Record) -> str:
    lines = []
    for names in PAIRS:
        one, other = (ENTRIES[name] for name in names)
        results = rows(one, record), rows(other, record)
        if all(results):
            for kind in KINDS:
                cells = _cells(contrast(*results, record, kind))
                lines.append([f"{one.about} − {other.about}", kind, *cells])
    header = ["difference", "tokens", "points", "over texts", "over seeds", "verdict"]
    return table_forms.markdown(header, lines, words=(0, 1, 5))


def _cells(it: Contrast) -> list[str]:
    verdict = ("higher" if it.difference > 0 else "lower") if it.separated else "inconclusive"
    texts, seeds = (f"{_points(low)} … {_points(high)}" for low, high in (it[1:3], it[3:]))
    return [_points(it.difference), texts, seeds, verdict]


def _points(difference: float) -> str:
    return f"{100 * difference:+.2f}".replace("-", "−")


def _genres(done: Sequence[Entry], record: Record) -> str:
    tokens = dict(zip(record.genres, record.tokens[EVERY][ALL], strict=True))
    lines = []
    for genre in GENRES:
        texts = [text for text, its in record.genres.items() if its == genre]
        if texts:
            means = [_mean(rows(entry, record), record, [genre]) for entry in done]
            size = f"{sum(tokens[text] for text in texts):,}"
            lines.append([genre.replace("_", " "), str(len(texts)), size, *means])
    return table_forms.markdown(["genre", "texts", "tokens", *(it.about for it in done)], lines)


def _shift(shifted: Sequence[Entry], record: Record) -> str:
    other = [genre for genre in GENRES if genre not in FICTION]
    lines = []
    for entry in shifted:
        every, without = rows(entry, record), rows(entry, record, WITHOUT)
        scores = [percent(accuracies(each, record, ALL, FICTION)) for each in (every, without)]
        cells = _cells(contrast(without, every, record, ALL, FICTION))
        means = [mean(accuracies(each, record, ALL, other)) for each in (every, without)]
        lines.append([entry.about, *scores, *cells, _points(means[1] - means[0])])
    header = ["tagger", EVERY, WITHOUT, "difference", "over texts", "over seeds", "verdict"]
    return table_forms.markdown([*header, "other texts"], lines, words=(0, 6))


def _mean(results: Sequence[Result], record: Record, genres: Sequence[str]) -> str:
    return f"{100 * mean(accuracies(results, record, ALL, genres)):.1f}"


def _counts(record: Record) -> str:
    lines = [
        [f"{split}{f', {task}' if split == 'training' else ''}", *(f"{it:,}" for it in counts)]
        for task in record.counts
        for split, counts in record.counts[task].items()
        if task == EVERY or split == "training"
    ]
    kinds = ", ".join(f"{kind} {sum(record.tokens[EVERY][kind]):,}" for kind in KINDS[1:])
    without = sum(record.tokens[WITHOUT][UNSEEN])
    return "\n\n".join(
        [
            table_forms.markdown(["", "texts", "sentences", "tokens"], lines),
            f"Tokens of the test: {kinds}; {without:,} are unseen {WITHOUT}.",
        ]
    )


def _tuning(record: Record) -> str:
    lines = []
    for entry in ENTRIES.values():
        for result in found(trials_of(entry), record) if entry.setting else []:
            value = f"{entry.setting} {result.setting:g}"
            lines.append([entry.about, value, f"{100 * result.validation:.2f}"])
    return table_forms.markdown(["tagger", "setting", "validation"], lines, words=(0, 1))
