"""Windows over a text: which words stand around each word (chapter 05).

Word vectors are learned from what stands within some distance of a word, in the same sentence:

    the [ small cat (sat) on the ] mat        window 2: four context words of "sat"

word2vec's program shrinks each window at random, to 1 … window places on either side, so that near
words count more than far ones (Mikolov et al. 2013a, section 3.2). GloVe weighs a pair by one over
its distance instead (Pennington et al. 2014, section 4.2).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from lmcourse.errors import CourseError


class Windows(NamedTuple):
    """One row a word of the text, one column a place around it: −window … −1, 1 … window.

    Attributes:
        centers: the word in the middle.
        contexts: the words around it; 0 where there is none.
        mask: True where there is one.
        distances: how far each place is from the middle, at least 1.
    """

    centers: Int[Tensor, " word"]
    contexts: Int[Tensor, "word place"]
    mask: Bool[Tensor, "word place"]
    distances: Int[Tensor, " place"]


class Pairs(NamedTuple):
    """Each word with each word of its window, in the order of the text."""

    centers: Int[Tensor, " pair"]
    contexts: Int[Tensor, " pair"]
    distances: Int[Tensor, " pair"]


def context_windows(
    sentences: Iterable[Sequence[int]],
    window: int,
    generator: torch.Generator | None = None,
) -> Windows:
    """The window around every word.

    Args:
        sentences: ids; no window reaches from one sentence into another.
        window: how many places on either side.
        generator: if it is given, each window is shrunk at random to 1 … window places.

    Raises:
        CourseError: the window is empty, or there is no word.
    """
    if window < 1:
        raise CourseError(f"The window is {window}.", "Give at least one place on either side.")
    lists = [list(sentence) for sentence in sentences]
    words = torch.tensor([word for sentence in lists for word in sentence], dtype=torch.long)
    if not len(words):
        raise CourseError("There is no word to look around.", "Give at least one sentence.")
    lengths = torch.tensor([len(sentence) for sentence in lists])
    sentence = torch.repeat_interleave(torch.arange(len(lists)), lengths)
    offsets = torch.tensor([d for d in range(-window, window + 1) if d])
    places = torch.arange(len(words)).unsqueeze(1) + offsets
    inside = (places >= 0) & (places < len(words))
    places = places.clamp(0, len(words) - 1)
    mask = inside & (sentence[places] == sentence.unsqueeze(1))
    if generator is not None:
        size = torch.randint(1, window + 1, (len(words), 1), generator=generator)
        mask &= offsets.abs() <= size
    return Windows(words, words[places].masked_fill(~mask, 0), mask, offsets.abs())


def context_pairs(
    sentences: Iterable[Sequence[int]],
    window: int,
    generator: torch.Generator | None = None,
) -> Pairs:
    """Every pair of a word and one of its window: `context_windows`, one context at a time.

    Raises:
        CourseError: the window is empty, or there is no word.
    """
    centers, contexts, mask, distances = context_windows(sentences, window, generator)
    row, column = mask.nonzero(as_tuple=True)
    return Pairs(centers[row], contexts[row, column], distances[column])
