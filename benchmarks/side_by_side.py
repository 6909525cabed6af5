"""Ours and the `transformers` library's model with the same weights and batch, turn by turn."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from benchmarks import tables
from benchmarks.notebooks import one_core
from lmcourse.models.bert import BertHead
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.conversion import conversion_of
from lmcourse.models.inputs import IGNORED

WANTED = 1.0  # our time over the library's
SECONDS = 10.0  # a short run is repeated oftener
FACTS = (
    "float32, the best of {runs} turns or more (on a CPU, of its time); of each turn's ratios the "
    f"median, and the middle half. Wanted: our time over the library's at most {WANTED:.1f}."
)


COURSE = {
    "vocab_size": 2000,
    "hidden_size": 128,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 512,
}
"""The size of the models that the course trains."""


@dataclass(frozen=True)
class Size:
    """What is measured: a model, its settings as the library names them, and the batch's size."""

    name: str
    batch: int
    time: int
    settings: dict[str, Any] = field(default_factory=dict)
    kind: type[BertHead] = BertForMaskedLM


def masked_words(size: Size, vocab_size: int) -> dict[str, torch.Tensor]:
    """Ids, every second sequence of which is padded by a quarter, and labels of 15 %."""
    ids = torch.randint(5, vocab_size, (size.batch, size.time))
    mask = torch.ones_like(ids)
    mask[1::2, -size.time // 4 :] = 0
    labels = ids.masked_fill((torch.rand(ids.shape) > 0.15) | (mask == 0), IGNORED)
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def forward(body: Any, given: dict[str, torch.Tensor]) -> Callable[[], object]:
    """Read a batch, without a head and without gradients."""
    read = {name: tensor for name, tensor in given.items() if name != "labels"}

    def work() -> None:
        body.eval()
        with torch.no_grad():
            body(**read)

    return work


def step(model: Any, given: dict[str, torch.Tensor]) -> Callable[[], object]:
    """Train one step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def work() -> None:
        model.train()
        optimizer.zero_grad()
        model(**given).loss.backward()
        optimizer.step()

    return work


def speed(size: Size, runs: int, device: str) -> list[tuple[str, tables.Ratio]]:
    """The rows of one size, with their ratios; each is printed as soon as it is there."""
    import transformers

    conversion = conversion_of(size.kind)
    config = getattr(transformers, conversion.config)(**size.settings)
    torch.manual_seed(0)
    kind = getattr(transformers, conversion.architecture)
    config._attn_implementation = "sdpa" if kind._supports_sdpa else "eager"
    reference = kind(config).to(device)
    ours = size.kind.from_transformers(reference)
    given = masked_words(size, config.vocab_size)
    if conversion.architecture == "ElectraForPreTraining":  # whose labels say what was replaced
        given["labels"] = (given["labels"] != IGNORED).long()
    given = {name: tensor.to(device) for name, tensor in given.items()}
    works = {
        "forward": (forward(ours.bert, given), forward(reference.base_model, given)),
        "training step": (step(ours, given), step(reference, given)),
    }
    rows = []
    for name, (own, other) in works.items():
        turns = tables.Turns({"ours": own, "theirs": other}, runs, SECONDS, device)
        ratio = turns.ratio("ours", "theirs")
        row = (
            f"| {size.name}, {size.batch} × {size.time}, {device} | {name} "
            f"| {turns.best('ours'):.1f} ms | {turns.best('theirs'):.1f} ms | {ratio} |"
        )
        rows.append((row, ratio))
        print(row, flush=True)
    return rows


def main(
    script: str,
    title: str,
    sizes: tuple[Size, ...],
    attention: str = "sdpa",
    more: Callable[[], list[str]] = lambda: [],
) -> int:
    """Measure all sizes, on the CPU and on a GPU where there is one, and write the table.

    Args:
        script: the benchmark's path, beside which the table goes.
        attention: how the library computes its own.
        more: makes the lines that come after the table.
    """
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--runs", type=int, default=8, help="how many turns, at least")
    runs = parser.parse_args().runs
    kept = one_core()
    torch.set_num_threads(1)
    devices = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
    rows = [row for device in devices for size in sizes for row in speed(size, runs, device)]
    late = sum(not ratio.within(WANTED) for _, ratio in rows)
    print(f"{late} of {len(rows)} slower than wanted")
    facts = f"{kept}, PyTorch {torch.__version__}, {FACTS.format(runs=runs)}"
    header = ("model and batch", "what", "ours", f"transformers, {attention}", "ratio")
    tables.write(script, title, facts, header, [row for row, _ in rows] + more())
    return min(late, 1)
