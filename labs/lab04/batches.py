"""Packing, summaries, a tagger's loss, locked dropout."""

from collections.abc import Callable

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal
from lmcourse.labs.results import Result


def _padded(*lengths: int, time: int, width: int) -> Example:
    return normal(len(lengths), time, width, seed=(lengths, time)), torch.tensor(lengths)


class Layer:
    """Applied to each token by itself, as the input weights of an LSTM are; not 0 at 0."""

    def __init__(self, width: int, out: int) -> None:
        self.V, self.c = normal(width, out, seed=("V", width)), normal(out, seed=("c", width))

    def __call__(self, data: Tensor) -> Tensor:
        return (data @ self.V + self.c).tanh()


def apply_packed(
    layer: Callable[[Tensor], Tensor], x: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    real = torch.arange(x.shape[1])[:, None] < lengths
    batch_sizes = real.sum(1)[: int(lengths.max())]
    data = x.transpose(0, 1)[real]
    found = layer(data)
    output = found.new_zeros(*real.shape, found.shape[-1])
    output[real] = found
    return data, batch_sizes, output.transpose(0, 1)


PACK = Task(
    apply_packed,
    examples=[
        (Layer(2, 3), *_padded(5, 3, 1, time=6, width=2)),
        (Layer(3, 2), *_padded(4, 2, time=4, width=3)),
        (Layer(1, 2), *_padded(6, 4, 3, 3, time=8, width=1)),
    ],
    slips="""
The data is stored sentence by sentence. Packed data begins with the first tokens of all sentences.
    x.transpose(0, 1)[real] -> x[real.T]
    or
    x.transpose(0, 1)[real] -> x[real.T]
    output[real] = found -> output.transpose(0, 1)[real.T] = found
The outputs are put back in another order than that of the data.
    output[real] = found -> output.transpose(0, 1)[real.T] = found
Padding is in the data. Only real tokens are packed, `lengths.sum()` rows.
    data = x.transpose(0, 1)[real] -> data = x.transpose(0, 1).flatten(0, 1)
    output[real] = found -> output = found.view(*output.shape)
The second result is not the number of sentences that have a token at each step, with one entry for
each step of the longest sentence.
    real.sum(1)[: int(lengths.max())] -> real.sum(1) || lengths || real.sum(1).cumsum(0)
        || torch.full((int(lengths.max()),), len(x))
The outputs at padding are not 0.
    found.new_zeros( -> found.new_ones(
    or
    return data, batch_sizes, output.transpose(0, 1) -> return (data, batch_sizes,
        layer(x.flatten(0, 1)).view(*x.shape[:2], -1))
The output ends with the longest sentence. It has as many positions as `x`.
    output.transpose(0, 1) -> output.transpose(0, 1)[:, : int(lengths.max())]
The output has the axes time and batch exchanged. It is [batch, time, out], as `x` is.
    output.transpose(0, 1) -> output
The lengths are off by one. A sentence of n tokens has the positions 0 to n − 1.
    < lengths -> <= lengths || < lengths - 1
""",
    names=("The data", "The number of sentences at each step", "The output"),
    note="`pack_padded_sequence` and `pad_packed_sequence` do the first and the last step. A "
    "network that reads packed data never reads padding, in either direction.",
)


def summaries(h: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    half, rows = h.shape[-1] // 2, torch.arange(len(h))
    ends = torch.cat([h[rows, lengths - 1, :half], h[:, 0, half:]], -1)
    real = torch.arange(h.shape[1]) < lengths[:, None]
    mean = h.masked_fill(~real[..., None], 0).sum(1) / lengths[:, None]
    return ends, mean


SUMMARIES = Task(
    summaries,
    examples=[
        _padded(3, 5, 2, time=6, width=4),
        _padded(2, 4, time=4, width=6),
        _padded(4, 2, 7, 3, time=7, width=2),
    ],
    slips="""
Both halves of the first summary are from the last token. There the backward network has read one
token only.
    h[:, 0, half:] -> h[rows, lengths - 1, half:]
    or
    h[:, 0, half:] -> h[:, -1, half:]
    h[rows, lengths - 1, :half] -> h[:, -1, :half]
    or
    h[:, 0, half:] -> h[:, -1, half:]
    h[rows, lengths - 1, :half] -> h[:, -1, :half]
    h.masked_fill(~real[..., None], 0).sum(1) / lengths[:, None] -> h.mean(1)
The forward half is from the padded end of the row. Take the sentence's own last token.
    h[rows, lengths - 1, :half] -> h[:, -1, :half]
The forward half is from the wrong token. The last of n tokens is at position n − 1.
    lengths - 1, -> lengths, || lengths - 2, || lengths.max() - 1, ||
        lengths.clamp(max=h.shape[1] - 1),
    or
    h[rows, lengths - 1, :half] -> h[:, 0, :half]
The forward half is from another sentence. Row i has its last token at `lengths[i] - 1`.
    h[rows, lengths - 1, :half] -> h[0, lengths - 1, :half] || h[-1, lengths - 1, :half]
The directions are confused: the first half of each vector is the forward state. The forward network
has read everything at the last token, the backward network at the first.
    [h[rows, lengths - 1, :half], h[:, 0, half:]] -> [h[:, 0, half:], h[rows, lengths - 1, :half]]
        || [h[:, 0, :half], h[rows, lengths - 1, half:]]
        || [h[rows, lengths - 1, half:], h[:, 0, :half]]
The mean includes the padding. Only a sentence's own tokens count, in the sum and in the divisor.
    h.masked_fill(~real[..., None], 0).sum(1) / lengths[:, None] -> h.mean(1) ||
        h.sum(1) / lengths[:, None]
The sum of the real tokens is divided by the padded length, or by another sentence's length.
    / lengths[:, None] -> / h.shape[1] || / lengths.max() || / lengths.float().mean()
The second summary is not the mean of the real tokens, but their sum, their maximum, or the mean of
too many or too few.
    .sum(1) / lengths[:, None] -> .sum(1)
    or
    h.masked_fill(~real[..., None], 0).sum(1) / lengths[:, None] ->
        h.masked_fill(~real[..., None], -torch.inf).amax(1)
    or
    < lengths[:, None] -> <= lengths[:, None] || < lengths[:, None] - 1
The second summary is the mean of two outputs only, those at the first and at the last token.
    h.masked_fill(~real[..., None], 0).sum(1) / lengths[:, None] ->
        (h[:, 0] + h[rows, lengths - 1]) / 2
The two summaries are exchanged: return the ends first.
    return ends, mean -> return mean, ends
""",
    names=("The first summary", "The second summary"),
    note="PyTorch's `h_n` holds the first summary's halves, with one layer `h_n[0]` and `h_n[1]`; "
    "in a padded batch they are right only if it is packed.",
)


def tagging_loss(
    forward: Tensor, backward: Tensor, A: Tensor, b: Tensor, tags: Tensor
) -> tuple[Tensor, Tensor]:
    logits = torch.cat([forward, backward], -1) @ A.T + b
    log_p = logits.log_softmax(-1)
    real = tags != -100
    chosen = log_p.gather(-1, tags.clamp(min=0)[..., None])[..., 0]
    count = real.sum()
    loss = -(chosen * real).sum() / count
    right = (logits.argmax(-1) == tags) & real
    return loss, right.sum() / count


def _tagged(*lengths: int, time: int, width: int, labels: int) -> Example:
    batch, seed = len(lengths), (lengths, labels)
    forward, backward = 1.5 * normal(2, batch, time, width, seed=seed)
    A, b = normal(labels, 2 * width, seed=(seed, "V")), normal(labels, seed=(seed, "c"))
    logits = torch.cat([forward, backward], -1) @ A.T + b
    noisy = logits + 2.5 * normal(batch, time, labels, seed=(seed, "tags"))
    tags = noisy.argmax(-1)  # some are predicted right, some are not; tag 0 is a tag
    tags[0, 0] = 0
    padding = torch.arange(time) >= torch.tensor(lengths)[:, None]
    return forward, backward, A, b, tags.masked_fill(padding, -100)


TAGGER = Task(
    tagging_loss,
    examples=[
        _tagged(3, 5, 1, time=6, width=2, labels=4),
        _tagged(4, 2, time=4, width=3, labels=5),
        _tagged(7, 4, 2, 6, time=7, width=2, labels=3),
    ],
    slips="""
Loss or accuracy is divided by all positions, padding included. Divide by the number of real tokens.
    count = real.sum() -> count = real.numel()
    or
    (chosen * real).sum() / count -> (chosen * real).mean()
    or
    right.sum() / count -> right.float().mean()
Each sentence is averaged by itself. Every real token of the batch has the same weight.
    (chosen * real).sum() / count -> ((chosen * real).sum(1) / real.sum(1)).mean()
    or
    return loss, right.sum() / count -> return loss, (right.sum(1) / real.sum(1)).mean()
    or
    (chosen * real).sum() / count -> ((chosen * real).sum(1) / real.sum(1)).mean()
    return loss, right.sum() / count -> return loss, (right.sum(1) / real.sum(1)).mean()
Padding counts as a token with a tag. The tag −100 marks positions that are left out.
    (chosen * real).sum() / count -> chosen.mean() || chosen.sum() / count
    or
    real = tags != -100 -> real = torch.ones_like(tags, dtype=torch.bool) ||
        tags = tags.clamp(min=0); real = tags >= 0
Tag 0 is left out. Only −100 marks padding.
    tags != -100 -> tags > 0
The accuracy is a count, a percentage, or the share of wrong tags. Return the share of right ones.
    right.sum() / count -> right.sum() || 100 * right.sum() / count || 1 - right.sum() / count
The loss is a sum. Divide it by the number of real tokens.
    (chosen * real).sum() / count -> (chosen * real).sum()
The sign of the loss is wrong: log-probabilities are negative, and a loss is positive.
    loss = -( -> loss = (
The loss is computed from logits or probabilities. It is the mean of −log p of the right tags.
    logits.log_softmax(-1) -> logits || logits.softmax(-1) || logits.softmax(-1).log_softmax(-1)
    or
    loss = -(chosen * real).sum() / count -> loss = -((chosen.exp() * real).sum() / count).log()
The softmax is over the wrong axis. It is over the tags, the last axis of the logits.
    log_softmax(-1) -> log_softmax(1) || log_softmax(0)
    or
    log_softmax(-1) -> log_softmax(1) || log_softmax(0)
    logits.argmax(-1) -> log_p.argmax(-1)
The backward states come first, or one direction is used twice. The head reads [forward ; backward].
    [forward, backward] -> [backward, forward] || [forward, forward] || [backward, backward]
The bias `b` is missing or subtracted.
    @ A.T + b -> @ A.T || @ A.T - b
The two results are exchanged: return the loss first.
    return loss, right.sum() / count -> return right.sum() / count, loss
""",
    names=("The loss", "The accuracy"),
    note="`cross_entropy` does this with `ignore_index=-100`. A mean of the batches' losses is the "
    "mean over tokens only if all batches have the same number of real tokens.",
)


def locked_dropout(x: Tensor, p: float, uniform: Tensor, training: bool) -> Tensor:
    mask = (uniform >= p).to(x.dtype) / (1 - p)
    return x * mask[:, None] if training else x


def _noise(batch: int, time: int, width: int, p: float, training: bool) -> Example:
    x = normal(batch, time, width, seed=(batch, time))
    uniform = torch.special.ndtr(normal(batch, width, seed=(width, p)))
    return x, p, uniform, training


def _dropped(arguments: Example, value: Result, wanted: Result) -> str:
    if not value.parts[0].isfinite().all():
        return "Entries that are dropped become 0."
    if torch.equal(value.parts[0] == 0, wanted.parts[0] == 0):
        return ""
    return (
        "Other entries are dropped than those where `uniform` is below p. Draw no random numbers "
        "of your own; row i of `uniform` is for all steps of sequence i."
    )


LOCKED = Task(
    locked_dropout,
    examples=[
        _noise(2, 5, 7, 0.3, True),
        _noise(3, 3, 6, 0.6, True),
        _noise(2, 4, 5, 0.3, False),
    ],
    edge_cases={
        "for p = 0": _noise(2, 3, 4, 0.0, True),
        "where `uniform` equals p": (normal(1, 3, 2, seed="p"), 0.5, torch.full((1, 2), 0.5), True),
    },
    slips="""
In evaluation something is changed. There dropout returns `x` itself: training has already divided
by 1 − p.
    if training else x -> * 1
    or
    else x -> else x * (1 - p) || else x / (1 - p)
Training and evaluation are exchanged, or nothing is dropped in training.
    if training else -> if not training else || if False else
The entries that remain are not scaled. Divide them by 1 − p, so that the mean stays the same.
    / (1 - p) -> / 1
This is dropout in its original form, which scales in evaluation. Scale in training instead: divide
what remains by 1 − p, and return `x` in evaluation.
    / (1 - p) -> / 1
    else x -> else x * (1 - p)
The scale is wrong. The entries that remain are divided by 1 − p.
    / (1 - p) -> / p || * (1 - p) || * p || / (1 - p) ** 2
    or
    / (1 - p) -> / (uniform >= p).double().mean()
Kept and dropped entries are exchanged: an entry is dropped with probability p, where `uniform` is
below p.
    (uniform >= p) -> (uniform < p) || (uniform >= 1 - p) || (uniform < 1 - p)
All sequences get one mask. Each has its own: row i of `uniform` is for sequence i.
    mask[:, None] -> mask[:1, None] || mask[-1:, None]
The mask does not fit: it has one row for each *sequence*, and is the same at all time steps. Insert
the axis of time between the two axes of the mask.
    mask[:, None] -> mask || mask[None]
""",
    cause=_dropped,
    note="In variational dropout this mask multiplies h at every step of the recurrence. As here, "
    "on the inputs or outputs of a layer, it also works with PyTorch's fast kernels.",
)
