"""Pareto of a few invented models on two tasks."""

from collections.abc import Callable
from random import Random
from typing import Any

from playwright.sync_api import Page

from lmcourse.widgets import Pareto
from tests.widgets.examples import Example, press, walk
from tests.widgets.strings import tokens

AXES = {"bytes": "bytes of the file", "time": "time, teacher = 1"}
SCORES = {"a": "accuracy", "b": "F1 of <i>spans</i>"}
REFERENCES = {"a": ("a <i>bag</i> of words", 0.8)}
TITLE = "<u>Six</u> models"
MODELS = [
    # name, family, group, bytes, time, values of a, values of b
    ("teacher", "none", "distilled", 4e6, 1.0, [0.9, 0.92, 0.94], [0.8, 0.82]),
    ("half", "none", "not distilled", 2e6, (0.45, 0.5, 0.6), [0.9, 0.91, 0.89], [0.7, 0.72]),
    ("half, pruned", "<b>pruning</b>", "not distilled", 2e6, 0.5, [0.85], [0.9, 0.6]),
    ("half, int8", "int8", "distilled", 1e6, 0.4, [0.88, 0.9], [0.5, 0.52]),
    ("</script><b>", "int8", "not distilled", 5e5, 0.3, [0.7, 0.8], [0.3, 0.4]),
    ("tiny", "none", "distilled", 6e5, 0.2, [0.82, 0.84], [0.45, 0.41]),
]
POINTS: list[dict[str, Any]] = [
    {"name": name, "family": family, "group": group, "bytes": size, "time": time, **of}
    for name, family, group, size, time, a, b in MODELS
    for of in ({"score": "a", "values": a}, {"score": "b", "values": b})
]


def make() -> Pareto:
    return Pareto(POINTS, AXES, SCORES, references=REFERENCES, title=TITLE)


def by_keyboard(page: Page) -> None:
    press(page, "int8", "Space")


def by_pointer(page: Page) -> None:
    """Pick the dearest model: it is in the upper right corner."""
    walk(page, "Chart", "End")
    cell = page.get_by_role("grid", name="Chart").get_by_role("gridcell")
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    assert box is not None
    at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    touch = page.evaluate("navigator.maxTouchPoints > 0")
    (page.touchscreen.tap if touch else page.mouse.click)(*at)


def fuzz(random: Random) -> Callable[[], Pareto]:
    count = random.choice([1, 1, 2, 3, 20, 120])
    labels = [tokens(random, random.choice([1, 2, 8, 9] if k else [1, 2, 2, 3])) for k in (0, 1)]
    size = 10.0 ** random.choice([-30, -3, 0, 0, 3, 30])
    axes = dict(zip("xyz", tokens(random, random.choice([1, 2, 3])), strict=False))
    scores = dict(zip("ab", tokens(random, random.choice([1, 2])), strict=False))

    def cost() -> Any:
        if random.random() < 0.02:
            return random.choice([0, -1, float("nan"), float("inf"), "many", [1, 2], 1e60])
        middle = size * 10 ** random.uniform(-2, 2)
        return random.choice([middle, size, (middle / 2, middle, 2 * middle)])

    points = []
    for i in range(count):
        values: Any = [random.choice([0.0, 1.0, random.gauss(0, size)]) for _ in range(1 + i % 3)]
        if random.random() < 0.01:
            values = random.choice([[], [float("nan")], 3, "high", [[1]]])
        point = {"name": f"{tokens(random, 1)[0]}{i}", "values": values}
        point |= {"group": random.choice(labels[0]), "family": random.choice(labels[1])}
        point |= {"score": random.choice(list(scores)), **{key: cost() for key in axes}}
        if random.random() < 0.003:
            del point[random.choice(list(point))]
        points.append(point)
    known = [
        list(dict.fromkeys(it[key] for it in points if key in it)) for key in ("family", "group")
    ]
    lines = {key: (tokens(random, 1)[0], random.gauss(0, size)) for key in scores}
    settings = {
        "references": random.choice([None, lines, {"c": ("c", 1)}])
        if random.random() < 0.3
        else None,
        "axis": random.choice([None, *axes]),
        "score": random.choice([None, *scores]),
        "families": random.choice([None, known[0][1:], known[0], []]),
        "groups": random.choice(
            [None, known[1][:1], ["unknown"] if random.random() < 0.1 else None]
        ),
        "pinned": random.choice([None, 0, random.randint(0, count)]),
    }
    return lambda: Pareto(points, axes, scores, title=tokens(random, 1)[0], **settings)


EXAMPLE = Example(
    make=make,
    first="Pareto chart of 6 models: accuracy against bytes of the file",
    by_keyboard=by_keyboard,
    after_keyboard="Pareto chart of 4 models: ",
    by_pointer=by_pointer,
    after_pointer="Picked: “\u2068teacher\u2069” (4 M, 0.920), on the front",
    trait=("score", "b", "F1 of <i>spans</i> against"),
    nonsense=("axis", "grams"),
    call={
        "points": POINTS,
        "axes": AXES,
        "scores": SCORES,
        "references": REFERENCES,
        "title": TITLE,
    },
    fuzz=fuzz,
)
