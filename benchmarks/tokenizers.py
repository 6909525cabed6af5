"""Speed and memory of training tokenizers, beside the library's: `python -m benchmarks.tokenizers`.

BookWorld's training split and Python's documentation, on one core: each recipe learns from the
texts (counting words included), with our trainer and with the `tokenizers` library's. Memory is the
peak of a process that only reads the texts, and then learns. The table is written to
`benchmarks/tokenizers.md`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the library keeps to one core too

from benchmarks import tables
from benchmarks.notebooks import one_core
from lmcourse import table_forms
from lmcourse.corpus import BookWorld, python_documentation
from lmcourse.tokenizers import recipes

MERGES = 2000
WITHIN = 5.0  # seconds for so many merges on BookWorld
Options = dict[str, Any]
RECIPES: dict[str, tuple[Callable[..., recipes.Recipe], Options]] = {
    "BPE": (recipes.char_bpe, {"vocab_size": MERGES + 100}),  # and some 90 characters
    "byte-level BPE": (recipes.gpt2, {"vocab_size": MERGES + 257}),
    "WordPiece, by frequency": (recipes.bert, {"vocab_size": MERGES, "score": "frequency"}),
    "WordPiece, by likelihood": (recipes.bert, {"vocab_size": MERGES}),
    "unigram": (recipes.albert, {"vocab_size": MERGES}),
}

_PEAK = """
import json, re, sys
from pathlib import Path
from lmcourse.tokenizers import recipes
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
texts = Path(sys.argv[1]).read_text(encoding="utf-8").split("\\0")
before = peak()
getattr(recipes, sys.argv[2])(texts, **json.loads(sys.argv[3]))
print(before, peak())
"""


def memory(texts: Iterable[str], recipe: str, options: Options) -> tuple[float, float]:
    """Peak memory of a process that has read the texts, and after it has learned, MB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "texts")
        path.write_text("\0".join(texts), encoding="utf-8")
        command = [sys.executable, "-c", _PEAK, str(path), recipe, json.dumps(options)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    before, after = map(float, done.stdout.split())
    return before, after


def row(corpus: str, name: str, texts: list[str], runs: int) -> tuple[str, float]:
    """The measurements of one recipe on one corpus, and how long it learned, seconds."""
    recipe, options = RECIPES[name]
    training = recipe(texts, **options).training
    ours = tables.best(runs, lambda: recipe(texts, **options))
    learned = f"{ours:.2f} s"
    if name != "WordPiece, by likelihood":  # which the library does not have
        library = tables.best(runs, lambda: recipe(texts, **options, backend="tokenizers"))
        learned += f", {library:.2f} s, {ours / library:.1f}"
    before, after = memory(texts, recipe.__name__, options)
    steps = "" if name == "unigram" else f", {len(training.steps):,} merges"
    print(f"{corpus}, {name}: learned in {learned}", flush=True)
    cells = (corpus, name + steps, learned, f"{after - before:.0f} MB over {before:.0f}")
    return table_forms.markdown_line(cells), ours


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
        f"{held}, the best of {arguments.runs} runs. Millions of characters: {sizes}. Goal: "
        f"{MERGES:,} merges on BookWorld within {WITHIN:.0f} s, counting words included. Where "
        "there are three figures, they are ours, the library's, and their ratio. Memory is the "
        "whole process's peak, over what it needs to hold the texts. Encoding is the library's."
    )
    header = ("corpus", "tokenizer", "learns in", "memory to learn")
    tables.write(__file__, "Speed and memory of training tokenizers", facts, header, rows)
    return 0 if within else 1


if __name__ == "__main__":
    tables.run(main)
