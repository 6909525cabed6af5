"""Every encoder of the course, alone and with the heads of its pre-training, goes through every
compression."""

import pytest
import torch
from torch import nn

from lmcourse.compression.dynamic_quantization import quantize_dynamic
from lmcourse.compression.head_pruning import (
    attentions_of,
    head_importance,
    least_important,
    prune_heads,
)
from lmcourse.compression.low_rank import factorize
from lmcourse.compression.magnitude_pruning import make_permanent, prune_weights
from lmcourse.compression.quantization_aware import convert, prepare
from lmcourse.compression.sharing import share_layers
from lmcourse.models.attention import MultiHeadAttention
from lmcourse.models.bert import BertConfig
from lmcourse.models.gpt import GPTConfig
from tests.compression.small import untouched
from tests.models.subjects import SUBJECTS


def examined(model) -> bool:
    """A base model, or one whose head computes with its embeddings."""
    ours = type(model).__module__.startswith("lmcourse.models.")
    base = hasattr(model, "embeddings") or type(model).__name__.endswith(("LM", "PreTraining"))
    return ours and base and issubclass(model.Config, BertConfig | GPTConfig)


ENCODERS = [subject for subject in SUBJECTS if examined(subject.build())]


def pruned(model, given):
    return make_permanent(prune_weights(model, 0.5).model)


def without_heads(model, given):
    attentions = attentions_of(model)
    if "labels" in given and type(model).__name__.startswith("Bert"):
        gone = least_important(head_importance(model, [given]), 2)
    else:
        gone = {name: [0] for name in attentions}
    return prune_heads(model, gone).model


def in_eight_bits(model, given):
    return quantize_dynamic(model).model


def in_eight_bits_after_training(model, given):
    prepared = prepare(model, where=("*.0.*", "*head*")).train()
    prepared(**given)
    return convert(prepared).model


def in_two_factors(model, given):
    return factorize(model, energy=0.9, types=(nn.Linear, nn.Embedding)).model


def shared(model, given):
    return share_layers(model).model


WAYS = (pruned, without_heads, in_eight_bits, in_eight_bits_after_training, in_two_factors, shared)


def shapes(result):
    return {
        name: value.shape for name, value in vars(result).items() if isinstance(value, torch.Tensor)
    }


def cases():
    """Each model in each way that there is for it: some have an attention of their own, or layers
    that are one already.
    """
    for subject in ENCODERS:
        modules = list(subject.build().modules())
        stacks = [m for m in modules if isinstance(m, nn.ModuleList) and len(m) > 1]
        for way in WAYS:
            if way is without_heads and not any(type(m) is MultiHeadAttention for m in modules):
                continue
            if way is shared and len(stacks) != 1:
                continue
            yield pytest.param(subject, way, id=f"{subject}, {way.__name__}")


@pytest.mark.parametrize("subject, way", list(cases()))
def test_it_is_called_as_before(subject, way):
    model, given = subject.made(torch.float32), subject.batch()
    with untouched(model):
        small = way(model, given).eval()
    before, after = subject.call(model, given), subject.call(small, given)
    assert shapes(after) == shapes(before)
    assert all(t.isfinite().all() for t in vars(after).values() if isinstance(t, torch.Tensor))
