"""Quantization-aware training: the model adapts to rounding (chapter 18).

During training each linear layer quantizes and dequantizes its weight, inputs and outputs ("fake
quantization"), so the loss includes the error. The gradient ignores the rounding wherever a value
is not clipped: the straight-through estimator (`AffineQuantizer.fake_quantize` in `affine`). The
ranges of activations are moving averages of their extremes (Jacob et al. 2018, section 3.1):

    low ← low + c (min x − low)        high ← high + c (max x − high)

They are fixed in evaluation mode. The range of a weight is its present one, per row. Zafrir et al.
(2019, "Q8BERT") train BERT this way. After training the model is converted: its linear layers then
compute in integers with fixed ranges, and differ from the trained ones by at most one step.

As in `dynamic_quantization`, embeddings are not quantized. Masks (see `magnitude_pruning`) are
applied before rounding, Q(m · w): zeros remain zero in training and in int8.
"""

import copy
from functools import partial
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.ao.nn import qat, quantized
from torch.ao.quantization import (
    FakeQuantize,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    QConfig,
    QuantWrapper,
    prepare_qat,
)
from torch.ao.quantization import convert as torch_convert

from lmcourse.compression.affine import INT8, UINT8
from lmcourse.compression.dynamic_quantization import activation_range, silenced
from lmcourse.compression.layers import (
    Compressed,
    M,
    Where,
    change_of,
    check_share,
    copy_model,
    original_class,
    replace_modules,
    select_layers,
    separate_classes,
)
from lmcourse.compression.magnitude_pruning import remove_masks
from lmcourse.errors import CourseError

QParams = tuple[float, int]
"""Scale and zero point."""


def prepare(model: M, where: Where = "*", *, averaging_constant: float = 0.01) -> M:
    """Return a copy of the model with fake quantization in its linear layers, for training.

        student = quantization_aware.prepare(student)
        …                                                    # train as usual
        small = quantization_aware.convert(student).model

    Args:
        where: one or more patterns of layer names, see `layers.select_layers`.
        averaging_constant: c, the rate of the moving averages, 0 < c < 1. (With 1, PyTorch's layers
            would round inputs twice and outputs not at all.)
    """
    check_share(averaging_constant, "averaging_constant")
    model = copy_model(model, masks=True)
    layers = select_layers(model, nn.Linear, where, untied=True)
    return replace_modules(
        model, {layer: _fake_quantized(layer, averaging_constant) for layer in layers.values()}
    )


def convert(model: M) -> Compressed[M]:
    """Return a copy of the trained model with int8 layers, in evaluation mode.

    It has no gradients and no masks: masked weights are zero.
    """
    model = copy.deepcopy(model).eval()
    separate_classes(model)
    new: dict[nn.Module, nn.Module] = {}
    changes = []
    for name, wrapper in model.named_modules():
        if type(wrapper) is not QuantWrapper or original_class(wrapper.module) is not qat.Linear:
            continue
        low = cast(Any, wrapper.quant).activation_post_process.activation_post_process.min_val
        if not torch.isfinite(low).all():
            raise CourseError(
                f"{name} was never called in training mode, so its ranges are unknown.",
                "Call model.train(), then the prepared model on batches.",
            )
        before = cast(Tensor, wrapper.module.weight)
        with silenced():
            converted: Any = torch_convert(wrapper)
        linear, quant = converted.module, converted.quant
        weight = linear.weight()
        new[wrapper] = static_layer(
            weight,
            linear.bias(),
            (float(quant.scale), int(quant.zero_point)),
            (linear.scale, linear.zero_point),
        )
        changes.append(change_of(name, before, weight.dequantize(), bits=8))
    if not new:
        raise CourseError(
            f"No layer of this {type(model).__name__} has fake quantization.",
            "Call quantization_aware.prepare(model) first, and train its result.",
        )
    model = replace_modules(model, new)
    remove_masks(model)
    return Compressed(model.requires_grad_(False), tuple(changes))


class InputQuantizer(quantized.Quantize):
    """Quantizes the inputs of a layer, clipped to the range of training.

    PyTorch's class clips to eight bits, even where the kernels use only seven.
    """

    def forward(self, x: Tensor) -> Tensor:
        smallest, largest = (self.scale * (q - self.zero_point) for q in activation_range())
        return super().forward(x.clamp(smallest, largest))


class ActivationFakeQuantize(FakeQuantize):
    """Fake quantization of activations whose range is updated in training mode only."""

    def train(self, mode: bool = True) -> "ActivationFakeQuantize":
        self.enable_observer(mode)
        return super().train(mode)


def static_layer(
    weight: Tensor, bias: Tensor | None, inputs: QParams, outputs: QParams
) -> nn.Module:
    """Return a statically quantized layer.

    Args:
        weight: a quantized tensor.
        inputs, outputs: scale and zero point of inputs and outputs.
    """
    with silenced():
        linear = quantized.Linear(weight.shape[1], weight.shape[0], bias_=bias is not None)
        linear.set_weight_bias(weight, None if bias is None else bias.detach())
        linear.scale, linear.zero_point = outputs
        wrapper = QuantWrapper(linear)
        wrapper.add_module("quant", InputQuantizer(*inputs, torch.quint8))
        wrapper.add_module("dequant", quantized.DeQuantize())
        return wrapper.eval()


def is_static(module: nn.Module) -> bool:
    """Return whether this is a layer of `static_layer`."""
    return type(module) is QuantWrapper and type(module.module) is quantized.Linear


def _fake_quantized(layer: nn.Module, averaging_constant: float) -> nn.Module:
    """Return the layer with fake quantization of weight, inputs and outputs."""
    training = layer.training
    activations = partial(
        ActivationFakeQuantize,
        observer=MovingAverageMinMaxObserver,
        dtype=torch.quint8,
        averaging_constant=averaging_constant,
    )
    weight = partial(
        FakeQuantize,
        observer=MovingAveragePerChannelMinMaxObserver,
        quant_min=INT8[0],
        quant_max=INT8[1],
        dtype=torch.qint8,
        qscheme=torch.per_channel_symmetric,
        averaging_constant=1.0,  # no average: the present range of the weight
    )
    configs = [
        QConfig(partial(activations, quant_min=smallest, quant_max=largest), weight)
        for smallest, largest in (activation_range(), UINT8)
    ]
    with silenced():
        wrapper: Any = QuantWrapper(layer.train())
        wrapper.quant.qconfig, wrapper.module.qconfig = configs  # of inputs, of outputs
        return prepare_qat(wrapper, inplace=True).train(training)
