"""Head pruning: whole heads of the attention are removed (Michel et al. 2019; chapter 18).

Many heads can go at test time and the model is hardly worse (Michel et al. 2019; Voita et al. 2019
say which remain). To ask what a head is worth, put a gate ξ_h = 1 on what it found, before the
output layer joins the heads; its importance is how much the loss feels the gate, on average over
examples x (Michel et al., section 4.1):

    MHAtt(x) = Σ_h ξ_h Att_h(x)        I_h = E_x |∂L(x) / ∂ξ_h|

A head that goes takes its rows of W_Q, W_K and W_V with it and its columns of the output matrix:
the matrices become smaller for real, and the attention faster. The model then computes what the
full one does with ξ_h = 0.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.compression.layers import Change, Compressed, M, check_open, copy_of, whole
from lmcourse.errors import CourseError
from lmcourse.models.attention import MultiHeadAttention

Importance = dict[str, Float[Tensor, " head"]]


def attentions_of(model: nn.Module) -> dict[str, MultiHeadAttention]:
    """The model's attentions by name, in the order of its layers; a shared one once.

    Raises:
        CourseError: there is none of the course's own.
    """
    found = {n: m for n, m in model.named_modules() if type(m) is MultiHeadAttention}
    if not found:
        raise CourseError(
            f"{type(model).__name__} has no MultiHeadAttention.",
            "Give a model of the course's Transformers.",
        )
    return found


def head_importance(
    model: nn.Module,
    batches: Iterable[Mapping[str, Any]],
    loss: Callable[[Any], Tensor] = lambda result: result.loss,
    *,
    normalize: bool = False,
) -> Importance:
    """How much each head matters to the loss on these batches: I_h = E_x |∂L(x)/∂ξ_h|.

    Each example has gates of its own, so one backward pass gives all absolute values. Where a loss
    is a mean over places, as masked language modeling's is, L(x) is the mean over the labeled
    places of x, and an example counts as often as it has such places: how examples were put into
    batches makes no difference. Dropout is off; the model's gradients and mode stay as they are.

    Args:
        batches: what the model is called with, labels included.
        loss: a batch's mean loss, from what the model returned: the mean over the labels that are
            not −100, or over the examples where there are no ``labels``.
        normalize: divide a layer's numbers by their norm, so that layers compare (section 4.1).

    Raises:
        CourseError: there is no batch, or no loss in what the model returned; the model is
            quantized, or prepared for it.
    """
    check_open(model, masks=True)
    attentions = attentions_of(model)
    sums = {name: torch.zeros(a.heads) for name, a in attentions.items()}
    terms, training = 0, model.training
    model.eval()
    try:
        for batch in batches:
            gradients, size = _gate_gradients(model, attentions, batch, loss)
            of = _terms(batch, size)
            terms += of
            for name, gradient in gradients.items():
                # L is the batch's mean: what an example's terms add to it is ∂L(x)/∂ξ over `of`.
                sums[name] += of * gradient.abs().sum(0).float().cpu()
    finally:
        model.train(training)
    if not terms:
        raise CourseError("There was no batch with a label to measure on.", "Give one at least.")
    importance = {name: total / terms for name, total in sums.items()}
    if normalize:
        importance = {n: nn.functional.normalize(i, dim=0) for n, i in importance.items()}
    return importance


def least_important(importance: Importance, count: int) -> dict[str, list[int]]:
    """The heads that matter least, of all layers together; each layer keeps one.

    Raises:
        CourseError: so many cannot go.
    """
    whole(count, "The number of heads that go", 0)
    free = sum(len(heads) - 1 for heads in importance.values())
    if not 0 <= count <= free:
        raise CourseError(
            f"{count} heads cannot go: each layer keeps one.", f"Choose 0 to {free} heads."
        )
    ranked = sorted(
        (value, name, head)
        for name, heads in importance.items()
        for head, value in list(enumerate(heads.tolist()))
        if head != int(heads.argmax())
    )
    chosen: dict[str, list[int]] = {}
    for _, name, head in ranked[:count]:
        chosen.setdefault(name, []).append(head)
    return {name: sorted(heads) for name, heads in chosen.items()}


def prune_heads(model: M, heads: Mapping[str, Iterable[int]]) -> Compressed[M]:
    """A copy of the model without these heads.

    Args:
        heads: which go, by the attention's name as `attentions_of` has it; counted from 0 among
            those that it has now.

    Its attentions are returned for the heads that are left, in their order. The configuration still
    says how many there were: `lmcourse.compression.saving` writes and reads such a model, and
    `Model.save` refuses it.

    Raises:
        CourseError: a name or a head is not there; a layer would have none left; the model is
            quantized, or its attentions' matrices are under masks or in two factors.
    """
    model = copy_of(model)
    attentions = attentions_of(model)
    changes = []
    for name, removed in heads.items():
        if name not in attentions:
            raise CourseError(
                f"There is no attention {name!r}.", f"There are {', '.join(attentions)}."
            )
        if not isinstance(removed, Iterable) or isinstance(removed, str):
            raise CourseError(f"The heads of {name} are {removed!r}.", "Give a list of numbers.")
        gone = sorted({whole(head, f"A head of {name}", 0) for head in removed})
        attention = attentions[name]
        if not set(gone) <= set(range(attention.heads)) or len(gone) == attention.heads:
            raise CourseError(
                f"Heads {gone} cannot be removed from {name}, which has {attention.heads}.",
                f"Choose among 0 to {attention.heads - 1}, and leave one.",
            )
        before = sum(p.numel() for p in attention.parameters())
        keep_heads(attention, [h for h in range(attention.heads) if h not in gone], name)
        after = sum(p.numel() for p in attention.parameters())
        changes.append(Change(name, before, after))
    return Compressed(model, tuple(changes))


def keep_heads(attention: MultiHeadAttention, kept: list[int], name: str = "attention") -> None:
    """Make the matrices of this attention those of the heads that stay."""
    reads = (attention.query, attention.key, attention.value)
    if any(type(linear) is not nn.Linear for linear in (*reads, attention.output)):
        raise CourseError(
            f"The matrices of {name} are not plain ones any more.",
            "Prune heads first, then factorize or quantize what is left.",
        )
    rows = torch.arange(attention.query.out_features).view(attention.heads, -1)[kept].flatten()
    for part in ("query", "key", "value"):
        linear = getattr(attention, part)
        setattr(attention, part, _linear(linear, linear.weight[rows], linear.bias[rows]))
    output = attention.output
    attention.output = _linear(output, output.weight[:, rows], output.bias)
    attention.heads = len(kept)


@torch.no_grad()
def _linear(like: nn.Linear, weight: Tensor, bias: Tensor) -> nn.Linear:
    """A layer of these weights, in the mode of another and as trainable."""
    linear = nn.utils.skip_init(nn.Linear, weight.shape[1], weight.shape[0])
    linear.weight = nn.Parameter(weight.clone(), like.weight.requires_grad)
    linear.bias = nn.Parameter(bias.clone(), like.bias.requires_grad)
    return linear.train(like.training)


def _terms(batch: Mapping[str, Any], examples: int) -> int:
    """How many terms the batch's loss is the mean of: its labels, or its examples."""
    labels = batch.get("labels")
    return int((labels != -100).sum()) if isinstance(labels, Tensor) else examples


def _gate_gradients(
    model: nn.Module,
    attentions: Mapping[str, MultiHeadAttention],
    batch: Mapping[str, Any],
    loss: Callable[[Any], Tensor],
) -> tuple[dict[str, Float[Tensor, "batch head"]], int]:
    """The gradient of the loss with respect to the gates, and how many examples there are."""
    gates: dict[str, Tensor] = {}

    def gate(name: str, heads: int) -> Callable[[nn.Module, Any], tuple[Tensor]]:
        def hook(_: nn.Module, arguments: Any) -> tuple[Tensor]:
            found = arguments[0]
            if name not in gates:  # a shared attention is called more than once, at one gate
                gates[name] = torch.ones(len(found), heads, device=found.device, dtype=found.dtype)
                gates[name].requires_grad_()
            by_head = found.unflatten(-1, (heads, -1))
            return ((by_head * gates[name][:, None, :, None]).flatten(2),)

        return hook

    with ExitStack() as hooks, torch.enable_grad():
        for name, attention in attentions.items():
            handle = attention.output.register_forward_pre_hook(gate(name, attention.heads))
            hooks.callback(handle.remove)
        value = loss(model(**batch))
    if not isinstance(value, Tensor) or value.ndim:
        raise CourseError(
            f"The loss of a batch is {value!r:.60}, not one number.",
            "Give batches with labels, and loss=… if it stands elsewhere than in result.loss.",
        )
    found = torch.autograd.grad(value, list(gates.values()), materialize_grads=True)
    return dict(zip(gates, found, strict=True)), len(next(iter(gates.values())))
