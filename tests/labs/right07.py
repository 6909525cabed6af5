"""Right answers to lab 07, written differently from the master's."""

import numpy as np
import torch
from torch.nn import functional

from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("07", RIGHT)


@right("windows")
def windows_listed(word, width, max_characters):
    spelled = ["^", *word.encode()[: max_characters - 2], "$"]
    return len([i for i in range(len(spelled)) if len(spelled[i : i + width]) == width])


@right("windows")
def windows_numpy(word, width, max_characters):
    real = 2 + np.minimum(len(bytes(word, "utf-8")), max_characters - 2)
    return np.clip(real + 1 - width, 0, None)


@right("windows")
def windows_of_the_package(word, width, max_characters):
    from lmcourse.models.char_cnn import PADDING, character_ids

    ids = character_ids([[word]], max_characters)[0, 0]
    return (ids.unfold(0, width, 1) != PADDING).all(1).sum()


@right("highway")
def jacobian_entry_by_entry(x, W_H, b_H, W_T, b_T):
    n, J = len(x), torch.zeros(len(x), len(x), dtype=torch.float64)
    for i in range(n):
        a, t = W_H[i] @ x + b_H[i], torch.sigmoid(W_T[i] @ x + b_T[i])
        for j in range(n):
            J[i, j] = t * W_H[i, j] if a > 0 else 0
            J[i, j] += t * (1 - t) * (a.clamp(min=0) - x[i]) * W_T[i, j]
            J[i, j] += (1 - t) * (i == j)
    return J


@right("highway")
def jacobian_by_diagonal_matrices(x, W_H, b_H, W_T, b_T):
    a, z = W_H @ x + b_H, W_T @ x + b_T
    T, C = torch.sigmoid(z), torch.sigmoid(-z)
    D = torch.diag
    return D(T) @ D((a > 0).double()) @ W_H + D((a.relu() - x) * T * C) @ W_T + D(C)


@right("highway")
def jacobian_numpy(x, W_H, b_H, W_T, b_T):
    x, W_H, b_H, W_T, b_T = (each.numpy() for each in (x, W_H, b_H, W_T, b_T))
    a = W_H @ x + b_H
    T = 0.5 + 0.5 * np.tanh((W_T @ x + b_T) / 2)
    gated = np.outer(T * (1 - T) * (np.maximum(a, 0) - x), np.ones(len(x))) * W_T
    return (np.heaviside(a, 0) * T * W_H.T).T + gated + np.eye(len(x)) * (1 - T)


@right("mix")
def mix_by_moments(layers, w, gamma, mask):
    real = mask[None, :, :, None].double()
    n = real.sum((2, 3)) * layers.shape[-1]
    mean = (real * layers).sum((2, 3)) / n
    deviation = ((real * layers**2).sum((2, 3)) / n - mean**2).sqrt()
    z = (layers - mean[..., None, None]) / deviation[..., None, None]
    return gamma * torch.einsum("l,lbtw->btw", torch.softmax(w, 0), z).where(mask[..., None], 0.0)


@right("mix")
def mix_by_layer_norm(layers, w, gamma, mask):
    rows = []
    for b, real in enumerate(mask):
        h = layers[:, b, real]
        z = functional.layer_norm(h, h.shape[1:], eps=0.0)
        row = torch.zeros_like(layers[0, b])
        row[real] = torch.tensordot(w.exp() / w.exp().sum(), z, 1) * gamma
        rows.append(row)
    return torch.stack(rows)


@right("mix")
def mix_numpy_in_float32(layers, w, gamma, mask):
    h = np.ma.array(layers.numpy().astype(np.float32))
    h.mask = np.broadcast_to(~mask.numpy()[None, :, :, None], h.shape)
    z = (h - h.mean((2, 3), keepdims=True)) / h.std((2, 3), keepdims=True)
    s = np.exp(w.numpy() - w.numpy().max())
    return gamma * np.tensordot(s / s.sum(), z.filled(0.0), 1)


@right("senses")
def senses_in_a_loop(states, static, positions, words, senses):
    def hits(vectors):
        found = []
        for i, v in enumerate(vectors):
            others = [j for j in range(len(vectors)) if j != i and words[j] == words[i]]
            near = max(others, key=lambda j: functional.cosine_similarity(v, vectors[j], dim=0))
            found.append(int(senses[near] == senses[i]))
        return np.array(found)

    own = hits([h[p] for h, p in zip(states, positions, strict=True)])
    control = hits(
        [torch.cat([v[:p], v[p + 1 :]]).mean(0) for v, p in zip(static, positions, strict=True)]
    )
    return own.mean(), control.mean(), np.std(own - control, ddof=1) / np.sqrt(len(own))


@right("senses")
def senses_by_scikit_learn(states, static, positions, words, senses):
    from sklearn.metrics.pairwise import cosine_distances

    from lmcourse.evaluation.probes import averaged_context

    own = np.stack([h[p].numpy() for h, p in zip(states, positions, strict=True)])
    context = averaged_context([v.numpy() for v in static])
    around = np.stack([c[p] for c, p in zip(context, positions, strict=True)])
    right = []
    for vectors in (own, around):
        distances = cosine_distances(vectors)
        distances[(words[:, None] != words).numpy()] = np.inf
        np.fill_diagonal(distances, np.inf)
        right.append(senses.numpy()[distances.argmin(1)] == senses.numpy())
    wins, losses = (right[0] & ~right[1]).sum(), (right[1] & ~right[0]).sum()
    n = len(senses)
    variance = (wins + losses - (wins - losses) ** 2 / n) / (n - 1)
    return np.mean(right[0]), np.mean(right[1]), (variance / n) ** 0.5


@right("senses")
def senses_by_sums(states, static, positions, words, senses):
    """The sum of the other words has the direction of their mean; the neighbors are sorted."""
    scores = []
    for kind in (states, static):
        pairs = zip(kind, positions, strict=True)
        v = torch.stack([h[p] if kind is states else h.sum(0) - h[p] for h, p in pairs])
        v = v / v.norm(dim=1)[:, None]
        order = (v @ v.T).argsort(1, descending=True).tolist()
        near = [
            next(j for j in row if j != i and words[j] == words[i]) for i, row in enumerate(order)
        ]
        scores.append((senses[near] == senses).float())
    own, control = scores
    return [own.mean(), control.mean(), torch.std(own - control) / len(own) ** 0.5]


@right("neighbor")
def neighbor_by_conv1d(unseen, known, F, b):
    def outputs(C):
        return functional.conv1d(C.T[None], F.mT, b)[0].relu()  # [filter, window]

    y, z = outputs(unseen), [outputs(C) for C in known]
    Y, Z = y.max(1), [each.max(1) for each in z]
    unit = functional.normalize(Y.values, dim=0)
    terms = torch.stack([unit * functional.normalize(each.values, dim=0) for each in Z])
    word = terms.sum(1).argmax()
    f = terms[word].argmax()
    return torch.stack([word, f, Y.indices[f], Z[word].indices[f]])


@right("neighbor")
def neighbor_in_loops(unseen, known, F, b):
    def of(C):
        rows, width = [], F.shape[1]
        for f in range(len(F)):
            scores = [
                float((F[f] * C[i : i + width]).sum() + b[f]) for i in range(len(C) - width + 1)
            ]
            start = max(range(len(scores)), key=scores.__getitem__)
            rows.append((max(0.0, scores[start]), start))
        return rows

    new, best = of(unseen), (-1.0, 0, [])
    norm = sum(y * y for y, _ in new) ** 0.5
    for number, C in enumerate(known):
        old = of(C)
        cosine = sum(y * z for (y, _), (z, _) in zip(new, old, strict=True))
        cosine /= norm * sum(z * z for z, _ in old) ** 0.5 or 1.0
        best = max(best, (cosine, number, old), key=lambda each: each[0])
    _, number, old = best
    f = max(range(len(F)), key=lambda f: new[f][0] * old[f][0])
    return number, f, new[f][1], old[f][1]


@right("neighbor")
def neighbor_numpy(unseen, known, F, b):
    filters = F.numpy()

    def windows(C):
        view = np.lib.stride_tricks.sliding_window_view(C.numpy(), filters.shape[1], axis=0)
        return np.maximum(np.einsum("iew,fwe->if", view, filters) + b.numpy(), 0)

    y = windows(unseen)
    z = [windows(C) for C in known]
    cosines = [
        y.max(0) @ each.max(0) / np.linalg.norm(y.max(0)) / (np.linalg.norm(each.max(0)) or 1)
        for each in z
    ]
    word = int(np.argmax(cosines))
    f = int(np.argmax(y.max(0) * z[word].max(0)))
    return word, f, y[:, f].argmax(), z[word][:, f].argmax()


@right("layers")
def layers_item_by_item(right, first):
    def best(half):
        scores = [
            sum(r for r, mine in zip(row, half, strict=True) if mine) for row in right.tolist()
        ]
        return scores.index(max(scores))

    a, b = best(first.tolist()), best((~first).tolist())
    rows = right.tolist()
    fair = np.mean([rows[b if mine else a][i] for i, mine in enumerate(first.tolist())])
    return a, b, fair, max(np.mean(row) for row in rows) - fair


@right("layers")
def layers_numpy(right, first):
    right, first = right.numpy(), first.numpy()
    a, b = right[:, first].sum(1).argmax(), right[:, ~first].sum(1).argmax()
    fair = np.average(
        [right[b, first].mean(), right[a, ~first].mean()], weights=[first.mean(), 1 - first.mean()]
    )
    return [a, b, fair, right.mean(1).max() - fair]


@right("layers")
def layers_by_weights(right, first):
    weights = torch.stack([first, ~first]).double()  # [half, item]
    chosen = (right @ weights.T).max(0).indices
    fair = (right[chosen.flip(0)] * weights).sum() / len(first)
    return torch.stack([chosen[0], chosen[1], fair, right.sum(1).max() / len(first) - fair])
