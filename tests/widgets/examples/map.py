"""Map of a few words whose vectors are made up: two pairs and their parallel offsets."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from playwright.sync_api import Page

from lmcourse.widgets import Map
from tests.widgets.examples import Example, press, tap
from tests.widgets.strings import tokens

WORDS = ["man", "woman", "king", "queen", "</script><b>", "apple", "pear", "plum"]
VECTORS = np.array(
    [
        [1.0, 0.1, 0.0, 0.2, 0.0],
        [0.9, 0.9, 0.1, 0.2, 0.0],
        [0.8, 0.1, 0.9, 0.2, 0.1],
        [0.8, 0.8, 0.9, 0.3, 0.0],
        [0.1, -0.9, 0.3, 0.2, 0.2],
        [-0.6, 0.2, 0.1, 0.9, 0.2],
        [-0.7, 0.1, 0.2, 0.8, 0.1],
        [-0.6, 0.1, 0.0, 0.9, -0.3],
    ]
)
GROUPS = {"apple": "<i>fruit</i>", "pear": "<i>fruit</i>", "king": "court", "queen": "court"}


def make() -> Map:
    return Map(WORDS, VECTORS, query="king", groups=GROUPS, title="<u>Eight</u> words")


def by_keyboard(page: Page) -> None:
    press(page, "Word", "Control+A", *"apple", "Enter")


def by_pointer(page: Page) -> None:
    tap(page, "Nearest words", 0.3, 0.05)


def fuzz(random: Random) -> Callable[[], Map]:
    count, width = random.choice([1, 2, 3, 5, 20, 300]), random.choice([1, 2, 3, 10, 50])
    numbers = np.random.default_rng(random.randrange(10**9))
    vectors: Any = numbers.standard_normal((count, width)) * 10.0 ** random.choice([-300, 0, 0, 38])
    kind = random.random()
    if kind < 0.05:
        vectors[random.randrange(count), 0] = random.choice([np.nan, np.inf])
    elif kind < 0.1:
        vectors = vectors[:, :0] if kind < 0.07 else vectors[:-1]
    elif kind < 0.3:
        vectors[:] = random.choice([0.0, 1.0, vectors[0]])
    drawn = dict.fromkeys(tokens(random, count))
    words = list(drawn)[:count] + [f"word {i}" for i in range(count - len(drawn))]
    if random.random() < 0.03:
        words[-1] = words[0] if count > 1 else 5
    asked = [random.choice(words) for _ in range(3)]
    grouped = random.sample(words, random.randint(0, count))
    names = tokens(random, random.choice([1, 1, 2, 8, 9]))
    settings = {
        "query": random.choice([None, None, *words]),
        "analogy": random.choice([None, *[asked] * 8, asked[:2]]),
        "groups": random.choice([None, {word: random.choice(names) for word in grouped}]),
        "show": random.choice([None, "neighbors", "analogy"]),
        "with_queries": random.random() < 0.5,
        "plane": random.choice(["all", "chosen"]),
        "center": random.choice([None, [random.uniform(-1, 1), random.uniform(-2, 2.02)]]),
        "zoom": 2 ** random.uniform(0, 6.01),
    }
    return lambda: Map(words, vectors, title=tokens(random, 1)[0], **settings)


EXAMPLE = Example(
    make=make,
    first="Nearest to “\u2068king\u2069” by cosine: “\u2068queen\u2069” 0.88",
    by_keyboard=by_keyboard,
    after_keyboard="Nearest to “\u2068apple\u2069” by cosine: “\u2068pear\u2069” 0.98",
    by_pointer=by_pointer,
    after_pointer="Nearest to “\u2068pear\u2069” by cosine: “\u2068apple\u2069” 0.98",
    trait=("query", "queen", "Nearest to “\u2068queen\u2069” by cosine: “\u2068king\u2069”"),
    nonsense=("query", "emperor"),
    call={"words": WORDS, "vectors": VECTORS, "groups": GROUPS},
    fuzz=fuzz,
)
