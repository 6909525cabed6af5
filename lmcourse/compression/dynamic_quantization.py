"""Dynamic quantization: weights in eight bits, and activations when they come (chapter 18).

The weights of a linear layer are rounded once, each row with a scale of its own. The range of what
goes in is not known before: so it is measured at every call, one range for all of it, and the
product is made of whole numbers (`affine.dynamic_linear` has it in plain operations). Nothing needs
to be trained or calibrated; a fourth of the memory, and a processor multiplies eight bits faster.

Two things to know. One range for all of a batch means that a sequence's numbers depend a little on
what else is in the batch, padding included. And embeddings are not quantized, nor what is computed
with their matrix, as BERT's scores of tokens: only layers of the class `torch.nn.Linear` are.

The kernels and layers are PyTorch's (``torch.ao``), which is to replace them by another package and
warns of it; those two warnings are silenced here, as the course pins its version.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from lmcourse.compression.affine import UINT7, UINT8
from lmcourse.compression.layers import (
    Compressed,
    M,
    Where,
    change,
    check_numbers,
    check_untied,
    chosen,
    copy_of,
    replaced,
)
from lmcourse.errors import CourseError


def quantize_dynamic(model: M, where: Where = "*", *, per_channel: bool = True) -> Compressed[M]:
    """A copy of the model with its linear layers in eight bits, in evaluation mode.

    It computes on the CPU, and has no gradients: training comes before, and none of its parameters
    asks for one.

    Args:
        where: patterns of the layers' names, see `layers.chosen`.
        per_channel: whether each row of a matrix has a scale of its own; one for all loses more.

    Raises:
        CourseError: no layer fits; the model is quantized already, under masks, on another device
            than the CPU or in another type than float32; a weight is also another layer's; this
            machine has no kernels for it.
    """
    check_engine()
    model = copy_of(model).eval()
    layers = chosen(model, (nn.Linear,), where)
    check_untied(model, layers)
    for name, layer in layers.items():
        check_float(layer, name)
    new: dict[nn.Module, nn.Module] = {}
    changes = []
    for name, layer in layers.items():
        weight = quantized_weight(layer.weight, per_channel)
        new[layer] = dynamic_layer(weight, layer.bias)
        changes.append(change(name, layer.weight, weight.dequantize(), bits=8))
    return Compressed(replaced(model, new).requires_grad_(False), tuple(changes))


def quantized_weight(weight: Tensor, per_channel: bool = True) -> Tensor:
    """The matrix as a quantized tensor of PyTorch's, zero point 0."""
    from torch.ao.quantization import default_dynamic_qconfig, per_channel_dynamic_qconfig

    with silenced():
        config = per_channel_dynamic_qconfig if per_channel else default_dynamic_qconfig
        observer = config.weight()
        observer(weight.detach())
        scale, zero_point = observer.calculate_qparams()
        if per_channel:
            return torch.quantize_per_channel(weight.detach(), scale, zero_point, 0, torch.qint8)
        return torch.quantize_per_tensor(
            weight.detach(), scale.item(), int(zero_point), torch.qint8
        )


def quantized_tensor(whole: Tensor, scale: Tensor) -> Tensor:
    """PyTorch's quantized tensor of whole numbers and one scale, or one a row; zero point 0."""
    with silenced():
        if scale.ndim == 0:
            return torch._make_per_tensor_quantized_tensor(whole, scale.item(), 0)
        zeros = torch.zeros_like(scale, dtype=torch.int64)
        return torch._make_per_channel_quantized_tensor(whole, scale.double(), zeros, 0)


def dynamic_layer(weight: Tensor, bias: Tensor | None) -> nn.Module:
    """PyTorch's layer with this quantized matrix."""
    from torch.ao.nn.quantized.dynamic import Linear

    with silenced():
        layer = Linear(weight.shape[1], weight.shape[0], bias_=bias is not None)
        layer.set_weight_bias(weight, None if bias is None else bias.detach())
        return layer.eval()


def activation_range() -> tuple[int, int]:
    """The whole numbers that this machine's kernels round activations to.

    Seven bits on most: their processors may add two products of eight bits in sixteen, which could
    overflow. The kernels for ARM take all eight.
    """
    return UINT8 if torch.backends.quantized.engine == "qnnpack" else UINT7


def check_engine() -> None:
    """See that PyTorch has kernels for whole numbers here.

    Raises:
        CourseError: it has none, or none is chosen.
    """
    if torch.backends.quantized.engine == "none":
        others = [name for name in torch.backends.quantized.supported_engines if name != "none"]
        remedy = (
            f"Set torch.backends.quantized.engine = {others[-1]!r}."
            if others
            else "Take a PyTorch built with fbgemm or qnnpack, as its own packages are."
        )
        raise CourseError("PyTorch has no quantized engine at work here.", remedy)


def check_float(layer: nn.Module, name: str) -> None:
    """See that a layer is of what can be quantized: float32, on the CPU, finite.

    Raises:
        CourseError: it is not.
    """
    check_numbers({name: layer})
    for tensor in layer.parameters():
        if tensor.device.type != "cpu" or tensor.dtype != torch.float32:
            raise CourseError(
                f"{name or 'The layer'} is of {tensor.dtype} on {tensor.device}.",
                "Quantize a model of float32 on the CPU: model.float().cpu().",
            )


@contextmanager
def silenced() -> Iterator[None]:
    """Without the two warnings that these layers of PyTorch's will be replaced."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "torch.ao.quantization is deprecated")
        warnings.filterwarnings("ignore", "torch.quantize_per_tensor, torch.quantize_per_channel")
        yield
