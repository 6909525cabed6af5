"""DeBERTa's speed beside the library's, and its attention's memory: `python -m benchmarks.deberta`.

The speed is measured as BERT's is (`benchmarks.side_by_side`); the library computes this attention
step by step. For the memory, three ways to the same scores, each in a process that does nothing but
one head of attention: *naive*, with a vector of the distance for each pair, (query × key × d);
*looked up*, with the products with all 2k distances and each pair's picked (algorithm 1); *viewed*,
where each pair's number is a view of these products. The table goes to `benchmarks/deberta.md`.
"""

import argparse
import subprocess
import sys

import torch

from benchmarks import tables
from benchmarks.notebooks import one_core
from benchmarks.side_by_side import FACTS, Size, speeds
from lmcourse.models.deberta import DebertaForMaskedLM

HEADER = ("model and batch", "what", "ours", "transformers, eager", "ratio")
LENGTHS = (128, 256, 512, 1024, 2048)
WAYS = ("naive", "looked up", "viewed")
RELATIVE = {
    "relative_attention": True,
    "pos_att_type": "c2p|p2c",
    "position_biased_input": False,
}
SIZES = tuple(
    Size("DeBERTa base", batch, time, RELATIVE, DebertaForMaskedLM)
    for batch, time in ((8, 128), (1, 512))
)

_PEAK = """
import re, sys
from pathlib import Path
import torch
from lmcourse.models import disentangled_attention
from lmcourse.models.disentangled_attention import DisentangledAttention, clipped_distances
torch.set_num_threads(1)
length, way, gradient = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "1"
def naive(content, table, *, mirrored=False, gather=False):
    pairs = clipped_distances(content.shape[-2], table.shape[-2] // 2, content)
    vectors = table[:, pairs.mT if mirrored else pairs]
    return (vectors @ content[0, :, :, :, None])[..., 0][None]
if way == "naive":
    disentangled_attention.at_distances = naive
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
attention = DisentangledAttention(64, 1)
def once(length):
    with torch.set_grad_enabled(gradient):
        x, positions = torch.randn(1, length, 64), torch.randn(1024, 64)
        found, _ = attention(x, positions, need_weights=way != "viewed")
        if gradient:
            found.sum().backward()
once(16)
before = peak()
once(length)
print(peak() - before)
"""


def memory(length: int, way: str, gradient: bool) -> float:
    """What a process takes up besides, at most, to attend once, MB."""
    command = [sys.executable, "-c", _PEAK, str(length), way, str(int(gradient))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    return float(done.stdout)


def memories() -> list[str]:
    """A table of its own, by length."""
    titles = [*WAYS, *(f"{way}, with gradients" for way in WAYS)]
    lines = [
        "",
        "Memory of one head of disentangled attention, 64 numbers wide and k = 512, over one "
        "sequence: the process's peak over what it took before. Naive: a vector for each pair, "
        "(query × key × d); looked up: all products with the 2k distances, and each pair's picked "
        "(algorithm 1); viewed: picked by a view, and the fused attention. Above k, where "
        "distances are clipped, the view is a look-up too.",
        "",
        f"| tokens | {' | '.join(titles)} |",
        "|" + "---|" * (1 + len(titles)),
    ]
    for length in LENGTHS:
        figures = [memory(length, way, gradient) for gradient in (False, True) for way in WAYS]
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
    title = "DeBERTa's speed, and its attention's memory"
    tables.write(__file__, title, facts, HEADER, rows + memories())
    return min(late, 1)


if __name__ == "__main__":
    tables.run(main)
