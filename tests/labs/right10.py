"""Right answers to lab 10, written differently from the master's."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("10", RIGHT)


@right("pairs")
def pairs_by_lengths(a, b, cls, sep, length):
    room, m, n = length - 3, len(a), len(b)
    if m + n > room:
        m = max(min(m, (room + 1) // 2), room - n)
        n = min(n, room - m)
    return [cls, *a[:m], sep, *b[:n], sep], [0] * (m + 2) + [1] * (n + 1)


@right("pairs")
def pairs_in_a_tensor(a, b, cls, sep, length):
    a, b = list(a), list(b)
    while len(a) + len(b) + 3 > length:
        (a if len(a) > len(b) else b).pop()
    ids = torch.tensor([cls, *a, sep, *b, sep])
    return ids, (torch.arange(len(ids)) > len(a) + 1).long()


@right("words")
def words_by_a_set(selected, words):
    chosen = {
        word for word, is_chosen in zip(words.tolist(), selected.tolist(), strict=True) if is_chosen
    }
    return [word in chosen for word in words.tolist()]


@right("words")
def words_by_pairs(selected, words):
    return ((words[:, None] == words[None, :]) & selected[None, :]).any(dim=1)


@right("words")
def words_numpy(selected, words):
    return np.isin(words.numpy(), np.unique(words.numpy()[selected.numpy()])).astype(int)


@right("exactly")
def exactly_row_by_row(chance, maskable, rate):
    result = torch.zeros_like(maskable)
    for row in range(len(chance)):
        positions = maskable[row].nonzero()[:, 0]
        if len(positions):
            count = max(1, round(rate * len(positions)))
            result[row, positions[chance[row, positions].argsort()[:count]]] = True
    return result


@right("exactly")
def exactly_by_a_threshold(chance, maskable, rate):
    result = []
    for numbers, positions in zip(chance.tolist(), maskable.tolist(), strict=True):
        own = sorted(x for x, there in zip(numbers, positions, strict=True) if there)
        limit = own[max(1, round(rate * len(own))) - 1] if own else -1
        result.append([there and x <= limit for x, there in zip(numbers, positions, strict=True)])
    return result


@right("gradient")
def gradient_by_indices(logits, labels):
    rows, positions = (labels >= 0).nonzero(as_tuple=True)
    result = torch.zeros_like(logits)
    if len(rows):
        p = F.softmax(logits[rows, positions], dim=-1)
        p[torch.arange(len(rows)), labels[rows, positions]] -= 1
        result[rows, positions] = p / len(rows)
    return result


@right("gradient")
def gradient_by_position(logits, labels):
    result = torch.zeros_like(logits)
    selected = (labels != -100).nonzero().tolist()
    for b, t in selected:
        powers = (logits[b, t] - logits[b, t].max()).exp()
        result[b, t] = powers / powers.sum() / len(selected)
        result[b, t, labels[b, t]] -= 1 / len(selected)
    return result


@right("fill")
def fill_recursively(predict, ids, mask_id):
    masked = [i for i, each in enumerate(ids.tolist()) if each == mask_id]
    if not masked:
        return ids
    p = predict(ids)
    position = max(masked, key=lambda i: p[i].max().item())
    filled = ids.clone()
    filled[position] = int(p[position].argmax())
    return fill_recursively(predict, filled, mask_id)


@right("fill")
def fill_in_a_list(predict, ids, mask_id):
    ids = ids.tolist()
    while mask_id in ids:
        p = predict(torch.tensor(ids)).numpy()
        best = max(
            (p[i, w], i, w) for i in range(len(ids)) if ids[i] == mask_id for w in range(p.shape[1])
        )
        ids[best[1]] = best[2]
    return ids


@right("fill")
def fill_with_an_additional_call(predict, ids, mask_id):
    ids = ids.clone()
    while True:
        largest, word = predict(ids).max(-1)
        masked = (ids == mask_id).nonzero()[:, 0]
        if not len(masked):
            return ids
        position = masked[largest[masked].argmax()]
        ids[position] = word[position]


@right("windows")
def windows_by_sets(predict, tokens, position, target, widths):
    losses = []
    for width in widths:
        visible = set(range(position - width, position + width + 1)) - {position}
        hidden = [position, *(i for i in range(len(tokens)) if i not in visible and i != position)]
        losses.append(-math.log(predict(tokens, hidden)[0][target]))
    return losses


@right("windows")
def windows_numpy(predict, tokens, position, target, widths):
    everywhere = np.arange(len(tokens))
    found = []
    for width in widths:
        hidden = everywhere[(everywhere == position) | (np.abs(everywhere - position) > width)]
        p = np.asarray(predict(tokens, hidden.tolist()))
        found.append(-np.log(p[np.flatnonzero(hidden == position)[0], target]))
    return np.array(found)
