"""AttentionHeads with the scores of one query, dimension by dimension."""

from collections.abc import Callable
from random import Random

from playwright.sync_api import Page

from lmcourse.widgets import AttentionHeads
from tests.widgets.examples import Example, tap, walk
from tests.widgets.examples.attention_heads import PARTS, TOKENS, weights


def make() -> AttentionHeads:
    return AttentionHeads(tokens=TOKENS, layer=0, head=1, query=6, key=2, picture="scores", **PARTS)


def by_keyboard(page: Page) -> None:
    walk(page, "Keys", "ArrowUp", "Enter")


def by_pointer(page: Page) -> None:
    tap(page, "q ⊙ k by dimension", 0.5, 0.7)  # row 5 of 8


def fuzz(random: Random) -> Callable[[], AttentionHeads]:
    layers, heads, queries = (
        random.choice([1, 2, 7]),
        random.choice([1, 2, 7]),
        random.choice([1, 9]),
    )
    cross = random.random() < 0.3
    keys = random.choice([1, 5, 70]) if cross else queries
    parts = weights(random, layers, heads, queries, keys)
    if random.random() < 0.2:
        del parts[random.choice(["queries", "keys"])]
    return lambda: AttentionHeads(
        **parts,
        tokens=["x"] * queries,
        key_tokens=["y"] * keys if cross else None,
        picture="scores",
        masking=random.choice(["given", "none", "causal"]),
        temperature=random.choice([0.1, 1, 10]),
        layer=random.choice([None, layers - 1, layers]),
    )


EXAMPLE = Example(
    make=make,
    first="Layer 0, head 1:",
    by_keyboard=by_keyboard,
    after_keyboard="Pinned: “\u2068the\u2069” (1) → “\u2068the\u2069” (1)",
    by_pointer=by_pointer,
    after_pointer="Pinned: “\u2068the\u2069” (1) → “\u2068∅\u2069” (5)",
    trait=("temperature", 5, "recomputed"),
    nonsense=("measure", "norm"),
    call={"given": {"tokens": TOKENS, **PARTS}},
    fuzz=fuzz,
)
