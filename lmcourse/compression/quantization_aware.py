"""Quantization-aware training: the model learns to live with rounding (chapter 18).

In training each linear layer rounds its weights, what goes in and what comes out to eight bits and
back ("fake quantization"), so the loss sees the error. Backwards the rounding counts as nothing at
all wherever a number was not clipped: the straight-through estimator (`Affine.fake_quantize` in
`affine`). The ranges of activations are moving averages of their extremes (Jacob et al. 2018,
section 3.1):

    low ← low + c (min x − low)        high ← high + c (max x − high)

and stand still in evaluation. The weights' range is that of the weights, row by row. Zafrir et al.
(2019, "Q8BERT") train BERT so. After training the model is converted: the layers then compute in
whole numbers, with fixed ranges, and differ from what was trained by a step of rounding at most.

As with `dynamic_quantization`, embeddings stay as they are. A weight under a mask (see
`magnitude_pruning`) is rounded after it, Q(m · w): zeros stay zero in training and in eight bits.
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
from lmcourse.compression.dynamic_quantization import (
    activation_range,
    check_engine,
    check_float,
    silenced,
)
from lmcourse.compression.layers import (
    Compressed,
    M,
    Where,
    change,
    check_untied,
    chosen,
    copy_of,
    fraction,
    kind_of,
    own_classes,
    replaced,
)
from lmcourse.compression.magnitude_pruning import check_masks, take_off
from lmcourse.errors import CourseError


def prepare(model: M, where: Where = "*", *, averaging_constant: float = 0.01) -> M:
    """A copy of the model whose linear layers round as they will when converted; train it.

        student = quantization_aware.prepare(student)
        …                                                    # train as ever
        small = quantization_aware.convert(student).model

    Args:
        where: patterns of the layers' names, see `layers.chosen`.
        averaging_constant: c, how fast the ranges of activations follow; 0 < c < 1. (With 1,
            PyTorch's layers would round what goes in twice and what comes out not at all.)

    Raises:
        CourseError: no layer fits; the model is quantized already, on another device than the CPU
            or in another type than float32; a weight is also another layer's, or under something
            else than a mask; c is none; this machine has no kernels for it.
    """
    check_engine()
    fraction(averaging_constant, "averaging_constant", zero=False, one=False)
    model = copy_of(model, masks=True)
    check_masks(model)
    layers = chosen(model, (nn.Linear,), where)
    check_untied(model, layers)
    for name, layer in layers.items():
        check_float(layer, name)
    new = {layer: _fake(layer, averaging_constant) for layer in layers.values()}
    return replaced(model, new)


def convert(model: M) -> Compressed[M]:
    """A copy of the trained model with its layers in whole numbers, in evaluation mode.

    It has no gradients, and no masks: what was under one is zero.

    Raises:
        CourseError: it was not prepared, or was never called in training mode, so that no range
            is known.
    """
    model = copy.deepcopy(model).eval()
    own_classes(model)
    new: dict[nn.Module, nn.Module] = {}
    changes = []
    for name, wrapper in model.named_modules():
        if type(wrapper) is not QuantWrapper or kind_of(wrapper.module) is not qat.Linear:
            continue
        low = cast(Any, wrapper.quant).activation_post_process.activation_post_process.min_val
        if not torch.isfinite(low).all():
            raise CourseError(
                f"{name} has seen no numbers in training mode, and so no range is known.",
                "Call the prepared model on batches after model.train() first.",
            )
        before = cast(Tensor, wrapper.module.weight)
        with silenced():
            theirs: Any = torch_convert(wrapper)
        after, bias = theirs.module.weight(), theirs.module.bias()
        reads = (float(theirs.quant.scale), int(theirs.quant.zero_point))
        writes = (theirs.module.scale, theirs.module.zero_point)
        new[wrapper] = static_layer(after, bias, reads, writes)
        changes.append(change(name, before, after.dequantize(), bits=8))
    if not new:
        raise CourseError(
            f"No layer of this {type(model).__name__} rounds in training.",
            "Call quantization_aware.prepare(model) first, and train what it returns.",
        )
    model = replaced(model, new)
    take_off(model)
    return Compressed(model.requires_grad_(False), tuple(changes))


class Reads(quantized.Quantize):
    """Rounds what goes into a layer, and clips it to the range that was trained with.

    PyTorch's own clips at eight bits, also where only seven may be used.
    """

    def forward(self, x: Tensor) -> Tensor:
        smallest, largest = (self.scale * (q - self.zero_point) for q in activation_range())
        return super().forward(x.clamp(smallest, largest))


class Activations(FakeQuantize):
    """Rounds activations in training. Its range moves then only: an evaluation must not change
    the model.
    """

    def train(self, mode: bool = True) -> "Activations":
        self.enable_observer(mode)
        return super().train(mode)


def static_layer(
    weight: Tensor, bias: Tensor | None, reads: tuple[float, int], writes: tuple[float, int]
) -> nn.Module:
    """A converted layer with this quantized matrix.

    Args:
        reads, writes: scale and zero point of what goes in and of what comes out.
    """
    with silenced():
        linear = quantized.Linear(weight.shape[1], weight.shape[0], bias_=bias is not None)
        linear.set_weight_bias(weight, None if bias is None else bias.detach())
        linear.scale, linear.zero_point = writes
        wrapper = QuantWrapper(linear)
        wrapper.add_module("quant", Reads(*reads, torch.quint8))
        wrapper.add_module("dequant", quantized.DeQuantize())
        return wrapper.eval()


def is_static(module: nn.Module) -> bool:
    """Whether this is a layer that `convert` made."""
    return type(module) is QuantWrapper and type(module.module) is quantized.Linear


def _fake(layer: nn.Module, averaging_constant: float) -> nn.Module:
    """The layer between two stubs; it and the stubs round in training."""
    training = layer.training
    activations = partial(
        Activations,
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
        averaging_constant=1.0,  # the range of the weights as they are now
    )
    configs = [
        QConfig(partial(activations, quant_min=smallest, quant_max=largest), weight)
        for smallest, largest in (activation_range(), UINT8)
    ]
    with silenced():
        wrapper: Any = QuantWrapper(layer.train())
        wrapper.quant.qconfig, wrapper.module.qconfig = configs  # what it reads, what it writes
        return prepare_qat(wrapper, inplace=True).train(training)
