"""Pairs of segments in order or swapped; a comparison of sharing at tuned learning rates."""

import math
from itertools import chain, zip_longest
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal, one_value
from lmcourse.labs.results import Result, read, shown
from lmcourse.labs.verdict import Wrong

Text = list[int]


def order_pairs(
    documents: list[list[Text]], length: int, draws: list[tuple[float, float]]
) -> list[tuple[Text, Text, int]]:
    examples = list[tuple[Text, Text, int]]()
    for sentences in documents:
        at = 0
        while at + 1 < len(sentences):
            end = at + 2
            while end < len(sentences) and sum(map(len, sentences[at : end + 1])) <= length:
                end += 1
            u, v = draws[len(examples)]
            cut = at + 1 + int(u * (end - at - 1))
            a, b = [*chain(*sentences[at:cut])], [*chain(*sentences[cut:end])]
            while len(a) + len(b) > length:
                longer = a if len(a) > len(b) else b
                longer.pop()
            examples.append((b, a, 1) if v < 0.5 else (a, b, 0))
            at = end
    return examples


def _documents(seed: int, length: int, *sizes: tuple[int, ...], spare: int = 3) -> Example:
    """Documents of sentences of these lengths, with consecutive ids, and more draws than needed."""
    at, documents = 10 * seed + 10, list[list[Text]]()
    for document in sizes:
        documents.append([])
        for size in document:
            documents[-1].append([*range(at, at + size)])
            at += size
    uniform = torch.special.ndtr(normal(sum(map(len, sizes)) // 2 + spare, 2, seed=seed))
    if seed % 2:  # also 0, and 1/2 exactly
        uniform = (4 * uniform).floor() / 4
    return documents, length, [(u, v) for u, v in uniform.tolist()]


def _flat(returned: Any, *_: Any) -> tuple[Tensor, ...]:
    """A zero, the labels, the lengths of both segments, and the tokens one after the other."""
    rows: list[Any] = list(returned[:1000]) if isinstance(returned, (list, tuple)) else [0]
    if not all(isinstance(row, (list, tuple)) and len(row) == 3 for row in rows):
        raise Wrong("Return a list of examples, each (first segment, second segment, label).")
    for row in rows:
        if not all(isinstance(each, (list, tuple, Tensor, np.ndarray)) for each in row[:2]):
            raise Wrong("An example is (first segment, second segment, label), in this order.")
        if any(isinstance(token, (list, tuple)) for each in row[:2] for token in each):
            raise Wrong("A segment is one list of ids: join its sentences.", "type")
    segments = [read(each, [0]).parts[0] for row in rows for each in row[:2]]
    if any(each.ndim != 1 for each in segments):
        raise Wrong("A segment is one list of ids.", "type")
    labels = [read(row[2], 0).parts[0] for row in rows]
    if any(label.numel() != 1 or label.item() not in (0, 1) for label in labels):
        raise Wrong("A label is 0 or 1.")
    empty = torch.empty(0, dtype=torch.float64)
    tokens = torch.cat([*segments, empty])
    lengths = torch.tensor([len(each) for each in segments]).double()
    return torch.zeros(()), torch.stack(labels) if labels else empty, lengths, tokens


def _examples(result: Result) -> list[tuple[Text, Text, int]]:
    _, labels, lengths, tokens = result.parts
    segments = [each.long().tolist() for each in tokens.split(lengths.long().tolist())]
    pairs = zip(segments[::2], segments[1::2], labels.long().tolist(), strict=True)
    return [(a, b, label) for a, b, label in pairs]


def _example(arguments: Example, value: Result, wanted: Result) -> str:
    """The first example that differs, and in what."""
    ours, right = _examples(value), _examples(wanted)
    documents, length, draws = arguments
    none: tuple[Text, Text, int] = ([], [], -1)
    i, one, other = next(
        (i, *pair)
        for i, pair in enumerate(zip_longest(ours, right, fillvalue=none))
        if pair[0] != pair[1]
    )
    sizes = [[*map(len, document)] for document in documents]
    where = f"For documents with sentences of {sizes} tokens, length = {length}"
    if one is none or other is none:
        return f"{where}: {len(ours)} examples; expected: {len(right)}."
    u, v = draws[i]
    return f"{where} and the draw ({u:.2f}, {v:.2f}), example {i} is {one}; expected: {other}."


PAIRS = Task(
    order_pairs,
    examples=[
        _documents(0, 12, (3, 4, 2, 3, 4, 5, 1), (2, 3), (4, 1, 2, 3, 3, 1, 2)),
        _documents(1, 9, (2, 4, 3, 2, 2, 3), (5,), (6, 2, 1, 3), (1, 1, 1, 1, 1, 1)),
        _documents(5, 15, (4, 6, 3, 2), (6, 2, 5, 4, 4), (7, 2), (2, 2, 3, 1, 5, 2, 2, 2, 4)),
        _documents(6, 10, (3, 3, 3, 1, 2, 2, 2, 2, 1), (4, 4), (2, 3, 1, 2, 2, 5, 5, 2)),
    ],
    edge_cases={
        "where a document has one sentence or none": _documents(3, 8, (3,), (), (4, 2), (5,), ()),
        "where two sentences are too long": _documents(4, 7, (5, 4, 2), (2, 9, 3, 3), (8, 8)),
    },
    slips="""
The labels are reversed: 0 is in order, 1 is swapped. Such a model scores 1 − its accuracy.
    (b, a, 1) if v < 0.5 else (a, b, 0) -> (b, a, 0) if v < 0.5 else (a, b, 1)
Pairs are swapped where the second draw is at least 1/2. They are swapped where it is below.
    if v < 0.5 else -> if v >= 0.5 else
    or
    u, v = draws -> v, u = draws
    or
    if v < 0.5 else -> if u < 0.5 else || if u >= 0.5 else
The label does not fit the order: the segments are never swapped, always swapped, or the label is
always the same.
    (b, a, 1) if -> (a, b, 1) if
    or
    else (a, b, 0) -> else (b, a, 0)
    or
    (b, a, 1) if v < 0.5 else (a, b, 0) -> (a, b, 0) || (b, a, 1)
    or
    (b, a, 1) if -> (b, a, 0) if
    or
    else (a, b, 0) -> else (a, b, 1)
This is next-sentence prediction: the other segment is from another document. Both are from one.
    a, b = -> other = documents[(documents.index(sentences) + 1) % len(documents)]; a, b =
    examples.append((b, a, 1) if v < 0.5 else (a, b, 0)) ->
        examples.append((a, [*other[0]], 1) if v < 0.5 else (a, b, 0)) ||
        examples.append((a, [*chain(*other)], 1) if v < 0.5 else (a, b, 0)) ||
        examples.append((a, [*chain(*other)][:len(b)], 1) if v < 0.5 else (a, b, 0))
A pair continues in the next document. Both segments are from the same one.
    in documents: -> in [sum(documents, [])]:
The sentences of a swapped pair are in reverse order, or their tokens are. Only the two segments
are exchanged; the tokens of each keep their order.
    (b, a, 1) if ->
        ([*chain(*sentences[cut:end][::-1])], [*chain(*sentences[at:cut][::-1])], 1) if
        ||
        (b[::-1], a[::-1], 1) if
The first segment has the wrong number of sentences. It may be 1 to n − 1 of n, as `u` decides.
    int(u * (end - at - 1)) -> int(u * (end - at)) || 0 || (end - at) // 2 - 1 || end - at - 2 ||
        round(u * (end - at - 2)) || round(u * (end - at - 1)) || int(u * (end - at - 2))
    or
    1 + int(u * (end - at - 1)) -> int(u * (end - at)) || int(u * (end - at - 1)) ||
        (end - at) // 2
The draws are assigned to other pairs. Each pair uses the next draw; what is no pair uses none.
    draws[len(examples)] -> draws[0] || draws[at] || draws[documents.index(sentences)] ||
        draws[len(examples) + documents.index(sentences)] || draws[-1 - len(examples)] ||
        draws[len(examples) + 1]
Pairs overlap, or sentences between them are skipped. The next pair begins after the last sentence.
    at = end -> at = end - 1 || at += 1 || at = cut || at = end + 1 || at += 2 || break
A pair does not take as many sentences as fit: it has two, one fewer or one more, or must be shorter
than `length`.
    end += 1 -> break
    or
    sentences[at : end + 1])) <= length -> sentences[at : end + 1])) < length ||
        sentences[at:end])) < length || sentences[at : end + 1])) <= length - 3 ||
        sentences[at:end])) <= length
    or
    end < len(sentences) and -> end + 1 < len(sentences) and
    or
    end = at + 2 -> end = at + 1
A pair of two long sentences is too long, lost, or cut elsewhere. The longer segment loses its last
token, again and again; of two equal ones, the later one in the text.
    while len(a) + len(b) > length: -> while False:
    or
    longer.pop() -> longer.pop(0)
    or
    longer = a if len(a) > len(b) else b -> longer = a if len(a) >= len(b) else b ||
        longer = a if a else b || longer = b if b else a || longer = a if len(a) < len(b) else b
    or
    longer = a if len(a) > len(b) else b -> longer = a if len(a) > len(b) or (len(a) == len(b) and
        v < 0.5) else b
    or
    examples.append((b, a, 1) -> len(a) + len(b) < length and examples.append((b, a, 1)
    while len(a) + len(b) > length: -> while len(a) + len(b) > length + 99:
""",
    result=_flat,
    names=("", "The labels", "The lengths of the segments", "The tokens, in order"),
    cause=_example,
    note="The label is a convention. Check it before you compare models: `AlbertForPreTraining` "
    "has 0 for in order, as here.",
)


def tuned(validation: Tensor, test: Tensor, t: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    kinds, rates, seeds = validation.shape
    chosen = validation.mean(2).argmin(1)
    edge = (chosen == 0) | (chosen == rates - 1)
    own = test[torch.arange(kinds), chosen]  # [kind, seed]
    difference = own - own[0]
    half = t * difference.std(1) / seeds**0.5
    return chosen, edge, difference.mean(1), half


def _sweep(seed: int, kinds: int, rates: int, seeds: int, t: float, best: str) -> Example:
    """Losses whose best rates are these, by their digits; a single seed or rate may be lucky."""
    center = torch.tensor([int(digit) for digit in best])[:, None, None]
    valley = 0.3 * (torch.arange(rates)[:, None] - center).abs() ** 1.5
    kind = 0.2 * normal(kinds, 1, 1, seed=(seed, "kind"))
    run = 0.3 * normal(1, 1, seeds, seed=(seed, "run")) + 0.1 * normal(
        kinds, rates, seeds, seed=(seed, "noise")
    )
    validation = 2 + kind + valley + run
    luck = torch.zeros_like(validation)
    luck[:, :, 0] = 3 * normal(kinds, rates, seed=(seed, "luck")).abs()
    validation = validation - luck + luck.mean(2, keepdim=True)
    test = (
        validation
        + 1.2 * normal(kinds, rates, 1, seed=(seed, "split"))
        + 0.1 * normal(kinds, rates, seeds, seed=(seed, "test"))
    )
    return validation, test, t


def _diverged(seed: int) -> Example:
    validation, test, t = _sweep(seed, 3, 4, 4, 3.182, "121")
    validation[1, 3, 1] = test[1, 3, 1] = math.inf
    validation[2, 3] = test[2, 3] = math.inf
    return validation, test, t


def _part(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip for one of the real numbers; else which rate or edge is wrong."""
    (rates, edges, *_), (right, ends, *_) = ([*map(shown, each.parts)] for each in (value, wanted))
    if rates != right:
        kind = int((value.parts[0] != wanted.parts[0]).nonzero()[0])
        means = shown(arguments[0].mean(2)[kind])
        return (
            f"The rates: {rates}; expected: {right}. The mean validation losses of kind {kind} at "
            f"the rates of the grid are {means}."
        )
    if edges != ends:
        count = arguments[0].shape[1]
        return f"The edges: for the rates {rates} of {count}, yours are {edges}; expected: {ends}."
    return one_value(TUNED, arguments, value, wanted)


TUNED: Task = Task(
    tuned,
    examples=[
        *(_sweep(0, 4, 3, 6, 2.571, "1102"), _sweep(1, 3, 5, 4, 3.182, "234")),
        *(_sweep(2, 4, 4, 5, 2.776, "2113"), _sweep(3, 2, 3, 8, 2.365, "01")),
    ],
    edge_cases={"where a run diverged and its loss is infinite": _diverged(4)},
    slips="""
The rate is chosen by the test loss. Then the test loss is that of the luckiest rate.
    validation.mean(2).argmin(1) -> test.mean(2).argmin(1)
All kinds have the rate of the baseline, or one common rate. Each kind is tuned for itself.
    validation.mean(2).argmin(1) -> validation.mean(2).argmin(1)[:1].expand(kinds) ||
        validation.mean((0, 2)).argmin().expand(kinds) ||
        validation.mean(2).amin(0).argmin().expand(kinds)
The rate is that of the single best run. Average over the seeds first.
    validation.mean(2).argmin(1) -> validation.amin(2).argmin(1) || validation[..., 0].argmin(1) ||
        validation.median(2).values.argmin(1) || validation[..., -1].argmin(1)
Each seed has its own rate, or the losses of the best run of each kind are compared. A kind has one
rate, and all of its seeds count.
    own = test[torch.arange(kinds), chosen] -> own =
        test.gather(1, validation.argmin(1)[:, None])[:, 0]
    or
    own = test[torch.arange(kinds), chosen] -> own = test.amin(1)
The largest loss is chosen.
    .argmin(1) -> .argmax(1)
The mean is over the rates, or over all kinds. The axes are [kind, rate, seed].
    validation.mean(2).argmin(1) -> validation.mean(1).argmin(1).clamp(max=rates - 1) ||
        validation.mean(0).argmin(0)[:1].expand(kinds)
The edge is that of another grid. It has two ends, the first rate and the last one.
    (chosen == 0) | (chosen == rates - 1) -> chosen == rates - 1 || chosen == 0 ||
        (chosen == 0) | (chosen == rates) || (chosen != 0) & (chosen != rates - 1) ||
        chosen != chosen[0] || chosen == rates
The sign is reversed: a kind that is worse than the baseline has a positive difference.
    own - own[0] -> own[0] - own
The runs are paired: they have the same seeds. Use the standard deviation of the differences.
    difference.std(1) -> (own.var(1) + own[0].var()).sqrt() || own.std(1) ||
        ((own.var(1) + own[0].var()) / 2).sqrt()
The differences are not to kind 0, or not to its own best rate, or they are relative.
    own - own[0] -> own - own[own.mean(1).argmin()] || own - own.mean(0) ||
        own - own[-1] || own / own[0] - 1 || own - test[0, chosen]
The losses are those on the validation set, which chose the rate.
    own = test[torch.arange(kinds), chosen] -> own = validation[torch.arange(kinds), chosen]
The interval has another width: `t` times the standard deviation, with n − 1, over the root of the
number of seeds.
    t * difference.std(1) / seeds**0.5 -> difference.std(1) / seeds**0.5 || t * difference.std(1) ||
        t * difference.std(1, correction=0) / seeds**0.5 ||
        2 * t * difference.std(1) / seeds**0.5 ||
        t * difference.std(1) / seeds || t * difference.var(1) / seeds**0.5 ||
        1.96 * difference.std(1) / seeds**0.5 || 2 * difference.std(1) / seeds**0.5 ||
        t * difference.std(1) / (seeds - 1) ** 0.5 || t * difference.std(1) / kinds**0.5
""",
    names=("The rates", "The edges", "The differences", "The half widths"),
    cause=_part,
    note="If the interval contains 0, report its ends: larger effects than these are excluded, "
    "smaller ones are not.",
)
