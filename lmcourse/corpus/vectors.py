"""Word vectors in the formats in which they are published: word2vec's two and GloVe's."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lmcourse.corpus import streams
from lmcourse.corpus.vector_files import VectorFile
from lmcourse.corpus.vector_formats import Format
from lmcourse.errors import CourseError


@dataclass(frozen=True)
class WordVectors:
    """Words and their vectors.

    Args:
        words: each word once, in the order of the rows.
        vectors: float32 [words, width].
        skipped: how many faulty entries the reader left out (``on_error="skip"``).
        reasons: the first few of them in words.
    """

    words: list[str]
    vectors: NDArray[np.float32]
    skipped: int = 0
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.words) != len(self.vectors):
            raise CourseError(
                f"There are {len(self.words):,} words and an array of shape {self.vectors.shape}.",
                "Give an array [words, width] with one row for each word.",
            )
        if len(self.ids) < len(self.words):
            word = Counter(self.words).most_common(1)[0][0]
            raise CourseError(f"The word {word!r} occurs twice.", "Give each word once.")

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self.ids

    def __repr__(self) -> str:
        return f"<WordVectors of {len(self.words):,} words, width {self.vectors.shape[1]}>"

    @cached_property
    def ids(self) -> dict[str, int]:
        """Each word's row."""
        return {word: id_ for id_, word in enumerate(self.words)}

    @cached_property
    def _lengths(self) -> NDArray[np.float32]:
        """Each vector's Euclidean length; 1 for a vector of zeros, which is like no other."""
        lengths = np.linalg.norm(self.vectors, axis=1)
        return np.where(lengths == 0, np.float32(1), lengths)

    def vector(self, word: str) -> NDArray[np.float32]:
        """A word's vector, float32 [width].

        Raises:
            CourseError: the word is not there.
        """
        if word not in self.ids:
            raise CourseError(
                f"There is no vector for the word {word!r}.",
                "Ask with `word in vectors` first; many files have lower-case words only.",
            )
        return self.vectors[self.ids[word]]

    def similarity(self, one: str, other: str) -> float:
        """The cosine of the angle between the vectors of two words, -1 to 1."""
        a, b = self.vector(one), self.vector(other)
        lengths = self._lengths[self.ids[one]] * self._lengths[self.ids[other]]
        return float(np.dot(a, b) / lengths)

    def nearest(
        self, target: str | NDArray[np.float32], n: int = 10, without: Collection[str] = ()
    ) -> list[tuple[str, float]]:
        """The words whose vectors make the smallest angle with a target, nearest first.

        Args:
            target: a word, which is not among the answers, or a vector [width].
            n: how many.
            without: words that are not among the answers either.

        Returns:
            Words with their cosines.
        """
        left_out = {*without, target} if isinstance(target, str) else set(without)
        query = self.vector(target) if isinstance(target, str) else np.asarray(target, np.float32)
        length = float(np.linalg.norm(query)) or 1.0
        cosines = self.vectors @ (query / np.float32(length)) / self._lengths
        n = max(0, n)
        enough = min(n + len(left_out), len(cosines))
        best = np.argpartition(-cosines, enough - 1)[:enough] if enough else np.zeros(0, np.int64)
        best.sort()  # equally near words stand in the order of the file
        order = best[np.argsort(-cosines[best], kind="stable")]
        found = [(self.words[id_], float(cosines[id_])) for id_ in order]
        return [(word, cosine) for word, cosine in found if word not in left_out][:n]

    def analogy(
        self,
        positive: Sequence[str],
        negative: Sequence[str] = (),
        n: int = 10,
        *,
        with_queries: bool = False,
    ) -> list[tuple[str, float]]:
        """The words nearest to a sum: king − man + woman (Mikolov et al. 2013, section 4).

        Every vector counts with length one, as in gensim's ``most_similar``.

        Args:
            positive: words whose vectors are added.
            negative: words whose vectors are subtracted.
            n: how many.
            with_queries: whether these words themselves may be answers. They are left out as a
                rule; the nearest of all is often one of them.
        """
        signs = [(word, 1) for word in positive] + [(word, -1) for word in negative]
        parts = [s * self.vector(word) / self._lengths[self.ids[word]] for word, s in signs]
        target = np.asarray(np.sum(parts, axis=0), np.float32)
        return self.nearest(target, n, without=() if with_queries else (*positive, *negative))


def read_vectors(
    path: str | Path,
    limit: int | None = None,
    words: Iterable[str] | None = None,
    *,
    format: Format | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
    on_error: streams.OnError = "raise",
    progress: bool = False,
) -> WordVectors:
    """Read word vectors: word2vec's text or binary format, or GloVe's, each gzipped or not.

    Args:
        path: the file.
        limit: read only the first so many words; files have the frequent ones first.
        words: keep only these, which need no more memory than they take; those that the file
            lacks are lacking from the answer. What lies between them is not checked.
        format: "word2vec", "word2vec-binary" or "glove"; None: what the content looks like.
        encoding: how the words are written as bytes.
        errors: "replace" for words that the original program cut in the middle of a letter.
        on_error: "raise" at the first fault, or "skip" faulty entries and count them. Of two
            entries of one word the first counts.
        progress: show a bar over the bytes on the disk, on a terminal or in a notebook.

    Raises:
        CourseError: the file is missing, empty or of another format; its header is wrong; an
            entry is ragged, not a number, not finite, a word's second one or not of the
            encoding; the file is cut short.
    """
    faults = streams.Faults(on_error)
    wanted = None if words is None else frozenset([words] if isinstance(words, str) else words)
    file = VectorFile(streams.check(path), faults, limit, wanted, encoding, errors)
    found, vectors = file.read(format, progress)
    return WordVectors(found, vectors, faults.skipped, tuple(faults.reasons))
