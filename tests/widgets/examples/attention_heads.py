"""AttentionHeads of two small layers, with the arithmetic of their weights."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from playwright.sync_api import Page

from lmcourse.widgets import AttentionHeads
from lmcourse.widgets.packing import Array
from tests.widgets import strings
from tests.widgets.examples import Example, tap, walk

TOKENS = ["[CLS]", "the", "novel", "was", "</s>", "", "long", "[SEP]"]


def softmax(scores: Array) -> Array:
    """Over the last axis; a row of nothing but -inf gives zeros."""
    highest = scores.max(-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(highest), highest, 0))
    found: Array = powers / np.maximum(powers.sum(-1, keepdims=True), 1e-30)
    return found


def weights(random: Random, *shape: int) -> dict[str, Any]:
    """Attentions, and the queries and keys that they come from, in one text that looks back.

    Args:
        shape: layers, heads, queries, keys.
    """
    numbers = np.random.default_rng(random.randrange(10**9))
    *front, queries, keys = shape
    q = numbers.standard_normal((*front, queries, 4)).astype(np.float32)
    k = numbers.standard_normal((*front, keys, 4)).astype(np.float32)
    visible = np.tri(queries, keys, keys - queries, dtype=bool)
    scores = np.where(visible, q @ k.swapaxes(-1, -2) / 2, -np.inf)
    return {"attentions": softmax(scores), "queries": q, "keys": k, "mask": visible}


PARTS = weights(Random(3), 2, 3, len(TOKENS), len(TOKENS))


def make() -> AttentionHeads:
    return AttentionHeads(tokens=TOKENS, layer=0, head=1, query=6, key=2, **PARTS)


def by_keyboard(page: Page) -> None:
    walk(page, "Heads", "ArrowDown", "End", "Enter")


def by_pointer(page: Page) -> None:
    tap(page, "Weights", 0.2, 0.45)  # column 1 and row 3 of 8


def fuzz(random: Random) -> Callable[[], AttentionHeads]:
    sizes = [1, 1, 2, 3, 5, 8]
    layers, heads = random.choice([*sizes, 13]), random.choice([*sizes, 13])
    queries = random.choice([*sizes, 20, 60])
    cross = random.random() < 0.3
    keys = random.choice([*sizes, 20, 60]) if cross else queries
    parts = weights(random, layers, heads, queries, keys)
    found = parts["attentions"]
    settings = {
        "compare": ["beside", "difference"],
        "held": [None, None, [0, heads - 1], [layers - 1, 0], [layers, 0], [0]],
    }
    kind = random.random()
    if kind < 0.1:  # padding
        found[..., random.randrange(queries) :, :] = 0
    elif kind < 0.2:  # one key takes all
        found[...] = 0
        found[..., random.randrange(keys)] = 1
    elif kind < 0.3:  # what is no distribution
        found.flat[random.randrange(found.size)] = random.choice([np.nan, np.inf, -0.5, 1.5, 1e30])
    elif kind < 0.35:
        found = found[..., :-1]
    elif kind < 0.4:
        found = random.choice([None, (), [None], np.zeros((2, 2, 2, 2, 2)), [found[0][None]] * 2])
    arguments: dict[str, Any] = {
        "attentions": found,
        "tokens": strings.tokens(random, queries),
        "key_tokens": strings.tokens(random, keys) if cross else None,
        "layer": random.choice([None, None, None, 0, 0, layers - 1, layers]),
        "query": random.choice([None, None, None, 0, queries - 1, -1]),
        "key": random.choice([None, None, 0, keys - 1] * 4 + [keys]),
        "lines": random.choice(["1", "3", 8, "50%", "90%", "100%"] * 3 + [5]),
    }
    if layers * heads > 1 and random.random() < 0.4:
        arguments |= {name: random.choice(values) for name, values in settings.items()}
    sort = random.random()
    if sort < 0.25 and (kind >= 0.4 or kind < 0.1 / queries):
        arguments |= {name: parts[name] for name in ("queries", "keys", "mask")}
        arguments |= {"temperature": random.choice([0.1, 1, 4.2, 10, 0])}
        arguments |= {"masking": random.choice(["given", "none", "causal"])}
    elif sort < 0.6 and not cross:
        pair = np.array([random.choice([False, False, True]) for _ in range(queries)])
        arguments["segments"] = random.choice([pair, pair.astype(int).tolist(), pair[None]])
        if len(set(pair.tolist())) > 1:
            arguments["between"] = random.choice(["all", "A-A", "A-B", "B-A", "B-B"] * 2 + ["A-C"])
            if kind >= 0.4 and random.random() < 0.5:  # so that the page computes, too
                arguments |= {name: parts[name] for name in ("queries", "keys", "mask")}
    elif sort < 0.8 and isinstance(found, np.ndarray):
        other = weights(random, random.choice(sizes), random.choice(sizes), queries, keys)
        names = [strings.token(random) for _ in range(2)]
        arguments["attentions"] = {names[0]: found, names[1]: other["attentions"]}
        arguments["channel"] = random.choice([None, *names])
    return lambda: AttentionHeads(**arguments)


EXAMPLE = Example(
    make=make,
    first="Layer 0, head 1:",
    by_keyboard=by_keyboard,
    after_keyboard="Layer 1, head 2:",
    by_pointer=by_pointer,
    after_pointer="Pinned: “\u2068was\u2069” (3) → “\u2068the\u2069” (1)",
    trait=("head", 0, "Layer 0, head 0:"),
    nonsense=("lines", "nonsense"),
    call={"given": {"tokens": TOKENS, **PARTS}},
    fuzz=fuzz,
)
