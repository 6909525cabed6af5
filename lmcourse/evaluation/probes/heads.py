"""Attention heads: does one attend from a pronoun to its antecedent, from a verb to its subject?

Clark et al. (2019, "What does BERT look at? An analysis of BERT's attention", sections 4 and 5)
evaluate each head as a classifier without training: its answer for a word is the *other* word with
the largest weight. Special tokens are no answers. A word's pieces count as one word: weights *to*
its pieces are summed, those *from* them are averaged (section 4.1).

Two effects make a head look better than it is:

- many links have a usual length. The subject often precedes its verb directly, and a head that
  always attends one word back finds it. So the best head is compared with the best fixed offset;
- the best of a hundred heads is also good by chance. So the head and the offset are selected on one
  half of the texts and scored on the other.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.evaluation.attention import attention_arrays
from lmcourse.evaluation.columns import as_arrays
from lmcourse.evaluation.logits import check_module, device_of
from lmcourse.evaluation.probes.links import Link
from lmcourse.evaluation.probes.states import Reader, cut
from lmcourse.evaluation.uncertainty import Score, mean_score

Attentions = (
    Float[Tensor, "_layer _head _query _key"] | Float[np.ndarray, "_layer _head _query _key"]
)
"""One text's weights, from each word (the query) to each word (the key)."""

EQUAL = 1e-6  # relative difference below which weights are equal: sums over pieces are rounded


@dataclass(frozen=True)
class HeadProbe:
    """How often heads find the words of links. Standard errors are over texts, not links.

    Attributes:
        scores: of each head over all links. The largest of them overestimates that head.
        layer, head: the best one on the first half of the texts.
        score: its score on the second half.
        offset: the best fixed answer on the first half, in words; negative: to the left.
        baseline: its score on the second half.
        difference: of score and baseline, link by link.
        chance: the score there of a head with uniform weights on all other words.
        links: how many there are, in both halves.
    """

    scores: Float[np.ndarray, "layer head"]
    layer: int
    head: int
    score: Score
    offset: int
    baseline: Score
    difference: Score
    chance: float
    links: int

    def __str__(self) -> str:
        return (
            f"layer {self.layer}, head {self.head}: {self.score} "
            f"(offset {self.offset:+d}: {self.baseline.value:.3f}, chance {self.chance:.3f})"
        )


def word_attentions(
    model: nn.Module, texts: Iterable[Sequence[str]], reader: Reader
) -> Iterator[Float[Tensor, "layer head query key"]]:
    """Yield each text's attention from word to word.

    Rows sum to less than 1 where special tokens have a share.

    Args:
        model: one of the course's with multi-head or disentangled attention and one stack of
            layers.
        texts: each a list of words.
        reader: how words become ids, as in `hidden_states`.
    """
    check_module(model)
    device = device_of(model)
    for words in texts:
        pieces = cut(words, reader)
        ids = pieces.ids[None].to(device)
        names = [str(number) for number in pieces.words]
        weights = attention_arrays(model, names, input_ids=ids)["attentions"]
        if not isinstance(weights, Tensor):  # DeBERTa's, which also has those of each term
            weights = weights["all terms"]
        mean = pieces.shares()
        yield mean @ weights @ (mean > 0).float().T


def head_probe(
    attentions: Iterable[Attentions], links: Iterable[Sequence[Link]], *, seed: int = 0
) -> HeadProbe:
    """Score each head's answers, and compare the best head with the best fixed offset.

    An answer is right if the largest weight is on a target; words with equal weights share it.

    Args:
        attentions: of each text, from `word_attentions` or a model's own.
        links: of each text.
        seed: of the split of the texts with links into halves.
    """
    rows, offsets, chances, texts = _collected(attentions, links)
    shuffled = np.random.default_rng(seed).permutation(np.unique(texts))
    if len(shuffled) < 2:
        raise CourseError(
            f"{len(shuffled)} texts have links.",
            "Pass two or more: the best head is selected on one half and scored on the other.",
        )
    first = np.isin(texts, shuffled[: (len(shuffled) + 1) // 2])
    layer, head = np.unravel_index(rows[first].mean(0).argmax(), rows.shape[1:])
    offset = _best_offset([each for each, chosen in zip(offsets, first, strict=True) if chosen])
    own = rows[:, layer, head]
    fixed = np.array([float(offset in each) for each in offsets])
    second = texts[~first]
    return HeadProbe(
        rows.mean(0),
        int(layer),
        int(head),
        mean_score(own[~first], second),
        offset,
        mean_score(fixed[~first], second),
        mean_score((own - fixed)[~first], second),
        float(chances[~first].mean()),
        len(rows),
    )


Collected = tuple[
    Float[np.ndarray, "link layer head"],
    list[set[int]],
    Float[np.ndarray, " link"],
    np.ndarray,
]


def _collected(attentions: Iterable[Any], links: Iterable[Sequence[Link]]) -> Collected:
    """Of each link: every head's score, the offsets of its targets, chance, and its text."""
    rows, offsets, chances, texts = [], [], [], []
    for number, (weights, own) in enumerate(zip(attentions, links, strict=True)):
        array = np.asarray(as_arrays(weights), np.float64)
        size = array.shape[2]
        for query, targets in own:
            rows.append(_scores(array[:, :, query], query, targets))
            offsets.append({target - query for target in targets})
            chances.append(len(set(targets)) / (size - 1))
            texts.append(number)
    if not rows:
        raise CourseError("No text has links.", "Pass texts with pronouns or agreeing verbs.")
    return np.stack(rows), offsets, np.array(chances), np.array(texts)


def _scores(
    weights: Float[np.ndarray, "layer head key"], query: int, targets: Sequence[int]
) -> Float[np.ndarray, "layer head"]:
    """The share of each head's largest weights that is on targets."""
    others = np.arange(weights.shape[-1]) != query
    right = np.isin(np.arange(weights.shape[-1]), targets)
    largest = np.where(others, weights, -np.inf).max(-1, keepdims=True)
    chosen = (weights >= largest * (1 - EQUAL)) & others
    shares: np.ndarray = (chosen & right).sum(-1) / chosen.sum(-1)
    return shares


def _best_offset(offsets: list[set[int]]) -> int:
    """The offset that is right for most links; of several, the shortest, left before right."""
    every = sorted({offset for each in offsets for offset in each}, key=lambda it: (abs(it), it))
    return max(every, key=lambda offset: sum(offset in each for each in offsets))
