"""What torch says about gradients through time: the reference for the widget's JavaScript.

`python -m tests.widgets.golden` writes `web/test/gradient_flow.golden.json`; a test computes it
anew and compares.
"""

import base64
import itertools
import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lmcourse.evaluation.gradient_flow import random_network
from lmcourse.widgets import GradientFlow

PATH = Path(__file__).parents[2] / "web" / "test" / "gradient_flow.golden.json"
ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu, "linear": lambda a: a}
TIME, WIDTH = 9, 5
SETTINGS = [
    # ρ, activation, forget bias, truncation, clip, T
    (0.4, "tanh", 0.0, None, None, 9),
    (1.0, "tanh", 1.0, 4, 0.5, 9),
    (1.0, "relu", -2.0, None, 10.0, 6),
    (1.7, "relu", 1.0, 3, None, 9),
    (2.5, "linear", 6.0, 9, 1.0, 8),
    (3.0, "linear", 2.5, 1, 0.01, 5),
    (0.1, "relu", 0.5, 7, 1000.0, 1),
]


def unpacked(widget: GradientFlow) -> dict[str, Tensor]:
    """The widget's arrays as it sends them, in float64."""
    flat = torch.frombuffer(bytearray(widget.arrays), dtype=torch.float32).double()
    out = {}
    for name, facts in widget.index.items():
        shape, start = facts["shape"], facts["offset"] // 4
        out[name] = flat[start : start + torch.Size(shape).numel()].reshape(shape)
    return out


def step(kind: str, a: dict[str, Tensor], W: Tensor, b: Tensor, x: Tensor, state: Tensor, phi: Any):
    """The state after reading x; the LSTM's is hidden and cell state side by side."""
    width = len(a["read_out"])
    h, c = state[:width], state[width:]
    drive, pushed = a[f"U_{kind}"] @ x + b, W @ h
    if kind == "RNN":
        return torch.cat([phi(drive + pushed), c])
    if kind == "LSTM":
        i, f, g, o = (drive + pushed).split(width)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.cat([torch.sigmoid(o) * torch.tanh(c), c])
    (r, z, n), (Wr, Wz, Wn) = drive.split(width), pushed.split(width)
    r, z = torch.sigmoid(r + Wr), torch.sigmoid(z + Wz)
    return torch.cat([(1 - z) * torch.tanh(n + r * Wn) + z * h, c])


def measure(kind: str, arrays: dict[str, Tensor], setting: tuple[Any, ...]) -> dict[str, Any]:
    """Norms by distance, the length of the gradient of U, W and b, and what clipping multiplies."""
    rho, activation, forget_bias, truncation, clip, T = setting
    a = dict(arrays)
    width = len(a["read_out"])
    U = a[f"U_{kind}"] = a[f"U_{kind}"].clone().requires_grad_()
    W = (rho * a[f"W_{kind}"]).requires_grad_()
    b = torch.zeros(len(W), dtype=torch.float64)
    if kind == "LSTM":
        b[width : 2 * width] = forget_bias
    b.requires_grad_()
    states = [torch.zeros(2 * width, dtype=torch.float64)]
    for t in range(1, T + 1):
        before = states[-1].detach() if truncation and t == T - truncation + 1 else states[-1]
        after = step(kind, a, W, b, a["inputs"][t - 1], before, ACTIVATIONS[activation])
        states.append(after.requires_grad_())
    loss = a["read_out"] @ states[-1][:width]
    found = torch.autograd.grad(loss, [U, W, b, *states[:0:-1]], allow_unused=True)
    norms = [0.0 if g is None else g.norm().item() for g in found[3:]]
    length = torch.cat([g.flatten() for g in found[:3]]).norm().item()
    factor = 1.0 if clip is None or length <= clip else clip / length
    return {"norms": [n * factor for n in norms], "before": length, "factor": factor}


def golden() -> dict[str, Any]:
    """Two random networks, every kind and setting."""
    names = ("spectral_radius", "activation", "forget_bias", "truncation", "clip")
    networks, cases = [], []
    for seed in (0, 1):
        widget = GradientFlow(random_network(TIME, WIDTH, seed))
        networks.append({"arrays": base64.b64encode(widget.arrays).decode(), "index": widget.index})
        for kind, setting in itertools.product(("RNN", "LSTM", "GRU"), SETTINGS):
            measured = measure(kind, unpacked(widget), setting)
            settings = dict(zip(names, setting[:-1], strict=True))
            case = {"network": seed, "kind": kind, "settings": settings, "T": setting[-1]}
            cases.append(case | measured)
    return {"networks": networks, "cases": cases}


if __name__ == "__main__":
    PATH.write_text(json.dumps(golden(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{PATH}: {PATH.stat().st_size:,} bytes")
