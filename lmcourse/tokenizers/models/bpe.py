"""BPE: start from the characters of a word and apply the learned merges, oldest first.

Sennrich, Haddow & Birch 2016, section 3.2. How the merges are learned: ``merging``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, NamedTuple

from lmcourse.errors import CourseError
from lmcourse.tokenizers.models.merging import Pair, joined, spelled
from lmcourse.tokenizers.models.word_model import Span, Steps, Token, WordModel

if TYPE_CHECKING:
    from tokenizers import models


class Symbol(NamedTuple):
    """A piece of a word during merging: its id, and the characters that it covers."""

    id: int
    start: int
    end: int


class Merge(NamedTuple):
    """How early a pair was learned (0 is the first), and the id of the result."""

    rank: int
    id: int


@dataclass(frozen=True)
class BpeStep:
    """A word's segmentation, and the merge that led to it (None for the first).

    Attributes:
        pieces: the word's current pieces; an unknown character appears as the unknown token.
        spans: the characters of the word that each piece covers.
        pair: the two pieces that were merged last.
        rank: that merge's index in the list of merges.
        position: the index of the merged piece in ``pieces``.
    """

    pieces: tuple[str, ...]
    spans: tuple[Span, ...]
    pair: Pair | None = None
    rank: int | None = None
    position: int | None = None


@dataclass(frozen=True, repr=False)
class BPE(WordModel):
    """Byte-pair encoding of words.

    Args:
        unk_token: the token of a character that the vocabulary lacks. None: there must be none.
        continuing_subword_prefix: precedes every piece except a word's first.
        end_of_word_suffix: follows a word's last piece.
        fuse_unk: adjacent unknown characters become one unknown token.
        byte_fallback: spell an unknown character by tokens of its UTF-8 bytes, ``<0xE2>``, if the
            vocabulary has them all.
        ignore_merges: a word that is a token itself becomes that token, whatever the merges say.
        vocab: each token's id.
        merges: pairs of tokens, in the order in which they were learned. All tokens of merges, and
            the unknown token, are in the vocabulary.
    """

    unk_token: str | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    ignore_merges: bool = False
    vocab: dict[str, int] = field(default_factory=dict)
    merges: tuple[Pair, ...] = ()

    @property
    def ids(self) -> dict[str, int]:
        """Each token's id."""
        return self.vocab

    @cached_property
    def tokens(self) -> dict[int, str]:
        """Each id's token."""
        return {id_: token for token, id_ in self.vocab.items()}

    def tokenize(self, word: str) -> list[Token]:
        """The tokens of a word, from left to right.

        Raises:
            CourseError: a character is not known and there is no unknown token.
        """
        return list(self.steps(word).tokens)

    def steps(self, word: str) -> Steps[BpeStep]:
        """The word's segmentations: its characters, then the pieces after each merge."""
        if self.ignore_merges and word in self.vocab:
            rounds = [[Symbol(self.vocab[word], 0, len(word))]]
        else:
            rounds = list(self._rounds(word))
        steps = [self._step(None, rounds[0]), *starmap(self._step, pairwise(rounds))]
        tokens = (Token(id_, self.tokens[id_], (start, end)) for id_, start, end in rounds[-1])
        return Steps(word, tuple(steps), tuple(tokens))

    def _step(self, before: list[Symbol] | None, symbols: list[Symbol]) -> BpeStep:
        """What changed from one round to the next."""
        pieces = tuple(self.tokens[symbol.id] for symbol in symbols)
        spans = tuple((symbol.start, symbol.end) for symbol in symbols)
        if before is None:
            return BpeStep(pieces, spans)
        position = next(i for i, symbol in enumerate(symbols) if symbol != before[i])
        left, right = before[position].id, before[position + 1].id
        pair = self.tokens[left], self.tokens[right]
        return BpeStep(pieces, spans, pair, self._merges[left, right].rank, position)

    def _rounds(self, word: str) -> Iterator[list[Symbol]]:
        """Repeatedly merge the pair that was learned first; of equal ones, the leftmost."""
        symbols = self._symbols(word)
        yield symbols
        while True:
            found = [
                (self._merges[left.id, right.id].rank, position)
                for position, (left, right) in enumerate(pairwise(symbols))
                if (left.id, right.id) in self._merges
            ]
            if not found:
                return
            _, position = min(found)
            left, right = symbols[position : position + 2]
            new = Symbol(self._merges[left.id, right.id].id, left.start, right.end)
            symbols = [*symbols[:position], new, *symbols[position + 2 :]]
            yield symbols

    def _symbols(self, word: str) -> list[Symbol]:
        """The word before any merge: a symbol for each character, or for each byte of it."""
        symbols: list[Symbol] = []
        pieces = spelled(word, self.continuing_subword_prefix or "", self.end_of_word_suffix or "")
        unknown_before = False
        for position, piece in enumerate(pieces):
            ids = self._known(piece)
            if ids:
                symbols += [Symbol(id_, position, position + 1) for id_ in ids]
            elif self.fuse_unk and unknown_before:
                symbols[-1] = symbols[-1]._replace(end=position + 1)
            else:
                symbols.append(Symbol(self._unknown(word[position]), position, position + 1))
            unknown_before = not ids
        return symbols

    def _known(self, piece: str) -> list[int]:
        """The piece's id, or its bytes' ids, or nothing."""
        if piece in self.vocab:
            return [self.vocab[piece]]
        if self.byte_fallback:
            names = [f"<0x{byte:02X}>" for byte in piece.encode()]
            if all(name in self.vocab for name in names):
                return [self.vocab[name] for name in names]
        return []

    def _unknown(self, character: str) -> int:
        if self.unk_token in self.vocab:
            return self.vocab[self.unk_token]
        raise CourseError(
            f"The character {character!r} (U+{ord(character):04X}) is not in BPE's vocabulary, and "
            "there is no unknown token.",
            "Name one with unk_token, train with an initial_alphabet that has this character, or "
            "use byte-level BPE, which knows every text.",
        )

    @cached_property
    def _merges(self) -> dict[tuple[int, int], Merge]:
        """The result of each pair of ids. A repeated pair has its last rank."""
        prefix = self.continuing_subword_prefix or ""
        return {
            (self.vocab[pair[0]], self.vocab[pair[1]]): Merge(
                rank, self.vocab[joined(pair, prefix)]
            )
            for rank, pair in enumerate(self.merges)
        }

    def to_library(self) -> "models.BPE":
        """The same model of the ``tokenizers`` library."""
        from tokenizers import models

        options = {name: getattr(self, name) for name in self.__dataclass_fields__}
        options["merges"] = list(self.merges)
        return models.BPE(**{name: it for name, it in options.items() if it is not None})
