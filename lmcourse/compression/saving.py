"""Compressed models as files.

A configuration does not record removed heads, factorized matrices or int8 weights: so `Model.save`
refuses such models, and writes one copy of shared layers per use. The files of this module also
hold the structure of the model:

    saving.save(small, "small.safetensors")
    small = saving.load("small.safetensors", Bert)

Zeros do not shrink a file: a pruned matrix takes as much space as any other, unless it is written
in compressed sparse rows (``sparse=True``). With 16-bit column indices, that is smaller above a
sparsity of 1/3 for 4-byte values, 1/2 for 2-byte values, and 2/3 for 1-byte values.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from lmcourse.compression.dynamic_quantization import dynamic_layer, quantized_tensor
from lmcourse.compression.head_pruning import keep_heads
from lmcourse.compression.layers import M, copy_model, replace_modules
from lmcourse.compression.low_rank import LowRankEmbedding, LowRankLinear, low_rank_like
from lmcourse.compression.quantization_aware import is_static, static_layer
from lmcourse.errors import CourseError
from lmcourse.files import replacing, trouble
from lmcourse.models.attention import MultiHeadAttention
from lmcourse.models.checkpoint import (
    COMPRESSED,
    Model,
    config_as_json,
    config_from_json,
)
from lmcourse.models.weights import load_strictly, on_meta, read_tensors


def save(model: nn.Module, path: str | Path, *, sparse: bool = False) -> None:
    """Write a compressed model to a safetensors file.

    Args:
        sparse: whether to write matrices as compressed sparse rows where that is smaller.
    """
    path = Path(path)
    content = as_bytes(model, sparse=sparse)
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise trouble(error, path, "Or save it under another path.") from error


def as_bytes(model: nn.Module, *, sparse: bool = False) -> bytes:
    """Return the content of the file that `save` writes."""
    from safetensors.torch import save as as_safetensors

    tensors, forms, aliases = contents(model)
    shapes: dict[str, list[int]] = {}
    if sparse:
        tensors, shapes = _sparse(tensors)
    structure = {
        "kind": type(model).__name__,
        "config": config_as_json(model.config) if isinstance(model, Model) else "",
        "forms": forms,
        "aliases": aliases,
        "shapes": shapes,
    }
    return as_safetensors(tensors, {"format": "pt", COMPRESSED: json.dumps(structure)})


def load(path: str | Path, model: M | type[M]) -> M:
    """Return the model of a file of `save`, in evaluation mode.

    Args:
        model: for a `Model` of the course, its class, or any model of that class; for another
            module, one with the structure it had before compression. Its weights are not used, and
            it is not modified.
    """
    metadata, tensors = read_tensors(Path(path))
    structure = json.loads(metadata.get(COMPRESSED, "{}"))
    fresh = _uncompressed(structure, model, path, len(tensors))
    try:
        shaped = _with_structure(fresh.eval(), structure["forms"], structure["aliases"])
        tensors = _dense(tensors, structure["shapes"], shaped.state_dict())
    except (AttributeError, KeyError, RuntimeError) as error:
        raise CourseError(
            f"The model in {path} has another structure than this {type(fresh).__name__}: {error}",
            "Pass a model of the configuration that it had before compression.",
        ) from error
    state = _as_floats(tensors, structure["forms"])
    own = shaped.state_dict(keep_vars=True)
    held = {id(tensor): state[name] for name, tensor in own.items() if name in state}
    # A tensor with two names in the model has one name in the file.
    state |= {name: held[id(tensor)] for name, tensor in own.items() if id(tensor) in held}
    load_strictly(shaped, state, str(path))
    return _quantized(shaped, tensors, structure["forms"])


def contents(
    model: nn.Module,
) -> tuple[dict[str, Tensor], dict[str, dict[str, Any]], dict[str, str]]:
    """Return a model's tensors, each once; the forms of its layers; the aliases of its modules."""
    forms: dict[str, dict[str, Any]] = {}
    tensors: dict[str, Tensor] = {}
    quantized: list[str] = []
    for name, module in model.named_modules(remove_duplicate=False):
        if parametrize.is_parametrized(module) or hasattr(module, "weight_fake_quant"):
            raise CourseError(
                f"{name or 'This model'} has a mask, or fake quantization.",
                "Call magnitude_pruning.make_permanent or quantization_aware.convert first.",
            )
        if "int8" in _form_of(module):
            quantized.append(_join(name, ""))
    for name, module in model.named_modules():
        form = _form_of(module)
        forms |= {name: form} if form else {}
        if "int8" in form:
            tensors |= {_join(name, part): t for part, t in _int8_tensors(module).items()}
    seen: set[int] = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if not name.startswith(tuple(quantized)) and id(tensor) not in seen:
            seen.add(id(tensor))
            tensors[name] = tensor.detach().clone(memory_format=torch.contiguous_format)
    return tensors, forms, _aliases(model)


def _uncompressed(
    structure: Mapping[str, Any], model: M | type[M], path: str | Path, tensors: int
) -> M:
    """Return a new model with the structure of the one in the file before compression."""
    kind = model if isinstance(model, type) else type(model)
    held = structure.get("kind")
    if held != kind.__name__:
        raise CourseError(
            f"{path} holds {f'a compressed {held}' if held else 'no compressed model'}, not a "
            f"compressed {kind.__name__}.",
            f"Pass the class {held}, or an uncompressed model of it."
            if held
            else f"{kind.__name__}.load reads what Model.save wrote.",
        )
    if issubclass(kind, Model):
        config: Any = config_from_json(kind.Config, structure.get("config", ""), path)
        return on_meta(lambda: kind(config), tensors, str(path))
    if isinstance(model, type) or any(t.is_meta for t in model.state_dict().values()):
        raise CourseError(
            f"A {kind.__name__} cannot be built from its file alone.",
            "Pass a model of this class on a real device, such as the CPU.",
        )
    return copy_model(model)


def _aliases(model: nn.Module) -> dict[str, str]:
    """Return, for each further name of a shared module, its first name; without submodules."""
    first: dict[nn.Module, str] = {}
    aliases: dict[str, str] = {}
    for name, module in model.named_modules(remove_duplicate=False):
        if any(name.startswith(f"{other}.") for other in aliases):
            continue
        if first.setdefault(module, name) != name:
            aliases[name] = first[module]
    return aliases


def _form_of(module: nn.Module) -> dict[str, Any]:
    """Return what the configuration does not record of a layer; empty for an ordinary one."""
    if isinstance(module, LowRankLinear | LowRankEmbedding):
        return {"rank": module.rank}
    if type(module) is MultiHeadAttention:
        return {"heads": module.heads}
    if type(module).__module__ == "torch.ao.nn.quantized.dynamic.modules.linear":
        return {"int8": "dynamic"}
    if is_static(module):
        quant, linear = cast(Any, module.quant), cast(Any, module.module)
        inputs = (float(quant.scale), int(quant.zero_point))
        return {"int8": "static", "inputs": inputs, "outputs": (linear.scale, linear.zero_point)}
    return {}


def _int8_tensors(module: nn.Module) -> dict[str, Tensor]:
    """Return the tensors of an int8 layer."""
    linear: Any = module.module if is_static(module) else module
    weight, bias = linear.weight(), linear.bias()
    per_channel = weight.qscheme() != torch.per_tensor_affine
    scale = weight.q_per_channel_scales() if per_channel else torch.tensor(weight.q_scale())
    tensors = {"weight": weight.int_repr(), "scale": scale.float()}
    return tensors if bias is None else tensors | {"bias": bias.detach()}


def _with_structure(model: M, forms: Mapping[str, Any], aliases: Mapping[str, str]) -> M:
    """Share layers, remove heads and factorize matrices, as in the file."""
    for name, first in aliases.items():
        parent, _, child = name.rpartition(".")
        model.get_submodule(name)  # raises if it does not exist
        model.get_submodule(parent)._modules[child] = model.get_submodule(first)
    new: dict[nn.Module, nn.Module] = {}
    for name, form in forms.items():
        if "heads" in form:
            attention: Any = model.get_submodule(name)
            if attention.heads != form["heads"]:
                keep_heads(attention, list(range(form["heads"])), name)
        if "rank" in form:
            layer: Any = model.get_submodule(name)
            new[layer] = low_rank_like(layer, form["rank"])
    return replace_modules(model, new)


def _as_floats(tensors: Mapping[str, Tensor], forms: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the state of the model before quantization."""
    state = dict(tensors)
    for name, form in forms.items():
        if "int8" in form:
            del state[_join(name, "scale")]
            state[_join(name, "weight")] = state[_join(name, "weight")].float()
    return state


def _quantized(model: M, tensors: Mapping[str, Tensor], forms: Mapping[str, Any]) -> M:
    """Replace layers by their int8 forms, as in the file."""
    new: dict[nn.Module, nn.Module] = {}
    for name, form in forms.items():
        if "int8" not in form:
            continue
        weight = quantized_tensor(tensors[_join(name, "weight")], tensors[_join(name, "scale")])
        bias = tensors.get(_join(name, "bias"))
        if form["int8"] == "dynamic":
            layer = dynamic_layer(weight, bias)
        else:
            layer = static_layer(weight, bias, tuple(form["inputs"]), tuple(form["outputs"]))
        new[model.get_submodule(name)] = layer
    return replace_modules(model, new).requires_grad_(False) if new else model


def _sparse(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, list[int]]]:
    """Return matrices as row lengths, columns and values where that is smaller; their shapes."""
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


def _dense(
    tensors: Mapping[str, Tensor], shapes: Mapping[str, list[int]], own: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Undo `_sparse`, if the shapes are those of the model's own tensors."""
    dense = {name: tensor for name, tensor in tensors.items() if ":" not in name}
    for name, (height, width) in shapes.items():
        if own[name].shape != (height, width):
            raise RuntimeError(f"{name} has the shape {(height, width)} there.")
        lengths, columns, values = (
            tensors[f"{name}:{part}"] for part in ("lengths", "columns", "values")
        )
        rows = torch.arange(height).repeat_interleave(lengths, output_size=len(columns))
        dense[name] = torch.zeros(height, width, dtype=values.dtype)
        dense[name][rows, columns.long()] = values
    return dense


def _join(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part
