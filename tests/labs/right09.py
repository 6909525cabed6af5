"""Right answers to lab 09, written differently from the master's."""

import heapq
import math

import numpy as np
import torch
from torch import nn

from tests.labs.kit import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights(RIGHT)


@right("09.1")
def schedule_in_two_pieces(step, width, warmup):
    rate = step / warmup**1.5 if step < warmup else 1 / math.sqrt(step)
    return rate / math.sqrt(width)


@right("09.1")
def schedule_in_numpy(step, width, warmup):
    return np.minimum(step**-0.5, step * warmup**-1.5) * np.array([width]) ** -0.5


@right("09.1")
def schedule_in_torch(step, width, warmup):
    step = torch.tensor(float(step))
    return torch.minimum(step.rsqrt(), step * warmup**-1.5) / width**0.5


@right("09.2")
def positions_in_loops(places, width):
    table = []
    for p in range(places):
        row = []
        for i in range(width // 2):
            angle = p * math.exp(-2 * i / width * math.log(10_000))
            row += [math.sin(angle), math.cos(angle)]
        table.append(row)
    return table


@right("09.2")
def positions_in_float32(places, width):
    angles = torch.arange(places)[:, None] / 10_000 ** (torch.arange(0, width, 2) / width)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


@right("09.2")
def positions_in_numpy(places, width):
    j = np.arange(width)
    angles = np.arange(places)[:, None] / 10_000 ** ((j - j % 2) / width)
    return np.where(j % 2, np.cos(angles), np.sin(angles))


@right("09.3")
def heads_in_a_loop(query, key, value, heads, visible):
    size = query.shape[-1] // heads
    found = []
    for h in range(heads):
        part = slice(h * size, (h + 1) * size)
        scores = query[..., part] @ key[..., part].mT / math.sqrt(size)
        scores[~visible] = -1e30
        found.append(scores.softmax(-1) @ value[..., part])
    return torch.cat(found, -1)


@right("09.3")
def heads_by_einsum(query, key, value, heads, visible):
    q, k, v = (x.reshape(*x.shape[:2], heads, -1) for x in (query, key, value))
    scores = torch.einsum("bqhs,bkhs->bhqk", q, k) * q.shape[-1] ** -0.5
    weights = scores.exp() * visible[:, None]
    weights = weights / weights.sum(-1, keepdim=True)
    return torch.einsum("bhqk,bkhs->bqhs", weights, v).reshape(query.shape)


@right("09.3")
def heads_of_torch(query, key, value, heads, visible):
    q, k, v = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (query, key, value))
    found = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=visible[:, None])
    return found.transpose(1, 2).reshape(query.shape)


@right("09.4")
def layer_in_cases(x, attention, feed_forward, norms, norm_first):
    if norm_first:
        x = attention(norms[0](x)) + x
        return feed_forward(norms[1](x)) + x
    x = norms[0](attention(x) + x)
    return norms[1](feed_forward(x) + x)


@right("09.4")
def layer_with_empty_norms(x, attention, feed_forward, norms, norm_first):
    def same(x):
        return x

    for f, norm in zip([attention, feed_forward], norms, strict=True):
        before, after = (norm, same) if norm_first else (same, norm)
        x = after(x + f(before(x)))
    return x


@right("09.5")
def beam_with_a_heap(log_p, k, longest, end):
    beam = [(0.0, ())]
    for _ in range(longest):
        found = [it for it in beam if it[1][-1:] == (end,)]
        for total, y in beam:
            if y[-1:] != (end,):
                found += [(total + step, (*y, v)) for v, step in enumerate(log_p(y))]
        beam = heapq.nlargest(k, found)
    return max(beam)[1]


@right("09.5")
def beam_with_open_and_closed(log_p, k, longest, end):
    """Ends early once nothing can overtake, and gives a list."""
    going, done = [([], 0.0)], []
    for _ in range(longest):
        grown = [([*y, v], s + step) for y, s in going for v, step in enumerate(log_p(y))]
        kept = sorted(grown + done, key=lambda it: -it[1])[:k]
        done = [it for it in kept if it[0][-1] == end]
        going = [it for it in kept if it[0][-1] != end]
        if not going:
            break
    return max(going + done, key=lambda it: it[1])[0]


@right("09.5")
def beam_that_stops_once_the_best_has_ended(log_p, k, longest, end):
    """Nothing can overtake it: a log-probability only falls."""
    beam = [((), 0.0)]
    while len(beam[0][0]) < longest and beam[0][0][-1:] != (end,):
        ended = [it for it in beam if it[0][-1:] == (end,)]
        going = [it for it in beam if it[0][-1:] != (end,)]
        grown = [((*y, v), s + step) for y, s in going for v, step in enumerate(log_p(y))]
        beam = sorted(ended + grown, key=lambda it: it[1])[-k:][::-1]
    return beam[0][0]


@right("09.5")
def beam_in_numpy(log_p, k, longest, end):
    beam, scores = [()], np.zeros(1)
    for _ in range(longest):
        found, totals = [], []
        for y, score in zip(beam, scores, strict=True):
            ended = len(y) > 0 and y[-1] == end
            found += [y] if ended else [(*y, v) for v in range(len(log_p(y)))]
            totals += [score] if ended else list(score + np.array(log_p(y)))
        best = np.argsort(totals)[::-1][:k]
        beam, scores = [found[i] for i in best], np.array(totals)[best]
    return torch.tensor(beam[0])


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
