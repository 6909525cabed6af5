"""The size of a model: parameters, memory, and bytes on disk.

They differ. A shared matrix counts once in all of them. A pruned weight still counts as a parameter
and takes four bytes in memory and on disk: only the number of nonzeros shrinks. A file shrinks if
it is compressed by gzip, or if matrices are written as compressed sparse rows. With 16-bit column
indices, that is smaller above a sparsity of 1/3 for 4-byte values, 1/2 for 2-byte values, and 2/3
for 1-byte values.
"""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from lmcourse.compression.layers import Mask
from lmcourse.compression.magnitude_pruning import make_permanent
from lmcourse.compression.quantization_aware import is_static
from lmcourse.errors import CourseError


@dataclass(frozen=True)
class Size:
    """The size of a model in memory.

    Attributes:
        parameters: the number of parameters, shared ones once; quantization scales excluded.
        nonzero: the number of nonzero parameters; None on the meta device.
        bytes: the memory of parameters, scales, masks and buffers. (PyTorch's kernels pack int8
            weights into slightly more.)
    """

    parameters: int
    nonzero: int | None
    bytes: int


def size_of(model: nn.Module) -> Size:
    """Return the size of a model in memory; masked weights count as zeros."""
    masks = [module.mask for module in model.modules() if isinstance(module, Mask)]
    plain = make_permanent(model) if masks else model
    tensors, scales = contents(plain)
    buffers = {name for name, _ in plain.named_buffers(remove_duplicate=False)}
    parameters = [t for name, t in tensors.items() if name not in scales | buffers]
    meta = any(tensor.is_meta for tensor in parameters)
    return Size(
        sum(tensor.numel() for tensor in parameters),
        None if meta else sum(int(tensor.count_nonzero()) for tensor in parameters),
        sum(tensor.nbytes for tensor in [*tensors.values(), *masks]),
    )


def bytes_on_disk(model: nn.Module, form: Literal["dense", "sparse", "gzip"] = "dense") -> int:
    """Return the size of a safetensors file with the model's tensors, each once.

    Args:
        form: ``"sparse"`` writes a matrix as compressed sparse rows where that is smaller;
            ``"gzip"`` compresses the dense file.
    """
    from safetensors.torch import save

    tensors, _ = contents(model)
    content = save(sparse_form(tensors) if form == "sparse" else tensors)
    return len(gzip.compress(content) if form == "gzip" else content)


def contents(model: nn.Module) -> tuple[dict[str, Tensor], set[str]]:
    """Return a model's tensors, each once, and the names of those that are scales."""
    tensors: dict[str, Tensor] = {}
    scales: set[str] = set()
    quantized: list[str] = []  # the prefixes of int8 layers
    known: set[nn.Module] = set()
    for name, module in model.named_modules(remove_duplicate=False):
        if parametrize.is_parametrized(module) or hasattr(module, "weight_fake_quant"):
            raise CourseError(
                f"{name or 'This model'} has a mask, or fake quantization.",
                "Call magnitude_pruning.make_permanent or quantization_aware.convert first.",
            )
        if _is_int8(module):
            prefix = f"{name}." if name else ""
            quantized.append(prefix)
            if module not in known:
                tensors |= {prefix + part: t for part, t in _int8_tensors(module).items()}
                scales.add(f"{prefix}scale")
        known.add(module)
    seen: set[int] = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if not name.startswith(tuple(quantized)) and id(tensor) not in seen:
            seen.add(id(tensor))
            tensors[name] = tensor.detach().clone(memory_format=torch.contiguous_format)
    return tensors, scales


def sparse_form(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return matrices as row lengths, columns and values where that is smaller."""
    written: dict[str, Tensor] = {}
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
    return written


def _is_int8(module: nn.Module) -> bool:
    dynamic = type(module).__module__ == "torch.ao.nn.quantized.dynamic.modules.linear"
    return dynamic or is_static(module)


def _int8_tensors(module: nn.Module) -> dict[str, Tensor]:
    """Return the tensors of an int8 layer."""
    linear: Any = module.module if is_static(module) else module
    weight, bias = linear.weight(), linear.bias()
    per_channel = weight.qscheme() != torch.per_tensor_affine
    scale = weight.q_per_channel_scales() if per_channel else torch.tensor(weight.q_scale())
    tensors = {"weight": weight.int_repr(), "scale": scale.float()}
    return tensors if bias is None else tensors | {"bias": bias.detach()}
