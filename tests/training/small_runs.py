"""A small training with everything that a run can have, for tests; and its digest."""

import hashlib

import numpy as np
import torch
from torch import nn

from lmcourse.training.loop import train
from research.runs import Checkpoints
from research.runs.stopping import EarlyStopping


class Regression:
    """Losses of a small regression, whose data depend on the step and on NumPy's random state."""

    def __init__(self, model: nn.Module, count: int, seed: int = 0) -> None:
        self.model, self.count, self.config, self.at = model, count, {"seed": seed}, 0

    def __iter__(self):
        while self.at < self.count:
            generator = torch.Generator().manual_seed(1000 * self.config["seed"] + self.at)
            self.at += 1
            size = int(torch.randint(1, 6, (), generator=generator))
            x = torch.randn(size, 4, generator=generator)
            noise = np.random.random()
            error = self.model(x)[:, 0] - x.sum(1) - 0.01 * noise
            yield error.square().mean(), size

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


def held_out(model: nn.Module) -> float:
    """A score that is not the training's, and that uses random numbers."""
    x = torch.randn(8, 4)
    return (model(x)[:, 0] - x.sum(1)).square().mean().item()


def small_run(
    folder,
    steps=30,
    *,
    rate=1e-2,
    seed=0,
    width=6,
    warmup=5,
    every=3,
    config=None,
    changed=(),
    **more,
):
    """Train, or go on training; the model, the optimizer, early stopping and the history."""
    np.random.seed(2), torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, width), nn.Dropout(0.3), nn.Tanh(), nn.Linear(width, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda t: min(1.0, (t + 1) / warmup))
    checkpoints = folder and Checkpoints(folder, every=every, config=config, changed=changed)
    parts = {
        "optimizer": optimizer,
        "scheduler": scheduler,
        "checkpoints": checkpoints,
        "accumulate": 2,
        "stop": EarlyStopping(held_out, every=4, patience=100),
        "watch": "nothing",
    } | more
    history = train(model, Regression(model, 2 * steps, seed), **parts)
    return model, optimizer, parts["stop"], history


def digest(model, optimizer, stop, history) -> str:
    """SHA-256 of the parameters, the optimizer's state, the history, and the random states."""
    total = hashlib.sha256()

    def add(value) -> None:
        if isinstance(value, torch.Tensor):
            total.update(value.numpy().tobytes())
        elif isinstance(value, dict):
            for key, part in value.items():
                total.update(repr(key).encode())
                add(part)
        elif isinstance(value, list):
            for part in value:
                add(part)
        else:
            total.update(repr(value).encode())

    add(dict(model.state_dict()))
    add(optimizer.state_dict())
    add(vars(history))
    add([stop.scores, stop.best_step])
    add([torch.rand(1), np.random.random()])
    return total.hexdigest()
