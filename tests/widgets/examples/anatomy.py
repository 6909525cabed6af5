"""Anatomy of a small BERT with random weights."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import numpy as np
import torch
from playwright.sync_api import Page

from lmcourse.evaluation.anatomy import anatomy
from lmcourse.models.albert import Albert, AlbertConfig
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.widgets import Anatomy
from lmcourse.widgets.anatomy_data import Drawing
from tests.widgets import strings
from tests.widgets.examples import Example, tap, walk

TOKENS = ["[CLS]", "the", "novel", "was", "</s>", "", "long", "[SEP]"]
SIZES = {"vocab_size": 20, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2}


@cache
def drawn(name: str) -> Drawing:
    """A small model's drawing."""
    torch.manual_seed(0)
    model: Any = {
        "bert": lambda: Bert(BertConfig(intermediate_size=12, **SIZES)),
        "albert": lambda: Albert(AlbertConfig(intermediate_size=12, embedding_size=4, **SIZES)),
        "lstm": lambda: RNNLanguageModel(RNNConfig(20, 6, 5, "lstm")),
    }[name]()
    return anatomy(model, tokens=TOKENS, input_ids=torch.arange(8)[None], most=30_000)


def make() -> Anatomy:
    return Anatomy(drawn("bert"))


def by_keyboard(page: Page) -> None:
    walk(page, "Blocks", *["ArrowUp"] * 30, "ArrowDown", "Enter")  # the second row from the top


def by_pointer(page: Page) -> None:
    tap(page, "Numbers", 0.9, 0.05)


def fuzz(random: Random) -> Callable[[], Anatomy]:
    names = random.choices(["bert", "albert", "lstm"], k=random.choice([1, 1, 1, 2, 3, 4]))
    drawings: list[Any] = [drawn(name) for name in names]
    first = drawings[0]
    kind = random.random()
    if kind < 0.2:
        drawings[0] = replace(first, tokens=strings.tokens(random, random.choice([1, 8, 20])))
    elif kind < 0.4:
        blocks = [replace(it, label=strings.token(random)) for it in first.blocks]
        drawings[0] = replace(first, blocks=blocks, title=strings.token(random))
    elif kind < 0.5:
        values = first.values * random.choice([0.0, 1e-30, 1e20, -1.0])
        drawings[0] = replace(first, values=values.astype(np.float32))
    elif kind < 0.55:
        drawings[0] = random.choice([None, "bert", first.blocks])
    count = len(first.blocks)
    settings: dict[str, Any] = {
        "inside": random.choice([-1, -1, 1, 8, count, "encoder", "nowhere"]),
        "block": random.choice([None, 0, 5, count - 1, count, "embeddings.word"]),
        "model": random.choice([0, 0, 0, 1]),
        "layer": random.choice([0, 0, 1, 50]),
        "head": random.choice([0, 0, 1, 50]),
        "row": random.choice([None, 0, 7, 50]),
        "column": random.choice([None, 0, 3, 50]),
    }
    some = random.sample(sorted(settings), random.randint(0, 3))
    return lambda: Anatomy(*drawings, **{name: settings[name] for name in some})


EXAMPLE = Example(
    make=make,
    first="Anatomy of Bert. Shown is the whole model",
    by_keyboard=by_keyboard,
    after_keyboard="Selected: tanh",
    by_pointer=by_pointer,
    after_pointer="number 0, 7",
    trait=("block", 5, "Selected: word"),
    nonsense=("inside", 3),
    call={"drawings": [drawn("bert")]},
    fuzz=fuzz,
)
