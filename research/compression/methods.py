"""How a fine-tuned model is compressed: what happens before its recovery, and what after.

Each method is one or more of `lmcourse.compression`. Those with ``of=`` compress the model that
another method left after its recovery, and need no updates of their own.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from lmcourse.compression import (
    dynamic_quantization,
    head_pruning,
    low_rank,
    magnitude_pruning,
    quantization_aware,
    sharing,
)
from lmcourse.training.examples import Batch

Step = Callable[[Any], nn.Module]
FAMILIES = ("none", "pruning", "quantization", "sharing", "low rank", "two families")


@dataclass(frozen=True)
class Method:
    """A way to compress.

    Attributes:
        name: what the page and the figure call it.
        family: one of `FAMILIES`.
        before: makes of a fine-tuned model the one that recovers, given some training batches.
        after: makes of that one the compressed model.
        of: the method whose result this one compresses further, without updates.
    """

    name: str
    family: str
    before: Callable[[Any, Sequence[Batch]], nn.Module] = lambda model, _: copy.deepcopy(model)
    after: Step = lambda model: model
    of: str | None = None


def pruned(sparsity: float) -> Method:
    """The smallest weights of each matrix, embeddings included, are zero.

    (Taken from all matrices together, half of them left the teacher's accuracy at chance, also
    after 50 updates of recovery.)
    """
    return Method(
        f"pruning {sparsity:.0%}".replace("%", " %"),
        "pruning",
        lambda model, _: magnitude_pruning.prune_weights(model, sparsity, scope="layer").model,
        magnitude_pruning.make_permanent,
    )


def factorized(part: int) -> Method:
    """Matrices, embeddings included, have a fraction of the width as their rank, where that is
    smaller.
    """

    def before(model: Any, _: Sequence[Batch]) -> nn.Module:
        width = model.config.hidden_size
        types = (nn.Linear, nn.Embedding)
        return low_rank.factorize(model, rank=width // part, types=types).model

    return Method(f"rank 1/{part}", "low rank", before)


def half_of_heads(model: Any, batches: Sequence[Batch]) -> nn.Module:
    """Remove the less important half of all heads."""
    importance = head_pruning.head_importance(model, batches)
    count = sum(len(heads) for heads in importance.values()) // 2
    return head_pruning.prune_heads(model, head_pruning.least_important(importance, count)).model


def shared(model: Any, _: Sequence[Batch]) -> nn.Module:
    """Let each two neighboring layers use their mean."""
    return sharing.share_layers(model, groups=model.config.num_hidden_layers // 2).model


def int8(model: Any) -> nn.Module:
    """Quantize the linear layers, with ranges of activations measured in each call."""
    return dynamic_quantization.quantize_dynamic(model).model


METHODS = (
    Method("none", "none"),
    pruned(0.5),
    pruned(0.75),
    pruned(0.9),
    Method("half of the heads", "pruning", half_of_heads),
    Method(
        "int8, trained",
        "quantization",
        lambda model, _: quantization_aware.prepare(model),
        lambda model: quantization_aware.convert(model).model,
    ),
    Method("layers shared by two", "sharing", shared),
    factorized(2),
    factorized(4),
    Method("float16 file", "quantization", after=lambda model: model.half().float(), of="none"),
    Method("int8, dynamic", "quantization", after=int8, of="none"),
    Method("pruning 75 %, int8", "two families", after=int8, of="pruning 75 %"),
    Method("rank 1/4, int8", "two families", after=int8, of="rank 1/4"),
)
BY_NAME = {method.name: method for method in METHODS}
