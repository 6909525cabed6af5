"""Kneser–Ney smoothing, the strongest n-gram model (the networks' rival).

Kneser and Ney (1995, "Improved backing-off for m-gram language modeling"), in the interpolated form
of Chen and Goodman (1999, "An empirical study of smoothing techniques for language modeling"). Each
count c of a word w after a context h gives up a discount, and what a context gives up is
distributed by the next shorter context:

    p(w | h) = (c(h w) − D(c(h w)) + Σ_v D(c(h v)) · p(w | h')) / Σ_v c(h v),
    D(0) = 0,      h' = h without its first word,

down to the empty context, below which all words of the vocabulary are equally likely. Only the
longest contexts have plain counts. A shorter one counts in how many *different* contexts a word
occurs: "Francisco" is frequent, but only after "San", so it is improbable after other words.

    c(h' w) = number of different words v with v h' w in the text

The modified form (Chen and Goodman's section 3) has three discounts for each length, from the
numbers n_1 … n_4 of n-grams that occur once to four times:

    D(c) = c − (c + 1) · n_1 / (n_1 + 2 n_2) · n_{c+1} / n_c      for c = 1, 2, and D(3) from 3 on
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from lmcourse.errors import CourseError

Gram = tuple[int, ...]
Discounts = tuple[float, float, float]
"""What counts of 1, of 2, and of 3 or more give up."""


class KneserNey:
    """Next-word probabilities from discounted counts with contexts of up to ``context`` words.

    Args:
        text: the training text, word after word.
        context: number of words in the longest context; 4 is a 5-gram model.
        vocabulary_size: V, the number of words.
        discount: one for all counts, between 0 and 1; None: those of the modified form.

    Attributes:
        counts: for each length of a context, the counts of the n-grams that are one word longer.
    """

    def __init__(
        self,
        text: Sequence[int],
        context: int,
        vocabulary_size: int,
        discount: float | None = None,
    ) -> None:
        if context < 0 or len(text) <= context or vocabulary_size < 1:
            raise CourseError(
                f"A context of {context} words cannot be counted in a text of {len(text)}.",
                "Give a longer text, a context of at least 0 and a vocabulary of at least 1.",
            )
        self.context, self.vocabulary_size = context, vocabulary_size
        self.counts = [Counter(_grams(text, context + 1))]
        for _ in range(context):  # each different n-gram counts once for its end
            self.counts.insert(0, Counter(gram[1:] for gram in self.counts[0]))
        self._totals: list[Counter[Gram]] = []  # Σ_v c(h v)
        self._kinds: list[dict[Gram, list[int]]] = []  # how many of these counts are 1, 2, and more
        for counts in self.counts:
            totals: Counter[Gram] = Counter()
            kinds: defaultdict[Gram, list[int]] = defaultdict(lambda: [0, 0, 0])
            for gram, count in counts.items():
                totals[gram[:-1]] += count
                kinds[gram[:-1]][min(count, 3) - 1] += 1
            self._totals.append(totals)
            self._kinds.append(dict(kinds))
        self.discount(discount)

    def discount(self, discount: float | None) -> None:
        """Choose the discount; the counts stay.

        Args:
            discount: see the class.
        """
        if discount is not None and not 0 <= discount <= 1:
            raise CourseError(f"{discount} is no discount.", "Give a number from 0 to 1, or None.")
        self.discounts = [
            _modified(counts) if discount is None else (discount,) * 3 for counts in self.counts
        ]

    @property
    def entries(self) -> int:
        """The number of stored counts."""
        return sum(map(len, self.counts))

    def probability(self, word: int, before: Sequence[int]) -> float:
        """Return p(word | the last ``context`` words before it)."""
        p = 1 / self.vocabulary_size
        for length in range(min(self.context, len(before)) + 1):
            h = tuple(before[len(before) - length :])
            total = self._totals[length].get(h)
            if total is None:
                break  # longer contexts do not occur either
            count = self.counts[length].get((*h, word), 0)
            discounts = self.discounts[length]
            kept = count - discounts[min(count, 3) - 1] if count else 0
            freed = sum(d * n for d, n in zip(discounts, self._kinds[length][h], strict=True))
            p = (kept + freed * p) / total
        return p

    def probabilities(self, text: Sequence[int]) -> Float[Tensor, " predicted"]:
        """Return p of every word of a text but the first, given the previous ones."""
        starts = (max(0, i - self.context) for i in range(1, len(text)))
        found = [self.probability(text[i], text[start:i]) for i, start in enumerate(starts, 1)]
        return torch.tensor(found, dtype=torch.double)


def _grams(text: Sequence[int], length: int) -> Iterator[Gram]:
    return (tuple(text[start : start + length]) for start in range(len(text) - length + 1))


def _modified(counts: Counter[Gram]) -> Discounts:
    """The three discounts of the modified form, between 0 and the count.

    A text so small that some count does not occur has no such estimate: then D is 1/2.
    """
    n = Counter(counts.values())
    if not all(n[c] for c in (1, 2, 3, 4)):
        return (0.5, 0.5, 0.5)
    y = n[1] / (n[1] + 2 * n[2])
    one, two, three = (
        min(max(c - (c + 1) * y * n[c + 1] / n[c], 0.0), float(c)) for c in (1, 2, 3)
    )
    return (one, two, three)
