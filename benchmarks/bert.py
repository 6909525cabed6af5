"""BERT's speed beside the library's, and attention's memory: `python -m benchmarks.bert`.

Ours and the `transformers` library's have the same weights and read the same padded batch, turn by
turn, in float32 and one thread; its attention is PyTorch's fused kernel, as is ours. A training
step is forward, loss of the masked words (15 % of them), backward and AdamW, with dropout. Memory
is what Linux says of a process that does nothing but one attention. The table goes to
`benchmarks/bert.md`.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from benchmarks import tables
from benchmarks.notebooks import one_core
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.inputs import IGNORED

WANTED = 1.0  # our time over the library's
SECONDS = 10.0  # a short run is repeated oftener
LENGTHS = (128, 256, 512, 1024, 2048)

_PEAK = """
import re, sys
from pathlib import Path
import torch
from lmcourse.models.attention import attend
torch.set_num_threads(1)
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
def once(length):
    q, k, v = (torch.randn(1, 12, length, 64, requires_grad=sys.argv[3] == "1") for _ in range(3))
    found, _ = attend(q, k, v, need_weights=sys.argv[2] == "1")
    if found.requires_grad:
        found.sum().backward()
once(16)
before = peak()
once(int(sys.argv[1]))
print(peak() - before)
"""


@dataclass(frozen=True)
class Size:
    """What is measured: a model's settings, and the batch's."""

    name: str
    batch: int
    time: int
    settings: dict[str, int]


SIZES = (
    Size("BERT base", 8, 128, {}),
    Size(
        "the course's",
        64,
        64,
        {
            "vocab_size": 2000,
            "hidden_size": 128,
            "num_hidden_layers": 4,
            "num_attention_heads": 4,
            "intermediate_size": 512,
        },
    ),
)


def batch(size: Size, vocab_size: int, device: str) -> dict[str, torch.Tensor]:
    """Ids, every second sequence of which is padded by a quarter, and labels of 15 %."""
    ids = torch.randint(1, vocab_size, (size.batch, size.time))
    mask = torch.ones_like(ids)
    mask[1::2, -size.time // 4 :] = 0
    labels = ids.masked_fill((torch.rand(ids.shape) > 0.15) | (mask == 0), IGNORED)
    given = {"input_ids": ids, "attention_mask": mask, "labels": labels}
    return {name: tensor.to(device) for name, tensor in given.items()}


def forward(model: Any, given: dict[str, torch.Tensor]) -> Callable[[], object]:
    """Read a batch, without a head and without gradients."""
    read = {name: tensor for name, tensor in given.items() if name != "labels"}

    def work() -> None:
        model.eval()
        with torch.no_grad():
            model.bert(**read)

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
    """The rows of one size, with their ratios."""
    import transformers

    config = transformers.BertConfig(**size.settings)
    config._attn_implementation = "sdpa"
    torch.manual_seed(0)
    reference = transformers.BertForMaskedLM(config).to(device)
    ours = BertForMaskedLM.from_transformers(reference)
    given = batch(size, config.vocab_size, device)
    rows = []
    for name, make in (("forward", forward), ("training step", step)):
        works = {"ours": make(ours, given), "theirs": make(reference, given)}
        turns = tables.Turns(works, runs, SECONDS, device)
        ratio = turns.ratio("ours", "theirs")
        row = (
            f"| {size.name}, {size.batch} × {size.time}, {device} | {name} "
            f"| {turns.best('ours'):.1f} ms | {turns.best('theirs'):.1f} ms | {ratio} |"
        )
        rows.append((row, ratio))
        print(row, flush=True)
    return rows


def memory(length: int, weights: bool, gradient: bool) -> float:
    """What a process takes up besides, at most, to attend once, MB."""
    arguments = [str(length), str(int(weights)), str(int(gradient))]
    command = [sys.executable, "-c", _PEAK, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    return float(done.stdout)


def memories() -> list[str]:
    """A table of its own: full against fused attention, by length."""
    lines = [
        "",
        "Memory of one attention of 12 heads of 64 numbers, one sequence: the process's peak over "
        "what it took before.",
        "",
        "| tokens | full | fused | full, with gradients | fused, with gradients |",
        "|---|---|---|---|---|",
    ]
    for length in LENGTHS:
        figures = [memory(length, *case) for case in ((1, 0), (0, 0), (1, 1), (0, 1))]
        lines.append(f"| {length} | " + " | ".join(f"{figure:.0f} MB" for figure in figures) + " |")
        print(lines[-1], flush=True)
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=8, help="how many turns, at least")
    runs = parser.parse_args().runs
    kept = one_core()
    torch.set_num_threads(1)
    rows = [row for size in SIZES for row in speed(size, runs, "cpu")]
    if torch.cuda.is_available():
        rows += [row for size in SIZES for row in speed(size, runs, "cuda")]
    facts = (
        f"{kept}, PyTorch {torch.__version__}, float32, the best of {runs} turns or more (on a "
        "CPU, of its time); of each turn's ratios the median, and the middle half. Wanted: our "
        f"time over the library's at most {WANTED:.1f}."
    )
    header = ("model and batch", "what", "ours", "transformers, sdpa", "ratio")
    lines = [row for row, _ in rows]
    tables.write(
        __file__, "BERT's speed, and attention's memory", facts, header, lines + memories()
    )
    late = [row for row, ratio in rows if not ratio.within(WANTED)]
    print(f"{len(late)} of {len(rows)} slower than wanted")
    return min(len(late), 1)


if __name__ == "__main__":
    tables.run(main)
