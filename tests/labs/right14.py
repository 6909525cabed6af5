"""Right answers to lab 14, written differently from the master's."""

import math
from itertools import groupby

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from lmcourse.models.electra_pair import ElectraPair
from lmcourse.models.sampling import inverse_transform
from lmcourse.models.spanbert import boundaries, span_offsets
from lmcourse.training.selection import Spans
from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("14", RIGHT)


@right("lengths")
def lengths_of_the_package(p, longest):
    P = Spans(p, longest).probabilities
    lengths = torch.arange(longest) + 1.0
    return P, P @ lengths.double(), (P @ lengths.double() ** 2) / (P @ lengths.double())


@right("lengths")
def lengths_by_a_loop(p, longest):
    weights = [1.0]
    for _ in range(longest - 1):
        weights.append(weights[-1] * (1 - p))
    total = math.fsum(weights)
    P = [weight / total for weight in weights]
    tokens = [length * share for length, share in enumerate(P, 1)]
    mean = sum(tokens)
    of_token = sum(n * share / mean for n, share in enumerate(tokens, 1))
    return P, mean, of_token


@right("lengths")
def lengths_in_closed_form(p, longest):
    n, r = longest, 1 - p
    rest = 1 - r**n
    mean = 1 / p - n * r**n / rest
    second = (2 - p) / p**2 - r**n * (n * n + 2 * n / p) / rest
    return p * r ** np.arange(n) / rest, mean, second / mean


@right("lengths")
def lengths_numpy(p, longest):
    lengths = np.arange(1, longest + 1)
    tail = np.power(1 - p, np.arange(longest + 1))  # P(length > l)
    P = (tail[:-1] - tail[1:]) / (1 - tail[-1])
    return P, np.average(lengths, weights=P), np.average(lengths, weights=P * lengths)


@right("boundaries")
def boundaries_of_the_package(masked):
    left, right_ = boundaries(masked)
    return left, right_, span_offsets(left)


@right("boundaries")
def boundaries_by_walking(masked):
    result = torch.zeros(3, *masked.shape, dtype=torch.long)
    rows, time = masked.shape
    for row in range(rows):
        for i in range(time):
            left = right_ = i
            while left >= 0 and masked[row, left]:
                left -= 1
            while right_ < time and masked[row, right_]:
                right_ += 1
            result[:, row, i] = torch.tensor([left, right_, i - left - 1])
    return tuple(result)


@right("boundaries")
def boundaries_by_runs(masked):
    left, right_, index = (np.full(masked.shape, 99) for _ in range(3))
    for row, flags in enumerate(masked.tolist()):
        for is_masked, run in groupby(range(len(flags)), flags.__getitem__):
            run = list(run)
            if is_masked:
                left[row, run], right_[row, run] = run[0] - 1, run[-1] + 1
                index[row, run] = range(len(run))
    return left, right_, index


@right("boundaries")
def boundaries_by_all_pairs(masked):
    time = masked.shape[1]
    j, i = torch.meshgrid(torch.arange(time), torch.arange(time), indexing="ij")
    visible = ~masked[:, :, None]
    left = torch.where(visible & (j < i), j, -1).amax(1)
    right_ = torch.where(visible & (j > i), j, time).amin(1)
    return [left, right_, torch.arange(time) - (left + 1)]


@right("boundaries")
def boundaries_by_a_scan(masked):
    rows, time = masked.shape
    left, right_ = torch.empty(rows, time), torch.empty(rows, time)
    last, following = torch.full((rows,), -1.0), torch.full((rows,), float(time))
    for t in range(time):
        last = torch.where(masked[:, t], last, t)
        left[:, t] = last
    for t in reversed(range(time)):
        following = torch.where(masked[:, t], following, t)
        right_[:, t] = following
    index = torch.zeros(rows, time)
    for t in range(1, time):
        index[:, t] = torch.where(masked[:, t - 1], index[:, t - 1] + 1, 0)
    return left, right_, index


@right("objective")
def objective_by_loops(states, labels, left, right, P, W1, W2, E, c):
    norm = nn.LayerNorm(len(W1), elementwise_affine=False).double()
    logits, targets = [], []
    for row in range(len(labels)):
        for i in range(labels.shape[1]):
            step = i - int(left[row, i]) - 1
            if labels[row, i] == -100 or step >= len(P):
                continue
            around = [states[row, left[row, i]], states[row, right[row, i]], P[step]]
            h = torch.hstack(around)
            for W in (W1, W2):
                h = norm(F.gelu(W @ h))
            logits.append(E @ h + c)
            targets.append(labels[row, i])
    logits = torch.stack(logits)
    return logits, F.nll_loss(logits.log_softmax(1), torch.stack(targets))


@right("objective")
def objective_by_gather(states, labels, left, right, P, W1, W2, E, c):
    time, width = states.shape[1:]
    step = torch.arange(time) - left - 1
    a = states.gather(1, left.clamp(0, time - 1)[..., None].expand(-1, -1, width))
    b = states.gather(1, right.clamp(0, time - 1)[..., None].expand(-1, -1, width))
    h = torch.cat((a, b, F.embedding(step.clamp(0, len(P) - 1), P)), 2)
    for W in (W1, W2):
        h = F.layer_norm(F.gelu(F.linear(h, W)), [len(W)])
    chosen = (labels >= 0) & (step < len(P))
    logits = F.linear(h, E, c)[chosen]
    log_probs = logits - logits.logsumexp(1, keepdim=True)
    return logits, -log_probs[torch.arange(len(logits)), labels[chosen]].mean()


@right("objective")
def objective_split_matrix(states, labels, left, right, P, W1, W2, E, c):
    width = states.shape[2]
    where = torch.nonzero(labels != -100)
    where = torch.stack([w for w in where if w[1] - left[tuple(w)] <= len(P)])
    row, i = where.T
    of_left, of_right, of_step = W1.split([width, width, P.shape[1]], 1)
    h = states[row, left[row, i]] @ of_left.T + states[row, right[row, i]] @ of_right.T
    h = h + (P @ of_step.T)[i - left[row, i] - 1]

    def layer(x):
        x = 0.5 * x * (1 + torch.erf(x / 2**0.5))
        x = x - x.mean(1, keepdim=True)
        return x / (x.square().mean(1, keepdim=True) + 1e-5).sqrt()

    logits = layer(layer(h) @ W2.T) @ E.T + c
    one_hot = F.one_hot(labels[row, i], len(E)).to(logits)
    return logits, -(one_hot * logits.log_softmax(-1)).sum() / len(row)


@right("objective")
def objective_with_ignored_labels(states, labels, left, right, P, W1, W2, E, c):
    step = torch.arange(labels.shape[1]) - left - 1
    labels = labels.masked_fill(step >= len(P), -100)
    at = labels != -100
    rows = torch.arange(len(labels))[:, None].expand_as(labels)
    h = torch.cat([states[rows[at], left[at]], states[rows[at], right[at]], P[step[at]]], 1)
    first = nn.Sequential(nn.GELU(), nn.LayerNorm(len(W1), elementwise_affine=False))
    logits = torch.addmm(c, first(first(h @ W1.mT) @ W2.mT), E.mT)
    every = torch.zeros(*labels.shape, len(E), dtype=logits.dtype)
    every[at] = logits
    return logits, F.cross_entropy(every.flatten(0, 1), labels.flatten(), ignore_index=-100)


@right("corrupted")
def corrupted_of_the_package(ids, masked, real, logits, draws):
    labels = torch.where(masked & real, ids, -100)
    text, replaced = ElectraPair.corrupt(ids, labels, logits, draws)
    return text, torch.where(real, replaced, -100)


@right("corrupted")
def corrupted_by_loops(ids, masked, real, logits, draws):
    text, labels = ids.tolist(), torch.zeros_like(ids).tolist()
    for row, t in np.ndindex(*ids.shape):
        if not real[row, t]:
            labels[row][t] = -100
        elif masked[row, t]:
            total, token = 0.0, -1
            for share in logits[row, t].softmax(0).tolist():
                token, total = token + 1, total + share
                if total > draws[row, t]:
                    break
            text[row][t] = token
            labels[row][t] = int(token != int(ids[row, t]))
    return text, labels


@right("corrupted")
def corrupted_by_searchsorted(ids, masked, real, logits, draws):
    where = (masked & real).nonzero(as_tuple=True)
    text = ids.clone()
    text[where] = inverse_transform(logits[where], draws[where])
    labels = torch.full_like(ids, -100)
    labels[real] = text[real].ne(ids[real]).long()
    return text, labels


@right("corrupted")
def corrupted_numpy(ids, masked, real, logits, draws):
    ids, masked, real, logits, draws = (x.numpy() for x in (ids, masked, real, logits, draws))
    e = np.exp(logits - logits.max(-1, keepdims=True))
    sums = np.cumsum(e / e.sum(-1, keepdims=True), -1)
    tokens = np.argmax(sums > draws[..., None], -1)
    text = np.where(masked * real, tokens, ids)
    return text, np.where(real, (text != ids) * 1.0, -100)


@right("joint")
def joint_by_backward(parameters, generator, discriminator, ids, masked_ids, real, sample, weight):
    def leaves():
        return [nn.Parameter(each.clone()) for each in parameters]

    first, second = leaves(), leaves()
    logits = generator(first[0], first[1], masked_ids)
    hidden = (masked_ids != ids).nonzero(as_tuple=True)
    J_G = -logits.log_softmax(-1)[(*hidden, ids[hidden])].mean()
    with torch.no_grad():
        text = ids.clone()
        text[hidden] = sample(logits)[hidden]
    scores = discriminator(second[0], second[2], text)
    sign = torch.where(text == ids, 1.0, -1.0)
    J_D = (F.softplus(sign * scores) * real).sum() / real.sum()
    J_G.backward()
    (weight * J_D).backward()
    rows = [
        [0.0 if x.grad is None else float(x.grad.norm()) for x in each] for each in (first, second)
    ]
    return float(J_G), float(J_D), rows[0], rows[1]


@right("joint")
def joint_by_func(parameters, generator, discriminator, ids, masked_ids, real, sample, weight):
    masked = masked_ids.ne(ids)
    targets = ids.masked_fill(~masked, -100)
    text = torch.where(masked, sample(generator(*parameters[:2], masked_ids)), ids)

    def of_generator(E, theta, phi):
        return F.cross_entropy(generator(E, theta, masked_ids).flatten(0, 1), targets.flatten())

    def of_discriminator(E, theta, phi):
        D = discriminator(E, phi, text).sigmoid()
        right_one = torch.where(text != ids, D, 1 - D)
        return -right_one[real].log().sum() / real.sum()

    found = [
        torch.func.grad_and_value(each, (0, 1, 2))(*parameters)
        for each in (of_generator, of_discriminator)
    ]
    (g, J_G), (d, J_D) = found
    return J_G, J_D, [x.norm() for x in g], [weight * x.norm() for x in d]


@right("joint")
def joint_by_two_passes(
    parameters, generator, discriminator, ids, masked_ids, real, sample, weight
):
    leaves = [each.detach().clone().requires_grad_() for each in parameters]
    E, theta, phi = leaves
    logits = generator(E, theta, masked_ids)
    changed = masked_ids != ids
    text = ids + changed * (sample(logits.detach()) - ids)
    J_G = F.cross_entropy(logits[changed], ids[changed], reduction="sum") / changed.sum()
    J_D = F.binary_cross_entropy_with_logits(
        discriminator(E, phi, text), (text != ids).double(), real / real.sum(), reduction="sum"
    )
    rows = []
    for term in (J_G, weight * J_D):
        for leaf in leaves:
            leaf.grad = None
        term.backward()
        rows.append(
            [0 if leaf.grad is None else leaf.grad.square().sum() ** 0.5 for leaf in leaves]
        )
    return J_G, J_D, *rows


@right("joint")
def joint_by_differences(
    parameters, generator, discriminator, ids, masked_ids, real, sample, weight
):
    """The sample is held: it has no gradient."""
    masked = masked_ids != ids
    text = torch.where(masked, sample(generator(parameters[0], parameters[1], masked_ids)), ids)

    def losses(E, theta, phi):
        logits = generator(E, theta, masked_ids)[masked]
        J_G = (logits.logsumexp(1) - logits.gather(1, ids[masked][:, None])[:, 0]).mean()
        scores = discriminator(E, phi, text)[real]
        J_D = (F.softplus(scores) - scores * (text != ids)[real]).mean()
        return torch.stack([J_G, weight * J_D])

    norms = torch.zeros(2, 3, dtype=torch.float64)
    for part, each in enumerate(parameters):
        for at in np.ndindex(*each.shape):
            step = torch.zeros_like(each)
            step[at] = 1e-5
            up, down = (
                losses(*(x + sign * step if k == part else x for k, x in enumerate(parameters)))
                for sign in (1, -1)
            )
            norms[:, part] += ((up - down) / 2e-5) ** 2
    J_G, _ = losses(*parameters)
    scores = discriminator(parameters[0], parameters[2], text)
    J_D = F.binary_cross_entropy_with_logits(scores, (text != ids).double(), reduction="none")
    return J_G, J_D[real].mean(), *norms.sqrt()


@right("detector")
def detector_in_logarithms(p, q):
    return (q.log() - p.log()).softmax(1) * (1 - p)


@right("detector")
def detector_by_loops(p, q):
    result = []
    for row_p, row_q in zip(p.tolist(), q.tolist(), strict=True):
        joint = [math.prod(row_p) / a * b for a, b in zip(row_p, row_q, strict=True)]
        total = sum(joint)
        result.append([j / total * (1 - a) for j, a in zip(joint, row_p, strict=True)])
    return result


@right("detector")
def detector_numpy(p, q):
    odds = q.numpy() * (1 / p.numpy() - 1)
    return odds / (q.numpy() / p.numpy()).sum(axis=1)[:, None]


@right("detector")
def detector_of_correct_guesses(p, q):
    masked = F.normalize(q / p, p=1, dim=1)
    return masked - masked * p


@right("detector")
def detector_by_einsum(p, q):
    return torch.einsum("nt,nt,n->nt", q / p, 1 - p, 1 / torch.einsum("nt,nt->n", q, 1 / p))
