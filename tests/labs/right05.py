"""Right answers to lab 05, written differently from the master's."""

import math
from collections import Counter
from statistics import mean, stdev

import numpy as np
import torch
import torch.nn.functional as F

from lmcourse.models.negative_sampling import noise_distribution
from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("05", RIGHT)


@right("noise")
def noise_of_frequencies(counts, power):
    f = counts / counts.sum()
    f = torch.where(f > 0, f**power, 0)
    return F.normalize(f, p=1, dim=0)


@right("noise")
def noise_of_the_package(counts, power):
    return noise_distribution(counts, power)


@right("noise")
def noise_as_a_list(counts, power):
    weights = [count**power if count else 0.0 for count in counts.tolist()]
    return [weight / sum(weights) for weight in weights]


@right("noise")
def noise_by_softmax(counts, power):
    return torch.softmax(torch.where(counts > 0, power * counts.log(), -torch.inf), 0)


@right("noise")
def noise_numpy(counts, power):
    found = np.zeros(len(counts))
    seen = counts.numpy() > 0
    found[seen] = np.float_power(counts.numpy()[seen], power)
    return found / found.sum()


@right("ppmi")
def ppmi_of_probabilities(X, k):
    p = X / X.sum()
    expected = torch.outer(p.sum(1), p.sum(0))
    return torch.nan_to_num(torch.log(p / (k * expected)), nan=0.0, neginf=0.0).relu()


@right("ppmi")
def ppmi_pair_by_pair(X, k):
    total, result = X.sum(), torch.zeros_like(X)
    for i in range(len(X)):
        for j in range(X.shape[1]):
            if X[i, j] > 0:
                pmi = math.log(X[i, j] * total / (X[i].sum() * X[:, j].sum()))
                result[i, j] = max(0, pmi - math.log(k))
    return result


@right("ppmi")
def ppmi_numpy(X, k):
    X = X.numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log(X) + np.log(X.sum()) - np.log(X.sum(1))[:, None] - np.log(X.sum(0))
    return np.maximum(np.nan_to_num(values - np.log(k), nan=-1), 0).tolist()


@right("ppmi")
def ppmi_in_float32(X, k):
    X = X.float()
    return ((X * X.sum() / (X.sum(1, True) * X.sum(0) * k)).nan_to_num(0).clamp(min=1)).log()


@right("subsampling")
def counts_by_pairs(ids, f, t, uniform, window):
    keep = torch.clamp((t / f).sqrt(), max=1)
    kept = [i for i, u in zip(ids.tolist(), uniform.tolist(), strict=True) if u < keep[i]]
    pairs = Counter(
        (kept[n], kept[n + d])
        for d in [*range(-window, 0), *range(1, window + 1)]
        for n in range(len(kept))
        if 0 <= n + d < len(kept)
    )
    return [[pairs[i, j] for j in range(len(f))] for i in range(len(f))]


@right("subsampling")
def counts_by_distance(ids, f, t, uniform, window):
    kept = ids[uniform**2 * f[ids] < t]
    X = torch.zeros(len(f), len(f))
    for d in range(1, window + 1):
        pair = kept[: max(len(kept) - d, 0)], kept[d:]
        X.index_put_(pair, torch.ones(len(pair[0])), accumulate=True)
    return X + X.T


@right("subsampling")
def counts_numpy(ids, f, t, uniform, window):
    ids, f = ids.numpy(), f.numpy()
    kept = ids[uniform.numpy() < np.sqrt(t / f)[ids]]
    X = np.zeros((len(f), len(f)), dtype=int)
    for d in range(1, min(window, len(kept) - 1) + 1):
        np.add.at(X, (kept[:-d], kept[d:]), 1)
        np.add.at(X, (kept[d:], kept[:-d]), 1)
    return X


@right("gradients")
def gradients_with_add_at(v, U, o, noise):
    words = np.concatenate([[o], noise.numpy()])
    u, v = U.numpy()[words], v.numpy()
    errors = 1 / (1 + np.exp(-u @ v))
    errors[0] -= 1
    slope = np.zeros(U.shape)
    np.add.at(slope, words, np.outer(errors, v))
    return errors @ u, slope


@right("gradients")
def gradients_by_counts(v, U, o, noise):
    p = torch.sigmoid(U @ v)
    drawn = torch.bincount(noise, minlength=len(U))
    errors = p * drawn
    errors[o] += p[o] - 1
    return U.T @ errors, torch.outer(errors, v)


@right("gradients")
def gradients_one_hot(v, U, o, noise):
    words = torch.cat([torch.tensor([o]), noise])
    chosen = F.one_hot(words, len(U)).to(U.dtype)
    signs = torch.ones(len(words))
    signs[0] = -1
    errors = signs * torch.sigmoid(signs * (chosen @ U @ v))
    return errors @ chosen @ U, chosen.T @ errors[:, None] @ v[None]


@right("analogies")
def analogies_numpy(vectors, questions):
    E = vectors.numpy() / np.linalg.norm(vectors.numpy(), axis=1)[:, None]
    a, b, c, d = questions.numpy().T
    own = np.arange(len(a))[:, None]

    def answers(target, exclude):
        scores = target @ E.T / np.linalg.norm(target, axis=1)[:, None]
        if exclude:
            scores[own, questions.numpy()[:, :3]] = -9
        return scores.argmax(1)

    target = E[b] - E[a] + E[c]
    free = answers(target, False)
    return (
        np.mean(answers(target, True) == d),
        np.mean(free == d),
        np.mean(free == c),
        np.mean(answers(E[c], True) == d),
    )


@right("analogies")
def analogies_by_sorting(vectors, questions):
    E = F.normalize(vectors)
    right = [0, 0, 0, 0]
    for a, b, c, d in questions.tolist():
        order = F.cosine_similarity(E, (E[b] - E[a] + E[c])[None]).argsort(descending=True).tolist()
        near = (E @ E[c]).argsort(descending=True).tolist()
        right[0] += next(w for w in order if w not in (a, b, c)) == d
        right[1] += order[0] == d
        right[2] += order[0] == c
        right[3] += next(w for w in near if w not in (a, b, c)) == d
    return [count / len(questions) for count in right]


@right("association")
def association_with_lists(X, Y, A, B, splits):
    def s(w):
        cosines = [[float(F.cosine_similarity(w, a, dim=0)) for a in M] for M in (A, B)]
        return mean(cosines[0]) - mean(cosines[1])

    values = [s(w) for w in [*X, *Y]]
    observed = mean(values[: len(X)]) - mean(values[len(X) :])
    count = 0
    for split in splits.tolist():
        first = [v for v, on in zip(values, split, strict=True) if on]
        second = [v for v, on in zip(values, split, strict=True) if not on]
        count += mean(first) - mean(second) >= observed
    return observed / stdev(values), count / len(splits)


@right("association")
def association_matrix(X, Y, A, B, splits):
    words = F.normalize(torch.cat([X, Y]))
    s = words @ (F.normalize(A).mean(0) - F.normalize(B).mean(0))
    on = splits.to(s.dtype)
    first, second = on @ s / on.sum(1), (1 - on) @ s / (1 - on).sum(1)
    gap = s[: len(X)].mean() - s[len(X) :].mean()
    return gap / s.std(), (first - second >= gap).sum() / len(splits)


@right("association")
def association_numpy(X, Y, A, B, splits):
    X, Y, A, B = (M.numpy() / np.linalg.norm(M.numpy(), axis=1)[:, None] for M in (X, Y, A, B))
    x, y = ((M @ A.T).mean(1) - (M @ B.T).mean(1) for M in (X, Y))
    s, gap = np.concatenate([x, y]), x.mean() - y.mean()
    found = np.array([s[row].mean() - s[~row].mean() for row in splits.numpy()])
    return gap / s.std(ddof=1), np.count_nonzero(found >= gap) / len(found)
