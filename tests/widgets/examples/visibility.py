"""Visibility of a pair of sentences with padding."""

from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
from playwright.sync_api import Page

from lmcourse.widgets import Visibility
from tests.widgets import strings
from tests.widgets.examples import Example, press, tap

TOKENS = ["[CLS]", "it", "rains", "[SEP]", "we", "read", "on", "[SEP]", "[PAD]", "[PAD]"]
GIVEN = {
    "token_type_ids": [0] * 4 + [1] * 4 + [0] * 2,
    "selected": [0, 1, 1, 0, 0, 0, 0, 0, 0, 0],
    "scores": np.random.default_rng(0).normal(size=(10, 10)).round(2),
}


def by_keyboard(page: Page) -> None:
    press(page, "Softmax first", " ")


def by_pointer(page: Page) -> None:
    tap(page, "Visibility", 0.5, 0.55)


def tree_of(random: Random, n: int) -> tuple[list[str], Any]:
    """Return the tokens of a made-up sentence tree, and the tree."""
    branches = [-1 if random.random() < 0.7 else random.randint(0, 3) for _ in range(n)]
    branches[0] = -1
    soft = [0]
    for _ in range(n - 1):
        soft.append(max(0, soft[-1] + random.choice([1, 1, 1, 0, -1])))
    anchors = [random.choice([i for i in range(k + 1) if branches[i] < 0]) for k in range(n)]
    visible = [[random.random() < 0.5 for _ in range(n)] for _ in range(n)]
    tokens = strings.tokens(random, n)
    return tokens, SimpleNamespace(
        tokens=tuple(tokens),
        soft_positions=tuple(soft),
        visible=visible,
        branches=tuple(branches),
        anchors=tuple(anchors),
    )


def fuzz(random: Random) -> Callable[[], Visibility]:
    n = random.choice([1, 2, random.randint(1, 40), random.randint(1, 40), 300])
    if random.random() < 0.02:
        n = random.choice([0, 2000])
    numbers = np.random.default_rng(random.randrange(10**9))
    tokens = strings.tokens(random, n)
    options: dict[str, Any] = {}
    if 0 < n < 60 and random.random() < 0.4:
        tokens, options["tree"] = tree_of(random, n)
        if random.random() < 0.05:
            tokens = [*tokens[:-1], tokens[-1] + "x"]
    if random.random() < 0.3:
        options["attention_mask"] = numbers.random(n) < random.choice([0, 0.7])
    if random.random() < 0.3:
        options["token_type_ids"] = numbers.integers(-1 if random.random() < 0.05 else 0, 3, n)
    if random.random() < 0.3:
        options["selected"] = numbers.random(n) < 0.3
    if random.random() < 0.3 and n < 1000:
        options["visible"] = numbers.random((n, n)) < random.choice([0, 0.5, 0.9])
        if random.random() < 0.1:
            options["visible"] = np.where(options["visible"], 0.0, -np.inf)
    if random.random() < 0.5 and n < 1000:
        size = 10.0 ** random.choice([0, 0, 1, 4, 30, 38])
        with np.errstate(over="ignore"):
            options["scores"] = numbers.standard_normal((n, n)) * size
        if random.random() < 0.1:
            options["scores"] = options["scores"][:, 1:]
    if random.random() < 0.25:  # a line of text, right or wrong
        pieces = ["[", "]", "(", ")", " ", "[PAD]", *strings.tokens(random, 4)]
        right = f"({tokens[0] if n else 'a'} b) [{random.choice(strings.HOSTILE)} d] e [f]"
        line = random.choice([right, "".join(random.choices(pieces, k=random.randint(0, 12)))])
        tokens, options = None, {"text": line}
    every = ["causal", "padding", "segment", "boundary", "tree", "given"]
    there = {"padding": "attention_mask", "segment": "token_type_ids", "boundary": "selected"}
    known = [it for it in every if it == "causal" or there.get(it, it) in options]
    known = [it for it in known if it != "given" or "visible" in options]
    if tokens is None:
        known = ["causal", "padding", "tree"]
    masks = random.choice([None, random.sample(known, random.randint(0, len(known)))])
    settings = {
        "masks": masks if random.random() < 0.96 else random.choice(every),
        "added": random.choice(["-inf", "-10000", "lowest", "lowest", "-inf"]),
        "after": random.random() < 0.3,
        "row": random.choice([None, random.randint(0, n)]),
    }
    return lambda: Visibility(tokens, **options, **settings)


EXAMPLE = Example(
    make=lambda: Visibility(TOKENS, **GIVEN, masks=["padding"]),
    first="With padding, 80 of 100",
    by_keyboard=by_keyboard,
    after_keyboard="Hidden weights are set to 0",
    by_pointer=by_pointer,
    after_pointer="Query 5",
    trait=("masks", ["segment"], "With segment, 52 of 100"),
    nonsense=("masks", ["nonsense"]),
    call={"tokens": TOKENS, "given": GIVEN},
    fuzz=fuzz,
)
