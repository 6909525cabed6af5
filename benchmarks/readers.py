"""Speed and memory of the readers of real data: `python -m benchmarks.readers [--runs 5]`.

Reviews of the size of Goodreads' (13 sentences, 1.3 kB) are made up, written and read on
one core; word vectors are read by us and by gensim. The table goes to `benchmarks/readers.md`.
Memory is what Linux says of a process that only reads.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import tables
from benchmarks.notebooks import one_core
from lmcourse.corpus import ReviewRecord, WordVectors, read_reviews, read_vectors
from tests.corpus.writing import write_reviews, write_vectors

REVIEWS, WORDS_EACH = 40_000, 12
PER_SECOND = 50_000  # reviews a second, as wanted of one core after decompression
FLAT = 1.1  # how much more memory four times the file may take
WORDS, WIDTH = 40_000, 100

_PEAK = """
import re, sys
from pathlib import Path
from lmcourse.corpus import read_reviews
for review in read_reviews(sys.argv[1]):
    pass
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


def reviews(count: int) -> Iterator[ReviewRecord]:
    """Made-up reviews: 13 sentences of 12 words on average, as large as Goodreads' are."""
    draw = random.Random(0)
    # Zipf's law, so that the text packs as well as real text does.
    words = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(2, 9))) for _ in range(20_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    for number in range(count):
        length = min(200, max(1, round(draw.lognormvariate(2.2, 0.85))))
        text = draw.choices(words, weights, k=WORDS_EACH * length)
        parts = (
            " ".join(text[WORDS_EACH * part : WORDS_EACH * part + WORDS_EACH]) + "."
            for part in range(length)
        )
        yield ReviewRecord(
            f"{draw.getrandbits(128):032x}",
            "2017-08-30",
            tuple((int(draw.random() < 0.03), part) for part in parts),
            draw.randint(0, 5),
            number % 15 == 0,
            str(draw.randint(1, 25_000)),
            f"{draw.getrandbits(128):032x}",
        )


def drain(path: Path, **filters: object) -> None:
    for _ in read_reviews(path, **filters):  # type: ignore[arg-type]
        pass


def peak(path: Path) -> float:
    """Peak memory of a process that reads a file of reviews, MB."""
    command = [sys.executable, "-c", _PEAK, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


def review_rows(folder: Path, runs: int) -> tuple[list[str], bool]:
    """The reader of reviews: its rate from plain and gzipped files, and its memory."""
    plain, packed, long = (folder / name for name in ("r.json", "r.json.gz", "long.json.gz"))
    made = [review.as_dict() for review in reviews(REVIEWS)]
    write_reviews(plain, made)
    write_reviews(packed, made)
    write_reviews(long, (review for _ in range(4) for review in made))
    sentences = sum(len(review["review_sentences"]) for review in made) / REVIEWS
    del made  # so many objects would keep the garbage collector busy
    print(f"{sentences:.1f} sentences, {plain.stat().st_size / REVIEWS:.0f} bytes a review")
    rates = [
        REVIEWS / tables.best(runs, lambda: drain(plain)),
        REVIEWS
        / tables.best(runs, lambda: drain(plain, split="train", where=lambda r: not r.has_spoiler)),
        REVIEWS / tables.best(runs, lambda: drain(packed)),
    ]
    once, four = peak(packed), peak(long)
    what = ("plain file", "plain file, by split and spoiler", "gzipped file, with decompression")
    rows = [
        f"| reviews, {name} | {rate:,.0f} reviews/s |"
        for name, rate in zip(what, rates, strict=True)
    ]
    rows.append(
        f"| peak memory, {REVIEWS:,} and {4 * REVIEWS:,} gzipped reviews "
        f"| {once:.0f} and {four:.0f} MB, ratio {four / once:.2f} |"
    )
    return rows, min(rates[:2]) >= PER_SECOND and four / once <= FLAT


def vector_rows(folder: Path, runs: int) -> list[str]:
    """The reader of vectors beside gensim's."""
    from gensim.models import KeyedVectors

    draw = np.random.default_rng(0).normal(size=(WORDS, WIDTH)).astype(np.float32)
    vectors = WordVectors([f"word{number}" for number in range(WORDS)], draw)
    rows = []
    for format in ("word2vec", "word2vec-binary", "glove"):
        path = folder / format
        write_vectors(path, vectors, format)  # type: ignore[arg-type]
        kind = {"binary": format == "word2vec-binary", "no_header": format == "glove"}
        ours = tables.best(runs, lambda path=path: read_vectors(path))
        theirs = tables.best(
            runs,
            lambda path=path, kind=kind: KeyedVectors.load_word2vec_format(str(path), **kind),
        )
        rows.append(
            f"| {WORDS:,} vectors of width {WIDTH}, {format} "
            f"| {ours:.2f} s, gensim {theirs:.2f} s, {theirs / ours:.1f} times as fast |"
        )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="the best of so many runs counts")
    arguments = parser.parse_args()
    held = one_core()
    with tempfile.TemporaryDirectory() as name:
        rows, within = review_rows(Path(name), arguments.runs)
        rows += vector_rows(Path(name), arguments.runs)
    print(*rows, sep="\n")
    facts = (
        f"{held}, the best of {arguments.runs} runs. Wanted: {PER_SECOND:,} reviews a second after "
        "decompression, and memory that does not grow with the file (whole process, with PyTorch). "
        "Reviews are made up at the size of Goodreads': 13 sentences, 1.3 kB."
    )
    title = "Speed and memory of the readers"
    tables.write(__file__, title, facts, ("what", "measured"), rows)
    return 0 if within else 1


if __name__ == "__main__":
    tables.run(main)
