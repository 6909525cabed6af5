"""Family of six models that do not exist, and a few results."""

from collections.abc import Callable
from random import Random
from typing import Any

from playwright.sync_api import Page

from lmcourse.widgets import Family
from tests.widgets.examples import Example, press, tap
from tests.widgets.strings import tokens

MODELS: list[dict[str, Any]] = [
    {"name": "Static", "date": "2013-01", "architecture": "static", "chapter": "05"},
    {
        "name": "</script><b>",
        "date": "2018-02",
        "parents": "Static",
        "changes": "reads <i>characters</i>",
        "architecture": "recurrent",
        "parameters": "93.6",
        "counted": "93600864",
        "chapter": "07",
        "link": "../chapters/07-elmo",
    },
    {"name": "Left", "date": "2018-06", "architecture": "decoder", "parameters": 117, "note": "a"},
    {
        "name": "Both sides",
        "date": "2018-10",
        "parents": ["</script><b>", "Left"],
        "changes": "masks words",
        "architecture": "encoder",
        "parameters": "340",
        "organization": "Somebody",
        "source": "a paper, table 1",
        "chapter": "10",
        "link": "../chapters/10-bert",
    },
    {
        "name": "Longer",
        "date": "2019-07",
        "parents": "Both sides",
        "changes": "more text",
        "architecture": "encoder",
        "parameters": "355",
        "chapter": "12",
    },
    {"name": "Huge", "date": "2020-05", "parents": "Left", "parameters": "175000"},
]
RESULTS: list[dict[str, Any]] = [
    {"benchmark": "<u>Quiz</u>", "date": "2018-01", "value": "90", "split": "test"},
    {"benchmark": "<u>Quiz</u>", "date": "2018-10", "value": "88.5", "split": "dev"},
    {"benchmark": "<u>Quiz</u>", "date": "2019-07", "value": 92.25, "split": "test"},
    {"benchmark": "Exam", "date": "2018-10", "value": "80", "split": "test", "system": "a rule"},
]
for row, kind, model in zip(
    RESULTS,
    ("human", "single", "ensemble", "single"),
    ("", "Both sides", "Longer", ""),
    strict=True,
):
    row.update(kind=kind, model=model)


def make() -> Family:
    return Family(MODELS, RESULTS, selected="Left", since=2017)


def by_keyboard(page: Page) -> None:
    press(page, "Model", "ArrowDown", "ArrowDown")


def by_pointer(page: Page) -> None:
    tap(page, "Models", 0.55, 0.22)


def fuzz(random: Random) -> Callable[[], Family]:
    count = random.choice([1, 2, 3, 8, 40, 200])
    drawn = [it for it in dict.fromkeys(tokens(random, count)) if it]
    names = drawn + [f"model {i}" for i in range(count - len(drawn))]
    months = sorted(random.randint(1, 12 * random.choice([1, 1, 9])) for _ in names)
    models = []
    for at, (name, month) in enumerate(zip(names, months, strict=True)):
        older = [it for it, when in zip(names[:at], months[:at], strict=True) if when < month]
        models.append(
            {
                "name": name,
                "date": f"{2012 + (month - 1) // 12}-{(month - 1) % 12 + 1:02}",
                "parents": random.sample(older, min(len(older), random.randint(0, 3))),
                "changes": tokens(random, 1)[0],
                "architecture": random.choice(["encoder", "decoder", *tokens(random, 1)]),
                "parameters": random.choice(["", 10 ** random.uniform(-3, 8)]),
                "counted": random.choice([None, random.randint(1, 10**12)]),
                "chapter": random.choice(["", "10"]),
                "note": random.choice(["", *tokens(random, 1)]),
            }
        )
    results: list[dict[str, Any]] = [
        {
            "benchmark": random.choice(["Quiz", "Exam"]),
            "date": f"201{random.randint(2, 9)}-0{random.randint(1, 9)}",
            "model": random.choice(["", random.choice(names)]),
            "system": tokens(random, 1)[0],
            "value": random.uniform(0.01, 100),
            "split": random.choice(["test", "dev"]),
            "kind": random.choice(["single", "ensemble", "human"]),
        }
        for _ in range(random.choice([0, 1, 5, 60]))
    ]
    kind = random.random()
    if kind < 0.03:
        models[0]["date"] = "2018"
    elif kind < 0.06:
        models[0]["parents"] = [names[0]]
    elif kind < 0.09 and results:
        results[0]["value"] = random.choice([-1, 101, "x", float("nan")])
    settings: dict[str, Any] = {
        "show": random.choice(["family", "scores"]),
        "axis": random.choice(["parameters", "architecture"]),
        "every": random.random() < 0.5,
        "selected": random.choice([None, *names]),
        "split": random.choice(["all", "test", "dev"]),
        "since": random.choice([None, 2012 + (months[-1] - 1) // 12, 2011]),
    }
    return lambda: Family(models, results, **settings)


EXAMPLE = Example(
    make=make,
    first="Selected: Left, June 2018",
    by_keyboard=by_keyboard,
    after_keyboard="Selected: Longer, July 2019",
    by_pointer=by_pointer,
    after_pointer="Selected: Both sides, October 2018",
    trait=("axis", "architecture", "4 models since 2017, by architecture"),
    nonsense=("selected", "Nobody"),
    call={"models": MODELS, "results": RESULTS},
    fuzz=fuzz,
)
