"""The lattice of a word: all its segmentations into pieces, in one graph that is traversed once.

A word of n characters has n + 1 positions between (and beside) its characters. A piece that occurs
in the word is a node from the position where it starts to the position where it ends, and a
segmentation is a path from position 0 to position n. Under a unigram language model the pieces are
independent, so the log-probability of a path is the sum of its nodes' scores (Kudo 2018, section
3.2). There may be 2^(n-1) paths, but dynamic programming over the positions gives:

* the best path (Viterbi 1967) and the n best;
* the log-likelihood, ``log Σ exp(score of the path)`` over all paths, and how often each piece is
  expected in the word (forward-backward, Baum 1972; the E step of EM).

Papers: Kudo 2018, "Subword Regularization" (arXiv:1804.10959); Kudo and Richardson 2018,
"SentencePiece" (arXiv:1808.06226).
"""

import heapq
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

UNKNOWN_PENALTY = 10.0  # nats below the worst piece
UNKNOWN = ""  # the key under which unknown characters are counted: no piece is empty


class Node(NamedTuple):
    """A piece at one position of a word."""

    start: int  # characters of the word, the end excluded
    end: int
    score: float  # the log-probability of the piece, nats
    unknown: bool = False  # one character that is no piece

    def piece(self, word: str) -> str:
        """The piece, or ``UNKNOWN``."""
        return UNKNOWN if self.unknown else word[self.start : self.end]


@dataclass(frozen=True)
class Lattice:
    """All segmentations of a word.

    Attributes:
        word: the word, n characters.
        ending: for each of the n + 1 positions, the nodes that end there, the longest first.
    """

    word: str
    ending: tuple[tuple[Node, ...], ...]

    @classmethod
    def of(
        cls, word: str, scores: Mapping[str, float], longest: int, unknown: float | None
    ) -> "Lattice":
        """The lattice of a word.

        Args:
            word: the word to segment.
            scores: each piece's log-probability, nats.
            longest: the characters of the longest piece.
            unknown: the score of a character that is no piece. None: there is no such node.
        """
        ending: list[list[Node]] = [[] for _ in range(len(word) + 1)]
        for start in range(len(word)):
            for end in range(start + 1, min(start + longest, len(word)) + 1):
                score = scores.get(word[start:end])
                if score is not None:
                    ending[end].append(Node(start, end, score))
                elif end == start + 1 and unknown is not None:
                    ending[end].append(Node(start, end, unknown, unknown=True))
        return cls(word, tuple(map(tuple, ending)))


class Path(NamedTuple):
    """One segmentation and its log-probability, nats."""

    score: float
    nodes: tuple[Node, ...]


def viterbi(lattice: Lattice) -> list[tuple[float, Node | None]]:
    """For each position, the best score of a path that ends there, and the path's last node.

    ``best(j) = max over nodes i→j of best(i) + score``, from left to right. Of equal candidates
    the one that starts first (whose last piece is the longest) wins, as in the library.

    Returns:
        n + 1 pairs. The node is None at position 0 and, with score -inf, where no path ends.
    """
    table: list[tuple[float, Node | None]] = [(0.0, None)]
    for nodes in lattice.ending[1:]:
        best, last = -math.inf, None
        for node in nodes:
            score, before = table[node.start]
            reached = before is not None or node.start == 0
            if reached and (last is None or score + node.score > best):
                best, last = score + node.score, node
        table.append((best, last))
    return table


def path_back(table: list[tuple[float, Node | None]]) -> list[Node]:
    """The best path, read off Viterbi's table from the end; empty if none reaches the end."""
    path: list[Node] = []
    node = table[-1][1]
    while node is not None:
        path.append(node)
        node = table[node.start][1]
    return path[::-1]


@dataclass(frozen=True)
class Candidate:
    """A piece that ends at a position of the word."""

    piece: str
    start: int
    score: float  # of the piece, nats
    total: float  # its score plus that of the best path to its start
    unknown: bool


@dataclass(frozen=True)
class ViterbiStep:
    """A position of the word, the pieces that end there, and which of them the best path takes."""

    position: int
    candidates: tuple[Candidate, ...]
    winner: int | None  # its index; None: no path ends here


def viterbi_steps(lattice: Lattice) -> tuple[ViterbiStep, ...]:
    """Viterbi's table row by row, for the positions 1 … n."""
    table = viterbi(lattice)
    steps = []
    for position, nodes in enumerate(lattice.ending[1:], start=1):
        nodes = tuple(node for node in nodes if table[node.start][0] > -math.inf)
        candidates = tuple(
            Candidate(
                piece=lattice.word[node.start : position],
                start=node.start,
                score=node.score,
                total=table[node.start][0] + node.score,
                unknown=node.unknown,
            )
            for node in nodes
        )
        last = table[position][1]
        winner = None if last is None else nodes.index(last)
        steps.append(ViterbiStep(position, candidates, winner))
    return tuple(steps)


def n_best(lattice: Lattice, n: int) -> list[Path]:
    """The n most probable paths, best first: Viterbi's table with n entries instead of one.

    (Kudo 2018, section 3.3, finds them with a forward-DP backward-A* search; the paths are the
    same.) Equal paths come in the order in which ``viterbi`` prefers them.
    """
    table: list[list[Path]] = [[Path(0.0, ())]]
    for nodes in lattice.ending[1:]:
        candidates = (
            Path(path.score + node.score, (*path.nodes, node))
            for node in nodes
            for path in table[node.start]
        )
        table.append(heapq.nlargest(n, candidates, key=lambda path: path.score))
    return table[-1][:n]


def log_sum_exp(values: Iterable[float]) -> float:
    """``log Σ exp(x)`` without overflow; -inf for no values."""
    values = list(values)
    highest = max(values, default=-math.inf)
    if highest == -math.inf:
        return highest
    return highest + math.log(sum(math.exp(value - highest) for value in values))


def forward(lattice: Lattice) -> list[float]:
    """For each position j, the log of the summed probability of all paths from 0 to j.

    ``F(0) = 0`` and ``F(j) = log Σ over nodes i→j of exp(F(i) + score)``: Viterbi's recursion with
    log-sum-exp instead of max.
    """
    table = [0.0]
    for nodes in lattice.ending[1:]:
        table.append(log_sum_exp(table[node.start] + node.score for node in nodes))
    return table


def backward(lattice: Lattice) -> list[float]:
    """For each position i, the log of the summed probability of all paths from i to the end.

    ``B(n) = 0`` and ``B(i) = log Σ over nodes i→j of exp(score + B(j))``, from right to left.
    """
    arriving: list[list[float]] = [[] for _ in lattice.ending]
    table = [0.0] * len(lattice.ending)
    for position in range(len(lattice.word), -1, -1):
        if position < len(lattice.word):
            table[position] = log_sum_exp(arriving[position])
        for node in lattice.ending[position]:
            arriving[node.start].append(node.score + table[position])
    return table


def log_likelihood(lattice: Lattice) -> float:
    """The log-probability of the word, summed over its segmentations, nats; -inf if it has none.

    ``log P(X) = log Σ over x in S(X) of P(x)`` (Kudo 2018, section 3.2).
    """
    return forward(lattice)[-1]


def expected_counts(lattice: Lattice) -> dict[str, float]:
    """How often each piece is expected in the word's segmentation: the E step of EM.

    A node i→j is part of a random segmentation with probability
    ``exp(F(i) + score + B(j) - log P(X))``; a piece's count is the sum over its nodes. Unknown
    characters are counted together, as ``UNKNOWN``.
    """
    before, after = forward(lattice), backward(lattice)
    counts: dict[str, float] = {}
    if before[-1] == -math.inf:
        return counts
    for nodes in lattice.ending:
        for node in nodes:
            log_posterior = before[node.start] + node.score + after[node.end] - before[-1]
            piece = node.piece(lattice.word)
            counts[piece] = counts.get(piece, 0.0) + math.exp(log_posterior)
    return counts
