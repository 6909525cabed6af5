"""One forward pass as a graph: which module or function computes what from what.

Modules and the steps of recurrent layers are scopes; functions of PyTorch are recorded in the scope
that calls them. A value's origins are the calls that computed it. Functions that only rearrange
numbers (views, slices, stacking) pass the origins on, as dropout does in evaluation mode. Only
values that a gradient flows through are followed, and ids up to the embedding or the loss that
takes them; masks and lengths are not.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from lmcourse.evaluation.anatomy.calls import (
    Call,
    adds_nothing,
    arguments_of,
    bound,
    caller,
    flattened,
    hides,
    mapped,
    name_of,
    options_of,
    paths_of,
    place_of,
    tensors,
)

CONSTANT = {
    *("zeros_like", "ones_like", "new_zeros", "new_ones", "new_tensor", "full_like", "empty_like"),
}
REARRANGING = {
    *("reshape", "view", "view_as", "transpose", "permute", "flatten", "unflatten", "contiguous"),
    *("unsqueeze", "squeeze", "expand", "expand_as", "chunk", "split", "unbind", "stack", "select"),
    *("getitem", "to", "float", "double", "half", "type_as", "clone", "dropout", "pad", "narrow"),
    *("take_along_dim", "mT", "T", "where", "masked_fill", "index_select", "broadcast_to", "cpu"),
    *("gather", "repeat", "as_strided", "requires_grad_", "detach"),
}
PRODUCTS = {"matmul", "linear", "mv", "mm", "bmm"}
LOSSES = {"cross_entropy", "nll_loss", "binary_cross_entropy_with_logits", "mse_loss", "kl_div"}


class Tracer(TorchFunctionMode):
    """Records the calls of one forward pass of ``model``."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.paths = paths_of(model)
        self.weights: dict[int, tuple[str, ...]] = {
            id(p): (n,) for n, p in model.named_parameters()
        }
        self.origins: dict[int, tuple[int, ...]] = {}
        self._tables: dict[tuple[str, int], int] = {}  # embeddings that are read as a matrix
        self._made: dict[int, str] = {}  # constants, by the function that computed them
        self._labels: dict[int, Tensor] = {}  # for each number of a tensor an index of these:
        self._sets: list[tuple[int, ...]] = [()]
        self._kept: list[Any] = []  # an id is reused once its object is gone
        self._scopes: list[Call] = []
        self._quiet = 0

    def record(self, kind: str, name: str, **values: Any) -> Call:
        """Append a call in the present scope."""
        parent = self._scopes[-1].index if self._scopes else None
        self.calls.append(Call(len(self.calls), parent, kind, name, **values))
        return self.calls[-1]

    def release(self) -> None:
        """Let go of all tensors at once: parts and calls refer to each other."""
        self._kept.clear()
        self._labels.clear()
        for call in self.calls:
            call.inputs, call.output = {}, None

    def returns(self, call: Call, result: Any) -> None:
        """Take a call's result: its tensors have their origin there."""
        found = list(tensors(result))
        call.output = found[0] if found else None
        for it in found:
            self._set(it, (call.index,))

    def _set(self, tensor: Tensor, origins: tuple[int, ...]) -> None:
        self._kept.append(tensor)
        self.origins[id(tensor)] = origins

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if not self._quiet:
            self._function(func, args, result, kwargs or {})
        return result

    def _function(self, func: Any, args: tuple[Any, ...], result: Any, options: Any) -> None:
        name = name_of(func)
        everything = (*args, *options.values())
        given = list(tensors(everything))
        found = [it for it in tensors(result) if it.dtype != torch.bool]
        if not found or name in CONSTANT:
            return
        if not found[0].is_floating_point():  # ids
            self._pass_on([it for it in given if not it.is_floating_point()], found)
            return
        passing = name in REARRANGING and not hides(name, everything)
        passing |= name == "div" and not found[0].ndim  # the mean of a sum
        if name == "embedding" and id(given[1]) in self.origins:  # rows of a computed table
            passing, given = True, [given[1]]
        if passing and id(given[0]) in self.weights:  # a part of a parameter
            for it in found:
                self._kept.append(it)
                self.weights[id(it)] = self.weights[id(given[0])]
        elif passing:
            first = [it for it in given if it.is_floating_point()] or given
            self._pass_on(first if name in ("stack", "pad") else first[:1], found)
            if name != "dropout":
                self._label(func, args, options, given, found)
        else:
            self._compute(name, everything, result, options)

    def _pass_on(self, given: list[Tensor], found: list[Tensor]) -> None:
        origins = tuple(dict.fromkeys(i for it in given for i in self.origins.get(id(it), ())))
        made = next((self._made[id(it)] for it in given if id(it) in self._made), None)
        for it in found:
            if origins:
                self._set(it, origins)
            elif made:
                self._kept.append(it)
                self._made[id(it)] = made

    def _label(
        self, func: Any, args: Any, options: Any, given: list[Tensor], found: list[Tensor]
    ) -> None:
        """Where several values are stacked, know for each number which of them it comes from."""
        stacks = name_of(func) == "stack" and len(self.origins.get(id(found[0]), ())) > 1
        if not stacks and not any(id(it) in self._labels for it in given):
            return
        labels = func(*mapped(args, self._labels_of), **mapped(options, self._labels_of))
        for it, label in zip(found, tensors(labels), strict=True):
            kept = [self._sets[int(n)] for n in label.unique()]
            self._labels[id(it)] = label
            self._set(it, tuple(dict.fromkeys(i for origins in kept for i in origins)))

    def _labels_of(self, tensor: Tensor) -> Tensor:
        if id(tensor) in self._labels or tensor.dtype == torch.bool:
            return self._labels.get(id(tensor), tensor)
        origins = self.origins.get(id(tensor), ())
        if origins not in self._sets:
            self._sets.append(origins)
        return torch.full(tensor.shape, self._sets.index(origins), device=tensor.device)

    def _compute(self, name: str, args: tuple[Any, ...], result: Any, options: Any) -> None:
        frame = caller()
        given = [*flattened(args)]
        weights = dict.fromkeys(n for it in given for n in self.weights.get(id(it), ()))
        if not weights and not any(id(it) in self.origins for it in given):
            for it in tensors(result):  # known before any input, such as sines of positions
                self._kept.append(it)
                self._made[id(it)] = frame.f_code.co_name
            return
        names = {id(it): n for n, it in frame.f_locals.items() if isinstance(it, Tensor)}
        inputs: dict[str, Any] = {}
        sources: dict[str, tuple[int, ...]] = {}
        tables: set[str] = set()
        for number, it in enumerate(given):
            key = names.get(id(it), "")
            key = f"{key} {number}" if not key or key in inputs else key
            inputs[key] = it
            if not isinstance(it, Tensor):
                continue
            origins = self._origins(name, it)
            if origins:
                sources[key] = origins
                tables.update(self.weights.get(id(it), ()))
        own = tuple(w for w in weights if w not in tables)
        if name == "add" and own and len(sources) == 1 and self._bias(sources, own, result):
            return
        if not sources and not own:
            return
        if name == "add" and len(sources) == 1 and not own and adds_nothing(inputs, sources):
            self._pass_on([inputs[it] for it in sources], list(tensors(result)))
            return
        call = self.record("function", name, inputs=inputs | options_of(options), sources=sources)
        call.parameters, call.place = own, place_of(frame)
        self.returns(call, result)

    def _bias(self, sources: Any, own: tuple[str, ...], result: Tensor) -> bool:
        """Add a bias to the product that it belongs to."""
        (origins,) = sources.values()
        product = self.calls[origins[0]]
        whole = product.output is not None and product.output.shape == result.shape
        if product.name not in PRODUCTS or not product.parameters or not whole:
            return False
        product.parameters += own
        self.returns(product, result)
        return True

    def _origins(self, name: str, it: Tensor) -> tuple[int, ...]:
        """Return where an argument comes from; tables and constants become calls here."""
        if id(it) in self.origins:
            known = self.origins[id(it)]
            return known if it.is_floating_point() or name in LOSSES else ()
        if id(it) in self.weights:
            return self._table(it) if name not in PRODUCTS else ()
        if not it.is_floating_point() or it.ndim < 2 or id(it) not in self._made:
            return ()
        call = self.record("constant", self._made[id(it)], output=it)
        self._set(it, (call.index,))
        return (call.index,)

    def _table(self, tensor: Tensor) -> tuple[int, ...]:
        """Return the call for an embedding whose matrix is used as it is."""
        path = self.weights[id(tensor)][0].rpartition(".")[0]
        module = next((part for part, known in self.paths.items() if known == path), None)
        if not isinstance(module, nn.Embedding):
            return ()
        home = path.rpartition(".")[0]
        scope = next((c for c in reversed(self._scopes) if c.name == home), self._scopes[-1])
        if (path, scope.index) not in self._tables:
            call = self.record("table", path, module=module, output=tensor)
            call.parent, call.place = scope.index, place_of(caller())
            self._tables[path, scope.index] = call.index
        return (self._tables[path, scope.index],)

    @contextmanager
    def scope(self, kind: str, module: nn.Module, name: str, inputs: Any) -> Iterator[Call]:
        """Record a call that makes calls itself."""
        leaf = kind == "module" and type(module).__module__.startswith("torch.")
        call = self.record(kind, name, module=module, leaf=leaf, inputs=inputs)
        call.place = place_of(caller()) if self._scopes else None
        call.sources = {
            key: self.origins[id(it)] for key, it in inputs.items() if id(it) in self.origins
        }
        for key, it in inputs.items() if leaf else ():
            if id(it) in self.weights and (origins := self._table(it)):
                call.sources[key] = origins
        self._scopes.append(call)
        self._quiet += leaf
        try:
            yield call
        finally:
            self._quiet -= leaf
            self._scopes.pop()

    def module(self, call_module: Callable[..., Any]) -> Callable[..., Any]:
        """Return what replaces ``nn.Module.__call__`` during the pass."""

        def wrapped(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            if self._quiet:
                return call_module(module, *args, **kwargs)
            name = self.paths.setdefault(module, type(module).__name__.lower())
            if isinstance(module, nn.Dropout | nn.Identity):
                result = call_module(module, *args, **kwargs)
                if args[0] is not result:
                    self._pass_on([args[0]], [result])
                return result
            if "fused" in arguments_of(module):
                kwargs["fused"] = False
            inputs = bound(module, args, kwargs)
            with self.scope("module", module, name, inputs) as call:
                result = call_module(module, *args, **kwargs)
            call.output = next(iter(tensors(result)), None)
            if call.leaf:
                self.returns(call, result)
            return result

        return wrapped

    def step(self, module: nn.Module) -> Callable[..., Any]:
        """Return what replaces the ``step`` of a recurrent layer during the pass."""
        kind: Any = type(module)

        def wrapped(*args: Any) -> Any:
            inputs = {f"{number}": it for number, it in enumerate(tensors(args))}
            with self.scope("step", module, f"{self.paths[module]}.step", inputs) as call:
                result = kind.step(module, *args)
            call.output = next(iter(tensors(result)), None)
            return result

        return wrapped


def trace(model: nn.Module, inputs: Mapping[str, Any]) -> tuple[Tracer, Any]:
    """Run the model once; return what was recorded, and the output."""
    tracer = Tracer(model)
    for name, value in inputs.items():
        if isinstance(value, Tensor):
            call = tracer.record("input", name, output=value)
            tracer._set(value, (call.index,))
    with ExitStack() as stack:
        stack.enter_context(patch.object(nn.Module, "__call__", tracer.module(nn.Module.__call__)))
        for part in [it for it in tracer.paths if hasattr(type(it), "step")]:
            stack.enter_context(patch.object(part, "step", tracer.step(part)))
        stack.enter_context(tracer)
        return tracer, model(**inputs)
