"""Speed and memory of the tokenizers beside the library's: `python -m benchmarks.tokenizers`.

BookWorld's training split and Python's documentation, on one core: each recipe learns from the
texts on (counting words included), then encodes texts one by one, and so does the `tokenizers`
library. Memory is what Linux says of a process that only reads the texts, and then learns. The
table goes to `benchmarks/tokenizers.md`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the library keeps to one core too

from benchmarks import tables
from benchmarks.notebooks import one_core
from lmcourse.corpus import BookWorld, python_documentation
from lmcourse.tokenizers import recipes

MERGES = 2000
WITHIN = 5.0  # seconds for so many merges on BookWorld, as wanted
RECIPES = {  # how each is made: the options, and the size of the vocabulary
    "BPE": (recipes.char_bpe, {"vocab_size": MERGES + 100}),  # and some 90 characters
    "byte-level BPE": (recipes.gpt2, {"vocab_size": MERGES + 257}),
    "WordPiece, by frequency": (recipes.bert, {"vocab_size": MERGES, "score": "frequency"}),
    "WordPiece, by likelihood": (recipes.bert, {"vocab_size": MERGES}),
    "unigram": (recipes.albert, {"vocab_size": MERGES}),
}

_PEAK = """
import re, sys
from pathlib import Path
from lmcourse.tokenizers import recipes
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
texts = Path(sys.argv[1]).read_text(encoding="utf-8").split("\\0")
before = peak()
getattr(recipes, sys.argv[2])(texts, int(sys.argv[3]))
print(before, peak())
"""


class Encoder(Protocol):
    """A tokenizer, ours or the library's."""

    def encode(self, text: str, /) -> Sequence[object]: ...


def timed(runs: int, work: Callable[[], object]) -> float:
    """The shortest of several runs, seconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def encode_all(tokenizer: Encoder, texts: Iterable[str]) -> None:
    for text in texts:
        tokenizer.encode(text)


def memory(texts: Iterable[str], recipe: str, vocab_size: int) -> tuple[float, float]:
    """Peak memory of a process that has read the texts, and after it has learned, MB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "texts")
        path.write_text("\0".join(texts), encoding="utf-8")
        command = [sys.executable, "-c", _PEAK, str(path), recipe, str(vocab_size)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    before, after = map(float, done.stdout.split())
    return before, after


def row(corpus: str, name: str, texts: list[str], runs: int) -> tuple[str, float]:
    """What was measured of one recipe on one corpus, and how long it learned, seconds."""
    recipe, options = RECIPES[name]
    tokenizer, training = recipe(texts, **options)
    steps = f"{len(training.steps):,} merges" if "BPE" in name or "Word" in name else "EM"
    ours = timed(runs, lambda: recipe(texts, **options))
    theirs = "-"
    if options.get("score", "frequency") == "frequency" and name != "WordPiece, by likelihood":
        library = timed(runs, lambda: recipe(texts, **options, backend="tokenizers"))
        theirs = f"{library:.2f} s, {ours / library:.1f}"
    before, after = memory(texts, recipe.__name__, options["vocab_size"])
    saved = tokenizer.to_str()
    first = timed(1, lambda: encode_all(type(tokenizer).from_str(saved), texts))
    again = timed(runs, lambda: encode_all(tokenizer, texts))
    same = timed(runs, lambda: encode_all(tokenizer.to_library(), texts))
    size = sum(map(len, texts)) / 1e6
    print(f"{corpus}, {name}: learned in {ours:.2f} s", flush=True)
    cells = (
        corpus,
        f"{name}, {steps}",
        f"{ours:.2f} s",
        theirs,
        f"{after - before:.0f} MB over {before:.0f}",
        f"{size / first:.2f}, then {size / again:.2f} MB/s",
        f"{size / same:.2f} MB/s, {again / same:.1f}",
    )
    return f"| {' | '.join(cells)} |", ours


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="the best of so many runs counts")
    arguments = parser.parse_args()
    held = one_core()
    corpora = {
        "BookWorld": [review.text for review in BookWorld().split("train")],
        "documentation": python_documentation(),
    }
    rows, within = [], True
    for corpus, texts in corpora.items():
        for name in RECIPES:
            line, seconds = row(corpus, name, texts, arguments.runs)
            rows.append(line)
            within &= corpus != "BookWorld" or "BPE" not in name or seconds <= WITHIN
    sizes = ", ".join(f"{name} {sum(map(len, texts)) / 1e6:.1f}" for name, texts in corpora.items())
    facts = (
        f"{held}, the best of {arguments.runs} runs. Millions of characters: {sizes}. Wanted: "
        f"{MERGES:,} merges on BookWorld within {WITHIN:.0f} s, from the texts on. Memory is the "
        "whole process's, over what it needs to hold the texts. Encoding: first with no word "
        "cached, then with all; ratios are our time by the library's, which caches words too."
    )
    header = (
        "corpus",
        "tokenizer",
        "learns in",
        "the library, ratio",
        "memory to learn",
        "encodes",
        "the library, ratio",
    )
    tables.write(__file__, "Speed and memory of the tokenizers", facts, header, rows)
    return 0 if within else 1


if __name__ == "__main__":
    tables.run(main)
