"""Masking of a short review, with predictions of a made-up model."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from playwright.sync_api import Page

from lmcourse.widgets import Masking
from tests.widgets import strings
from tests.widgets.examples import Example, press, tap

TOKENS = [
    "[CLS]",
    "the",
    "prose",
    "is",
    "very",
    "bril",
    "##liant",
    "and",
    "the",
    "plot",
    "sounds",
    "new",
    ".",
    "[SEP]",
]
WORDS = sorted({*TOKENS, "dull", "old", "book"})


def distributions(seed: int, count: int, width: int) -> Any:
    """Return random distributions, (count, width)."""
    return np.random.default_rng(seed).dirichlet(np.ones(width), count)


GIVEN = {
    "vocabulary": WORDS,
    "model": distributions(0, len(TOKENS), len(WORDS)),
    "exact": distributions(1, len(TOKENS), len(WORDS)),
}


def by_keyboard(page: Page) -> None:
    press(page, "Select", "End")


def by_pointer(page: Page) -> None:
    tap(page, "Epochs", 0.5, 0.75)


def fuzz(random: Random) -> Callable[[], Masking]:
    n = random.choice([1, 2, random.randint(1, 40), random.randint(1, 40), 300])
    if random.random() < 0.02:
        n = random.choice([0, 2000])
    numbers = np.random.default_rng(random.randrange(10**9))
    tokens = strings.tokens(random, n)
    options: dict[str, Any] = {}
    draws = random.choice([0, 0, 1, 4, 25]) if n < 100 else 0
    if draws:
        chosen = numbers.random((draws, n)) < random.choice([0, 0.15, 1])
        options["selected"] = chosen if random.random() < 0.95 else chosen[:, 1:]
        if random.random() < 0.7:
            rows = [
                [
                    random.choice(["[MASK]", it, strings.token(random)]) if on else it
                    for on, it in row
                ]
                for row in (list(zip(one, tokens, strict=True)) for one in chosen.tolist())
            ]
            if random.random() < 0.05:
                rows[0][0] += "x"
            options["read"] = rows
    if random.random() < 0.6 and n < 100:
        words = list(dict.fromkeys([*tokens, *strings.tokens(random, random.randint(1, 30))]))
        shape = (draws, n) if draws and random.random() < 0.5 else (n,)
        options["vocabulary"] = words if random.random() < 0.97 else [*words, words[0]]
        for name in random.choice([("model",), ("exact",), ("model", "exact")]):
            rows = numbers.dirichlet(np.full(len(words), random.choice([0.02, 1.0])), shape)
            rows[rows < 1e-12] = 0
            rows[..., : random.randint(0, 2), :] = 0
            if random.random() < 0.03:
                rows.flat[0] = random.choice([np.nan, -0.5, 3.0])
            options[name] = rows
    if random.random() < 0.3:
        options["special"] = numbers.random(n) < 0.3
    if random.random() < 0.3:
        options["word_ids"] = [random.choice([None, i // 2, i // 3]) for i in range(n)]
    settings = {
        "kind": random.choice([None, None, "token", "word", "span", "span", "sentence"]),
        "rate": random.choice([0, 0.15, 0.15, 1, random.uniform(0, 1.02)]),
        "masked": random.choice([0.8, 0.8, random.random()]),
        "random": random.choice([0.1, 0.1, random.random()]),
        "dynamic": random.random() < 0.7,
        "seed": random.choice([0, random.randrange(10**6)]),
        "epoch": random.randrange(10),
        "position": random.choice([None, random.randint(0, n)]),
        "text": random.choice([None, None, "a , b", " ".join(strings.tokens(random, 3))]),
        "mask_token": random.choice(["[MASK]", "<mask>", strings.token(random)]),
    }
    return lambda: Masking(tokens, **options, **settings)


EXAMPLE = Example(
    make=lambda: Masking(TOKENS, **GIVEN),
    first="epoch 0 of 0 to 9",
    by_keyboard=by_keyboard,
    after_keyboard="at 100%, epoch 0",
    by_pointer=by_pointer,
    after_pointer="at 100%, epoch 7",
    trait=("kind", "span", "Draw by spans"),
    nonsense=("kind", "nonsense"),
    call={"tokens": TOKENS, "given": GIVEN},
    fuzz=fuzz,
)
