"""The lengths of masked spans, their boundaries, and what is predicted from these."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from lmcourse.labs.kit import Example, Task, normal, one_value
from lmcourse.labs.results import Result, read, shown
from lmcourse.labs.verdict import Wrong


def span_lengths(p: float, longest: int) -> tuple[Tensor, Tensor, Tensor]:
    lengths = torch.arange(1, longest + 1, dtype=torch.float64)
    shares = p * (1 - p) ** (lengths - 1)
    P = shares / shares.sum()
    mean = (lengths * P).sum()
    of_token = (lengths**2 * P).sum() / mean
    return P, mean, of_token


def _length(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip for one value; else what differs, with the arguments."""
    found = one_value(LENGTHS, arguments, value, wanted)
    if found:
        return found
    p, longest = arguments
    ours, right = value.parts[0], wanted.parts[0]
    start = f"For p = {p} and longest = {longest}"
    if not torch.allclose(ours, right, rtol=1e-4):
        return (
            f"{start}, your probabilities are {shown(ours)}, with the sum {ours.sum():.4g}; "
            f"expected: {shown(right)}."
        )
    pairs = zip(LENGTHS.names[1:], value.parts[1:], wanted.parts[1:], strict=True)
    for name, one, other in pairs:
        if one.shape == other.shape and not torch.isclose(one, other, rtol=1e-4):
            return f"{start}, {name[0].lower()}{name[1:]} is {one:.4g}; expected: {other:.4g}."
    return ""


LENGTHS: Task = Task(
    span_lengths,
    examples=[(0.2, 10), (0.35, 6), (0.6, 4), (0.1, 7)],
    edge_cases={
        "if p is 1": (1.0, 5),
        "if the longest span has one word": (0.3, 1),
    },
    slips="""
The probabilities do not sum to 1: lengths above `longest` are never used, so divide by the sum of
the others.
    P = shares / shares.sum() -> P = shares
Longer lengths are set to `longest`, which makes it more probable. SpanBERT's mean would be 4.5.
    P = shares / shares.sum() -> P = shares; P[-1] += 1 - shares.sum()
    or
    P = shares / shares.sum() -> P = shares; P[-1] = 1 - shares[:-1].sum()
The tail is added in equal parts. All probabilities are divided by their sum.
    P = shares / shares.sum() -> P = shares + (1 - shares.sum()) / longest
The first length is 0. A span has at least one word.
    mean = (lengths * P).sum() -> lengths = lengths - 1; mean = (lengths * P).sum()
    or
    mean = (lengths * P).sum() -> mean = ((lengths - 1) * P).sum()
p and 1 − p are exchanged: a span ends after each word with the probability p.
    p * (1 - p) ** (lengths - 1) -> (1 - p) * p ** (lengths - 1)
This is another distribution. Each further word multiplies the probability by 1 − p, so the shortest
spans are the most probable ones.
    p * (1 - p) ** (lengths - 1) -> torch.ones(longest).double() || 1 / lengths ||
        torch.exp(-p * lengths) || p / lengths || (1 - p) / lengths ||
        torch.softmax(-lengths, 0) || lengths * p * (1 - p) ** (lengths - 1) || 1 - p * lengths
    or
    P = shares / shares.sum() -> P = (shares / shares.sum()).flip(0)
There is a length too many or too few: the lengths are 1 to `longest`, both included.
    torch.arange(1, longest + 1, -> torch.arange(1, longest + 2, || torch.arange(1, longest + (
        longest == 1),
This is 1/p, the mean of a geometric distribution without an end, or of other lengths.
    mean = (lengths * P).sum() -> mean = torch.tensor(1 / p)
    or
    mean = (lengths * P).sum() -> mean = torch.tensor(min(1 / p, longest))
    or
    mean = (lengths * P).sum() -> mean = lengths.mean()
    or
    mean = (lengths * P).sum() -> mean = (lengths * P).mean()
    or
    mean = (lengths * P).sum() -> mean = (lengths * shares).sum()
    or
    mean = (lengths * P).sum() -> mean = (1 - (1 - torch.tensor(p).double())**longest) / p
    or
    mean = (lengths * P).sum() -> mean = (lengths * P).sum().round()
This is the mean over spans again. A span of ℓ words has ℓ masked words, so a random masked word is
in it ℓ times as often as in a span of one.
    (lengths**2 * P).sum() / mean -> mean
    or
    (lengths**2 * P).sum() / mean -> mean + 0 * P.sum() || mean * mean / mean
The weights of the last value are not normalized, or are others: a length ℓ has the weight ℓ P(ℓ),
divided by the sum of these.
    (lengths**2 * P).sum() / mean -> (lengths**2 * P).sum() || (lengths**2 * P).sum().sqrt() ||
        mean**2 || (lengths**2 * P).sum() / longest || (lengths**2).sum() / lengths.sum() ||
        (lengths**3 * P).sum() / (lengths**2 * P).sum() || (lengths**2 * P).sum() / mean**2 ||
        (lengths**2 * P).sum() - mean**2 || (lengths * P**2).sum() / (P**2).sum() ||
        ((lengths**2 * P).sum() - mean**2) / mean
This is the mean position in a span. Return the mean length of the span that contains the word.
    (lengths**2 * P).sum() / mean -> (mean + 1) / 2 || (mean - 1) / 2 ||
        ((lengths**2 * P).sum() / mean + 1) / 2 || ((lengths**2 * P).sum() / mean - 1) / 2
This is the number of the *other* words in the span, or half of the span.
    (lengths**2 * P).sum() / mean -> (lengths**2 * P).sum() / mean - 1 || mean - 1 ||
        (lengths**2 * P).sum() / mean / 2 || mean / 2
""",
    names=("The probabilities", "The mean", "The mean span of a masked word"),
    cause=_length,
    note="SpanBERT's spans have 3.8 words on average, not 1/p = 5. A masked word is in a span of "
    "5.5 words on average.",
)


def span_boundaries(masked: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    time = masked.shape[1]
    position = torch.arange(time).expand_as(masked)
    left = position.masked_fill(masked, -1).cummax(1).values
    right = position.masked_fill(masked, time).flip(1).cummin(1).values.flip(1)
    return left, right, position - left - 1


def _mask(*rows: str) -> Example:
    """A mask from rows of x (masked) and dots."""
    return (torch.tensor([[letter == "x" for letter in row] for row in rows]),)


def _at_masked(returned: Any, masked: Tensor) -> tuple[Tensor, ...]:
    """The three values at the masked positions."""
    if torch.is_tensor(returned) and returned.ndim == 3:
        returned = tuple(returned)
    if not isinstance(returned, (list, tuple)) or len(returned) != 3:
        raise Wrong("Return three values: the positions on the left and on the right, and i − s.")
    parts = [read(each, masked.long()).parts[0] for each in returned]
    for name, part in zip(("left", "right", "i − s"), parts, strict=True):
        if part.shape != masked.shape:
            raise Wrong(
                f"The tensor of {name} has the shape {list(part.shape)}; that of `masked` is "
                f"{list(masked.shape)}.",
                "shape",
            )
    left, right, index = (part[masked] for part in parts)
    return left, right, index


def _boundary(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip for one value; else the first position that differs, in its row."""
    found = one_value(BOUNDARIES, arguments, value, wanted)
    if found:
        return found
    (masked,) = arguments
    differs = torch.stack([a != b for a, b in zip(value.parts, wanted.parts, strict=True)]).any(0)
    if not bool(differs.any()):
        return ""
    at = int(differs.nonzero()[0])
    row, i = masked.nonzero()[at].tolist()
    text = "".join(".x"[int(each)] for each in masked[row])
    ours, right = (shown(torch.stack([*each.parts])[:, at]) for each in (value, wanted))
    return (
        f"For the row {text} (x: masked), the values (left, right, i − s) at position {i} are "
        f"{ours}; expected: {right}."
    )


BOUNDARIES: Task = Task(
    span_boundaries,
    examples=[
        _mask("..xxx..x.xx.", ".x.xxxx.xx.."),
        _mask(".xx.x.", "..xxx.", ".xxxx."),
        _mask("..xxxxx...xxx.x.", ".x.x..xxxx.xxx..", "...xx.xx....xxx.", ".xxxxx..x.x..xx."),
    ],
    edge_cases={
        "if a span begins or ends the row. Rows are separate texts": _mask(
            "xx..x.xxx", "x.xxx..xx", "....xx..x"
        ),
        "if all positions of a row are masked": _mask("xxxx", "..x."),
    },
    slips="""
These are the first and the last position *of* the span. The boundaries are outside of it.
    return left, right, position - left - 1 -> return left + 1, right - 1, position - left - 1
    or
    return left, right, position - left - 1 -> return left + 1, right - 1, position - left
    or
    return left, right, -> return left + 1, right,
    or
    return left, right, -> return left, right - 1,
Left and right are exchanged.
    return left, right, -> return right, left,
i − s is counted from 1. It is 0 at the first position of a span.
    position - left - 1 -> position - left
i − s is counted from the other end, from the start of the row, or from the boundary.
    position - left - 1 -> right - position - 1 || right - position || position || position - 1 ||
        left - position || right - left - 1 || right - left - 2 || position - right + 1
i − s numbers the masked positions of the row. It begins with 0 in each span.
    position - left - 1 -> masked.long().cumsum(1) - 1 || masked.long().cumsum(1)
These are the neighbors of each position, which may be masked. Go on to the nearest visible one.
    return left, right, position - left - 1 -> return position - 1, position + 1, position - left -
        1
    or
    return left, right, position - left - 1 -> return position - 1, position + 1, 0 * position
    or
    return left, right, -> return position - 1, right,
    or
    return left, right, -> return left, position + 1,
These are distances. Return the positions.
    return left, right, -> return position - left, right - position,
The boundary is any visible position, not the nearest one of this span: the search goes in the wrong
direction, or all spans of a row have the same one.
    cummin(1).values.flip(1) -> cummax(1).values.flip(1)
    or
    .cummax(1).values -> .amax(1, keepdim=True).expand_as(masked)
    or
    .flip(1).cummin(1).values.flip(1) -> .amin(1, keepdim=True).expand_as(masked)
    or
    position.masked_fill(masked, -1).cummax(1).values -> (masked.int().argmax(1, keepdim=True) -
        1).expand_as(masked)
    or
    .flip(1).cummin(1).values.flip(1) -> .cummin(1).values
    or
    return left, right, position - left - 1 -> start = masked.int().argmax(1, keepdim=True);
        end = time - masked.flip(1).int().argmax(1, keepdim=True); return (start -
        1).expand_as(masked), end.expand_as(masked), position - start
The mask is inverted: True is a masked position.
    time = masked.shape[1] -> time = masked.shape[1]; masked = ~masked
The rows are one text: a boundary is in another row. Each row is a text of its own.
    position = torch.arange(time).expand_as(masked) -> position = torch.arange(masked.numel()).view(
        masked.shape)
    or
    masked_fill(masked, -1).cummax(1).values -> masked_fill(masked, -1).flatten().cummax(0).values
        .view_as(masked)
    or
    masked_fill(masked, -1).cummax(1).values -> masked_fill(masked, -1).cummax(0).values
    or
    left = position.masked_fill(masked, -1).cummax(1).values -> flat = torch.arange(
        masked.numel()); start = time * torch.arange(len(masked))[:, None]; left =
        flat.masked_fill(masked.flatten(), -1).cummax(0).values.view_as(masked) - start
    right = position.masked_fill(masked, time).flip(1).cummin(1).values.flip(1) -> right =
        flat.masked_fill(masked.flatten(), len(flat)).flip(0).cummin(0).values.flip(0).view_as(
        masked) - start
    or
    left = position.masked_fill(masked, -1).cummax(1).values -> flat = torch.arange(
        masked.numel()); left = flat.masked_fill(masked.flatten(), -1).cummax(0).values.view_as(
        masked) % time
    right = position.masked_fill(masked, time).flip(1).cummin(1).values.flip(1) -> right =
        flat.masked_fill(masked.flatten(), len(flat)).flip(0).cummin(0).values.flip(0).view_as(
        masked) % time
    or
    def span_boundaries(masked):
        left, right = (torch.zeros(masked.shape, dtype=torch.long) for _ in range(2))
        rows, time = masked.shape
        last, following = -1, time
        for row in range(rows):
            for t in range(time):
                last = last if masked[row, t] else t
                left[row, t] = last
        for row in reversed(range(rows)):
            for t in reversed(range(time)):
                following = following if masked[row, t] else t
                right[row, t] = following
        return left, right, torch.arange(time) - left - 1
Without a visible position on a side, the boundary is −1 or the number of positions of the row.
    position.masked_fill(masked, -1) -> position.masked_fill(masked, 0)
    or
    position.masked_fill(masked, time) -> position.masked_fill(masked, time - 1)
    or
    return left, right, position - left - 1 -> return left.clamp(min=0), right.clamp(max=time - 1),
        position - left - 1
    or
    return left, right, -> return left % time, right % time,
    or
    return left, right, -> return left, right.masked_fill(right == time, -1),
    or
    return left, right, -> return left, right.masked_fill(right == time, 0),
    or
    return left, right, -> return left % time, right,
    or
    return left, right, -> return left, right.clamp(max=time - 1),
    or
    return left, right, -> return left.clamp(min=0), right,
A span has one boundary more than it should: one side is a position too far.
    return left, right, -> return left - 1, right + 1,
    or
    return left, right, -> return left - 1, right,
    or
    return left, right, -> return left, right + 1,
""",
    result=_at_masked,
    names=("Left", "Right", "i − s"),
    cause=_boundary,
    note="Two drawn spans that touch are one span here: nothing in a mask says where one of them "
    "ends.",
)


def boundary_objective(
    states: Tensor,
    labels: Tensor,
    left: Tensor,
    right: Tensor,
    u: Tensor,
    W1: Tensor,
    W2: Tensor,
    E: Tensor,
    c: Tensor,
) -> tuple[Tensor, Tensor]:
    row, i = (labels != -100).nonzero(as_tuple=True)
    known = i - left[row, i] - 1 < len(u)
    row, i = row[known], i[known]
    lo, hi = left[row, i], right[row, i]
    step = i - lo - 1
    h = torch.cat([states[row, lo], states[row, hi], u[step]], -1)
    h = F.layer_norm(F.gelu(h @ W1.T), W1.shape[:1])
    y = F.layer_norm(F.gelu(h @ W2.T), W2.shape[:1])
    logits = y @ E.T + c
    return logits, F.cross_entropy(logits, labels[row, i])


def _head(seed: int, longest: int, vocab: int, width: int, size: int, *rows: str) -> Example:
    (masked,) = _mask(*rows)
    left, right, _ = span_boundaries(masked)
    draw = torch.special.ndtr(normal(*masked.shape, seed=(seed, "ids")))
    ids = (vocab * draw).long().clamp(max=vocab - 1)
    return (
        normal(*masked.shape, width, seed=(seed, "states")),
        ids.masked_fill(~masked, -100),
        left,
        right,
        normal(longest, size, seed=(seed, "u")),
        normal(width, 2 * width + size, seed=(seed, "W1")) / width**0.5,
        normal(width, width, seed=(seed, "W2")) / width**0.5,
        normal(vocab, width, seed=(seed, "E")) / 2,
        normal(vocab, seed=(seed, "c")),
    )


def _logits(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip for one value; else which rows of the logits differ."""
    found = one_value(OBJECTIVE, arguments, value, wanted)
    ours, right = value.parts[0], wanted.parts[0]
    if found:
        return found
    if torch.allclose(ours, right, rtol=1e-4, atol=1e-4):
        one, other = (each.parts[1].item() for each in (value, wanted))
        return f"The logits are right, and the loss is {one:.4g}; expected: {other:.4g}."
    labels, left = arguments[1], arguments[2]
    at = int((~torch.isclose(ours, right, rtol=1e-4, atol=1e-4)).any(1).nonzero()[0])
    row, i = (labels != -100).nonzero()[at].tolist()
    return (
        f"The logits of position {i} of text {row}, whose span has the left boundary "
        f"{int(left[row, i])}, begin with {shown(ours[at, :3])}; expected: {shown(right[at, :3])}."
    )


OBJECTIVE: Task = Task(
    boundary_objective,
    examples=[
        _head(0, 6, 7, 4, 3, "..xxx..x.", ".xx..xxx."),
        _head(1, 5, 9, 6, 2, ".xxxx.xx..", "...xx.xxx.", ".x........"),
        _head(2, 8, 5, 3, 4, "..xxxxx.x.x.", ".x.xx.xxxx.."),
    ],
    edge_cases={
        "if a span has more positions than `u`": _head(3, 3, 6, 4, 3, ".xxxxx..x.", "..xxxx.xx.")
    },
    slips="""
Left and right are exchanged: the left state comes first.
    states[row, lo], states[row, hi], u[step] -> states[row, hi], states[row, lo], u[step]
The three parts are joined in another order: left state, right state, position.
    states[row, lo], states[row, hi], u[step] -> u[step], states[row, lo], states[row, hi] ||
        states[row, lo], u[step], states[row, hi]
These are states of the span itself. At masked positions, the encoder has no token to see: the
objective is about the states outside.
    states[row, lo], states[row, hi], u[step] ->
        states[row, lo + 1], states[row, hi - 1], u[step] ||
        states[row, i], states[row, i], u[step] || states[row, i], states[row, hi], u[step] ||
        states[row, lo], states[row, i], u[step] || states[row, lo + 1], states[row, hi], u[step] ||
        states[row, lo], states[row, hi - 1], u[step]
These are the neighbors of each position, or one boundary twice, not both boundaries of the span.
    states[row, lo], states[row, hi], u[step] -> states[row, i - 1], states[row, i + 1], u[step] ||
        states[row, lo], states[row, lo], u[step] || states[row, hi], states[row, hi], u[step]
The position is another one: `u[0]` belongs to the first position of a span, and all others count
from there.
    u[step] -> u[step + 1 - (step + 1 == len(u)).long()] || u[hi - i - 1] || u[i % len(u)] ||
        u[0 * step] || 0 * u[step] || u[hi - lo - 2] || u[(step + 1) % len(u)] || u[step - 1]
A layer is missing, or its GELU, or its LayerNorm. Each of the two layers has a matrix, then the
GELU, then the LayerNorm.
    F.layer_norm(F.gelu(h @ W2.T), W2.shape[:1]) -> h || F.gelu(h @ W2.T) || h @ W2.T ||
        F.layer_norm(h @ W2.T, W2.shape[:1]) || F.gelu(F.layer_norm(h @ W2.T, W2.shape[:1]))
    or
    F.layer_norm(F.gelu(h @ W1.T), W1.shape[:1]) -> F.gelu(h @ W1.T) ||
        F.layer_norm(h @ W1.T, W1.shape[:1]) || F.gelu(F.layer_norm(h @ W1.T, W1.shape[:1])) ||
        h @ W1.T
    or
    F.layer_norm(F.gelu(h @ W1.T), W1.shape[:1]) -> F.gelu(h @ W1.T)
    F.layer_norm(F.gelu(h @ W2.T), W2.shape[:1]) -> F.gelu(h @ W2.T)
    or
    F.layer_norm(F.gelu(h @ W1.T), W1.shape[:1]) -> F.layer_norm(h @ W1.T,
        W1.shape[:1])
    F.layer_norm(F.gelu(h @ W2.T), W2.shape[:1]) -> F.layer_norm(h @ W2.T, W2.shape[:1])
    or
    F.layer_norm(F.gelu(h @ W1.T), W1.shape[:1]) -> F.gelu(F.layer_norm(h @ W1.T,
        W1.shape[:1]))
    F.layer_norm(F.gelu(h @ W2.T), W2.shape[:1]) -> F.gelu(F.layer_norm(h @ W2.T, W2.shape[:1]))
Another activation, or another ε: the GELU is exact, not its approximation by tanh, and both
functions have PyTorch's default settings.
    h = F.layer_norm(F.gelu(h @ W1.T), W1.shape[:1]) -> h = F.layer_norm(F.gelu(h @ W1.T),
        W1.shape[:1], eps=1e-12)
    y = F.layer_norm(F.gelu(h @ W2.T), W2.shape[:1]) -> y = F.layer_norm(F.gelu(h @ W2.T),
        W2.shape[:1], eps=1e-12)
    or
    h = F.layer_norm(F.gelu(h @ W1.T), -> h = F.layer_norm(F.relu(h @ W1.T),
    y = F.layer_norm(F.gelu(h @ W2.T), -> y = F.layer_norm(F.relu(h @ W2.T),
    or
    h = F.layer_norm(F.gelu(h @ W1.T), -> h = F.layer_norm(torch.tanh(h @ W1.T),
    y = F.layer_norm(F.gelu(h @ W2.T), -> y = F.layer_norm(torch.tanh(h @ W2.T),
    or
    h = F.layer_norm(F.gelu(h @ W1.T), -> h = F.layer_norm(F.gelu(h @ W1.T, approximate="tanh"),
    y = F.layer_norm(F.gelu(h @ W2.T), -> y = F.layer_norm(F.gelu(h @ W2.T, approximate="tanh"),
    or
    h = F.layer_norm(F.gelu(h @ W1.T), -> h = F.layer_norm(F.silu(h @ W1.T),
    y = F.layer_norm(F.gelu(h @ W2.T), -> y = F.layer_norm(F.silu(h @ W2.T),
The LayerNorm is over the wrong axis: each position's vector is normalized by itself.
    h = F.layer_norm(F.gelu(h @ W1.T), W1.shape[:1]) -> h = F.gelu(h @ W1.T); h =
        (h - h.mean(0)) / (h.var(0, correction=0) + 1e-5).sqrt()
    y = F.layer_norm(F.gelu(h @ W2.T), W2.shape[:1]) -> y = F.gelu(h @ W2.T); y =
        (y - y.mean(0)) / (y.var(0, correction=0) + 1e-5).sqrt()
    or
    h = F.layer_norm(F.gelu(h @ W1.T), W1.shape[:1]) -> h = F.gelu(h @ W1.T); h =
        F.layer_norm(h, h.shape)
    y = F.layer_norm(F.gelu(h @ W2.T), W2.shape[:1]) -> y = F.gelu(h @ W2.T); y =
        F.layer_norm(y, y.shape)
The bias c is missing in the logits.
    y @ E.T + c -> y @ E.T
These are probabilities, not logits.
    return logits, -> return logits.softmax(-1),
    or
    return logits, -> return logits.log_softmax(-1),
    or
    return logits, F.cross_entropy(logits, labels[row, i]) -> return logits.softmax(-1),
        F.cross_entropy(logits.softmax(-1), labels[row, i])
    or
    return logits, F.cross_entropy(logits, -> return logits, F.cross_entropy(logits.softmax(-1),
The loss is not the mean over the predicted positions: it is a sum, or divided by another number, or
has the wrong sign.
    F.cross_entropy(logits, labels[row, i]) -> F.cross_entropy(logits, labels[row, i],
        reduction="sum") || F.cross_entropy(logits, labels[row, i], reduction="sum") /
        labels.numel() || -F.cross_entropy(logits, labels[row, i]) ||
        F.cross_entropy(logits, labels[row, i], reduction="sum") / len(labels) ||
        F.cross_entropy(logits, labels[row, i], reduction="sum") / (len(row) + 1) ||
        F.cross_entropy(logits, labels[row, i], reduction="sum") / (step == 0).sum() ||
        torch.stack([F.cross_entropy(logits[row == k], labels[k, i[row == k]]) for k in
        row.unique()]).mean() || F.cross_entropy(logits, labels[row, i]) / 0.6931471805599453
    or
    return logits, F.cross_entropy(logits, labels[row, i]) -> return logits,
        F.cross_entropy(logits, labels[row, i], reduction="none")[step == 0].mean()
Positions beyond the rows of `u` are ignored: they are not predicted from its last row.
    known = i - left[row, i] - 1 < len(u) -> known = i >= 0
    step = i - lo - 1 -> step = (i - lo - 1).clamp(max=len(u) - 1)
    or
    known = i - left[row, i] - 1 < len(u) -> known = right[row, i] - left[row, i] - 1 <= len(u)
    or
    known = i - left[row, i] - 1 < len(u) -> known = i >= 0
    step = i - lo - 1 -> step = (i - lo - 1) % len(u)
    or
    known = i - left[row, i] - 1 < len(u) -> known = i - left[row, i] - 1 < len(u) - 1
    or
    known = i - left[row, i] - 1 < len(u) -> known = i >= 0
""",
    names=("The logits", "The loss"),
    cause=_logits,
    note="The inner states have no part in it: to lower this loss, the encoder has to store what "
    "is in a span in the states of its boundaries.",
)
