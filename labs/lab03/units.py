"""Parameters, a bias for a half-life, find a unit."""

import math

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal


def parameters(blocks: int, input_size: int, hidden_size: int, num_layers: int) -> int:
    first = blocks * hidden_size * (input_size + hidden_size + 2)
    later = blocks * hidden_size * (hidden_size + hidden_size + 2)
    return first + (num_layers - 1) * later


PARAMETERS = Task(
    parameters,
    examples=[(4, 3, 5, 1), (4, 7, 4, 3), (3, 6, 9, 2), (1, 2, 8, 4)],
    slips="""
A layer has one bias only. PyTorch has two in each block of each layer, although it always adds
them.
    hidden_size * (input_size + hidden_size + 2) -> hidden_size * (input_size + hidden_size + 1)
    (hidden_size + hidden_size + 2) -> (hidden_size + hidden_size + 1)
    or
    (hidden_size + hidden_size + 2) -> (hidden_size + hidden_size + 1)
    or
    return first + (num_layers - 1) * later -> return first + (num_layers - 1) * later -
        (blocks - (blocks == 3)) * hidden_size * num_layers
The biases are missing: two for each block, of `hidden_size` entries each.
    hidden_size * (input_size + hidden_size + 2) -> hidden_size * (input_size + hidden_size)
    (hidden_size + hidden_size + 2) -> (hidden_size + hidden_size)
The upper layers read the input. Only the first does; the others read the states below,
`hidden_size` wide, and nothing else.
    (hidden_size + hidden_size + 2) -> (input_size + hidden_size + 2) ||
        (input_size + hidden_size + hidden_size + 2)
Only one layer is counted.
    (num_layers - 1) * later -> 0 * later
The number of layers is off by one: the first reads the input, `num_layers` − 1 read states.
    (num_layers - 1) * later -> num_layers * later
All layers are counted like the upper ones. The first one reads the input.
    return first + (num_layers - 1) * later -> return num_layers * later
The number of blocks is fixed, missing, or one too large. Each has its own matrices: 4 in an LSTM,
3 in a GRU, and 1 in an RNN.
    first = blocks * -> first =
    later = blocks * -> later =
    or
    first = blocks * -> first = 4 *
    later = blocks * -> later = 4 *
    or
    first = blocks * -> first = (blocks + 1) *
    later = blocks * -> later = (blocks + 1) *
The layers above the first lack a matrix. Each has one for the states below and one for its own last
state.
    (hidden_size + hidden_size + 2) -> (hidden_size + 2)
The biases are counted once for a layer, not for each block.
    blocks * hidden_size * (input_size + hidden_size + 2) ->
        blocks * hidden_size * (input_size + hidden_size) + 2 * hidden_size
    blocks * hidden_size * (hidden_size + hidden_size + 2) ->
        blocks * hidden_size * (hidden_size + hidden_size) + 2 * hidden_size
A matrix is missing. Each block has one for the input and one for the state.
    hidden_size * (input_size + hidden_size + 2) -> hidden_size * (hidden_size + 2)
    (hidden_size + hidden_size + 2) -> (hidden_size + 2)
    or
    hidden_size * (input_size + hidden_size + 2) -> hidden_size * (input_size + 2)
    (hidden_size + hidden_size + 2) -> (hidden_size + 2)
The matrix for the last state has another shape: in each block it is hidden × hidden.
    hidden_size * (input_size + hidden_size + 2) ->
        hidden_size * (input_size + blocks * hidden_size + 2)
    (hidden_size + hidden_size + 2) -> (hidden_size + blocks * hidden_size + 2)
    or
    hidden_size * (input_size + hidden_size + 2) ->
        (hidden_size * input_size + input_size**2 + 2 * hidden_size)
""",
    note="An LSTM has four times the parameters of an RNN of its width, so compare them twice: at "
    "equal width, and at equal size.",
)


def forget_bias(steps: Tensor) -> Tensor:
    return -torch.log(torch.expm1(math.log(2) / steps))


BIAS = Task(
    forget_bias,
    examples=[(torch.tensor([1.0, 2.0, 7.0, 40.0]),), (torch.tensor([0.5, 3.0, 300.0]),)],
    edge_cases={"for half-lives of millions of steps": (torch.tensor([2e6, 5e7, 1e9]),)},
    slips="""
This is the gate f, not its bias. Solve σ(b) = f for b.
    return -torch.log(torch.expm1(math.log(2) / steps)) -> return torch.exp(-math.log(2) / steps)
This is log f, or its absolute value. Solve σ(b) = f for b.
    return -torch.log(torch.expm1(math.log(2) / steps)) -> return -math.log(2) / steps ||
        return math.log(2) / steps
The sign is wrong: a long half-life needs a *positive* bias, which opens the gate.
    return -torch -> return torch
This is the approximation for long half-lives. It is wrong for few steps: solve the equation.
    torch.expm1(math.log(2) / steps) -> math.log(2) / steps
This gives the time until 1/e remains. Until ½ remains, the product f^T must be ½.
    math.log(2) / steps -> 1 / steps
This sets T · (1 − f) to ½ or 1. But a share f is kept at each step: f^T must be ½.
    return -torch.log(torch.expm1(math.log(2) / steps)) -> return torch.logit(1 - 0.5 / steps) ||
        return torch.log(steps - 1)
This is log T with a missing or inverted log 2, and an approximation: solve f^T = ½ for f.
    torch.expm1(math.log(2) / steps) -> 1 / steps || 1 / (math.log(2) * steps)
The exponent is inverted. f^T = ½ gives f = ½^(1/T).
    return -torch.log(torch.expm1(math.log(2) / steps)) -> return torch.logit(0.5**steps) ||
        return torch.logit(0.5 ** steps.double())
A sign in the solution for b is wrong: σ(b) = f gives e^−b = 1/f − 1.
    torch.expm1(math.log(2) / steps) -> (torch.exp(math.log(2) / steps) + 1) ||
        (-torch.expm1(math.log(2) / steps))
The logarithm has the base 2 or 10, and σ is defined with e.
    -torch.log( -> -torch.log2( || -torch.log10(
The half-life of this gate is ½·T, 2·T, T − 1 or T + 1 steps. Check: σ(b) to the power T must be ½.
    math.log(2) / steps -> math.log(2) / (steps - 1) || 2 * math.log(2) / steps ||
        math.log(2) / (2 * steps) || math.log(2) / (steps + 1)
Right for short half-lives. In float32, 2^(1/T) rounds to 1 for a T of millions. Use float64, or
`torch.expm1`, which computes e^a − 1 without rounding e^a first.
    torch.expm1(math.log(2) / steps) -> (2 ** (1 / steps) - 1) ||
        (torch.exp(math.log(2) / steps) - 1) || (1 - (f := 0.5 ** (1 / steps))) / f
    or
    return -torch.log(torch.expm1(math.log(2) / steps)) ->
        return torch.logit(0.5 ** (1 / steps))
""",
    note="A half-life of T steps takes a forget bias of about log(T / log 2).",
)


def find_unit(states: Tensor, values: Tensor, split: int) -> tuple[float, float, float]:
    first, second = slice(0, split), slice(split, None)
    r = []
    for part in (first, second):
        c, y = states[part] - states[part].mean(0), values[part] - values[part].mean()
        r.append((c * y[:, None]).sum(0) / (c.norm(dim=0) * y.norm()).clamp(min=1e-12))
    unit = int(r[0].abs().argmax())
    return unit, float(r[0][unit]), float(r[1][unit])


def _text(seed: int, time: int, split: int, dead: bool = False, turn: float = 1) -> Example:
    """States of 8 units. The best before ``split`` is 5, negative; 4 is the best positive there,
    2 the best from ``split`` on, 7 of both. Unit 6 has the largest variance, 0 the largest mean."""
    noise, y = normal(time, 8, seed=(seed, "states")), (normal(time, seed=seed) > 0.3).double()
    states = 0.5 * noise
    late = (torch.arange(time) >= split).double()
    states[:, 5] -= (1.4 - turn * late) * y
    states[:, 4] += 0.8 * y
    states[:, 7] -= (0.9 + 0.5 * late) * y
    states[:, 2] += 1.8 * late * y
    states[:, 6] = 9 * states[:, 6] + 3 * y
    states[:, 0] += 40 + 20 * late
    if dead:
        states[:, 3] = 0.25
    return states, y + 3 * late, split


def _still(seed: int, time: int, split: int, unit: int | None = None) -> Example:
    """From ``split`` on, a unit never changes; the property if none is given."""
    states, values, _ = _text(seed, time, split)
    (values if unit is None else states[:, unit])[split:] = 3
    return states, values, split


UNIT = Task(
    find_unit,
    examples=[_text(0, 60, 30), _text(1, 80, 50), _text(2, 70, 28, turn=2.4)],
    edge_cases={
        "where a unit never changes": _text(3, 60, 30, dead=True),
        "where the property never changes after `split`": _still(4, 60, 30),
        "where the chosen unit never changes after `split`": _still(5, 60, 30, unit=5),
    },
    slips="""
The second part has a share in the choice. Choose the unit before `split`, and score it from `split`
on.
    unit = int(r[0].abs().argmax()) -> w, v = states - states.mean(0), values - values.mean();
        unit = int(((w * v[:, None]).sum(0) / w.norm(dim=0)).abs().argmax())
    or
    first, second = slice(0, split), -> first, second = slice(0, None),
    or
    unit = int(r[0] -> unit = int(r[1]
    or
    r[0].abs().argmax() -> (r[0].abs() + r[1].abs()).argmax()
    or
    slice(0, split), slice(split, None) -> slice(split, None), slice(0, split)
Each part has its own best unit. The unit of the first part must be scored on the second.
    float(r[1][unit]) -> float(r[1][r[1].abs().argmax()])
A unit with a negative correlation tracks the property as well. Choose by the absolute value.
    r[0].abs().argmax() -> r[0].argmax()
A correlation has lost its sign. The absolute value is for the choice only.
    float(r[0][unit]), float(r[1][unit]) -> float(r[0][unit].abs()), float(r[1][unit].abs()) ||
        float(r[0][unit] ** 2), float(r[1][unit] ** 2) ||
        float(r[0][unit]), float(r[0][unit].sign() * r[1][unit].abs())
The parts are shifted by one position: the second begins at `split`, which the first excludes.
    slice(0, split), slice(split, None) -> slice(0, split + 1), slice(split + 1, None) ||
        slice(0, split - 1), slice(split - 1, None) || slice(0, split), slice(split + 1, None)
The unit's number is off by one. Units are counted from 0; the first row of `torch.corrcoef` may be
the property itself.
    return unit, -> return unit + 1,
    or
    return unit, float(r[0][unit]), float(r[1][unit]) -> return 0, 1.0, 1.0 ||
        return unit, float(r[0][unit - 1]), float(r[1][unit - 1])
The correlations are of other parts: the first is that before `split`, the second that from `split`
on, without the part of the choice.
    float(r[1][unit]) -> float(r[0][unit])
    or
    float(r[0][unit]), float(r[1][unit]) -> float(r[1][unit]), float(r[0][unit])
    or
    second = slice(0, split), slice(split, None) -> second = slice(0, split), slice(0, None)
States and values are not centered. Subtract the mean of each, over the positions of the part.
    states[part] - states[part].mean(0), values[part] - values[part].mean() ->
        states[part], values[part]
A mean is that of the whole text, or of all units. Each unit and each part has its own.
    states[part].mean(0), values[part] -> states.mean(0), values[part]
    values[part].mean() -> values.mean()
    or
    states[part].mean(0), values[part] -> states.mean(0), values[part]
    values[part].mean() -> values.mean()
    or
    states[part] - states[part].mean(0) -> states[part] - states[part].mean()
This is not a correlation: divide by the unit's own norm and by the property's. With standard
deviations, divide all by n, or all by n − 1.
    / (c.norm(dim=0) * y.norm()).clamp(min=1e-12) -> / len(y) || / (len(y) - 1) || / y.norm() ||
        / (c.norm() * y.norm()) || / (c.norm(dim=0) * y.norm()) * (len(y) - 1) / len(y)
The correlation of a unit that never changes is 0/0. Give it 0: NaN must not be chosen.
    .clamp(min=1e-12) -> + 0
""",
    names=("The unit", "Its correlation on the first part", "Its correlation on the second part"),
    note="The second number is an estimate for new text; the first is not, since it was maximized.",
)
