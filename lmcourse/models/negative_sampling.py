"""Negative sampling: a few noise words instead of the whole vocabulary (chapter 05).

The softmax over V words costs V products for each word. Mikolov et al. (2013b, "Distributed
representations of words and phrases and their compositionality", section 2.2) instead classify
pairs as real or noise, with k words drawn from a noise distribution (eq. 4):

    log σ(u_o · v_c) + Σ_{i=1…k} E_{w_i ~ P} log σ(−u_{w_i} · v_c)        P(w) ∝ count(w)^{3/4}

The power 3/4 is between the unigram distribution (1) and the uniform one (0). Frequent words are
also subsampled (section 2.3, eq. 5):

    paper      keep(w) = √(t/f(w))
    program    keep(w) = √(t/f(w)) + t/f(w)        both at most 1; f(w) = count(w) / Σ counts

The authors' program and gensim add the second term, which keeps more words.
"""

from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

Formula = Literal["program", "paper"]


def noise_distribution(
    counts: Int[Tensor, " vocab"] | Float[Tensor, " vocab"], power: float = 0.75
) -> Float[Tensor, " vocab"]:
    """Return the noise distribution P(w) ∝ count(w)^power."""
    weights = _wide(counts)
    weights = (weights / weights.max()) ** power  # a power of a large count may be infinite
    weights = weights.masked_fill(counts == 0, 0.0)  # 0⁰ = 1 would draw words that do not occur
    return weights / weights.sum()


def draw_negatives(
    noise: Float[Tensor, " vocab"],
    pairs: int,
    negatives: int,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "pair negative"]:
    """Draw noise words for each pair, independently.

    A draw may equal the true word; `negative_sampling_loss` can ignore it.
    """
    drawn = torch.multinomial(noise, pairs * negatives, replacement=True, generator=generator)
    return drawn.view(pairs, negatives)


def keep_probability(
    counts: Int[Tensor, " vocab"] | Float[Tensor, " vocab"],
    threshold: float = 1e-3,
    formula: Formula = "program",
) -> Float[Tensor, " vocab"]:
    """Return the probability of keeping an occurrence of each word.

    Args:
        counts: the number of occurrences of each word.
        threshold: t; 1e-5 in the paper, for 10⁹ words, and 1e-3 in the program.
        formula: one of the two above.
    """
    weights = _wide(counts)
    ratio = threshold * weights.sum() / weights  # t/f; infinite where a word does not occur
    kept = ratio.sqrt() + ratio if formula == "program" else ratio.sqrt()
    return kept.clamp(max=1.0)


def subsample(
    ids: Int[Tensor, " word"],
    keep: Float[Tensor, " vocab"],
    generator: torch.Generator | None = None,
) -> Int[Tensor, " kept"]:
    """Return a sentence with words dropped at random."""
    return ids[torch.rand(len(ids), generator=generator) < keep[ids]]


def negative_sampling_loss(
    scores: Float[Tensor, " batch"],
    negative_scores: Float[Tensor, "batch negative"],
    counted: Bool[Tensor, "batch negative"] | None = None,
) -> Float[Tensor, ""]:
    """Return the negative of equation 4 in nats, averaged over the pairs.

    Args:
        scores: u_o · v_c of the real pairs.
        negative_scores: u_{w_i} · v_c of the noise words.
        counted: False where a noise word equals the true word, which is ignored as in the
            published program.
    """
    noise = functional.logsigmoid(-negative_scores)
    if counted is not None:
        noise = noise.masked_fill(~counted, 0.0)
    return -(functional.logsigmoid(scores) + noise.sum(-1)).mean()


def _wide(counts: Tensor) -> Float[Tensor, " vocab"]:
    """Return the counts in float32 or wider, since their sum may overflow in half precision."""
    wide = counts.dtype if counts.is_floating_point() else torch.get_default_dtype()
    return counts.to(torch.promote_types(wide, torch.float32))
