"""Right answers to lab 08, written differently from the master's."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("08", RIGHT)


@right("entry")
def entry_by_sums(answer, total, similarity, value):
    return (total * answer + similarity * value) / (total + similarity)


@right("entry")
def entry_as_a_step(answer, total, similarity, value):
    return answer + (value - answer) * (similarity / (total + similarity))


@right("entry")
def entry_numpy(answer, total, similarity, value):
    both = np.stack([answer.numpy(), value.numpy()])
    return np.average(both, axis=0, weights=[total, similarity])


@right("join")
def join_by_logsumexp(first, second):
    (m1, z1, o1), (m2, z2, o2) = first, second
    logs = torch.stack([m1 + z1.log(), m2 + z2.log()])
    m, a = torch.maximum(m1, m2), logs.softmax(0)
    return m, (logs.logsumexp(0) - m).exp(), a[0] * o1 + a[1] * o2


@right("join")
def join_sorts(first, second):
    high, low = (first, second) if first[0] >= second[0] else (second, first)
    less = low[1] * math.exp(low[0] - high[0])
    z = high[1] + less
    return [high[0].item(), z, (high[1] * high[2] + less * low[2]) / z]


@right("join")
def join_numpy(first, second):
    m, z, o = (np.stack([x.numpy(), y.numpy()]) for x, y in zip(first, second, strict=True))
    sums = z * np.exp(m - m.max())
    return m.max(), sums.sum(), sums @ o / sums.sum()


@right("additive")
def additive_loops(Q, K, V, W, U, v):
    answers = []
    for q in Q:
        scores = torch.stack([v @ torch.tanh(W @ q + U @ k) for k in K])
        answers.append(scores.softmax(0) @ V)
    return answers


@right("additive")
def additive_einsum(Q, K, V, W, U, v):
    q, k = torch.einsum("qd,hd->qh", Q, W), torch.einsum("kd,hd->kh", K, U)
    hidden = torch.tanh(q.unsqueeze(1) + k.unsqueeze(0))
    return torch.einsum("qk,kv->qv", torch.einsum("qkh,h->qk", hidden, v).softmax(1), V)


@right("additive")
def additive_pairs(Q, K, V, W, U, v):
    pairs = torch.cat([Q[:, None].expand(-1, len(K), -1), K[None].expand(len(Q), -1, -1)], -1)
    scores = F.linear(torch.tanh(F.linear(pairs, torch.cat([W, U], 1))), v[None])[..., 0]
    return scores.softmax(-1) @ V


@right("mask")
def mask_multiplies_powers(Q, K, real):
    scores = torch.einsum("bqd,bkd->bqk", Q, K) * Q.shape[-1] ** -0.5
    places = torch.arange(Q.shape[1])
    visible = (places[None] <= places[:, None]) & real.unsqueeze(1)
    largest = torch.where(visible, scores, -math.inf).amax(-1, keepdim=True)
    powers = torch.where(visible, (scores - largest.nan_to_num(neginf=0)).exp(), 0.0)
    return powers / powers.sum(-1, keepdim=True).clamp_min(1e-30)


@right("mask")
def mask_adds_infinity(Q, K, real):
    future = torch.full((Q.shape[1], Q.shape[1]), -math.inf).triu(1)
    padding = torch.zeros(real.shape).masked_fill(real.logical_not(), -math.inf)[:, None]
    return ((Q / math.sqrt(Q.shape[2])) @ K.mT + future + padding).softmax(-1).nan_to_num(0.0)


@right("mask")
def mask_smallest_float(Q, K, real):
    visible = torch.logical_and(real[:, None], torch.ones(Q.shape[1], Q.shape[1]).tril() > 0)
    scores = Q @ K.transpose(1, 2) / math.sqrt(Q.shape[2])
    return scores.masked_fill(~visible, torch.finfo(scores.dtype).min).softmax(-1) * visible


@right("mask")
def mask_row_by_row(Q, K, real):
    weights = torch.zeros(len(Q), Q.shape[1], Q.shape[1])
    for text, row in ((b, i) for b in range(len(Q)) for i in range(Q.shape[1])):
        seen = [j for j in range(row + 1) if real[text, j]]
        if seen:
            scores = K[text, seen] @ Q[text, row] / math.sqrt(Q.shape[2])
            weights[text, row, seen] = scores.softmax(0)
    return weights


@right("mask")
def mask_by_pytorch(Q, K, attention_mask):
    time = Q.shape[1]
    visible = torch.ones(time, time, dtype=torch.bool).tril() & attention_mask[:, None]
    values = torch.eye(time).expand(len(Q), -1, -1)
    weights = F.scaled_dot_product_attention(Q, K, values, attn_mask=visible)
    return weights.nan_to_num()


@right("mask")
def mask_scales_both(Q, K, attention_mask):
    time, root = Q.shape[1], Q.shape[2] ** 0.25
    visible = torch.ones(time, time, dtype=torch.bool).tril() & attention_mask[:, None]
    scores = (Q / root) @ (K / root).mT
    return scores.masked_fill(~visible, -math.inf).softmax(-1).nan_to_num()


@right("gradient")
def gradient_jacobian(a, V, g):
    return (torch.diag(a) - torch.outer(a, a)) @ (V @ g)


@right("gradient")
def gradient_from_the_answer(a, V, g):
    return a * ((V - a @ V) @ g)


@right("gradient")
def gradient_two_sums(a, V, g):
    da = [float(v @ g) for v in V]
    mean = sum(float(w) * d for w, d in zip(a, da, strict=True))
    return [float(w) * (d - mean) for w, d in zip(a, da, strict=True)]


@right("knockout")
def knockout_sorts(model, input_ids, answers, count):
    model.eval()
    _, weights = model(input_ids)
    rows = []
    for order in (weights.argsort(-1, descending=True), weights.argsort(-1)):
        rows.append([])
        for hidden in range(count + 1):
            everything = torch.full_like(weights, True, dtype=torch.bool)
            logits, _ = model(input_ids, everything.scatter(1, order[:, :hidden], False))
            rows[-1].append((logits.argmax(-1) == answers).double().mean().item())
    return rows


@right("knockout")
def knockout_by_rank(model, input_ids, answers, count):
    model.train(False)
    rank = model(input_ids, None)[1].argsort(1).argsort(1)

    def accuracy(visible):
        guess = model(input_ids, visible)[0].max(-1).indices
        return sum(int(x == y) for x, y in zip(guess, answers, strict=True)) / len(answers)

    places = rank.shape[1]
    return np.array([
        [accuracy(rank < places - hidden) for hidden in range(count + 1)],
        [accuracy(rank >= hidden) for hidden in range(count + 1)],
    ])  # fmt: skip


@right("knockout")
def knockout_one_sequence_at_a_time(model, input_ids, answers, count):
    model.eval()
    right = torch.zeros(2, count + 1)
    for ids, answer in zip(input_ids, answers, strict=True):
        weights = model(ids[None])[1][0]
        for row, largest in enumerate((True, False)):
            visible = torch.ones(len(weights), dtype=torch.bool)
            for hidden, place in enumerate([None, *weights.topk(count, largest=largest).indices]):
                if place is not None:
                    visible[place] = False
                right[row, hidden] += int(model(ids[None], visible[None])[0].argmax()) == answer
    return right / len(answers)
