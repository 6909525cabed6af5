"""Gates of a small LSTM with random weights that reads a sentence in both directions."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from playwright.sync_api import Page

from lmcourse.widgets import Gates
from tests.widgets import strings
from tests.widgets.examples import Example, tap, walk

TOKENS = ["the", "dreams", "with", "the", "neighbor", "are", "fine", "."]


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def lstm(
    numbers: np.random.Generator, time: int, units: int, back: bool = False, size: float = 2.0
) -> dict[str, Any]:
    """Gates as they are drawn, and the states that follow from them."""
    shape = (time, units)
    f, i, o = (sigmoid(numbers.normal(0, size, shape)) for _ in range(3))
    g = np.tanh(numbers.normal(0, size, shape))
    before = numbers.normal(0, size, units)
    c, now = np.empty(shape), before
    for t in range(time)[:: -1 if back else 1]:
        c[t] = now = f[t] * now + i[t] * g[t]
    return {"f": f, "i": i, "o": o, "g": g, "c": c, "h": o * np.tanh(c), "before": before}


def gru(
    numbers: np.random.Generator, time: int, units: int, back: bool = False, size: float = 2.0
) -> dict[str, Any]:
    """The same for a GRU."""
    shape = (time, units)
    r, z = (sigmoid(numbers.normal(0, size, shape)) for _ in range(2))
    n = np.tanh(numbers.normal(0, size, shape))
    before = np.tanh(numbers.normal(0, 1, units))
    h, now = np.empty(shape), before
    for t in range(time)[:: -1 if back else 1]:
        h[t] = now = (1 - z[t]) * n[t] + z[t] * now
    return {"r": r, "z": z, "n": n, "h": h, "before": before}


def example_arrays() -> dict[str, Any]:
    """Both directions, a series and a score."""
    numbers = np.random.default_rng(0)
    return {
        **lstm(numbers, 8, 6),
        "backward": lstm(numbers, 8, 6, back=True),
        "series": {"the subject is plural": [0, 1, 1, 1, 1, 0, 0, 0]},
        "scores": {"gradient": [3, 1, 4, 1, 5, 9]},
    }


ARRAYS = example_arrays()


def by_keyboard(page: Page) -> None:
    walk(page, "forget f", "Home", "ArrowRight", "Enter")


def by_pointer(page: Page) -> None:
    tap(page, "cell c", 0.3, 0.6)  # the third token, the fourth unit


def fuzz(random: Random) -> Callable[[], Gates]:
    time = random.choice([1, 2, random.randint(3, 30), random.randint(30, 120)])
    time = 2000 if random.random() < 0.03 else time
    units = random.choice([1, 2, random.randint(3, 40), random.randint(40, 120)])
    units = min(units, 3) if time == 2000 else units
    numbers = np.random.default_rng(random.randrange(10**9))
    draw = random.choice([lstm, lstm, gru])
    size = random.choice([0.0, 0.1, 2.0, 2.0, 30.0])
    arrays = draw(numbers, time, units, size=size)
    if random.random() < 0.2:
        arrays["backward"] = draw(numbers, time, units, back=random.random() < 0.8, size=size)
    names = strings.tokens(random, random.randint(0, 3))
    scales = [0.0, 1.0, 1e-30, 1e30]
    series = {it: numbers.normal(size=time) * random.choice(scales) for it in names}
    scores = {f"{it} too": numbers.normal(size=units) * random.choice(scales) for it in names}
    bad = random.random()
    name = random.choice([it for it in arrays if it not in ("before", "backward")])
    if bad < 0.04:
        arrays[name] = arrays[name][:-1]
    elif bad < 0.08:
        arrays[name][0, 0] = random.choice([np.nan, np.inf, -7, 1e300])
    elif bad < 0.1:
        arrays["before"] = arrays["before"] + 1
    elif bad < 0.12:
        del arrays[name]
    elif bad < 0.13:
        series = {"memory": np.zeros(time)}
    settings = {
        "sort": random.choice(["number", "keep", "variance", "memory", *series, *scores, "size"]),
        "show": random.choice(["unit", "maps", "saturation"]),
        "step": random.choice([None, random.randrange(time)]),
        "pin": random.choice([None, random.randrange(time), random.randrange(time + 1)]),
        "unit": random.choice([None, random.randrange(units)]),
        "compare": random.choice([None, random.randrange(units)]),
    }
    tokens = strings.tokens(random, time - (bad > 0.98))
    return lambda: Gates(tokens, **arrays, series=series, scores=scores, **settings)


EXAMPLE = Example(
    make=lambda: Gates(TOKENS, **ARRAYS, pin=1, show="maps"),
    first="Unit 0 at “\u2068.\u2069” (8 of 8)",
    by_keyboard=by_keyboard,
    after_keyboard="Unit 0 at “\u2068dreams\u2069” (2 of 8)",
    by_pointer=by_pointer,
    after_pointer="Unit 3 at “\u2068with\u2069” (3 of 8)",
    trait=("pin", 2, "left of c at “\u2068with\u2069”"),
    nonsense=("direction", "sideways"),
    call={"tokens": TOKENS, "arrays": ARRAYS},
    fuzz=fuzz,
)
