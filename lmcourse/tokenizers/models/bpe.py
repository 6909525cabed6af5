"""BPE: start from the characters of a word and redo the merges that were learned, oldest first.

Sennrich, Haddow & Birch 2016, section 3.2; BPE-dropout: Provilkov, Emelianenko & Voita 2020,
algorithm 1. How the merges are learned: ``merging``.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, starmap
from random import Random
from typing import NamedTuple

from msgspec import field

from lmcourse.errors import CourseError
from lmcourse.tokenizers.component import Token
from lmcourse.tokenizers.models.merging import Pair, joined, spelled
from lmcourse.tokenizers.models.word_model import Steps, WordModel, tokens_by_id
from lmcourse.tokenizers.text.normalized_string import Span, checked_text


class Symbol(NamedTuple):
    """A piece of a word while it is being merged: its id, and the characters that it covers."""

    id: int
    start: int
    end: int


class Merge(NamedTuple):
    """How early a pair was learned (0 is the first), and the id of what it makes."""

    rank: int
    id: int


Merges = dict[tuple[int, int], Merge]


@dataclass(frozen=True)
class BpeStep:
    """A word's segmentation, and the merge that led to it (None for the first).

    Attributes:
        pieces: the word's pieces now; an unknown character shows as the unknown token.
        spans: the characters of the word that each of them covers.
        pair: the two pieces that were merged last.
        rank: that merge's place in the list of merges.
        place: which piece of ``pieces`` it made.
    """

    pieces: tuple[str, ...]
    spans: tuple[Span, ...]
    pair: Pair | None = None
    rank: int | None = None
    place: int | None = None


class BPE(WordModel, frozen=True):
    """Byte-pair encoding of words.

    Args:
        dropout: leave out each possible merge with this probability, anew at each step
            (BPE-dropout), which shows a model in training many segmentations of a word.
        unk_token: the token of a character that the vocabulary lacks. None: there must be none.
        continuing_subword_prefix: stands before every piece but a word's first.
        end_of_word_suffix: stands after a word's last piece.
        fuse_unk: let neighboring unknown characters be one unknown token.
        byte_fallback: spell an unknown character by tokens of its UTF-8 bytes, ``<0xE2>``, if the
            vocabulary has them all.
        ignore_merges: a word that is a token itself is taken whole, whatever the merges say.
        vocab: each token's id. Empty: the model is not trained yet.
        merges: pairs of tokens, in the order in which they were learned.

    Raises:
        CourseError: a merge or the unknown token is not in the vocabulary, two tokens share an id,
            or the dropout is no probability.
    """

    dropout: float | None = None
    unk_token: str | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    ignore_merges: bool = False
    vocab: dict[str, int] = field(default_factory=dict)
    merges: tuple[Pair, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        tokens_by_id(self.vocab)
        if self.vocab and self.unk_token is not None and self.unk_token not in self.vocab:
            raise CourseError(
                f"The unknown token {self.unk_token!r} is not in BPE's vocabulary.",
                "Add it (a trainer takes it among its special_tokens), or leave unk_token out if "
                "every character is known.",
            )
        if self.dropout is not None and not 0 <= self.dropout <= 1:
            raise CourseError(
                f"The dropout {self.dropout} is no probability.",
                "Choose one from 0 (every merge) to 1 (none); Provilkov et al. take 0.1.",
            )
        _ = self._merges

    @property
    def ids(self) -> dict[str, int]:
        """Each token's id."""
        return self.vocab

    @cached_property
    def tokens(self) -> dict[int, str]:
        """Each id's token."""
        return tokens_by_id(self.vocab)

    def tokenize(self, word: str, generator: Random | None = None) -> list[Token]:
        """The tokens of a word, from left to right.

        Args:
            generator: where dropout draws from. Without one, each call draws anew.

        Raises:
            CourseError: a character is not known and there is no unknown token.
        """
        if self.dropout:
            *_, last = self._rounds(checked_text(word), generator or Random())
            return self._as_tokens(last)
        return self._kept(word, self._cut)

    def _cut(self, word: str) -> list[Token]:
        if self.ignore_merges and word in self.vocab:
            return [Token(self.vocab[word], word, (0, len(word)))]
        return self._as_tokens(merge_symbols(self._symbols(word), self._merges))

    def steps(self, word: str, generator: Random | None = None) -> Steps[BpeStep]:
        """The word's segmentations: its characters, then as it is after each merge.

        The last is what ``tokenize`` gives (with dropout: for a generator in the same state).

        Args:
            generator: draws which merges are left out, if there is dropout. Without one, none is.

        Raises:
            CourseError: a character is not known and there is no unknown token.
        """
        checked_text(word)
        if self.ignore_merges and not self.dropout and word in self.vocab:
            tokens = self._cut(word)
            return Steps(word, (BpeStep((word,), (tokens[0].offsets,)),), tuple(tokens))
        rounds = list(self._rounds(word, generator))
        steps = [self._step(None, rounds[0]), *starmap(self._step, pairwise(rounds))]
        return Steps(word, tuple(steps), tuple(self._as_tokens(rounds[-1])))

    def _step(self, before: list[Symbol] | None, symbols: list[Symbol]) -> BpeStep:
        """What changed from one round to the next."""
        pieces = tuple(self.tokens[symbol.id] for symbol in symbols)
        spans = tuple((symbol.start, symbol.end) for symbol in symbols)
        if before is None:
            return BpeStep(pieces, spans)
        place = next(i for i, symbol in enumerate(symbols) if symbol != before[i])
        left, right = before[place].id, before[place + 1].id
        pair = self.tokens[left], self.tokens[right]
        return BpeStep(pieces, spans, pair, self._merges[left, right].rank, place)

    def _rounds(self, word: str, generator: Random | None) -> Iterator[list[Symbol]]:
        """Again and again, merge the pair that was learned first; of equal ones, the leftmost."""
        symbols = self._symbols(word)
        yield symbols
        while True:
            found = [
                (self._merges[left.id, right.id].rank, place)
                for place, (left, right) in enumerate(pairwise(symbols))
                if (left.id, right.id) in self._merges
            ]
            if generator and self.dropout:
                found = [merge for merge in found if generator.random() >= self.dropout]
            if not found:
                return
            _, place = min(found)
            left, right = symbols[place : place + 2]
            new = Symbol(self._merges[left.id, right.id].id, left.start, right.end)
            symbols = [*symbols[:place], new, *symbols[place + 2 :]]
            yield symbols

    def _symbols(self, word: str) -> list[Symbol]:
        """The word before any merge: a symbol for each character, or for each byte of it."""
        symbols: list[Symbol] = []
        pieces = spelled(word, self.continuing_subword_prefix or "", self.end_of_word_suffix or "")
        unknown_before = False
        for place, piece in enumerate(pieces):
            ids = self._known(piece)
            if ids:
                symbols += [Symbol(id_, place, place + 1) for id_ in ids]
            elif self.fuse_unk and unknown_before:
                symbols[-1] = symbols[-1]._replace(end=place + 1)
            else:
                symbols.append(Symbol(self._unknown(word[place]), place, place + 1))
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
        if not self.vocab:
            raise CourseError(
                "This BPE model has no vocabulary yet.",
                "Train it, or give it a vocabulary and merges.",
            )
        raise CourseError(
            f"The character {character!r} (U+{ord(character):04X}) is not in BPE's vocabulary, and "
            "there is no unknown token.",
            "Name one with unk_token, train with an initial_alphabet that has this character, or "
            "use byte-level BPE, which knows every text.",
        )

    def _as_tokens(self, symbols: Iterable[Symbol]) -> list[Token]:
        return [Token(id_, self.tokens[id_], (start, end)) for id_, start, end in symbols]

    @cached_property
    def _merges(self) -> Merges:
        """What each pair of ids makes. A pair that is listed twice has the later rank."""
        merges: Merges = {}
        for rank, pair in enumerate(self.merges):
            token = joined(pair, self.continuing_subword_prefix or "")
            for piece in (*pair, token):
                if piece not in self.vocab:
                    raise CourseError(
                        f"Merge {rank}, {pair[0]!r} + {pair[1]!r}, needs the token {piece!r}, "
                        "which is not in BPE's vocabulary.",
                        "Take the merges and the vocabulary from the same training.",
                    )
            merges[self.vocab[pair[0]], self.vocab[pair[1]]] = Merge(rank, self.vocab[token])
        return merges


def merge_symbols(symbols: Sequence[Symbol], merges: Merges) -> list[Symbol]:
    """The last of ``BPE.steps``, faster: for n characters, some n log n operations instead of n².

    The symbols stand in a linked list, where a merge moves nothing. A heap holds the pairs that
    can be merged, by rank and place; a pair whose symbols have changed since is passed over.
    """
    parts: list[Symbol | None] = list(symbols)
    before, after = list(range(-1, len(parts) - 1)), list(range(1, len(parts) + 1))
    heap: list[tuple[int, int, int, int]] = []  # rank, place, and the ids that must still be there

    def offer(place: int, next_: int) -> None:
        if place >= 0 and next_ < len(parts) and (left := parts[place]) and (right := parts[next_]):
            merge = merges.get((left.id, right.id))
            if merge:
                heapq.heappush(heap, (merge.rank, place, left.id, right.id))

    for place, next_ in enumerate(after):
        offer(place, next_)
    while heap:
        _, place, *ids = heapq.heappop(heap)
        left, next_ = parts[place], after[place]
        right = parts[next_] if next_ < len(parts) else None
        if not left or not right or [left.id, right.id] != ids:
            continue
        parts[place] = Symbol(merges[left.id, right.id].id, left.start, right.end)
        parts[next_] = None
        after[place] = after[next_]
        if after[place] < len(parts):
            before[after[place]] = place
        offer(before[place], place)
        offer(place, after[place])
    return [part for part in parts if part]
