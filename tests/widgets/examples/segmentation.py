"""Segmentation by three tokenizers that learned four words."""

from collections.abc import Callable
from random import Random

from playwright.sync_api import Page

from lmcourse.widgets import Segmentation
from tests.widgets.examples import Example, press, tap
from tests.widgets.examples.merges import TOOLS, drawn, text


def by_keyboard(page: Page) -> None:
    press(page, "Algorithm", "ArrowDown")


def by_pointer(page: Page) -> None:
    tap(page, "Tokens", 0.33, 0.12)  # the first token of BPE's row


def fuzz(random: Random) -> Callable[[], Segmentation]:
    chosen, words = drawn(random), text(random)
    algorithm = random.choice([*[None] * 8, *chosen, "words"])
    word = random.choice(
        [None, None, 0, 1, 2, random.randint(0, 199), 199, random.choice([0, 200, -1])]
    )
    contrast = random.random() < 0.5
    return lambda: Segmentation(
        **{name: make() for name, make in chosen.items()},
        text=words,
        algorithm=algorithm,
        word=word,
        longest_first=contrast,
    )


EXAMPLE = Example(
    make=lambda: Segmentation(**TOOLS, text="lowestnewestwidestlowernewest"),
    first="BPE redoes",
    by_keyboard=by_keyboard,
    after_keyboard="WordPiece looks up",
    by_pointer=by_pointer,
    after_pointer="BPE redoes",
    trait=("text", "newer", "newer\nTokens"),
    nonsense=("word", "nonsense"),
    call=TOOLS,
    fuzz=fuzz,
)
