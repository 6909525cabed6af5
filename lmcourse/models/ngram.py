"""The n-gram model, a language model of counts (chapter 02's baseline).

Smoothed by Witten and Bell's (1991) method C, in the interpolated form of Chen and Goodman (1999):
with c(h, w) the count of w after the context h, c(h) the count of h, and T(h) the number of
different tokens after h,

    p(w | h) = (c(h, w) + T(h) · p(w | h')) / (c(h) + T(h)),      h' = h without its first token,

down to the empty context, below which all tokens of the vocabulary are equally likely.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from lmcourse.errors import CourseError


class NGramModel:
    """Next-token probabilities from counts with contexts of up to ``context`` tokens.

    Args:
        text: the training text, token after token.
        context: number of tokens in the longest context; 1 is a bigram model.
        vocabulary_size: V, the number of tokens.
    """

    def __init__(self, text: Sequence[int], context: int, vocabulary_size: int) -> None:
        if context < 0 or len(text) <= context or vocabulary_size < 1:
            raise CourseError(
                f"An n-gram model with a context of {context} tokens cannot be counted on "
                f"{len(text)} tokens.",
                "Give a longer text, a context of at least 0 and a vocabulary of at least 1.",
            )
        self.context = context
        self.vocabulary_size = vocabulary_size
        self.counts = [_followers(text, length) for length in range(context + 1)]

    @property
    def entries(self) -> int:
        """The number of stored counts."""
        return sum(len(followers) for table in self.counts for followers in table.values())

    def probability(self, token: int, before: Sequence[int]) -> float:
        """Return p(token | the last ``context`` tokens before it)."""
        p = 1 / self.vocabulary_size
        for length in range(min(self.context, len(before)) + 1):
            followers = self.counts[length].get(tuple(before[len(before) - length :]))
            if followers is None:
                break  # longer contexts do not occur either
            different = len(followers)
            p = (followers[token] + different * p) / (followers.total() + different)
        return p

    def probabilities(self, text: Sequence[int]) -> Float[Tensor, " predicted"]:
        """Return p of every token of a text but the first, given the previous ones."""
        return torch.tensor(
            [
                self.probability(text[i], text[max(0, i - self.context) : i])
                for i in range(1, len(text))
            ]
        )

    def seen(self, text: Sequence[int]) -> float:
        """Return the share of a text's tokens whose whole context occurs in the training text."""
        starts = range(len(text) - self.context)
        known = sum(tuple(text[i : i + self.context]) in self.counts[-1] for i in starts)
        return known / len(starts)


def _followers(text: Sequence[int], length: int) -> dict[tuple[int, ...], Counter[int]]:
    """Return the counts of the tokens after every context of a length."""
    table: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for i in range(length, len(text)):
        table[tuple(text[i - length : i])][text[i]] += 1
    return dict(table)
