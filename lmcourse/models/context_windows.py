"""Context windows: the words around each word (chapter 05).

Word vectors are learned from the words within some distance, in the same sentence:

    the [ small cat (sat) on the ] mat        window 2: four context words of "sat"

word2vec shrinks each window at random to 1 … window positions on each side, so that near words
count more than far ones (Mikolov et al. 2013, "Efficient estimation of word representations
in vector space", section 3.2). GloVe weights a pair by one over its distance instead (Pennington et
al. 2014, "GloVe: global vectors for word representation", section 4.2).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from lmcourse.errors import CourseError


class Windows(NamedTuple):
    """One row for each word, one column for each offset: −window … −1, 1 … window.

    Attributes:
        centers: the center words.
        contexts: the context words; 0 where there is none.
        mask: True where there is one.
        distances: the absolute offsets, at least 1.
    """

    centers: Int[Tensor, " word"]
    contexts: Int[Tensor, "word position"]
    mask: Bool[Tensor, "word position"]
    distances: Int[Tensor, " position"]


class Pairs(NamedTuple):
    """Pairs of a word and a word of its window, in the order of the text."""

    centers: Int[Tensor, " pair"]
    contexts: Int[Tensor, " pair"]
    distances: Int[Tensor, " pair"]


def context_windows(
    sentences: Iterable[Sequence[int]],
    window: int,
    generator: torch.Generator | None = None,
) -> Windows:
    """Return the window around every word.

    Args:
        sentences: lists of ids; windows do not cross sentences.
        window: number of positions on each side.
        generator: if given, shrink each window at random to 1 … window positions.
    """
    centers, contexts, mask, distances = next(windows_in_blocks(sentences, window))
    if generator is not None:
        size = torch.randint(1, window + 1, (len(centers), 1), generator=generator)
        mask &= distances <= size
        contexts = contexts.masked_fill(~mask, 0)
    return Windows(centers, contexts, mask, distances)


def windows_in_blocks(
    sentences: Iterable[Sequence[int]], window: int, words: int | None = None
) -> Iterator[Windows]:
    """Yield the windows of ``words`` words at a time, for texts whose windows exceed memory."""
    ids, sentence = _words(sentences)
    offsets = torch.tensor([d for d in range(-window, window + 1) if d])
    step = words or len(ids)
    for start in range(0, len(ids), step):
        rows = slice(start, start + step)
        positions = torch.arange(len(ids))[rows].unsqueeze(1) + offsets
        inside = (positions >= 0) & (positions < len(ids))
        positions = positions.clamp(0, len(ids) - 1)
        mask = inside & (sentence[positions] == sentence[rows].unsqueeze(1))
        yield Windows(ids[rows], ids[positions].masked_fill(~mask, 0), mask, offsets.abs())


def context_pairs(
    sentences: Iterable[Sequence[int]],
    window: int,
    generator: torch.Generator | None = None,
) -> Pairs:
    """Return every pair of a word and a word of its window; see `context_windows`."""
    centers, contexts, mask, distances = context_windows(sentences, window, generator)
    row, column = mask.nonzero(as_tuple=True)
    return Pairs(centers[row], contexts[row, column], distances[column])


def _words(
    sentences: Iterable[Sequence[int]],
) -> tuple[Int[Tensor, " word"], Int[Tensor, " word"]]:
    """Return all words, and the number of each one's sentence."""
    try:
        lists = [list(sentence) for sentence in sentences]
        words = torch.tensor([word for sentence in lists for word in sentence], dtype=torch.long)
    except (TypeError, ValueError, RuntimeError) as error:  # a flat list, or text
        raise CourseError(
            f"The sentences are not lists of ids: {error}.",
            "Give a list of ids for each sentence: [[3, 1, 4], [1, 5]]; a single one is [[3, 1]].",
        ) from error
    lengths = torch.tensor([len(sentence) for sentence in lists])
    return words, torch.repeat_interleave(torch.arange(len(lists)), lengths)
