"""The same merges, faster: after a merge, only the words that held the pair are counted anew.

An index says which words hold a pair, and a heap which pair comes first. Both may name what is no
longer so: a word that has lost the pair is counted again without harm, and a key that is no longer
the pair's own is passed over. Sennrich's ``subword-nmt`` and the ``tokenizers`` library do alike.

The gain in likelihood falls for all pairs at once, because each merge shortens the text. So a key
may promise too much, never too little, and only the first one must be looked at again.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from lmcourse.tokenizers.models.merging import Key, MergeStep, Words, doubles, joined, merge_pair
from lmcourse.tokenizers.models.scores import Counts, Score, frequency

IdPair = tuple[int, int]


def learn_merges_fast(
    words: Words,
    tokens: Sequence[str],
    vocab_size: int,
    min_frequency: int = 0,
    score: Score = frequency,
    prefix: str = "",
) -> Iterator[MergeStep]:
    """What ``merging.learn_merges`` gives for the same arguments, step for step."""
    tokens = list(tokens)
    ids = {token: id_ for id_, token in enumerate(tokens)}
    table = PairTable(words, ids, score, max(1, min_frequency))
    while len(tokens) < vocab_size and (key := table.first()) and key[0] < 0:
        pair = key[2], key[3]
        names = tokens[pair[0]], tokens[pair[1]]
        token = joined(names, prefix)
        yield MergeStep(names, token, -key[1], -key[0], table.pairs_with_score[key[0]] - 1)
        if token not in ids:
            ids[token] = len(tokens)
            tokens.append(token)
        table.merge(pair, ids[token])


class PairTable:
    """Words as lists of ids, and what is known of their pairs.

    Args:
        words: the words, cut into pieces, and their counts.
        ids: each piece's id.
        score: what a pair is worth.
        least: a pair that occurs less often cannot be merged.
    """

    def __init__(self, words: Words, ids: Mapping[str, int], score: Score, least: int) -> None:
        self.words = [[ids[piece] for piece in pieces] for pieces in words]
        self.counts = list(words.values())
        self.score = score
        self.least = least
        self.pair_counts: Counter[IdPair] = Counter()
        self.piece_counts: Counter[int] = Counter()
        self.double_counts: Counter[int] = Counter()  # "aa" that can be merged; BPE never asks
        self.total = 0  # pieces in all
        self.words_with: defaultdict[IdPair, set[int]] = defaultdict(set)
        self.pairs_with: defaultdict[int, set[IdPair]] = defaultdict(set)
        self.keys: dict[IdPair, Key] = {}
        self.pairs_with_score: Counter[float] = Counter()  # how many pairs have a negated score
        self.heap: list[Key] = []
        for number in range(len(self.words)):
            self._count(number, 1)
        self._rank(list(self.pair_counts))

    def first(self) -> Key | None:
        """The key of the pair to be merged next; None if there is none."""
        if len(self.heap) > 1000 + 3 * len(self.keys):  # mostly keys of the past: drop them
            self.heap = list(self.keys.values())
            heapq.heapify(self.heap)
        while self.heap:
            key = self.heap[0]
            pair = key[2], key[3]
            if self._key(pair) == key:
                return key
            heapq.heappop(self.heap)
            if self.keys.get(pair) == key:
                self._rank([pair])
        return None

    def merge(self, pair: IdPair, token: int) -> None:
        """Put the token in the pair's place, in every word."""
        changed = {pair}
        for number in self.words_with.pop(pair):
            changed.update(self._count(number, -1))
            self.words[number] = merge_pair(self.words[number], pair, token)
            changed.update(self._count(number, 1))
        if self.score is not frequency:  # the score of a pair depends on its pieces' counts too
            for piece in (*pair, token):
                changed |= self.pairs_with[piece]
        self._rank(changed)

    def _count(self, number: int, sign: int) -> list[IdPair]:
        """Add a word to the counts (sign +1), or take it away (-1). Returns its pairs."""
        pieces, count = self.words[number], sign * self.counts[number]
        pairs = list(pairwise(pieces))
        self.total += len(pieces) * count
        for piece in pieces:
            self.piece_counts[piece] += count
        if self.score is not frequency:
            for piece in doubles(pieces):
                self.double_counts[piece] += count
        for pair in pairs:
            self.pair_counts[pair] += count
            if sign > 0:
                self.words_with[pair].add(number)
        return pairs

    def _rank(self, pairs: Iterable[IdPair]) -> None:
        """Find these pairs' keys anew."""
        for pair in pairs:
            key, old = self._key(pair), self.keys.pop(pair, None)
            if key:
                self.keys[pair] = key
            if key == old:
                continue
            if old:
                self.pairs_with_score[old[0]] -= 1
            if key:
                self.pairs_with_score[key[0]] += 1
                heapq.heappush(self.heap, key)
            for piece in pair:
                (self.pairs_with[piece].add if key else self.pairs_with[piece].discard)(pair)

    def _key(self, pair: IdPair) -> Key | None:
        """What orders the pair (see ``merging.pair_keys``); None if it is too rare."""
        left, right = pair
        count = self.pair_counts[pair]
        if count < self.least:
            return None
        pieces = self.piece_counts
        merged = self.double_counts[left] if left == right else count
        counts = Counts(count, merged, pieces[left], pieces[right], self.total, left == right)
        return -self.score(counts), -count, left, right
