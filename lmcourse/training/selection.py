"""Which positions a masked language model predicts: tokens, words or spans (chapters 10, 14).

    Tokens    any (Devlin et al. 2019, section 3.1)
    Words     words with all their tokens (whole word masking, of BERT's later release)
    Spans     sequences of words (Joshi et al. 2020, "SpanBERT", section 3.1)

The widget Masking draws by the same rules in a browser (`lmcourse.widgets.masking_draw`); the tests
check that the distributions agree.
"""

from bisect import bisect
from collections import Counter
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

NONE = -1
"""The word of a special token or of padding; and the span of a position that is not selected."""


@runtime_checkable
class Selection(Protocol):
    """Which positions are selected.

    Args:
        words: the number of each position's word, counted from 0; ``NONE`` where it may not be
            selected.
        rate: the share of the other positions that is selected.
        generator: the source of randomness.

    Returns:
        ``NONE`` at a position that is not selected. At the others, the position whose draw (mask,
        random token or the token itself) it shares: its own, or the first of its span.
    """

    def __call__(
        self, words: Int[Tensor, "batch time"], rate: float, generator: torch.Generator | None
    ) -> Int[Tensor, "batch time"]: ...


@dataclass(frozen=True)
class Tokens:
    """Any tokens.

    Args:
        exact: of n tokens select round(rate · n) and at least one, as BERT's published code does
            (which counts [CLS] and [SEP] into n). Otherwise each token is selected independently
            with probability ``rate``, as in the `transformers` library and the widget Masking. The
            number then has the mean rate · n and the standard deviation √(rate (1 − rate) n), and
            a short text may have none.
    """

    exact: bool = True

    def __call__(
        self, words: Int[Tensor, "batch time"], rate: float, generator: torch.Generator | None
    ) -> Int[Tensor, "batch time"]:
        draw = uniform(words, generator)
        if self.exact:
            # The smallest of n random numbers are at random positions.
            rank = draw.masked_fill(words == NONE, 2.0).argsort(1).argsort(1)
            selected = rank < budgets(words, rate)[:, None]
        else:
            selected = draw < rate
        return _positions(words).masked_fill(~selected | (words == NONE), NONE)


@dataclass(frozen=True)
class Words:
    """Whole words: if one token is selected, so are the others, which would give the word away.

    Each token still has a draw of its own.

    Args:
        exact: take words in a random order while they fit into `budgets`, as BERT's published code
            does; a word that does not fit is skipped. If no word of a sequence fits, the first one
            is taken all the same (the published code selects nothing). Otherwise each word is
            selected independently with probability ``rate``, and a short text may have none.
    """

    exact: bool = True

    def __call__(
        self, words: Int[Tensor, "batch time"], rate: float, generator: torch.Generator | None
    ) -> Int[Tensor, "batch time"]:
        draw = uniform(words, generator)
        if self.exact:
            rows = zip(words.tolist(), budgets(words, rate).tolist(), draw.tolist(), strict=True)
            selected = torch.tensor([_words_within(*row) for row in rows], device=words.device)
        else:
            selected = draw.gather(1, words.clamp(min=0)) < rate  # one number for each word
        return _positions(words).masked_fill(~selected | (words == NONE), NONE)


@dataclass(frozen=True)
class Spans:
    """Spans of whole words, drawn until the budget is spent (SpanBERT, section 3.1).

    A span begins at any word that is not selected yet, and has ℓ words, or fewer before the next
    special token. Words of earlier spans are skipped. P(ℓ) is proportional to p (1 − p)^(ℓ−1) for
    ℓ up to ``longest``: 3.8 words on average with SpanBERT's values. All tokens of a span share one
    draw.

    Of n tokens, exactly round(rate · n) are selected, and at least one: the last span ends where
    the budget does, even within a word, as in the published code.

    Args:
        p: of the geometric distribution, above 0.
        longest: the longest span, in words.
    """

    p: float = 0.2
    longest: int = 10

    @property
    def probabilities(self) -> Float[Tensor, " length"]:
        """P(ℓ) for ℓ from 1 to ``longest``."""
        shares = self.p * (1 - self.p) ** torch.arange(self.longest, dtype=torch.float64)
        return shares / shares.sum()

    def __call__(
        self, words: Int[Tensor, "batch time"], rate: float, generator: torch.Generator | None
    ) -> Int[Tensor, "batch time"]:
        # Two numbers for each span; there are at most as many spans as tokens.
        draws = torch.rand(*words.shape, 2, generator=generator).tolist()
        rows = zip(words.tolist(), budgets(words, rate).tolist(), draws, strict=True)
        cumulative = self.probabilities.cumsum(0)[:-1].tolist()
        spans = [_spans_within(*row, cumulative) for row in rows]
        return torch.tensor(spans, device=words.device)


def word_numbers(
    input_ids: Int[Tensor, "batch time"],
    maskable: Bool[Tensor, "batch time"] | None = None,
    word_ids: Int[Tensor, "batch time"] | None = None,
) -> Int[Tensor, "batch time"]:
    """The number of each position's word, from 0 in each sequence; ``NONE`` if it is not maskable.

    The arguments are those of `Masking`. A special token ends a word, even if the number of the
    word after it is the same: no span crosses it.
    """
    if maskable is None:
        maskable = torch.ones_like(input_ids, dtype=torch.bool)
    begins = torch.ones_like(maskable)
    if word_ids is not None:
        begins[:, 1:] = word_ids[:, 1:] != word_ids[:, :-1]
        begins[:, 1:] |= ~maskable[:, :-1]
    return (begins.cumsum(1) - 1).masked_fill(~maskable, NONE)


def budgets(words: Int[Tensor, "batch time"], rate: float) -> Int[Tensor, " batch"]:
    """How many tokens of each sequence to select: round(rate · n), but at least one."""
    count = (words != NONE).sum(1)
    return (rate * count.double() + 0.5).floor().long().clamp(min=1).minimum(count)


def _words_within(words: list[int], budget: int, draw: list[float]) -> list[bool]:
    """Select words in a random order while they fit into the budget."""
    sizes = Counter(word for word in words if word != NONE)
    order = [word for _, word in sorted(zip(draw, sizes, strict=False))]
    taken = set()
    for word in order:
        if sizes[word] <= budget:
            taken.add(word)
            budget -= sizes[word]
    taken = taken or set(order[:1])
    return [word in taken for word in words]


def _spans_within(
    words: list[int], budget: int, draws: list[list[float]], cumulative: list[float]
) -> list[int]:
    """The first position of the span at each position.

    Args:
        draws: for each span, numbers from 0 to 1 that select its first word and its length.
        cumulative: the distribution function of the lengths, without the last one's 1.
    """
    starts = [i for i, w in enumerate(words) if w != NONE and (i == 0 or words[i - 1] != w)]
    spans = [NONE] * len(words)
    for start, length in draws:
        if not budget:
            break
        free = [position for position in starts if spans[position] == NONE]
        span_start = free[int(start * len(free))]
        end = words[span_start] + 1 + bisect(cumulative, length)  # words are numbered in order
        for i in range(span_start, len(words)):
            if not budget or words[i] == NONE or words[i] >= end:
                break
            if spans[i] == NONE:
                spans[i], budget = span_start, budget - 1
    return spans


def uniform(
    like: Int[Tensor, "batch time"], generator: torch.Generator | None
) -> Float[Tensor, "batch time"]:
    """A random number from 0 to 1 at each position."""
    return torch.rand(like.shape, generator=generator, device=like.device)


def _positions(like: Int[Tensor, "batch time"]) -> Int[Tensor, "batch time"]:
    return torch.arange(like.shape[1], device=like.device).expand_as(like)
