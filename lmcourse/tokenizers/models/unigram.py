"""The unigram model: a word is cut into the pieces that are most probable together.

Every piece has a score, its log-probability, and the tokens of a word are the segmentation with
the highest sum (Kudo 2018, section 3.2; SentencePiece, Kudo and Richardson 2018). Viterbi's
algorithm finds it: ``Unigram.steps`` shows its table, ``Unigram.cut`` is the readable form and
``Unigram.tokenize`` the fast one.

The rules beside the sum are the ``tokenizers`` library's: a character that is no piece costs
10 nats more than the worst piece; unknown neighbors are one token; with ``byte_fallback`` they
are spelled in bytes, ``<0xE2>``, if the vocabulary has them all.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from lmcourse.errors import CourseError
from lmcourse.tokenizers.component import Positive, Token, checked
from lmcourse.tokenizers.models.lattice import (
    UNKNOWN_PENALTY,
    Lattice,
    Node,
    ViterbiStep,
    n_best,
    path_back,
    sample,
    viterbi,
    viterbi_steps,
)
from lmcourse.tokenizers.models.settings import Exponent
from lmcourse.tokenizers.models.word_model import Steps, WordModel
from lmcourse.tokenizers.text.normalized_string import Span, checked_text


class Segmentation(NamedTuple):
    """The tokens of a word and the log-probability of their pieces, nats."""

    tokens: list[Token]
    score: float


@dataclass(frozen=True)
class UnigramSteps(Steps[ViterbiStep]):
    """Viterbi's table, place by place, and what is read off it.

    Attributes:
        path: the pieces of the best segmentation, from left to right. (Among the ``tokens``,
            unknown neighbors are joined.)
    """

    path: tuple[Span, ...]


class Unigram(WordModel, frozen=True):
    """A unigram language model over pieces.

    Args:
        unk_id: the id of the unknown token. None: there is none.
        vocab: each piece and its score, in the order of their ids.
        byte_fallback: spell what is unknown in pieces ``<0x00>`` … ``<0xFF>``, where all those
            needed are in the vocabulary.

    Raises:
        CourseError: ``unk_id`` is not an id, a piece is listed twice, or a score is no number.
    """

    unk_id: int | None = None
    vocab: tuple[tuple[str, float], ...] = ()
    byte_fallback: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unk_id is not None and not 0 <= self.unk_id < len(self.vocab):
            raise CourseError(
                f"The unknown token's id {self.unk_id} is not in the vocabulary, which has "
                f"{len(self.vocab)} pieces.",
                "Set unk_id to the place of the unknown token in vocab (from 0), or to None.",
            )
        seen: set[str] = set()
        for piece, score in self.vocab:
            if not math.isfinite(score):
                raise CourseError(
                    f"The score of the piece {piece!r} is {score}.",
                    "A score is a log-probability: give every piece a finite number.",
                )
            if piece in seen:
                raise CourseError(
                    f"The vocabulary lists the piece {piece!r} more than once.",
                    "Give each piece once, with one score: its place in the list is its id.",
                )
            seen.add(piece)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Each piece's id."""
        return {piece: id_ for id_, (piece, _) in enumerate(self.vocab)}

    @cached_property
    def tokens(self) -> dict[int, str]:
        """Each id's piece."""
        return {id_: piece for id_, (piece, _) in enumerate(self.vocab)}

    @cached_property
    def scores(self) -> dict[str, float]:
        """Each piece's score, nats."""
        return dict(self.vocab)

    @cached_property
    def longest(self) -> int:
        """The characters of the longest piece."""
        return max(map(len, self.scores), default=0)

    @cached_property
    def unknown_score(self) -> float | None:
        """The score of a character that is no piece; None if there is no unknown token."""
        if self.unk_id is None:
            return None
        return min(self.scores.values()) - UNKNOWN_PENALTY

    def lattice(self, word: str) -> Lattice:
        """All segmentations of a word.

        Raises:
            CourseError: it has none: a character is not known and there is no unknown token.
        """
        lattice = Lattice.of(checked_text(word), self.scores, self.longest, self.unknown_score)
        reached = [
            place == 0 or node is not None for place, (_, node) in enumerate(viterbi(lattice))
        ]
        if not reached[-1]:
            raise _unknown(word, reached)
        return lattice

    def cut(self, word: str) -> list[Token]:
        """The tokens of a word's best segmentation: the readable form of ``tokenize``."""
        return self._tokens(word, _spans(path_back(viterbi(self.lattice(word)))))

    def tokenize(self, word: str) -> list[Token]:
        """The tokens of a word's best segmentation.

        Raises:
            CourseError: the word has none: a character is not known and there is no unknown token.
        """
        return self._kept(word, self._fast_cut)

    def steps(self, word: str) -> UnigramSteps:
        """How Viterbi's algorithm finds the best segmentation, place by place.

        Raises:
            CourseError: the word has none.
        """
        lattice = self.lattice(word)
        path = _spans(path_back(viterbi(lattice)))
        return UnigramSteps(word, viterbi_steps(lattice), tuple(self._tokens(word, path)), path)

    def nbest(self, word: str, n: int) -> list[Segmentation]:
        """The n most probable segmentations, best first (fewer if the word has fewer).

        Raises:
            CourseError: the word has none, or n is below 1.
        """
        checked(n, Positive, "number n of nbest")
        return [
            Segmentation(self._tokens(word, _spans(path.nodes)), path.score)
            for path in n_best(self.lattice(word), n)
        ]

    def sample(
        self, word: str, generator: random.Random, alpha: float = 1.0, nbest_size: int | None = None
    ) -> list[Token]:
        """A segmentation drawn with probability proportional to ``P(x)^alpha``.

        This is subword regularization (Kudo 2018, section 3.3): a model that is trained on varying
        segmentations sees a word from several sides.

        Args:
            word: what is to be cut.
            generator: where the randomness comes from: ``random.Random(seed)``.
            alpha: the exponent, 0 or more: 0 draws all segmentations alike, 1 by their
                probability.
            nbest_size: draw among so many best segmentations only. None: among all.

        Raises:
            CourseError: the word has no segmentation, alpha is negative or not finite, or
                ``nbest_size`` is below 1.
        """
        checked(alpha, Exponent, "alpha of sample")
        checked(nbest_size, Positive | None, "nbest_size of sample")
        lattice = self.lattice(word)
        if nbest_size is None:
            return self._tokens(word, _spans(sample(lattice, generator, alpha)))
        paths = n_best(lattice, nbest_size)
        weights = [math.exp(alpha * (path.score - paths[0].score)) for path in paths]
        return self._tokens(word, _spans(generator.choices(paths, weights)[0].nodes))

    def _tokens(self, word: str, path: Sequence[Span]) -> list[Token]:
        """The tokens of a path: unknown neighbors are joined to one."""
        spans: list[Span] = []
        was_unknown = False
        for start, end in path:
            # What is no piece is unknown, and so is the unknown token itself, spelled out.
            unknown = self.ids.get(word[start:end], self.unk_id) == self.unk_id
            spans.append((spans.pop()[0] if unknown and was_unknown else start, end))
            was_unknown = unknown
        return [token for span in spans for token in self._spelled(word[slice(*span)], span)]

    def _spelled(self, piece: str, offsets: Span) -> list[Token]:
        """The token of a piece, or several if it must be spelled in bytes."""
        if piece in self.ids:
            return [Token(self.ids[piece], piece, offsets)]
        if self.byte_fallback:
            spelled = [f"<0x{byte:02X}>" for byte in piece.encode()]
            if all(byte in self.ids for byte in spelled):
                return [Token(self.ids[byte], byte, offsets) for byte in spelled]
        assert self.unk_id is not None  # else it would have had no node
        return [Token(self.unk_id, piece, offsets)]

    # The faster form: no nodes, and no look-up where no piece can go on.

    def _fast_cut(self, word: str) -> list[Token]:
        return self._tokens(word, self._best(word))

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        """What pieces begin with: a trie, as a set."""
        return frozenset(piece[:end] for piece in self.scores for end in range(1, len(piece)))

    def _best(self, word: str) -> list[Span]:
        """The best path's pieces: what ``path_back(viterbi(lattice(word)))`` finds."""
        scores, beginnings, unknown_score = self.scores, self._beginnings, self.unknown_score
        best = [0.0] * (len(word) + 1)
        came_from = [0] + [-1] * len(word)  # -1: not reached
        for start in range(len(word)):
            if came_from[start] < 0:
                continue
            for end in range(start + 1, len(word) + 1):
                piece = word[start:end]
                score = scores.get(piece)
                if score is None and end == start + 1:
                    score = unknown_score
                if score is not None:
                    total = best[start] + score
                    if came_from[end] < 0 or total > best[end]:
                        best[end], came_from[end] = total, start
                if piece not in beginnings:
                    break
        if came_from[-1] < 0:
            raise _unknown(word, [start >= 0 for start in came_from])
        path, end = [], len(word)
        while end > 0:
            path.append((came_from[end], end))
            end = came_from[end]
        return path[::-1]


def _spans(nodes: Sequence[Node]) -> tuple[Span, ...]:
    return tuple((node.start, node.end) for node in nodes)


def _unknown(word: str, reached: Sequence[bool]) -> CourseError:
    """No piece continues the word where it could be cut furthest."""
    place = max(place for place, is_reached in enumerate(reached) if is_reached)
    return CourseError(
        f"The unigram model cannot cut {word!r}: no piece goes on with the character "
        f"{word[place]!r} at place {place}, and there is no unknown token.",
        "Name an unknown token (unk_token in training, unk_id in the model), or train with the "
        "character in the words or in initial_alphabet.",
    )
