"""11.1 rates by layer, 11.5 a fine-tuning with four faults, 11.6 the bits of a probe."""

import copy
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmcourse.labs.kit import Example, Task, normal
from lmcourse.labs.results import Result


def learning_rates(
    names: list[str], num_layers: int, base: float, factor: float, epoch: int
) -> list[float]:
    rates = []
    for name in names:
        parts = name.split(".")
        group = 0
        if "embeddings" in parts:
            group = num_layers + 1
        if "layers" in parts:
            group = num_layers - int(parts[parts.index("layers") + 1])
        rates.append(base * factor**group if group <= epoch else 0.0)
    return rates


def _names(num_layers: int, base: float, factor: float, epoch: int) -> Example:
    inner = ("attention.query.weight", "attention_residual.norm.bias", "feed_forward.output.weight")
    layers = [f"bert.encoder.layers.{n}.{name}" for n in range(num_layers) for name in inner]
    lowest = ["bert.embeddings.word.weight", "bert.embeddings.norm.bias"]
    top = ["bert.pooler.dense.weight", "classifier.dense.weight", "classifier.dense.bias"]
    return [*lowest, *layers, *top], num_layers, base, factor, epoch


RATES = Task(
    learning_rates,
    examples=[
        *(_names(12, 1e-3, 0.9, epoch) for epoch in (0, 2, 11, 20)),
        *(_names(3, 2e-2, 1 / 2.6, epoch) for epoch in (1, 3, 4)),
        *(_names(24, 0.1, 0.95, epoch) for epoch in (5, 24)),
    ],
    slips="""
Layer 1 is confused with layers 10, 11, …: `"layers.1" in name` is true for all of them. Read the
whole number.
    int(parts[parts.index("layers") + 1]) -> int(parts[parts.index("layers") + 1][0]) ||
        next(n for n in range(num_layers) if f"layers.{n}" in name) ||
        max(n for n in range(num_layers) if name.startswith(f"bert.encoder.layers.{n}"[:21]))
The layers are counted from the bottom. The *last* layer is nearest to the head: it gets the largest
rate of all layers, and is the first to be trained.
    num_layers - int(parts[parts.index("layers") + 1]) ->
        int(parts[parts.index("layers") + 1]) + 1 || int(parts[parts.index("layers") + 1])
The layers are one group too high: the last layer, number `num_layers - 1`, is group 1.
    num_layers - int( -> num_layers - 1 - int(
    group = num_layers + 1 -> group = num_layers + 1 || group = num_layers
The embeddings are not the lowest group. They are below layer 0, and have a number of their own.
    group = num_layers + 1 -> group = num_layers || group = 0 || group = 1
The pooler is part of the head here: it is above all layers, in group 0.
    group = 0 -> group = int("pooler" in parts) || group = 99 * ("pooler" in parts)
Biases and normalizations have their layer's rate, too.
    if group <= epoch -> if group <= epoch and "bias" not in parts ||
        if group <= epoch and "norm" not in parts || if group <= epoch and "weight" in parts
The rates grow toward the bottom, or do not differ. Each group has `factor` times
the rate above it.
    factor**group -> factor**-group || 1 || factor || (1 - factor * group)
Nothing is frozen, or only one group is trained. In epoch e, groups 0 to e are.
    if group <= epoch -> if True || if group == epoch || if group == 0
One group too few or too many is trained: epoch 0 trains group 0.
    if group <= epoch -> if group < epoch || if group <= epoch + 1
The wrong side is frozen: training begins at the head.
    if group <= epoch -> if group >= epoch || if group > epoch || if num_layers + 1 - group <= epoch
The rates depend on the epoch. A group has one rate, from the epoch on in which it is unfrozen.
    factor**group -> factor**epoch || factor ** (epoch - group) || factor ** abs(epoch - group)
""",
    exact_zeros=True,
    tolerance=1e-5,
    note="In practice a frozen parameter has `requires_grad = False`, as a rate of 0 would still "
    "compute its gradient. The backward pass then ends at the lowest layer that is trained.",
)

Batches = list[tuple[Tensor, Tensor, Tensor]]


class Tagger(nn.Module):
    """Tags tokens by themselves and by the mean of their text; its dropout is the same each time,
    so that a training has one result."""

    def __init__(self, seed: int, vocab: int, width: int, tags: int) -> None:
        super().__init__()
        self.seed, self.width = seed, width
        self.word = nn.Parameter(normal(vocab, width, seed=(seed, "word")))
        self.hidden = nn.Parameter(normal(2 * width, width, seed=(seed, "hidden")) / width**0.5)
        self.tag = nn.Parameter(0.5 * normal(width, tags, seed=(seed, "tag")))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        x, real = self.word[ids], mask[..., None].to(self.word.dtype)
        mean = (x * real).sum(1, keepdim=True) / real.sum(1, keepdim=True).clamp(min=1)
        h = torch.tanh(torch.cat([x, mean.expand_as(x)], -1) @ self.hidden)
        if self.training:
            kept = normal(self.width, seed=(self.seed, "dropout")) > -0.3
            h = h * kept / 0.6
        return h @ self.tag


def fine_tune(
    model: nn.Module, train: Batches, test: Batches, rate: float, warmup: int, epochs: int
) -> tuple[Tensor, Tensor]:
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
    total = torch.zeros((), dtype=torch.float64)
    for ids, mask, tags in test:
        total += F.cross_entropy(model(ids, mask)[mask], tags[mask], reduction="sum").detach()
    count = sum(int(mask.sum()) for _, mask, _ in test)
    return torch.stack(losses), total / count


def _batches(seed: int, count: int, time: int, vocab: int, tags: int) -> Batches:
    batches = []
    for n in range(count):
        ids = normal(4, time, vocab, seed=(seed, n)).argmax(-1)
        lengths = 2 + normal(4, time - 2, seed=(seed, n, "length")).argmax(-1)
        mask = torch.arange(time) < lengths[:, None]
        noise = 0.4 * normal(4, time, seed=(seed, n, "noise"))
        labels = ((ids + noise).round().long() % tags).where(mask, 0)
        batches.append((ids.where(mask, 0), mask, labels))
    return batches


def _training(seed: int, count: int, rate: float, warmup: int, epochs: int) -> Example:
    train, test = _batches(seed, count, 7, 9, 3), _batches(seed + 100, 3, 6, 9, 3)
    return Tagger(seed, 9, 6, 3), train, test, rate, warmup, epochs


def _first_difference(arguments: Example, value: Result, wanted: Result) -> str:
    """Where the losses of training differ: what comes before is right."""
    ours, theirs = value.parts[0], wanted.parts[0]
    differs = (~torch.isclose(ours, theirs, rtol=1e-4, atol=1e-6)).nonzero()
    warmup, batches = arguments[4], len(arguments[1])
    if not len(differs):
        return "All losses of the training are right, and the loss on the test data is not."
    step = int(differs[0]) + 1
    if step == 1:
        return "The first loss is wrong already, before any update. Look at the loss itself."
    where = f"The losses are right up to step {step - 1}, and wrong in step {step}"
    return (
        f"{where}; the warm-up has {warmup} steps, an epoch has {batches}. So the loss is right, "
        f"and update {step - 1} is not."
    )


FINE_TUNING = Task(
    fine_tune,
    examples=[_training(0, 5, 0.02, 4, 3), _training(1, 4, 0.05, 3, 4)],
    slips="""
Padding is in the loss of training. Its tag is 0, and so the model is taught to answer 0. Compare
the two losses in the code: which positions does each one count?
    loss = F.cross_entropy(model(ids, mask)[mask], tags[mask]) ->
        loss = F.cross_entropy(model(ids, mask).flatten(0, 1), tags.flatten())
    steps = len(train) * epochs -> steps = len(train) * epochs || steps = len(train)
    a, b = 1 - 0.9**t, 1 - 0.999**t -> a, b = 1 - 0.9**t, 1 - 0.999**t || a = b = 1
    model.eval() -> model.eval() || model.train()
After one epoch the weights no longer change: print the rate of each step. For how long should it
fall?
    steps = len(train) * epochs -> steps = len(train)
    a, b = 1 - 0.9**t, 1 - 0.999**t -> a, b = 1 - 0.9**t, 1 - 0.999**t || a = b = 1
    model.eval() -> model.eval() || model.train()
Adam's first steps have the wrong size. By how much does the first step change a parameter, and what
is the rate? The two running means begin at 0.
    a, b = 1 - 0.9**t, 1 - 0.999**t -> a = b = 1
    model.eval() -> model.eval() || model.train()
Evaluation is random: called twice, it gives two losses. What is still active in the model?
    model.eval() -> model.train()
Tag 0 is ignored wherever it is. It is a tag like the others; `mask` is True at real tokens.
    loss = F.cross_entropy(model(ids, mask)[mask], tags[mask]) ->
        loss = F.cross_entropy(model(ids, mask).flatten(0, 1), tags.flatten(), ignore_index=0)
Padding has no loss any more, but the mean still divides by it, or each text is averaged by itself.
    loss = F.cross_entropy(model(ids, mask)[mask], tags[mask]) ->
        loss = F.cross_entropy(model(ids, mask)[mask], tags[mask], reduction="sum") / tags.numel()
        || loss = F.cross_entropy(model(ids, mask)[mask], tags[mask], reduction="sum") ||
        loss = sum(F.cross_entropy(z[k], y[k]) for z, y, k in zip(model(ids, mask), tags, mask))
        / len(ids)
Only one of Adam's two means is corrected, or with the wrong factor. Both begin at 0; each forgets
at its own rate.
    a, b = 1 - 0.9**t, 1 - 0.999**t -> a, b = 1 - 0.9**t, 1 || a, b = 1, 1 - 0.999**t ||
        a, b = 1 - 0.999**t, 1 - 0.9**t || a, b = 1 - 0.1**t, 1 - 0.001**t ||
        a, b = 1 / (1 - 0.9**t), 1 / (1 - 0.999**t) || a, b = 1 - 0.9, 1 - 0.999
The correction counts the steps from another number. Before update 1, each mean holds one gradient.
    a, b = 1 - 0.9**t, 1 - 0.999**t -> a, b = 1 - 0.9 ** (t + 1), 1 - 0.999 ** (t + 1) ||
        a, b = 1 - 0.9 ** max(t - 1, 1), 1 - 0.999 ** max(t - 1, 1)
Dropout is off in the training, too. It belongs to the training, and only to that.
    copy.deepcopy(model).train() -> copy.deepcopy(model).eval()
The rate does not fall to 0 in the last step. Of the schedule, only the number of steps is wrong.
    now = rate * max(0.0, min(t / warmup, (steps - t) / (steps - warmup))) ->
        now = rate * min(t / warmup, 1) || now = rate || now = rate * t / warmup ||
        now = rate * (steps - t) / steps ||
        now = rate * max(0.0, min(t / warmup, (len(train) - (t - 1) % len(train)) / len(train))) ||
        now = rate * max(0.0, min(t / warmup, (steps + 1 - t) / (steps - warmup))) ||
        now = rate * max(0.0, min((t - 1) / warmup, (steps - t + 1) / (steps - warmup)))
The loss on the test data is a mean of the batches' means, a sum, or counts padding. Batches have
different numbers of tokens: divide the sum by their number.
    total / count -> total / len(test) || total || total / sum(y.numel() for *_, y in test) ||
        torch.stack([F.cross_entropy(model(x, k)[k], y[k]) for x, k, y in test]).detach().mean()
    or
    reduction="sum").detach() -> reduction="sum").detach() +
        F.cross_entropy(model(ids, mask)[~mask], tags[~mask], reduction="sum").detach()
    count = sum(int(mask.sum()) for _, mask, _ in test) -> count = sum(y.numel() for *_, y in test)
""",
    names=("The losses", "The loss on the test data"),
    cause=_first_difference,
    tolerance=1e-5,
    note="None of the four raises an error, and all of them let the loss fall. BERT's published "
    "optimizer has one of them: it does not correct the means.",
)


def online_bits(
    fit: Callable[[Tensor, Tensor], Callable[[Tensor], Tensor]],
    vectors: Tensor,
    labels: Tensor,
    ends: Sequence[int],
    classes: int,
) -> Tensor:
    bits = torch.full((len(labels),), classes, dtype=torch.float64).log2()
    for begin, end in pairwise(ends):
        predict = fit(vectors[:begin], labels[:begin])
        p = predict(vectors[begin:end])
        right = p[torch.arange(end - begin), labels[begin:end]]
        bits[begin:end] = -right.log2()
    return bits


def _nearest_means(classes: int, vectors: Any, labels: Any) -> Callable[[Any], Tensor]:
    """A probe that compares a vector with the mean of each class."""
    x, y = torch.as_tensor(vectors).double(), torch.as_tensor(labels).long()
    if len(x) != len(y) or not len(x):
        raise ValueError(f"fit got {len(x)} vectors and {len(y)} labels")
    one = torch.eye(classes, dtype=torch.float64)[y]
    means = one.T @ x / one.sum(0).clamp(min=1)[:, None]

    def predict(new: Any) -> Tensor:
        new = torch.as_tensor(new).double()
        logits = (one.mean(0) + 0.02).log() - 0.5 * torch.cdist(new, means).square()
        return logits.softmax(1)

    return predict


def _labeled(seed: int, classes: int, present: int, *ends: int) -> Example:
    count = ends[-1]
    labels = normal(count, present, seed=(seed, "labels")).argmax(1)
    centers = 1.2 * normal(classes, 4, seed=(seed, "centers"))
    vectors = centers[labels] + normal(count, 4, seed=(seed, "noise"))
    return partial(_nearest_means, classes), vectors, labels, [*ends], classes


BITS = Task(
    online_bits,
    examples=[
        *(_labeled(0, 3, 3, 8, 16, 40), _labeled(1, 5, 4, 10, 25, 30, 70)),
        *(_labeled(2, 2, 2, 5, 11, 20, 50, 90), _labeled(3, 6, 3, 12, 20, 35)),
    ],
    edge_cases={"with one block": _labeled(4, 4, 4, 9)},
    slips="""
The first block is missing, or costs nothing. No probe exists before it: each of its labels costs
the logarithm of the number of classes.
    return bits -> return bits[ends[0] :]
    or
    return bits -> bits[: ends[0]] = 0; return bits
The first block is coded by a probe that has read it. Before it, nothing is known.
    in pairwise(ends) -> in [(ends[0], ends[0]), *pairwise(ends)]
    fit(vectors[:begin], labels[:begin]) -> fit(vectors[:begin], labels[:begin])
    bits[begin:end] = -right.log2() -> bits[begin:end] = -right.log2();
        bits[: ends[0]] = bits[: ends[0]] if begin < end else
        -predict(vectors[:end])[torch.arange(end), labels[:end]].log2()
The probe of a block has read the block's own labels. Train it on the items before the block only.
    fit(vectors[:begin], labels[:begin]) -> fit(vectors[:end], labels[:end]) ||
        fit(vectors[begin:end], labels[begin:end]) || fit(vectors, labels)
The probe is trained on one block. It gets *all* items before the block that it codes.
    fit(vectors[:begin], labels[:begin]) -> fit(vectors[: ends[0]], labels[: ends[0]]) ||
        fit(vectors[(a := [0, *ends][list(ends).index(begin)]) : begin], labels[a:begin])
These are nats: the logarithm has the base e. Bits have the base 2.
    return bits -> return bits * 0.6931471805599453
    or
    -right.log2() -> -right.log()
These are probabilities, or log₂ p without the minus sign. A label costs −log₂ p bits.
    -right.log2() -> right || right.log2() || 1 - right
The mean or the sum of a block is returned, of each block or for all of its items. Each item has its
own bits.
    bits[begin:end] = -right.log2() -> bits[begin:end] = -right.log2().mean() ||
        bits[begin:end] = -right.mean().log2() || bits[begin:end] = -right.log2().sum()
    or
    return bits -> return torch.stack([each.sum() for each in bits.tensor_split(ends[:-1])]) ||
        return torch.stack([each.mean() for each in bits.tensor_split(ends[:-1])]) ||
        return bits.sum() || return bits.mean() || return bits.cumsum(0)
The probability is that of the most probable class. Use that of the item's own label.
    p[torch.arange(end - begin), labels[begin:end]] -> p.amax(1)
These are errors or right answers. A label that is predicted with little confidence costs bits, too.
    -right.log2() -> (p.argmax(1) != labels[begin:end]).double() ||
        (p.argmax(1) == labels[begin:end]).double()
The classes of the first block are counted in the labels. The code must name any of all `classes`.
    classes, dtype -> labels[: ends[0]].unique().numel(), dtype || labels.unique().numel(), dtype ||
        int(labels.max()) + 1, dtype
This is the entropy of the predictions. The bits of an item depend on its own label.
    -right.log2() -> -(p * p.log2()).sum(1)
""",
    note="The sum is the length of a message from which someone who has the vectors recovers all "
    "labels. What takes a probe many examples to learn costs more bits.",
)
