"""The layers that a student of TinyBERT learns from, and the loss of its attention."""

from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal
from lmcourse.labs.results import Result, shown
from lmcourse.labs.verdict import Wrong


def taught_states(hidden_states: list[Tensor], M: int, strategy: str) -> list[Tensor]:
    N = len(hidden_states) - 1
    g = [m * N // M if strategy == "uniform" else N - M + m for m in range(1, M + 1)]
    return [hidden_states[layer] for layer in [0, *g]]


def _states(N: int, M: int, strategy: str) -> Example:
    return [normal(3, 2, seed=(N, M, layer)) for layer in range(N + 1)], M, strategy


def _stacked(returned: Any, *arguments: Any) -> Any:
    """A list of states as one tensor, [state, token, width]."""
    if isinstance(returned, (list, tuple)) and any(isinstance(each, int) for each in returned):
        raise Wrong("These are numbers of layers. Return the states themselves.", "type")
    several = isinstance(returned, (list, tuple)) and len(returned) > 0
    if not several or not all(isinstance(each, Tensor) for each in returned):
        return returned
    alike = len({each.shape for each in returned}) == 1
    return torch.stack(list(returned)) if alike else returned


def _which(arguments: Example, value: Result, wanted: Result) -> str:
    """Which of the teacher's states were returned, by their numbers."""
    states = torch.stack(arguments[0]).double()
    if value.parts[0].shape[1:] != states.shape[1:]:
        return ""
    found = []
    for part in (value, wanted):
        same = (part.parts[0][:, None] - states).flatten(2).abs().amax(-1) < 1e-4
        if not bool(same.any(1).all()):
            return ""
        found.append(shown(same.double().argmax(1)))
    ours, right = found
    N, M, strategy = len(states) - 1, arguments[1], arguments[2]
    return (
        f"For N = {N}, M = {M} and the {strategy} map, you return `hidden_states` number {ours}; "
        f"expected: {right}."
    )


LAYERS = Task(
    taught_states,
    examples=[
        _states(12, 4, "uniform"),
        _states(12, 4, "top"),
        _states(6, 3, "uniform"),
        _states(7, 3, "top"),
        _states(8, 2, "uniform"),
    ],
    edge_cases={
        "for one layer": _states(5, 1, "uniform"),
        "for M = N": _states(4, 4, "top"),
    },
    slips="""
The embeddings are missing: g(0) = 0, and the student's embeddings learn from the teacher's.
    [0, *g] -> g
The student's embeddings learn from a layer of the teacher. In every map, g(0) = 0.
    [0, *g] -> [0 if strategy == "uniform" else N - M, *g]
    or
    [0, *g] -> [g[0], *g] || [N, *g] || [1, *g]
All layers are one too low. `hidden_states[0]` are the embeddings, so layer 1 is `hidden_states[1]`.
    hidden_states[layer] -> hidden_states[max(layer - 1, 0)]
    or
    [0, *g] -> [0, *(layer - 1 for layer in g)]
The embeddings are counted as a layer: `hidden_states` has N + 1 entries.
    len(hidden_states) - 1 -> len(hidden_states)
These layers are spaced as in DistilBERT's start, from the first to the last. TinyBERT's uniform map
has equal steps of N / M, from the embeddings on.
    m * N // M -> 1 + round((m - 1) * (N - 1) / max(M - 1, 1)) ||
        1 + (m - 1) * (N - 1) // max(M - 1, 1)
The uniform map begins at layer 1 and leaves out the last one. Its last layer is N.
    m * N // M -> 1 + (m - 1) * N // M || (m - 1) * N // M
These are the lowest layers. The map `"top"` takes the highest.
    N - M + m -> m
The lowest or the highest layers are taken for the uniform map, too.
    m * N // M if strategy == "uniform" else N - M + m -> N - M + m
    or
    m * N // M -> m
The uniform map is used for every strategy, or the strategies are exchanged.
    N - M + m -> m * N // M
    or
    strategy == "uniform" -> strategy != "uniform"
The order is reversed: a higher layer of the student learns from a higher layer of the teacher.
    [0, *g] -> [0, *g[::-1]]
    or
    N - M + m -> N + 1 - m
The highest layers are one too low: the student's last layer learns from the teacher's last.
    N - M + m -> N - M + m - 1
This has one state too many. The prediction, g(M + 1) = N + 1, is no hidden state.
    [0, *g] -> [0, *g, -1]
""",
    result=_stacked,
    cause=_which,
    note="DistilBERT copies weights from such layers once, before training. TinyBERT's student has "
    "weights of its own, and compares itself with these layers in every update.",
)


def attention_loss(Q_s: Tensor, K_s: Tensor, Q_t: Tensor, K_t: Tensor, real: Tensor) -> Tensor:
    A_s = Q_s @ K_s.mT / Q_s.shape[-1] ** 0.5
    A_t = Q_t @ K_t.mT / Q_t.shape[-1] ** 0.5
    pairs = real[:, :, None] & real[:, None, :]
    squares = (A_s - A_t).square()
    per_pair = squares.mean(1)
    return per_pair[pairs].mean()


def _heads(seed: int, lengths: list[int], heads: int, own: int, taught: int) -> Example:
    batch, time = len(lengths), max(lengths)
    real = torch.arange(time) < torch.tensor(lengths)[:, None]
    Q_s, K_s = (2 * normal(batch, heads, time, own, seed=(seed, who)) for who in "qk")
    Q_t, K_t = (1.5 * normal(batch, heads, time, taught, seed=(seed, who)) for who in "QK")
    return Q_s, K_s, Q_t, K_t, real


def _first(seed: int, gaps: list[int], heads: int, own: int, taught: int) -> Example:
    """Padding is on the left."""
    *states, real = _heads(seed, gaps, heads, own, taught)
    return *states, real.flip(1)


SCORES = Task(
    attention_loss,
    examples=[
        _heads(0, [4, 2], 2, 3, 5),
        _heads(1, [1, 5, 3], 3, 2, 4),
        _heads(2, [3, 3], 4, 6, 2),
    ],
    edge_cases={
        "for one text without padding": _heads(3, [4], 2, 3, 3),
        "with padding on the left": _first(4, [2, 5], 2, 2, 3),
    },
    slips="""
A softmax is applied. The loss compares the scores before it, by their squared difference.
    (A_s - A_t) -> (A_s.softmax(-1) - A_t.softmax(-1))
    or
    (A_s - A_t) -> (A_s.masked_fill(~real[:, None, None, :], -torch.inf).softmax(-1)
        - A_t.masked_fill(~real[:, None, None, :], -torch.inf).softmax(-1)) ||
        (A_s.log_softmax(-1) - A_t.log_softmax(-1))
    or
    per_pair[pairs].mean() -> (A_t.softmax(-1) * (A_t.log_softmax(-1) - A_s.log_softmax(-1))
        ).sum(-1).mean(1)[real].mean() || (A_t.softmax(-1) * (A_t.log_softmax(-1)
        - A_s.log_softmax(-1))).mean(1)[pairs].mean()
The scores are not divided by the root of their head's width, or by the width itself.
    Q_s.shape[-1] ** 0.5 -> 1
    Q_t.shape[-1] ** 0.5 -> 1
    or
    Q_s.shape[-1] ** 0.5 -> Q_s.shape[-1]
    Q_t.shape[-1] ** 0.5 -> Q_t.shape[-1]
Both models' scores are divided by the same number. Each has heads of its own width.
    Q_t.shape[-1] ** 0.5 -> Q_s.shape[-1] ** 0.5
    or
    Q_s.shape[-1] ** 0.5 -> Q_t.shape[-1] ** 0.5
The width of the whole layer is used. The root is of the width of *one* head.
    Q_s.shape[-1] ** 0.5 -> (Q_s.shape[1] * Q_s.shape[-1]) ** 0.5
    Q_t.shape[-1] ** 0.5 -> (Q_t.shape[1] * Q_t.shape[-1]) ** 0.5
Padding counts. A pair counts only if its query *and* its key are real.
    real[:, :, None] & real[:, None, :] -> (real[:, :, None] | True) & (real[:, None, :] | True) ||
        real[:, :, None] | real[:, None, :]
Padding counts as a query or as a key, at least in the denominator. A pair counts only if both are
real.
    real[:, :, None] & real[:, None, :] -> (real[:, :, None] | True) & real[:, None, :] ||
        real[:, :, None] & (real[:, None, :] | True)
    or
    per_pair[pairs].mean() -> (per_pair * real[:, None, :]).mean() ||
        (per_pair * real[:, :, None]).mean()
Pairs with padding add nothing to the sum, but they are in the denominator.
    per_pair[pairs].mean() -> (per_pair * pairs).mean() ||
        (per_pair * pairs).sum() / (pairs.any(2).sum() * pairs.shape[2])
The denominator counts positions or texts. The mean is over pairs of positions.
    per_pair[pairs].mean() -> per_pair[pairs].sum() / real.sum() ||
        per_pair[pairs].sum() / len(real)
Each text is averaged by itself, so that pairs of short texts count more. Each pair counts once.
    per_pair[pairs].mean() -> ((per_pair * pairs).sum((1, 2)) / pairs.sum((1, 2))).mean()
    or
    per_pair[pairs].mean() -> ((per_pair * pairs).sum(2) / real.sum(1, True)).sum() / real.sum()
The heads are added. Equation 7 of TinyBERT averages them, so that their number does not matter.
    squares.mean(1) -> squares.sum(1)
The heads are averaged before the difference, so opposite errors of two heads cancel.
    squares = (A_s - A_t).square() -> squares = (A_s - A_t).mean(1, keepdim=True).square()
This is a sum, a half, a root, or a mean of absolute differences. The loss is a mean squared error.
    per_pair[pairs].mean() -> per_pair[pairs].sum() || per_pair[pairs].mean() / 2 ||
        per_pair[pairs].mean().sqrt()
    or
    .square() -> .abs()
""",
    note="The loss does not need equal widths, only equal numbers of heads: no projection is "
    "between the two models' scores, as it is between their hidden states.",
)
