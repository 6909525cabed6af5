"""The worlds that the tests of tasks run on, and a test of calibration."""

from functools import cache
from pathlib import Path

import numpy as np

from lmcourse.corpus.bookworld import BookWorld, Grammar

SMALL = (Path(__file__).parent / "bookworld" / "small.grammar").read_text(encoding="utf-8")


@cache
def course() -> BookWorld:
    """The course's own world."""
    return BookWorld()


@cache
def small(*changes: tuple[str, str]) -> BookWorld:
    """The small grammar, with some pieces of its text exchanged."""
    text = SMALL
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return BookWorld(Grammar([("small", text)]))


def off_calibration(task) -> float:
    """By how many standard errors the truth departs from the task's posteriors, at most.

    If the posteriors are right, some sums over all decisions have known means and variances:
    surprise at the true answer, and how often each answer is the true one.
    """
    labels = list(task.labels)
    rows = np.concatenate(task.posteriors)
    wanted = [
        label
        for example in task.examples
        for label in ([example.label] if isinstance(example.label, str) else example.label)
    ]
    true = np.array([labels.index(label) for label in wanted])
    assert rows.shape == (len(true), len(labels))
    assert np.allclose(rows.sum(1), 1)
    surprise = -np.log(np.maximum(rows, 1e-300))
    mean = (rows * surprise).sum(1)
    spread = (rows * surprise**2).sum(1) - mean**2
    seen = surprise[np.arange(len(true)), true]
    assert (seen < 600).all(), "an answer that was called impossible is true"
    by_surprise = (seen - mean).sum() / np.sqrt(max(spread.sum(), 1e-18))
    hits = np.eye(len(labels))[true].sum(0) - rows.sum(0)
    by_label = np.abs(hits) / np.maximum(np.sqrt(np.maximum((rows * (1 - rows)).sum(0), 0)), 0.3)
    return float(max(abs(by_surprise), by_label.max()))


def undecided(task) -> float:
    """The share of decisions that the text leaves open; a test of calibration needs some."""
    return float((np.concatenate(task.posteriors).max(1) < 0.99).mean())
