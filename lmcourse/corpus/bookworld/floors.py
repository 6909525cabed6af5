"""The floors: what the best possible model would score on BookWorld, with standard errors.

A language model's floor is the mean of −log P(token | tokens before it) over every token and the
end of each review; a masked model's is the mean of −log P(token | the rest) over masked positions.
Both are exact for each token; a standard error is left because a split is a sample of reviews.
"""

import contextlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any, Protocol

import numpy as np

from lmcourse import files
from lmcourse.corpus.bookworld.automaton import END
from lmcourse.corpus.bookworld.review import Review
from lmcourse.errors import CourseError
from lmcourse.files import cache_folder

# How many reviews each split has, and the seed that it is drawn from.
SPLITS: dict[str, tuple[int, int]] = {
    "train": (6000, 1),
    "validation": (600, 2),
    "test": (600, 3),
}
FLOOR_REVIEWS = 600  # of a split: enough for a standard error below 0.01 nats
# Of each review's tokens so many are hidden, all at once and all of them. (BERT's 80/10/10, which
# leaves some of them and replaces others, has another floor.)
MASKED_SHARE = 0.15
_VERSION = 1  # of how floors are measured: another one makes the floors that are kept invalid
_SHIPPED = Path(__file__).parent / "floors.json"


@dataclass(frozen=True)
class Floor:
    """One floor: a mean over tokens in nats, its standard error over reviews, and top-1 accuracy.

    Attributes:
        nats: mean −log P of the token.
        error: standard error of ``nats``; reviews are the independent units.
        accuracy: how often the most probable word is the token.
        tokens: how many predictions.
        reviews: how many reviews.
    """

    nats: float
    error: float
    accuracy: float
    tokens: int
    reviews: int

    @property
    def perplexity(self) -> float:
        """exp(nats)."""
        return float(np.exp(self.nats))


class World(Protocol):
    """What the floors need of a `BookWorld`."""

    @property
    def digest(self) -> str: ...
    def encode(self, tokens: Sequence[str]) -> list[int]: ...
    def next_tokens(self, tokens: Sequence[str]) -> np.ndarray: ...
    def masked_posterior(self, tokens: Sequence[str], positions: Sequence[int]) -> np.ndarray: ...
    def split(self, name: str, at_most: int | None = None) -> list[Review]: ...


@dataclass(frozen=True)
class Floors:
    """The floors of a split: for language models and for masked models."""

    language: Floor
    masked: Floor


def hidden_positions(review: Review, share: float = MASKED_SHARE) -> list[int]:
    """Return the masked positions of a review: one or more, the same in every run."""
    draw = Random(f"hidden {review.seed} {review.index}")
    count = min(len(review.tokens), max(1, round(share * len(review.tokens))))
    return sorted(draw.sample(range(len(review.tokens)), count))


def measured(world: World, reviews: Sequence[Review]) -> Floors:
    """Compute the floors over some reviews; about 50 ms a review."""
    if not reviews:
        raise CourseError("There is no review to measure.", "Pass one review or more.")
    language, masked = [], []
    for review in reviews:
        tokens = [*review.tokens, END]
        ids = np.array(world.encode(tokens))
        following = world.next_tokens(tokens[:-1])
        language.append(_scores(following, ids))
        hidden = hidden_positions(review)
        masked.append(_scores(world.masked_posterior(tokens, hidden), ids[hidden]))
    return Floors(_floor(language), _floor(masked))


def cached(world: World, split: str) -> Floors:
    """The floors of a split, from the file that the course ships or from the user's cache.

    They are computed anew when the world's digest, or what is measured, is another.
    """
    key = _key(world, split)
    for path in (_SHIPPED, _cache()):
        with contextlib.suppress(KeyError, TypeError):  # not there, or no floors: computed anew
            found = _read(path)[key]
            return Floors(Floor(**found["language"]), Floor(**found["masked"]))
    floors = measured(world, world.split(split, FLOOR_REVIEWS))
    with contextlib.suppress(OSError):  # a folder that cannot be written: then again next time
        _write({**_read(_cache()), key: asdict(floors)}, _cache())
    return floors


def ship(world: World) -> None:
    """Compute the floors of every split and write the file that the course ships."""
    found = {
        _key(world, name): asdict(measured(world, world.split(name, FLOOR_REVIEWS)))
        for name in SPLITS
    }
    _write(found, _SHIPPED)


def _key(world: World, split: str) -> str:
    """What the floors of a split depend on."""
    reviews = len(world.split(split, FLOOR_REVIEWS))
    seed = SPLITS[split][1]
    return f"{world.digest} {split} {reviews} {seed} {MASKED_SHARE:g} {_VERSION}"


def _write(content: dict[str, dict[str, Any]], path: Path) -> None:
    with files.replacing(path) as out:
        out.write((json.dumps(content, indent=1, sort_keys=True) + "\n").encode("utf-8"))


def _cache() -> Path:
    return cache_folder() / "bookworld-floors.json"


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _scores(probabilities: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Sums over one review's predictions: nats, hits, count."""
    rows = np.arange(len(ids))
    hits = probabilities.argmax(1) == ids
    return np.array([-np.log(probabilities[rows, ids]).sum(), hits.sum(), len(ids)])


def _floor(scores: Sequence[np.ndarray]) -> Floor:
    nats, hits, counts = np.array(scores).T
    mean, error = ratio(nats, counts)
    accuracy, _ = ratio(hits, counts)
    return Floor(mean, error, accuracy, int(counts.sum()), len(scores))


def ratio(
    sums: Sequence[float] | np.ndarray, counts: Sequence[float] | np.ndarray
) -> tuple[float, float]:
    """The ratio of two sums over independent units, and its standard error (delta method).

    Args:
        sums: of each unit, such as the nats of a review.
        counts: of each unit, such as its tokens.

    Returns:
        Both nan if there is nothing to count; the error is nan for one unit alone.
    """
    above, below = np.asarray(sums, float), np.asarray(counts, float)
    if not below.sum():
        return float("nan"), float("nan")
    mean = above.sum() / below.sum()
    # By linearization: what each unit adds to the sum beyond the mean's share.
    residuals = (above - mean * below) / below.mean()
    error = residuals.std(ddof=1) / np.sqrt(len(below)) if len(below) > 1 else float("nan")
    return float(mean), float(error)
