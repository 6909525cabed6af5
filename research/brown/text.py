"""The Brown corpus as the paper reads it: one stream of words, its vocabulary, its split.

Bengio et al. (2003, section 4): the first 800,000 words train, the next 200,000 validate, the rest
tests. Upper and lower case are different words; punctuation marks are words, and so is the mark
between two texts. Words that occur at most three times in the whole corpus are merged into one
symbol, which is predicted and counted like any other word. Sentences have no marks of their own,
and contexts reach across them.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

import torch
from jaxtyping import Int
from torch import Tensor

from lmcourse.corpus.brown import Sentence
from lmcourse.errors import CourseError

TRAIN, VALIDATION = 800_000, 200_000
MERGED = 3  # words that are no more frequent than this are one symbol
RARE, END = "<rare>", "<end of text>"
PAPER = {
    "words of the corpus": 1_181_041,
    "training": 800_000,
    "validation": 200_000,
    "test": 181_041,
    "different words": 47_578,
    "vocabulary": 16_383,
}
"""The paper's counts (section 4)."""


@dataclass(frozen=True)
class Text:
    """The corpus as ids.

    Attributes:
        vocabulary: the words by their ids, the most frequent ones first after ``RARE``, id 0.
        ids: the whole stream.
        train, validation: how many words these splits have; the rest is the test.
        different, lower_case: the number of different words before rare ones are merged, and of
            those that differ in more than case.
        genres: for each split, its words by genre.
    """

    vocabulary: list[str]
    ids: Int[Tensor, " words"]
    train: int
    validation: int
    different: int
    lower_case: int
    genres: Mapping[str, Mapping[str, int]]

    @property
    def splits(self) -> dict[str, tuple[int, int]]:
        """The first position of each split, and the one after its last."""
        middle = self.train + self.validation
        return {
            "train": (0, self.train),
            "validation": (self.train, middle),
            "test": (middle, len(self.ids)),
        }

    def split(self, name: str) -> Int[Tensor, " words"]:
        """The words of a split."""
        start, end = self.splits[name]
        return self.ids[start:end]

    @cached_property
    def digest(self) -> str:
        """A fingerprint of everything that models read."""
        content = f"{self.splits} {self.vocabulary}".encode() + self.ids.numpy().tobytes()
        return hashlib.sha256(content).hexdigest()[:16]

    def counts(self) -> dict[str, float]:
        """Ours for the paper's counts, and the shares of words that are merged or were not seen."""
        seen = torch.zeros(len(self.vocabulary), dtype=torch.bool)
        seen[self.split("train")] = True
        test = self.split("test")
        return {
            "words of the corpus": len(self.ids),
            "training": self.train,
            "validation": self.validation,
            "test": len(test),
            "different words": self.different,
            "different words, in lower case": self.lower_case,
            "vocabulary": len(self.vocabulary),
            "merged, share of the test": (test == 0).double().mean().item(),
            "not in the training text, words of the vocabulary": int((~seen).sum()),
            "not in the training text, share of the test": (~seen[test]).double().mean().item(),
        }


def stream(sentences: Iterable[Sentence]) -> Iterator[tuple[str, str]]:
    """Yield each word with its genre, and a mark after each text."""
    for _, text in groupby(sentences, key=lambda sentence: sentence.text):
        genre = ""
        for sentence in text:
            genre = sentence.genre
            for word in sentence.words:
                yield word, genre
        yield END, genre


def text_of(
    sentences: Iterable[Sentence], train: int = TRAIN, validation: int = VALIDATION
) -> Text:
    """The corpus, with its vocabulary and its split.

    Args:
        sentences: in the order of the corpus.
        train, validation: how many words these splits have.

    Raises:
        CourseError: no words are left for the test.
    """
    pairs = list(stream(sentences))
    if len(pairs) <= train + validation:
        raise CourseError(
            f"Of {len(pairs):,} words, {train:,} train and {validation:,} validate: none are left.",
            "Give the whole corpus; `lmcourse real install` installs it.",
        )
    counts = Counter(word for word, _ in pairs)
    frequent = [word for word, count in counts.most_common() if count > MERGED]
    vocabulary = [RARE, *frequent]
    ids = {word: id_ for id_, word in enumerate(vocabulary)}
    found = Text(
        vocabulary,
        torch.tensor([ids.get(word, 0) for word, _ in pairs]),
        train,
        validation,
        len(counts),
        len({word.lower() for word in counts}),
        {},
    )
    genres = {
        name: dict(Counter(genre for _, genre in pairs[start:end]))
        for name, (start, end) in found.splits.items()
    }
    return replace(found, genres=genres)
