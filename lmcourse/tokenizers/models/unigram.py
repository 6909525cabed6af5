"""The unigram model: the segmentation of a word is the most probable sequence of pieces.

Every piece has a score, its log-probability, and the tokens of a word are the segmentation with
the highest sum (Kudo 2018, section 3.2; SentencePiece, Kudo and Richardson 2018). Viterbi's
algorithm finds it: ``Unigram.steps`` shows its table.

The further rules are the ``tokenizers`` library's: a character that is no piece has a score 10
nats below the worst piece; adjacent unknown characters are one token; with ``byte_fallback`` they
are spelled in bytes, ``<0xE2>``, if the vocabulary has them all.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from lmcourse.errors import CourseError
from lmcourse.tokenizers.models.lattice import (
    UNKNOWN_PENALTY,
    Lattice,
    Node,
    ViterbiStep,
    n_best,
    path_back,
    viterbi,
    viterbi_steps,
)
from lmcourse.tokenizers.models.word_model import Span, Steps, Token, WordModel

if TYPE_CHECKING:
    from tokenizers import models


class Segmentation(NamedTuple):
    """The tokens of a word and the log-probability of their pieces, nats."""

    tokens: list[Token]
    score: float


@dataclass(frozen=True)
class UnigramSteps(Steps[ViterbiStep]):
    """Viterbi's table, position by position, and the path read from it.

    Attributes:
        path: the pieces of the best segmentation, from left to right. (Among the ``tokens``,
            adjacent unknown characters are joined.)
    """

    path: tuple[Span, ...]


@dataclass(frozen=True, repr=False)
class Unigram(WordModel):
    """A unigram language model over pieces.

    Args:
        unk_id: the id of the unknown token. None: there is none.
        vocab: each piece and its score, in the order of their ids; each piece once.
        byte_fallback: spell unknown characters in pieces ``<0x00>`` … ``<0xFF>``, where all those
            needed are in the vocabulary.
    """

    unk_id: int | None = None
    vocab: tuple[tuple[str, float], ...] = ()
    byte_fallback: bool = False

    @cached_property
    def ids(self) -> dict[str, int]:
        """Each piece's id."""
        return {piece: id_ for id_, (piece, _) in enumerate(self.vocab)}

    @cached_property
    def scores(self) -> dict[str, float]:
        """Each piece's score, nats."""
        return dict(self.vocab)

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.scores), default=0)

    @cached_property
    def unknown_score(self) -> float | None:
        """The score of a character that is no piece; None if there is no unknown token."""
        if self.unk_id is None:
            return None
        return min(self.scores.values()) - UNKNOWN_PENALTY

    def lattice(self, word: str) -> Lattice:
        """All segmentations of a word."""
        lattice = Lattice.of(word, self.scores, self._longest, self.unknown_score)
        reached = [score > -math.inf for score, _ in viterbi(lattice)]
        if not reached[-1]:
            position = max(index for index, is_reached in enumerate(reached) if is_reached)
            raise CourseError(
                f"The unigram model cannot segment {word!r}: no piece continues with the character "
                f"{word[position]!r} at position {position}, and there is no unknown token.",
                "Name an unknown token (unk_token in training, unk_id in the model), or train with "
                "the character in the words or in initial_alphabet.",
            )
        return lattice

    def tokenize(self, word: str) -> list[Token]:
        """The tokens of a word's best segmentation."""
        return list(self.steps(word).tokens)

    def steps(self, word: str) -> UnigramSteps:
        """How Viterbi's algorithm finds the best segmentation, position by position."""
        lattice = self.lattice(word)
        path = _spans(path_back(viterbi(lattice)))
        return UnigramSteps(word, viterbi_steps(lattice), tuple(self._tokens(word, path)), path)

    def nbest(self, word: str, n: int) -> list[Segmentation]:
        """The n most probable segmentations, best first (fewer if the word has fewer)."""
        return [
            Segmentation(self._tokens(word, _spans(path.nodes)), path.score)
            for path in n_best(self.lattice(word), n)
        ]

    def _tokens(self, word: str, path: Sequence[Span]) -> list[Token]:
        """The tokens of a path, with adjacent unknown characters joined."""
        spans: list[Span] = []
        was_unknown = False
        for start, end in path:
            # Unknown is what is no piece, and also the unknown token itself, spelled out.
            unknown = self.ids.get(word[start:end], self.unk_id) == self.unk_id
            spans.append((spans.pop()[0] if unknown and was_unknown else start, end))
            was_unknown = unknown
        return [token for span in spans for token in self._spelled(word[slice(*span)], span)]

    def _spelled(self, piece: str, offsets: Span) -> list[Token]:
        """The token of a piece, or several if it is spelled in bytes."""
        if piece in self.ids:
            return [Token(self.ids[piece], piece, offsets)]
        if self.byte_fallback:
            spelled = [f"<0x{byte:02X}>" for byte in piece.encode()]
            if all(byte in self.ids for byte in spelled):
                return [Token(self.ids[byte], byte, offsets) for byte in spelled]
        assert self.unk_id is not None  # otherwise it would have had no node
        return [Token(self.unk_id, piece, offsets)]

    def to_library(self) -> "models.Unigram":
        """The same model of the ``tokenizers`` library."""
        from tokenizers import models

        return models.Unigram(list(self.vocab), self.unk_id, self.byte_fallback)


def _spans(nodes: Sequence[Node]) -> tuple[Span, ...]:
    return tuple((node.start, node.end) for node in nodes)
