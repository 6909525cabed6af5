"""Which places a masked language model is asked for: tokens, words or spans (chapters 10, 14).

    Tokens    any (Devlin et al. 2019, section 3.1)
    Words     words with all their pieces (whole word masking, of BERT's later release)
    Spans     stretches of words (Joshi et al. 2020, "SpanBERT", section 3.1)

The widget Masking draws by the same rules in a browser (`lmcourse.widgets.masking_draw`), and the
tests see that both have the same distribution.
"""

from bisect import bisect
from collections import Counter
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.models.inputs import whole_number

NEVER = -1
"""The word of a place that is not to be selected: a special token, or padding."""


@runtime_checkable
class Selection(Protocol):
    """Which places are asked for.

    Args:
        words: of each place the number of its word, counted from 0; ``NEVER`` where it has none.
        rate: the share of these places that is selected.
        generator: where chance comes from.

    Returns:
        ``NEVER`` at a place that is not selected. At one that is, the place whose fate it shares:
        its own, or the first one's of its span.
    """

    def __call__(
        self, words: Int[Tensor, "batch time"], rate: float, generator: torch.Generator | None
    ) -> Int[Tensor, "batch time"]: ...


@dataclass(frozen=True)
class Tokens:
    """Any tokens.

    Args:
        exact: of n tokens select round(rate · n) and at least one, as BERT's published code does:
            each sequence teaches as much, and none teaches nothing. (That code counts [CLS] and
            [SEP] into n.) Otherwise each token is selected with probability ``rate`` whatever
            happens to the others, as in the `transformers` library and in the widget Masking:
            rate · n on average, and the standard deviation is √(rate (1 − rate) n). A short text
            may have none.
    """

    exact: bool = True

    def __call__(
        self, words: Int[Tensor, "batch time"], rate: float, generator: torch.Generator | None
    ) -> Int[Tensor, "batch time"]:
        """See `Selection`."""
        drawn = uniform(words, generator)
        if self.exact:
            # The smallest of n random numbers stand at random places.
            rank = drawn.masked_fill(words == NEVER, 2.0).argsort(1).argsort(1)
            chosen = rank < budgets(words, rate)[:, None]
        else:
            chosen = drawn < rate
        return _places(words).masked_fill(~chosen | (words == NEVER), NEVER)


@dataclass(frozen=True)
class Words:
    """Whole words: where a piece is selected, so are the others.

    Otherwise the pieces that are left would give a word away. Each piece still has its own fate.

    Args:
        exact: take words in a random order while they fit into `budgets`, as BERT's published code
            does. One that does not fit is left out, so fewer tokens than these are selected where
            nothing short enough is left. If no word of a sequence fits, the first in that order is
            taken all the same: the published code asks nothing of such a text. Otherwise each word
            is selected with probability ``rate``: then that is each token's probability too, and a
            short text may have none.
    """

    exact: bool = True

    def __call__(
        self, words: Int[Tensor, "batch time"], rate: float, generator: torch.Generator | None
    ) -> Int[Tensor, "batch time"]:
        """See `Selection`."""
        drawn = uniform(words, generator)
        if self.exact:
            rows = zip(words.tolist(), budgets(words, rate).tolist(), drawn.tolist(), strict=True)
            chosen = torch.tensor([_words_within(*row) for row in rows], device=words.device)
        else:
            chosen = drawn.gather(1, words.clamp(min=0)) < rate  # one number for each word
        return _places(words).masked_fill(~chosen | (words == NEVER), NEVER)


@dataclass(frozen=True)
class Spans:
    """Spans of whole words, drawn until the budget is spent (SpanBERT, section 3.1).

    A span begins at any word that is not selected yet, and goes on for ℓ words, or to the next
    special token. Words that an earlier span has taken are passed over. P(ℓ) is proportional to
    p (1 − p)^(ℓ−1) for ℓ up to ``longest``: 3.8 words on average with SpanBERT's values. All tokens
    of a span share one fate.

    Of n tokens exactly round(rate · n) are selected, and at least one: the last span ends where
    the budget does, be it within a word, as in the published code.

    Args:
        p: of the geometric distribution.
        longest: the longest span, in words.
    """

    p: float = 0.2
    longest: int = 10

    def __post_init__(self) -> None:
        if not 0 < self.p <= 1:
            raise CourseError(
                f"The lengths of spans cannot be geometric with p={self.p}.",
                "Give a probability above 0: with 0.2, as SpanBERT has it, spans have 3.8 words.",
            )
        whole_number(self.longest, "longest", type(self).__name__)

    @property
    def probabilities(self) -> Float[Tensor, " length"]:
        """Of the lengths 1 to ``longest``."""
        shares = self.p * (1 - self.p) ** torch.arange(self.longest, dtype=torch.float64)
        return shares / shares.sum()

    def __call__(
        self, words: Int[Tensor, "batch time"], rate: float, generator: torch.Generator | None
    ) -> Int[Tensor, "batch time"]:
        """See `Selection`."""
        # Two numbers for each span; there are at most as many spans as tokens.
        drawn = torch.rand(*words.shape, 2, generator=generator).tolist()
        rows = zip(words.tolist(), budgets(words, rate).tolist(), drawn, strict=True)
        ends = self.probabilities.cumsum(0)[:-1].tolist()
        return torch.tensor([_spans_within(*row, ends) for row in rows], device=words.device)


def word_numbers(
    input_ids: Int[Tensor, "batch time"],
    maskable: Bool[Tensor, "batch time"] | None = None,
    word_ids: Int[Tensor, "batch time"] | None = None,
) -> Int[Tensor, "batch time"]:
    """Of each place its word's number, counted from 0 in each sequence; ``NEVER``: not maskable.

    Arguments as `Masking.__call__` has them. A special token ends a word: what comes behind it is
    another, even by the same number, and words of a span may not stand on both its sides.
    """
    if maskable is None:
        maskable = torch.ones_like(input_ids, dtype=torch.bool)
    begins = torch.ones_like(maskable)
    if word_ids is not None:
        begins[:, 1:] = word_ids[:, 1:] != word_ids[:, :-1]
        begins[:, 1:] |= ~maskable[:, :-1]
    return (begins.cumsum(1) - 1).masked_fill(~maskable, NEVER)


def budgets(words: Int[Tensor, "batch time"], rate: float) -> Int[Tensor, " batch"]:
    """How many tokens of each sequence are to be selected: round(rate · n), one at least."""
    count = (words != NEVER).sum(1)
    return (rate * count.double() + 0.5).floor().long().clamp(min=1).minimum(count)


def _words_within(words: list[int], budget: int, drawn: list[float]) -> list[bool]:
    """True in words that were taken in a random order while they fitted into the budget."""
    sizes = Counter(word for word in words if word != NEVER)
    order = [word for _, word in sorted(zip(drawn, sizes, strict=False))]
    taken = set()
    for word in order:
        if sizes[word] <= budget:
            taken.add(word)
            budget -= sizes[word]
    taken = taken or set(order[:1])
    return [word in taken for word in words]


def _spans_within(
    words: list[int], budget: int, drawn: list[list[float]], ends: list[float]
) -> list[int]:
    """The first place of each place's span.

    Args:
        drawn: for each span a number that says where it begins, and one for its length.
        ends: where the lengths' shares of the numbers from 0 to 1 end, but for the last one's.
    """
    starts = [i for i, w in enumerate(words) if w != NEVER and (i == 0 or words[i - 1] != w)]
    leads = [NEVER] * len(words)
    for begin, size in drawn:
        if not budget:
            break
        free = [start for start in starts if leads[start] == NEVER]
        lead = free[int(begin * len(free))]
        behind = words[lead] + 1 + bisect(ends, size)  # words are numbered in their order
        for i in range(lead, len(words)):
            if not budget or words[i] == NEVER or words[i] >= behind:
                break
            if leads[i] == NEVER:
                leads[i], budget = lead, budget - 1
    return leads


def uniform(
    like: Int[Tensor, "batch time"], generator: torch.Generator | None
) -> Float[Tensor, "batch time"]:
    """A random number from 0 to 1 for each place."""
    return torch.rand(like.shape, generator=generator, device=like.device)


def _places(like: Int[Tensor, "batch time"]) -> Int[Tensor, "batch time"]:
    return torch.arange(like.shape[1], device=like.device).expand_as(like)
