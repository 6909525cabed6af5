"""Right answers to lab 18, written differently from the master's."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from lmcourse.labs.lab18 import contest
from torch.nn.utils import prune

from lmcourse.compression.low_rank import factors
from lmcourse.models import tinybert
from lmcourse.models.layer_map import layer_map
from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("18", RIGHT)


@right("layers")
def layers_of_the_package(hidden_states, M, strategy):
    g = layer_map(M, len(hidden_states) - 1, strategy)
    return [hidden_states[layer] for layer in g[:-1]]


@right("layers")
def layers_by_slices(hidden_states, M, strategy):
    N = len(hidden_states) - 1
    if strategy == "uniform":
        return hidden_states[:: N // M]
    return hidden_states[:1] + hidden_states[N + 1 - M :]


@right("layers")
def layers_stacked(hidden_states, M, strategy):
    N = len(hidden_states) - 1
    g = torch.arange(M + 1) * N / M if strategy == "uniform" else torch.arange(N - M, N + 1)
    g[0] = 0
    return torch.stack(hidden_states)[g.round().long()]


@right("layers")
def layers_as_a_tuple(hidden_states, M, strategy):
    embeddings, *layers = hidden_states
    ratio = len(layers) // M
    chosen = layers[-M:] if strategy == "top" else layers[ratio - 1 :: ratio]
    return (embeddings, *chosen)


@right("layers")
def layers_as_numbers(hidden_states, M, strategy):
    numbers = [state.tolist() for state in hidden_states]
    N, found = len(numbers) - 1, [numbers[0]]
    for m in range(1, M + 1):
        found.append(numbers[round(m * N / M) if strategy == "uniform" else -1 - M + m])
    return found


@right("prune")
def prune_numpy(weights, sparsity, scope):
    arrays = [w.numpy() for w in weights]
    masks = [np.ones(w.size, bool) for w in arrays]
    sizes = [np.abs(w).ravel() for w in arrays]
    if scope == "layer":
        for mask, size in zip(masks, sizes, strict=True):
            mask[np.argsort(size)[: int(np.rint(sparsity * size.size))]] = False
    else:
        every = np.concatenate(sizes)
        joined = np.ones(every.size, bool)
        joined[np.argsort(every)[: int(np.rint(sparsity * every.size))]] = False
        masks = np.split(joined, np.cumsum([size.size for size in sizes])[:-1])
    return [mask.reshape(w.shape) for mask, w in zip(masks, arrays, strict=True)]


@right("prune")
def prune_by_topk(weights, sparsity, scope):
    def mask(sizes):
        kept = len(sizes) - round(sparsity * len(sizes))
        return torch.zeros(len(sizes)).index_fill(0, sizes.topk(kept).indices, 1.0)

    sizes = [w.abs().reshape(-1) for w in weights]
    if scope == "global":
        masks = mask(torch.cat(sizes)).split([len(each) for each in sizes])
    else:
        masks = map(mask, sizes)
    return [each.view(w.shape) for each, w in zip(masks, weights, strict=True)]


@right("prune")
def prune_by_a_sorted_list(weights, sparsity, scope):
    masks = [[[1] * w.shape[1] for _ in w] for w in weights]
    entries = [
        (abs(x), k, i, j)
        for k, w in enumerate(weights)
        for i, row in enumerate(w.tolist())
        for j, x in enumerate(row)
    ]
    groups = [entries]
    if scope == "layer":
        groups = [[each for each in entries if each[1] == k] for k in range(len(weights))]
    for group in groups:
        for _, k, i, j in sorted(group)[: round(sparsity * len(group))]:
            masks[k][i][j] = 0
    return masks


@right("prune")
def prune_by_torch(weights, sparsity, scope):
    modules = [torch.nn.Linear(*reversed(w.shape), bias=False) for w in weights]
    for module, w in zip(modules, weights, strict=True):
        module.weight = torch.nn.Parameter(w.clone())
    if scope == "layer":
        for module in modules:
            prune.l1_unstructured(module, "weight", amount=sparsity)
    else:
        prune.global_unstructured(
            [(module, "weight") for module in modules], prune.L1Unstructured, amount=sparsity
        )
    return [module.weight_mask for module in modules]


@right("prune")
def prune_by_ranks(weights, sparsity, scope):
    def keep(size):
        return size.argsort(descending=True).argsort() < len(size) - round(sparsity * len(size))

    if scope == "layer":
        return tuple(keep(w.abs().flatten()).view_as(w) for w in weights)
    masks, start = keep(torch.cat([w.flatten() for w in weights]).abs()), 0
    found = []
    for w in weights:
        found.append(masks[start : start + w.numel()].view_as(w).int())
        start += w.numel()
    return found


@right("int8")
def int8_numpy(x, weight, bias):
    x, weight = x.numpy(), weight.numpy()
    scale = np.abs(weight).max(1) / 127
    scale[scale == 0] = 1e-12
    q = np.rint(weight / scale[:, None]).astype(np.int8)
    own = np.maximum(np.abs(x).max(1) / 127, 1e-12)
    p = np.rint(x / own[:, None]).astype(np.int8)
    products = p.astype(np.int32) @ q.astype(np.int32).T
    return q, scale, products, products * np.outer(own, scale) + bias.numpy()


@right("int8")
def int8_with_lists(x, weight, bias):
    def quantize(row):
        scale = max(map(abs, row)) / 127 or 1.0
        return [round(each / scale) for each in row], scale

    tokens, rows = ([quantize(row) for row in each.tolist()] for each in (x, weight))
    products = [[sum(a * b for a, b in zip(p, q, strict=True)) for q, _ in rows] for p, _ in tokens]
    y = [
        [s * t * n + b for n, (_, s), b in zip(row, rows, bias.tolist(), strict=True)]
        for row, (_, t) in zip(products, tokens, strict=True)
    ]
    return [q for q, _ in rows], [s for _, s in rows], products, y


@right("int8")
def int8_in_int8_tensors(x, weight, bias):
    s = weight.abs().amax(1, keepdim=True).clamp(min=1e-9) / 127
    t = x.abs().amax(1, keepdim=True).clamp(min=1e-9) / 127
    q, p = (weight / s).round().to(torch.int8), (x / t).round().to(torch.int8)
    products = p.long() @ q.long().T
    return q, s.squeeze(1), products, F.linear(p * t, q * s, bias)


@right("int8")
def int8_in_float32(x, weight, bias):
    x, weight = x.float(), weight.float()
    s = weight.norm(math.inf, dim=1) / 127
    t = x.norm(math.inf, dim=1) / 127
    q = torch.nan_to_num(weight / s[:, None]).round()
    p = torch.nan_to_num(x / t[:, None]).round()
    products = torch.einsum("ti,oi->to", p, q)
    return (
        q,
        torch.where(s == 0, 0.5, s),
        products,
        torch.einsum("to,t,o->to", products, t, s) + bias,
    )


@right("int8")
def int8_by_127_over_the_largest(x, weight, bias):
    factors = [127 / m.abs().max(1).values.clamp(min=1e-20) for m in (x, weight)]
    p, q = (torch.floor(m * f[:, None] + 0.5) for m, f in zip((x, weight), factors, strict=True))
    products = (p[:, None] * q).sum(-1)
    return q, 1 / factors[1], products, products / factors[0][:, None] / factors[1] + bias


@right("low_rank")
def low_rank_of_the_package(W, budget):
    m, n = W.shape
    if W.numel() * 4 <= budget:
        return [W], 0
    left, right_ = factors(W, budget // 4 // (m + n))
    return [left, right_], ((W - left @ right_) ** 2).sum() / (W**2).sum()


@right("low_rank")
def low_rank_numpy(W, budget):
    W = W.numpy()
    if 4 * W.size <= budget:
        return [W.copy()], 0.0
    r = int(budget / (4 * sum(W.shape)))
    U, S, Vh = np.linalg.svd(W, full_matrices=False)
    return (U[:, :r], S[:r, None] * Vh[:r]), np.sum(S[r:] ** 2) / np.sum(S**2)


@right("low_rank")
def low_rank_by_eigenvectors(W, budget):
    m, n = W.shape
    if m * n <= budget // 4:
        return [W], torch.zeros(())
    r = max(k for k in range(1, min(m, n) + 1) if 4 * k * (m + n) <= budget)
    values, vectors = torch.linalg.eigh(W.T @ W)
    V = vectors[:, -r:]
    return [W @ V, V.T], 1 - values[-r:].sum() / values.sum()


@right("low_rank")
def low_rank_with_full_matrices(W, budget):
    m, n = W.shape
    if budget >= 4 * m * n:
        return [W.clone()], 0.0
    r = 0
    while 4 * (r + 1) * (m + n) <= budget:
        r += 1
    U, S, Vh = torch.linalg.svd(W)
    kept = torch.zeros(r, r, dtype=W.dtype)
    kept.diagonal().copy_(S[:r])
    return [U[:, :r] @ kept, Vh[:r, :]], float((S[r:] ** 2).sum()) / float(W.norm()) ** 2


@right("low_rank")
def low_rank_with_another_basis(W, budget):
    m, n = W.shape
    if 4 * m * n <= budget:
        return [W.tolist()], 0.0
    r = budget // (4 * m + 4 * n)
    U, S, V = torch.svd(W)
    rotation = torch.linalg.qr(torch.arange(1.0, r * r + 1).reshape(r, r).double() + torch.eye(r)).Q
    left = U[:, :r] * S[:r] @ rotation
    right_ = rotation.T @ V[:, :r].T
    return [left, right_], 1 - (left @ right_).square().sum() / W.square().sum()


@right("scores")
def scores_of_the_package(Q_s, K_s, Q_t, K_t, real):
    own, taught = (Q @ K.mT / math.sqrt(Q.shape[-1]) for Q, K in ((Q_s, K_s), (Q_t, K_t)))
    pairs = tinybert.position_pairs(real.long(), real)
    return tinybert.attention_losses([own], [taught], pairs)[0]


@right("scores")
def scores_text_by_text(Q_s, K_s, Q_t, K_t, real):
    total, count = 0.0, 0
    for b, keep in enumerate(real):
        own = Q_s[b][:, keep] @ K_s[b][:, keep].mT / Q_s.shape[3] ** 0.5
        taught = Q_t[b][:, keep] @ K_t[b][:, keep].mT / Q_t.shape[3] ** 0.5
        total += float((own - taught).pow(2).sum())
        count += own.numel()
    return total / count


@right("scores")
def scores_by_a_weight(Q_s, K_s, Q_t, K_t, real):
    weight = (real[:, None, :, None] * real[:, None, None, :]).double()
    own = torch.matmul(Q_s / Q_s.size(-1) ** 0.5, K_s.transpose(-2, -1))
    taught = torch.matmul(Q_t / Q_t.size(-1) ** 0.5, K_t.transpose(-2, -1))
    return ((own - taught) ** 2 * weight).sum() / weight.sum() / Q_s.shape[1]


@right("scores")
def scores_numpy(Q_s, K_s, Q_t, K_t, real):
    def scores(Q, K):
        return np.einsum("bhqd,bhkd->hbqk", Q.numpy(), K.numpy()) / np.sqrt(Q.shape[-1])

    mask = real.numpy()
    pairs = mask[:, :, None] & mask[:, None, :]
    differences = (scores(Q_s, K_s) - scores(Q_t, K_t))[:, pairs]
    return np.mean([np.mean(each**2) for each in differences])


@right("scores")
def scores_of_transposes(Q_s, K_s, Q_t, K_t, real):
    own, taught = K_s @ Q_s.mT * Q_s.shape[-1] ** -0.5, K_t @ Q_t.mT * Q_t.shape[-1] ** -0.5
    hidden = ~(real[:, None, :, None] & real[:, None, None, :]).expand_as(own)
    squares = (own - taught).square().masked_fill(hidden, torch.nan)
    return squares.nanmean()


def _rounded(w, bits, steps=1):
    """The scale of each row that has the least squared error, of some."""
    q, scale = contest.in_bits(w, bits)
    best, error = (q, scale), (w - contest.tensor_of((q, scale))).square().sum(1)
    largest = 2 ** (bits - 1) - 1
    for step in range(1, steps):
        smaller = (scale.float() * (1 - 0.08 * step)).half()
        q = (w / smaller.float()[:, None]).round().clamp(-largest, largest)
        found = (w - q * smaller.float()[:, None]).square().sum(1)
        better = found < error
        best = torch.where(better[:, None], q, best[0]), torch.where(better, smaller, best[1])
        error = torch.where(better, found, error)
    return best


@right("small")
def small_with_clipped_scales(state, budget):
    """The same number of bits, with better scales."""
    for bits in range(8, 1, -1):
        forms = {n: _rounded(w, bits, 6) if w.ndim == 2 else w.half() for n, w in state.items()}
        if contest.file_size(forms) <= budget:
            return forms
    raise AssertionError


@right("small")
def small_with_more_bits_in_layers(state, budget):
    """One bit more for as many matrices as fit, the smallest first."""
    matrices = sorted((n for n, w in state.items() if w.ndim == 2), key=lambda n: state[n].numel())
    for bits in range(8, 1, -1):
        forms = {n: w.half() for n, w in state.items()}
        forms |= {n: contest.in_bits(state[n], bits) for n in matrices}
        if contest.file_size(forms) <= budget:
            for n in matrices:
                more = forms | {n: contest.in_bits(state[n], bits + 1)}
                forms = more if contest.file_size(more) <= budget else forms
            return forms
    raise AssertionError


@right("small")
def small_by_sensitivity_of_the_norm(state, budget):
    """From below: a bit more where the relative error is largest."""
    bits = {n: 2 for n, w in state.items() if w.ndim == 2}
    forms = {n: w.half() if n not in bits else contest.in_bits(w, 2) for n, w in state.items()}
    open_ = set(bits)
    while open_:
        worst = max(
            open_,
            key=lambda n: float((state[n] - contest.tensor_of(forms[n])).norm() / state[n].norm()),
        )
        more = forms | {worst: contest.in_bits(state[worst], bits[worst] + 1)}
        if bits[worst] == 8 or contest.file_size(more) > budget:
            open_.remove(worst)
        else:
            bits[worst] += 1
            forms = more
    return forms


@right("small")
def small_with_its_own_packing(state, budget):
    """Half steps: integers of any range, not only those of a power of 2."""
    levels = {n: 127 for n, w in state.items() if w.ndim == 2}
    for limit in (127, 63, 31, 23, 15, 11, 7, 5, 3, 1):
        for name in sorted(levels, key=lambda n: -state[n].numel()):
            levels[name] = limit
            forms = {}
            for n, w in state.items():
                if n in levels:
                    scale = (w.abs().amax(1) / levels[n]).clamp(min=1e-6).half()
                    q = (w / scale.float()[:, None]).round()
                    forms[n] = q.clamp(-levels[n], levels[n]).to(torch.int8), scale[:, None]
                else:
                    forms[n] = w.to(torch.float16)
            if contest.file_size(forms) <= budget:
                return forms
    raise AssertionError


@right("small")
def small_with_fewer_positions(state, budget):
    """The rows of positions that no review of 280 tokens has are not stored."""
    found = dict(small_with_more_bits_in_layers(state, budget + 3000))
    name = "bert.embeddings.position.weight"
    w = state[name]
    used = torch.eye(len(w), 280).half()
    forms = found | {name: [used, contest.in_bits(w[:280], 5)]}
    if contest.file_size(forms) <= budget:
        return forms
    return small_with_more_bits_in_layers(state, budget)
