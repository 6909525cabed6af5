"""GradientFlow: the gradient of a loss with respect to earlier states, for three cells."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import one_of, shown, within
from lmcourse.widgets.packing import Array, as_array

GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}  # stacked in PyTorch's order: i, f, g, o and r, z, n
ACTIVATIONS = ("tanh", "relu", "linear")
SETTINGS = ("spectral_radius", "activation", "forget_bias", "truncation", "clip", "step")
RANGES = {"spectral_radius": (0.1, 3.0), "forget_bias": (-2.0, 6.0), "clip": (0.01, 1000.0)}
INTEGERS = ("truncation", "step")  # from 1 to the last step
OPTIONAL = (*INTEGERS, "clip")
MOST_WORK = 1.5e8  # multiplications per figure: 0.1 s in a browser


@runtime_checkable
class Network(Protocol):
    """The input of GradientFlow, such as `lmcourse.evaluation.gradient_flow.random_network()`.

    Arrays are NumPy's or tensors: inputs (time, input width), read_out (width), and for each of
    RNN, LSTM and GRU the matrices U (gates · width, input width) and W (gates · width, width).
    """

    @property
    def inputs(self) -> Any: ...
    @property
    def read_out(self) -> Any: ...
    @property
    def U(self) -> Mapping[Any, Any]: ...
    @property
    def W(self) -> Mapping[Any, Any]: ...


class GradientFlow(Widget):
    """‖∂L_T/∂h_t‖ for an RNN, an LSTM and a GRU with the same inputs and read-out.

    The loss is L_T = read_out · h_T. Each gate's recurrent matrix is scaled to the chosen spectral
    radius, and the browser recomputes everything in float64. For the LSTM, h_t is the concatenation
    of hidden and cell state. Settings are traits that a kernel can read and set.

    Args:
        network: inputs, read-out, and the three cells' weights.
        spectral_radius: of each recurrent matrix W, from 0.1 to 3.
        activation: of the RNN: ``"tanh"``, ``"relu"`` or ``"linear"``.
        forget_bias: added to the LSTM's forget gate, from −2 to 6.
        truncation: the number of steps of backpropagation; None: no truncation.
        clip: the maximum norm of the gradient of a cell's parameters (U, W, b), from 0.01 to 1000;
            None: no clipping.
        step: T, the step of the loss whose gradient is drawn as curves; None: the last.
        before: other settings to compare with, whose curves are wide and pale: the six settings in
            the order above; None: none.
    """

    _esm = module("gradient_flow")
    title: ClassVar[str] = "Gradient flow"
    lighter: ClassVar[str] = "Pass fewer time steps or a narrower network: 60 steps of width 32 do."

    spectral_radius = traitlets.Float(1.0).tag(sync=True)
    activation = traitlets.Unicode("tanh").tag(sync=True)
    forget_bias = traitlets.Float(1.0).tag(sync=True)
    truncation = traitlets.Int(None, allow_none=True).tag(sync=True)
    clip = traitlets.Float(None, allow_none=True).tag(sync=True)
    step = traitlets.Int(None, allow_none=True).tag(sync=True)
    before: Any = traitlets.List(None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        network: Network,
        *,
        spectral_radius: float = 1.0,
        activation: str = "tanh",
        forget_bias: float = 1.0,
        truncation: int | None = None,
        clip: float | None = None,
        step: int | None = None,
        before: Sequence[Any] | None = None,
    ) -> None:
        arrays = _arrays(network)
        self._time, self._width = len(arrays["inputs"]), len(arrays["read_out"])
        work = self._time**2 / 2 * sum(GATES.values()) * self._width * (self._width + self._time)
        if work > MOST_WORK:
            raise CourseError(
                f"{self._time} steps of width {self._width} are too many to compute interactively.",
                self.lighter,
            )
        super().__init__(
            **self.hold(arrays),
            spectral_radius=spectral_radius,
            activation=activation,
            forget_bias=forget_bias,
            truncation=truncation,
            clip=clip,
            step=step,
            before=before,
        )

    @property
    def alt(self) -> str:
        """A description of the figure at the present settings."""
        now = [getattr(self, name) for name in SETTINGS]
        before = f" Pale curves: {self._words(self.before)}." if self.before else ""
        return (
            f"Gradient flow: the norm of the gradient of a loss at step {self.step or self._time} "
            "with respect to the state at each earlier step (for the LSTM, hidden and cell state), "
            f"on a log scale, for an RNN, an LSTM and a GRU with {self._width} units and the same "
            f"{self._time} inputs. Heat strips show it for every step of the loss and every "
            "distance, curves for one loss. "
            f"Settings: {self._words(now)}.{before}"
        )

    def _words(self, settings: Sequence[Any]) -> str:
        radius, activation, bias, truncation, clip, step = settings
        words = [
            f"spectral radius {radius:g}",
            f"activation {activation} in the RNN",
            f"forget bias {bias:g} in the LSTM",
            f"truncated after {truncation} steps" if truncation else "not truncated",
            f"clipped at {clip:g}" if clip else "not clipped",
            f"the loss at step {step or self._time}",
        ]
        return ", ".join(words)

    @traitlets.validate(*SETTINGS)
    def _setting_is_one(self, proposal: Any) -> Any:
        return self._checked(proposal["trait"].name, proposal["value"])

    @traitlets.validate("before")
    def _settings_are_some(self, proposal: Any) -> list[Any] | None:
        values = proposal["value"]
        if values is None:
            return None
        if len(values) != len(SETTINGS):
            raise CourseError(
                f"before has {len(values)} settings, not {len(SETTINGS)}.",
                f"Pass {', '.join(SETTINGS)}, in this order.",
            )
        return [self._checked(name, it) for name, it in zip(SETTINGS, values, strict=True)]

    def _checked(self, name: str, value: Any) -> Any:
        if name == "activation":
            return one_of(name, value, ACTIVATIONS)
        if (value is None and name in OPTIONAL) or (name == "clip" and value == math.inf):
            return None
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise CourseError(
                f"{name} is {shown(value)}, not a number.", "Pass a number."
            ) from None
        number = within(name, number, *RANGES.get(name, (1, self._time)))
        if name not in INTEGERS:
            return number
        if number % 1:
            raise CourseError(f"{name} is {number:g}, not an integer.", "Pass an integer.")
        return None if number == self._time else int(number)  # the same as None


def _arrays(network: Network) -> dict[str, Array]:
    """Return the network's arrays by name, with recurrent matrices of spectral radius 1."""
    missing = [name for name in ("inputs", "read_out", "U", "W") if not hasattr(network, name)]
    if missing:
        raise CourseError(
            f"network is of type {type(network).__name__}, without {', '.join(missing)}.",
            "Pass random_network() of lmcourse.evaluation.gradient_flow, or a RandomNetwork with "
            "inputs, read_out, U and W of your cells.",
        )
    inputs = as_array("inputs", network.inputs, (None, None))
    read_out = as_array("read_out", network.read_out, (None,))
    width = len(read_out)
    arrays = {"inputs": inputs, "read_out": read_out}
    for kind, gates in GATES.items():
        for name, matrices, columns in (("U", network.U, inputs.shape[1]), ("W", network.W, width)):
            if not isinstance(matrices, Mapping) or kind not in matrices:
                raise CourseError(
                    f"{name} has no weights for the {kind}.", f"Pass {', '.join(GATES)} in {name}."
                )
            shape = (gates * width, columns)
            arrays[f"{name}_{kind}"] = as_array(f"{name}[{kind!r}]", matrices[kind], shape)
        arrays[f"W_{kind}"] = _of_radius_one(kind, arrays[f"W_{kind}"].reshape(gates, width, width))
    return arrays


def _of_radius_one(kind: str, gates: Array) -> Array:
    """Return each gate's matrix divided by its spectral radius, stacked."""
    gates = gates.astype(np.float64)
    radii = np.abs(np.linalg.eigvals(gates)).max(-1)
    if (radii <= 1e-12 * np.abs(gates).max((1, 2))).any():
        raise CourseError(
            f"W[{kind!r}] has a matrix with spectral radius 0, which cannot be scaled.",
            "Pass matrices with a nonzero eigenvalue.",
        )
    stacked: Array = (gates / radii[:, None, None]).reshape(-1, gates.shape[-1])
    return stacked
