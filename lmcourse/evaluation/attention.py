"""A model's attention weights with the queries, keys and masks that they are computed from."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.evaluation.logits import check_module
from lmcourse.models.attention import MultiHeadAttention, causal_mask, masked_softmax
from lmcourse.models.disentangled_attention import DisentangledAttention, relative_scores
from lmcourse.models.sampling import evaluating


@torch.no_grad()
def attention_arrays(
    model: nn.Module,
    tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    part: str | None = None,
    **inputs: Any,
) -> dict[str, Any]:
    """Run a model on one sequence, without dropout, and record its attentions.

        AttentionHeads(**attention_arrays(model, tokens, input_ids=ids))

    Args:
        model: one of the course's with `MultiHeadAttention` or `DisentangledAttention`.
        tokens: one string per query.
        key_tokens: one per key, if these are other tokens (``part="cross"``).
        part: ``"encoder"``, ``"decoder"`` or ``"cross"``, for an encoder-decoder.
        inputs: the model's inputs, a batch of 1.

    Returns:
        The arguments of `lmcourse.widgets.AttentionHeads`: attentions (layer, head, query, key),
        tokens, queries (layer, head, query, width), keys (layer, head, key, width), scale, values
        multiplied by the output projection (layer, head, key, hidden), a boolean mask if there is
        one, segments if ``token_type_ids`` has two. For DeBERTa also the relative terms as bias,
        and as attentions a mapping: the softmax of all terms, and that of each term alone, without
        values.

    Raises:
        CourseError: the model has no such attention, or is a pair of models; there is more than
            one sequence; or ``part`` is needed or unknown.
    """
    calls = _of_part(model, _recorded(model, inputs), part)
    out: dict[str, Any] = {"tokens": list(tokens)}
    if key_tokens is not None:
        out["key_tokens"] = list(key_tokens)
    for name in ("queries", "keys", "values", "bias"):
        if calls[0].get(name) is not None:
            out[name] = torch.cat([call[name] for call in calls]).float().cpu()
    out["scale"] = calls[0]["scale"]
    if calls[0]["mask"] is not None:
        out["mask"] = calls[0]["mask"].cpu()
    attentions = {name: _stacked(calls, name) for name in calls[0]["attentions"]}
    out["attentions"] = attentions if len(attentions) > 1 else attentions["attention"]
    segments = inputs.get("token_type_ids")
    if segments is not None and segments.unique().numel() == 2 and key_tokens is None:
        out["segments"] = segments[0].tolist()
    return out


def _recorded(model: nn.Module, inputs: dict[str, Any]) -> list["_Call"]:
    """What every attention of the model computed in one call, in order."""
    check_module(model)
    found: list[_Call] = []
    hooks = []
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention | DisentangledAttention):
            hook = _recorder(name, found)
            hooks.append(module.register_forward_pre_hook(hook, with_kwargs=True))
    try:
        with evaluating(model):
            model(**inputs)
    finally:
        for it in hooks:
            it.remove()
    return found


_Call = tuple[str, dict[str, Any]]  # an attention's name in the model, and what it computed


def _part_of(name: str) -> str:
    if name.endswith("cross_attention"):
        return "cross"
    return "decoder" if name.startswith("decoder.") else "encoder"


def _of_part(model: nn.Module, found: list[_Call], part: str | None) -> list[dict[str, Any]]:
    """The calls of one part, in order."""
    own = type(model).__name__
    parts = list(dict.fromkeys(_part_of(it) for it, _ in found))
    if not parts:
        raise CourseError(
            f"{own} has no multi-head attention.",
            "Pass a Transformer of lmcourse.models, or attentions to AttentionHeads directly.",
        )
    if part not in parts and (part is not None or len(parts) > 1):
        raise CourseError(
            f"{own} has the attentions {', '.join(parts)}.",
            f"Pass one: {' or '.join(f'part={it!r}' for it in parts)}."
            if len(parts) > 1
            else "Leave out part.",
        )
    calls = [(name, call) for name, call in found if _part_of(name) == (part or parts[0])]
    stacks = dict.fromkeys(name.partition(".layers.")[0] for name, _ in calls)
    if len(stacks) > 1:
        models = list(dict.fromkeys(it.split(".")[0] for it in stacks))
        raise CourseError(
            f"{own} contains several models: {', '.join(models)}.",
            f"Pass one of them, such as model.{models[0]}, with its inputs.",
        )
    return [call for _, call in calls]


def _stacked(calls: list[dict[str, Any]], name: str) -> Tensor:
    return torch.cat([call["attentions"][name] for call in calls]).float().cpu()


def _recorder(name: str, found: list[_Call]) -> Any:
    """A forward pre-hook that computes and records an attention's weights."""

    def record(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        hidden = args[0] if args else kwargs["hidden"]
        if len(hidden) != 1:
            raise CourseError(
                f"The model was called with {len(hidden)} sequences.",
                "Pass one: input_ids[:1], and so on.",
            )
        disentangled = isinstance(module, DisentangledAttention)
        call = (_disentangled if disentangled else _multi_head)(module, hidden, args[1:], kwargs)
        found.append((name, call))

    return record


def _argument(index: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[index] if len(args) > index else kwargs.get(name)


def _multi_head(
    module: MultiHeadAttention, hidden: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    context = _argument(0, "context", args, kwargs)
    queries = module.split(module.query(hidden))
    keys = module.split(module.key(hidden if context is None else context))
    visible = _argument(1, "visible", args, kwargs)
    if kwargs.get("causal"):
        mask = causal_mask(queries.shape[2], keys.shape[2], queries)
        visible = mask if visible is None else visible & mask
    scale = queries.shape[-1] ** -0.5
    attention = masked_softmax(queries @ keys.mT * scale, visible)
    values = module.split(module.value(hidden if context is None else context))
    projected = values @ module.output.weight.unflatten(1, (-1, values.shape[-1])).movedim(0, -1)
    attentions = {"attention": attention}
    return _call(queries, keys, scale, visible, attentions) | {"values": projected}


def _disentangled(
    module: DisentangledAttention, hidden: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    query = kwargs.get("query")
    queries = module.split(module.query(hidden if query is None else query))
    keys = module.split(module.key(hidden))
    visible = _argument(1, "visible", args, kwargs)
    positions = _argument(0, "positions", args, kwargs)
    content = queries @ keys.mT * module.scale
    terms = {"content to content": content} | _terms(
        module, queries * module.scale, keys, positions
    )
    if len(terms) == 1:
        only = {"attention": masked_softmax(content, visible)}
        return _call(queries, keys, module.scale, visible, only)
    scores = torch.stack(list(terms.values())).sum(0)
    attentions = {"all terms": masked_softmax(scores, visible)}
    attentions |= {name: masked_softmax(it, visible) for name, it in terms.items()}
    return _call(queries, keys, module.scale, visible, attentions) | {"bias": scores - content}


def _terms(
    module: DisentangledAttention, q: Tensor, k: Tensor, positions: Tensor | None
) -> dict[str, Tensor]:
    """The relative terms of the scores (eq. 4); ``q`` is already scaled."""
    out: dict[str, Tensor] = {}
    if positions is None:
        return out
    span = len(positions) // 2
    used = min(q.shape[2], span)
    table = positions[span - used : span + used][None]
    if module.position_key is not None:
        distances = module.split(module.position_key(table))[0]
        out["content to position"] = relative_scores(q, distances, gather=True)
    if module.position_query is not None:
        distances = module.split(module.position_query(table))[0] * module.scale
        mirrored = not module.as_in_paper
        p2c = relative_scores(k, distances, mirrored=mirrored, gather=True).mT
        out["position to content"] = p2c
    return out


def _call(
    queries: Tensor, keys: Tensor, scale: float, mask: Tensor | None, attentions: dict[str, Tensor]
) -> dict[str, Any]:
    return {
        "queries": queries,
        "keys": keys,
        "scale": float(scale),
        "mask": mask,
        "attentions": attentions,
    }
