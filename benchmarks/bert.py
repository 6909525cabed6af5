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

import torch

from benchmarks import tables
from benchmarks.notebooks import one_core
from benchmarks.side_by_side import FACTS, HEADER, Size, speeds

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


SIZES = (
    Size("BERT base", 8, 128),
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
    rows, late = speeds(SIZES, runs)
    facts = f"{kept}, PyTorch {torch.__version__}, {FACTS.format(runs=runs)}"
    title = "BERT's speed, and attention's memory"
    tables.write(__file__, title, facts, HEADER, rows + memories())
    return min(late, 1)


if __name__ == "__main__":
    tables.run(main)
