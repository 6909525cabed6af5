"""What Masking and Visibility must compute in a browser: the rules' draws, and torch's softmax.

`python -m tests.widgets.golden_masking` writes `web/test/masking.golden.json` and
`web/test/visibility.golden.json`; a test computes both anew and compares.
"""

import base64
import contextlib
import itertools
import json
import math
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from lmcourse.errors import CourseError
from lmcourse.models.attention import causal_mask
from lmcourse.models.inputs import visible as visible_keys
from lmcourse.models.sentence_tree import Branch, SentenceTree
from lmcourse.models.spanbert import boundaries
from lmcourse.widgets import Visibility
from lmcourse.widgets.masking_draw import Rules, draw, numbers
from lmcourse.widgets.sentence_text import tree_of
from lmcourse.widgets.tokens import words_of
from tests.widgets import strings

FOLDER = Path(__file__).parents[2] / "web" / "test"
ADDED = {"-inf": -math.inf, "-10000": -1e4, "lowest": torch.finfo(torch.float32).min}
SEGMENTS = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0]
REAL = [1] * 11 + [0]
SELECTED = [0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0]
TREE = SentenceTree(
    ("[CLS]", "tim", "cook", "visits", "beijing", "now", "[PAD]"),
    (Branch(1, 3, ("ceo", "apple")), Branch(4, 5, ("capital", "china")), Branch(4, 5, ("city",))),
).flatten()


def masking() -> dict[str, Any]:
    """Draws of every kind over made-up texts."""
    random = Random(0)
    cases = []
    for kind, seed in itertools.product(("token", "word", "span"), range(40)):
        n = random.choice([1, 2, 13, 60])
        words = list(itertools.accumulate(random.random() < 0.7 for _ in range(n)))
        special = [int(random.random() < random.choice([0.1, 0.1, 1])) for _ in range(n)]
        rate = random.choice([0.0, 0.15, 0.15, 0.5, 1.0])
        shares = random.choice([(0.8, 0.1), (1.0, 0.0), (0.3, 0.9), (0.0, 0.0)])
        rules = Rules(kind, rate, *shares)
        given = {"words": [int(it) for it in words], "special": special, "pool": 1 + seed * 40}
        found = draw(rules, words, special, given["pool"], seed * 24_999, seed % 10)
        settings = rules._asdict() | {"seed": seed * 24_999}
        cases.append({"given": given, "settings": settings, "epoch": seed % 10, **found._asdict()})
    streams = [
        {"seed": seed, "epoch": e, "numbers": list(itertools.islice(numbers(seed, e), 5))}
        for seed, e in ((0, 0), (1, 0), (0, 1), (999_999, 9))
    ]
    texts = []
    for _ in range(300):
        text = random.choice(["", " "]).join(strings.tokens(random, random.randint(1, 6)))
        with contextlib.suppress(CourseError):  # there is none, or half a character
            texts.append({"text": text, "tokens": words_of(text)})
    return {"cases": cases, "streams": streams, "texts": texts}


def matrices() -> dict[str, torch.Tensor]:
    """Each mask as our models make it, (query, key)."""
    n = len(SEGMENTS)
    left, right = boundaries(torch.tensor([SELECTED]).bool())
    place = torch.arange(n)
    around = (place == left[0][:, None]) | (place == right[0][:, None])
    segments = torch.tensor(SEGMENTS)
    padding = visible_keys(torch.tensor([REAL]), 1, n, n)
    assert padding is not None
    return {
        "causal": causal_mask(n, n, place),
        "padding": padding[0, 0].expand(n, n),
        "segment": segments[:, None] == segments,
        "boundary": around | ~torch.tensor(SELECTED).bool()[:, None],
        "tree": TREE.visible,
        "given": torch.rand(n, n, generator=torch.Generator().manual_seed(1)) < 0.5,
    }


def visibility() -> dict[str, Any]:
    """The masks, alone and together, and rows of softmax."""
    each = matrices()
    scores = 3 * torch.randn(12, 12, generator=torch.Generator().manual_seed(0))
    widget = Visibility(
        [str(it) for it in TREE.tokens],
        attention_mask=REAL,
        token_type_ids=SEGMENTS,
        selected=SELECTED,
        visible=each["given"],
        scores=scores,
        tree=TREE,
    )
    together = [[name] for name in each] + [["padding", "causal"], ["given", "tree", "segment"], []]
    cases = []
    for names, (added, value), after in itertools.product(together, ADDED.items(), (False, True)):
        seen = torch.ones(12, 12, dtype=torch.bool)
        for name in names:
            seen &= each[name]
        masked = torch.where(seen, scores, scores + value).softmax(-1)
        if after:
            masked = scores.softmax(-1) * seen
        rows = [[None if math.isnan(p) else p for p in row] for row in masked.tolist()]
        case = {"masks": names, "added": added, "after": after, "weights": rows}
        cases.append(case | {"seen": seen.int().tolist()})
    packed = base64.b64encode(widget.arrays).decode()
    held = {"arrays": packed, "index": widget.index, "tokens": widget.tokens}
    return held | {"cases": cases, "trees": trees(), "mistakes": mistakes()}


def written(random: Random, words: list[str]) -> tuple[str, SentenceTree]:
    """A sentence tree of some words, and the line that says it."""
    parts, branches, start = [], [], 0
    while start < len(words):
        end = min(start + random.choice([1, 1, 1, 2, 3]), len(words))
        text = " ".join(words[start:end])
        if end - start > 1 or random.random() < 0.1:
            parts.append(f"({text})" if random.random() < 0.7 else f" ( {text} )")
        else:
            parts.append(text)
        for _ in range(random.choice([0, 0, 0, 1, 1, 2])):
            known = random.choices(words, k=random.randint(1, 4))
            branches.append(Branch(start, end, tuple(known)))
            parts.append(f"[{' '.join(known)}]" if len(known) > 1 else f"[ {known[0]} ]")
        start = end
    return random.choice([" ", "  "]).join(parts), SentenceTree(tuple(words), tuple(branches))


def trees() -> list[dict[str, Any]]:
    """Lines of text, and what `lmcourse.models.sentence_tree` makes of what they say."""
    random, out = Random(3), []
    names = [
        "tim",
        "cook",
        "[CLS]",
        "[PAD]",
        "<pad>",
        "is_a",
        "don't",
        "Ω",
        "👩‍💻",
        "\u200b",
        "a.b",
    ]
    for _ in range(150):
        text, tree = written(random, random.choices(names, k=random.choice([1, 2, 5, 12])))
        flat = tree.flatten()
        out.append(
            {
                "text": text,
                "tokens": list(flat.tokens),
                "soft": list(flat.soft_positions),
                "branch": [it + 1 for it in flat.branches],
                "anchor": list(flat.anchors),
                "visible": ["".join(map(str, row)) for row in flat.visible.int().tolist()],
            }
        )
    return out


def mistakes() -> list[dict[str, str]]:
    """Lines that say nothing, and what is said about them."""
    random, out = Random(4), []
    pieces = ["a", "b", "[", "]", "(", ")", " ", "[CLS]", "\ufeff", "\x1c"]
    lines = ["".join(random.choices(pieces, k=random.randint(0, 9))) for _ in range(200)]
    for text in [*lines, "a " * 513]:
        try:
            tree_of(text)
        except CourseError as error:
            out.append({"text": text, "wrong": str(error)})
        else:
            out.append({"text": text, "wrong": ""})
    return out


GOLDENS = {"masking": masking, "visibility": visibility}


def path(name: str) -> Path:
    """Return where a reference is kept."""
    return FOLDER / f"{name}.golden.json"


def near(old: Any, new: Any) -> bool:
    """Return whether two references are equal, but for the last digits of numbers."""
    if isinstance(old, dict):
        return old.keys() == new.keys() and all(near(old[key], new[key]) for key in old)
    if isinstance(old, list):
        return len(old) == len(new) and all(map(near, old, new))
    if isinstance(old, float) and isinstance(new, float):
        return bool(np.isclose(old, new, rtol=1e-5, atol=1e-8))
    return bool(old == new)


if __name__ == "__main__":
    for name, make in GOLDENS.items():
        path(name).write_text(json.dumps(make(), separators=(",", ":")) + "\n", encoding="utf-8")
        print(f"{path(name)}: {path(name).stat().st_size:,} bytes")
