"""Attention heads: does one look from a pronoun at its antecedent, from a verb at its subject?

Clark et al. (2019, "What does BERT look at? An analysis of BERT's attention", sections 4 and 5)
take each head for a classifier that was never trained as one: its answer for a word is the *other*
word that gets the largest weight. Special tokens are no answers. A word's pieces count as one word:
weights *to* its pieces are added up, those *from* them are averaged (section 4.1).

Two things make a head look better than it is, and both are dealt with here:

- many links have a usual length. The subject often stands right before its verb, and a head that
  always looks one word back finds it. So the best fixed offset stands beside the best head;
- of a hundred heads, the best one is good by luck also. So the head, and the offset, are chosen on
  one half of the texts and scored on the other one.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from operator import index
from typing import Any, Literal, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.evaluation.attention import attention_arrays
from lmcourse.evaluation.logits import check_module, device_of
from lmcourse.evaluation.probes.links import Link
from lmcourse.evaluation.probes.states import Reader, cut
from lmcourse.evaluation.uncertainty import Score, mean_score

Attentions = (
    Float[Tensor, "_layer _head _query _key"] | Float[np.ndarray, "_layer _head _query _key"]
)
"""One text's weights, from each word (the query) to each word (the key)."""

Measure = Literal["largest", "weight"]
EQUAL = 1e-6  # weights whose ratio is nearer to 1 are equal: sums over pieces are rounded


@dataclass(frozen=True)
class HeadProbe:
    """How well heads find what words are linked to. Errors count texts, not links.

    Attributes:
        scores: of each head over all links. To choose the best one of them by these overrates it.
        layer, head: the one that is best on the first half.
        score: what it has on the second half.
        offset: the best fixed answer on the first half: so many words on, or back where negative.
        baseline: what that has on the second half.
        difference: of both there, link by link.
        chance: what a head has there that gives all other words the same weight.
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
    """Each text's attention from word to word, one text after the other.

    Rows sum to less than 1 where special tokens take a share.

    Args:
        model: one of the course's with multi-head or disentangled attention and one stack of
            layers.
        texts: each a list of words.
        reader: how words become ids, as in `hidden_states`.

    Raises:
        CourseError: the model has no attention; a text cannot be read.
    """
    check_module(model)
    device = device_of(model)
    for words in texts:
        pieces = cut(words, reader)
        ids = pieces.ids[None].to(device)
        names = [str(number) for number in pieces.words]
        weights = attention_arrays(model, names, input_ids=ids)["attentions"]
        if not isinstance(weights, Tensor):  # DeBERTa's, whose terms are shown one by one also
            weights = weights["all terms"]
        mean = pieces.shares()
        yield mean @ weights @ (mean > 0).float().T


def head_probe(
    attentions: Iterable[Attentions],
    links: Iterable[Sequence[Link]],
    *,
    measure: Measure = "largest",
    seed: int = 0,
) -> HeadProbe:
    """How often each head's answer is right; the best one's score, beside the best offset's.

    Args:
        attentions: of each text, from `word_attentions` or any model's own.
        links: of each text, what its words are linked to.
        measure: ``"largest"``: whether the largest weight lies on a target; where several words
            have it, each counts for its share. ``"weight"``: how much weight the targets have
            together, of all that lies on other words.
        seed: how the texts that have links are dealt into halves.

    Raises:
        CourseError: fewer than two texts have links; a link leads out of its text or to its own
            word; texts differ in number, or in heads; weights are no weights.
    """
    if measure not in get_args(Measure):
        raise CourseError(
            f"measure={measure!r} is no choice.", f"Give {' or '.join(get_args(Measure))}."
        )
    rows, offsets, chances, texts = _collected(attentions, links, measure)
    kinds = np.random.default_rng(seed).permutation(np.unique(texts))
    if len(kinds) < 2:
        raise CourseError(
            f"{len(kinds)} texts have links.",
            "Pass two or more: the best head is chosen on one half and scored on the other.",
        )
    first = np.isin(texts, kinds[: (len(kinds) + 1) // 2])
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


def _collected(
    attentions: Iterable[Any], links: Iterable[Sequence[Link]], measure: Measure
) -> Collected:
    """Of each link: every head's score, the offsets of its targets, chance, and its text."""
    rows, offsets, chances, texts = [], [], [], []
    heads: tuple[int, ...] | None = None
    for number, (weights, own) in enumerate(zip_longest(attentions, links)):
        if weights is None or own is None:
            raise CourseError(
                f"There are {'links' if own is None else 'attentions'} of {number} texts, and "
                f"{'attentions' if own is None else 'links'} of more.",
                "Pass both for the same texts, in one order.",
            )
        array = _checked(weights, number)
        if heads not in (None, array.shape[:2]):
            raise CourseError(
                f"Text {number} has {array.shape[:2]} layers and heads, others have {heads}.",
                "Pass attentions of one model.",
            )
        heads = array.shape[:2]
        for link in _links(own, array.shape[2], number):
            rows.append(_found(array[:, :, link.query], link, measure))
            offsets.append({target - link.query for target in link.targets})
            chances.append(len(set(link.targets)) / (array.shape[2] - 1))
            texts.append(number)
    if not rows:
        raise CourseError("No text has links.", "Pass texts with pronouns or verbs to look from.")
    return np.stack(rows), offsets, np.array(chances), np.array(texts)


def _found(
    weights: Float[np.ndarray, "layer head key"], link: Link, measure: Measure
) -> Float[np.ndarray, "layer head"]:
    """How much of each head's answer is right."""
    others = np.arange(weights.shape[-1]) != link.query
    right = np.isin(np.arange(weights.shape[-1]), link.targets)
    if measure == "largest":
        largest = np.where(others, weights, -np.inf).max(-1, keepdims=True)
        weights = (weights >= largest * (1 - EQUAL)).astype(float)
    whole = (weights * others).sum(-1)
    return (weights * right).sum(-1) / np.where(whole > 0, whole, 1.0)


def _best_offset(offsets: list[set[int]]) -> int:
    """What is right for most links; of several, the shortest, and back before on."""
    every = sorted({offset for each in offsets for offset in each}, key=lambda it: (abs(it), it))
    return max(every, key=lambda offset: sum(offset in each for each in offsets))


def _checked(weights: Any, number: int) -> Float[np.ndarray, "layer head query key"]:
    weights = weights.detach().float().cpu() if isinstance(weights, torch.Tensor) else weights
    array = np.asarray(weights, np.float64)
    if array.ndim != 4 or array.shape[2] != array.shape[3] or not array.size:
        raise CourseError(
            f"The attentions of text {number} have the shape {array.shape}.",
            "Pass (layer, head, query, key), such as torch.cat(result.attentions) of one text.",
        )
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise CourseError(
            f"The attentions of text {number} hold negative numbers or NaN.",
            "Pass what the softmax gave, not the scores before it.",
        )
    return array


def _links(given: Any, size: int, number: int) -> list[Link]:
    """A text's links, looked at first; plain tuples are as good."""
    if not isinstance(given, Iterable):
        raise CourseError(f"The links of text {number} are {given!r:.40}.", "Pass a list of Link.")
    return [_link(link, size, number) for link in given]


def _link(given: Any, size: int, number: int) -> Link:
    remedy = "Give positions of words in the text, and one or more targets that are other words"
    try:
        query, targets = given
    except (TypeError, ValueError):
        raise CourseError(f"Text {number} has {given!r:.40} for a link.", f"{remedy}.") from None
    try:
        found = Link(index(query), tuple(index(it) for it in targets))
    except TypeError:
        raise CourseError(
            f"Text {number} has a link from {query!s:.40} to {targets!s:.40}.",
            f"{remedy}: Link(3, (1,)).",
        ) from None
    places = (found.query, *found.targets)
    if (
        not found.targets
        or found.query in found.targets
        or not all(0 <= it < size for it in places)
    ):
        raise CourseError(
            f"Text {number} of {size} words has a link from {found.query} to {found.targets}.",
            f"{remedy}.",
        )
    return found
