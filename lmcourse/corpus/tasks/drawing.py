"""Where a task's examples come from: reviews of its own, the same for a seed in every process."""

import hashlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from random import Random
from typing import Generic, TypeVar

from lmcourse.corpus.bookworld import BookWorld, Review
from lmcourse.errors import CourseError, check_sizes

K = TypeVar("K")
T = TypeVar("T")
PATIENCE = 10_000  # reviews without a certain kind of example: the grammar seems to have none


def own_seed(task: str, seed: int) -> int:
    """The seed of a task's reviews.

    It is 2^48 or more, while the splits of BookWorld are drawn from the seeds 1 to 3: so a task
    shares no draw with them, nor with another task or another seed.
    """
    digest = hashlib.blake2b(f"{task} {seed}".encode(), digest_size=6).digest()
    return 2**48 + int.from_bytes(digest, "big")


def in_turn(keys: Sequence[K], n: int, random: Random) -> Iterator[K]:
    """``n`` of the keys in random order, each as often as every other, to one.

    Of every ``len(keys)`` in a row, from the first on, each key is one.
    """

    check_sizes(0, n=n)

    def endless() -> Iterator[K]:
        while True:
            yield from random.sample(keys, len(keys))

    return islice(endless(), n)


class Pool(Generic[K, T]):
    """Possible examples by kind, found in one review after the other on demand.

    Args:
        find: what a review holds, as pairs of kind and example; it may draw from the generator.
        reviews: where to look; without it, reviews are drawn from a seed of the task's own.
    """

    def __init__(
        self,
        world: BookWorld,
        task: str,
        seed: int,
        find: Callable[[Review, Random], Iterable[tuple[K, T]]],
        reviews: Sequence[Review] | None = None,
    ) -> None:
        self.name = f"{task} {seed}"
        self.find = find
        self.given = reviews is not None
        drawn = world.sampler.reviews(2**62, own_seed(task, seed))
        self.reviews = enumerate(drawn if reviews is None else reviews)
        self.waiting: dict[K, deque[T]] = defaultdict(deque)

    def take(self, key: K) -> T:
        """The next example of a kind; each is given once."""
        for _ in range(PATIENCE):
            if self.waiting[key]:
                return self.waiting[key].popleft()
            number, review = next(self.reviews, (0, None))
            if review is None:
                break
            for kind, found in self.find(review, Random(f"{self.name} {number}")):
                self.waiting[kind].append(found)
        raise CourseError(
            f"The {'reviews that were given' if self.given else 'grammar'} "
            f"{'hold' if self.given else 'has'} too few examples for {self.name.split()[0]}"
            + (f", of the kind {key!r}." if key is not None else "."),
            "Ask for fewer examples, or give more reviews."
            if self.given
            else "Use the course's own grammar, or add lines of this kind to yours.",
        )
