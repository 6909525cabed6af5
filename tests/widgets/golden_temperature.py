"""What torch says about soft targets, the losses and their gradients: the reference of Temperature.

`python -m tests.widgets.golden_temperature` writes `web/test/temperature.golden.json`; a test
computes it anew and compares.
"""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from lmcourse.models.distillation import distillation_loss, soft_targets
from lmcourse.widgets import Temperature

PATH = Path(__file__).parents[2] / "web" / "test" / "temperature.golden.json"
SETTINGS = [
    # example, T, α, times T², learning rate, steps, moves
    (0, 1.0, 1.0, True, 1.0, 0, []),
    (0, 2.0, 1.0, True, 1.0, 7, []),
    (0, 2.0, 1.0, False, 1.0, 7, []),
    (1, 0.1, 0.5, True, 0.1, 3, [[1, 2, -4.5]]),
    (1, 8.0, 0.25, False, 5.0, 50, [[0, 0, 3.0]]),
    (2, 1000.0, 1.0, True, 10.0, 20, [[2, 4, 20.0], [2, 0, -20.0]]),
    (2, 37.0, 0.0, True, 0.5, 11, []),
]


def logits() -> tuple[Tensor, Tensor]:
    """Three examples of six classes: plain ones, large ones, and some with an equal pair."""
    draw = torch.Generator().manual_seed(17)
    sizes = torch.tensor([[3.0], [40.0], [1.0]])
    teacher = (torch.randn(3, 6, generator=draw) * sizes).float()
    teacher[2, 1] = teacher[2, 0]
    return teacher, torch.randn(3, 6, generator=draw).float()


def loss(z: Tensor, t: Tensor, label: int, setting: tuple[Any, ...]) -> tuple[Tensor, Tensor]:
    """L = α L_d + (1 − α) L_s, and KL(t ‖ s)."""
    _, T, alpha, scaled, *_ = setting
    kl = distillation_loss(z[None], t[None], T) / T**2
    hard = functional.cross_entropy(z[None], torch.tensor([label]))
    return alpha * kl * (T**2 if scaled else 1) + (1 - alpha) * hard, kl


def measure(teacher: Tensor, student: Tensor, setting: tuple[Any, ...]) -> dict[str, Any]:
    """What the widget computes, by autograd and `lmcourse.models.distillation`."""
    example, T, _, _, rate, steps, moves = setting
    t, z = teacher[example].double(), student[example].double().clone()
    label = int(t.argmax())
    for at, index, amount in moves:
        if at == example:
            z[index] += amount
    path = []
    for taken in range(51):
        z = z.detach().requires_grad_()
        total, kl = loss(z, t, label, setting)
        path.append(kl.item())
        (gradient,) = torch.autograd.grad(total, z)
        if taken == steps:
            found, g, own = total.item(), gradient, z.detach()
            soft = torch.autograd.grad(loss(z, t, label, (0, T, 1.0, False))[1], z)[0]
        z = z - rate * gradient
    at_T = [soft_targets(it, T) for it in (t, own)]
    return {
        "settings": dict(
            zip(
                ("example", "temperature", "alpha", "scaled", "learning_rate", "step", "moves"),
                setting,
                strict=True,
            )
        ),
        "label": label,
        "t": at_T[0].tolist(),
        "s": at_T[1].tolist(),
        "entropies": [torch.special.entr(it).sum().item() for it in at_T],
        "loss": found,
        "gradient": g.tolist(),
        "length": soft.norm().item(),
        "path": path,
    }


def golden() -> dict[str, Any]:
    """Every setting."""
    teacher, student = logits()
    widget = Temperature(teacher, student, list("abcdef"))
    arrays = base64.b64encode(widget.arrays).decode()
    cases = [measure(teacher, student, setting) for setting in SETTINGS]
    assert np.isfinite([case["loss"] for case in cases]).all()
    return {"arrays": arrays, "index": widget.index, "cases": cases}


if __name__ == "__main__":
    PATH.write_text(json.dumps(golden(), separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{PATH}: {PATH.stat().st_size:,} bytes")
