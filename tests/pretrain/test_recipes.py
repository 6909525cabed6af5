"""Each recipe trains as it is, is measured, and can be loaded."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from lmcourse import hub
from lmcourse.errors import CourseError
from lmcourse.tokenizers import words
from lmcourse.training import BatchLosses, CausalLM
from research.pretrain import RECIPES, pretrain
from research.pretrain.encoders import ENCODERS, Masks
from research.pretrain.recipe import Trainable, tokens_read
from research.pretrain.recipes import recipe
from research.pretrain.records import Record, digest


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_trains_and_its_model_is_measured_and_loads(name, tmp_path):
    run, shelf = tmp_path / "run", tmp_path / "shelf"
    record = pretrain(name, steps=3, folder=run, ship=shelf, device="cpu", watch="nothing")
    assert Record.read(shelf / f"{name}.json") == record
    assert record.steps == 3 and record.tokens > 0 and record.wall_seconds > 0
    loaded = hub.load(shelf / f"{name}.safetensors")
    assert type(loaded.model).__name__ == record.architecture
    assert digest(loaded.model) == record.digest
    assert record.parameters == sum(it.numel() for it in loaded.model.parameters())
    table = record.scores.table
    if table is not None:
        assert set(record.few) == set(table.row().models)
        for one in table.row().models.values():
            assert one.gap.value > 1  # three steps teach next to nothing
    assert table is not None or record.scores.others


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_plain_data_and_says_what_it_is(name):
    chosen = RECIPES[name]
    assert isinstance(chosen, Trainable)
    assert json.loads(json.dumps(chosen.config)) == chosen.config
    assert chosen.name == name and name.startswith("bookworld-")
    assert chosen.about and "\n" not in chosen.about and not chosen.about.endswith(".")
    assert chosen.shortened(3).config != chosen.config


def test_an_unknown_recipe_is_answered_with_those_that_there_are():
    with pytest.raises(CourseError, match="bookworld-mlm, bookworld-mlm-relative"):
        recipe("bookworld-mml")


def test_masks_hide_behind_the_mask_alone():
    masking = Masks(rate=0.5).masking(50)
    ids = torch.arange(10, 40)[None]
    read, labels = masking(ids, generator=torch.Generator().manual_seed(0))
    assert (read[labels != -100] == words.MASK).all()
    assert (labels != -100).sum() == 15


def test_an_objective_never_asks_for_what_frames_a_text(world):
    recipe = ENCODERS[0].shortened(2)
    begun = recipe.begin(world, 0, torch.device("cpu"))
    drawn = begun.losses.objective.sample(
        begun.losses._next_batch(), torch.Generator().manual_seed(1)
    )
    asked = drawn["labels"][drawn["labels"] != -100]
    assert len(asked) and (asked > words.MASK).all()


def test_tokens_are_counted_without_padding_and_over_epochs(world):
    examples = words.examples(world.sample(7, seed=5))
    model = RECIPES["bookworld-clm"].built(world)
    losses = BatchLosses(CausalLM(model), examples, steps=5, batch_size=2, seed=3)
    read = 0
    for _ in range(5):
        batch = losses._next_batch()
        read += int(batch["attention_mask"].sum())
    assert tokens_read(losses) == read
    assert read > sum(len(example["input_ids"]) for example in examples)  # a second epoch


def test_the_causal_twin_has_the_sizes_and_the_budget_of_the_masked_one(world):
    masked, causal = RECIPES["bookworld-mlm"], RECIPES["bookworld-clm"]
    assert replace(masked.budget, repeats=causal.budget.repeats) == causal.budget
    encoders = [recipe.built(world) for recipe in (masked, causal)]
    assert isinstance(masked.settings, dict) and masked.settings["hidden_size"] == 128
    layers = [
        sum(it.numel() for name, it in model.named_parameters() if ".layers." in name)
        for model in encoders
    ]
    assert np.ptp(layers) == 0
