"""Right answers to lab 13, written differently from the master's."""

import math
from itertools import accumulate, chain
from statistics import mean, stdev

import numpy as np
import torch
import torch.nn.functional as F

from lmcourse.models.albert import Albert, AlbertConfig
from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("13", RIGHT)


@right("factorized")
def factorized_by_modules(ids, table, W, b):
    E = 0
    V, H = table.shape[0], W.shape[0]
    while V * (E + 1) + (E + 1) * H + H < V * H:
        E += 1
    return F.linear(F.embedding(ids, table), W, b), E


@right("factorized")
def factorized_projected_first(ids, table, W, b):
    wide = torch.addmm(b, table, W.t())
    H, _ = W.shape
    V = wide.shape[0]
    return wide[ids], max(math.ceil(H * (V - 1) / (V + H)) - 1, 0)


@right("factorized")
def factorized_by_one_hot(ids, table, W, b):
    one_hot = F.one_hot(ids, len(table)).to(table.dtype)
    sizes = [E * (len(table) + len(W)) + len(W) for E in range(len(W))]
    fits = [E for E, size in enumerate(sizes) if E and size < len(table) * len(W)]
    return torch.einsum("btv,ve,he->bth", one_hot, table, W) + b, max(fits, default=0)


@right("factorized")
def factorized_numpy(ids, table, W, b):
    V, H = len(table), len(b)
    ranks = np.arange(H + 1)
    saved = V * H - (V * ranks + ranks * H + H)
    vectors = table.numpy()[ids.numpy()] @ W.numpy().T + b.numpy()
    return vectors, int(ranks[saved > 0].max(initial=0))


@right("factorized")
def factorized_by_lists(ids, table, W, b):
    rows, (V, H) = table.tolist(), (len(table), len(b))
    vectors = [
        [
            [
                sum(w * x for w, x in zip(row, rows[i], strict=True)) + c
                for row, c in zip(W.tolist(), b.tolist(), strict=True)
            ]
            for i in text
        ]
        for text in ids.tolist()
    ]
    E, rest = divmod(H * (V - 1), V + H)
    return vectors, E - 1 if rest == 0 and E else E


@right("size")
def size_of_the_package(V, E, H, inner, positions, L, sharing, groups):
    settings = AlbertConfig(
        vocab_size=V,
        embedding_size=E,
        hidden_size=H,
        num_attention_heads=1,
        intermediate_size=inner,
        max_position_embeddings=positions,
        num_hidden_layers=L,
        sharing=sharing,
        num_hidden_groups=groups,
    )
    with torch.device("meta"):
        model = Albert(settings)
    counts = [0, 0, 0, 0]
    for name, weight in model.named_parameters():
        part = ["embeddings" in name, "attention" in name, "feed_forward" in name, "pooler" in name]
        counts[part.index(True)] += weight.numel()
    return counts


@right("size")
def size_by_tables(V, E, H, inner, positions, L, sharing, groups):
    sets = {
        "all": (groups, groups),
        "attention": (groups, L),
        "ffn": (L, groups),
        "none": (L, L),
    }[sharing]
    layer = 4 * H**2 + 6 * H, 2 * inner * H + inner + 3 * H
    return (V + positions + 4 + H) * E + H, sets[0] * layer[0], sets[1] * layer[1], H * (H + 1)


@right("size")
def size_by_shapes(V, E, H, inner, positions, L, sharing, groups):
    def total(*shapes):
        return sum(math.prod(shape) for shape in shapes)

    norm = [(H,), (H,)]
    parts = torch.tensor(
        [
            total((V, E), (positions, E), (2, E), (E,), (E,), (H, E), (H,)),
            total(*[(H, H), (H,)] * 4, *norm),
            total((inner, H), (inner,), (H, inner), (H,), *norm),
            total((H, H), (H,)),
        ]
    )
    shared = torch.tensor([False, sharing in "attention all", sharing in "ffn all", True])
    return parts * torch.where(
        shared, torch.tensor([1, groups, groups, 1]), torch.tensor([1, L, L, 1])
    )


@right("size")
def size_by_distinct_groups(V, E, H, inner, positions, L, sharing, groups):
    group_of = [i * groups // L for i in range(L)]
    a = len(set(group_of if sharing in ["attention", "all"] else range(L)))
    f = len(set(group_of if sharing in ["ffn", "all"] else range(L)))
    rows = V + positions + 2
    return [
        rows * E + (E + E) + H * (E + 1),
        a * (4 * H * (H + 1) + H + H),
        f * (inner * (H + 1) + H * (inner + 1) + H + H),
        (H + 1) * H,
    ]


@right("size")
def size_by_modules(V, E, H, inner, positions, L, sharing, groups):
    nn = torch.nn

    def count(*modules):
        return sum(p.numel() for module in modules for p in module.parameters())

    with torch.device("meta"):
        attention = nn.MultiheadAttention(H, 1), nn.LayerNorm(H)
        network = nn.Linear(H, inner), nn.Linear(inner, H), nn.LayerNorm(H)
        tables = [nn.Embedding(rows, E) for rows in (V, positions, 2)]
        first = count(*tables, nn.LayerNorm(E), nn.Linear(E, H))
    a, f = (groups if sharing in (kind, "all") else L for kind in ("attention", "ffn"))
    return np.array([first, a * count(*attention), f * count(*network), count(nn.Linear(H, H))])


@right("sharing")
def shared_by_dictionaries(x, attentions, networks, sharing, groups):
    first, pairs = {}, []
    for layer in range(len(attentions)):
        leader = first.setdefault(layer * groups // len(attentions), layer)
        a = leader if sharing != "ffn" and sharing != "none" else layer
        f = leader if sharing != "attention" and sharing != "none" else layer
        pairs.append([a, f])
        x = attentions[a](x)
        x = networks[f](x)
    return x, pairs


@right("sharing")
def shared_by_new_lists(x, attentions, networks, sharing, groups):
    L = len(networks)
    starts = [math.ceil(g * L / groups) for g in range(groups)]
    leader = [max(start for start in starts if start <= layer) for layer in range(L)]
    shares = {"all": (1, 1), "attention": (1, 0), "ffn": (0, 1), "none": (0, 0)}[sharing]
    numbers = np.array([leader if share else range(L) for share in shares]).T
    for layer in range(L):
        x = networks[numbers[layer, 1]](attentions[numbers[layer, 0]](x))
    return x, numbers


@right("sharing")
def shared_recursively(x, attentions, networks, sharing, groups):
    L = len(attentions)

    def index(layer, kind):
        if sharing not in (kind, "all"):
            return layer
        while layer and (layer - 1) * groups // L == layer * groups // L:
            layer -= 1
        return layer

    def run(layer):
        if layer < 0:
            return x
        below = run(layer - 1)
        return networks[index(layer, "ffn")](attentions[index(layer, "attention")](below))

    pairs = [(index(layer, "attention"), index(layer, "ffn")) for layer in range(L)]
    return run(L - 1), torch.tensor(pairs)


@right("sharing")
def shared_by_changes(x, attentions, networks, sharing, groups):
    L, a, f, pairs = len(attentions), 0, 0, []
    for layer in range(L):
        new = layer == 0 or layer * groups // L > (layer - 1) * groups // L
        if new or sharing in ("ffn", "none"):
            a = layer
        if new or sharing in ("attention", "none"):
            f = layer
        pairs += [(a, f)]
        x = networks[f](attentions[a](x.clone()))
    return [x.numpy(), pairs]


@right("sharing")
def shared_by_torch(x, attentions, networks, sharing, groups):
    layers = torch.arange(len(attentions))
    group = torch.div(layers * groups, len(layers), rounding_mode="floor")
    leader = (group[:, None] == group).int().argmax(1)
    a = leader if sharing in {"attention", "all"} else layers
    f = leader if sharing in {"ffn", "all"} else layers
    numbers = torch.stack([a, f], 1)
    for i, j in numbers.tolist():
        x = networks[j](attentions[i](x))
    return x, numbers.double()


@right("gradients")
def gradients_by_lists(weights, group_of, loss):
    copies = [weights[g].clone().requires_grad_() for g in group_of]
    loss(torch.stack(copies)).backward()
    uses = [copy.grad for copy in copies]
    groups = range(len(weights))
    own = [[use for use, g in zip(uses, group_of, strict=True) if g == group] for group in groups]
    total = [sum(each) for each in own]
    agreement = [
        float(t.norm()) / sum(float(use.norm()) for use in each)
        for t, each in zip(total, own, strict=True)
    ]
    return torch.stack(uses), torch.stack(total), agreement


@right("gradients")
def gradients_by_autograd_of_both(weights, group_of, loss):
    weights = weights.detach().clone().requires_grad_()
    layers = weights[torch.tensor(group_of)]
    uses, total = torch.autograd.grad(loss(layers), (layers, weights))
    sums = torch.zeros(len(weights), dtype=uses.dtype)
    sums.scatter_add_(0, torch.tensor(group_of), torch.linalg.matrix_norm(uses))
    return uses, total, torch.linalg.matrix_norm(total) / sums


@right("gradients")
def gradients_by_func(weights, group_of, loss):
    uses = torch.func.grad(loss)(weights[group_of])
    one_hot = F.one_hot(torch.tensor(group_of), len(weights)).to(uses.dtype)
    total = torch.tensordot(one_hot.T, uses, 1)
    lengths = uses.pow(2).sum((1, 2)).sqrt()
    return uses, total, total.pow(2).sum((1, 2)).sqrt() / (one_hot.T @ lengths)


@right("gradients")
def gradients_by_finite_differences(weights, group_of, loss):
    layers = weights[group_of]
    uses = torch.zeros_like(layers)
    for at in np.ndindex(*layers.shape):
        step = torch.zeros_like(layers)
        step[at] = 1e-5
        uses[at] = (loss(layers + step) - loss(layers - step)) / 2e-5
    total = torch.zeros_like(weights).index_add(0, torch.tensor(group_of), uses)
    norms = torch.zeros(len(weights)).double()
    norms = norms.index_add(0, torch.tensor(group_of), uses.flatten(1).norm(dim=1))
    return uses, total, total.flatten(1).norm(dim=1) / norms


@right("gradients")
def gradients_numpy(weights, group_of, loss):
    layers = weights.detach()[group_of].requires_grad_(True)
    loss(layers).backward()
    uses = layers.grad.numpy()
    group_of = np.array(group_of)
    total = np.stack([uses[group_of == g].sum(0) for g in range(len(weights))])
    lengths = np.sqrt((uses**2).sum(axis=(1, 2)))
    sums = np.bincount(group_of, lengths, len(weights))
    return uses, total, np.linalg.norm(total.reshape(len(total), -1), axis=1) / sums


@right("pairs")
def pairs_by_index(documents, length, draws):
    found, k = [], 0
    for document in documents:
        start = 0
        while len(document) - start > 1:
            stop = start + 2
            size = len(document[start]) + len(document[start + 1])
            while stop < len(document) and size + len(document[stop]) <= length:
                size += len(document[stop])
                stop += 1
            u, v = draws[k]
            k += 1
            middle = start + 1 + math.floor(u * (stop - start - 1))
            a = [token for sentence in document[start:middle] for token in sentence]
            b = [token for sentence in document[middle:stop] for token in sentence]
            for _ in range(len(a) + len(b) - length):
                if len(a) > len(b):
                    del a[-1]
                else:
                    del b[-1]
            swapped = v < 0.5
            found.append([*((b, a) if swapped else (a, b)), int(swapped)])
            start = stop
    return found


@right("pairs")
def pairs_recursively(documents, length, draws):
    draws = list(draws)

    def of(document):
        if len(document) < 2:
            return []
        ends = list(accumulate(map(len, document)))
        n = max(2, sum(end <= length for end in ends))
        u, v = draws.pop(0)
        cut = 1 + int((n - 1) * u)
        tokens = [*chain(*document[:n])]
        a, b = tokens[: ends[cut - 1]], tokens[ends[cut - 1] :]
        over = max(0, len(tokens) - length)
        while over:
            over -= 1
            a, b = (a[:-1], b) if len(a) > len(b) else (a, b[:-1])
        first = (b, a, True) if v < 0.5 else (a, b, False)
        return [first, *of(document[n:])]

    return [pair for document in documents for pair in of(document)]


@right("pairs")
def pairs_in_two_steps(documents, length, draws):
    chunks = []
    for document in documents:
        chunk = []
        for sentence in document:
            if len(chunk) >= 2 and sum(map(len, chunk)) + len(sentence) > length:
                chunks.append(chunk)
                chunk = []
            chunk = [*chunk, sentence]
        if len(chunk) >= 2:
            chunks.append(chunk)
    examples = []
    for chunk, (u, v) in zip(chunks, draws, strict=False):
        cut = int(1 + u * (len(chunk) - 1))
        parts = [[*chain(*chunk[:cut])], [*chain(*chunk[cut:])]]
        while sum(map(len, parts)) > length:
            longest = 0 if len(parts[0]) > len(parts[1]) else 1
            parts[longest] = parts[longest][:-1]
        label = 1 if v < 0.5 else 0
        examples.append((parts[label], parts[1 - label], label))
    return examples


@right("pairs")
def pairs_numpy(documents, length, draws):
    examples, draw = [], iter(draws)
    for document in documents:
        document = [np.array(sentence) for sentence in document]
        while len(document) > 1:
            sizes = np.cumsum([len(sentence) for sentence in document])
            n = max(2, int(np.searchsorted(sizes, length, side="right")))
            u, v = next(draw)
            cut = 1 + int(np.floor(u * (n - 1)))
            a, b = np.concatenate(document[:cut]), np.concatenate(document[cut:n])
            if len(a) + len(b) > length:
                shorter = min(len(a), len(b), length // 2)
                if len(a) > len(b):
                    na = max(length - len(b), length - length // 2)
                    a, b = a[:na], b[: length - na]
                else:
                    nb = max(length - len(a), length // 2)
                    a, b = a[: length - nb], b[:nb]
                assert min(len(a), len(b)) >= min(shorter, length // 2)
            examples.append((b, a, 1) if v < 0.5 else (a, b, 0))
            document = document[n:]
    return examples


@right("pairs")
def pairs_in_tensors(documents, length, draws):
    examples, number = [], 0
    for document in documents:
        left = list(document)
        while left:
            taken = [left.pop(0)]
            while left and (len(taken) < 2 or sum(map(len, taken + left[:1])) <= length):
                taken.append(left.pop(0))
            if len(taken) < 2:
                continue
            u, v = draws[number]
            number += 1
            cut = 1 + int(u * (len(taken) - 1))
            a, b = (
                torch.tensor([x for s in part for x in s]) for part in (taken[:cut], taken[cut:])
            )
            while len(a) + len(b) > length:
                if len(b) >= len(a):
                    b = b[:-1]
                else:
                    a = a[:-1]
            pair = [a, b, torch.tensor(0)] if v >= 0.5 else [b, a, torch.tensor(1)]
            examples.append(pair)
    return tuple(examples)


@right("tuned")
def tuned_by_loops(validation, test, t):
    rates, ends, effects, halves = [], [], [], []
    for kind in range(len(validation)):
        means = [mean(runs) for runs in validation[kind].tolist()]
        best = means.index(min(means))
        rates.append(best)
        ends.append(best in (0, len(means) - 1))
        pairs = zip(test[kind, best].tolist(), test[0, rates[0]].tolist(), strict=True)
        differences = [ours - theirs for ours, theirs in pairs]
        effects.append(mean(differences))
        halves.append(t * stdev(differences) / math.sqrt(len(differences)))
    return rates, ends, effects, halves


@right("tuned")
def tuned_numpy(validation, test, t):
    v, x = validation.numpy(), test.numpy()
    best = v.sum(axis=2).argmin(axis=1)
    d = np.array([x[k, i] - x[0, best[0]] for k, i in enumerate(best)])
    half = t * np.sqrt(d.var(axis=1, ddof=1) / d.shape[1])
    return best, np.isin(best, [0, v.shape[1] - 1]), d.mean(axis=1), half


@right("tuned")
def tuned_by_gather(validation, test, t):
    best = validation.mean(-1).min(-1).indices
    index = best[:, None, None].expand(-1, 1, test.shape[2])
    own = test.gather(1, index).squeeze(1)
    d = own - own[:1]
    error = torch.sqrt(d.var(1, unbiased=True) / d.size(1))
    end = 1 - ((best > 0) & (best < test.size(1) - 1)).int()
    return best, end, own.mean(1) - own[0].mean(), error * t


@right("tuned")
def tuned_by_sorting(validation, test, t):
    rates, seeds = test.shape[1:]
    order = validation.sum(2).argsort(1)
    chosen = order[:, 0].tolist()
    own = torch.stack([test[kind][rate] for kind, rate in enumerate(chosen)])
    centered = own - own[0]
    effect = centered.sum(1) / seeds
    squares = (centered - effect[:, None]).square().sum(1)
    half = t * (squares / (seeds - 1) / seeds).sqrt()
    return chosen, [int(rate % (rates - 1) == 0) for rate in chosen], effect, half


@right("tuned")
def tuned_in_float32(validation, test, t):
    means = validation.float().mean(dim=2)
    best = torch.tensor([int((row == row.min()).nonzero()[0]) for row in means])
    own = torch.cat([test[k : k + 1, b].float() for k, b in enumerate(best)])
    d = own - own[0]
    return (
        best.float(),
        ((best - 0) * (best - means.shape[1] + 1) == 0),
        d.mean(1),
        t * d.std(1) * d.shape[1] ** -0.5,
    )
