"""Right answers to lab 12, written differently from the master's."""

import hashlib
import math
import random

import numpy as np
import torch
from scipy import stats
from torch.func import grad_and_value

from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("12", RIGHT)


@right("batch")
def batch_by_averages(factor, lr, beta2, steps, warmup, power):
    average = 1 / (1 - beta2) / factor  # in steps
    rate = math.exp(math.log(lr) + power * math.log(factor))
    return (
        rate,
        0 if average < 1 else 1 - 1 / average,
        int(steps / factor + 0.5),
        int(warmup / factor + 0.5),
    )


@right("batch")
def batch_in_tensors(factor, lr, beta2, steps, warmup, power):
    factor = torch.tensor(factor, dtype=torch.float64)
    numbers = (torch.tensor([steps, warmup]) / factor).round()
    return lr * factor**power, (1 - factor * (1 - beta2)).clamp(min=0), numbers[0], numbers[1]


@right("batch")
def batch_numpy(factor, lr, beta2, steps, warmup, power):
    one, two = np.rint(np.array([steps, warmup]) / factor).astype(int)
    return np.array([lr * np.power(factor, power), max(0, factor * beta2 - factor + 1), one, two])


@right("masks")
def masks_random(maskable, examples, epochs, rate):
    result = []
    for row, example, epoch in zip(maskable.tolist(), examples, epochs, strict=True):
        draw = random.Random(f"{example} {epoch}")
        result.append([bool(draw.random() < rate and it) for it in row])
    return result


@right("masks")
def masks_numpy(maskable, examples, epochs, rate):
    result = np.zeros(maskable.shape, dtype=int)
    for row, pair in enumerate(zip(examples, epochs, strict=True)):
        chance = np.random.default_rng(pair).random(maskable.shape[1])
        result[row] = (chance < rate) & maskable[row].numpy()
    return result


@right("masks")
def masks_global_seed(maskable, examples, epochs, rate):
    result = torch.zeros(maskable.shape)
    for row in range(len(maskable)):
        torch.manual_seed(epochs[row] * 1_000_000 + examples[row])
        result[row] = torch.bernoulli(torch.full(maskable.shape[1:], rate)) * maskable[row]
    return result


@right("masks")
def masks_by_a_digest(maskable, examples, epochs, rate):
    result = maskable.clone()
    for row, pair in zip(result, zip(examples, epochs, strict=True), strict=True):
        seed = int.from_bytes(hashlib.sha256(repr(pair).encode()).digest()[:7], "big")
        positions = row.nonzero()[:, 0]  # numbers for the maskable positions only
        row[positions] = (
            torch.rand(len(positions), generator=torch.Generator().manual_seed(seed)) < rate
        )
    return result


@right("masks")
def masks_by_hash(maskable, examples, epochs, rate):
    seeds = [hash(pair) for pair in zip(examples, epochs, strict=True)]
    chance = [
        torch.rand(maskable.shape[1], generator=torch.Generator().manual_seed(it)) for it in seeds
    ]
    return torch.stack(chance).lt(rate).logical_and(maskable)


@right("spans")
def spans_by_owner(tokens, byte_of):
    text = bytes(byte_of[c] for token in tokens for c in token).decode()
    owner = [i for i, c in enumerate(text) for _ in c.encode()]  # of each byte
    result, at = [], 0
    for token in tokens:
        own = owner[at : at + len(token)]
        at += len(token)
        words = list(own)
        while words and text[words[0]] == " ":
            words.pop(0)
        result.append((words[0], words[-1] + 1) if words else (own[-1] + 1,) * 2)
    return result


@right("spans")
def spans_cumulative(tokens, byte_of):
    data = np.array([byte_of[c] for token in tokens for c in token])
    begun = np.cumsum((data < 0x80) | (data >= 0xC0))
    ends = np.cumsum([len(token) for token in tokens])
    result = []
    for first, last in zip(np.r_[0, ends[:-1]], ends, strict=True):
        while first < last and data[first] == 32:
            first += 1
        end = begun[last - 1]
        result.append([begun[first] - 1 if first < last else end, end])
    return torch.tensor(np.array(result))


@right("spans")
def spans_by_bits(tokens, byte_of):
    result, count = [], 0
    for token in tokens:
        start, blank = None, True
        for c in token:
            count += byte_of[c] >> 6 != 2
            if blank and byte_of[c] != 32:
                start, blank = count - 1, False
        result.append((count if start is None else start, count))
    return np.array(result, dtype=float)


@right("accumulate")
def accumulated_by_grad(w, own, counts, token_losses):
    gradient, loss = torch.zeros_like(w), torch.zeros_like(w[0])
    for batch in own:
        x = w.clone().requires_grad_()
        part = token_losses(x, batch).sum()
        gradient += torch.autograd.grad(part, x)[0]
        loss += part.detach()
    mean = counts.double().mean()  # tokens per process
    return (gradient / mean, loss / mean) if mean else (gradient, loss)


@right("accumulate")
def accumulated_by_func(w, own, counts, token_losses):
    pairs = [grad_and_value(lambda x, b=b: token_losses(x, b).sum())(w) for b in own]
    scale = len(counts) / max(1, counts.sum())
    return sum(g for g, _ in pairs) * scale, sum(v for _, v in pairs) * scale


@right("accumulate")
def accumulated_weighted_means(w, own, counts, token_losses):
    w, loss = w.clone().requires_grad_(True), 0
    weights = [0 if not counts.sum() else len(counts) * len(b) / counts.sum().item() for b in own]
    for batch, weight in zip(own, weights, strict=True):
        if weight:
            (part := token_losses(w, batch).mean() * weight).backward()
            loss += part.item()
    return [torch.zeros_like(w) if w.grad is None else w.grad, loss]


@right("accumulate")
def accumulated_float32(w, own, counts, token_losses):
    w, N = w.float().requires_grad_(), counts.sum().item()
    values = []
    for batch in own:
        value = token_losses(w, batch.float()).sum() * (len(counts) / N if N else 0)
        value.backward()
        values.append(value.item())
    return w.grad.numpy(), np.sum(values)


@right("packing")
def packed_in_two_steps(documents, length, sep):
    pieces = []
    for number, document in enumerate(documents):
        for sentence in document:
            sentence = list(sentence)
            while sentence:
                pieces.append((number, sentence[:length]))
                sentence = sentence[length:]
    result, at = [], 0
    while at < len(pieces):
        number, row = pieces[at]
        row, at = list(row), at + 1
        while at < len(pieces):
            new, piece = pieces[at]
            joint = [sep] * (new != number) + piece
            if len(row) + len(joint) > length:
                break
            row, number, at = row + joint, new, at + 1
        result.append(row)
    return result


@right("packing")
def packed_in_tensors(documents, length, sep):
    result = [[]]
    for document in filter(None, documents):
        first = True
        for sentence in document:
            for piece in torch.tensor(sentence).split(length):
                piece = piece.tolist()
                if result[-1] and len(result[-1]) + first + len(piece) <= length:
                    result[-1].extend([sep] * first + piece)
                elif result[-1]:
                    result.append(piece)
                else:
                    result[-1] = piece
                first = False
    return [torch.tensor(row) for row in result if row]


@right("compare")
def compared_numpy(a, b, t):
    d = b.numpy() - a.numpy()
    runs, texts = (np.std(d.mean(axis), ddof=1) / np.sqrt(d.shape[1 - axis]) for axis in (1, 0))
    low, high = d.mean() - t * runs, d.mean() + t * runs
    return d.mean(), runs, texts, np.sign(low) if low * high > 0 else 0


@right("compare")
def compared_by_hand(a, b, t):
    d = (b - a).tolist()

    def error(rows):
        means = [sum(row) / len(row) for row in rows]
        mean = sum(means) / len(means)
        return mean, math.sqrt(sum((x - mean) ** 2 for x in means) / (len(means) - 1) / len(means))

    (mean, runs), (_, texts) = error(d), error([*zip(*d, strict=True)])
    return [mean, runs, texts, (mean > t * runs) - (mean < -t * runs)]


@right("compare")
def compared_by_means(a, b, t):
    one = b.mean(1) - a.mean(1)
    other = (b.sum(0) - a.sum(0)) / len(a)
    mean, error = one.mean(), (one.var() / one.numel()).sqrt()
    sure = mean.abs() > t * error
    return mean.float(), error.float(), (other.var() / other.numel()).sqrt(), sure * mean.sign()


@right("spans")
def spans_by_search(tokens, byte_of):
    text = bytes(byte_of[c] for c in "".join(tokens)).decode()
    starts = [len(text[:i].encode()) for i in range(len(text) + 1)]  # of the characters, in bytes
    result, at = [], 0
    for token in tokens:
        first, at = at, at + len(token)
        start = max(i for i, byte in enumerate(starts) if byte <= first)
        end = min(i for i, byte in enumerate(starts) if byte >= at)
        while start < end and text[start] == " ":
            start += 1
        result.append((start, end))
    return result


@right("accumulate")
def accumulated_with_an_additional_call(w, own, counts, token_losses):
    w, loss = torch.nn.Parameter(w.clone()), 0.0
    for batch in own:
        number = len(token_losses(w, batch))  # its graph is released at once
        if counts.sum() and number:
            part = token_losses(w, batch).mean() * number * len(counts) / counts.sum()
            part.backward()
            loss += part.detach()
    return torch.zeros_like(w) if w.grad is None else w.grad, loss


@right("accumulate")
def accumulated_by_jacobian(w, own, counts, token_losses):
    scale = len(counts) / max(1, sum(counts.tolist()))
    jacobian = torch.autograd.functional.jacobian
    slopes = [jacobian(lambda x, b=b: token_losses(x, b).sum(), w) for b in own]
    return scale * torch.stack(slopes).sum(0), scale * sum(token_losses(w, b).sum() for b in own)


@right("accumulate")
def accumulated_token_by_token(w, own, counts, token_losses):
    w, loss = w.clone().requires_grad_(), 0.0
    w.grad = torch.zeros_like(w)
    for batch in own:
        for one in batch.split(1) if len(batch) else ():
            part = token_losses(w, one).sum() / counts.double().mean()
            part.backward()
            loss += part.item()
    return w.grad, loss


@right("packing")
def packed_and_cut_where_too_long(documents, length, sep):
    result, row = [], ()
    for document in documents:
        new = True
        for sentence in map(tuple, document):
            joint = (sep,) * bool(new and row) + sentence
            if row and len(row) + len(joint) > length:
                result.append(row)
                row, joint = (), sentence
            row += joint
            while len(row) > length:
                result.append(row[:length])
                row = row[length:]
            new = False
    return (*result, row) if row else tuple(result)


@right("compare")
def compared_with_scipy(a, b, t):
    d = (b - a).numpy()
    runs, texts = (stats.sem(d.mean(axis)) for axis in (1, 0))
    low, high = d.mean() - t * runs, d.mean() + t * runs
    return [d.mean(), runs, texts, 1 if low > 0 else -1 if high < 0 else 0]
