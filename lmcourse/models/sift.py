"""SiFT, scale-invariant fine-tuning: a small step in the words changes no prediction (chapter 16).

After He et al. (2021, "DeBERTa", section 4). Virtual adversarial training (Miyato et al. 2018; of
language models Jiang et al. 2020) looks for the small change δ of the input that changes the
prediction most, and teaches the model not to follow it. A text changes in its embeddings. But what
is small? One word's embedding may be ten times as long as another's, and a large model's longer
than a small one's. So each is first brought to one scale, and then changed:

    x = LayerNorm(word)                                     mean 0 and variance 1; no weights
    D(p, q) = KL(p ‖ q) + KL(q ‖ p)
    δ₀ ~ N(0, σ²)                                           at δ = 0, D has no slope
    g = ∂/∂δ₀ D(model(x), model(x + δ₀))
    δ = δ₀ + η g / max|g|                                   for each token by itself
    loss = D(model(x), model(x + δ))                        added to the task's own

No label is needed. It costs three forward passes for one, and two backward passes for one.

    def predict(x):
        return classifier(inputs_embeds=x, attention_mask=mask).logits

    result = sift(predict, classifier.bert.embeddings.word(ids))
    loss = cross_entropy(result.logits, labels) + result.loss
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.inputs import positive_number
from lmcourse.models.outputs import ModelOutput

EPSILON = 1e-7
Predict = Callable[[Tensor], Tensor]
"""A model: from embedded words, (batch, time, width), to scores of classes, (…, classes)."""


@dataclass(frozen=True, eq=False)
class SiftOutput(ModelOutput):
    """What SiFT returns.

    Attributes:
        loss: how far the prediction moves.
        logits: the prediction from the normalized words, for the task's own loss.
    """

    loss: Float[Tensor, ""]
    logits: Float[Tensor, "*places classes"]


def normalized(
    words: Float[Tensor, "batch time width"],
) -> Float[Tensor, "batch time width"]:
    """Each word's embedding with mean 0 and variance 1."""
    return functional.layer_norm(words, words.shape[-1:], eps=EPSILON)


def symmetric_kl(
    one: Float[Tensor, "*places classes"], other: Float[Tensor, "*places classes"]
) -> Float[Tensor, ""]:
    """KL(p ‖ q) + KL(q ‖ p) of the softmaxes, in nats: the mean over all places."""
    log_p, log_q = one.log_softmax(-1), other.log_softmax(-1)
    return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1).mean()


def perturbation(
    predict: Predict,
    x: Float[Tensor, "batch time width"],
    target: Float[Tensor, "*places classes"],
    start: Float[Tensor, "batch time width"],
    step: float = 1e-4,
) -> Float[Tensor, "batch time width"]:
    """δ: one step from the start up to where the prediction changes most.

    Args:
        x: the normalized words.
        target: the prediction from them.
        start: δ₀.
        step: η, the most that a token's vector may change in one number.

    Raises:
        CourseError: the prediction does not depend on what it is made from.
    """
    with torch.enable_grad():
        start = start.detach().requires_grad_()
        divergence = symmetric_kl(predict(x.detach() + start), target.detach())
        slope = None
        if divergence.requires_grad:
            (slope,) = torch.autograd.grad(divergence, start, allow_unused=True)
    if slope is None:
        raise CourseError(
            "What SiFT was given to predict with does not depend on the words that it is given.",
            "Hand them on: lambda x: model(inputs_embeds=x).logits.",
        )
    return (start + step * slope / (slope.abs().amax(-1, keepdim=True) + 1e-6)).detach()


def sift(
    predict: Predict,
    words: Float[Tensor, "batch time width"],
    *,
    start: Float[Tensor, "batch time width"] | None = None,
    spread: float = 1e-2,
    step: float = 1e-4,
) -> SiftOutput:
    """The loss of SiFT, and the prediction that it starts from.

    It is made for models in which nothing is added to a word's embedding before its LayerNorm, such
    as DeBERTa: a place's vector that is learned at one scale would not fit words of another.

    Args:
        predict: the model, which should read the same text at each call.
        words: the words' embeddings.
        start: δ₀; drawn if it is not given, and cut off at two standard deviations.
        spread: σ, its standard deviation.
        step: η.

    Raises:
        CourseError: ``spread`` or ``step`` is not above 0, or the prediction does not depend on
            the words.
    """
    spread = positive_number(spread, "spread", "SiFT")
    step = positive_number(step, "step", "SiFT")
    x = normalized(words)
    if start is None:
        start = (spread * torch.randn_like(x)).clamp(-2 * spread, 2 * spread)
    logits = predict(x)
    delta = perturbation(predict, x, logits, start, step)
    return SiftOutput(symmetric_kl(predict(x + delta), logits), logits)
