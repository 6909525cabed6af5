"""The page ``data/scaling/README.md``, made from the results alone."""

from statistics import mean, stdev

from lmcourse import table_forms
from research.recorded import cost
from research.scaling.grid import BATCH, HELD_OUT, SEEDS, TEST, Record, Result, cells, finished

_HEAD = """# The course's scaling law

Causal Transformers (GPT) of several sizes, each trained on several amounts of BookWorld's text.
`lmcourse scaling --run` does the runs that are missing and rewrites this page from
`results.json`."""

_READING = f"""Each run reads its text once, in batches of {BATCH} reviews, with AdamW, a warm-up
phase of a tenth of the updates, and a linear decay to 0 that ends with the text. The learning rate
of a row is the best of a grid of factors of 2 on {HELD_OUT} held-out reviews, which is extended
until the best is not at its end; it is repeated from {SEEDS} seeds. *Parameters*: of the layers;
*embeddings*: of tokens, which are also the output matrix, and of positions. *FLOPs*: operations of
the training, counted. *Gap*: how far the network is above the exactly known floor on {TEST} test
reviews, in nats per token; mean ± standard deviation over the seeds."""
_HEADER = ("layers × width", "parameters", "embeddings", "tokens", "FLOPs", "rate", "loss", "gap")


def page(record: Record) -> str:
    """Return the page."""
    rows = [_row(results) for _, results in finished(record)]
    done = f"{len(rows)} of {len(cells())} sizes and amounts of text are done."
    parts = [_HEAD, _READING, f"The vocabulary has {record.vocabulary:,} tokens. {done}"]
    if rows:
        parts += [table_forms.markdown(_HEADER, rows), cost(record.runs.values())]
    return "\n\n".join(parts) + "\n"


def _row(results: list[Result]) -> list[str]:
    first = results[0]
    return [
        f"{first.layers} × {first.width}",
        f"{first.parameters:,}",
        f"{first.embeddings:,}",
        f"{first.tokens:,}",
        f"{first.flops:.2e}",
        f"{first.rate:g}",
        f"{mean(it.loss for it in results):.4f}",
        f"{mean(it.gap for it in results):.4f} ± {stdev(it.gap for it in results):.4f}",
    ]
