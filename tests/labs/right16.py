"""Right answers to lab 16, written differently from the master's."""

from itertools import product
from math import sqrt
from statistics import mean, stdev

import numpy as np
import torch
import torch.nn.functional as F

from lmcourse.models import sift as package
from lmcourse.models.disentangled_attention import clipped_distances, relative_scores
from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("16", RIGHT)


@right("distances")
def distances_by_cases(time, k):
    def delta(i, j):
        if i - j <= -k:
            return 0
        return 2 * k - 1 if i - j >= k else i - j + k

    return [[delta(i, j) for j in range(time)] for i in range(time)]


@right("distances")
def distances_in_numpy(time, k):
    difference = np.subtract.outer(np.arange(time), np.arange(time))
    return np.clip(difference, -k, k - 1) + k


@right("distances")
def distances_by_the_package(time, k):
    return clipped_distances(time, k, torch.zeros(1))


@right("distances")
def distances_from_windows(time, k):
    """Each row is a part of one falling sequence."""
    falling = torch.arange(time - 1, -time, -1).add(k).clamp(min=0, max=2 * k - 1)
    return torch.stack([falling[time - 1 - i : 2 * time - 1 - i] for i in range(time)])


@right("distances")
def distances_through_floats(time, k):
    i = torch.arange(time, dtype=torch.float64)
    return torch.minimum(
        torch.maximum(i.unsqueeze(1) - i + k, torch.zeros(())), torch.tensor(2.0 * k - 1)
    ).int()


@right("scores")
def scores_by_the_package(Q, K, Qr, Kr, as_in_paper):
    c2p = relative_scores(Q[None, None], Kr[None], gather=True)[0, 0]
    p2c = relative_scores(K[None, None], Qr[None], mirrored=not as_in_paper, gather=True)[0, 0]
    return c2p, p2c.T


@right("scores")
def scores_by_index(Q, K, Qr, Kr, as_in_paper):
    time, k = Q.shape[0], Kr.shape[0] // 2
    i, j = torch.meshgrid(torch.arange(time), torch.arange(time), indexing="ij")
    delta = (i - j).clamp(-k, k - 1) + k
    at = delta.T if as_in_paper else delta
    return (Q @ Kr.T)[i, delta], (K @ Qr.T)[j, at]


@right("scores")
def scores_row_by_row(Q, K, Qr, Kr, as_in_paper):
    time, k = len(Q), len(Kr) // 2
    at = torch.arange(time)
    c2p, p2c = torch.zeros(2, time, time, dtype=Q.dtype)
    for i in range(time):
        delta = (i - at + k).clamp(0, 2 * k - 1)
        c2p[i] = Kr[delta] @ Q[i]
        other = (at - i + k).clamp(0, 2 * k - 1) if as_in_paper else delta
        p2c[i] = (K * Qr[other]).sum(1)
    return c2p, p2c


@right("scores")
def scores_in_numpy(Q, K, Qr, Kr, as_in_paper):
    Q, K, Qr, Kr = (each.numpy() for each in (Q, K, Qr, Kr))
    span = len(Kr) // 2
    line = np.arange(len(Q))
    delta = np.clip(line[:, None] - line + span, 0, 2 * span - 1)
    c2p = np.take_along_axis(Q @ Kr.T, delta, 1)
    p2c = np.take_along_axis(K @ Qr.T, delta if as_in_paper else delta.T, 1).T
    return [c2p, p2c]


@right("scores")
def scores_gathered_along_the_other_axis(Q, K, Qr, Kr, as_in_paper):
    time, k = len(Q), len(Qr) // 2
    at = torch.arange(time)
    delta = (at[:, None] - at + k).clamp(0, 2 * k - 1)
    c2p = torch.gather(torch.einsum("rd,id->ri", Kr, Q), 0, delta.T).T
    p2c = torch.gather(torch.einsum("rd,jd->rj", Qr, K), 0, delta.T if as_in_paper else delta)
    return c2p, p2c


@right("scores")
def scores_pair_by_pair(Q, K, Qr, Kr, as_in_paper):
    time, k = len(Q), len(Kr) // 2
    left, right_ = (Q @ Kr.T).tolist(), (K @ Qr.T).tolist()

    def delta(i, j):
        return max(0, min(2 * k - 1, i - j + k))

    span = range(time)
    c2p = [[left[i][delta(i, j)] for j in span] for i in span]
    p2c = [[right_[j][delta(j, i) if as_in_paper else delta(i, j)] for j in span] for i in span]
    return c2p, p2c


@right("attention")
def attention_by_exponentials(Q, K, V, c2p, p2c, visible):
    total, count = torch.einsum("bhid,bhjd->bhij", Q, K), 1
    for term in (c2p, p2c):
        if term is not None:
            total, count = total + term, count + 1
    scaled = total / sqrt(count * Q.size(-1))
    scaled = scaled.where(visible[:, None, None], torch.tensor(-torch.inf, dtype=Q.dtype))
    powers = torch.exp(scaled - scaled.amax(-1, keepdim=True))
    weights = powers / powers.sum(-1, keepdim=True)
    return torch.einsum("bhij,bhjv->bhiv", weights, V), weights


@right("attention")
def attention_fused(Q, K, V, c2p, p2c, visible):
    """The terms as a bias, and the identity as values for the weights."""
    terms = [each for each in (c2p, p2c) if each is not None]
    scale = ((1 + len(terms)) * Q.shape[-1]) ** -0.5
    bias = torch.zeros(*Q.shape[:3], K.shape[2], dtype=Q.dtype) + sum(terms) * scale
    bias = bias.masked_fill(visible.logical_not()[:, None, None, :], -torch.inf)
    eye = torch.eye(K.shape[2], dtype=Q.dtype).expand(*K.shape[:2], -1, -1)
    weights = F.scaled_dot_product_attention(Q, K, eye, attn_mask=bias, scale=scale)
    return weights @ V, weights


@right("attention")
def attention_query_by_query(Q, K, V, c2p, p2c, visible):
    batch, heads, time, width = Q.shape
    weights = torch.zeros(batch, heads, time, time, dtype=Q.dtype)
    for b, h, i in product(range(batch), range(heads), range(time)):
        row = K[b, h] @ Q[b, h, i]
        used = 1
        for term in (c2p, p2c):
            if term is not None:
                row = row + term[b, h, i]
                used += 1
        seen = visible[b].nonzero().flatten()
        weights[b, h, i, seen] = (row[seen] / (used * width) ** 0.5).softmax(0)
    return weights @ V, weights


@right("attention")
def attention_in_numpy(Q, K, V, c2p, p2c, visible):
    none = np.zeros((1, 1, 1, 1))
    extra = [none if term is None else term.numpy() for term in (c2p, p2c)]
    count = 1 + (c2p is not None) + (p2c is not None)
    total = Q.numpy() @ np.swapaxes(K.numpy(), -1, -2) + extra[0] + extra[1]
    scaled = np.where(visible.numpy()[:, None, None], total / np.sqrt(count * Q.shape[3]), -np.inf)
    weights = np.exp(scaled - scaled.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return weights @ V.numpy(), weights


@right("attention")
def attention_scaled_first(Q, K, V, c2p, p2c, visible):
    """Each term is divided by the scale; a very negative number hides."""
    scale = (Q.shape[-1] * (1 + sum(term is not None for term in (c2p, p2c)))) ** 0.5
    total = (Q / scale) @ K.transpose(2, 3)
    total = total if c2p is None else total + c2p / scale
    total = total if p2c is None else total + p2c / scale
    hidden = torch.finfo(Q.dtype).min
    weights = F.softmax(total.masked_fill(~visible[:, None, None], hidden), dim=-1)
    return torch.matmul(weights, V), weights


@right("decoder")
def decoder_with_two_names(x, layers, a, position_ids, masked, head, steps):
    H = x
    for n in range(len(layers) - 1):
        H = layers[n](H, H)
    query = H + F.embedding(position_ids, a)
    while steps > 0:
        query = layers[-1](query, H)
        steps -= 1
    return head(query[masked])


@right("decoder")
def decoder_recursively(x, layers, a, position_ids, masked, head, steps):
    def below(n):
        return x if n == 0 else (lambda states: layers[n - 1](states, states))(below(n - 1))

    def decoded(n):
        if n == 0:
            return below(len(layers) - 1) + a[position_ids]
        return layers[-1](decoded(n - 1), below(len(layers) - 1))

    return head(decoded(steps)[masked])


@right("decoder")
def decoder_in_a_list(x, layers, a, position_ids, masked, head, steps):
    states = [x]
    for layer in layers[: len(layers) - 1]:
        states.append(layer(states[-1], states[-1]))
    queries = [states[-1] + a.index_select(0, position_ids.flatten()).view_as(x)]
    for _ in range(steps):
        queries.append(layers[len(layers) - 1](queries[-1], states[-1]))
    return head(torch.stack([queries[-1][b, t] for b, t in masked.nonzero().tolist()]))


@right("decoder")
def decoder_of_all_tokens(x, layers, a, position_ids, masked, head, steps):
    """The head at all a, and the masked ones from its result."""
    layers = list(layers)
    last = layers.pop()
    for layer in layers:
        x = layer(x, x)
    one_hot = F.one_hot(position_ids, len(a)).to(x.dtype)
    state = x + one_hot @ a
    for _ in range(steps):
        state = last(state, x)
    return head(state)[masked]


@right("decoder")
def decoder_one_text_at_a_time(x, layers, a, position_ids, masked, head, steps):
    logits = []
    for text, at, chosen in zip(x, position_ids, masked, strict=True):
        states = text[None]
        for layer in layers[:-1]:
            states = layer(states, states)
        query = states + a[at][None]
        for _ in range(steps):
            query = layers[-1](query, states)
        logits.append(head(query[0, chosen]))
    return torch.cat(logits)


@right("sift")
def sift_by_the_package(predict, words, start, step):
    x = package.normalized(words)
    logits = predict(x)
    r = package.perturbation(predict, x, logits, start, step)
    return package.symmetric_kl(predict(x + r), logits).mean(), r


@right("sift")
def sift_by_kl_div(predict, words, start, step):
    def both(a, b):
        a, b = F.log_softmax(a, -1), F.log_softmax(b, -1)
        kl = F.kl_div(a, b, reduction="none", log_target=True)
        return (kl + F.kl_div(b, a, reduction="none", log_target=True)).sum(-1)

    x = (words - words.mean(-1, keepdim=True)) / (
        words.var(-1, correction=0, keepdim=True) + 1e-7
    ).sqrt()
    start = start.detach().clone()
    start.requires_grad = True
    gradient = torch.autograd.grad(both(predict(x + start), predict(x)).sum(), [start])[0]
    largest = gradient.abs().max(dim=-1, keepdim=True).values
    r = (start + step * gradient / (largest + 1e-6)).detach()
    return both(predict(x), predict(x + r)).mean(), r


@right("sift")
def sift_of_the_mean(predict, words, start, step):
    """The gradient of the mean points in the same direction."""
    x = torch.nn.LayerNorm(words.shape[-1], eps=1e-7, elementwise_affine=False)(words)

    def divergence(p, q):
        p, q = torch.distributions.Categorical(logits=p), torch.distributions.Categorical(logits=q)
        kl = torch.distributions.kl_divergence
        return (kl(p, q) + kl(q, p)).mean()

    with torch.no_grad():
        fixed = predict(x)
    trial = start.clone().requires_grad_(True)
    g = torch.autograd.grad(divergence(predict(x + trial), fixed), trial)[0]
    g = g * start.shape[0] * (fixed.shape[1] if fixed.ndim == 3 else 1)
    r = start + step * g / (g.abs().amax(2, True) + 1e-6)
    return divergence(predict(x + r), predict(x)), r


@right("sift")
def sift_by_backward_on_inputs(predict, words, start, step):
    """`backward` for one input leaves no other gradients."""
    x = F.layer_norm(words, (words.shape[2],), eps=1e-12)
    trial = start.clone().requires_grad_()
    p, q = predict(x + trial).softmax(-1), predict(x).softmax(-1)
    ((p - q) * (p / q).log()).sum().backward(inputs=[trial])
    grad = trial.grad
    r = start + step * grad / (grad.abs().amax(-1, keepdim=True) + 1e-6)
    p, q = predict(x + r).softmax(-1), predict(x).softmax(-1)
    return ((p - q) * (p.log() - q.log())).sum(-1).mean(), r


@right("sift")
def sift_by_cross_entropies(predict, words, start, step):
    """KL as cross-entropy minus entropy."""

    def kl(a, b):
        return (a.softmax(-1) * (a.log_softmax(-1) - b.log_softmax(-1))).sum(-1)

    mean_, deviation = words.mean(-1, keepdim=True), words.std(-1, correction=0, keepdim=True)
    x = (words - mean_) / deviation
    here = predict(x)

    def search(moved):
        there = predict(x + moved)
        return (kl(here.detach(), there) + kl(there, here.detach())).sum()

    _, vjp = torch.func.vjp(search, start)
    (g,) = vjp(torch.ones((), dtype=words.dtype))
    r = (start + step * (g / (g.abs().amax(-1)[..., None] + 1e-6))).detach()
    there = predict(x + r)
    return (kl(here, there) + kl(there, here)).mean(), r


@right("longer")
def longer_by_loops(losses, floors, reviews, groups, t):
    of, floor = reviews.tolist(), floors.tolist()
    names = sorted(set(of))
    gaps, means, halves, changes = [], [], [], []
    first = losses[0].tolist()
    for row, members in zip(losses.tolist(), groups.tolist(), strict=True):
        tokens = [[n for n, each in enumerate(of) if each == name] for name in names]
        gaps.append(mean(mean(row[n] - floor[n] for n in each) for each in tokens))
        paired = [mean(row[n] - first[n] for n in each) for each in tokens]
        means.append(mean(paired))
        halves.append(t * stdev(paired) / sqrt(len(paired)))
        found = []
        for group in range(int(groups.max()) + 1):
            inside = [n for n, each in enumerate(members) if each == group]
            found.append(mean(row[n] - first[n] for n in inside) if inside else 0)
        changes.append(found)
    return gaps, means, halves, changes


@right("longer")
def longer_in_numpy(losses, floors, reviews, groups, t):
    losses, floors, reviews, groups = (each.numpy() for each in (losses, floors, reviews, groups))
    counts = np.bincount(reviews)
    change = losses - losses[:1]
    by_review = np.array([np.bincount(reviews, row) / counts for row in change])
    gap = np.array([np.bincount(reviews, row) / counts for row in losses - floors])
    half = t * by_review.std(1, ddof=1) / np.sqrt(len(counts))
    many = groups.max() + 1
    sums = np.array([np.bincount(g, row, many) for g, row in zip(groups, change, strict=True)])
    sizes = np.array([np.bincount(g, minlength=many) for g in groups])
    return gap.mean(1), by_review.mean(1), half, sums / np.maximum(sizes, 1)


@right("longer")
def longer_by_scatter(losses, floors, reviews, groups, t):
    settings, many = len(losses), int(groups.max()) + 1
    change = losses - losses[0]
    count = torch.bincount(reviews)
    by_review = losses.new_zeros(settings, len(count)).index_add(1, reviews, change) / count
    mean_ = by_review.mean(1)
    gap = losses.new_zeros(settings, len(count)).index_add(1, reviews, losses - floors) / count
    error = ((by_review - mean_[:, None]) ** 2).sum(1) / (len(count) - 1) / len(count)
    total = losses.new_zeros(settings, many).scatter_add(1, groups, change)
    size = losses.new_zeros(settings, many).scatter_add(1, groups, torch.ones_like(change))
    return gap.mean(1), mean_, t * error.sqrt(), total / size.clamp(min=1)


@right("longer")
def longer_by_nanmean(losses, floors, reviews, groups, t):
    change = losses - losses[0]
    parts = [change[:, reviews == name].mean(1) for name in reviews.unique()]
    by_review = torch.stack(parts, 1)
    gaps = torch.stack([(losses - floors)[:, reviews == n].mean(1) for n in reviews.unique()]).mean(
        0
    )
    half = t * by_review.var(1).sqrt() / by_review.shape[1] ** 0.5
    inside = groups[..., None] == torch.arange(int(groups.max()) + 1)
    chosen = change[..., None].masked_fill(~inside, torch.nan)
    return [gaps, by_review.mean(1), half, chosen.nanmean(1).nan_to_num(0.0)]


@right("longer")
def longer_from_the_gaps(losses, floors, reviews, groups, t):
    """A difference of gaps is a difference of losses: the floor is the same."""
    lengths = torch.bincount(reviews).double()
    averaged = F.one_hot(reviews).T.double() / lengths[:, None]  # [review, token]
    gap = averaged @ (losses - floors).T  # [review, setting]
    paired = gap - gap[:, :1]
    half = t * paired.std(0, unbiased=True) / sqrt(len(lengths))
    columns = []
    for group in range(int(groups.max()) + 1):
        inside = (groups == group).double()
        moved = (inside * losses).sum(1) - (inside * losses[0]).sum(1)
        columns.append(moved / inside.sum(1).clamp(min=1))
    return gap.mean(0), paired.mean(0), half, torch.stack(columns, -1)
