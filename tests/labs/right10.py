"""Right answers to lab 10, written differently from the master's."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from tests.labs.kit import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights(RIGHT)


@right("10.1")
def pairs_by_lengths(a, b, cls, sep, length):
    room, m, n = length - 3, len(a), len(b)
    if m + n > room:
        m = max(min(m, (room + 1) // 2), room - n)
        n = min(n, room - m)
    return [cls, *a[:m], sep, *b[:n], sep], [0] * (m + 2) + [1] * (n + 1)


@right("10.1")
def pairs_in_a_tensor(a, b, cls, sep, length):
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 > length:
        (a if len(a) > len(b) else b).pop()
    ids = torch.tensor([cls, *a, sep, *b, sep])
    return ids, (torch.arange(len(ids)) > len(a) + 1).long()


@right("10.2")
def words_by_a_set(selected, words):
    chosen = {
        word for word, is_chosen in zip(words.tolist(), selected.tolist(), strict=True) if is_chosen
    }
    return [word in chosen for word in words.tolist()]


@right("10.2")
def words_by_pairs(selected, words):
    return ((words[:, None] == words[None, :]) & selected[None, :]).any(dim=1)


@right("10.2")
def words_numpy(selected, words):
    return np.isin(words.numpy(), np.unique(words.numpy()[selected.numpy()])).astype(int)


@right("10.3")
def exactly_row_by_row(chance, maskable, rate):
    result = torch.zeros_like(maskable)
    for row in range(len(chance)):
        places = maskable[row].nonzero()[:, 0]
        if len(places):
            count = max(1, round(rate * len(places)))
            result[row, places[chance[row, places].argsort()[:count]]] = True
    return result


@right("10.3")
def exactly_by_a_threshold(chance, maskable, rate):
    result = []
    for numbers, places in zip(chance.tolist(), maskable.tolist(), strict=True):
        own = sorted(x for x, there in zip(numbers, places, strict=True) if there)
        limit = own[max(1, round(rate * len(own))) - 1] if own else -1
        result.append([there and x <= limit for x, there in zip(numbers, places, strict=True)])
    return result


@right("10.4")
def gradient_by_indices(logits, labels):
    rows, places = (labels >= 0).nonzero(as_tuple=True)
    result = torch.zeros_like(logits)
    if len(rows):
        p = F.softmax(logits[rows, places], dim=-1)
        p[torch.arange(len(rows)), labels[rows, places]] -= 1
        result[rows, places] = p / len(rows)
    return result


@right("10.4")
def gradient_place_by_place(logits, labels):
    result = torch.zeros_like(logits)
    asked = (labels != -100).nonzero().tolist()
    for b, t in asked:
        powers = (logits[b, t] - logits[b, t].max()).exp()
        result[b, t] = powers / powers.sum() / len(asked)
        result[b, t, labels[b, t]] -= 1 / len(asked)
    return result


@right("10.5")
def fill_recursively(answer, ids, mask_id):
    holes = [i for i, each in enumerate(ids.tolist()) if each == mask_id]
    if not holes:
        return ids
    p = answer(ids)
    place = max(holes, key=lambda i: p[i].max().item())
    filled = ids.clone()
    filled[place] = int(p[place].argmax())
    return fill_recursively(answer, filled, mask_id)


@right("10.5")
def fill_in_a_list(answer, ids, mask_id):
    ids = ids.tolist()
    while mask_id in ids:
        p = answer(torch.tensor(ids)).numpy()
        best = max(
            (p[i, w], i, w) for i in range(len(ids)) if ids[i] == mask_id for w in range(p.shape[1])
        )
        ids[best[1]] = best[2]
    return ids


@right("10.6")
def windows_by_sets(answer, tokens, place, target, widths):
    losses = []
    for width in widths:
        visible = set(range(place - width, place + width + 1)) - {place}
        hidden = [place, *(i for i in range(len(tokens)) if i not in visible and i != place)]
        losses.append(-math.log(answer(tokens, hidden)[0][target]))
    return losses


@right("10.6")
def windows_numpy(answer, tokens, place, target, widths):
    places = np.arange(len(tokens))
    found = []
    for width in widths:
        hidden = places[(places == place) | (np.abs(places - place) > width)]
        p = np.asarray(answer(tokens, hidden.tolist()))
        found.append(-np.log(p[np.flatnonzero(hidden == place)[0], target]))
    return np.array(found)
