"""Dynamic quantization: int8 weights, activations quantized at run time (chapter 18).

The weight of a linear layer is quantized once, with one scale per row. The range of the inputs is
not known in advance, so each call measures it, one range for the whole tensor, and computes the
product in integers (`affine.dynamic_linear` shows it in plain operations). This needs no training
and no calibration, takes a quarter of the memory, and is faster on most processors.

Two limits: with one range per batch, the result for a sequence depends slightly on the other
sequences and on padding. And only layers of class `torch.nn.Linear` are quantized: neither
embeddings nor computations with their matrix, such as BERT's token scores.

Kernels and layers are those of ``torch.ao``. Its deprecation warnings are suppressed here, since
the course pins its version of PyTorch.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from lmcourse.compression.affine import UINT7, UINT8, symmetric_quantizer
from lmcourse.compression.layers import (
    Compressed,
    M,
    Where,
    change_of,
    copy_model,
    replace_modules,
    select_layers,
)


def quantize_dynamic(model: M, where: Where = "*", *, per_channel: bool = True) -> Compressed[M]:
    """Return a copy of the model with int8 linear layers, in evaluation mode.

    It is a float32 model on the CPU, and has no gradients.

    Args:
        where: one or more patterns of layer names, see `layers.select_layers`.
        per_channel: whether each row of a weight has its own scale; a single scale is less precise.

    Raises:
        CourseError: no layer matches; the model is quantized or masked; a weight is tied.
    """
    model = copy_model(model).eval()
    layers = select_layers(model, nn.Linear, where, untied=True)
    new: dict[nn.Module, nn.Module] = {}
    changes = []
    for name, layer in layers.items():
        weight = quantized_weight(layer.weight, per_channel)
        new[layer] = dynamic_layer(weight, layer.bias)
        changes.append(change_of(name, layer.weight, weight.dequantize(), bits=8))
    return Compressed(replace_modules(model, new).requires_grad_(False), tuple(changes))


def quantized_weight(weight: Tensor, per_channel: bool = True) -> Tensor:
    """Return the weight as a quantized tensor with zero point 0."""
    weight = weight.detach()
    quantizer = symmetric_quantizer(weight, per_channel=per_channel)
    return quantized_tensor(quantizer.quantize(weight).to(torch.int8), quantizer.scale)


def quantized_tensor(integers: Tensor, scale: Tensor) -> Tensor:
    """Return the quantized tensor of these integers and one scale, or one per row; zero point 0."""
    with silenced():
        if scale.ndim == 0:
            return torch._make_per_tensor_quantized_tensor(integers, scale.item(), 0)
        zeros = torch.zeros_like(scale, dtype=torch.int64)
        return torch._make_per_channel_quantized_tensor(integers, scale.double(), zeros, 0)


def dynamic_layer(weight: Tensor, bias: Tensor | None) -> nn.Module:
    """Return PyTorch's dynamically quantized layer with this quantized weight."""
    from torch.ao.nn.quantized.dynamic import Linear

    with silenced():
        layer = Linear(weight.shape[1], weight.shape[0], bias_=bias is not None)
        layer.set_weight_bias(weight, None if bias is None else bias.detach())
        return layer.eval()


def activation_range() -> tuple[int, int]:
    """Return the integer range of activations in this machine's kernels.

    Most kernels use seven bits, since x86 processors may add two 8-bit products in 16 bits, which
    can overflow. The kernels for ARM use eight.
    """
    return UINT8 if torch.backends.quantized.engine == "qnnpack" else UINT7


@contextmanager
def silenced() -> Iterator[None]:
    """Suppress the two deprecation warnings of ``torch.ao``."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "torch.ao.quantization is deprecated")
        warnings.filterwarnings("ignore", "torch.quantize_per_tensor, torch.quantize_per_channel")
        yield
