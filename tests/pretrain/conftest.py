"""A world for all tests, and recipes that are trained in a moment."""

from dataclasses import replace

import pytest

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.pretrain import recipes, run
from lmcourse.pretrain.encoders import ENCODERS


@pytest.fixture(scope="session")
def world():
    return BookWorld()


@pytest.fixture
def small(world, monkeypatch):
    """A recipe of the family, 12 steps long and very narrow; `pretrain` knows it by its name."""
    known = ENCODERS[0]
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8}
    recipe = replace(
        known,
        name="bookworld-small",
        settings={**known.settings, **sizes, "hidden_dropout_prob": 0.1},
        budget=replace(known.budget.shortened(12), batch_size=4, looks=3),
    )
    monkeypatch.setattr(run, "BookWorld", lambda: world)
    monkeypatch.setitem(recipes.RECIPES, recipe.name, recipe)
    return recipe
