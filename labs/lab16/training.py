"""The enhanced mask decoder, and the loss of scale-invariant fine-tuning."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from lmcourse.labs.kit import Example, Task, normal, one_value
from lmcourse.labs.results import Result, shown
from lmcourse.labs.verdict import Wrong

Layer = Callable[[Tensor, Tensor], Tensor]


def enhanced_mask_decoder(
    x: Tensor,
    layers: Sequence[Layer],
    a: Tensor,
    position_ids: Tensor,
    masked: Tensor,
    head: Callable[[Tensor], Tensor],
    steps: int,
) -> Tensor:
    H = x
    for layer in layers[:-1]:
        H = layer(H, H)
    Z = H + a[position_ids]
    for _ in range(steps):
        Z = layers[-1](Z, H)
    return head(Z[masked])


class _Layer:
    """A layer with weights of its own: queries from one tensor, keys and values from another."""

    def __init__(self, width: int, seed: object) -> None:
        self.weights = normal(4, width, width, seed=seed) / width**0.5

    def __call__(self, query: Tensor, states: Tensor) -> Tensor:
        key, value, feed, out = self.weights
        scores = query @ key @ states.mT
        attended = query + scores.softmax(-1) @ (states @ value)
        return attended + torch.tanh(attended @ feed) @ out


class _Head:
    """Scores of the words."""

    def __init__(self, width: int, words: int, seed: object) -> None:
        self.weight = normal(width, words, seed=seed)

    def __call__(self, states: Tensor) -> Tensor:
        return torch.tanh(states) @ self.weight


def _texts(seed: int, batch: int, time: int, width: int, layers: int, steps: int) -> Example:
    """Texts whose first, but for the last text, begin with padding: its position is 0."""
    x = normal(batch, time, width, seed=(seed, "x"))
    built = [_Layer(width, (seed, n)) for n in range(layers)]
    a = normal(time + 4, width, seed=(seed, "positions"))
    padding = torch.tensor([(n + 1) % 3 for n in range(batch)])[:, None]
    position_ids = (torch.arange(time) - padding).clamp(min=0)
    masked = (normal(batch, time, seed=(seed, "masked")) > 0.4) & (torch.arange(time) >= padding)
    masked[0, -1] = True
    masked[-1, -2] = True
    return x, built, a, position_ids, masked, _Head(width, 4, seed), steps


def _token(arguments: Example, value: Result, wanted: Result) -> str:
    """The first masked token whose logits differ."""
    _, layers, _, position_ids, masked, _, steps = arguments
    (ours,), (right,) = value.parts, wanted.parts
    row = (~torch.isclose(ours, right, atol=1e-6).all(-1)).nonzero()[0, 0]
    b, t = masked.nonzero()[row].tolist()
    return (
        f"With {len(layers)} layers and steps = {steps}, text {b}, token {t}, position "
        f"{position_ids[b, t]}: the logits are {shown(ours[row])}; expected: {shown(right[row])}."
    )


DECODER: Task = Task(
    enhanced_mask_decoder,
    examples=[
        *(_texts(0, 2, 6, 5, 3, 2), _texts(1, 3, 5, 4, 2, 1)),
        *(_texts(2, 2, 7, 6, 4, 3), _texts(3, 3, 6, 3, 2, 2)),
    ],
    edge_cases={"with one layer": _texts(4, 2, 5, 4, 1, 2)},
    slips="""
The positions are added to the keys and values too. They come from H, without positions; only the
first query has them.
    Z = layers[-1](Z, H) -> Z = layers[-1](Z, H + a[position_ids])
    or
    Z = H + a[position_ids] -> H = Z = H + a[position_ids]
    or
    Z = H + a[position_ids] -> Z = H; H = H + a[position_ids]
    or
    Z = H + a[position_ids] -> Z = layers[-1](H + a[position_ids], H +
        a[position_ids])
    range(steps) -> range(steps - 1)
A residual connection is added around a layer. The layers have their own.
    Z = layers[-1](Z, H) -> Z = Z + layers[-1](Z, H) || Z = H + layers[-1](Z, H)
    or
    H = layer(H, H) -> H = H + layer(H, H)
    or
    H = layer(H, H) -> H = H + layer(H, H)
    Z = layers[-1](Z, H) -> Z = Z + layers[-1](Z, H)
The last layer is applied another number of times than `steps`, or each step begins anew from H. The
query of a step is the output of the step before it.
    Z = layers[-1](Z, H) -> Z = layers[-1](H + a[position_ids], H)
    or
    Z = layers[-1](Z, H) -> Z = layers[-1](H, H)
    or
    range(steps) -> range(1)
    or
    range(steps) -> range(2) || range(steps + 1) || range(steps - 1) || range(3)
The positions are added before the encoder, as in BERT. Here, the layers before the last one have
none.
    H = x -> H = x + a[position_ids]
    Z = H + a[position_ids] -> Z = H
    or
    H = x -> H = x + a[position_ids]
    or
    H = layer(H, H) -> H = layer(H + a[position_ids], H)
    or
    H = layer(H, H) -> H = layer(H + a[position_ids], H + a[position_ids])
H is another state. The layers before the last one are applied once each, in order, with the same
states as query and as keys and values. The last layer is not among them.
    for layer in layers[:-1]: -> for layer in layers:
    or
    for layer in layers[:-1]: -> for layer in layers[:0]:
    or
    for layer in layers[:-1]: -> for layer in layers[1:]:
    or
    for layer in layers[:-1]: -> for layer in [it for it in layers[:-1] for _ in range(steps)]:
    or
    for layer in layers[:-1]: -> for layer in layers[-2::-1]:
    or
    H = layer(H, H) -> H = layer(H, x)
    or
    H = layer(H, H) -> H = layer(x, H)
The keys and values are not those of H. They are the same in all steps.
    Z = layers[-1](Z, H) -> Z = layers[-1](Z, x)
    or
    Z = layers[-1](Z, H) -> Z = layers[-1](Z, Z)
    or
    Z = layers[-1](Z, H) -> Z = H = layers[-1](Z, H)
Query and states are exchanged in the last layer: the first argument is the query.
    Z = layers[-1](Z, H) -> Z = layers[-1](H, Z)
The steps use different layers. The last layer is applied in all of them, with shared weights.
    for _ in range(steps): -> for step in range(steps):
    Z = layers[-1](Z, H) -> Z = layers[-1 - (steps - 1 - step) % len(layers)](Z, H)
    or
    for _ in range(steps): -> for step in range(steps):
    Z = layers[-1](Z, H) -> Z = layers[-1 - step % len(layers)](Z, H)
    or
    Z = layers[-1](Z, H) -> Z = layers[0](Z, H)
    or
    for layer in layers[:-1]: -> for layer in layers[1:]:
    Z = layers[-1](Z, H) -> Z = layers[0](Z, H)
    or
    for _ in range(steps): -> for layer in layers[-steps:]:
    Z = layers[-1](Z, H) -> Z = layer(Z, H)
The positions are added in each step, or not at all, or after the last step. They are added once, to
the first query.
    Z = layers[-1](Z, H) -> Z = layers[-1](Z + a[position_ids], H)
    Z = H + a[position_ids] -> Z = H
    or
    Z = layers[-1](Z, H) -> Z = layers[-1](Z + a[position_ids], H)
    or
    Z = H + a[position_ids] -> Z = H
    or
    Z = H + a[position_ids] -> Z = H
    head(Z[masked]) -> head((Z + a[position_ids])[masked])
    or
    Z = layers[-1](Z, H) -> Z = layers[-1](Z, H) + a[position_ids]
    Z = H + a[position_ids] -> Z = H
    or
    Z = layers[-1](Z, H) -> Z = layers[-1](Z, H) + a[position_ids]
The first query is the positions alone, as in the paper's appendix A.8. This exercise follows the
published code, which adds them to H.
    Z = H + a[position_ids] -> Z = a[position_ids]
    or
    Z = H + a[position_ids] -> Z = x + a[position_ids]
These are other positions than `position_ids`: 0, 1, 2, … of each row, or those of another text.
Texts that begin with padding have positions of their own.
    a[position_ids] -> a[: x.shape[1]] || a[position_ids[0]] ||
        a[position_ids[-1]] || a[position_ids + 1] || a[1 : x.shape[1] + 1]
Logits are returned for other positions than the masked ones. Only those are predicted.
    head(Z[masked]) -> head(Z)
    or
    head(Z[masked]) -> head(Z[~masked])
    or
    head(Z[masked]) -> head(Z.masked_fill(~masked[..., None], 0.0))
    or
    head(Z[masked]) -> Z[masked]
""",
    names=("The logits",),
    cause=_token,
    note="A position is added to queries only, so it changes the prediction of its own token, and "
    "no state that other tokens read.",
)


def sift(
    predict: Callable[[Tensor], Tensor], words: Tensor, start: Tensor, step: float
) -> tuple[Tensor, Tensor]:
    x = F.layer_norm(words, words.shape[-1:], eps=1e-7)

    def divergence(one: Tensor, other: Tensor) -> Tensor:
        log_p, log_q = one.log_softmax(-1), other.log_softmax(-1)
        return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1)

    logits = predict(x)
    trial = start.clone().requires_grad_()
    moved = predict(x + trial)
    (slope,) = torch.autograd.grad(divergence(moved, logits.detach()).sum(), trial)
    size = slope.abs().amax(-1, keepdim=True) + 1e-6
    r = (start + step * slope / size).detach()
    return divergence(predict(x + r), logits).mean(), r


class _Predict:
    """A small model: from embedded words to logits, of each text or of each token."""

    def __init__(self, width: int, classes: int, pooled: bool, seed: object) -> None:
        self.pooled = pooled
        self.inner = (normal(width, 7, seed=(seed, "inner")) / width**0.5).requires_grad_()
        self.outer = (3 * normal(7, classes, seed=(seed, "outer"))).requires_grad_()

    def __call__(self, x: Tensor) -> Tensor:
        h = torch.tanh(x @ self.inner)
        mean = h.mean(1, keepdim=True)
        return (mean[:, 0] if self.pooled else h + mean) @ self.outer

    @property
    def weights(self) -> tuple[Tensor, Tensor]:
        return self.inner, self.outer


def _with_gradient(
    returned: Any, predict: _Predict, words: Tensor, start: Tensor, step: float
) -> Any:
    """The loss, r, and the gradients of the loss for the model's weights and for the words."""
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise Wrong("Return two values, with a comma between them: the loss, and r.", "type")
    if getattr(returned[0], "shape", ()) == start.shape and start.numel() > 1:
        raise Wrong("Return the loss first, then r.", "type")
    left = any(each.grad is not None for each in (*predict.weights, words))
    words.grad = None  # reported here, and not as a change of an argument
    if left:
        raise Wrong("A backward pass leaves gradients in the model's weights or in the words.")
    if start.requires_grad:
        raise Wrong(
            "Your function changes its argument `start`, which requires gradients now. Begin with "
            "`trial = start.clone().requires_grad_()`.",
            "changed",
        )
    loss, r = returned
    if not isinstance(loss, Tensor) or not loss.requires_grad or loss.numel() != 1:
        raise Wrong("Your loss has no gradient: return one number, a tensor with its graph.")
    sources = (*predict.weights, words)
    *slopes, to_words = torch.autograd.grad(loss.sum(), sources, allow_unused=True)
    if any(each is None for each in slopes):
        raise Wrong("Your loss does not depend on the model's weights.")
    if to_words is None:
        to_words = torch.zeros_like(words)
    return loss, r, torch.cat([each.flatten() for each in slopes if each is not None]), to_words


def _words(
    seed: int, batch: int, time: int, width: int, classes: int, pooled: bool, step: float
) -> Example:
    """Words whose norms differ by their position; r₀ is about as large as the step."""
    words = normal(batch, time, width, seed=(seed, "words")) + 0.5
    words = words * torch.linspace(0.5, 4.0, time)[:, None]
    start = step * normal(batch, time, width, seed=(seed, "start"))
    return _Predict(width, classes, pooled, seed), words.requires_grad_(), start, step


def _parts(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip for one value, or the first token whose r differs."""
    found = one_value(SIFT, arguments, value, wanted)
    ours, right = value.parts[1], wanted.parts[1]
    if found or ours.shape != right.shape:
        return found
    bad = ~torch.isclose(ours, right, atol=1e-6).all(-1)
    if not bool(bad.any()):
        loss, expected = float(value.parts[0]), float(wanted.parts[0])
        close = abs(loss - expected) <= 1e-4 * abs(expected)
        return (
            ""
            if close
            else (f"r is right. The loss is {loss:.4g}; expected, the mean of D: {expected:.4g}.")
        )
    b, i = bad.nonzero()[0].tolist()
    return (
        f"Text {b}, token {i}: your r is {shown(ours[b, i])}; expected: {shown(right[b, i])}. r₀ "
        f"is {shown(arguments[2][b, i])}, and η is {arguments[3]:.4g}."
    )


SIFT: Task = Task(
    sift,
    examples=[
        *(_words(0, 2, 4, 5, 3, True, 0.3), _words(1, 3, 3, 4, 2, True, 0.1)),
        *(_words(2, 2, 5, 6, 4, False, 0.2), _words(3, 1, 4, 5, 2, False, 0.4)),
    ],
    edge_cases={"with small words and a small step": _words(4, 2, 3, 8, 3, True, 0.02)},
    slips="""
The words are not normalized as a LayerNorm does, before the perturbation is added: from each word's
entries, subtract their mean, and divide by their standard deviation (over n, not n − 1). Without
it, a perturbation of a given size is large for some words and small for others.
    moved = predict(x + trial) -> moved = predict(F.layer_norm(words + trial, words.shape[-1:]))
    predict(x + r), logits).mean() -> predict(F.layer_norm(words + r, words.shape[-1:])),
        logits).mean()
    or
    F.layer_norm(words, words.shape[-1:], eps=1e-7) -> words
    or
    F.layer_norm(words, words.shape[-1:], eps=1e-7) -> words - words.mean(-1, keepdim=True)
    or
    F.layer_norm(words, words.shape[-1:], eps=1e-7) -> F.normalize(words, dim=-1)
    or
    F.layer_norm(words, words.shape[-1:], eps=1e-7) -> words / words.std(-1, keepdim=True,
        correction=0)
    or
    F.layer_norm(words, words.shape[-1:], eps=1e-7) -> (words - words.mean(-1, keepdim=True)) /
        words.std(-1, keepdim=True)
    or
    F.layer_norm(words, words.shape[-1:], eps=1e-7) -> F.layer_norm(words, words.shape[1:])
    or
    F.layer_norm(words, words.shape[-1:], eps=1e-7) -> F.layer_norm(words, words.shape)
    or
    F.layer_norm(words, words.shape[-1:], eps=1e-7) -> F.layer_norm(words.mT,
        words.shape[1:2]).mT
    or
    F.layer_norm(words, words.shape[-1:], eps=1e-7) -> (words - words.mean(-1, keepdim=True)) /
        words.var(-1, keepdim=True, correction=0)
The step has the wrong sign: r *increases* the divergence.
    start + step * slope / size -> start - step * slope / size
The gradient is divided by another size. It is the largest absolute entry of each *token's*
gradient, not a Euclidean norm, nor the largest entry of a text or of the batch. So the largest
change is η.
    slope.abs().amax(-1, keepdim=True) -> slope.norm(dim=-1, keepdim=True) ||
        slope.abs().sum(-1, keepdim=True) || slope.abs().mean(-1, keepdim=True) ||
        slope.amax(-1, keepdim=True)
    or
    step * slope / size -> step * slope.sign()
    or
    step * slope / size -> step * slope
    or
    slope.abs().amax(-1, keepdim=True) -> slope.abs().amax((1, 2), keepdim=True) ||
        slope.abs().max() || slope.abs().amax(1, keepdim=True) || slope.norm()
The KL divergence has one direction only, in the search or in the loss. D has both directions, and
is used in both.
    divergence(moved, logits.detach()).sum(), trial) -> F.kl_div(moved.log_softmax(-1),
        logits.detach().log_softmax(-1), reduction="sum", log_target=True), trial)
    or
    divergence(moved, logits.detach()).sum(), trial) -> F.kl_div(logits.detach().log_softmax(-1),
        moved.log_softmax(-1), reduction="sum", log_target=True), trial)
    or
    divergence(predict(x + r), logits).mean(), r -> F.kl_div(predict(x + r).log_softmax(-1),
        logits.log_softmax(-1), reduction="none", log_target=True).sum(-1).mean(), r
    or
    divergence(predict(x + r), logits).mean(), r -> F.kl_div(logits.log_softmax(-1), predict(x +
        r).log_softmax(-1), reduction="none", log_target=True).sum(-1).mean(), r
The step does not begin at r₀, or r is not all of the change, or is clipped: r = r₀ + η g / max|g|.
η limits the step, not r.
    start + step * slope / size -> step * slope / size
    or
    predict(x + r), logits).mean(), r -> predict(x + r), logits).mean(),
        r - start
    or
    predict(x + r), logits).mean(), r -> predict(x + r), logits).mean(), x + r
    or
    (start + step * slope / size).detach() -> (start + step * slope / size).clamp(-step,
        step).detach()
The search's gradient is 0, so that r is r₀, or it is that of another function: take the gradient of
D at r₀, for r₀.
    r = (start + step * slope / size).detach() -> r = start
    or
    trial = start.clone().requires_grad_() -> trial = torch.zeros_like(start).requires_grad_()
    or
    divergence(moved, logits.detach()).sum(), trial) -> moved.sum(), trial)
    or
    divergence(moved, logits.detach()).sum(), trial) -> (moved - logits.detach()).square().sum(),
        trial)
The divergence is not symmetric, or not a divergence of *probabilities*: D is KL(p ‖ q) + KL(q ‖ p).
    return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1) ->
        return (log_p.exp() * (log_p - log_q)).sum(-1)
    or
    return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1) ->
        return (log_q.exp() * (log_q - log_p)).sum(-1)
    or
    return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1) ->
        return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1) / 2
    or
    return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1) ->
        return (log_p.exp() - log_q.exp()).square().sum(-1)
    or
    return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1) ->
        return ((one - other) ** 2).sum(-1)
    or
    return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1) ->
        return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).mean(-1)
    or
    return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1) ->
        return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).mean()
    or
    return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1) ->
        return ((one - other) ** 2).mean(-1)
    or
    return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1) -> middle = ((log_p.exp() +
        log_q.exp()) / 2).log(); return (log_p.exp() * (log_p - middle) + log_q.exp() * (log_q -
        middle)).sum(-1) / 2
    or
    log_p, log_q = one.log_softmax(-1), other.log_softmax(-1) ->
        log_p, log_q = one.log_softmax(0), other.log_softmax(0)
The loss is another one: it is the mean of D over all predictions (not the sum), and compares those
for x and for x + r, after the step, with the normalized words in both.
    divergence(predict(x + r), logits).mean(), r -> divergence(moved, logits).mean(), r
    or
    divergence(predict(x + r), logits).mean(), r -> divergence(predict(x + start),
        logits).mean(), r
    or
    divergence(predict(x + r), logits).mean(), r -> divergence(predict(words + r),
        predict(words)).mean(), r
    or
    divergence(predict(x + r), logits).mean(), r -> divergence(predict(x + r),
        predict(words)).mean(), r
    or
    divergence(predict(x + r), logits).mean(), r -> divergence(predict(words + r),
        logits).mean(), r
    or
    divergence(predict(x + r), logits).mean(), r -> divergence(predict(x + r),
        moved).mean(), r
    or
    divergence(predict(x + r), logits).mean(), r -> divergence(predict(r),
        logits).mean(), r
    or
    predict(x + r), logits).mean(), r -> predict(x + r), logits).sum(), r
    or
    predict(x + r), logits).mean(), r -> predict(x + r), logits).flatten(1).sum(1
        ).mean() if logits.ndim == 3 else divergence(predict(x + r), logits).mean(), r
The gradient does not reach the word embeddings: is x detached in the loss? It reaches them through
both predictions.
    F.layer_norm(words, words.shape[-1:], eps=1e-7) -> F.layer_norm(words, words.shape[-1:],
        eps=1e-7).detach()
    or
    logits = predict(x) -> logits = predict(x.detach())
    or
    predict(x + r), logits).mean(), r -> predict(x.detach() + r), logits).mean(), r
The gradient for the model's weights is another one. It flows through *both* predictions of the
loss, and not through r, which is a constant.
    predict(x + r), logits).mean() -> predict(x + r), logits.detach()).mean()
    or
    predict(x + r), logits).mean() -> predict(x + r).detach(), logits).mean()
    or
    logits.detach()).sum(), trial) -> logits.detach()).sum(), trial, create_graph=True)
    (start + step * slope / size).detach() -> start + step * slope / size
    or
    logits.detach()).sum(), trial) -> logits).sum(), trial, create_graph=True)
    (start + step * slope / size).detach() -> start + step * slope / size
A backward pass of the search leaves gradients in the model's weights or the words, and the
optimizer would use them. `torch.autograd.grad` computes the gradient for r₀ alone.
    (slope,) = torch.autograd.grad(divergence(moved, logits.detach()).sum(), trial) ->
        divergence(moved, logits.detach()).sum().backward(); slope = trial.grad
    or
    (slope,) = torch.autograd.grad(divergence(moved, logits.detach()).sum(), trial) ->
        divergence(moved, logits).sum().backward(retain_graph=True); slope = trial.grad
The loss has no gradient: it was computed without a graph, or detached, or read as a number.
    predict(x + r), logits).mean(), r -> predict(x + r), logits).mean().detach(), r
    or
    predict(x + r), logits).mean(), r -> predict(x + r), logits).mean().item(), r
    or
    predict(x + r), logits).mean(), r -> predict(x + r).detach(), logits.detach()
        ).mean(), r
""",
    result=_with_gradient,
    names=(
        *("The loss", "r", "The gradient of the loss for the model's weights"),
        "The gradient of the loss for the words",
    ),
    cause=_parts,
    tolerance=5e-4,  # 1e-6 may be left out, and a mean may take the place of the sum in the search
    note="No label is needed: the loss says how much a prediction changes, right or wrong. It "
    "takes three forward passes instead of one.",
)
