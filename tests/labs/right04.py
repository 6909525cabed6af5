"""Right answers to lab 04, written differently from the master's."""

import numpy as np
import torch
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("04", RIGHT)


@right("pack")
def pack_torch(layer, x, lengths):
    packed = pack_padded_sequence(x, lengths, batch_first=True)
    applied = packed._replace(data=layer(packed.data))
    output, _ = pad_packed_sequence(applied, batch_first=True, total_length=x.shape[1])
    return packed.data, packed.batch_sizes, output


@right("pack")
def pack_by_step(layer, x, lengths):
    sizes = [int((lengths > t).sum()) for t in range(int(lengths[0]))]
    data = torch.cat([x[:n, t] for t, n in enumerate(sizes)])
    output = None
    for t, (n, rows) in enumerate(zip(sizes, layer(data).split(sizes), strict=True)):
        output = x.new_zeros(*x.shape[:2], rows.shape[1]) if output is None else output
        output[:n, t] = rows
    return data, sizes, output


@right("pack")
def pack_lists(layer, x, lengths):
    spots = [(t, b) for t in range(x.shape[1]) for b in range(len(x)) if t < lengths[b]]
    data = torch.stack([x[b, t] for t, b in spots])
    found = layer(data).tolist()
    output = [[[0.0] * len(found[0]) for _ in range(x.shape[1])] for _ in x]
    for (t, b), row in zip(spots, found, strict=True):
        output[b][t] = row
    steps = [t for t, _ in spots]
    return data.numpy(), [steps.count(t) for t in range(max(steps) + 1)], output


@right("summaries")
def summaries_loop(h, lengths):
    ends, means = [], []
    for row, n in zip(h, lengths, strict=True):
        forward, backward = row[:n].chunk(2, -1)
        ends.append(torch.cat([forward[-1], backward[0]]))
        means.append(row[:n].mean(0))
    return torch.stack(ends), torch.stack(means)


@right("summaries")
def summaries_numpy(h, lengths):
    h, lengths = h.numpy().astype(np.float32), lengths.tolist()
    half = h.shape[-1] // 2
    ends = [np.r_[row[n - 1][:half], row[0][half:]] for row, n in zip(h, lengths, strict=True)]
    return ends, [row[:n].mean(0) for row, n in zip(h, lengths, strict=True)]


@right("tagger")
def tagger_cross_entropy(forward, backward, V, c, tags):
    logits = functional.linear(torch.cat((forward, backward), 2), V, c)
    real = tags.ne(-100)
    loss = functional.cross_entropy(logits.transpose(1, 2), tags)
    return loss, logits.argmax(2)[real].eq(tags[real]).double().mean()


@right("tagger")
def tagger_halves(forward, backward, V, c, tags):
    width = forward.shape[-1]
    real = tags >= 0
    z = forward[real] @ V[:, :width].T + backward[real] @ V[:, width:].T + c
    p = z.softmax(1)[range(len(z)), tags[real]]
    return -p.log().mean().item(), float((z.max(1).indices == tags[real]).float().mean())


@right("tagger")
def tagger_loop(forward, backward, V, c, tags):
    losses, hits = [], []
    for b, t in (tags != -100).nonzero().tolist():
        z = V @ torch.cat([forward[b, t], backward[b, t]]) + c
        losses.append(z.logsumexp(0) - z[tags[b, t]])
        hits.append(int(z.argmax() == tags[b, t]))
    return sum(losses) / len(losses), sum(hits) / len(hits)


@right("dropout")
def locked_where(x, p, uniform, training):
    if not training:
        return x
    return torch.where((uniform < p).unsqueeze(1), 0.0, x / (1 - p))


@right("dropout")
def locked_by_step(x, p, uniform, training):
    if training:
        kept = (uniform >= p).double()
        return torch.stack([step * kept / (1 - p) for step in x.unbind(1)], 1)
    return x.clone()


@right("dropout")
def locked_numpy(x, p, uniform, training):
    factor = np.where(uniform.numpy() < p, 0, 1 / (1 - p)) if training else np.ones(uniform.shape)
    return x.numpy() * factor[:, None, :]


@right("leak")
def leak_one_batch(model, ids, vocab_size):
    batch, time = ids.shape
    table = np.zeros((time, time), dtype=bool)
    for j in range(time):
        for row in range(batch):
            for token in range(vocab_size):
                other = ids.clone()
                other[row, j] = token
                changed = (model(other) - model(ids)).abs().amax((0, 2)) > 0
                table[:, j] |= changed.numpy()
    return table


@right("leak")
def leak_lists(model, ids, vocab_size):
    before, time = model(ids), ids.shape[1]
    columns = []
    for j in range(time):
        onehot = torch.arange(time) == j
        outputs = [model(torch.where(onehot, token, ids)) for token in range(vocab_size)]
        columns.append(
            [any(not out[:, t].equal(before[:, t]) for out in outputs) for t in range(time)]
        )
    return [[int(columns[j][t]) for j in range(time)] for t in range(time)]


@right("future")
def future_generator(posterior, words, position, threshold):
    enough = (
        end - position - 1
        for end in range(position + 1, len(words) + 1)
        if sorted(posterior(words[:end], position).values())[-1] >= threshold
    )
    return next(enough, -1)


@right("future")
def future_lists(posterior, words, position, threshold):
    best = [
        max(posterior(words[:end], position).items(), key=lambda item: item[1])[1]
        for end in range(position + 1, len(words) + 1)
    ]
    sure = [p >= threshold for p in best]
    return sure.index(True) if True in sure else -1
