"""Graph of the expression whose gradient 003 asks for: (x + y)·x·y² at (1, 2)."""

from collections.abc import Callable
from random import Random
from typing import Any

from playwright.sync_api import Page

from lmcourse.widgets import Graph
from tests.widgets import golden_graph, strings
from tests.widgets.examples import Example, press, tap


def by_keyboard(page: Page) -> None:
    press(page, "Expression", "End", "Backspace", "3")


def by_pointer(page: Page) -> None:
    # (One look for all places: the picture may be drawn anew between two.)
    right, down = page.locator(".lm-stage").first.evaluate("""(it) => {
        const texts = [...it.querySelectorAll("svg text")];
        const box = texts.find((each) => each.textContent === "x").getBoundingClientRect();
        const whole = it.querySelector("[role=grid]").getBoundingClientRect();
        return [(box.x + 3 - whole.x) / whole.width, (box.y + 3 - whole.y) / whole.height];
    }""")
    tap(page, "Nodes", right, down)


def fuzz(random: Random) -> Callable[[], Graph]:
    kind = random.random()
    if kind < 0.7:
        expression = golden_graph.draw(random)
    elif kind < 0.85:
        expression = golden_graph.mangled(random)
    else:
        expression = random.choice([*golden_graph.BAD, strings.token(random)])
    extreme = [0.0, 1.0, -1.0, 1e6, -1e6, 5e-324, 0.5]
    values = {
        name: random.choice([*extreme, random.uniform(-4, 4), random.uniform(-4, 4)])
        for name in golden_graph.NAMES
    }
    if random.random() < 0.08:
        name = random.choice(["a", "b", strings.token(random)])
        values[name] = random.choice([float("nan"), float("inf"), 1e7, "1", None, [1], 10**400])
    settings: dict[str, Any] = {
        "step": random.choice([None, None, 0, random.randint(0, 60), 10**9, -1]),
        "overwrite": random.random() < 0.3,
        "learning_rate": random.choice([0.1, 5e-324, 1e6, random.uniform(0, 2), 0.1, 0.1]),
        "pinned": random.choice([None, "a", "L", "v₁", strings.token(random)]),
    }
    return lambda: Graph(expression, values, **settings)


EXAMPLE = Example(
    make=lambda: Graph("(x + y)*x*y**2", x=1, y=2),
    first="L = 12.",
    by_keyboard=by_keyboard,
    after_keyboard="L = 24.",
    by_pointer=by_pointer,
    after_pointer="Paths from x to L: 2.",
    trait=("pinned", "y", "Paths from y to L: 2."),
    nonsense=("expression", "2x"),
    call={},
    fuzz=fuzz,
)
