"""A model's anatomy: its blocks, connections, shapes, parameters and numbers, read off one pass.

Anatomy(anatomy(model, tokens=tokens, input_ids=ids))
"""

import inspect
import re
import typing
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.evaluation.anatomy.describing import (
    Sources,
    is_closed,
    path_of,
    what_of,
    words_of,
)
from lmcourse.evaluation.anatomy.folding import Graph, Part, fold
from lmcourse.evaluation.anatomy.numbers import extremes, numbers
from lmcourse.evaluation.anatomy.tracing import trace
from lmcourse.models.sampling import evaluating
from lmcourse.models.weights import meta_device
from lmcourse.widgets.anatomy_data import Block, Drawing
from lmcourse.widgets.tokens import as_tokens

PAPERS = ("base", "original")  # a configuration's constructors at the size of its publication


@torch.no_grad()
def anatomy(
    model: nn.Module,
    *,
    tokens: Sequence[str] = (),
    title: str = "",
    paper: Any = None,
    most: int = 100_000,
    **inputs: Any,
) -> Drawing:
    """Run a model once, in evaluation mode, and return what the widget `Anatomy` draws.

    Args:
        model: any module.
        tokens: the text that it reads, for the numbers' rows.
        title: the model's name; its class's by default.
        paper: the published configuration to count parameters for; by default the ``base`` or
            ``original`` of the model's configuration, if there is one.
        most: bytes of numbers to keep, beside which the drawing needs some 50 kB.
        inputs: the model's arguments, such as ``input_ids``. Leave out masks without padding.

    Raises:
        CourseError: there are no inputs, or nothing that depends on them.
    """
    tensors = [it for it in inputs.values() if isinstance(it, Tensor)]
    if not tensors:
        raise CourseError(
            "There is no input to run the model on.", "Pass its arguments: input_ids=ids."
        )
    options = {"output_attentions": True} if _takes(model, "output_attentions") else {}
    with evaluating(model):
        tracer, output = trace(model, options | inputs)
    graph = fold(model, tracer, output)
    if not graph.outputs:
        raise CourseError(
            "No output depends on the inputs.", "Pass float tensors, or ids of tokens."
        )
    found, values = numbers(graph, len(tensors[0]), most)
    sources = Sources()
    published = _published(model, paper)
    counts = dict(_sizes(model))
    large = dict(_sizes(published)) if published else {}
    own = _parameters(graph)
    patterns = _patterns(graph, own)
    users: dict[str, list[Part]] = {}
    for part in graph.parts:
        for name in set().union(*own[part.number]) if not part.children else ():
            users.setdefault(name, []).append(part)
    blocks = [
        _block(
            graph, part, len(tensors[0]), sources, own[part.number], counts, large, patterns, users
        )
        for part in graph.parts
    ]
    for block, arrays in zip(blocks, found, strict=True):
        block.numbers = arrays
    tracer.release()
    return Drawing(
        title or type(model).__name__,
        f"{type(published).__name__} as published" if published else "",
        as_tokens("tokens", tokens) if len(tokens) else [],
        blocks,
        [(it.start, it.end, it.back, it.name) for it in graph.arrows],
        graph.outputs,
        [*sources.pieces],
        values,
    )


def _block(
    graph: Graph,
    part: Part,
    batch: int,
    sources: Sources,
    own: list[set[str]],
    counts: dict[str, int],
    large: dict[str, int],
    patterns: dict[str, str],
    users: dict[str, list[Part]],
) -> Block:
    words, call = words_of(part), part.call
    each = own[0]
    shape = () if call.output is None else tuple(call.output.shape)
    if call.kind == "table" and len(shape) > 2 and shape[0] == 1:
        shape = shape[1:]
    batched = shape and shape[0] == batch and call.kind not in ("table", "constant")
    tied = {path_of(it) for n in each for it in users[n] if it is not part}
    return Block(
        parent=part.parent.number if part.parent else -1,
        kind=words.kind,
        label=words.label if part.parent or call.kind == "input" else type(graph.model).__name__,
        path=path_of(part),
        what=what_of(part),
        inputs=part.inputs,
        shape=shape[1:] if batched else shape,
        count=part.count,
        in_time=part.in_time,
        closed=bool(part.children) and is_closed(part, words.kind),
        parameters=sum(counts[n] for n in each),
        total=sum(counts[n] for n in set().union(*own)),
        paper=_at_paper_scale(own, large, patterns),
        shared=bool(each) and part.count > 1 and not part.in_time and own[0] == own[-1],
        tied=tuple(sorted(tied)) if not part.children else (),
        equation=words.equation,
        sources=sources.of(part),
        range=extremes(part, batch),
    )


def _sizes(model: nn.Module) -> Iterable[tuple[str, int]]:
    return ((name, p.numel()) for name, p in model.named_parameters())


def _parameters(graph: Graph) -> list[list[set[str]]]:
    """Return the names of the parameters of each repetition of each part."""
    names = {id(p): name for name, p in graph.model.named_parameters()}
    known = set(names.values())
    found: list[list[set[str]]] = [[set() for _ in part.calls] for part in graph.parts]
    for leaf in graph.parts:
        for n, call in enumerate(() if leaf.children else leaf.calls):
            own = {it for it in call.parameters if it in known}
            if call.module is not None:
                own |= {names[id(p)] for p in call.module.parameters() if id(p) in names}
            for part in leaf.lineage:
                found[part.number][n * len(part.calls) // len(leaf.calls)] |= own
    return found


def _at_paper_scale(
    own: list[set[str]], large: dict[str, int], patterns: dict[str, str]
) -> tuple[int, int] | None:
    """Return the number of parameters of one and of all repetitions in the published model."""
    if not own[0] or not own[0] <= large.keys():
        return None
    wanted = {patterns.get(name, re.escape(name)) for name in set().union(*own)}
    total = sum(size for n, size in large.items() if any(re.fullmatch(it, n) for it in wanted))
    return (sum(large[name] for name in own[0]) if len(own) > 1 else total), total


def _patterns(graph: Graph, own: list[list[set[str]]]) -> dict[str, str]:
    """Return for the names of parameters that repeated layers have one that fits all layers."""
    found: dict[str, str] = {}
    for part in graph.parts:
        first, last = sorted(own[part.number][0]), sorted(own[part.number][-1])
        if part.children or first == last:
            continue
        general = [_any_layer(*pair) for pair in zip(first, last, strict=True)]
        for names in own[part.number]:
            found |= dict(zip(sorted(names), general, strict=True))
    return found


def _any_layer(name: str, other: str) -> str:
    pairs = zip(name.split("."), other.split("."), strict=True)
    return r"\.".join(re.escape(a) if a == b else r"\d+" for a, b in pairs)


def _published(model: nn.Module, paper: Any) -> nn.Module | None:
    """Return the model at the size of its publication, without values."""
    kind: Any = type(model)
    settings = getattr(kind, "Config", None)
    found = [getattr(settings, it)() for it in PAPERS if hasattr(settings, it)]
    if paper is None and not found:
        return None
    try:
        with meta_device():
            built: nn.Module = kind(paper or found[0])
    except CourseError:  # such as a student with more layers than its teacher
        if paper is not None:
            raise
        return None
    return built


def _takes(model: nn.Module, name: str) -> bool:
    """Whether ``forward`` takes an argument of this name."""
    parameters = inspect.signature(model.forward).parameters
    if name in parameters:
        return True
    hints = [it.annotation for it in parameters.values() if it.kind is it.VAR_KEYWORD]
    packed = [kind for it in hints for kind in typing.get_args(it)]
    return any(name in getattr(kind, "__annotations__", ()) for kind in packed)
