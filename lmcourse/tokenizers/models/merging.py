"""Learn merges: count the adjacent pairs, merge the most frequent one everywhere, and go on.

Byte-pair encoding as in Sennrich, Haddow & Birch 2016, "Neural Machine Translation of Rare Words
with Subword Units", algorithm 1. WordPiece is the same loop with another score (``scores``):
Schuster & Nakajima 2012, "Japanese and Korean Voice Search", section 3.
``merging_fast`` gives the same steps without counting everything anew after each of them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, repeat
from typing import TypeVar

from lmcourse.tokenizers.models.scores import Counts, Score, frequency

Piece = TypeVar("Piece", str, int)  # … or its id
Pair = tuple[str, str]
Pieces = tuple[str, ...]  # a word, cut: ("l", "o", "w</w>")
Words = Mapping[Pieces, int]  # … and how often it occurs
Key = tuple[float, int, int, int]  # what orders pairs: the lowest is merged first


@dataclass(frozen=True)
class MergeStep:
    """One merge as it was learned.

    Attributes:
        pair: the two pieces that are merged.
        token: the piece that takes their place.
        count: how often they stood side by side. Overlapping pairs all count: "aaa" has two "aa".
        score: what the pair was chosen by, see ``scores``.
        tied: how many other pairs had the same score.
    """

    pair: Pair
    token: str
    count: int
    score: float
    tied: int


def spelled(word: str, prefix: str = "", suffix: str = "") -> list[str]:
    """The first pieces of a word, one for each of its characters.

    Args:
        prefix: stands before every piece but the word's first (WordPiece's ``##``).
        suffix: stands after the word's last piece (Sennrich's ``</w>``).
    """
    pieces = [prefix + character if place else character for place, character in enumerate(word)]
    if pieces:
        pieces[-1] += suffix
    return pieces


def joined(pair: Pair, prefix: str = "") -> str:
    """The piece that a merge makes: ``##e`` and ``##s`` give ``##es``."""
    left, right = pair
    return left + right.removeprefix(prefix)


def count_pairs(words: Words) -> Counter[Pair]:
    """How often each pair of pieces stands side by side."""
    counts: Counter[Pair] = Counter()
    for pieces, count in words.items():
        for pair in pairwise(pieces):
            counts[pair] += count
    return counts


def count_pieces(words: Words) -> Counter[str]:
    """How often each piece occurs."""
    counts: Counter[str] = Counter()
    for pieces, count in words.items():
        for piece in pieces:
            counts[piece] += count
    return counts


def doubles(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The piece of each pair of equal ones that can be merged: "aaa" has one "aa", "aaaa" two."""
    for piece, run in groupby(pieces):
        yield from repeat(piece, sum(1 for _ in run) // 2)


def count_doubles(words: Words) -> Counter[str]:
    """How many pairs of each piece and itself can be merged."""
    counts: Counter[str] = Counter()
    for pieces, count in words.items():
        for piece in doubles(pieces):
            counts[piece] += count
    return counts


def merge_pair(pieces: Sequence[Piece], pair: tuple[Piece, Piece], token: Piece) -> list[Piece]:
    """Put the token in the pair's place, from left to right: "aaa" becomes "aa", "a"."""
    left, right = pair
    merged: list[Piece] = []
    place, last = 0, len(pieces) - 1
    while place <= last:
        if pieces[place] == left and place < last and pieces[place + 1] == right:
            merged.append(token)
            place += 2
        else:
            merged.append(pieces[place])
            place += 1
    return merged


def merge_everywhere(words: Words, pair: Pair, token: str) -> dict[Pieces, int]:
    """The words after one merge."""
    merged: Counter[Pieces] = Counter()
    for pieces, count in words.items():
        merged[tuple(merge_pair(pieces, pair, token))] += count
    return dict(merged)


def pair_keys(
    words: Words, ids: Mapping[str, int], score: Score, min_frequency: int
) -> dict[Pair, Key]:
    """What orders the pairs that may be merged: score, then count, then the pieces' ids.

    Of equal scores, the more frequent pair comes first; then the one whose left piece is older (has
    the lower id); then the one whose right piece is. The ``tokenizers`` library does the same.
    """
    pieces, alike = count_pieces(words), count_doubles(words)
    keys = {}
    for (left, right), count in count_pairs(words).items():
        merged = alike[left] if left == right else count
        counts = Counts(count, merged, pieces[left], pieces[right], pieces.total(), left == right)
        if count >= max(1, min_frequency):
            keys[left, right] = (-score(counts), -count, ids[left], ids[right])
    return keys


def learn_merges(
    words: Words,
    tokens: Sequence[str],
    vocab_size: int,
    min_frequency: int = 0,
    score: Score = frequency,
    prefix: str = "",
) -> Iterator[MergeStep]:
    """The merges of some words, one after another (Sennrich et al. 2016, algorithm 1).

    A token is always built in one way: the merges that meet inside its characters are the same
    wherever it stands, and come in the same order. So no merge is learned twice, and the
    ``tokenizers`` library learns the same merges though it keeps other books (it never takes a
    merged pair out of its counts). They can part only where words hold the characters of the
    prefix or suffix themselves, so that one token can be spelled in two ways: "a$$b" with the
    suffix "$".

    Args:
        words: the words, cut into their first pieces, and their counts.
        tokens: the tokens that are there before any merge, in the order of their ids.
        vocab_size: stop at so many tokens.
        min_frequency: stop when no pair occurs so often.
        score: what a pair is worth: ``frequency`` (BPE), ``likelihood`` (WordPiece) or ``pmi``.
            It ends where no pair is worth anything.
        prefix: what a right piece loses when it is merged to a left one.
    """
    ids = {token: id_ for id_, token in enumerate(tokens)}
    while len(ids) < vocab_size:
        keys = pair_keys(words, ids, score, min_frequency)
        pair = min(keys, key=keys.__getitem__, default=None)
        if not pair or (worth := -keys[pair][0]) <= 0:
            return
        count = -keys[pair][1]
        tied = sum(-key[0] == worth for key in keys.values()) - 1
        token = joined(pair, prefix)
        yield MergeStep(pair, token, count, worth, tied)
        ids.setdefault(token, len(ids))
        words = merge_everywhere(words, pair, token)


def replay(words: Words, steps: Iterable[MergeStep]) -> Iterator[dict[Pieces, int]]:
    """The words before the first merge, and after each."""
    now = dict(words)
    yield now
    for step in steps:
        now = merge_everywhere(now, step.pair, step.token)
        yield now
