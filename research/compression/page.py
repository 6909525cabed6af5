"""The page ``data/compression/README.md``, made from the results alone."""

from itertools import product
from statistics import mean, stdev

from lmcourse import table_forms
from lmcourse.widgets.pareto import front
from research.compression.encoders import ENCODERS, Encoder
from research.compression.grid import RECOVERY, SEEDS, TUNED, TUNING
from research.compression.methods import METHODS
from research.compression.records import Record, Row
from research.compression.tasks import ACCEPTABILITY, METRICS, SPANS
from research.recorded import machine_said

_HEAD = """# Compressed encoders: bytes, time and score

A teacher, its two students and two encoders without a teacher are fine-tuned on two tasks of
BookWorld, and compressed in {methods} ways. `lmcourse compression --all` does the runs that
are missing and rewrites this page from `results.json`; the gallery's page *Pareto* draws it."""

_SETUP = """- **Acceptability**, like GLUE's CoLA: does a sentence of a review have a mistake?
  Accuracy, chance 0.5. A bag of words has {words:.3f}. {train_a:,} sentences to learn from,
  {length_a:.0f} tokens each.
- **Span questions**, like SQuAD: a question and three sentences of a review; which words answer
  it? Without questions that are answered through a pronoun. F1. {train_s:,} questions,
  {length_s:.0f} tokens each.
- Both are scored on {test} examples of their own, and settings chosen on {validation} others. A
  score on so few examples has a standard error of up to {error:.3f} besides the spread over
  seeds.
- **Fine-tuning**: {tune_a} and {tune_s} updates of {batch} examples with Adam, linear warm-up
  (10 %) and decay, one of the learning rates {tuning}. All encoders have the same heads, and no
  dropout.
- **Recovery**: every compressed model, and the one without compression, gets {recover_a} and
  {recover_s} further updates of the same kind, on the same batches, with one of the learning
  rates {recovery}. *float16 file*, *int8, dynamic* and the combinations with int8 come after
  these updates and get none.
- Learning rates are chosen on validation, for each encoder, task and method, with the first of
  {seeds} seeds. A seed decides the new head and the order of the examples. Each encoder was
  pretrained once, so the spread over seeds does not contain that of pretraining.
- **Bytes**: of a safetensors file with every tensor once, in float32 where it is not int8;
  *sparse*, with matrices as compressed sparse rows where that is smaller; *gzip*, of the dense
  file.
- **Time**: CPU time of one thread for a batch of 16, in units of the teacher's, which is
  measured directly before each other model in the same process; the median of the rounds, with
  its quartiles.
- Scores: mean ± standard deviation over the seeds."""

_ENCODERS = """All encoders read the same 30,000 reviews with 30 % of the tokens masked. The
students' updates cost more than others, since the teacher reads the batch, too. The encoder of
DistilBERT's size without a teacher had more updates than the student; that of TinyBERT's size as
many. DistilBERT starts from its teacher's layers; the others start from random weights. TinyBERT
is the published one of general distillation: no second distillation on the task."""

_FRONTS = """The models that no other model dominates, that is, costs no more and scores no less.
Computed from means; where spreads overlap, another seed may move a model to or from the front."""

_CONTRASTS = """The student less the encoder of its size without a teacher, after the same method:
the difference of the means, and in parentheses the least and the greatest difference between a seed
of one and a seed of the other. A star marks differences whose sign is the same for all pairs of
seeds. They are not corrected for their number."""

_LEFT_OUT = """Not in the grid: distillation on the task, other batch sizes and longer recovery,
sparse kernels (the time of a pruned model is that of dense matrices), int8 or float16 embeddings
beside int8 layers, rates other than those above, several pretrainings of each encoder, and
combinations of three families. A rate at the end of its range may not be the best possible."""

PAIRS = (("bookworld-distilbert", "bookworld-mlm"), ("bookworld-tinybert", "small-mlm"))
BYTES = {"stored": "bytes as stored", "sparse": "bytes, sparse", "gzip": "bytes, gzip"}
COSTS = {**BYTES, "parameters": "parameters", "time": "time, teacher = 1"}


def page(record: Record) -> str:
    """Return the page's text."""
    known = {row.encoder for row in record.rows}
    encoders = [it for it in ENCODERS if it.name in known]
    parts = [
        _HEAD.format(methods=len(METHODS) - 1),
        *("## Setup", _setup(record)),
        *("## Encoders", _ENCODERS, _encoders(encoders, record)),
        *("## Results", *(_results(it, record) for it in encoders)),
        *("## Fronts", _FRONTS, _fronts(encoders, record)),
        *("## With and without a teacher", _CONTRASTS, _contrasts(known, record)),
        *("## What was left out", _LEFT_OUT),
        *("## Cost", _cost(record)),
    ]
    return "\n\n".join(parts) + "\n"


def label(encoder: Encoder, method: str) -> str:
    """Return what a compressed encoder is called."""
    return encoder.label if method == METHODS[0].name else f"{encoder.label}, {method}"


def rows_of(record: Record, **facts: str) -> list[Row]:
    """Return the rows with these facts, without those before any method."""
    return [
        row
        for row in record.rows
        if row.method != TUNED and all(getattr(row, key) == it for key, it in facts.items())
    ]


def means(rows: list[Row]) -> list[float]:
    """Return the mean scores, rounded: equal scores in another order are equal."""
    return [round(mean(row.scores), 6) for row in rows]


def _setup(record: Record) -> str:
    amounts = record.amounts
    return _SETUP.format(
        words=record.reference[ACCEPTABILITY],
        train_a=amounts["train"][ACCEPTABILITY],
        train_s=amounts["train"][SPANS],
        length_a=record.lengths[ACCEPTABILITY],
        length_s=record.lengths[SPANS],
        test=amounts["test"],
        validation=amounts["validation"],
        error=0.5 / amounts["test"] ** 0.5,
        tune_a=amounts["tune"][ACCEPTABILITY],
        tune_s=amounts["tune"][SPANS],
        recover_a=amounts["recover"][ACCEPTABILITY],
        recover_s=amounts["recover"][SPANS],
        batch=amounts["batch_size"],
        tuning=" and ".join(f"{rate:g}" for rate in TUNING),
        recovery=" and ".join(f"{rate:g}" for rate in RECOVERY),
        seeds=len(SEEDS),
    )


def _encoders(encoders: list[Encoder], record: Record) -> str:
    lines = []
    for encoder in encoders:
        before = [row for row in record.rows if (row.encoder, row.method) == (encoder.name, TUNED)]
        scores = [_score(row) for row in before]
        lines.append([encoder.label, encoder.name, encoder.pretraining, *scores])
    header = ["encoder", "name", "pretraining", *(f"{it}, fine-tuned" for it in METRICS)]
    return table_forms.markdown(header, lines, words=(0, 1, 2))


def _results(encoder: Encoder, record: Record) -> str:
    lines = []
    for method in METHODS:
        found = rows_of(record, encoder=encoder.name, method=method.name)
        first = found[0]
        times = [f"{it.time:.2f} ({it.fast:.2f}–{it.slow:.2f})" for it in found]
        counts = [f"{it:,}" for it in (first.parameters, first.stored, first.sparse, first.gzip)]
        lines.append([method.name, *counts, times[0], *(_score(it) for it in found)])
    header = ["method", "parameters", "stored", "sparse", "gzip", "time", *METRICS]
    table = table_forms.markdown(header, lines)
    return f"### {encoder.label}\n\nSizes and times with the head for acceptability.\n\n{table}"


def _fronts(encoders: list[Encoder], record: Record) -> str:
    names = {it.name: it for it in encoders}
    lines = []
    for task, (cost, words) in product(METRICS, COSTS.items()):
        found = rows_of(record, task=task)
        best = front([getattr(it, cost) for it in found], means(found))
        each = [
            f"{label(names[found[i].encoder], found[i].method)} ({mean(found[i].scores):.3f})"
            for i in best
        ]
        lines.append([task, words, "; ".join(each)])
    return table_forms.markdown(
        ["task", "cost", "front, the cheapest first"], lines, words=(0, 1, 2)
    )


def _contrasts(known: set[str], record: Record) -> str:
    names = {it.name: it.label for it in ENCODERS}
    pairs = [pair for pair in PAIRS if known.issuperset(pair)]
    lines = []
    for method in METHODS:
        cells = []
        for (one, other), task in product(pairs, METRICS):
            a, b = (
                rows_of(record, encoder=it, task=task, method=method.name)[0].scores
                for it in (one, other)
            )
            low, high = min(a) - max(b), max(a) - min(b)
            star = " *" if low > 0 or high < 0 else ""
            ends = f"{_signed(low)} … {_signed(high)}"
            cells.append(f"{_signed(mean(a) - mean(b))} ({ends}){star}")
        lines.append([method.name, *cells])
    header = [
        f"{names[one]} − {names[other]}: {task}" for (one, other), task in product(pairs, METRICS)
    ]
    return table_forms.markdown(["method", *header], lines)


def _cost(record: Record) -> str:
    minutes = record.cpu_seconds / 60
    return (
        f"{record.runs} results, trials included: {minutes:.0f} minutes of one core "
        f"({machine_said(record.machine)}). The encoder that is pretrained for this took five more."
    )


def _score(row: Row) -> str:
    return f"{mean(row.scores):.3f} ± {stdev(row.scores):.3f}"


def _signed(difference: float) -> str:
    return f"{difference:+.3f}".replace("-", "−")
