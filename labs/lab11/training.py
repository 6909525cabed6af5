"""Rates by layer, a fine-tuning with four faults, the bits of a probe."""

import copy
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmcourse.labs.kit import Example, Task, normal
from lmcourse.labs.results import Result


def learning_rates(names: Any, num_layers: int, base: float, factor: float, epoch: int) -> Any:
    rates = []
    for name in names:
        parts = name.split(".")
        group = num_layers + 1 if "embeddings" in parts else 0
        if "layers" in parts:
            group = num_layers - int(parts[parts.index("layers") + 1])
        rates.append(base * factor**group if group <= epoch else 0.0)
    return rates


def _names(num_layers: int, base: float, factor: float, epoch: int) -> Example:
    inner = ("attention.query.weight", "attention_residual.norm.bias", "feed_forward.output.weight")
    layers = [f"bert.encoder.layers.{n}.{name}" for n in range(num_layers) for name in inner]
    lowest = ["bert.embeddings.word.weight", "bert.embeddings.norm.bias"]
    top = ["bert.pooler.dense.weight", "classifier.dense.weight", "classifier.dense.bias"]
    names = sorted(lowest + layers + top, key=lambda name: name[::-1])
    return names, num_layers, base, factor, epoch


def _parameter(arguments: Example, value: Result, wanted: Result) -> str:
    names, num_layers, base, factor, epoch = arguments
    yours, right = (each.parts[0] for each in (value, wanted))
    at = int((~torch.isclose(yours, right, rtol=1e-5, atol=0)).double().argmax())
    case = f"{num_layers} layers, base {base:.4g}, factor {factor:.4g}, epoch {epoch}"
    return f"With {case}, your rate of `{names[at]}` is {yours[at]:.4g}; expected: {right[at]:.4g}."


RATES = Task(
    learning_rates,
    examples=[
        *(_names(12, 1e-3, 0.9, epoch) for epoch in (0, 2, 11, 20)),
        *(_names(3, 2e-2, 1 / 2.6, 1), _names(3, 2e-2, 1 / 2.6, 4), _names(24, 0.1, 0.95, 24)),
    ],
    slips="""
Layer 1 is confused with layers 10, 11, …, whose names contain "layers.1" as well.
    int(parts[parts.index("layers") + 1]) -> int(parts[parts.index("layers") + 1][0]) ||
        next(n for n in range(num_layers) if f"layers.{n}" in name)
The layers are counted from the bottom. Group 1 is the *last* layer, which is next to the head.
    num_layers - int( -> 1 + int( || int(
The layers are one group too high: the last layer, number `num_layers - 1`, is group 1.
    num_layers - int( -> num_layers - 1 - int(
    group = num_layers + 1 -> group = num_layers + 1 || group = num_layers
The embeddings are not the lowest group. They are below layer 0, and have a number of their own.
    group = num_layers + 1 -> group = num_layers || group = 0 || group = 1
The pooler is part of the head here: it is above all layers, in group 0.
    parts else 0 -> parts else int("pooler" in parts) || parts else 99 * ("pooler" in parts)
Group 0 has the rate `base` itself, and each further group `factor` times the one above it.
    factor**group -> factor**-group || 1 || factor || factor ** (group + 1) || (1 - factor * group)
Other groups are trained: all, only one, one too few or too many, or the lower ones.
    if group <= epoch -> if True || if group == epoch || if group == 0 || if group < epoch ||
        if group <= epoch + 1 || if group >= epoch || if num_layers + 1 - group <= epoch ||
        if group < max(epoch, 1)
""",
    cause=_parameter,
    exact_zeros=True,
    note="To save the backward pass as well, set `requires_grad = False` where the rate is 0.",
)


class Tagger(nn.Module):
    """Its dropout is always the same, so that a training has one result."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        normals = ((0.6 + 1.2 * seed) * normal(n, 6, seed=(seed, n)) for n in (9, 6, 3))
        self.word, self.hidden, self.tag = map(nn.Parameter, normals)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        x = self.word[ids]
        h = torch.tanh(x + (x * mask[..., None]).sum(1, keepdim=True) / 4 @ self.hidden)
        kept = normal(6, seed="dropout") > -0.3 if self.training else torch.tensor(1)
        return 1.2 * h * kept @ self.tag.T


def fine_tune(model: Any, train: Any, test: Any, rate: float, warmup: int, epochs: int) -> Any:
    model = copy.deepcopy(model).train()
    parameters, losses = list(model.parameters()), []
    first, second = ([torch.zeros_like(p) for p in parameters] for _ in range(2))
    steps = len(train) * epochs
    for t in range(1, len(train) * epochs + 1):
        ids, mask, tags = train[(t - 1) % len(train)]
        loss = F.cross_entropy(model(ids, mask)[mask], tags[mask])
        losses.append(loss.detach())
        now = rate * max(0.0, min(t / warmup, (steps - t) / (steps - warmup)))
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for p, g, m, v in zip(parameters, gradients, first, second, strict=True):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                a, b = 1 - 0.9**t, 1 - 0.999**t
                p -= now * (m / a) / ((v / b).sqrt() + 1e-8)
    model.eval()
    sums = [F.cross_entropy(model(x, k)[k], y[k], reduction="sum").detach() for x, k, y in test]
    total, count = torch.stack(sums).sum(), sum(int(mask.sum()) for _, mask, _ in test)
    return torch.stack(losses), total / count


def _training(seed: int, count: int, rate: float, warmup: int, epochs: int) -> Example:
    batches = []
    for n in range(count + 3):
        ids = normal(4, 7, 9, seed=(seed, n)).argmax(-1)
        mask = torch.arange(7) < 2 + normal(4, 6, seed=(seed, n, "length")).argmax(-1)[:, None]
        batches.append((ids * mask, mask, (ids + ids.roll(1, 1)) % 3 * mask))
    return Tagger(seed).train(seed == 1), batches[:count], batches[count:], rate, warmup, epochs


def _first_difference(arguments: Example, value: Result, wanted: Result) -> str:
    right = int(torch.isclose(value.parts[0], wanted.parts[0], rtol=1e-5).long().cumprod(0).sum())
    if right == len(value.parts[0]):
        return "All losses of the training are right, and the loss on the test data is not."
    if right == 0:
        return "The first loss is wrong. It is the mean over the first batch, before its update."
    lengths = f"The warm-up has {arguments[4]} steps, an epoch {len(arguments[1])}."
    return f"The losses are right up to step {right}, and update {right} is not. {lengths}"


FINE_TUNING = Task(
    fine_tune,
    examples=[_training(0, 5, 0.02, 4, 3), _training(1, 4, 0.05, 3, 4)],
    slips="""
Padding, whose tag is 0, is in the loss of training. Which positions do the code's two losses count?
    loss = F.cross_entropy(model(ids, mask)[mask], tags[mask]) ->
        loss = F.cross_entropy(model(ids, mask).flatten(0, 1), tags.flatten())
    steps = len(train) * epochs -> steps = len(train) * epochs || steps = len(train)
    a, b = 1 - 0.9**t, 1 - 0.999**t -> a, b = 1 - 0.9**t, 1 - 0.999**t || a = b = 1
    model.eval() -> model.eval() || model.train()
After one epoch the weights no longer change. What is the rate of each step?
    steps = len(train) * epochs -> steps = len(train)
    a, b = 1 - 0.9**t, 1 - 0.999**t -> a, b = 1 - 0.9**t, 1 - 0.999**t || a = b = 1
    model.eval() -> model.eval() || model.train()
Adam's first steps have the wrong size: its running means begin at 0. Compare step 1 with the rate.
    a, b = 1 - 0.9**t, 1 - 0.999**t -> a = b = 1
    model.eval() -> model.eval() || model.train()
Evaluation is random: called twice, it gives two losses. What is still active in the model?
    model.eval() -> model.train()
Tag 0 is ignored wherever it is. It is a tag like the others; `mask` is True at real tokens.
    tags[mask]) -> tags[mask], ignore_index=0)
Padding has no loss any more, but the mean still divides by it, or each text is averaged by itself.
    loss = F.cross_entropy(model(ids, mask)[mask], tags[mask]) ->
        loss = F.cross_entropy(model(ids, mask)[mask], tags[mask], reduction="sum") / tags.numel()
        || loss = sum(F.cross_entropy(z[k], y[k]) for z, y, k in zip(model(ids, mask), tags, mask))
        / len(ids)
One of Adam's means is corrected, or both wrongly. At update 1, each contains one gradient.
    a, b = 1 - 0.9**t, 1 - 0.999**t -> a, b = 1 - 0.9**t, 1 || a, b = 1, 1 - 0.999**t ||
        a, b = 1 - 0.999**t, 1 - 0.9**t || a, b = 1 - 0.1**t, 1 - 0.001**t ||
        a, b = 1 / (1 - 0.9**t), 1 / (1 - 0.999**t) || a, b = 1 - 0.9, 1 - 0.999 ||
        a, b = 1 - 0.9 ** (t + 1), 1 - 0.999 ** (t + 1)
    or
    (v / b).sqrt() -> v.sqrt() / b
The corrected means replace the running ones, which the next step needs as they are.
    p -= now * (m / a) / ((v / b).sqrt() + 1e-8) ->
        m /= a; v /= b; p -= now * m / (v.sqrt() + 1e-8)
There is weight decay or clipping, or `zero_grad()` is missing. The optimizer is plain Adam.
    p -= now -> p *= 1 - 0.01 * now; p -= now
    or
    gradients = torch.autograd.grad(loss, parameters) ->
        loss.backward(); gradients = [p.grad for p in parameters] || loss.backward();
        nn.utils.clip_grad_norm_(parameters, 1.0); gradients = [p.grad for p in parameters];
        model.zero_grad()
Dropout is off in the training, too. It belongs to the training, and only to that.
    copy.deepcopy(model).train() -> copy.deepcopy(model).eval() || copy.deepcopy(model)
This is another schedule. In the faulty function, only its number of steps is wrong.
    now = rate * max(0.0, min(t / warmup, (steps - t) / (steps - warmup))) ->
        now = rate * min(t / warmup, 1) || now = rate || now = rate * (steps - t) / steps ||
        now = rate * min(t / warmup, (steps + 1 - t) / (steps - warmup)) ||
        now = rate * min((t - 1) / warmup, (steps + 1 - t) / (steps - warmup)) ||
        now = rate * max(0.0, min((t + 1) / warmup, (steps - t - 1) / (steps - warmup)))
The test loss is a sum or a mean of batches' means. Divide the sum by the number of real tokens.
    total / count -> total / len(test) || total || torch.stack(
        [F.cross_entropy(model(x, k)[k], y[k]) for x, k, y in test]).detach().mean()
""",
    names=("The losses", "The loss on the test data"),
    cause=_first_difference,
    tolerance=1e-5,
    note="BERT's published optimizer has one of the four faults: it does not correct the means.",
)


def online_bits(learn: Any, vectors: Tensor, labels: Tensor, ends: Any, classes: int) -> Tensor:
    bits = torch.full((len(labels),), classes, dtype=torch.float64).log2()
    for begin, end in pairwise(ends):
        predict = learn(vectors[:begin], labels[:begin])
        p = predict(vectors[begin:end])
        right = p[torch.arange(end - begin), labels[begin:end]]
        bits[begin:end] = -right.log2()
    return bits


def _nearest_means(classes: int, vectors: Any, labels: Any) -> Callable[[Any], Tensor]:
    x, y = torch.as_tensor(vectors).double(), torch.as_tensor(labels).long()
    one = torch.eye(classes).double()[y]
    means, prior = one.T @ x / one.sum(0).clamp(min=1)[:, None], (one.mean(0) + 0.02).log()
    return lambda new: (prior - torch.cdist(torch.as_tensor(new).double(), means) ** 2).softmax(1)


def _labeled(seed: int, classes: int, present: int, *ends: int) -> Example:
    count = ends[-1]
    labels = normal(count, present, seed=(seed, "labels")).argmax(1)
    centers = 1.2 * normal(classes, 4, seed=(seed, "centers"))
    vectors = centers[labels] + normal(count, 4, seed=(seed, "noise"))
    return partial(_nearest_means, classes), vectors, labels, [*ends], classes


def _block(arguments: Example, value: Result, wanted: Result) -> str:
    yours, right = (each.parts[0] for each in (value, wanted))
    at, ends = int((yours - right).abs().argmax()), arguments[3]
    where = f"item {at}, in block {sum(end <= at for end in ends)} of the blocks up to {ends}"
    return f"Your bits of {where}, are {yours[at]:.4g}; expected: {right[at]:.4g}."


_SIZES = (3, 3, 8, 16, 40), (5, 4, 10, 25, 30, 70), (2, 2, 5, 11, 20, 50, 90), (6, 3, 12, 20, 35)
BITS = Task(
    online_bits,
    examples=[_labeled(seed, *sizes) for seed, sizes in enumerate(_SIZES)],
    edge_cases={"with one block": _labeled(4, 4, 4, 9)},
    slips="""
The first block is missing, or costs nothing. Its labels are sent, too, without any knowledge.
    return bits -> return bits[ends[0] :] || bits[: ends[0]] = 0; return bits
The first block is coded by a probe that has read it. Before it, nothing is known.
    bits[begin:end] = -right.log2() -> bits[begin:end] = -right.log2(); n = range(ends[0]);
        bits[n] = bits[n] if begin > len(n) else -predict(vectors[n])[n, labels[n]].log2()
The probe of a block has read the block's own labels, or later ones. Train it on earlier items only.
    learn(vectors[:begin], labels[:begin]) -> learn(vectors[:end], labels[:end]) ||
        learn(vectors[begin:end], labels[begin:end]) || learn(vectors, labels) ||
        learn(*(torch.cat([each[:begin], each[end:]]) for each in (vectors, labels)))
The probe is trained on one block. It gets *all* items before the block that it codes.
    learn(vectors[:begin], labels[:begin]) -> learn(vectors[: ends[0]], labels[: ends[0]]) ||
        learn(vectors[(a := [0, *ends][list(ends).index(begin)]) : begin], labels[a:begin])
These are nats: the logarithm has the base e. Bits have the base 2.
    -right.log2() -> -right.log()
    or
    return bits -> return bits * 0.6931471805599453
These are probabilities, errors, or log₂ p without the minus sign. A label costs −log₂ p bits.
    -right.log2() -> right || right.log2() || 1 - right || 1.0 * (p.argmax(1) != labels[begin:end])
These are means or sums, of a block or of all blocks. Each item has its own bits.
    bits[begin:end] = -right.log2() -> bits[begin:end] = -right.log2().mean() ||
        bits[begin:end] = -right.mean().log2() || bits[begin:end] = -right.log2().sum()
    or
    return bits -> return torch.stack([each.sum() for each in bits.tensor_split(ends[:-1])]) ||
        return bits.sum() || return bits.mean() || return bits.cumsum(0)
Use the probability of the item's own label, not that of the most probable class or the entropy.
    p[torch.arange(end - begin), labels[begin:end]] -> p.amax(1) || (p * p.log2()).sum(1).exp2()
The classes are counted in the labels. A label may be any of `classes`, even one that never occurs.
    classes, dtype -> labels[: ends[0]].unique().numel(), dtype || labels.unique().numel(), dtype ||
        int(labels.max()) + 1, dtype
""",
    cause=_block,
    note="Labels that a probe needs many examples to learn cost more bits.",
)
