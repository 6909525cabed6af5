"""SiFT, scale-invariant fine-tuning: a small step in the words changes no prediction (chapter 16).

After He et al. (2021, "DeBERTa", section 4). Virtual adversarial training (Miyato et al. 2018; of
language models Jiang et al. 2020) looks for the small change δ of the input that changes the
prediction most, and teaches the model not to follow it. A text changes in its embeddings. But what
is small? One word's embedding may be ten times as long as another's, and a large model's longer
than a small one's. So each is first brought to one scale, and then changed:

    x = LayerNorm(word)                                     mean 0 and variance 1; no weights
    D(p, q) = KL(p ‖ q) + KL(q ‖ p)                         at each place that is predicted
    δ₀ ~ N(0, σ²)                                           at δ = 0, D has no slope
    g = ∂/∂δ₀ Σ D(model(x), model(x + δ₀))                  the sum: each text by itself
    δ = δ₀ + η g / max|g|                                   for each token by itself
    loss = mean D(model(x), model(x + δ))                   added to the task's own

No label is needed. It costs three forward passes for one, and three backward passes for one; that
of the search stops at the words and forms no gradient of a weight.

    classifier.eval()                                       # no dropout: see below

    def predict(x):
        return classifier(inputs_embeds=x, attention_mask=mask).logits

    result = sift(predict, classifier.bert.embeddings.word(ids))
    loss = cross_entropy(result.logits, labels) + result.loss

With dropout (``classifier.train()``), each of the three passes drops other numbers. D then also
measures that, and is above 0 even at δ = 0.

The paper gives no formulas of D, δ₀ and η, and says that it normalizes "into stochastic vectors";
what stands above is its published code's, but for two things. That code takes the probabilities
which weight D for constants: its search climbs KL(p ‖ q) alone, and in its loss each side learns
from the other by cross-entropy. And its third pass does not lead back to the words. Here D and all
of its gradient are what the equations say.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.inputs import check_mask, positive_number
from lmcourse.models.outputs import ModelOutput

EPSILON = 1e-7
Predict = Callable[[Tensor], Tensor]
"""A model: from embedded words, (batch, time, width), to scores of classes, (…, classes)."""
Distance = Callable[[Tensor, Tensor], Tensor]
"""D: from two predictions, (…, classes), to how far apart they are at each place, (…)."""


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
) -> Float[Tensor, "*places"]:
    """KL(p ‖ q) + KL(q ‖ p) of the softmaxes, in nats, at each place.

    Raises:
        CourseError: there is one class, whose softmax is always 1.
    """
    if one.shape[-1] == 1:
        raise CourseError(
            "SiFT was given one score a place, and a softmax of one score is always 1.",
            "For a number to be met, give distance=squared_error. Classes stand on the last axis.",
        )
    log_p, log_q = one.log_softmax(-1), other.log_softmax(-1)
    return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1)


def squared_error(
    one: Float[Tensor, "*places numbers"], other: Float[Tensor, "*places numbers"]
) -> Float[Tensor, "*places"]:
    """The mean squared difference at each place: D where numbers are predicted, and no classes."""
    return (one - other).square().mean(-1)


def perturbation(
    predict: Predict,
    x: Float[Tensor, "batch time width"],
    target: Float[Tensor, "*places classes"],
    start: Float[Tensor, "batch time width"],
    step: float = 1e-4,
    distance: Distance = symmetric_kl,
    counted: Tensor | None = None,
) -> Float[Tensor, "batch time width"]:
    """δ: one step from the start up to where the prediction changes most.

    Args:
        x: the normalized words.
        target: the prediction from them.
        start: δ₀.
        step: η, the most that a token's vector may change in one number.
        distance, counted: as in `sift`.

    Raises:
        CourseError: the prediction does not depend on what it is made from, or is none.
    """
    with torch.enable_grad():
        start = start.detach().requires_grad_()
        moved = distance(scores(predict, x.detach() + start), target.detach())
        # The sum, as a mean's slope would be smaller the more texts there are, and drown in 1e-6.
        divergence = (moved if counted is None else torch.where(counted, moved, 0)).sum()
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
    distance: Distance = symmetric_kl,
    counted: Tensor | None = None,
) -> SiftOutput:
    """The loss of SiFT, and the prediction that it starts from.

    It is made for models in which nothing is added to a word's embedding before its LayerNorm, such
    as DeBERTa: a place's vector that is learned at one scale would not fit words of another.

    Args:
        predict: the model, which should read the same text at each call.
        words: the words' embeddings, in float32 or finer. The model may compute under
            ``torch.autocast``; in bfloat16, so small a step is then found only roughly.
        start: δ₀; drawn if it is not given, and cut off at two standard deviations.
        spread: σ, its standard deviation.
        step: η.
        distance: D; `squared_error` where the model predicts a number.
        counted: 1 or True at the places whose prediction counts; None: all do. Where each token is
            predicted, give the attention's mask: what padding predicts is nobody's concern.

    Raises:
        CourseError: an argument does not fit; ``predict`` gives no scores, or none that depend on
            the words; or no gradient can be computed.
    """
    spread = positive_number(spread, "spread", "SiFT")
    step = positive_number(step, "step", "SiFT")
    check_words(words, start)
    x = normalized(words)
    if start is None:
        start = (spread * torch.randn_like(x)).clamp(-2 * spread, 2 * spread)
    logits = scores(predict, x)
    counted = None if counted is None else as_counted(counted, logits)
    delta = perturbation(predict, x, logits, start, step, distance, counted)
    moved = distance(scores(predict, x + delta), logits)
    if counted is None:
        return SiftOutput(moved.mean(), logits)
    loss = torch.where(counted, moved, 0).sum() / counted.sum().clamp(min=1)
    return SiftOutput(loss, logits)


def scores(predict: Predict, x: Tensor) -> Tensor:
    """The prediction from x; one in half precision (autocast's) in float32, as D is small.

    Raises:
        CourseError: it is no tensor of numbers.
    """
    found = predict(x)
    if not isinstance(found, Tensor) or not found.is_floating_point() or not found.ndim:
        what = f"a {type(found).__name__}"
        if isinstance(found, Tensor):
            what = f"a tensor of {found.dtype} and shape {tuple(found.shape)}"
        raise CourseError(
            f"What SiFT was given to predict with returned {what}.",
            "Return the scores: lambda x: model(inputs_embeds=x).logits.",
        )
    return found.to(torch.promote_types(found.dtype, torch.float32))


def check_words(words: Tensor, start: Tensor | None) -> None:
    """See that there are embedded words, that δ₀ fits them, and that slopes can be computed.

    Raises:
        CourseError: they are ids or in half precision, δ₀ does not fit, or nothing is recorded.
    """
    if not words.is_floating_point() or words.ndim != 3:
        raise CourseError(
            f"The words that SiFT was given are a tensor of {words.dtype} and shape "
            f"{tuple(words.shape)}.",
            "Give their embeddings, (batch, time, width): model.bert.embeddings.word(input_ids).",
        )
    if words.dtype in (torch.float16, torch.bfloat16):
        raise CourseError(
            f"The words that SiFT was given are in {words.dtype}, in which its step is rounded "
            "away.",
            "Keep the model in torch.float32, and call it under torch.autocast.",
        )
    if start is not None and (start.shape != words.shape or start.dtype != words.dtype):
        raise CourseError(
            f"SiFT's start is a tensor of {start.dtype} and shape {tuple(start.shape)}; the words "
            f"are of {words.dtype} and {tuple(words.shape)}.",
            "Give one number for each of theirs, or leave it out: it is drawn.",
        )
    hidden = words.is_meta or torch.compiler.is_compiling()  # no numbers to look at
    if start is not None and not hidden and not bool(start.isfinite().all()):
        raise CourseError(
            "SiFT's start holds a number that is not finite.",
            "Give small numbers, or leave it out: it is drawn.",
        )
    if torch.is_inference_mode_enabled() or words.is_inference():
        raise CourseError(
            "SiFT looks for a slope, and under torch.inference_mode PyTorch computes none.",
            "Call it, and embed the words, outside, or under torch.no_grad: it then takes care "
            "itself.",
        )


def as_counted(counted: Tensor, logits: Tensor) -> Tensor:
    """A mask of the places that are predicted, as truth values.

    Raises:
        CourseError: it has another shape than they, or other numbers than 0 and 1.
    """
    if counted.shape != logits.shape[:-1]:
        raise CourseError(
            f"counted has shape {tuple(counted.shape)}; the predictions are for "
            f"{tuple(logits.shape[:-1])}.",
            "Give 1 or 0 for each of them; where there is one a sequence, leave it out.",
        )
    check_mask(counted, "counted")
    return counted.bool()
