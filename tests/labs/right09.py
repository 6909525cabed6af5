"""Right answers to lab 09, written differently from the master's."""

import heapq
import math

import numpy as np
import torch
from torch import nn

from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights(RIGHT)


@right("09.1")
def steps_by_scaling(rate, width, warmup):
    share = rate * math.sqrt(width * warmup)  # of the peak
    return [share * warmup, warmup / share**2]


@right("09.1")
def steps_in_torch(rate, width, warmup):
    y = torch.tensor(rate, dtype=torch.float64) * width**0.5
    return torch.stack([y * warmup**1.5, y.pow(-2)])


@right("09.2")
def distance_in_loops(first, second):
    table = []
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        row = []
        for i in range(0, len(a), 2):
            angle = math.atan2(b[i], b[i + 1]) - math.atan2(a[i], a[i + 1])
            row += [math.sin(angle), math.cos(angle)]
        table.append(row)
    return table


@right("09.2")
@torch.compile(backend="eager")
def distance_by_complex_numbers(first, second):
    a, b = (x[:, 1::2] + 1j * x[:, 0::2] for x in (first, second))
    turned = b * a.conj()
    return torch.stack([turned.imag, turned.real], -1).flatten(1)


@right("09.2")
def distance_by_matrices(first, second):
    s, c = first[:, 0::2], first[:, 1::2]
    back = torch.stack(
        [torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2
    )  # 2 × 2 for each pair
    return (back @ second.unflatten(1, (-1, 2))[..., None]).flatten(1).float()


@right("09.3")
def heads_in_a_loop(query, key, value, heads, visible):
    size = key.shape[-1]
    found = []
    for h in range(heads):
        scores = query[..., h * size : (h + 1) * size] @ key.mT / math.sqrt(size)
        scores[~visible] = -1e30
        found.append(scores.softmax(-1) @ value)
    return torch.cat(found, -1)


@right("09.3")
def heads_by_einsum(query, key, value, heads, visible):
    q = query.reshape(*query.shape[:2], heads, -1)
    scores = torch.einsum("bqhs,bks->bhqk", q, key) * q.shape[-1] ** -0.5
    weights = scores.exp() * visible[:, None]
    weights = weights / weights.sum(-1, keepdim=True)
    return torch.einsum("bhqk,bks->bqhs", weights, value).reshape(query.shape)


@right("09.3")
def heads_in_float16(query, key, value, heads, visible):
    repeated = query.half(), key.half().repeat(1, 1, heads), value.half().repeat(1, 1, heads)
    q, k, v = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in repeated)
    found = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=visible[:, None])
    return found.transpose(1, 2).reshape(query.shape)


@right("09.4")
def layer_in_cases(x, memory, attention, cross_attention, feed_forward, norms, norm_first):
    if norm_first:
        x = attention(norms[0](x)) + x
        x = cross_attention(norms[1](x), memory) + x
        return feed_forward(norms[2](x)) + x
    x = norms[0](attention(x) + x)
    x = norms[1](cross_attention(x, memory) + x)
    return norms[2](feed_forward(x) + x)


@right("09.4")
def layer_with_empty_norms(x, memory, attention, cross_attention, feed_forward, norms, norm_first):
    def same(x):
        return x

    for i, norm in enumerate(norms):
        before, after = (norm, same) if norm_first else (same, norm)
        read = before(x)
        change = [attention, lambda it: cross_attention(it, memory), feed_forward][i](read)
        x = after(x + change)
    return x


@right("09.5")
def beam_with_a_heap(log_p, beams, alpha, longest, end):
    """Ranks by the score in each round, too."""

    def score(it):
        return it[0] / ((5 + len(it[1])) / 6) ** alpha

    beam, ended = [(0.0, ())], []
    for _ in range(longest):
        found = [(total + step, (*y, v)) for total, y in beam for v, step in enumerate(log_p(y))]
        best = heapq.nlargest(beams, found, key=score)
        ended += [it for it in best if it[1][-1] == end]
        beam = [it for it in best if it[1][-1] != end]
    return max(beam + ended, key=score)[1]


@right("09.5")
def beam_with_one_record(log_p, beams, alpha, longest, end):
    """Keeps the best complete target only, as a list; its penalty lacks a constant factor."""

    def score(y, total):
        return total / (5 + len(y)) ** alpha

    beam, record, highest = [([], 0.0)], None, -math.inf
    for n in range(longest):
        grown = [([*y, v], s + step) for y, s in beam for v, step in enumerate(log_p(y))]
        beam = []
        for y, s in sorted(grown, key=lambda it: it[1])[-beams:]:
            if y[-1] != end and n + 1 < longest:
                beam.append((y, s))
            elif score(y, s) > highest:
                record, highest = y, score(y, s)
        if not beam:
            break
    return record


@right("09.5")
def beam_in_numpy(log_p, beams, alpha, longest, end):
    beam, totals, complete = [()], np.zeros(1), {}
    for n in range(1, longest + 1):
        found = [(*y, v) for y in beam for v in range(len(log_p(())))]
        steps = np.array([log_p(y) for y in beam])
        sums = (totals[:, None] + steps).ravel()
        best = np.argsort(sums)[::-1][:beams]
        done = [i for i in best if found[i][-1] == end or n == longest]
        complete |= {found[i]: sums[i] / ((5 + n) / 6) ** alpha for i in done}
        best = [i for i in best if i not in done]
        if not best:
            break
        beam, totals = [found[i] for i in best], sums[best]
    return torch.tensor(max(complete, key=complete.get))


@right("09.6")
def lengths_as_lists(train, draw, settings, lengths):
    table = []
    for setting in settings:
        model = train(setting)[0].eval()
        row = []
        for length in lengths:
            input_ids, targets = draw(length)
            said = model(input_ids).max(-1).indices[targets >= 0]
            row.append((said == targets[targets >= 0]).double().mean().item())
        table.append(row)
    return table


@right("09.6")
def lengths_counting(train, draw, settings, lengths):
    table = np.zeros((len(settings), len(lengths)))
    for row, setting in enumerate(settings):
        model, _ = train(setting)
        model.train(False)
        for column, length in enumerate(lengths):
            batch = draw(length)
            with torch.inference_mode():
                said = model(batch[0]).argmax(dim=2)
            good = sum(
                int(s == t)
                for s, t in zip(said.flatten(), batch[1].flatten(), strict=True)
                if t != -100
            )
            table[row, column] = good / int((batch[1] != -100).sum())
    return table
