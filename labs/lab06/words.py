"""Merges, and the most probable segmentation of a word."""

import math  # noqa: F401 (in slips)
from itertools import pairwise
from random import Random
from typing import Any

from lmcourse.labs.kit import Example, Task
from lmcourse.labs.verdict import Wrong

Pair = tuple[int, int]


def merge_step(ids: list[int], words: list[int], new_id: int) -> tuple[list[int], ...]:
    counts: dict[Pair, int] = {}
    for i, pair in enumerate(pairwise(ids)):
        if words[i] == words[i + 1]:
            counts[pair] = counts.get(pair, 0) + 1
    best = min(counts, key=lambda pair: (-counts[pair], pair))
    merged, numbers, i = [], [], 0
    while i < len(ids):
        found = words[i : i + 2] == [words[i]] * 2 and tuple(ids[i : i + 2]) == best
        merged.append(new_id if found else ids[i])
        numbers.append(words[i])
        i += 2 if found else 1
    return list(best), merged, numbers


def _flat(text: str) -> Example:
    """The words of a text as ids, from 0 for an a, and the number of each id's word."""
    letters = [(ord(it) - ord("a"), i) for i, word in enumerate(text.split()) for it in word]
    return [it for it, _ in letters], [number for _, number in letters], 26 + len(letters)


_TEXTS = """banana ban cab nab|dcdc ddd ddcd cd ccc|aaaaa baaa abab babb|fe ef eee fef ff feee
|ab ab ba ba ba cc cc cdc|dad db db ca bc bc cab ad|ca ac ab ac ab|la ba a baba la ba"""

MERGE = Task(
    merge_step,
    examples=[_flat(text) for text in _TEXTS.split("|")],
    slips="""
Pairs across two words are counted, or merged. A pair is two neighbors in the same word.
    if words[i] == words[i + 1]: -> if True: || if words[i] == words[i + 1]:
    words[i : i + 2] == [words[i]] * 2 and tuple -> tuple
    or
    if words[i] == words[i + 1]: -> if True:
Of equally frequent pairs, take the one with the smallest first id, then the smallest second id.
    pair: (-counts[pair], pair) -> pair: -counts[pair] || p: (-counts[p], -p[0], -p[1]) ||
        p: (-counts[p], p[::-1]) || p: (-counts[p], p[0], -p[1]) || p: (-counts[p], p[1])
Pairs are counted once per word, or weighted by the numbers of `words`. Each occurrence counts 1.
    0) + 1 -> 0) + words[i] || 0) + (pair not in [*pairwise(ids)][words.index(words[i]) : i])
Overlapping pairs are counted once only. *aaa* has two pairs of *a*, although only one is merged.
    counts: dict[Pair, int] = {} -> counts, last = {}, {}
    counts[pair] = counts.get(pair, 0) + 1 -> free = last.get(pair, -2) < i - 1;
        counts[pair] = counts.get(pair, 0) + free; last[pair] = i if free else last[pair]
Only the first occurrence is merged, in the text or in each word. Merge all of them.
    found = -> found = new_id not in merged and ||
        found = (words[i], new_id) not in zip(numbers, merged) and
The pairs are merged from the right. Merge from the left: *aaa* becomes *aa a*.
    found = -> n = [*pairwise(zip(ids, words))][i:].count(((ids[i], words[i]),) * 2);
        found = (len({*best}) > 1 or n % 2) and
A token that was merged is used again. After a merge, continue after both of its tokens.
    i += 2 if found else 1 -> i += 1 || i += 1 + (found and tuple(ids[i + 1 : i + 3]) != best)
The numbers of the words do not fit the new tokens: each token has one.
    list(best), merged, numbers -> list(best), merged, words || best, merged, words[: len(merged)]
""",
    names=("The pair", "The ids", "The words"),
    note="BPE's training repeats this step. The library's trainer chooses the same pairs.",
)


def encode(ids: list[int], merges: dict[Pair, tuple[int, int]]) -> list[int]:
    ids = list(ids)
    while True:
        known = [(merges[pair][0], i) for i, pair in enumerate(pairwise(ids)) if pair in merges]
        if not known:
            return ids
        _, i = min(known)
        ids[i : i + 2] = [merges[ids[i], ids[i + 1]][1]]


def _everywhere(ids: list[int], pair: Pair, new_id: int) -> list[int]:
    """For slips: all occurrences of a pair merged, from left to right."""
    i = next((i for i, here in enumerate(pairwise(ids)) if here == pair), len(ids))
    return [*ids[:i], new_id, *_everywhere(ids[i + 2 :], pair, new_id)] if i < len(ids) else ids


def _case(seed: int) -> Example:
    """A word, and random merges in random order. A token that two of them build has one id."""
    draw, tokens, pairs = Random(seed), list("abc"), dict[tuple[str, str], float]()
    while len(pairs) < 14:
        a, b = draw.choices(tokens, k=2)
        if len(a + b) <= 4:
            pairs[a, b] = draw.random()
            tokens += [a + b] * (a + b not in tokens)
    ids = {token: i for i, token in enumerate(tokens)}
    ranked = enumerate(sorted(pairs, key=pairs.__getitem__))
    merges = {(ids[a], ids[b]): (rank, ids[a + b]) for rank, (a, b) in ranked}
    return Random(f"word {seed}").choices(range(3), k=14 + seed % 3), merges


ENCODE = Task(
    encode,
    examples=[_case(seed) for seed in (0, 1, 3, 4, 39, 49, 140, 166)],
    edge_cases={"for an empty word": ([], {(0, 1): (0, 3)})},
    slips="""
Each merge is applied once, in the order of ranks. But a merge can make a *lower* rank possible.
    def encode(ids, merges):
        for pair in sorted(merges, key=merges.get):
            ids = _everywhere(ids, pair, merges[pair][1])
        return ids
The first known pair is merged (from the left, or from the right), whatever its rank.
    min(known) -> known[0] || known[-1]
Rank 0 is taken for no rank, since 0 counts as false. Compare with `None`, or use `in`.
    if not known: -> if not known or not min(known)[0]:
The pair with the *highest* rank is merged. Rank 0 is the first in the table.
    min(known) -> max(known) || max(known, key=lambda each: (each[0], -each[1]))
The pairs are ordered by the new ids, not by the ranks. These are two different numbers here.
    [(merges[pair][0], i) for -> [(merges[pair][1], i) for
All occurrences of a pair are merged at once. Merge the leftmost one, then compare all ranks again.
    ids[i : i + 2] = [merges[ids[i], ids[i + 1]][1]] ->
        ids = _everywhere(ids, (ids[i], ids[i + 1]), merges[ids[i], ids[i + 1]][1])
Of several pairs with the lowest rank, the last one is merged. Merge the leftmost one.
    min(known) -> min(known, key=lambda each: (each[0], -each[1]))
The rank is used as the id of the new token, or the id is computed from it. Take it from the table.
    ids[i + 1]][1]] -> ids[i + 1]][0]] || ids[i + 1]][0] + 3] || ids[i + 1]][0] + 256]
Only one pair is merged, or nothing. Repeat until no pair of neighbors is in the table.
    ids[i : i + 2] = [merges[ids[i], ids[i + 1]][1]] ->
        return [*ids[:i], merges[ids[i], ids[i + 1]][1], *ids[i + 2 :]] || return ids
""",
    note="This is the library's rule. For a table as training gives it, one pass would do.",
)


def viterbi(word: str, log_p: dict[str, float], unknown: float) -> tuple[list[int], float]:
    best: list[tuple[float, list[int]]] = [(0.0, [])]
    for j in range(1, len(word) + 1):
        paths = [(best[i][0] + log_p[word[i:j]], i) for i in range(j) if word[i:j] in log_p]
        if word[j - 1] not in log_p:
            paths.append((best[j - 1][0] + unknown, j - 1))
        score, start = max(paths)
        best.append((score, ends := [*best[start][1], j]))
    return ends, score


def _scores(word: str, missing: str = "", unknown: float | None = None) -> Example:
    """A word, log-probabilities of its letters and many substrings, and λ (the library's)."""
    draw, log_p = Random(word), {}
    parts = {word[i : i + n] for i in range(len(word)) for n in (1, 2, 4)}
    for it in sorted(parts - set(missing)):
        if len(it) == 1 or draw.random() < (0.2 if set(it) & set(missing) else 0.6):
            log_p[it] = round(-draw.uniform(0, 9) - len(it), 2)
    return word, log_p, unknown or min(log_p.values()) - 10


def _possible(returned: Any, *_: Any) -> Any:
    """A path that does not exist is no result: its positions are arbitrary."""
    if isinstance(returned, (list, tuple)) and "-inf" in str(returned[1:]):
        raise Wrong("The score is −∞: no path was found.")
    return returned


VITERBI = Task(
    viterbi,
    examples=[
        *(_scores("unbelievable"), _scores("garçon", "ç", -4.0), _scores("résumé", "é", -2.0)),
        *(_scores("lowerxyz", "xyz", -2.0), _scores("smörgåsbord", "öå"), _scores("Zoë", "Zoë")),
    ],
    edge_cases={"with billions of segmentations": _scores("".join(map(chr, range(97, 160))))},
    slips="""
The longest token is taken first. That may leave an improbable rest: compare whole segmentations.
    def viterbi(word, log_p, unknown):
        ends, score, i = [], 0.0, 0
        while i < len(word):
            j = max([j for j in range(len(word) + 1) if word[i:j] in log_p], default=i + 1)
            ends, score, i = [*ends, j], score + log_p.get(word[i:j], unknown), j
        return ends, score
The score is that of all segmentations together, not of the best one.
    = max(paths) -> = math.log(sum(math.exp(path) for path, _ in paths)), max(paths)[1]
The positions are right. The score is not the sum of all logarithms, with those of unknown tokens.
    return ends, score -> return ends, math.exp(score) || return ends, -score ||
        return ends, score / len(ends) || return ends, score / len(word)
Each position is where a token ends, as in `word[start:end]`. Yours are others, or in reverse order.
    return ends, -> return [0, *ends[:-1]], || return [0, *ends], || return ends[:-1], ||
        return [j - i for i, j in pairwise([0, *ends])], || return [j - 1 for j in ends], ||
        return ends[::-1],
An unknown character is not read as a token, so the whole word is unknown or has no path.
    if word[j - 1] not in log_p: -> if False:
    max(paths) -> max(paths, default=(-math.inf, 0))
    or
    return ends, score ->
        return (ends, score) if set(word) <= set(log_p) else ([len(word)], unknown)
Each single character that is not in `log_p` may be unknown, always, and nothing else may be.
    if word[j - 1] not in log_p: -> if True: || if not paths:
    or
    log_p[word[i:j]], i) for i in range(j) if word[i:j] in log_p] ->
        log_p.get(word[i:j], unknown), i) for i in range(j)]
Neighboring unknown characters are joined. Each is a token of its own, and each costs `unknown`.
    return ends, score ->
        return [j for j in ends if j == len(word) or {*word[j - 1 : j + 1]} & {*log_p}], score
""",
    result=_possible,
    names=("The positions", "The score"),
    note="The library does the same. Afterwards it joins neighboring unknown characters.",
)
