"""Recipes that are trained in a moment."""

from dataclasses import replace

import pytest

from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.tokenizers import words
from research.pretrain import recipes, run
from research.pretrain.encoders import ENCODER, ENCODERS, LONGEST, NO_DROPOUT
from research.pretrain.students import StudentRecipe


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


@pytest.fixture(autouse=True)
def untrained_teacher(request, monkeypatch):
    """Students learn from a narrow model that was never trained: it is there before they are."""

    def teacher(recipe):
        world = request.getfixturevalue("world")
        sizes = {"hidden_size": 16, "num_hidden_layers": 4, "num_attention_heads": 4}
        config = BertConfig(
            vocab_size=words.size(world),
            intermediate_size=16,
            max_position_embeddings=LONGEST,
            **sizes,
            **ENCODER,
            **NO_DROPOUT,
        )
        return BertForMaskedLM(config).eval()

    monkeypatch.setattr(StudentRecipe, "teacher_model", teacher)
