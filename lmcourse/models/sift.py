"""SiFT, scale-invariant fine-tuning with perturbed word embeddings (chapter 16).

After He et al. (2021, "DeBERTa", section 4). Virtual adversarial training (Miyato et al. 2018; of
language models Jiang et al. 2020) finds the small perturbation δ of the input that changes the
prediction most, and trains the model to be robust to it. For text the embeddings are perturbed, but
their norms differ among words and models, so SiFT normalizes them first:

    x = LayerNorm(word)                                     mean 0 and variance 1; no weights
    D(p, q) = KL(p ‖ q) + KL(q ‖ p)                         at each predicted position
    δ₀ ~ N(0, σ²)                                           at δ = 0, the gradient of D is 0
    g = ∂/∂δ₀ Σ D(model(x), model(x + δ₀))                  the sum, so that texts are independent
    δ = δ₀ + η g / max|g|                                   for each token
    loss = mean D(model(x), model(x + δ))                   added to the task's own

No label is needed. It takes three forward and three backward passes instead of one; the search
computes no gradients of weights.

    classifier.eval()                                       # no dropout: see below

    def predict(x):
        return classifier(inputs_embeds=x, attention_mask=mask).logits

    result = sift(predict, classifier.bert.embeddings.word(ids))
    loss = cross_entropy(result.logits, labels) + result.loss

With dropout (``classifier.train()``), the three passes have different masks, so D is above 0 even
at δ = 0.

The paper gives no formulas for D, δ₀ and η; those above are the published code's, with two
differences. That code treats the probabilities that weight D as constants, and its third pass has
no gradient with respect to the words. Here gradients are exact.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.outputs import ModelOutput

EPSILON = 1e-7
Predict = Callable[[Tensor], Tensor]
"""A model: from embedded words, (batch, time, width), to logits, (…, classes)."""
Distance = Callable[[Tensor, Tensor], Tensor]
"""D: from two predictions, (…, classes), to their distance at each position, (…)."""


@dataclass(frozen=True, eq=False)
class SiftOutput(ModelOutput):
    """Output of SiFT.

    Attributes:
        loss: the distance of the predictions.
        logits: the prediction from the normalized words, for the task's own loss.
    """

    loss: Float[Tensor, ""]
    logits: Float[Tensor, "*positions classes"]


def normalized(
    words: Float[Tensor, "batch time width"],
) -> Float[Tensor, "batch time width"]:
    """Normalize each word's embedding to mean 0 and variance 1."""
    return functional.layer_norm(words, words.shape[-1:], eps=EPSILON)


def symmetric_kl(
    one: Float[Tensor, "*positions classes"], other: Float[Tensor, "*positions classes"]
) -> Float[Tensor, "*positions"]:
    """Return KL(p ‖ q) + KL(q ‖ p) of the softmaxes, in nats, at each position."""
    log_p, log_q = one.log_softmax(-1), other.log_softmax(-1)
    return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1)


def squared_error(
    one: Float[Tensor, "*positions numbers"], other: Float[Tensor, "*positions numbers"]
) -> Float[Tensor, "*positions"]:
    """Return the mean squared difference at each position: D for regression."""
    return (one - other).square().mean(-1)


def perturbation(
    predict: Predict,
    x: Float[Tensor, "batch time width"],
    target: Float[Tensor, "*positions classes"],
    start: Float[Tensor, "batch time width"],
    step: float = 1e-4,
    distance: Distance = symmetric_kl,
    counted: Tensor | None = None,
) -> Float[Tensor, "batch time width"]:
    """Return δ: one gradient step from the start that increases D.

    Args:
        x: the normalized words.
        target: the prediction from them.
        start: δ₀.
        step: η, the largest change of an entry.
        distance, counted: as in `sift`.
    """
    with torch.enable_grad():
        start = start.detach().requires_grad_()
        moved = distance(scores(predict, x.detach() + start), target.detach())
        # The sum, since the gradient of a mean shrinks with the batch, and 1e-6 is added below.
        divergence = (moved if counted is None else torch.where(counted, moved, 0)).sum()
        slope = None
        if divergence.requires_grad:
            (slope,) = torch.autograd.grad(divergence, start, allow_unused=True)
    if slope is None:
        raise CourseError(
            "The prediction does not depend on the words that SiFT perturbs.",
            "Pass them to the model: lambda x: model(inputs_embeds=x).logits.",
        )
    return (start + step * slope / (slope.abs().amax(-1, keepdim=True) + 1e-6)).detach()


def sift(
    predict: Predict,
    words: Float[Tensor, "batch time width"],
    *,
    start: Float[Tensor, "batch time width"] | None = None,
    spread: float = 1e-2,
    step: float = 1e-4,
    distance: Distance = symmetric_kl,
    counted: Tensor | None = None,
) -> SiftOutput:
    """Compute the loss of SiFT, and the prediction from the normalized words.

    It is for models that add nothing to a word's embedding before the LayerNorm, such as DeBERTa.

    Args:
        predict: the model, with the same other inputs at each call.
        words: the word embeddings, in float32 or float64; ``predict`` may use ``torch.autocast``.
        start: δ₀; sampled by default, clipped at two standard deviations.
        spread: σ, its standard deviation.
        step: η.
        distance: D; `squared_error` for regression.
        counted: 1 or True at the positions whose predictions count, such as the attention mask for
            token classification; None: all.
    """
    x = normalized(words)
    if start is None:
        start = (spread * torch.randn_like(x)).clamp(-2 * spread, 2 * spread)
    logits = scores(predict, x)
    counted = None if counted is None else counted.bool()
    delta = perturbation(predict, x, logits, start, step, distance, counted)
    moved = distance(scores(predict, x + delta), logits)
    if counted is None:
        return SiftOutput(moved.mean(), logits)
    loss = torch.where(counted, moved, 0).sum() / counted.sum().clamp(min=1)
    return SiftOutput(loss, logits)


def scores(predict: Predict, x: Tensor) -> Tensor:
    """Return the prediction from x, in float32 if it is in half precision, as D is small."""
    found = predict(x)
    return found.to(torch.promote_types(found.dtype, torch.float32))
