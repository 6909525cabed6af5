"""The numbers of a drawing: a part of each tensor, and what its numbers are computed from."""

from collections.abc import Callable, Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from lmcourse.evaluation.anatomy.calls import Call
from lmcourse.evaluation.anatomy.folding import Graph, Part
from lmcourse.evaluation.anatomy.tracing import PRODUCTS

ELEMENTWISE = {
    **{name: name for name in ("add", "mul", "tanh", "sigmoid", "relu", "gelu")},
    **{"sub": "sub", "rsub": "sub", "div": "div", "masked_fill": "mask"},
}
Arrays = dict[str, Any]
MOST_WHOLE = 16  # columns


class Limits(NamedTuple):
    """How much is kept: rows, columns, the most terms of a sum, and layers with arithmetic."""

    rows: int
    columns: int
    terms: int
    layers: int = 100


LADDER = (
    *(Limits(12, 16, 1024), Limits(12, 16, 520), Limits(12, 8, 520), Limits(12, 16, 260, 1)),
    *(Limits(12, 8, 260, 1), Limits(8, 8, 260, 1), Limits(8, 4, 260, 1)),
    *(Limits(8, 8, 0), Limits(4, 2, 0)),
)


class Store:
    """All numbers in one array, equal ones once."""

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self.size = 0
        self._known: dict[bytes, int] = {}

    def keep(self, array: Any) -> list[int]:
        """Return offset and shape of an array."""
        flat = np.ascontiguousarray(array, dtype=np.float32)
        key = flat.tobytes()
        if key not in self._known:
            self._known[key] = self.size
            self.parts.append(flat.ravel())
            self.size += flat.size
        return [self._known[key], *flat.shape]

    def packed(self) -> Any:
        """Return the array."""
        return np.concatenate([*self.parts, np.zeros(1, np.float32)])


def numbers(graph: Graph, batch: int, most: int) -> tuple[list[list[Arrays]], Any]:
    """Return for each part and each repetition of its layers its arrays, and the stored numbers.

    Args:
        batch: the size of the batch; the first sequence is shown.
        most: bytes.
    """
    weights = dict(graph.model.named_parameters())
    for limits in LADDER:
        store = Store()
        found = [_of_part(part, weights, batch, limits, store) for part in graph.parts]
        if store.size * 4 <= most:
            break
    return found, store.packed()


def _of_part(part: Part, weights: Any, batch: int, limits: Limits, store: Store) -> list[Arrays]:
    steps = prod(it.count for it in part.lineage if it.in_time)
    calls = part.calls
    if part.call.output is None:
        return []
    rows = [calls[at : at + steps] for at in range(0, len(calls), steps)]
    kept = []
    for n, row in enumerate(rows):
        own = limits if n < limits.layers else limits._replace(terms=0)
        all_steps = [_of_call(call, weights, batch, own) for call in row[: limits.rows]]
        arrays = all_steps[0]
        if part.lineage and any(it.in_time for it in part.lineage):
            arrays = {k: _over_time(k, [it[k] for it in all_steps]) for k in arrays}
        kept.append({k: v if isinstance(v, str) else store.keep(v) for k, v in arrays.items()})
    return kept


def _over_time(name: str, steps: list[Any]) -> Any:
    """Return a row for each time step; weights and names are those of all steps."""
    if isinstance(steps[0], str) or name in ("w", "bias", "scale"):
        return steps[0]
    return np.concatenate(steps, axis=1)


def _of_call(call: Call, weights: Any, batch: int, limits: Limits) -> Arrays:
    assert call.output is not None
    whole = _first(call.output, batch, call)
    if not whole.is_floating_point():
        return {"y": _cut(whole, limits)}
    found: Arrays = {"y": _cut(whole, limits)}
    operands = _operands(call, whole, weights, lambda it: _first(it, batch, call), limits)
    if operands is not None and limits.terms:
        found |= operands
    return found


def _operands(
    call: Call, y: Tensor, weights: Any, first: Callable[[Tensor], Tensor], limits: Limits
) -> Arrays | None:
    """Return what the numbers of y are computed from, by name, and how ("op"); None: unknown."""
    module, rows = call.module, limits.rows
    columns = _columns(_three(y), limits)
    values = [it for it in call.inputs.values() if isinstance(it, Tensor | int | float)]
    given = [first(it) for it in values if isinstance(it, Tensor)]
    w: Tensor
    b: Tensor | None
    if call.kind == "module" and isinstance(module, nn.Linear):
        x, w, b = given[0], module.weight, module.bias
    elif call.kind == "function" and call.name in PRODUCTS and call.parameters:
        x, w = given[0], next(it for it in values[1:] if isinstance(it, Tensor))
        if w.ndim != 2:  # a vector for each position: the shapes differ
            return None
        w = w if call.name == "linear" else w.mT
        named = [weights[it] for it in call.parameters if it in weights]
        b = next((it for it in named if it.ndim == 1 and len(named) > 1), None)
    elif call.kind == "module" and isinstance(module, nn.LayerNorm) and module.bias is not None:
        x = given[0]
        sd = (x.var(-1, correction=0, keepdim=True) + module.eps).sqrt()
        return {
            **{"op": "norm", "x": _cut(x, limits), "bias": _row(module.bias, columns)},
            **{"mean": _cut(x.mean(-1, keepdim=True), limits), "sd": _cut(sd, limits)},
            "w": _row(module.weight, columns),
        }
    elif call.name == "matmul" and len(given) > 1:
        a, b = given[:2]
        if not (1 < a.ndim == b.ndim > 1) or a.shape[-1] > limits.terms:
            return None
        cut = _three(a)[:12, :rows], _three(b.mT)[:12, :columns]
        return {"op": "matmul", "a": _array(cut[0]), "b": _array(cut[1])}
    elif call.name == "softmax" and given[0].shape[-1] <= max(limits.terms, 64):
        return {"op": "softmax", "a": _array(_three(given[0])[:12, :rows]).clip(-1e30)}
    elif call.name in ELEMENTWISE and call.kind == "function":
        names = ("b", "a") if call.name == "rsub" else ("a", "b")
        spread = [torch.as_tensor(first(it) if isinstance(it, Tensor) else it) for it in values]
        if any(y.shape != torch.broadcast_shapes(it.shape, y.shape) for it in spread):
            return None
        kept = [_cut(torch.broadcast_to(it, y.shape).to(y), limits) for it in spread[:2]]
        return {"op": ELEMENTWISE[call.name], **dict(zip(names, kept, strict=False))}
    else:
        return None
    if x.shape[-1] > limits.terms or x.shape[-1] != w.shape[-1]:
        return None
    found = {"op": "linear", "x": _array(_three(x)[:12, :rows]), "w": _array(w[:columns])}
    return found if b is None else found | {"bias": _row(b, columns)}


def _first(tensor: Tensor, batch: int, call: Call) -> Tensor:
    """Return the first sequence of a batch."""
    alone = call.kind in ("table", "constant") or not tensor.ndim or len(tensor) != batch
    return tensor if alone else tensor[0]


def _three(tensor: Tensor) -> Tensor:
    """Return (head, row, column): leading axes flattened, or of size 1."""
    return tensor.reshape(-1, *([1, 1, *tensor.shape][-2:])) if tensor.numel() else tensor


def _cut(tensor: Tensor, limits: Limits) -> Any:
    three = _three(tensor)
    return _array(three[:12, : limits.rows, : _columns(three, limits)]).clip(-1e30)


def _columns(tensor: Tensor, limits: Limits) -> int:
    """Return how many columns are kept: all, such as of attention weights, where there are few."""
    return MOST_WHOLE if tensor.shape[-1] <= MOST_WHOLE else limits.columns


def _row(tensor: Tensor, columns: int) -> Any:
    return _array(tensor[:columns])


def _array(tensor: Tensor) -> Any:
    return tensor.detach().cpu().float().numpy()


def extremes(part: Part, batch: int) -> tuple[float, float, float] | None:
    """Return the least, the mean and the greatest number of a part's output, in all repetitions."""
    outputs = [it.output for it in part.calls if it.output is not None]
    if not outputs or not outputs[0].is_floating_point():
        return None
    flat = torch.cat([it.detach().float().flatten() for it in _finite(outputs)])
    if not flat.numel():
        return None
    return float(flat.min()), float(flat.mean()), float(flat.max())


def _finite(outputs: list[Tensor]) -> Iterator[Tensor]:
    for it in outputs:
        yield it[it.isfinite()]
