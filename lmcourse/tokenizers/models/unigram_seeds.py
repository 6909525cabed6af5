"""The first vocabulary of the unigram trainer: every character, and every frequent substring.

SentencePiece and the ``tokenizers`` library find substrings with a suffix array: its internal
nodes are the substrings that occur twice or more and *branch*, that is, are followed by at least
two different characters (the end of a word is one). A substring that is always followed by the
same character says nothing that the longer one does not say. This module finds the same ones by
growing them, character by character.

(Kudo 2018, section 3.2, proposes such seeds: all characters and the most frequent substrings.)
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

BOUNDARY = "\0"  # the end of a word: never part of a piece


def branching_substrings(words: Iterable[str], longest: int) -> dict[str, int]:
    """Substrings of 2 to ``longest`` characters that occur twice or more and branch.

    Occurrences that share their first characters are kept together; each round looks at one
    character more and leaves those that have become unique. Time and memory grow with the
    characters of all words, times ``longest`` at worst.

    Args:
        words: each different word once.
        longest: the characters of the longest piece.

    Returns:
        How often each occurs in the words, overlaps included. (As in the library, a word counts
        once here, however frequent it is in the corpus.)
    """
    text = "".join(word + BOUNDARY for word in words)
    found: dict[str, int] = {}
    starts: Iterable[int] = range(len(text))
    for length in range(1, longest + 1):
        groups = defaultdict(list)
        for start in starts:
            if text[start + length - 1] != BOUNDARY:
                groups[text[start : start + length]].append(start)
        repeated = {piece: group for piece, group in groups.items() if len(group) > 1}
        if length > 1:
            for piece, group in repeated.items():
                if len({text[start + length] for start in group}) > 1:
                    found[piece] = len(group)
        starts = [start for group in repeated.values() for start in group]
    return found


def seed_scores(
    word_counts: Mapping[str, int], max_piece_length: int, seed_size: int
) -> dict[str, float]:
    """The seed pieces and their log-probabilities, nats.

    A character weighs its frequency in the corpus, a substring its occurrences in the different
    words times its length; the weights are normalized to probabilities.

    Args:
        word_counts: how often each word occurs.
        max_piece_length: characters.
        seed_size: about so many pieces: characters and the heaviest substrings.

    Returns:
        The characters by falling (weight, character), then the substrings by falling
        (weight, substring): the library's order.
    """
    characters: Counter[str] = Counter()
    for word, count in word_counts.items():
        for character in word:
            if character != BOUNDARY:
                characters[character] += count
    substrings = {
        piece: count * len(piece)
        for piece, count in branching_substrings(word_counts, max_piece_length).items()
    }
    # The library looks at seed_size after it has added one: one substring always gets in.
    room = max(seed_size - len(characters), 1)
    weights = dict(_heaviest_first(characters) + _heaviest_first(substrings)[:room])
    log_total = math.log(sum(weights.values()) or 1)
    return {piece: math.log(weight) - log_total for piece, weight in weights.items()}


def _heaviest_first(weights: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(weights.items(), key=lambda item: (item[1], item[0]), reverse=True)
