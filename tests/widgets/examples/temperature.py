"""Temperature of two small examples."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from playwright.sync_api import Page

from lmcourse.widgets import Temperature
from tests.widgets.examples import Example, press, tap
from tests.widgets.strings import tokens

CLASSES = ["cat", "dog", "owl", "car", "</script><b>"]
TEACHER = np.array([[6.0, 4.5, 3.0, -1.0, -4.0], [-2.0, 0.5, 1.0, 5.0, 0.0]])
STUDENT = np.array([[2.0, 1.0, -1.0, 1.5, 0.0], [0.0, 0.0, 2.0, 1.0, 0.5]])
TEXTS = ["a small ▢ purred", "the <i>red</i> ▢ stopped"]


def make() -> Temperature:
    return Temperature(TEACHER, STUDENT, CLASSES, examples=TEXTS, show="all")


def by_keyboard(page: Page) -> None:
    press(page, "Temperature T", "Home", "ArrowRight", "ArrowRight")


def by_pointer(page: Page) -> None:
    tap(page, "Classes", 0.1, 0.5)


def fuzz(random: Random) -> Callable[[], Temperature]:
    examples = random.choice([1, 1, 2, 5])
    count = random.choice([1, 2, 3, 8, 11, 12, 40, 1000])
    numbers = np.random.default_rng(random.randrange(10**9))
    size = 10.0 ** random.choice([-30, -3, 0, 0, 0, 1, 3, 30, 38])
    shape = (examples, count) if examples > 1 or random.random() < 0.5 else (count,)

    def draw() -> Any:
        array = numbers.standard_normal(shape) * size
        kind = random.random()
        if kind < 0.02:
            array.flat[random.randrange(array.size)] = random.choice(
                [np.nan, np.inf, -np.inf, 1e300]
            )
        elif kind < 0.04:
            array = array[..., :-1]
        elif kind < 0.14:
            array[:] = random.choice([0.0, -1e30, 1e30])
        elif kind < 0.2:
            array.flat[random.randrange(array.size)] = random.choice([-1e30, 1e30])
        return array

    teacher = draw()
    student = teacher.copy() if random.random() < 0.05 else draw()
    settings = {
        "examples": random.choice([None, tokens(random, examples)]),
        "labels": random.choice([None, [random.randint(0, count - 1) for _ in range(examples)]]),
        "example": random.randrange(examples),
        "show": random.choice(["targets", "all"]),
        "temperature": 10 ** random.uniform(-1, 3.01),
        "alpha": random.choice([0.0, 1.0, random.uniform(0, 1.01)]),
        "learning_rate": 10 ** random.uniform(-2, 1.3),
        "scaled": random.random() < 0.5,
        "pinned": random.choice([None, random.randint(0, count - 1)]),
        "moves": [[random.randrange(examples), random.randrange(count), random.uniform(-20, 20)]]
        * random.randint(0, 2),
        "step": random.choice([0, 1, 50, random.randint(0, 51)]),
    }
    names = tokens(random, count - (random.random() < 0.02))
    return lambda: Temperature(teacher, student, names, **settings)


EXAMPLE = Example(
    make=make,
    first="Soft targets at T = 2 ",
    by_keyboard=by_keyboard,
    after_keyboard="Soft targets at T = 0.16 ",
    by_pointer=by_pointer,
    after_pointer="“\u2068owl\u2069”, picked",
    trait=("example", 1, "the <i>red</i> ▢ stopped"),
    nonsense=("example", 2),
    call={"teacher": TEACHER, "student": STUDENT, "classes": CLASSES},
    fuzz=fuzz,
)
