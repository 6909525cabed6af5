"""Negative sampling: a few wrong words in place of the whole vocabulary (chapter 05).

The softmax over V words costs V products a word. Mikolov et al. (2013b, "Distributed
representations of words and phrases and their compositionality", section 2.2) ask instead whether a
pair is real, and make k pairs up, with words of a noise distribution (eq. 4):

    log σ(u_o · v_c) + Σ_{i=1…k} E_{w_i ~ P} log σ(−u_{w_i} · v_c)        P(w) ∝ count(w)^{3/4}

The power 3/4 lies between the counts (1), which draw frequent words most of the time, and no
counts at all (0). Frequent words are also left out of the text at random (section 2.3, eq. 5):

    paper      keep(w) = √(t/f(w))
    program    keep(w) = √(t/f(w)) + t/f(w)        both at most 1; f(w) = count(w) / Σ counts

The paper's own program adds the second term, which keeps more; so does gensim after it.
"""

import math
from typing import Literal, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.inputs import check_range

Formula = Literal["program", "paper"]


def noise_distribution(
    counts: Int[Tensor, " vocab"] | Float[Tensor, " vocab"], power: float = 0.75
) -> Float[Tensor, " vocab"]:
    """P(w) ∝ count(w)^power, from which wrong words are drawn.

    Raises:
        CourseError: a count is negative or not finite, or all are zero; so is the power.
    """
    if not 0 <= power < math.inf:
        raise CourseError(f"The power is {power}.", "Give 0 or more; word2vec has 0.75.")
    weights = _checked(counts)
    weights = (weights / weights.max()) ** power  # shares: a power of a count may be infinite
    weights = weights.masked_fill(counts == 0, 0.0)  # 0⁰ = 1 would draw words that never occur
    return weights / weights.sum()


def draw_negatives(
    noise: Float[Tensor, " vocab"],
    pairs: int,
    negatives: int,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "pair negative"]:
    """Wrong words for each pair, independent of one another.

    A draw may be the right word by chance; `negative_sampling_loss` can leave it out.

    Raises:
        CourseError: there is nothing to draw, or the noise cannot be drawn from.
    """
    if pairs < 1 or negatives < 1:
        raise CourseError(
            f"{negatives} words are to be drawn for each of {pairs} pairs.",
            "Give at least one pair, and one word for each; a text of single words has no pairs.",
        )
    if not noise.is_floating_point():
        raise CourseError(
            f"The noise has the type {noise.dtype}.",
            "Give probabilities: `noise_distribution(counts)` makes them of counts.",
        )
    _checked(noise, "noise")
    drawn = torch.multinomial(noise, pairs * negatives, replacement=True, generator=generator)
    return drawn.view(pairs, negatives)


def keep_probability(
    counts: Int[Tensor, " vocab"] | Float[Tensor, " vocab"],
    threshold: float = 1e-3,
    formula: Formula = "program",
) -> Float[Tensor, " vocab"]:
    """How probably an occurrence of each word stays in the text.

    Args:
        counts: how often each word occurs.
        threshold: t; the paper has 1e-5 for a thousand million words, the program 1e-3.
        formula: which of the two above.

    Raises:
        CourseError: a count is negative or not finite, or all are zero; the threshold is not above
            zero; the formula is another.
    """
    if formula not in get_args(Formula):
        raise CourseError(
            f"There is no formula {formula!r}.", f"Choose one of {', '.join(get_args(Formula))}."
        )
    if not 0 < threshold < math.inf:
        raise CourseError(
            f"The threshold is {threshold}.",
            "Give a frequency above zero: words above it are left out now and then.",
        )
    weights = _checked(counts)
    ratio = threshold * weights.sum() / weights  # t/f; infinite where a word does not occur
    kept = ratio.sqrt() + ratio if formula == "program" else ratio.sqrt()
    return kept.clamp(max=1.0)


def subsample(
    ids: Int[Tensor, " word"],
    keep: Float[Tensor, " vocab"],
    generator: torch.Generator | None = None,
) -> Int[Tensor, " kept"]:
    """A sentence without what was drawn to be left out; the rest moves together.

    Raises:
        CourseError: an id has no probability.
    """
    if len(ids):
        check_range(ids, len(keep), "ids")
    return ids[torch.rand(len(ids), generator=generator) < keep[ids]]


def negative_sampling_loss(
    scores: Float[Tensor, " batch"],
    negative_scores: Float[Tensor, "batch negative"],
    counted: Bool[Tensor, "batch negative"] | None = None,
) -> Float[Tensor, ""]:
    """Equation 4 with its sign turned, in nats: the mean over the pairs.

    Args:
        scores: u_o · v_c of the real pairs.
        negative_scores: u_{w_i} · v_c of the invented ones.
        counted: False where a draw is the right word itself: it counts nothing, as in the
            published program.
    """
    wrong = functional.logsigmoid(-negative_scores)
    if counted is not None:
        wrong = wrong.masked_fill(~counted, 0.0)
    return -(functional.logsigmoid(scores) + wrong.sum(-1)).mean()


def _checked(counts: Tensor, name: str = "counts") -> Float[Tensor, " vocab"]:
    """The counts in float32 or wider: in half precision their sum is soon infinite."""
    if counts.ndim != 1:
        raise CourseError(
            f"The {name} have shape {tuple(counts.shape)}.",
            "Give one number for each word of the vocabulary, (vocab,).",
        )
    wide = counts.dtype if counts.is_floating_point() else torch.get_default_dtype()
    weights = counts.to(torch.promote_types(wide, torch.float32))
    usable, above = weights.isfinite() & (weights >= 0), weights > 0
    if not bool(usable.all()) or not bool(above.any()):
        raise CourseError(
            f"{int(above.sum())} of the {len(weights)} {name} are above zero, and "
            f"{int((~usable).sum())} are negative, infinite or no number.",
            "Give one number for each word of the vocabulary: 0 or more, and not all of them 0.",
        )
    return weights
