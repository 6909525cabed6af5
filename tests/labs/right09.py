"""Right answers to lab 09, written differently from the master's."""

import math

import numpy as np
import torch
from torch import nn

from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("09", RIGHT)


@right("steps")
def steps_by_scaling(rate, width, warmup):
    share = rate * math.sqrt(width * warmup)  # of the peak
    return [share * warmup, warmup / share**2]


@right("steps")
def steps_in_torch(rate, width, warmup):
    y = torch.tensor(rate, dtype=torch.float64) * width**0.5
    return torch.stack([y * warmup**1.5, y.pow(-2)])


@right("distance")
def distance_in_loops(first, second):
    table = []
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        row = []
        for i in range(0, len(a), 2):
            angle = math.atan2(b[i], b[i + 1]) - math.atan2(a[i], a[i + 1])
            row += [math.sin(angle), math.cos(angle)]
        table.append(row)
    return table


@right("distance")
@torch.compile(backend="eager")
def distance_by_complex_numbers(first, second):
    a, b = (x[:, 1::2] + 1j * x[:, 0::2] for x in (first, second))
    turned = b * a.conj()
    return torch.stack([turned.imag, turned.real], -1).flatten(1)


@right("distance")
def distance_by_matrices(first, second):
    s, c = first[:, 0::2], first[:, 1::2]
    back = torch.stack(
        [torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2
    )  # 2 × 2 for each pair
    return (back @ second.unflatten(1, (-1, 2))[..., None]).flatten(1).float()


@right("heads")
def heads_in_a_loop(query, key, value, heads, visible):
    size = key.shape[-1]
    found = []
    for h in range(heads):
        scores = query[..., h * size : (h + 1) * size] @ key.mT / math.sqrt(size)
        scores[~visible] = -1e30
        found.append(scores.softmax(-1) @ value)
    return torch.cat(found, -1)


@right("heads")
def heads_by_einsum(query, key, value, heads, visible):
    q = query.reshape(*query.shape[:2], heads, -1)
    scores = torch.einsum("bqhs,bks->bhqk", q, key) * q.shape[-1] ** -0.5
    weights = scores.exp() * visible[:, None]
    weights = weights / weights.sum(-1, keepdim=True)
    return torch.einsum("bhqk,bks->bqhs", weights, value).reshape(query.shape)


@right("heads")
def heads_in_float16(query, key, value, heads, visible):
    repeated = query.half(), key.half().repeat(1, 1, heads), value.half().repeat(1, 1, heads)
    q, k, v = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in repeated)
    found = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=visible[:, None])
    return found.transpose(1, 2).reshape(query.shape)


@right("layer")
def layer_in_cases(x, memory, attention, cross_attention, feed_forward, norms, norm_first):
    if norm_first:
        x = attention(norms[0](x)) + x
        x = cross_attention(norms[1](x), memory) + x
        return feed_forward(norms[2](x)) + x
    x = norms[0](attention(x) + x)
    x = norms[1](cross_attention(x, memory) + x)
    return norms[2](feed_forward(x) + x)


@right("layer")
def layer_with_empty_norms(x, memory, attention, cross_attention, feed_forward, norms, norm_first):
    def same(x):
        return x

    for i, norm in enumerate(norms):
        before, after = (norm, same) if norm_first else (same, norm)
        read = before(x)
        change = [attention, lambda it: cross_attention(it, memory), feed_forward][i](read)
        x = after(x + change)
    return x


@right("passes")
def passes_by_recursion(predict, draft, longest, end, target=()):
    if end in target or len(target) >= longest:
        return target
    guess = draft(target)[: longest - len(target)]
    predicted = predict(target + guess)
    agree = [g == p for g, p in zip(guess, predicted[len(target) :], strict=False)]
    accepted = [*agree, False].index(False)
    target = target + guess[:accepted] + (predicted[len(target) + accepted],)
    target = target[: target.index(end) + 1] if end in target else target
    return passes_by_recursion(predict, draft, longest, end, target[:longest])


@right("passes")
def passes_token_by_token(predict, draft, longest, end):
    """Appends one token at a time, and calls for a pass where the predictions do not reach."""
    target, source, predicted = [], (), []
    while len(target) < longest and end not in target:
        if len(target) >= len(predicted) or tuple(target) != source[: len(target)]:
            source = (*target, *draft(tuple(target)))
            predicted = predict(source)
        target.append(predicted[len(target)])
    return target


@right("passes")
def passes_in_numpy(predict, draft, longest, end):
    target = np.zeros(0, dtype=int)
    while len(target) < longest and not (target == end).any():
        guess = np.array(draft(tuple(target.tolist())), dtype=int)
        predicted = np.array(predict((*target, *guess)))[len(target) :]
        accepted = np.cumprod(guess == predicted[:-1]).sum()
        target = np.concatenate([target, predicted[: accepted + 1]])
        ends = np.flatnonzero(target == end)
        target = target[: ends[0] + 1] if len(ends) else target
    return torch.tensor(target[:longest], dtype=torch.float16)


@right("lengths")
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


@right("lengths")
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
