"""The lattices of all words at once, in numpy: the faster form of what the trainer asks of them.

The places of all words are numbered through, so that one array holds every node of every lattice.
The recursions of ``lattice`` go from left to right, but only within a word: all nodes that end at
the first place of their words are handled together, then those of the second, and so on. There
are as many such *waves* as the longest word has characters, whatever the number of words.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lmcourse.tokenizers.models.lattice import UNKNOWN
from lmcourse.tokenizers.models.unigram_em import Alternative, unknown_score

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Waves:
    """Nodes in the order in which a recursion needs them.

    Attributes:
        source: for each node, the place that its path comes from.
        target: the place that it leads to; nodes with the same target are neighbors.
        piece: its piece, a row of the scores.
        step: how many characters of its word lie before the target; never falls.
    """

    source: Ints
    target: Ints
    piece: Ints
    step: Ints

    @cached_property
    def firsts(self) -> Ints:
        """The first node of each target."""
        return np.flatnonzero(np.diff(self.target, prepend=-1))

    @cached_property
    def bounds(self) -> list[tuple[int, int, int, int]]:
        """For each wave, its nodes from … to and its targets from … to, the ends excluded."""
        starts = np.flatnonzero(np.diff(self.step, prepend=-1))
        nodes = [*starts.tolist(), len(self.step)]
        targets = np.searchsorted(self.firsts, nodes).tolist()
        return list(zip(nodes[:-1], nodes[1:], targets[:-1], targets[1:], strict=True))

    def log_sums(self, scores: Floats, places: int) -> Floats:
        """For each place, the log of the summed probability of all paths to it (``forward``)."""
        table = np.zeros(places)
        for node, node_end, target, target_end in self.bounds:
            nodes = slice(node, node_end)
            firsts = self.firsts[target:target_end]
            arriving = table[self.source[nodes]] + scores[self.piece[nodes]]
            highest = np.maximum.reduceat(arriving, firsts - node)
            shifted = arriving - np.repeat(highest, np.diff(firsts, append=node_end))
            sums = np.add.reduceat(np.exp(shifted), firsts - node)
            table[self.target[firsts]] = highest + np.log(sums)
        return table

    def best(self, scores: Floats, places: int, last_wins: bool) -> tuple[Floats, Ints]:
        """For each place, the best score of a path to it, and the path's last node (``viterbi``).

        Args:
            scores: of each piece, nats.
            places: how many there are.
            last_wins: of equal candidates take the one that starts last, not first.
        """
        table, last = np.zeros(places), np.full(places, -1)
        for node, node_end, target, target_end in self.bounds:
            nodes = slice(node, node_end)
            firsts = self.firsts[target:target_end]
            arriving = table[self.source[nodes]] + scores[self.piece[nodes]]
            highest = np.maximum.reduceat(arriving, firsts - node)
            is_best = arriving == np.repeat(highest, np.diff(firsts, append=node_end))
            numbers = np.arange(node, node_end)
            if last_wins:
                winner = np.maximum.reduceat(np.where(is_best, numbers, -1), firsts - node)
            else:
                winner = np.minimum.reduceat(np.where(is_best, numbers, node_end), firsts - node)
            table[self.target[firsts]], last[self.target[firsts]] = highest, winner
        return table, last


class LatticeBatch:
    """The lattices of some words, over pieces of which some may later be forgotten.

    Args:
        words: none of them empty.
        pieces: every piece that will ever be asked for.
        whole: whether a word (of two characters or more) may be a piece of itself.
    """

    def __init__(self, words: Sequence[str], pieces: Collection[str], whole: bool = True) -> None:
        self.pieces = [UNKNOWN, *pieces]
        sizes = np.array([len(word) for word in words], dtype=np.int64)
        self.ends = np.cumsum(sizes + 1) - 1  # each word's last place
        self.starts = self.ends - sizes
        self.places = int((sizes + 1).sum())
        nodes = _nodes(words, {piece: row for row, piece in enumerate(self.pieces)}, whole)
        self.word, start, end, self.piece = nodes
        self.size, self.from_start, self.to_end = end - start, end, sizes[self.word] - start
        self.start, self.end = self.starts[self.word] + start, self.starts[self.word] + end
        self.forward_order = np.lexsort((self.start, self.end, self.from_start))
        self.backward_order = np.lexsort((self.end, self.start, self.to_end))

    def scores(self, known: Mapping[str, float]) -> Floats:
        """A score for each piece: NaN if it is no longer known; the first is the unknown one's."""
        scores = np.array([known.get(piece, np.nan) for piece in self.pieces])
        scores[0] = unknown_score(known)
        return scores

    def _waves(self, scores: Floats, forward: bool) -> Waves:
        """The nodes of known pieces; a character that is no piece becomes the unknown one."""
        piece = np.where(np.isnan(scores[self.piece]), 0, self.piece)
        order = self.forward_order if forward else self.backward_order
        order = order[((piece > 0) | (self.size == 1))[order]]
        source, target = (self.start, self.end) if forward else (self.end, self.start)
        step = self.from_start if forward else self.to_end
        return Waves(source[order], target[order], piece[order], step[order])

    def expected_counts(self, scores: Floats, counts: Floats) -> tuple[float, Floats]:
        """The log-likelihood of the corpus, nats, and how often each piece is expected in it.

        Args:
            scores: of each piece, nats.
            counts: how often each word occurs.
        """
        waves = self._waves(scores, forward=True)
        before = waves.log_sums(scores, self.places)
        after = self._waves(scores, forward=False).log_sums(scores, self.places)
        word = np.searchsorted(self.ends, waves.target)
        likelihood = before[self.ends]
        log_posterior = (
            before[waves.source] + scores[waves.piece] + after[waves.target] - likelihood[word]
        )
        weights = counts[word] * np.exp(log_posterior)
        expected = np.bincount(waves.piece, weights, minlength=len(self.pieces))
        return float(counts @ likelihood), expected.astype(np.float64)

    def best_paths(self, scores: Floats, last_wins: bool = False) -> tuple[Floats, list[Ints]]:
        """Each word's best score, and its best path from the end: all last pieces, and so on.

        Returns:
            The scores, and for each step back the piece that each word takes; -1: it has arrived.
        """
        waves = self._waves(scores, forward=True)
        table, last = waves.best(scores, self.places, last_wins)
        place, steps = self.ends.copy(), []
        while (moving := place > self.starts).any():
            node = last[place]
            steps.append(np.where(moving, waves.piece[node], -1))
            place = np.where(moving, waves.source[node], place)
        return table[self.ends], steps


def _nodes(words: Sequence[str], rows: Mapping[str, int], whole: bool) -> Ints:
    """Every node's word, start, end and piece; every character has one, if only as unknown."""
    longest = max(map(len, rows))
    nodes = []
    for number, word in enumerate(words):
        for start in range(len(word)):
            for end in range(start + 1, min(start + longest, len(word)) + 1):
                row = rows.get(word[start:end], 0)
                if end == start + 1 or (row and (whole or end - start < len(word))):
                    nodes.append((number, start, end, row))
    return np.array(nodes, dtype=np.int64).reshape(-1, 4).T


class FastCorpus:
    """What ``unigram_em.Corpus`` is, by lattices of all words at once.

    Args:
        word_counts: how often each word occurs.
        pieces: the seed pieces: every piece that there will be.
    """

    def __init__(self, word_counts: Mapping[str, int], pieces: Collection[str]) -> None:
        self.counts = np.array([*word_counts.values()], dtype=np.float64)
        self.words = LatticeBatch([*word_counts], pieces)
        longer = [piece for piece in pieces if len(piece) > 1]
        self.rows = {piece: row for row, piece in enumerate(longer)}
        self.parts = LatticeBatch(longer, pieces, whole=False)

    def expected_counts(self, scores: Mapping[str, float]) -> tuple[float, dict[str, float]]:
        """The log-likelihood of the corpus, nats, and how often each piece is expected in it."""
        likelihood, expected = self.words.expected_counts(self.words.scores(scores), self.counts)
        return likelihood, dict(zip(self.words.pieces, expected.tolist(), strict=True))

    def best_counts(self, scores: Mapping[str, float]) -> dict[str, float]:
        """How often each piece occurs in the best segmentations of all words."""
        totals = np.zeros(len(self.words.pieces))
        for pieces in self.words.best_paths(self.words.scores(scores))[1]:
            taken = pieces >= 0
            totals += np.bincount(pieces[taken], self.counts[taken], minlength=len(totals))
        return dict(zip(self.words.pieces, totals.tolist(), strict=True))

    def alternatives(
        self, scores: Mapping[str, float], pieces: Collection[str]
    ) -> dict[str, Alternative]:
        """How each piece (of two characters or more) is best cut into several."""
        if not pieces:
            return {}
        totals, steps = self.parts.best_paths(self.parts.scores(scores), last_wins=True)
        paths, names = np.array(steps)[::-1], self.parts.pieces
        return {
            piece: Alternative(
                float(totals[row]), tuple(names[part] for part in paths[:, row] if part >= 0)
            )
            for piece, row in ((piece, self.rows[piece]) for piece in pieces)
        }
