"""Right answers to lab 08, written differently from the master's."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from tests.labs.kit import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights(RIGHT)


@right("08.1")
def lookup_loop(similarities, values):
    answer = torch.zeros(values.shape[1])
    for phi, v in zip(similarities, values, strict=True):
        answer += phi * v
    return answer / sum(similarities.tolist())


@right("08.1")
def lookup_numpy(similarities, values):
    return np.average(values.numpy(), axis=0, weights=similarities.numpy())


@right("08.1")
def lookup_by_softmax_of_logs(similarities, values):
    return torch.einsum("k,kw->w", similarities.log().softmax(0), values)


@right("08.2")
def softmax_loop(scores):
    rows = []
    for row in scores.tolist():
        powers = [math.exp(s - max(row)) for s in row]
        rows.append([power / sum(powers) for power in powers])
    return rows


@right("08.2")
def softmax_by_logsumexp(scores):
    return (scores - scores.logsumexp(-1, keepdim=True)).exp()


@right("08.2")
def softmax_numpy(scores):
    s = scores.numpy().astype(np.float64)
    e = np.exp(s - s.max(axis=1)[:, None])
    return e / e.sum(axis=1)[:, None]


@right("08.3")
def attention_torch(Q, K, V):
    return F.scaled_dot_product_attention(Q[None, None], K[None, None], V[None, None])[0, 0]


@right("08.3")
def attention_columns(Q, K, V):
    Q, K, V = Q.T, K.T, V.T
    return (V @ (K.T @ Q / len(Q) ** 0.5).softmax(0)).T


@right("08.3")
def attention_loops(Q, K, V):
    answers = []
    for q in Q:
        scores = torch.stack([q @ k for k in K]) / math.sqrt(len(q))
        answers.append(sum(a * v for a, v in zip(scores.softmax(0), V, strict=True)))
    return answers


@right("08.3")
def attention_einsum(Q, K, V):
    weights = torch.einsum("qd,kd->qk", Q * Q.shape[1] ** -0.5, K).softmax(1)
    return torch.einsum("qk,kv->qv", weights, V)


@right("08.4")
def mask_multiplies_powers(scores, visible):
    largest = torch.where(visible, scores, -math.inf).amax(-1, keepdim=True)
    powers = torch.where(visible, (scores - largest.nan_to_num(neginf=0)).exp(), 0.0)
    return powers / powers.sum(-1, keepdim=True).clamp_min(1e-30)


@right("08.4")
def mask_nan_to_zero(scores, visible):
    return scores.masked_fill(visible.logical_not(), float("-inf")).softmax(-1).nan_to_num(0.0)


@right("08.4")
def mask_row_by_row(scores, visible):
    weights = torch.zeros_like(scores)
    for row, seen in enumerate(visible):
        weights[row, seen] = scores[row, seen].softmax(0)
    return weights


@right("08.5")
def gradient_jacobian(a, V, g):
    return (torch.diag(a) - torch.outer(a, a)) @ (V @ g)


@right("08.5")
def gradient_from_the_answer(a, V, g):
    return a * ((V - a @ V) @ g)


@right("08.5")
def gradient_two_sums(a, V, g):
    da = [float(v @ g) for v in V]
    mean = sum(float(w) * d for w, d in zip(a, da, strict=True))
    return [float(w) * (d - mean) for w, d in zip(a, da, strict=True)]


@right("08.6")
def knockout_scatter(model, input_ids, answers):
    model.eval()
    logits, weights = model(input_ids)
    everything = torch.full_like(weights, True, dtype=torch.bool)
    without = [everything.scatter(1, place[:, None], False)
               for place in (weights.argmax(1), weights.argmin(1))]  # fmt: skip
    found = [logits, *(model(input_ids, visible)[0] for visible in without)]
    return [(each.argmax(-1) == answers).double().mean().item() for each in found]


@right("08.6")
def knockout_one_hot(model, input_ids, answers):
    model.train(False)

    def accuracy(visible):
        guess = model(input_ids, visible)[0].max(-1).indices
        return sum(int(x == y) for x, y in zip(guess, answers, strict=True)) / len(answers)

    _, weights = model(input_ids, None)
    places = weights.shape[1]
    return np.array([
        accuracy(None),
        accuracy(F.one_hot(weights.argmax(1), places) == 0),
        accuracy(F.one_hot(weights.argmin(1), places) == 0),
    ])  # fmt: skip
