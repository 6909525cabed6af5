"""09.4 A decoder's layer: three sublayers, each in a residual connection with its norm."""

import contextlib
from collections.abc import Sequence

import torch
from torch import Tensor

from lmcourse.labs.answer import Answer
from lmcourse.labs.lab09.layer_slips import MISTAKES, Map, Parts, right
from lmcourse.labs.values import explain, same, tensor
from lmcourse.labs.verdict import Wrong

_SHAPES = ((4, 4, 6), (3, 5, 6))  # target, source, width; equal first: what is mixed up then runs


def judge(answer: Answer) -> str:
    for seed, shape in enumerate(_SHAPES):
        parts = _parts(seed, *shape)
        values, wanted = [], []
        for norm_first in (False, True):
            values.append(tensor(_call(answer, *parts, norm_first), (shape[0], shape[2])))
            wanted.append(right(*parts, norm_first))
        if not same(torch.stack(values), torch.stack(wanted)):
            explain(torch.stack(values), MISTAKES, *parts)
            raise Wrong(_where(values, wanted, parts))
    return (
        "Without the second sublayer this is a layer of the encoder, or of a language model that "
        "has no source."
    )


def _call(answer: Answer, *arguments: object) -> object:
    try:
        return answer(*arguments)
    except Wrong as wrong:
        if "positional argument" in str(wrong):
            raise Wrong(
                f"{wrong}\n`cross_attention` takes two tensors, who asks and who is asked; "
                "`attention` and `feed_forward` take one."
            ) from None
        raise


def _where(values: Sequence[Tensor], wanted: Sequence[Tensor], parts: Parts) -> str:
    """Which form is wrong; and which mistake makes it so, if it makes that one so alone."""
    post, pre = (same(*each) for each in zip(values, wanted, strict=True))
    told = "Neither form is right yet. Begin with post-norm (`norm_first=False`)."
    if post:
        told = "Post-norm is right, pre-norm (`norm_first=True`) is not."
    if pre:
        told = "Pre-norm is right, post-norm (`norm_first=False`) is not."
    form = 1 if post else 0
    for known in MISTAKES:
        with contextlib.suppress(RuntimeError):  # some cannot run on some sizes
            mistaken = known.compute(*parts)[form]
            if same(values[form], mistaken) and not same(mistaken, wanted[form]):
                return f"{told} {known.hint}"
    if post or pre:
        return told
    return (
        f"{told} It is x + attention(x), then the first norm of that; call the result x again, "
        "and go on with the other two sublayers and norms."
    )


def _parts(seed: int, time: int, source: int, width: int) -> Parts:
    generator = torch.Generator().manual_seed(seed)
    matrices = torch.randn(4, width, width, generator=generator) / width**0.5
    scales = 1 + 0.5 * torch.randn(3, width, generator=generator)

    def norm(number: int) -> Map:
        def normed(x: Tensor) -> Tensor:
            return torch.nn.functional.layer_norm(x, (x.shape[-1],)) * scales[number]

        return normed

    def look(x: Tensor, memory: Tensor, matrix: Tensor, causal: bool = False) -> Tensor:
        scores = x @ matrix @ memory.mT
        hidden = torch.ones_like(scores, dtype=torch.bool).triu(1) & torch.tensor(causal)
        return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ memory @ matrices[3]

    return (
        torch.randn(time, width, generator=generator),
        2 * torch.randn(source, width, generator=generator),
        lambda x: look(x, x, matrices[0], causal=True),
        lambda x, memory: look(x, memory, matrices[1]),
        lambda x: torch.tanh(x @ matrices[2]),
        (norm(0), norm(1), norm(2)),
    )
