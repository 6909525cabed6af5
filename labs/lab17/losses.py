"""Another temperature, the gradients of two losses, the triple loss."""

import torch
from torch import Tensor
from torch.nn import functional as F

from lmcourse.labs.kit import Example, Task, normal, one_value

ZERO = "A class of probability 0 stays at 0. A small number in its place grows with T."


def at_temperature(p: Tensor, old: float, new: float) -> Tensor:
    return (p.log() * (old / new)).softmax(-1)


def _soft(seed: int, texts: int, classes: int, old: float, new: float) -> Example:
    p = (2 * normal(texts, classes, seed=seed) / old).softmax(-1)
    p[0, 2:] = 0
    return p / p.sum(-1, keepdim=True), old, new


TEMPERATURE = Task(
    at_temperature,
    examples=[_soft(0, 3, 5, 1.0, 4.0), _soft(1, 4, 4, 3.0, 2.0), _soft(2, 2, 6, 2.0, 12.0)],
    edge_cases={"if `old / new` is large": _soft(3, 3, 6, 800.0, 1.0)},
    slips="""
The two temperatures are exchanged: a higher new temperature must make the distribution more even.
    old / new -> new / old
This is right only if `p` is at temperature 1. The logits behind `p` were divided by `old` already.
    old / new -> 1 / new
The new temperature has no effect: this is the distribution at temperature 1.
    old / new -> old
`p` has probabilities, which are not logits. What is a possible logit of a probability?
    p.log() * (old / new) -> p * (old / new) || p / new || p * old
This is the old distribution: a constant factor of all probabilities cancels. T divides logits.
    (p.log() * (old / new)).softmax(-1) -> p
These are weights or logarithms. Probabilities sum to 1.
    (p.log() * (old / new)).softmax(-1) -> p ** (old / new) || p * old / new || p / new ||
        p.log() * old / new || (p.log() * old / new).log_softmax(-1)
The sum is over the texts or over the whole tensor. Each row is a distribution of its own.
    (p.log() * (old / new)).softmax(-1) -> (p.log() * (old / new)).softmax(0) ||
        p ** (old / new) / (p ** (old / new)).sum()
This is another logarithm: of base 2 or 10, of 1 + p, or log-odds. A softmax takes powers of e.
    p.log() -> p.log2() || p.log10() || p.log1p() || p.logit()
Only the ratio of the temperatures counts: not its square, their difference or product.
    old / new -> old - new || old * new || 1 / (old * new) || (old / new) ** 2
Where `old / new` is large, all powers underflow to 0. A softmax of logits subtracts the largest.
    (p.log() * (old / new)).softmax(-1) -> (q := p ** (old / new)) / q.sum(-1, keepdim=True) ||
        F.normalize(p ** (old / new), p=1, dim=-1)
""",
    cause=lambda call, value, _: bool((value.parts[0][call[0] == 0] > 1e-9).any()) * ZERO,
    note="So a teacher that returns only probabilities is enough. Two classes keep their order, "
    "and their log-odds are divided by the ratio of the temperatures.",
)


def two_gradients(
    student_logits: Tensor, teacher_logits: Tensor, labels: Tensor, T: float
) -> tuple[Tensor, Tensor, Tensor]:
    batch, classes = student_logits.shape
    s, t = (student_logits / T).softmax(-1), (teacher_logits / T).softmax(-1)
    soft = T * (s - t) / batch
    p, truth = student_logits.softmax(-1), F.one_hot(labels, classes)
    hard = (p - truth) / batch
    a, b = soft.norm(), hard.norm()
    return soft, hard, b / (a + b)


def _logits(seed: int, batch: int, classes: int, T: float, shift: float = 0.0) -> Example:
    student, teacher = (2 * normal(batch, classes, seed=(seed, who)) for who in "st")
    return student + shift, 2 * teacher + shift, normal(batch, classes, seed=seed).argmax(-1), T


GRADIENTS: Task = Task(
    two_gradients,
    examples=[_logits(0, 4, 3, 1.5), _logits(1, 3, 6, 5.0), _logits(2, 5, 4, 0.7)],
    edge_cases={"with logits near 1000": _logits(3, 3, 4, 1.0, shift=1000.0)},
    slips="""
The factor T² is missing in the first gradient. It is a part of the loss.
    T * (s - t) -> (s - t) / T
The power of T in the first gradient is wrong: T² is one factor, the derivative of z/T another.
    T * (s - t) -> T**2 * (s - t) || (s - t) || T**3 * (s - t)
The terms are summed over the batch. The loss is the mean over the examples.
    T * (s - t) / batch -> T * (s - t)
    (p - truth) / batch -> (p - truth) || (p - truth) / batch
This divides by all entries, as `reduction="mean"` of `KLDivLoss` does. Each *example* counts once.
    T * (s - t) / batch -> T * (s - t) / batch / classes
    (p - truth) / batch -> (p - truth) / batch / classes || (p - truth) / batch
The sign is reversed: a step against such a gradient moves the student away from its target.
    (s - t) -> (t - s)
    (p - truth) / batch -> (truth - p) / batch || (p - truth) / batch
The second gradient uses the temperature. The labels' loss is at temperature 1.
    p, truth = student_logits -> p, truth = (student_logits / T)
    (p - truth) / batch -> (p - truth) / batch || T * (p - truth) / batch ||
        (p - truth) / T / batch
    or
    (p - truth) / batch -> T**2 * (p - truth) / batch || (p - truth) / T / batch
The first gradient compares answers at other temperatures, or hard ones. Both are soft, at T.
    (student_logits / T).softmax(-1) -> student_logits.softmax(-1)
    or
    (teacher_logits / T).softmax(-1) -> teacher_logits.softmax(-1) || teacher_logits ||
        F.one_hot(teacher_logits.argmax(1), classes)
This is the gradient of KL(s ‖ t), or the limit at a high temperature. The loss is KL(t ‖ s) at T.
    T * (s - t) / batch -> T * s * ((r := (s / t).log()) - (s * r).sum(-1, keepdim=True)) / batch ||
        (r := student_logits - teacher_logits).sub(r.mean(-1, keepdim=True)) / classes / batch
The gradients include the weights, or are exchanged. Return those of L_d and of L_s themselves.
    soft, hard, b / (a + b) -> soft * b / (a + b), hard * a / (a + b), b / (a + b) ||
        hard, soft, b / (a + b)
α belongs to the first term. With yours, the longer gradient gets the larger weight.
    b / (a + b) -> a / (a + b)
α has another scale: the weights α and 1 − α sum to 1, and L_d contains the factor T² already.
    b / (a + b) -> b / a || a / b || b / (a / T**2 + b) || b / (a * T**2 + b)
This α is of squared lengths, another norm, or single examples. One α serves the whole batch.
    a, b = soft.norm(), hard.norm() -> a, b = soft.square().sum(), hard.square().sum() ||
        a, b = soft.abs().sum(), hard.abs().sum() || a, b = soft.abs().max(), hard.abs().max() ||
        a, b = soft.norm(dim=1).mean(), hard.norm(dim=1).mean() ||
        a, b = soft.norm(dim=1), hard.norm(dim=1)
    b / (a + b) -> b / (a + b) || (b / (a + b)).mean()
""",
    names=("The gradient of the soft targets", "The gradient of the labels", "α"),
    cause=lambda *call: one_value(GRADIENTS, *call),
    autograd=False,
    note="Plot α against T: with the factor T², it hardly depends on T once T is large. Without "
    "it, each doubling of a large T multiplies α / (1 − α) by nearly 4.",
)


def triple_losses(
    z_s: Tensor, z_t: Tensor, h_s: Tensor, h_t: Tensor, labels: Tensor, real: Tensor, T: float
) -> tuple[Tensor, Tensor, Tensor]:
    chosen = labels != -100
    student, teacher = z_s[real] / T, z_t[real] / T
    log_s, t = student.log_softmax(1), teacher.softmax(1)
    L_d = T**2 * F.kl_div(log_s, t, reduction="sum") / len(t)
    L_mlm = F.cross_entropy(z_s[chosen], labels[chosen], reduction="sum")
    cosines = F.cosine_similarity(h_s[real], h_t[real], dim=-1)
    return L_d, L_mlm / chosen.sum().clamp(min=1), 1 - cosines.mean()


def _batch(seed: int, lengths: list[int], vocab: int, T: float, special: str = "") -> Example:
    batch, time = len(lengths), max(lengths)
    real = torch.arange(time) < torch.tensor(lengths)[:, None]
    z_s, z_t = (1.5 * normal(batch, time, vocab, seed=(seed, who)) for who in "st")
    z_t[..., 3] -= torch.inf if special == "excluded" else 0
    h_s, noise = (normal(batch, time, 4, seed=(seed, who)) for who in "ST")
    h_s = h_s * normal(batch, time, 1, seed=seed).exp() * (real[..., None] | (special != "zero"))
    h_t = (h_s + noise) * (real[..., None] | (special != "zero"))
    labels = normal(batch, time, vocab, seed=seed).argmax(-1)
    labels[0, 0] = 0  # a token like any other
    keep = real & (normal(batch, time, seed=(seed, "keep")) > 0) & (special != "unmasked")
    keep[0, 0] = special != "unmasked"
    return z_s, 2 * z_t, h_s, 2 * h_t, labels.where(keep, -100), real, T


LOSSES: Task = Task(
    triple_losses,
    examples=[_batch(0, [5, 2, 3], 4, 2), _batch(1, [2, 6], 7, 3), _batch(2, [4, 1, 3], 5, 1.5)],
    edge_cases={
        "where the states at padding are 0": _batch(4, [3, 5], 4, 2.0, "zero"),
        "in a batch without masked positions": _batch(5, [3, 4], 4, 2.0, "unmasked"),
        "where the teacher excludes a token": _batch(3, [4, 2], 5, 2.0, "excluded"),
    },
    slips="""
Padding counts. Nothing is learned from padding, and a text that is padded more would count more.
    chosen = -> real = real | True; chosen =
    or
    z_s[real] / T, z_t[real] -> z_s.flatten(0, 1) / T, z_t.flatten(0, 1)
    or
    h_s[real], h_t[real] -> h_s, h_t
Padding adds nothing to the sum, but it is in the denominator. Divide by the real positions.
    / len(t) -> / real.numel()
    1 - cosines.mean() -> 1 - cosines.mean() || (1 - cosines).sum() / real.numel()
This divides by the number of classes as well, as `KLDivLoss` does by default (`"mean"`).
    / len(t) -> / t.numel()
This divides by the number of texts, or averages each text by itself. Each position counts once.
(`"batchmean"` divides by the first axis, whatever it is.)
    / len(t) -> / len(labels)
    chosen.sum().clamp(min=1) -> chosen.sum().clamp(min=1) || len(labels)
    or
    return -> return tuple(sum(each) / len(real) for each in zip(*(triple_losses(*(
        x[i : i + 1] for x in (z_s, z_t, h_s, h_t, labels, real)), T) for i in range(len(real)))
        )) if len(real) > 1 else tuple([
    1 - cosines.mean() -> 1 - cosines.mean()])
The sum is over all positions. Return means.
    / len(t) -> / 1
    chosen.sum().clamp(min=1) -> 1
    1 - cosines.mean() -> (1 - cosines).sum()
The distillation loss has another power of T: the factor is T².
    T**2 * -> 1 * || T * || T**4 *
The distillation loss compares distributions at other temperatures, or over the positions of a
text. Both are over the vocabulary, at T.
    z_s[real] / T, z_t[real] / T -> z_s[real], z_t[real] / T || z_s[real] / T, z_t[real] ||
        z_s[real], z_t[real]
    or
    student.log_softmax(1) -> (z_s / T).log_softmax(1)[real]
    teacher.softmax(1) -> (z_t / T).softmax(1)[real]
This is the cross-entropy −Σ t log s, has the wrong sign, or the two distributions are exchanged.
    F.kl_div(log_s, t, reduction="sum") -> -(t * log_s).sum() || (t * log_s).sum() ||
        F.kl_div(t.log(), log_s.exp(), reduction="sum") || -F.kl_div(log_s, t, reduction="sum")
`kl_div` takes the *logarithm* of the student's distribution as its first argument.
    F.kl_div(log_s, t, -> F.kl_div(log_s.exp(), t, || F.kl_div(z_s[real] / T, t,
The distillation loss is only at the masked positions, or only at others. All real ones count.
    z_s[real] / T, z_t[real] -> z_s[chosen] / T, z_t[chosen] ||
        z_s[real & ~chosen] / T, z_t[real & ~chosen]
The masked tokens' loss has another denominator, sign, temperature or set of positions, or a
second softmax. It is the student's, at 1, a mean over the labels, 0 without any. Token 0 counts.
    chosen.sum().clamp(min=1) -> real.sum() || labels.numel() || chosen.sum()
    or
    F.cross_entropy(z_s[chosen] -> F.cross_entropy(z_s[chosen] / T || F.cross_entropy(z_t[chosen] ||
        -F.cross_entropy(z_s[chosen] || T**2 * F.cross_entropy(z_s[chosen] ||
        F.cross_entropy(z_s[chosen].softmax(1) || T**2 * F.cross_entropy(z_s[chosen] / T
    or
    labels != -100 -> labels > 0
The cosine loss is 1 − cos of the two states at each real position, averaged over these positions.
    1 - cosines.mean() -> cosines.mean() || -cosines.mean() || 1 - cosines.sum() / real.numel() ||
        1 - F.cosine_similarity(h_s[real].flatten(), h_t[real].flatten(), dim=0) ||
        1 - F.cosine_similarity(h_s[real].mean(0), h_t[real].mean(0), dim=0) ||
        1 - (h_s[real] * h_t[real]).sum(1).mean() || 1 - F.cosine_similarity(h_s, h_t).mean() ||
        1 - F.cosine_similarity(h_s[chosen], h_t[chosen]).mean() ||
        1 - F.cosine_similarity(h_s[real], h_t[real], dim=0).mean() ||
        (1 - F.cosine_similarity(h_s, h_t, dim=-1) * real).sum() / real.sum()
""",
    names=("L_d", "L_mlm", "L_cos"),
    cause=lambda *call: one_value(LOSSES, *call),
    note="The three losses have different denominators: real positions, masked positions, real "
    "positions. If several devices share a batch, each loss needs its own sum and count.",
)
