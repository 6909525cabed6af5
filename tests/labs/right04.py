"""Right answers to lab 04, written differently from the master's."""

import numpy as np
import torch
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights(RIGHT)


@right("04.1")
def reverse_by_index(x, lengths):
    time = torch.arange(x.shape[1])
    source = torch.where(time < lengths[:, None], lengths[:, None] - 1 - time, time)
    return x.gather(1, source[..., None].expand_as(x))


@right("04.1")
def reverse_numpy(x, lengths):
    rows = []
    for row, n in zip(x.numpy(), lengths.numpy(), strict=True):
        rows.append(np.concatenate([row[:n][::-1], row[n:]]))
    return np.stack(rows)


@right("04.1")
def reverse_lists(x, lengths):
    rows = zip(x.tolist(), lengths.tolist(), strict=True)
    return [[*reversed(row[:n]), *row[n:]] for row, n in rows]


@right("04.2")
def summaries_loop(h, lengths):
    ends, means = [], []
    for row, n in zip(h, lengths, strict=True):
        forward, backward = row[:n].chunk(2, -1)
        ends.append(torch.cat([forward[-1], backward[0]]))
        means.append(row[:n].mean(0))
    return torch.stack(ends), torch.stack(means)


@right("04.2")
def summaries_numpy(h, lengths):
    h, lengths = h.numpy().astype(np.float32), lengths.tolist()
    half = h.shape[-1] // 2
    ends = [np.r_[row[n - 1][:half], row[0][half:]] for row, n in zip(h, lengths, strict=True)]
    return ends, [row[:n].mean(0) for row, n in zip(h, lengths, strict=True)]


@right("04.3")
def tagger_cross_entropy(forward, backward, V, c, tags):
    logits = functional.linear(torch.cat((forward, backward), 2), V, c)
    real = tags.ne(-100)
    loss = functional.cross_entropy(logits.transpose(1, 2), tags)
    return loss, logits.argmax(2)[real].eq(tags[real]).double().mean()


@right("04.3")
def tagger_halves(forward, backward, V, c, tags):
    width = forward.shape[-1]
    real = tags >= 0
    z = forward[real] @ V[:, :width].T + backward[real] @ V[:, width:].T + c
    p = z.softmax(1)[range(len(z)), tags[real]]
    return -p.log().mean().item(), float((z.max(1).indices == tags[real]).float().mean())


@right("04.3")
def tagger_loop(forward, backward, V, c, tags):
    losses, hits = [], []
    for b, t in (tags != -100).nonzero().tolist():
        z = V @ torch.cat([forward[b, t], backward[b, t]]) + c
        losses.append(z.logsumexp(0) - z[tags[b, t]])
        hits.append(int(z.argmax() == tags[b, t]))
    return sum(losses) / len(losses), sum(hits) / len(hits)


@right("04.4")
def locked_where(x, p, uniform, training):
    if not training:
        return x
    return torch.where((uniform < p).unsqueeze(1), 0.0, x / (1 - p))


@right("04.4")
def locked_by_step(x, p, uniform, training):
    if training:
        kept = (uniform >= p).double()
        return torch.stack([step * kept / (1 - p) for step in x.unbind(1)], 1)
    return x.clone()


@right("04.4")
def locked_numpy(x, p, uniform, training):
    factor = np.where(uniform.numpy() < p, 0, 1 / (1 - p)) if training else np.ones(uniform.shape)
    return x.numpy() * factor[:, None, :]


@right("04.5")
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


@right("04.5")
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


@right("04.6")
def future_generator(posterior, words, position, threshold):
    enough = (
        end - position - 1
        for end in range(position + 1, len(words) + 1)
        if sorted(posterior(words[:end], position).values())[-1] >= threshold
    )
    return next(enough, -1)


@right("04.6")
def future_from_the_end(posterior, words, position, threshold):
    answer = -1
    for ahead in reversed(range(len(words) - position)):
        if not any(
            p >= threshold for p in posterior(words[: position + ahead + 1], position).values()
        ):
            break
        answer = ahead
    return answer


@right("04.1")
def reverse_pad_sequence(x, lengths):
    parts = [torch.cat([row[:n].flip(0), row[n:]]) for row, n in zip(x, lengths, strict=True)]
    return pad_sequence(parts, batch_first=True)
