"""How fast BookWorld is: `python -m benchmarks.bookworld [--runs 5] [--reviews 200]`.

Compilation is timed in fresh processes; generation and exact inference in this one, on one core and
one thread. The table goes to `benchmarks/bookworld.md`.
"""

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from random import Random
from typing import TYPE_CHECKING

from benchmarks import tables
from benchmarks.notebooks import one_core

if TYPE_CHECKING:
    from lmcourse.corpus.bookworld import BookWorld, Review

COMPILE, GENERATE, LOG_PROB, MASKED = 1.0, 10.0, 20.0, 40.0  # s, s a million tokens, ms, ms
COMPILATION = """
import time
began = time.perf_counter()
from lmcourse.corpus.bookworld import BookWorld
imported = time.perf_counter()
BookWorld()
print(imported - began, time.perf_counter() - imported)
"""


def compilations(runs: int) -> tuple[list[float], list[float]]:
    """Seconds of the import and of the compilation, each in a process of its own."""
    imports, compiled = [], []
    for _ in range(runs):
        found = subprocess.run(
            [sys.executable, "-c", COMPILATION], check=True, text=True, stdout=subprocess.PIPE
        )
        seconds = found.stdout.split()
        imports.append(float(seconds[0]))
        compiled.append(float(seconds[1]))
    return imports, compiled


def generation(tokens: int = 1_000_000) -> tuple[float, "list[Review]"]:
    """Seconds to draw reviews of at least so many tokens, one by one, and a thousand of them."""
    from lmcourse.corpus.bookworld import BookWorld
    from lmcourse.corpus.bookworld.sampling import Sampler

    sampler = Sampler(BookWorld().network)
    drawn, kept = 0, []
    began = time.perf_counter()
    for review in sampler.reviews(tokens, seed=1):  # more than enough
        drawn += len(review.ids) - 1
        kept += [review] if len(kept) < 1000 else []
        if drawn >= tokens:
            break
    return (time.perf_counter() - began) * tokens / drawn, kept


def milliseconds(answers: Iterable[Callable[[], object]]) -> list[float]:
    """How long each answer takes."""
    found = []
    for answer in answers:
        began = time.perf_counter()
        answer()
        found.append(1000 * (time.perf_counter() - began))
    return found


def inference(world: "BookWorld", reviews: "list[Review]") -> dict[str, list[float]]:
    """Milliseconds a review of each kind of question."""
    from lmcourse.corpus.bookworld import END

    draw = Random(0)
    texts = [[*review.tokens, END] for review in reviews]
    hidden = [draw.sample(range(len(text) - 1), round(0.15 * len(text))) for text in texts]
    world.log_prob(texts[0])  # what is made at the first question
    return {
        "log-probability": milliseconds(lambda text=text: world.log_prob(text) for text in texts),
        "distribution after every prefix": milliseconds(
            lambda text=text: world.next_tokens(text[:-1]) for text in texts
        ),
        "masked posteriors, 15 % hidden": milliseconds(
            lambda text=text, at=at: world.masked_posterior(text, at)
            for text, at in zip(texts, hidden, strict=True)
        ),
        "masked posterior, one hidden": milliseconds(
            lambda text=text, at=at: world.masked_posterior(text, at[:1])
            for text, at in zip(texts, hidden, strict=True)
        ),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="compilations, each in a new process")
    parser.add_argument("--reviews", type=int, default=200, help="asked about, of each question")
    arguments = parser.parse_args()
    held = one_core()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"

    from lmcourse.corpus.bookworld import BookWorld

    imports, compiled = compilations(arguments.runs)
    seconds, reviews = generation()
    world = BookWorld()
    asked = inference(world, reviews[: arguments.reviews])
    wanted = {"log-probability": LOG_PROB}
    rows = [
        f"| import (with torch) | {min(imports):.2f} s | |",
        f"| compile, best of {arguments.runs} | {min(compiled):.2f} s | {COMPILE:g} s |",
        f"| generate 1 M tokens | {seconds:.1f} s | {GENERATE:g} s |",
    ]
    within = min(compiled) <= COMPILE and seconds <= GENERATE
    for name, times in asked.items():
        budget = wanted.get(name, MASKED)
        mean, slowest = statistics.mean(times), max(times)
        within &= mean <= budget
        rows.append(f"| {name}, a review | {mean:.1f} ms (≤ {slowest:.0f}) | {budget:g} ms |")
    network = world.network
    length = statistics.mean(len(review.tokens) for review in reviews)
    facts = (
        f"{held}, one thread. {network.states:,} states, {len(network.source):,} arcs, "
        f"{len(network.prior)} latent classes, {len(world.vocabulary):,} words; "
        f"{length:.0f} tokens a review. Questions about {arguments.reviews} whole reviews: "
        "the mean, and the slowest."
    )
    print("\n".join(itertools.chain(rows, [facts])))
    tables.write(__file__, "How fast BookWorld is", facts, ("what", "measured", "at most"), rows)
    return 0 if within else 1


if __name__ == "__main__":
    tables.run(main)
