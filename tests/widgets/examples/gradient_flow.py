"""GradientFlow of a small network."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from playwright.sync_api import Page

from lmcourse.evaluation.gradient_flow import random_network
from lmcourse.widgets import GradientFlow
from tests.widgets.examples import Example, press, tap

NETWORK = random_network(time=20, width=8)


def by_keyboard(page: Page) -> None:
    press(page, "Loss at step", "Home", "ArrowRight")


def by_pointer(page: Page) -> None:
    tap(page, "LSTM:", 0.02, 0.52)


def fuzz(random: Random) -> Callable[[], GradientFlow]:
    time, width = random.randint(1, 12), random.randint(1, 6)
    numbers = np.random.default_rng(random.randrange(10**9))
    size = 10.0 ** random.choice([-30, -3, 0, 0, 0, 3, 30])

    def draw(*shape: int) -> Any:
        array = numbers.standard_normal(shape) * size
        if random.random() < 0.02:
            array.flat[random.randrange(array.size)] = random.choice([np.nan, np.inf, 1e300])
        if random.random() < 0.02:
            array = array[:-1]
        return array

    gates = {"RNN": 1, "LSTM": 4, "GRU": 3}
    network = NETWORK._replace(
        inputs=draw(time, width),
        read_out=draw(width),
        U={kind: draw(gates[kind] * width, width) for kind in gates},
        W={kind: draw(gates[kind] * width, width) for kind in gates},
    )
    settings: dict[str, Any] = {
        "spectral_radius": random.choice([0.1, 1.0, random.uniform(0, 3.2)]),
        "activation": random.choice(["tanh", "relu", "linear", "linear", "softmax"]),
        "forget_bias": random.uniform(-2, 6),
        "truncation": random.choice([None, random.randint(0, time)]),
        "clip": random.choice([None, 10 ** random.uniform(-2, 3)]),
        "step": random.choice([None, random.randint(1, time + 1)]),
    }
    if random.random() < 0.5:
        settings["before"] = [random.choice([0.1, 2.5]), *list(settings.values())[1:]]
    if random.random() < 0.03:
        settings["before"] = random.choice([[], [1], "tanh", [None] * 6, [[]] * 6])
    return lambda: GradientFlow(network, **settings)


EXAMPLE = Example(
    make=lambda: GradientFlow(NETWORK),
    first="loss at T = 20",
    by_keyboard=by_keyboard,
    after_keyboard="loss at T = 2 ",
    by_pointer=by_pointer,
    after_pointer="loss at T = 11",
    trait=("step", 7, "loss at T = 7"),
    nonsense=("spectral_radius", "nonsense"),
    call={"network": NETWORK},
    fuzz=fuzz,
)
