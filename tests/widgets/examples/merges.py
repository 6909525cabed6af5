"""Merges of three tokenizers that learned four words."""

from collections.abc import Callable
from random import Random
from typing import Any

from playwright.sync_api import Page
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from lmcourse.tokenizers import recipes
from lmcourse.tokenizers.recipes import recipe_of
from lmcourse.tokenizers.well_known import with_parts
from lmcourse.widgets import Merges
from tests.widgets import strings
from tests.widgets.examples import Example, tap, walk

TEXTS = ["low " * 5 + "lower " * 2 + "newest " * 6 + "widest " * 3]
TOOLS = {
    "bpe": recipes.char_bpe(TEXTS, 30),
    "wordpiece": recipes.bert(TEXTS, 40),
    "unigram": recipes.albert(TEXTS, 24),
}
LAST = len(TOOLS["bpe"].training.steps)


def corpus(random: Random) -> list[str]:
    """Draw texts with hostile words, or none."""
    count = random.choice([0, 1, 1, 1, 2, 2, 5, 5])
    return [" ".join(strings.tokens(random, random.randint(1, 40))) for _ in range(count)]


def tokenizers(random: Random) -> dict[str, Callable[[], Any]]:
    """Draw tokenizers, some of a wrong kind or broken; they are trained when they are called."""
    texts, size = corpus(random), random.choice([5, 60, 400, 400, 600, 900])
    broken: tuple[Any, ...] = (
        5,
        "bpe",
        {},
        TOOLS["bpe"].tokenizer,
        TOOLS["unigram"],
        recipe_of(Tokenizer(models.WordPiece({}, unk_token="[UNK]"))),
        recipe_of(with_parts(TOOLS["bpe"].tokenizer.model, normalizer=normalizers.NFC())),
        recipe_of(with_parts(TOOLS["bpe"].tokenizer.model, pre_tokenizer=pre_tokenizers.Digits())),
    )

    def given(*choices: Callable[[], Any]) -> Callable[[], Any]:
        odd = random.choice(broken)
        return (lambda: odd) if random.random() < 0.04 else random.choice(choices)

    return {
        "bpe": given(
            lambda: recipes.char_bpe(texts, size), lambda: recipes.gpt2(texts, size + 250)
        ),
        "wordpiece": given(
            lambda: recipes.bert(texts, size),
            lambda: recipes.bert(texts, size, score="pmi"),
            lambda: recipes.bert(texts, size, lowercase=False, score="frequency"),
        ),
        "unigram": given(lambda: recipes.albert(texts, size)),
    }


def drawn(random: Random) -> dict[str, Callable[[], Any]]:
    """Some of them; rarely none."""
    kept = {name: it for name, it in tokenizers(random).items() if random.random() < 0.6}
    return kept or ({} if random.random() < 0.3 else {"bpe": lambda: TOOLS["bpe"]})


def text(random: Random) -> str:
    """Draw a text; one in twenty is too long, or half a character."""
    if random.random() < 0.05:
        return random.choice(["x" * 201, "👩" * 101, "\ud800"])
    return " ".join(strings.tokens(random, random.randint(0, 8)))[: random.choice([0, 60, 100])]


def by_keyboard(page: Page) -> None:
    walk(page, "Steps of the training", "Home")


def by_pointer(page: Page) -> None:
    tap(page, "Steps of the training", 0.97, 0.92)


def fuzz(random: Random) -> Callable[[], Merges]:
    chosen, settings = drawn(random), {"text": text(random)}
    algorithm = random.choice([*[None] * 8, *chosen, "words"])
    step = random.choice([None, None, 0, 1, 2, random.randint(-1, 200)])
    return lambda: Merges(
        **{name: make() for name, make in chosen.items()},
        **settings,
        algorithm=algorithm,
        step=step,
    )


EXAMPLE = Example(
    make=lambda: Merges(**TOOLS, text="lowest newer"),
    first=f"After {LAST // 10} of {LAST} merges",
    by_keyboard=by_keyboard,
    after_keyboard=f"After 0 of {LAST} merges",
    by_pointer=by_pointer,
    after_pointer=f"After {LAST} of {LAST} merges",
    trait=("step", 2, f"After 2 of {LAST} merges"),
    nonsense=("step", "nonsense"),
    call=TOOLS,
    fuzz=fuzz,
)
