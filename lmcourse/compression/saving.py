"""Compressed models as files: every number once, in the form that it has.

A configuration says nothing of heads that are gone, matrices in two factors, weights in eight bits:
so `Model.save` refuses such a model, and writes layers that are one as often as they are used. Here
the file says it beside the configuration and the tensors, and they are read into a model of the
uncompressed form:

    saving.save(small, "small.safetensors")
    small = saving.load("small.safetensors", Bert)

Zeros do not shrink a file: a pruned matrix takes as much as any other, unless it is written as the
rows' lengths, the columns and the values of what is not zero (CSR, ``sparse=True``). With two bytes
a column, that is smaller from a sparsity of 1/3 on for values of four bytes, of 1/2 for two, and of
2/3 for one.
"""

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from lmcourse.compression.dynamic_quantization import dynamic_layer, quantized_tensor
from lmcourse.compression.head_pruning import keep_heads
from lmcourse.compression.layers import M, copy_of, replaced
from lmcourse.compression.low_rank import LowRankEmbedding, LowRankLinear, in_two
from lmcourse.compression.quantization_aware import is_static, static_layer
from lmcourse.errors import CourseError
from lmcourse.files import replacing, trouble
from lmcourse.models.attention import MultiHeadAttention
from lmcourse.models.checkpoint import (
    COMPRESSED,
    Model,
    config_as_json,
    config_from_json,
    load_strictly,
    read_tensors,
)


def save(model: nn.Module, path: str | Path, *, sparse: bool = False) -> None:
    """Write a compressed model into one safetensors file.

    Args:
        sparse: whether a matrix is written as what is not zero in it, wherever that is smaller.

    Raises:
        CourseError: it cannot be written, and a file that was there before is unchanged; weights
            are under masks, or round in training.
    """
    path = Path(path)
    content = as_bytes(model, sparse=sparse)
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise trouble(error, path, "Or save it under another path.") from error


def as_bytes(model: nn.Module, *, sparse: bool = False) -> bytes:
    """What `save` writes."""
    from safetensors.torch import save as as_safetensors

    tensors, forms, same = contents(model)
    shapes: dict[str, list[int]] = {}
    if sparse:
        tensors, shapes = _sparse(tensors)
    config = config_as_json(model.config) if isinstance(model, Model) else ""
    described = {
        "kind": type(model).__name__,
        "config": config,
        "forms": forms,
        "same": same,
        "shapes": shapes,
    }
    return as_safetensors(tensors, {"format": "pt", COMPRESSED: json.dumps(described)})


def load(path: str | Path, model: M | type[M]) -> M:
    """The model that `save` wrote, in evaluation mode.

    Args:
        model: its class, if it is one of the course's (a `Model`), as the file has its
            configuration, or any model of that class and configuration. Of another module: one of
            the form that it had before it was compressed. What it holds does not matter, and it
            stays as it is.

    Raises:
        CourseError: the file is not there, is none of these, is damaged, or holds a model of
            another form or configuration.
    """
    metadata, tensors = read_tensors(Path(path))
    described = json.loads(metadata.get(COMPRESSED, "{}"))
    fresh = _uncompressed(described, model, path)
    try:
        tensors = _dense(tensors, described["shapes"])
        formed = _formed(fresh.eval(), described["forms"], described["same"])
    except (AttributeError, KeyError, RuntimeError) as error:
        raise CourseError(
            f"{path} holds a model of another form than this {type(fresh).__name__}: {error}",
            "Give one of the configuration that it had before it was compressed.",
        ) from error
    state = _as_floats(tensors, described["forms"])
    own = formed.state_dict(keep_vars=True)
    held = {id(tensor): state[name] for name, tensor in own.items() if name in state}
    # A tensor with two names in the model has one in the file.
    state |= {name: held[id(tensor)] for name, tensor in own.items() if id(tensor) in held}
    load_strictly(formed, state, str(path))
    return _in_eight_bits(formed, tensors, described["forms"])


def _uncompressed(described: Mapping[str, Any], model: M | type[M], path: str | Path) -> M:
    """A new model of the form that the one in the file had before it was compressed."""
    kind = model if isinstance(model, type) else type(model)
    held = described.get("kind")
    if held != kind.__name__:
        raise CourseError(
            f"{path} holds {f'a compressed {held}' if held else 'no compressed model'}, and is to "
            f"be read into a {kind.__name__}.",
            f"Give the class {held}, or a model of it that is not compressed."
            if held
            else f"What Model.save wrote is read by {kind.__name__}.load.",
        )
    if issubclass(kind, Model):
        config: Any = config_from_json(kind.Config, described.get("config", ""), path)
        if not isinstance(model, type):
            _check_same(model.config, config, path, kind.__name__)
        return kind(config)
    if isinstance(model, type) or any(t.is_meta for t in model.state_dict().values()):
        raise CourseError(
            f"A {kind.__name__} cannot be built from its file alone.",
            "Give a model of this class, on a real device such as the CPU.",
        )
    return copy_of(model)


def _check_same(own: Any, held: Any, path: str | Path, kind: str) -> None:
    """See that a model's settings are those of the file."""
    for field in fields(own):
        here, there = getattr(own, field.name), getattr(held, field.name)
        if here != there:
            raise CourseError(
                f"{path} holds a model with {field.name}={there!r}, and is to be read into one "
                f"with {field.name}={here!r}.",
                f"Give the class, and the file says the settings: saving.load(path, {kind}).",
            )


def contents(
    model: nn.Module,
) -> tuple[dict[str, Tensor], dict[str, dict[str, Any]], dict[str, str]]:
    """A model's tensors, each once; the form of its layers; and which modules are one.

    Raises:
        CourseError: weights are under masks, or round in training.
    """
    forms: dict[str, dict[str, Any]] = {}
    tensors: dict[str, Tensor] = {}
    for name, module in model.named_modules():
        if parametrize.is_parametrized(module) or hasattr(module, "weight_fake_quant"):
            raise CourseError(
                f"{name or 'This model'} is under a mask, or rounds in training.",
                "Call magnitude_pruning.make_permanent or quantization_aware.convert first.",
            )
        form = _form_of(module)
        forms |= {name: form} if form else {}
        if "int8" in form:
            tensors |= {_below(name, part): t for part, t in _whole_numbers(module).items()}
    modules = model.named_modules(remove_duplicate=False)
    taken = tuple(_below(name, "") for name, module in modules if "int8" in _form_of(module))
    seen: set[int] = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if not name.startswith(taken) and id(tensor) not in seen:
            seen.add(id(tensor))
            tensors[name] = tensor.detach().clone(memory_format=torch.contiguous_format)
    return tensors, forms, _same(model)


def _same(model: nn.Module) -> dict[str, str]:
    """Each further name of a module, and its first; not of what is inside of it."""
    first: dict[nn.Module, str] = {}
    same: dict[str, str] = {}
    for name, module in model.named_modules(remove_duplicate=False):
        if any(name.startswith(f"{other}.") for other in same):
            continue
        if first.setdefault(module, name) != name:
            same[name] = first[module]
    return same


def _form_of(module: nn.Module) -> dict[str, Any]:
    """What a configuration does not say of a layer; nothing if it is an ordinary one."""
    if isinstance(module, LowRankLinear | LowRankEmbedding):
        return {"rank": module.rank}
    if type(module) is MultiHeadAttention:
        return {"heads": module.heads}
    if type(module).__module__ == "torch.ao.nn.quantized.dynamic.modules.linear":
        return {"int8": "dynamic"}
    if is_static(module):
        quant, linear = cast(Any, module.quant), cast(Any, module.module)
        reads = (float(quant.scale), int(quant.zero_point))
        return {"int8": "static", "reads": reads, "writes": (linear.scale, linear.zero_point)}
    return {}


def _whole_numbers(module: nn.Module) -> dict[str, Tensor]:
    """The tensors of a layer in eight bits."""
    linear: Any = module.module if is_static(module) else module
    weight, bias = linear.weight(), linear.bias()
    rows = weight.qscheme() != torch.per_tensor_affine
    scale = weight.q_per_channel_scales() if rows else torch.tensor(weight.q_scale())
    tensors = {"weight": weight.int_repr(), "scale": scale.float()}
    return tensors if bias is None else tensors | {"bias": bias.detach()}


def _formed(model: M, forms: Mapping[str, Any], same: Mapping[str, str]) -> M:
    """The model with layers that are one, attentions with fewer heads, matrices in two factors."""
    for name, first in same.items():
        parent, _, child = name.rpartition(".")
        model.get_submodule(name)  # which must be there
        model.get_submodule(parent)._modules[child] = model.get_submodule(first)
    new: dict[nn.Module, nn.Module] = {}
    for name, form in forms.items():
        if "heads" in form:
            attention: Any = model.get_submodule(name)
            if attention.heads != form["heads"]:
                keep_heads(attention, list(range(form["heads"])), name)
        if "rank" in form:
            layer: Any = model.get_submodule(name)
            new[layer] = in_two(layer, form["rank"])
    return replaced(model, new)


def _as_floats(tensors: Mapping[str, Tensor], forms: Mapping[str, Any]) -> dict[str, Tensor]:
    """The tensors as a model without whole numbers has them."""
    state = dict(tensors)
    for name, form in forms.items():
        if "int8" in form:
            del state[_below(name, "scale")]
            state[_below(name, "weight")] = state[_below(name, "weight")].float()
    return state


def _in_eight_bits(model: M, tensors: Mapping[str, Tensor], forms: Mapping[str, Any]) -> M:
    """The model with layers of whole numbers in place of those that are to be such."""
    new: dict[nn.Module, nn.Module] = {}
    for name, form in forms.items():
        if "int8" not in form:
            continue
        whole, scale = tensors[_below(name, "weight")], tensors[_below(name, "scale")]
        weight = quantized_tensor(whole, scale)
        bias = tensors.get(_below(name, "bias"))
        if form["int8"] == "dynamic":
            layer = dynamic_layer(weight, bias)
        else:
            layer = static_layer(weight, bias, tuple(form["reads"]), tuple(form["writes"]))
        new[model.get_submodule(name)] = layer
    return replaced(model, new).requires_grad_(False) if new else model


def _sparse(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, list[int]]]:
    """Matrices as their rows' lengths, columns and values, wherever that is smaller."""
    written: dict[str, Tensor] = {}
    shapes: dict[str, list[int]] = {}
    for name, tensor in tensors.items():
        written[name] = tensor
        if tensor.ndim != 2:
            continue
        rows, columns = tensor.nonzero(as_tuple=True)
        parts = {
            "lengths": torch.bincount(rows, minlength=len(tensor)).int(),
            "columns": columns.to(torch.int16 if tensor.shape[1] < 2**15 else torch.int32),
            "values": tensor[rows, columns],
        }
        if sum(part.nbytes for part in parts.values()) < tensor.nbytes:
            del written[name]
            written |= {f"{name}:{part}": t for part, t in parts.items()}
            shapes[name] = list(tensor.shape)
    return written, shapes


def _dense(tensors: Mapping[str, Tensor], shapes: Mapping[str, list[int]]) -> dict[str, Tensor]:
    """The matrices again, zeros and all."""
    read = {name: tensor for name, tensor in tensors.items() if ":" not in name}
    for name, (height, width) in shapes.items():
        lengths, columns, values = (
            tensors[f"{name}:{part}"] for part in ("lengths", "columns", "values")
        )
        rows = torch.arange(height).repeat_interleave(lengths)
        read[name] = torch.zeros(height, width, dtype=values.dtype)
        read[name][rows, columns.long()] = values
    return read


def _below(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part
