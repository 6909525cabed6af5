"""Negative sampling: a few wrong words in place of the whole vocabulary (chapter 05).

The softmax over V words costs V products a word. Mikolov et al. (2013b, section 2.2) ask instead
whether a pair is real, and make k pairs up, with words of a noise distribution (eq. 4):

    log σ(u_o · v_c) + Σ_{i=1…k} E_{w_i ~ P} log σ(−u_{w_i} · v_c)        P(w) ∝ count(w)^{3/4}

The power 3/4 lies between the counts (1), which draw frequent words most of the time, and no
counts at all (0). Frequent words are also left out of the text at random (section 2.3, eq. 5):

    paper      keep(w) = √(t/f(w))
    program    keep(w) = √(t/f(w)) + t/f(w)        both at most 1; f(w) = count(w) / Σ counts

The paper's own program adds the second term, which keeps more; so does gensim after it.
"""

from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from lmcourse.errors import CourseError


def noise_distribution(
    counts: Int[Tensor, " vocab"] | Float[Tensor, " vocab"], power: float = 0.75
) -> Float[Tensor, " vocab"]:
    """P(w) ∝ count(w)^power, from which wrong words are drawn.

    Raises:
        CourseError: a count is negative, or all are zero.
    """
    weights = _checked(counts) ** power
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
    """
    drawn = torch.multinomial(noise, pairs * negatives, replacement=True, generator=generator)
    return drawn.view(pairs, negatives)


def keep_probability(
    counts: Int[Tensor, " vocab"] | Float[Tensor, " vocab"],
    threshold: float = 1e-3,
    formula: Literal["program", "paper"] = "program",
) -> Float[Tensor, " vocab"]:
    """How probably an occurrence of each word stays in the text.

    Args:
        counts: how often each word occurs.
        threshold: t; the paper has 1e-5 for a thousand million words, the program 1e-3.
        formula: which of the two above.

    Raises:
        CourseError: a count is negative, or all are zero.
    """
    weights = _checked(counts)
    ratio = threshold * weights.sum() / weights  # t/f; infinite where a word does not occur
    kept = ratio.sqrt() + ratio if formula == "program" else ratio.sqrt()
    return kept.clamp(max=1.0)


def subsample(
    ids: Int[Tensor, " word"],
    keep: Float[Tensor, " vocab"],
    generator: torch.Generator | None = None,
) -> Int[Tensor, " kept"]:
    """A sentence without what was drawn to be left out; the rest moves together."""
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


def _checked(counts: Tensor) -> Float[Tensor, " vocab"]:
    if counts.ndim != 1 or bool((counts < 0).any()) or not bool((counts > 0).any()):
        raise CourseError(
            f"The counts have shape {tuple(counts.shape)}, and "
            f"{int((counts > 0).sum())} of them are above zero.",
            "Give one count for each word of the vocabulary, (vocab,), none of them negative.",
        )
    return counts if counts.is_floating_point() else counts.to(torch.get_default_dtype())
