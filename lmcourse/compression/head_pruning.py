"""Head pruning: remove whole attention heads (Michel et al. 2019; chapter 18).

Many heads can be removed at test time at little cost (Michel et al. 2019; Voita et al. 2019 say
which remain). To measure the importance of a head, multiply its output by a gate ξ_h = 1 before the
output projection. The importance is the sensitivity of the loss to the gate, averaged over examples
x (Michel et al., section 4.1):

    MHAtt(x) = Σ_h ξ_h Att_h(x)        I_h = E_x |∂L(x) / ∂ξ_h|

Removing a head removes its rows of W_Q, W_K and W_V and its columns of the output projection: the
matrices shrink, and attention becomes faster. The model then computes what the full model computes
with ξ_h = 0.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.compression.layers import Change, Compressed, M, check_compressible, copy_model
from lmcourse.errors import CourseError
from lmcourse.models.attention import MultiHeadAttention
from lmcourse.models.sampling import evaluating

Importance = dict[str, Float[Tensor, " head"]]


def attentions_of(model: nn.Module) -> dict[str, MultiHeadAttention]:
    """Return the model's attention modules by name, in layer order; a shared one only once."""
    attentions = {n: m for n, m in model.named_modules() if type(m) is MultiHeadAttention}
    if not attentions:
        raise CourseError(
            f"{type(model).__name__} has no MultiHeadAttention.",
            "Pass one of the course's Transformers.",
        )
    return attentions


def head_importance(
    model: nn.Module,
    batches: Iterable[Mapping[str, Any]],
    loss: Callable[[Any], Tensor] = lambda output: output.loss,
) -> Importance:
    """Return the importance of each head, I_h = E_x |∂L(x)/∂ξ_h|, by attention name.

    Each example has its own gates, so one backward pass gives all absolute values. If the loss is a
    mean over positions, as in masked language modeling, L(x) is the mean over the labeled positions
    of x, and x is weighted by their number: the result does not depend on the batching. Dropout is
    off; the model's gradients and mode are unchanged.

    Args:
        batches: the model's inputs, with labels.
        loss: maps a model output to the mean loss of a batch: over the labels that are not −100,
            or over examples if the batch has no ``labels``.
    """
    check_compressible(model, masks=True)
    attentions = attentions_of(model)
    sums = {name: torch.zeros(a.heads) for name, a in attentions.items()}
    total = 0
    with evaluating(model):
        for batch in batches:
            gradients, size = _gate_gradients(model, attentions, batch, loss)
            terms = _num_terms(batch, size)
            total += terms
            for name, gradient in gradients.items():
                # The loss is the batch's mean, so an example's terms add up to terms · ∂L/∂ξ.
                sums[name] += terms * gradient.abs().sum(0).float().cpu()
    return {name: value / total for name, value in sums.items()}


def least_important(importance: Importance, count: int) -> dict[str, list[int]]:
    """Return the heads with the lowest importance across all layers; each layer keeps one."""
    removable = sum(len(heads) - 1 for heads in importance.values())
    if not 0 <= count <= removable:
        raise CourseError(
            f"{count} heads cannot be removed: each layer keeps one.",
            f"Choose 0 to {removable} heads.",
        )
    ranked = sorted(
        (value, name, head)
        for name, heads in importance.items()
        for head, value in enumerate(heads.tolist())
        if head != int(heads.argmax())
    )
    selected: dict[str, list[int]] = {}
    for _, name, head in ranked[:count]:
        selected.setdefault(name, []).append(head)
    return {name: sorted(heads) for name, heads in selected.items()}


def prune_heads(model: M, heads: Mapping[str, Iterable[int]]) -> Compressed[M]:
    """Return a copy of the model without these heads.

    Its attention outputs have the remaining heads, in order. The configuration still has the
    original number, so `Model.save` refuses it.

    Args:
        heads: the heads to remove by attention name (see `attentions_of`), counted from 0 among
            those present.
    """
    model = copy_model(model)
    attentions = attentions_of(model)
    changes = []
    for name, removed in heads.items():
        attention, gone = attentions[name], set(removed)
        if not gone <= set(range(attention.heads)) or len(gone) == attention.heads:
            raise CourseError(
                f"Heads {sorted(gone)} cannot be removed from {name}, which has {attention.heads}.",
                f"Choose among 0 to {attention.heads - 1}, and keep at least one.",
            )
        before = sum(p.numel() for p in attention.parameters())
        keep_heads(attention, [h for h in range(attention.heads) if h not in gone], name)
        after = sum(p.numel() for p in attention.parameters())
        changes.append(Change(name, before, after))
    return Compressed(model, tuple(changes))


def keep_heads(attention: MultiHeadAttention, kept: list[int], name: str = "attention") -> None:
    """Reduce the projections of an attention module to these heads, in place."""
    output = attention.output
    projections = (attention.query, attention.key, attention.value)
    if any(type(linear) is not nn.Linear for linear in (*projections, output)):
        raise CourseError(
            f"The projections of {name} are factorized or quantized.",
            "Prune heads before factorizing or quantizing.",
        )
    rows = torch.arange(attention.query.out_features).view(attention.heads, -1)[kept].flatten()
    for part in ("query", "key", "value"):
        linear = getattr(attention, part)
        setattr(attention, part, _linear(linear, linear.weight[rows], linear.bias[rows]))
    attention.output = _linear(output, output.weight[:, rows], output.bias)
    attention.heads = len(kept)


@torch.no_grad()
def _linear(like: nn.Linear, weight: Tensor, bias: Tensor) -> nn.Linear:
    """Return a layer with these weights, and mode and ``requires_grad`` of another."""
    linear = nn.utils.skip_init(nn.Linear, weight.shape[1], weight.shape[0])
    linear.weight = nn.Parameter(weight.clone(), like.weight.requires_grad)
    linear.bias = nn.Parameter(bias.clone(), like.bias.requires_grad)
    return linear.train(like.training)


def _num_terms(batch: Mapping[str, Any], examples: int) -> int:
    """Return the number of terms in the mean loss: labels, or examples without labels."""
    labels = batch.get("labels")
    return int((labels != -100).sum()) if isinstance(labels, Tensor) else examples


def _gate_gradients(
    model: nn.Module,
    attentions: Mapping[str, MultiHeadAttention],
    batch: Mapping[str, Any],
    loss: Callable[[Any], Tensor],
) -> tuple[dict[str, Float[Tensor, "batch head"]], int]:
    """Return the gradients of the loss with respect to the gates, and the batch size."""
    gates: dict[str, Tensor] = {}

    def gate(name: str, heads: int) -> Callable[[nn.Module, Any], tuple[Tensor]]:
        def hook(_: nn.Module, arguments: Any) -> tuple[Tensor]:
            x = arguments[0]
            if name not in gates:  # the calls of a shared attention have the same gates
                gates[name] = torch.ones(len(x), heads, device=x.device, dtype=x.dtype)
                gates[name].requires_grad_()
            by_head = x.unflatten(-1, (heads, -1))
            return ((by_head * gates[name][:, None, :, None]).flatten(2),)

        return hook

    with ExitStack() as hooks, torch.enable_grad():
        for name, attention in attentions.items():
            handle = attention.output.register_forward_pre_hook(gate(name, attention.heads))
            hooks.callback(handle.remove)
        value = loss(model(**batch))
    gradients = torch.autograd.grad(value, list(gates.values()), materialize_grads=True)
    return dict(zip(gates, gradients, strict=True)), len(next(iter(gates.values())))
