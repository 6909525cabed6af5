"""Right answers to lab 17, written differently from the master's."""

import copy
import math
from statistics import mean, stdev

import numpy as np
import torch
import torch.nn.functional as F
from scipy.special import kl_div, log_softmax, softmax

from lmcourse.models import distillation
from lmcourse.models.distilbert import evenly, teacher_name
from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("17", RIGHT)


@right("temperature")
def temperature_of_powers(p, old, new):
    powers = (p / p.amax(-1, keepdim=True)) ** (old / new)
    return powers / powers.sum(-1, keepdim=True)


@right("temperature")
def temperature_with_lists(p, old, new):
    rows = []
    for row in p.tolist():
        weights = [(each / max(row)) ** (old / new) for each in row]
        rows.append([each / sum(weights) for each in weights])
    return rows


@right("temperature")
def temperature_by_way_of_one(p, old, new):
    return F.softmax(F.log_softmax(p.log() * old, dim=1) / new, dim=1)


@right("temperature")
def temperature_numpy(p, old, new):
    with np.errstate(divide="ignore"):
        return softmax(old / new * np.log(p.numpy()), axis=1)


@right("temperature")
def temperature_in_float32(p, old, new):
    logits = p.float().clamp(min=1e-300).log() * old / new
    return logits.exp().div(logits.exp().sum(1, True)) if new > 1 else logits.softmax(1)


@right("gradients")
def gradients_numpy(student_logits, teacher_logits, labels, T):
    z_S, z_T = student_logits.numpy(), teacher_logits.numpy()
    soft = T**2 * (softmax(z_S / T, 1) - softmax(z_T / T, 1)) / T / len(z_S)
    hard = softmax(z_S, axis=1)
    hard[np.arange(len(z_S)), labels.numpy()] -= 1
    hard /= len(z_S)
    ratio = np.linalg.norm(hard) / np.linalg.norm(soft)
    return soft, hard, ratio / (1 + ratio)


@right("gradients")
def gradients_with_lists(student_logits, teacher_logits, labels, T):
    def probabilities(row, T):
        weights = [math.exp((each - max(row)) / T) for each in row]
        return [each / sum(weights) for each in weights]

    soft, hard = [], []
    rows = zip(student_logits.tolist(), teacher_logits.tolist(), labels.tolist(), strict=True)
    for own, taught, label in rows:
        pairs = zip(probabilities(own, T), probabilities(taught, T), strict=True)
        soft.append([T * (s - t) / len(labels) for s, t in pairs])
        p = probabilities(own, 1)
        hard.append([(each - (k == label)) / len(labels) for k, each in enumerate(p)])
    a, b = (math.sqrt(sum(x * x for row in rows for x in row)) for rows in (soft, hard))
    return soft, hard, b / (a + b)


@right("gradients")
def gradients_by_solving(student_logits, teacher_logits, labels, T):
    soft = T * (F.softmax(student_logits / T, 1) - F.softmax(teacher_logits / T, 1))
    hard = student_logits.log_softmax(1).exp()
    hard = hard.scatter_add(1, labels[:, None], -torch.ones_like(hard[:, :1]))
    soft, hard = soft / soft.shape[0], hard / hard.shape[0]
    return soft, hard, 1 / (1 + soft.square().sum().sqrt() / hard.square().sum().sqrt())


@right("losses")
def losses_of_the_package(z_S, z_T, h_S, h_T, labels, real, T):
    z_T = z_T.clamp(min=-1e9)
    soft = distillation.distillation_loss(z_S, z_T, T, real)
    cosine = distillation.cosine_loss(h_S, h_T, real)
    mlm = F.cross_entropy(z_S.mT, labels) if (labels >= 0).any() else 0.0
    return soft, mlm, cosine


@right("losses")
def losses_position_by_position(z_S, z_T, h_S, h_T, labels, real, T):
    soft, mlm, cosines = [], [], []
    for b, t in real.nonzero().tolist():
        p, q = (torch.softmax(z[b, t] / T, 0) for z in (z_T, z_S))
        terms = (p[i] * math.log(p[i] / q[i]) for i in range(len(p)) if p[i] > 0)
        soft.append(T * T * float(sum(terms)))
        cosines.append(1 - float(h_S[b, t] @ h_T[b, t] / (h_S[b, t].norm() * h_T[b, t].norm())))
        if labels[b, t] != -100:
            mlm.append(-math.log(torch.softmax(z_S[b, t], 0)[labels[b, t]]))
    return [mean(soft), mean(mlm) if mlm else 0, mean(cosines)]


@right("losses")
def losses_weighted_by_the_mask(z_S, z_T, h_S, h_T, labels, real, T):
    weight = real / real.sum()
    kl = F.kl_div((z_S / T).log_softmax(2), (z_T / T).softmax(2), reduction="none").sum(2)
    target = torch.ones(labels.numel())
    cos = F.cosine_embedding_loss(h_S.flatten(0, 1), h_T.flatten(0, 1), target, reduction="none")
    mlm = F.cross_entropy(z_S.flatten(0, 1), labels.flatten(), reduction="sum")
    return (
        (kl * weight).sum() * T**2,
        mlm / max(1, int((labels != -100).sum())),
        (cos * weight.flatten()).sum(),
    )


@right("losses")
def losses_numpy(z_S, z_T, h_S, h_T, labels, real, T):
    z_S, z_T, h_S, h_T, y, real = (x.numpy() for x in (z_S, z_T, h_S, h_T, labels, real))
    t, s = softmax(z_T[real] / T, 1), softmax(z_S[real] / T, 1)
    rows = log_softmax(z_S[y != -100], 1)
    mlm = -rows[np.arange(len(rows)), y[y != -100]].sum() / max(len(rows), 1)
    a, b = (h[real] / np.linalg.norm(h[real], axis=1, keepdims=True) for h in (h_S, h_T))
    return T**2 * kl_div(t, s).sum(1).mean(), mlm, 1 - (a * b).sum(1).mean()


@right("layers")
def state_of_the_package(teacher, n):
    N = len({name.split(".")[2] for name in teacher if name.startswith("encoder")})
    layers = evenly(n, N)
    parts = [name[17:] for name in teacher if name.startswith("encoder.layers.0.")]
    names = [f"encoder.layers.{i}.{part}" for i in range(n) for part in parts]
    names += ["embeddings.word.weight", "embeddings.norm.weight", "embeddings.norm.bias"]
    student = {name: teacher[teacher_name(name, layers)].clone() for name in names}
    first, _ = teacher["embeddings.segment.weight"]
    position = torch.stack([row + first for row in teacher["embeddings.position.weight"]])
    return student | {"embeddings.position.weight": position}


@right("layers")
def state_by_removal(teacher, n):
    student = copy.deepcopy(teacher)
    N = 0
    while f"encoder.layers.{N}.attention.query.weight" in teacher:
        N += 1
    chosen = np.rint(np.linspace(0, N - 1, n)).astype(int)
    for name in teacher:
        if "encoder" in name or "pooler" in name:
            del student[name]
    for name, tensor in teacher.items():
        _, _, number, *rest = [*name.split("."), "", ""]
        for i in np.flatnonzero(chosen == int(number)) if number.isdigit() else []:
            student[".".join(["encoder", "layers", str(i), *filter(None, rest)])] = tensor
    student["embeddings.position.weight"] += student.pop("embeddings.segment.weight")[0]
    return student


@right("layers")
def state_as_arrays(teacher, n):
    N = 1 + max(int(k.split(".")[2]) for k in teacher if k.startswith("encoder.layers."))
    step = (N - 1) / (n - 1) if n > 1 else 0
    student = {}
    for key, value in teacher.items():
        for i in range(n):
            prefix = f"encoder.layers.{math.floor(i * step + 0.5)}."
            if key.startswith(prefix):
                student[key.replace(prefix, f"encoder.layers.{i}.")] = value.numpy()
    for key in ("word.weight", "norm.weight", "norm.bias", "position.weight"):
        student["embeddings." + key] = teacher["embeddings." + key].numpy()
    added = teacher["embeddings.segment.weight"][:1].numpy()
    student["embeddings.position.weight"] = added + student["embeddings.position.weight"]
    return student


@right("excess")
def excess_numpy(exact, teacher_logits, groups, T):
    p, z, g = exact.numpy(), teacher_logits.numpy(), groups.numpy()
    student, least = np.zeros_like(p), np.zeros_like(p)
    for each in set(g.tolist()):
        targets = softmax(z[g == each] / T, axis=1).mean(0)
        student[g == each] = softmax(T * np.log(targets))
        least[g == each] = p[g == each].mean(0)
    return [kl_div(p, q).sum(1).mean() for q in (softmax(z, axis=1), student, least)]


@right("excess")
def excess_with_lists(exact, teacher_logits, groups, T):
    def excess(p, q):
        return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a)

    def average(rows, group):
        own = [row for row, each in zip(rows, groups.tolist(), strict=True) if each == group]
        return [mean(column) for column in zip(*own, strict=True)]

    targets, found = (teacher_logits / T).softmax(1).tolist(), []
    for p, z, group in zip(exact.tolist(), teacher_logits, groups.tolist(), strict=True):
        powers = [each**T for each in average(targets, group)]
        student = [each / sum(powers) for each in powers]
        least = average(exact.tolist(), group)
        found.append([excess(p, q) for q in (z.softmax(0).tolist(), student, least)])
    return tuple(map(mean, zip(*found, strict=True)))


@right("excess")
def excess_by_index_add(exact, teacher_logits, groups, T):
    _, number, count = groups.unique(return_inverse=True, return_counts=True)

    def averaged(rows):
        sums = torch.zeros(len(count), rows.shape[1], dtype=rows.dtype)
        return (sums.index_add(0, number, rows) / count[:, None])[number]

    log_q = (
        teacher_logits.log_softmax(1),
        (T * averaged((teacher_logits / T).softmax(1)).log()).log_softmax(1),
        averaged(exact).log(),
    )
    finite = (each.clamp(min=-1e9) for each in log_q)  # 0 · −∞ is NaN in kl_div
    return tuple(F.kl_div(each, exact, reduction="batchmean") for each in finite)


@right("retained")
def retained_with_lists(student, teacher, baseline, draws):
    rows = [each.tolist() for each in (student, teacher, baseline)]

    def share(numbers):
        s, t, b = (sum(row[i] for i in numbers) for row in rows)
        return (s - b) / (t - b)

    errors = stdev(map(share, draws.tolist()))
    return sum(rows[0]) / sum(rows[1]), share(range(len(student))), errors


@right("retained")
def retained_numpy(student, teacher, baseline, draws):
    s, t, b = (each.numpy() for each in (student, teacher, baseline))
    i = draws.numpy()
    shares = (s[i] - b[i]).mean(1) / (t[i] - b[i]).mean(1)
    return s.mean() / t.mean(), (s - b).mean() / (t - b).mean(), np.std(shares, ddof=1)


@right("retained")
def retained_by_weights(student, teacher, baseline, draws):
    times = F.one_hot(draws, len(student)).sum(1).to(student.dtype)
    lost = times @ (teacher - student) / (times @ (teacher - baseline))
    share = 1 - (teacher - student).sum() / (teacher - baseline).sum()
    return student.mean() / teacher.mean(), share, lost.std()
