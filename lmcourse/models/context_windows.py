"""Windows over a text: which words stand around each word (chapter 05).

Word vectors are learned from what stands within some distance of a word, in the same sentence:

    the [ small cat (sat) on the ] mat        window 2: four context words of "sat"

word2vec's program shrinks each window at random, to 1 … window places on either side, so that near
words count more than far ones (Mikolov et al. 2013, "Efficient estimation of word representations
in vector space", section 3.2). GloVe weighs a pair by one over its distance instead (Pennington et
al. 2014, "GloVe: global vectors for word representation", section 4.2).
"""

from collections.abc import Iterable, Iterator, Sequence
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
        CourseError: the window is empty, there is no word, or the sentences are no lists of ids.
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
    """The same, of some words at a time, for a text whose windows would not fit into memory.

    Args:
        sentences, window: as above.
        words: how many at a time; None: all.

    Raises:
        CourseError: as above.
    """
    if not isinstance(window, int) or window < 1:
        raise CourseError(
            f"The window is {window}.", "Give a whole number of places on either side, at least 1."
        )
    ids, sentence = _words(sentences)
    offsets = torch.tensor([d for d in range(-window, window + 1) if d])
    step = words or len(ids)
    for start in range(0, len(ids), step):
        rows = slice(start, start + step)
        places = torch.arange(len(ids))[rows].unsqueeze(1) + offsets
        inside = (places >= 0) & (places < len(ids))
        places = places.clamp(0, len(ids) - 1)
        mask = inside & (sentence[places] == sentence[rows].unsqueeze(1))
        yield Windows(ids[rows], ids[places].masked_fill(~mask, 0), mask, offsets.abs())


def context_pairs(
    sentences: Iterable[Sequence[int]],
    window: int,
    generator: torch.Generator | None = None,
) -> Pairs:
    """Every pair of a word and one of its window: `context_windows`, one context at a time.

    Raises:
        CourseError: as there.
    """
    centers, contexts, mask, distances = context_windows(sentences, window, generator)
    row, column = mask.nonzero(as_tuple=True)
    return Pairs(centers[row], contexts[row, column], distances[column])


def _words(
    sentences: Iterable[Sequence[int]],
) -> tuple[Int[Tensor, " word"], Int[Tensor, " word"]]:
    """All words one after the other, and the number of each one's sentence."""
    try:
        lists = [list(sentence) for sentence in sentences]
        words = torch.tensor([word for sentence in lists for word in sentence])
    except (TypeError, ValueError, RuntimeError) as error:  # a flat list, text, ragged lists
        raise CourseError(
            f"The sentences are no lists of ids: {error}.",
            "Give a list of ids for each sentence: [[3, 1, 4], [1, 5]]; a single one is [[3, 1]].",
        ) from error
    if not len(words):
        raise CourseError("There is no word to look around.", "Give at least one sentence.")
    if words.ndim != 1 or words.dtype != torch.long:
        raise CourseError(
            f"The words of the sentences have the type {words.dtype} and {words.ndim} axes.",
            "Ids are whole numbers: give a list of them for each sentence, [[3, 1, 4], [1, 5]].",
        )
    lengths = torch.tensor([len(sentence) for sentence in lists])
    return words, torch.repeat_interleave(torch.arange(len(lists)), lengths)
