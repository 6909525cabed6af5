"""09.3 Heads that share one key and one value (Shazeer 2019, multi-query attention)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.lab09.heads_slips import MISTAKES, Probe, right
from lmcourse.labs.values import same, tensor
from lmcourse.labs.verdict import Wrong

# batch, query, key, width, heads. Equal sizes first: axes that are mixed up then run, and are told.
_SHAPES = ((3, 3, 3, 12, 3), (2, 4, 4, 8, 2), (3, 2, 5, 12, 3), (1, 3, 4, 6, 1))
_TOLERANCE = 1e-4


def judge(answer: Answer) -> str:
    probes = [_probe(seed, *shape) for seed, shape in enumerate(_SHAPES)]
    values = [_call(answer, probe) for probe in probes]
    wanted = [right(*probe) for probe in probes]
    if not all(_agree(value, want) for value, want in zip(values, wanted, strict=True)):
        _explain(values, probes, wanted)
        raise next((it for it in values if isinstance(it, Wrong)), None) or Wrong(_where(answer))
    return (
        "A model that writes keeps the keys and values of all that it has read: of yours it keeps "
        "`heads` times fewer numbers than with keys of each head's own."
    )


def _agree(value: Tensor | Wrong, want: Tensor) -> bool:
    return not isinstance(value, Wrong) and same(value, want, _TOLERANCE)


def _explain(
    values: Sequence[Tensor | Wrong], probes: Sequence[Probe], wanted: Sequence[Tensor]
) -> None:
    """Raise the hint of the first mistake that gives all of these values, where both run.

    All sizes are compared: in the first one all axes are equal, and so are mistakes that take one
    for another.
    """
    runs = [run for run in zip(values, probes, wanted, strict=True) if isinstance(run[0], Tensor)]
    for known in MISTAKES:
        agreed, differs = True, False
        for value, probe, want in runs:
            try:
                mistaken = known.compute(*probe)
            except (IndexError, RuntimeError, ValueError):
                continue  # this mistake cannot run on these sizes
            agreed = agreed and _agree(value, mistaken)
            differs = differs or not same(mistaken, want, _TOLERANCE)
        if agreed and differs:
            raise Wrong(known.hint)


def _call(answer: Answer, probe: Probe) -> Tensor | Wrong:
    """What the answer gives on this probe, or why it gives nothing."""
    try:
        return _read(answer, probe)
    except Wrong as wrong:
        if "view size is not compatible" in str(wrong):
            return Wrong(
                f"{wrong}\nBehind a transpose, `view` cannot join axes: use `reshape` or "
                "`flatten`, once the axes to be joined stand side by side."
            )
        return wrong


def _read(answer: Answer, probe: Probe) -> Tensor:
    query, key, value, heads, visible = probe
    try:
        return tensor(answer(*probe), query.shape)
    except Wrong as wrong:
        if "contains NaN" not in str(wrong):
            raise
    # Without a mask the same mistake may show as numbers.
    everywhere = (query, key, value, heads, torch.ones_like(visible))
    _explain([_seen(answer, everywhere)], [everywhere], [right(*everywhere)])
    raise Wrong(
        "Your result contains NaN: some query has no key left to look at, and `visible` leaves "
        "each at least one. The scores are [batch, head, query, key], the mask is [batch, "
        "query, key]: which axes meet which?"
    )


def _seen(answer: Answer, probe: Probe) -> Tensor | Wrong:
    try:
        return tensor(answer(*probe), probe[0].shape)
    except Wrong as wrong:
        return wrong


def _where(answer: Answer) -> str:
    """Which part is wrong, by leaving others out."""
    query, key, value, _, visible = _probe(seed=10, batch=2, queries=3, keys=4, width=8, heads=1)
    everywhere = torch.ones_like(visible)
    for hint, probe in (
        (
            "Wrong already for one head without a mask, which is chapter 08's attention: "
            "softmax(Q Kᵀ / √d) V.",
            (query, key, value, 1, everywhere),
        ),
        ("Right for one head without a mask, wrong with one.", (query, key, value, 1, visible)),
        (
            "Right for one head, wrong for two: how is the query's width split, and joined again?",
            (query, key[..., :4], value[..., :4], 2, everywhere),
        ),
    ):
        found = _seen(answer, probe)
        if isinstance(found, Wrong):
            return (
                "Your function runs where there are as many sequences in the batch as heads, and "
                f"not with {len(query)} sequences and {probe[3]} head{'s' * (probe[3] > 1)}: is "
                f"one axis taken for the other?\n{found}"
            )
        if not same(found, right(*probe), _TOLERANCE):
            return hint
    return "Right for two heads with a mask of its own each, wrong for other sizes: is one fixed?"


def _probe(seed: int, batch: int, queries: int, keys: int, width: int, heads: int) -> Probe:
    generator = torch.Generator().manual_seed(seed)
    sizes = ((queries, width), (keys, width // heads), (keys, width // heads))
    drawn = [1.5 * torch.randn(batch, *size, generator=generator) for size in sizes]
    visible = torch.stack([_mask(queries, keys, generator) for _ in range(batch)])
    return drawn[0], drawn[1], drawn[2], heads, visible


def _mask(queries: int, keys: int, generator: torch.Generator) -> Tensor:
    """No query sees everything or nothing, and each key is seen: no mistake ends in a NaN."""
    while True:
        visible = torch.rand(queries, keys, generator=generator) < 0.6
        if bool(visible.any(0).all() and visible.any(1).all() and not visible.all(1).any()):
            return visible
