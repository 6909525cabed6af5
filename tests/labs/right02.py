"""Right answers to lab 02, written differently from the master's."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("02", RIGHT)


@right("perplexity")
def perplexity_python(log_probabilities):
    total = 0.0
    for p in log_probabilities.tolist():
        total += p
    return math.exp(-total / len(log_probabilities))


@right("perplexity")
def perplexity_numpy(log_probabilities):
    return np.exp(-np.mean(log_probabilities.numpy()))


@right("perplexity")
def perplexity_tensor(log_probabilities):
    return log_probabilities.requires_grad_().mean().neg().exp()


@right("perplexity")
def perplexity_geometric_mean_in_base_2(log_probabilities):
    return np.array([2 ** float(-(log_probabilities / math.log(2)).mean())])


@right("step")
def step_linear(x, h, U, W, b):
    return F.linear(x, U, b).add(F.linear(h, W)).tanh()


@right("step")
def step_one_matrix(x, h, U, W, b):
    return torch.tanh(torch.cat([x, h], dim=1) @ torch.cat([U, W], dim=1).T + b)


@right("step")
def step_rows(x, h, U, W, b):
    return [torch.tanh(U @ each_x + W @ each_h + b) for each_x, each_h in zip(x, h, strict=True)]


@right("step")
def step_cell(x, h, U, W, b):
    cell = nn.RNNCell(x.shape[1], h.shape[1])
    cell.weight_ih.data, cell.weight_hh.data, cell.bias_ih.data = U, W, b
    cell.bias_hh.data.zero_()
    return cell(x, h)


@right("step")
def step_numpy(x, h, U, W, b):
    return np.tanh(np.einsum("bi,hi->bh", x, U) + np.einsum("bk,hk->bh", h, W) + b.numpy())


@right("bptt")
def bptt_recursive(W, U, inputs, initial_state, targets):
    def below(h, t):
        if t == len(inputs):
            return torch.zeros_like(h), torch.zeros_like(W)
        new = torch.tanh(W @ h + U @ inputs[t])
        later, gradient = below(new, t + 1)
        da = (new - targets[t] + later) * (1 - new * new)
        return da @ W, gradient + da[:, None] * h[None, :]

    return below(initial_state, 0)[1]


@right("bptt")
def bptt_forward_accumulation(W, U, inputs, initial_state, targets):
    n = len(initial_state)
    h, dh = initial_state, torch.zeros(n, n, n, dtype=W.dtype)  # dh[k] by W[i, j]
    gradient = torch.zeros_like(W)
    for x, y in zip(inputs, targets, strict=True):
        new = torch.tanh(W @ h + U @ x)
        immediate = torch.einsum("ki,j->kij", torch.eye(n, dtype=W.dtype), h)
        dh = (1 - new**2)[:, None, None] * (immediate + torch.einsum("km,mij->kij", W, dh))
        h = new
        gradient += torch.einsum("k,kij->ij", h - y, dh)
    return gradient


@right("bptt")
def bptt_numpy(W, U, inputs, initial_state, targets):
    W, U, inputs, targets = (each.numpy() for each in (W, U, inputs, targets))
    states = [initial_state.numpy()]
    for x in inputs:
        states.append(np.tanh(W @ states[-1] + U @ x))
    later, gradient = 0.0, 0.0
    for t in range(len(inputs))[::-1]:
        da = (states[t + 1] - targets[t] + later) * (1 - states[t + 1] ** 2)
        gradient = gradient + np.outer(da, states[t])
        later = da @ W
    return gradient.tolist()


@right("truncation")
def truncation_one_loss(W, U, inputs, initial_state, targets, chunk):
    W = W.detach().clone().requires_grad_(True)
    h, loss = initial_state, 0
    for t in range(len(inputs)):
        if t and t % chunk == 0:
            h = h.detach()
        h = torch.tanh(W @ h + U @ inputs[t])
        loss = loss + (h - targets[t]).pow(2).sum() / 2
    return torch.autograd.grad(loss, W)[0]


@right("truncation")
def truncation_by_hand(W, U, inputs, initial_state, targets, chunk):
    total, h = torch.zeros_like(W), initial_state
    for xs, ys in zip(inputs.split(chunk), targets.split(chunk), strict=True):
        states = [h]
        for x in xs:
            states.append(torch.tanh(W @ states[-1] + U @ x))
        later = 0
        for t in range(len(xs), 0, -1):
            da = (states[t] - ys[t - 1] + later) * (1 - states[t] ** 2)
            total = total + torch.outer(da, states[t - 1])
            later = W.T @ da
        h = states[-1]
    return total


@right("clipping")
def clip_like_pytorch(gradients, max_norm):
    norm = torch.linalg.vector_norm(torch.stack([g.norm() for g in gradients]))
    factor = (max_norm / (norm + 1e-6)).clamp(max=1.0)
    return tuple(g * factor for g in gradients)


@right("clipping")
def clip_with_the_library(gradients, max_norm):
    parameters = [nn.Parameter(torch.zeros_like(g)) for g in gradients]
    for parameter, g in zip(parameters, gradients, strict=True):
        parameter.grad = g.clone()
    nn.utils.clip_grad_norm_(parameters, max_norm)
    return [parameter.grad for parameter in parameters]


@right("clipping")
def clip_numpy(gradients, max_norm):
    arrays = [g.numpy().copy() for g in gradients]
    norm = np.sqrt(sum((a * a).sum() for a in arrays))
    return arrays if norm <= max_norm else [a / norm * max_norm for a in arrays]


@right("recall")
def recall_lists(train, draw, settings, distances):
    table = []
    for setting in settings:
        row = []
        for distance in distances:
            model = train(setting, distance)[0].eval()
            ids, targets = draw(distance)
            right = sum(
                int(a == b) for a, b in zip(model(ids)[:, -1].argmax(1), targets, strict=True)
            )
            row.append(right / len(ids))
        table.append(row)
    return table


@right("recall")
def recall_numpy_many_batches(train, draw, settings, distances):
    table = np.zeros((len(settings), len(distances)))
    for j, distance in enumerate(distances):
        for i, setting in enumerate(settings):
            model, _ = train(setting, distance)
            model.train(False)
            for _ in range(3):
                ids, targets = draw(distance)
                with torch.no_grad():
                    best = model(ids).numpy()[:, -1].argmax(-1)
                table[i, j] += (best == targets.numpy()).mean() / 3
    return table


@right("recall")
def recall_table_of_tensors(train, draw, settings, distances):
    def accuracy(setting, distance):
        model, _ = train(setting, distance)
        model.eval()
        ids, targets = draw(distance)
        return model(ids)[:, -1].softmax(-1).topk(1).indices.squeeze(1).eq(targets).double().mean()

    return torch.stack([torch.stack([accuracy(s, d) for d in distances]) for s in settings])
