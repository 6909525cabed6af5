"""AttentionHeads with all lines: two layers with values, and what a weight moves."""

from collections.abc import Callable
from random import Random

import numpy as np
from playwright.sync_api import Page

from lmcourse.widgets import AttentionHeads
from tests.widgets.examples import Example, tap, walk
from tests.widgets.examples.attention_heads import TOKENS, weights

PARTS = {
    "attentions": weights(Random(3), 2, 3, len(TOKENS), len(TOKENS))["attentions"],
    "values": np.random.default_rng(1).standard_normal((2, 3, len(TOKENS), 5)),
}


def make() -> AttentionHeads:
    return AttentionHeads(tokens=TOKENS, layer=0, head=1, query=6, key=2, picture="lines", **PARTS)


def by_keyboard(page: Page) -> None:
    walk(page, "Heads", "ArrowDown", "End", "Enter")


def by_pointer(page: Page) -> None:
    tap(page, "Queries", 0.5, 0.45)  # row 3 of 8


def fuzz(random: Random) -> Callable[[], AttentionHeads]:
    layers, heads = random.choice([1, 2, 7]), random.choice([1, 2, 7])
    queries = random.choice([1, 9])
    cross = random.random() < 0.3
    keys = random.choice([1, 5, 70]) if cross else queries
    found = weights(random, layers, heads, queries, keys)["attentions"]
    values = np.random.default_rng(random.randrange(100)).standard_normal((layers, heads, keys, 3))
    measures = ["weight", "norm"] + ["mean"] * (heads > 1)
    measures += ["rollout"] * (layers > 1 and not cross)
    bad = random.random()
    if bad < 0.1:
        values.flat[0] = random.choice([np.nan, np.inf, 1e30])
    return lambda: AttentionHeads(
        found,
        tokens=["x"] * queries,
        key_tokens=["y"] * keys if cross else None,
        values=values[..., 0] if 0.1 < bad < 0.2 else values,
        picture="line" if 0.2 < bad < 0.25 else random.choice(["lines", "heads"]),
        measure="sum" if 0.25 < bad < 0.3 else random.choice(measures),
        lines=random.choice(["1", "8", "100%"]),
        layer=random.choice([None, layers - 1]),
    )


EXAMPLE = Example(
    make=make,
    first="Layer 0, head 1:",
    by_keyboard=by_keyboard,
    after_keyboard="Layer 1, head 2:",
    by_pointer=by_pointer,
    after_pointer="Pinned: “\u2068was\u2069” (3) → “\u2068was\u2069” (3)",
    trait=("layer", 1, "Layer 1, head 1:"),
    nonsense=("picture", "scores"),
    call={"given": {"tokens": TOKENS, **PARTS}},
    fuzz=fuzz,
)
