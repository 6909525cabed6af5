"""Gaps on the same tokens in different settings, with their spread, and where they arise."""

from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal, one_value
from lmcourse.labs.results import Result, read, shown
from lmcourse.labs.verdict import Wrong


def longer(
    losses: Tensor, floors: Tensor, reviews: Tensor, groups: Tensor, t: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    count = int(reviews.max()) + 1
    belongs = (reviews[:, None] == torch.arange(count)).double()
    belongs = belongs / belongs.sum(0)
    change = losses - losses[0]
    gaps = ((losses - floors) @ belongs).mean(1)
    each = change @ belongs
    half = t * each.std(1) / count**0.5
    parts = []
    for group in range(int(groups.max()) + 1):
        chosen = groups == group
        total = (change * chosen).sum(1)
        parts.append(total / chosen.sum(1).clamp(min=1))
    return gaps, each.mean(1), half, torch.stack(parts, 1)


def _tokens(seed: int, settings: int, counts: list[int], many: int, t: float) -> Example:
    """Losses of the tokens of some reviews; later settings have more tokens of later groups."""
    reviews = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    total = len(reviews)
    order = normal(total, seed=(seed, "order")).argsort()
    floors = normal(total, seed=(seed, "floors")).abs()
    hard = normal(len(counts), seed=(seed, "hard"))[reviews]
    losses = (floors + 0.3 * hard + 0.2 * normal(settings, total, seed=(seed, "losses"))).abs()
    own = torch.cat([torch.arange(count) for count in counts])
    groups = ((own + 2 * torch.arange(settings)[:, None]) // 4).clamp(max=many - 1)
    losses = losses + 0.5 * groups + 0.1 * torch.arange(settings)[:, None]
    return losses[:, order], floors[order], reviews[order], groups[:, order], t


def _in_shape(
    returned: Any, losses: Tensor, floors: Tensor, reviews: Tensor, groups: Tensor, t: float
) -> Any:
    """What was returned, if each value has its shape."""
    settings = len(losses)
    one, several = torch.zeros(settings), torch.zeros(settings, int(groups.max()) + 1)
    parts = read(returned, (one, one, one, several)).parts
    for name, ours, right in zip(LONGER.names, parts, (one, one, one, several), strict=True):
        if ours.shape != right.shape:
            raise Wrong(
                f"{name}: shape {list(ours.shape)}; expected: {list(right.shape)}, with {settings} "
                f"settings and {several.shape[1]} groups.",
                "shape",
            )
    return returned


def _part(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip for one of the values, or the first value that differs."""
    found = one_value(LONGER, arguments, value, wanted)
    pairs = zip(LONGER.names, value.parts, wanted.parts, strict=True)
    for name, ours, right in pairs if not found else ():
        if ours.shape == right.shape and not torch.allclose(ours, right, atol=1e-6):
            settings, tokens = arguments[0].shape
            return (
                f"With {settings} settings, {tokens} tokens and {arguments[2].max() + 1} reviews. "
                f"{name}: {shown(ours)}; expected: {shown(right)}."
            )
    return found


LONGER: Task = Task(
    longer,
    examples=[
        *(_tokens(0, 4, [5, 2, 7, 3], 3, 3.182), _tokens(1, 3, [4, 6, 2, 3, 8], 2, 2.776)),
        *(_tokens(2, 5, [3, 9, 4], 4, 4.303), _tokens(3, 3, [6, 2, 5, 7, 4, 3], 3, 2.571)),
    ],
    edge_cases={
        "for one group": _tokens(4, 3, [4, 6, 3], 1, 4.303),
        "for two reviews": _tokens(5, 2, [3, 5], 2, 12.71),
    },
    slips="""
The floors are not subtracted: the gap is the loss minus the floor of the same token.
    ((losses - floors) @ belongs) -> (losses @ belongs)
    or
    ((losses - floors) @ belongs) -> (floors - losses) @ belongs || ((losses + floors) @ belongs)
A mean over all tokens is not the mean over reviews: average the tokens of each review first, so
that each review counts once.
    ((losses - floors) @ belongs).mean(1) -> (losses - floors).mean(1)
    or
    return gaps, each.mean(1), -> return gaps, change.mean(1),
    or
    ((losses - floors) @ belongs).mean(1) -> (losses - floors).mean(1)
    return gaps, each.mean(1), -> return gaps, change.mean(1),
The differences are others: the loss of each setting minus that of setting 0, on the same tokens.
    change = losses - losses[0] -> change = losses[0] - losses
    or
    change = losses - losses[0] -> change = losses - losses[-1] || change = losses -
        losses.mean(0) || change = losses - losses.roll(1, 0) || change = losses - floors
    or
    change = losses - losses[0] -> change = losses - losses[0].mean()
    or
    change = losses - losses[0] -> change = losses - losses[:1].min(0).values.max()
The unit of the interval is the token. The tokens of a review share its text: use the standard
deviation over *reviews*.
    each.std(1) / count**0.5 -> change.std(1) / len(reviews) ** 0.5 ||
        each.std(1) / len(reviews) ** 0.5 || change.std(1) / count**0.5
The interval ignores that the reviews are paired. Use the standard deviation of the differences, not
that of the losses or the gaps.
    half = t * each.std(1) / count**0.5 -> half = t * (losses @ belongs).std(1) / count**0.5 ||
        half = t * ((losses - floors) @ belongs).std(1) / count**0.5 || own = (losses - floors) @
        belongs; half = t * (own.var(1) + own[0].var()).sqrt() / count**0.5 || own = losses @
        belongs; half = t * (own.var(1) + own[0].var()).sqrt() / count**0.5
The interval has another width: `t` times the standard deviation (with n − 1), over the root of the
number of reviews.
    t * each.std(1) / count**0.5 -> t * each.std(1) || each.std(1) / count**0.5 ||
        t * each.std(1, correction=0) / count**0.5 || 2 * t * each.std(1) / count**0.5 ||
        t * each.std(1) / count || t * each.var(1) / count**0.5 ||
        1.96 * each.std(1) / count**0.5 || t * each.std(1) / (count - 1) ** 0.5 ||
        2 * each.std(1) / count**0.5 || t * each.std(1) / len(losses) ** 0.5
The groups are those of setting 0, or of the last one. Each setting has its own.
    chosen = groups == group -> chosen = (groups[0] == group).expand_as(groups) || chosen = (
        groups[-1] == group).expand_as(groups)
The changes are not on the same tokens: the tokens of a group are compared with all tokens of
setting 0, or with another group of it. Choose tokens by this setting's groups, in both.
    total = (change * chosen).sum(1) -> total = (losses * chosen).sum(1) - losses[0].mean() *
        chosen.sum(1)
    or
    total = (change * chosen).sum(1) -> first = (losses[0] * chosen[0]).sum() /
        chosen[0].sum().clamp(min=1); total = (losses * chosen).sum(1) - first * chosen.sum(1)
    or
    total = (change * chosen).sum(1) -> total = ((losses - floors) * chosen).sum(1)
    or
    total = (change * chosen).sum(1) -> total = (losses * chosen).sum(1)
    or
    parts.append(total / chosen.sum(1).clamp(min=1)) -> inside = (losses * chosen).sum(1) /
        chosen.sum(1).clamp(min=1); parts.append(inside - inside[0]) || inside = (losses *
        chosen).sum(1) / chosen.sum(1).clamp(min=1); parts.append(torch.where(chosen.any(1),
        inside - inside[0], 0.0)) || inside = (losses * chosen).sum(1) / chosen.sum(1);
        parts.append((inside - inside[0]).nan_to_num(0.0))
A change is averaged over reviews first. It is the mean over all tokens of the group, whatever their
review.
    parts.append(total / chosen.sum(1).clamp(min=1)) -> own = (reviews[:, None] ==
        torch.arange(count)).double(); sizes = chosen.double() @ own; each_review = ((change *
        chosen) @ own) / sizes.clamp(min=1); parts.append(each_review.sum(1) / (sizes > 0).sum(1
        ).clamp(min=1)) || own = (reviews[:, None] == torch.arange(count)).double(); sizes =
        chosen.double() @ own; each_review = ((change * chosen) @ own) / sizes.clamp(min=1);
        parts.append(each_review.mean(1)) || parts.append(((change * chosen) @ belongs).mean(1))
The columns are other groups: column n is for the tokens of group n.
    chosen = groups == group -> chosen = groups <= group || chosen = groups >= group ||
        chosen = groups == group + 1 || chosen = groups != group ||
        chosen = groups == int(groups.max()) - group
A change is a sum, or a mean over all tokens. It is the mean over the tokens of its group.
    total / chosen.sum(1).clamp(min=1) -> total || total / len(reviews) || total / count
A group without tokens has the change 0. Yours is NaN, or another number.
    total / chosen.sum(1).clamp(min=1) -> total / chosen.sum(1)
    or
    total / chosen.sum(1).clamp(min=1) -> torch.where(chosen.any(1), total / chosen.sum(1), -1.0)
""",
    names=("The gaps", "The differences", "The half widths", "The changes by group"),
    result=_in_shape,
    cause=_part,
    note="A mean can hide where a change arises. Groups of tokens show it, if both sides of each "
    "difference are on the same tokens.",
)
