"""What is wrongly done in word2vec and GloVe.

They have no sequence and no dropout, so that the kit's properties say nothing of them: parity must
find every mistake. `tests/models/test_word2vec.py` and `test_glove.py` hold what is left.
"""

from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.nn import functional

from lmcourse.models import glove, word2vec
from lmcourse.models.context_windows import Pairs
from lmcourse.models.word2vec import CBOW, SkipGram
from tests.models.broken import Broken
from tests.models.subject import Subject
from tests.models.subjects.transformer import replaced
from tests.parity import word_vectors as parity

SUBJECTS: tuple[Subject, ...] = ()


def sampled(sign: int = -1, all_counted: bool = False, mean: bool = False) -> Any:
    """The loss of eq. 4 with a mistake in the invented pairs."""

    def wrong(scores: Tensor, negative: Tensor, counted: Tensor | None = None) -> Tensor:
        costs = functional.logsigmoid(sign * negative)
        if counted is not None and not all_counted:
            costs = costs.masked_fill(~counted, 0.0)
        return -(functional.logsigmoid(scores) + (costs.mean(-1) if mean else costs.sum(-1))).mean()

    return wrong


def one_set(forward: Any) -> Any:
    """Words are predicted by the vectors that they are looked from with: one set for both."""

    def wrong(self: Any, *given: Any) -> Any:
        with patch.object(self, "output_embeddings", self.input_embeddings):
            return forward(self, *given)

    return wrong


def no_power(noise: Any) -> Any:
    return lambda counts, power=0.75: noise(counts, 1.0)


def swapped_formulas(keep: Any) -> Any:
    def wrong(counts: Tensor, threshold: float = 1e-3, formula: str = "program") -> Tensor:
        return keep(counts, threshold, "paper" if formula == "program" else "program")

    return wrong


def mask_ignored(forward: Any) -> Any:
    """CBOW's mean goes over places that hold no word, too."""

    def wrong(self: Any, centers: Tensor, contexts: Tensor, *given: Any, **_: Any) -> Any:
        return forward(self, centers, contexts, *given[:1])

    return wrong


def across_sentences(windows: Any) -> Any:
    """Windows reach from one sentence into the next."""
    return lambda sentences, *rest: windows([[w for s in sentences for w in s]], *rest)


def with_itself(pairs: Any) -> Any:
    """Each context comes with the center of the pair before it."""

    def wrong(*given: Any) -> Any:
        centers, contexts, distances = pairs(*given)
        return Pairs(centers.roll(1), contexts, distances)

    return wrong


def unweighted(counts: Tensor, x_max: float = 100.0, alpha: float = 0.75) -> Tensor:
    return torch.ones_like(counts)


def uncapped(counts: Tensor, x_max: float = 100.0, alpha: float = 0.75) -> Tensor:
    return (counts / x_max) ** alpha


def no_bias(forward: Any) -> Any:
    def wrong(self: Any, words: Tensor, contexts: Tensor, counts: Tensor) -> Any:
        with patch.object(self.word_biases, "forward", lambda ids: torch.zeros(len(ids), 1)):
            return forward(self, words, contexts, counts)

    return wrong


def unweighted_by_distance(count: Any) -> Any:
    def wrong(*given: Any, **options: Any) -> Any:
        return count(*given, **(options | {"by_distance": False}))

    return wrong


SKIP_GRAM, BAG, GLOVE = ("skip-gram",), ("CBOW",), ("GloVe",)
BOTH = SKIP_GRAM + BAG


def loss(**mistake: Any) -> Any:
    return lambda: patch.object(word2vec, "negative_sampling_loss", sampled(**mistake))


def at_parity(name: str, wrong: Any) -> Any:
    return replaced(parity, name, wrong)


BROKEN = (
    Broken("negative sampling: wrong sign", loss(sign=1), BOTH),
    Broken("negative sampling: mean of the invented", loss(mean=True), BOTH),
    Broken("negative sampling: the word itself as noise", loss(all_counted=True), BOTH),
    Broken("noise: the power missing", at_parity("noise_distribution", no_power), SKIP_GRAM),
    Broken("subsampling: the other formula", at_parity("keep_probability", swapped_formulas), BAG),
    Broken("skip-gram: one set of vectors", replaced(SkipGram, "forward", one_set), SKIP_GRAM),
    Broken("CBOW: one set of vectors", replaced(CBOW, "forward", one_set), BAG),
    Broken("skip-gram: pairs out of step", at_parity("context_pairs", with_itself), SKIP_GRAM),
    Broken("windows across sentences", at_parity("context_windows", across_sentences), BAG),
    Broken("CBOW: mask ignored", replaced(CBOW, "forward", mask_ignored), BAG),
    Broken("GloVe: weight missing", lambda: patch.object(glove, "weight", unweighted), GLOVE),
    Broken("GloVe: weight not capped", lambda: patch.object(glove, "weight", uncapped), GLOVE),
    Broken("GloVe: a bias missing", replaced(glove.GloVe, "forward", no_bias), GLOVE),
    Broken(
        "GloVe: one set of vectors",
        lambda: patch.object(
            glove.GloVe, "vectors", property(lambda self: self.words.weight.detach())
        ),
        GLOVE,
    ),
    Broken(
        "co-occurrence: distance ignored",
        at_parity("count_cooccurrences", unweighted_by_distance),
        GLOVE,
    ),
)
