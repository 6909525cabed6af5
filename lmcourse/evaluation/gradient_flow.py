"""The gradient of a loss at the last step with respect to each earlier state (chapter 02)."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.errors import CourseError, check_sizes

Kind = Literal["RNN", "LSTM", "GRU"]
GATES: dict[Kind, int] = {"RNN": 1, "LSTM": 4, "GRU": 3}  # matrices W stacked in a cell


class RandomNetwork(NamedTuple):
    """Inputs, read-out and the random weights of each kind of cell.

    The matrices of a cell's gates are stacked in PyTorch's order: i, f, g, o for the LSTM, r, z, n
    for the GRU. No bias is drawn.
    """

    inputs: Float[Tensor, "time width"]  # x_1 … x_T
    read_out: Float[Tensor, " width"]  # L_T = read_out · h_T
    U: dict[Kind, Tensor]  # gates · width × width
    W: dict[Kind, Tensor]  # gates · width × width


def with_spectral_radius(
    matrix: Float[Tensor, "width width"], radius: float
) -> Float[Tensor, "width width"]:
    """Return the matrix scaled so that its largest eigenvalue has the modulus ``radius``."""
    return matrix * (radius / torch.linalg.eigvals(matrix).abs().max())


def state_gradient_norms(
    step: Callable[[int, Tensor], Tensor],
    state: Float[Tensor, "... width"],
    time: int,
    loss: Callable[[Tensor], Tensor] = torch.sum,
) -> Float[Tensor, " time"]:
    """Return ‖∂L_T/∂h_t‖ for t = 1 … T, where L_T is a function of the last state.

    Args:
        step: h_t from (t, h_{t-1}).
        state: h_0.
        time: T.
        loss: L_T from h_T.
    """
    states = [state]
    for t in range(1, time + 1):
        states.append(step(t, states[-1]).requires_grad_())
    gradients = torch.autograd.grad(loss(states[-1]), states[1:], allow_unused=True)
    return torch.stack(
        [torch.zeros(()) if g is None else g.norm().detach().cpu() for g in gradients]
    )


def gradient_flow(
    kind: Kind,
    spectral_radius: float,
    activation: Callable[[Tensor], Tensor] = torch.tanh,
    forget_bias: float = 0.0,
    truncation: int | None = None,
    time: int = 60,
    width: int = 32,
    seed: int = 0,
) -> Float[Tensor, " time"]:
    """Return ‖∂L_T/∂h_t‖ in a network with random weights that reads random inputs.

    Args:
        kind: ``"RNN"``, ``"LSTM"`` (its state: hidden and cell state, concatenated) or ``"GRU"``.
        spectral_radius: of the recurrent matrix; of each gate's, for LSTM and GRU.
        activation: of the RNN; LSTM and GRU keep theirs.
        forget_bias: added to the LSTM's forget gate.
        truncation: the number of steps before T at which the gradient is cut; None: never.
        time, width: T, and the number of hidden units.
        seed: of weights and inputs, the same for every kind.
    """
    network = random_network(time, width, seed)
    cell = _cell(kind, network, spectral_radius, activation, forget_bias)

    def step(t: int, state: Tensor) -> Tensor:
        cut = truncation is not None and t == time - truncation + 1
        return cell(network.inputs[t - 1, None], state.detach() if cut else state)

    start = torch.zeros(1, 2 * width if kind == "LSTM" else width)
    return state_gradient_norms(
        step, start, time, lambda state: (state[:, :width] @ network.read_out).sum()
    )


def random_network(time: int = 60, width: int = 32, seed: int = 0) -> RandomNetwork:
    """Return the network that `gradient_flow` measures, before its spectral radius is set.

    All kinds of cells have the same inputs and read-out.
    """
    check_sizes(time=time, width=width)
    U, W = {}, {}
    for kind, gates in GATES.items():
        generator = torch.Generator().manual_seed(seed)
        inputs = torch.randn(time, width, generator=generator)
        read_out = torch.randn(width, generator=generator)
        U[kind] = torch.randn(gates * width, width, generator=generator) / width**0.5
        W[kind] = torch.randn(gates * width, width, generator=generator)
    return RandomNetwork(inputs, read_out, U, W)


def _cell(
    kind: Kind,
    network: RandomNetwork,
    spectral_radius: float,
    activation: Callable[[Tensor], Tensor],
    forget_bias: float,
) -> Callable[[Tensor, Tensor], Tensor]:
    """One step of a cell, as a function of input and state."""
    if kind not in GATES:
        raise CourseError(f"The cell {kind!r} is not known.", f"Choose one of {', '.join(GATES)}.")
    width, U = len(network.read_out), network.U[kind]
    gates = network.W[kind].split(width)
    W = torch.cat([with_spectral_radius(gate, spectral_radius) for gate in gates])
    if kind == "RNN":
        return lambda x, h: activation(x @ U.T + h @ W.T)
    cell = nn.LSTMCell(width, width) if kind == "LSTM" else nn.GRUCell(width, width)
    bias = torch.zeros(GATES[kind] * width)
    if kind == "LSTM":
        bias[width : 2 * width] = forget_bias  # PyTorch's order: i, f, g, o
    cell.load_state_dict(
        {"weight_ih": U, "weight_hh": W, "bias_ih": bias, "bias_hh": torch.zeros_like(bias)}
    )
    if isinstance(cell, nn.GRUCell):
        return cell
    return lambda x, state: torch.cat(cell(x, state.split(width, dim=-1)), dim=-1)
