"""Compressions that are wrong in one thing, each noticed by a test of this folder."""

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from unittest.mock import patch

import pytest
import torch
from torch import nn

from lmcourse.compression import (
    affine,
    dynamic_quantization,
    head_pruning,
    low_rank,
    magnitude_pruning,
    quantization_aware,
    sharing,
)
from lmcourse.compression.dynamic_quantization import activation_range
from lmcourse.compression.layers import weight_of
from tests.compression import test_head_pruning as heads
from tests.compression import test_low_rank as ranks
from tests.compression import test_magnitude_pruning as magnitudes
from tests.compression import test_quantization as bits
from tests.compression import test_quantization_aware as aware
from tests.compression import test_sharing as shares
from tests.compression import test_size as files


@dataclass(frozen=True)
class Broken:
    """A compression with one mistake in it.

    Attributes:
        name: the mistake.
        patch: makes the mistake for the duration of a ``with`` block.
        checks: tests, one of which must fail.
    """

    name: str
    patch: Callable[[], AbstractContextManager[object]]
    checks: tuple[Callable[[], None], ...]

    def __str__(self) -> str:
        return self.name


def attribute(owner: object, name: str, wrong: Callable) -> Callable:
    """A patch that puts something wrong in place of a function, which it is given first."""
    right = getattr(owner, name)
    return lambda: patch.object(owner, name, lambda *a, **k: wrong(right, *a, **k))


def one_scale(right, weight, per_channel=True):
    return right(weight, False)


def shifted(right, x, whole=affine.UINT7):
    found = right(x, whole)
    return affine.AffineQuantizer(found.scale, found.zero_point + 1, found.range)


def no_gradient(self, x):
    return self.dequantize(self.quantize(x))


def through_what_is_clipped(self, x):
    return x + (self.dequantize(self.quantize(x)) - x).detach()


def zeroed_once(right, layer, mask):
    with torch.no_grad():
        weight_of(layer).mul_(mask)


def smallest_kept(right, weight, masked, sparsity):
    return right(1 / weight, masked, sparsity)


def of_the_sign(right, weight, masked, sparsity):
    order = weight.flatten().argsort()
    keep = torch.ones_like(order, dtype=weight.dtype)
    keep[order[: round(sparsity * len(order))]] = 0
    return keep.view_as(weight)


def other_heads(right, attention, kept, name="attention"):
    return right(attention, [attention.heads - 1 - head for head in reversed(kept)], name)


def output_cut_short(right, attention, kept, name="attention"):
    output = attention.output.weight.detach().clone()
    right(attention, kept, name)
    attention.output.weight.data = output[:, : attention.query.out_features].clone()


def with_sign(right, model, *arguments, **options):
    with patch.object(torch.Tensor, "abs", lambda self: self):
        return right(model, *arguments, **options)


def of_the_mean(right, model, attentions, batch, loss):
    gradients, size = right(model, attentions, batch, loss)
    return {name: g.sum(0, keepdim=True) for name, g in gradients.items()}, size


def copied(right, self, index, module):
    return right(self, index, copy.deepcopy(module))


def not_transposed(right, matrix, full_matrices=True):
    left, values, vectors = right(matrix, full_matrices=full_matrices)
    square = vectors.shape[0] == vectors.shape[1]
    return left, values, vectors.T if square else vectors


def unbalanced(right, weight, rank):
    left, second = right(weight, rank)
    return left @ torch.diag(second.norm(dim=1)), second


def last_values(right, matrix, full_matrices=True):
    left, values, vectors = right(matrix, full_matrices=full_matrices)
    return left.flip(1), values.flip(0), vectors.flip(0)


def observing(self, mode=True):
    return nn.Module.train(self, mode)


def eight_bits_of_seven(self, x):
    return super(quantization_aware.InputQuantizer, self).forward(x)


def columns_shifted(right, tensors):
    return {n: t.roll(1) if n.endswith(":columns") else t for n, t in right(tensors).items()}


svd, set_item = torch.linalg.svd, nn.ModuleList.__setitem__
for_layers = partial(bits.test_a_layer_is_the_slow_one, True, True)
BROKEN = (
    Broken(
        "int8 scale per tensor for per channel",
        attribute(dynamic_quantization, "quantized_weight", one_scale),
        (for_layers, bits.test_a_scale_a_row_loses_less_than_one_for_all),
    ),
    Broken(
        "zero point off by one",
        attribute(affine, "affine_quantizer", shifted),
        (bits.test_rounding_by_hand, for_layers),
    ),
    Broken(
        "rounding by truncation",
        lambda: patch.object(affine.torch, "round", torch.trunc),
        (bits.test_rounding_by_hand, partial(bits.test_weights_are_rounded_as_by_torch, True)),
    ),
    Broken(
        "halves rounded up",
        lambda: patch.object(affine.torch, "round", lambda x: torch.floor(x + 0.5)),
        (bits.test_rounding_by_hand,),
    ),
    Broken(
        "no straight-through gradient",
        lambda: patch.object(affine.AffineQuantizer, "fake_quantize", no_gradient),
        (partial(aware.test_a_layer_rounds_as_the_equations_say, 0.3),),
    ),
    Broken(
        "a gradient for what was clipped",
        lambda: patch.object(affine.AffineQuantizer, "fake_quantize", through_what_is_clipped),
        (partial(bits.test_fake_quantization_is_that_of_torch_and_so_is_its_gradient, True),),
    ),
    Broken(
        "ranges that move in evaluation",
        lambda: patch.object(quantization_aware.ActivationFakeQuantize, "train", observing),
        (aware.test_evaluation_changes_nothing,),
    ),
    Broken(
        "what goes in clipped at eight bits and not at seven",
        lambda: patch.object(quantization_aware.InputQuantizer, "forward", eight_bits_of_seven),
        (aware.test_converted_layers_are_within_a_step_of_what_was_trained,),
    ),
    Broken(
        "pruned weights regrow in training",
        attribute(magnitude_pruning, "_apply_mask", zeroed_once),
        (magnitudes.test_what_is_pruned_stays_so_in_training,),
    ),
    Broken(
        "smallest kept instead of largest",
        attribute(magnitude_pruning, "_smallest", smallest_kept),
        (magnitudes.test_the_largest_weights_stay,),
    ),
    Broken(
        "least instead of smallest: negative weights pruned",
        attribute(magnitude_pruning, "_smallest", of_the_sign),
        (magnitudes.test_the_largest_weights_stay,),
    ),
    Broken(
        "wrong head removed",
        attribute(head_pruning, "keep_heads", other_heads),
        (
            heads.test_without_heads_is_as_with_their_outputs_zero,
            heads.test_it_says_what_it_did_and_can_go_on,
        ),
    ),
    Broken(
        "query heads pruned but not output's columns",
        attribute(head_pruning, "keep_heads", output_cut_short),
        (heads.test_without_heads_is_as_with_their_outputs_zero,),
    ),
    Broken(
        "importance without the absolute value",
        attribute(heads, "head_importance", with_sign),
        (partial(heads.test_importance_is_the_gates_gradient, (0, 5)),),
    ),
    Broken(
        "importance of the mean example",
        attribute(head_pruning, "_gate_gradients", of_the_mean),
        (partial(heads.test_importance_is_the_gates_gradient, (0, 5)),),
    ),
    Broken(
        "copied instead of shared",
        lambda: patch.object(
            sharing.nn.ModuleList,
            "__setitem__",
            lambda self, index, module: copied(set_item, self, index, module),
        ),
        (partial(shares.test_layers_become_their_mean_or_the_first, "mean", 1),),
    ),
    Broken(
        "V not transposed",
        attribute(torch.linalg, "svd", not_transposed),
        (partial(ranks.test_what_is_lost_is_what_was_left_out, (6, 6)),),
    ),
    Broken(
        "singular values in both factors",
        attribute(low_rank, "factors", unbalanced),
        (partial(ranks.test_a_model_computes_with_the_products, {"rank": 3}),),
    ),
    Broken(
        "the smallest singular values kept",
        attribute(torch.linalg, "svd", last_values),
        (partial(ranks.test_what_is_lost_is_what_was_left_out, (8, 5)),),
    ),
    Broken(
        "columns of a sparse matrix shifted",
        attribute(files, "sparse_form", columns_shifted),
        (files.test_a_sparse_form_is_the_same_matrix,),
    ),
)


@pytest.mark.parametrize("broken", BROKEN, ids=str)
def test_a_wrong_compression_is_noticed(broken: Broken):
    if "seven" in broken.name and activation_range() == affine.UINT8:
        pytest.skip("this machine's kernels take eight bits")
    with broken.patch():
        noticed = []
        for check in broken.checks:
            torch.manual_seed(0)
            try:
                check()
            except AssertionError:
                noticed.append(check)
    assert noticed
