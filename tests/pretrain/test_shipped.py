"""The models that come with the course are those that their records tell of."""

import pytest

from lmcourse import hub
from lmcourse.evaluation import gap_table, of_causal, of_masked
from lmcourse.hub import checkpoints
from research.pretrain import RECIPES
from research.pretrain.records import Record, digest

NAMES = list(checkpoints.shipped())
LARGEST = 15e6  # bytes of weights, all together


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_model_is_the_one_of_its_record(name, world):
    record, loaded = Record.read(checkpoints.home() / f"{name}.json"), hub.load(name)
    assert digest(loaded.model) == record.digest
    assert record.world == world.digest, "BookWorld is another one: train it again"
    assert record.recipe == RECIPES[name].config, "the recipe is another one: train it again"
    table = record.scores.table
    if table is not None and name in record.few:
        ask = of_causal if table.kind == "causal" else of_masked
        reviews = world.split("test", 8)
        asked = {name: ask(loaded.model, world, loaded.tokenizer.get_vocab())}
        found = gap_table(asked, world, kind=table.kind, reviews=reviews).loss()
        assert found.value == pytest.approx(record.few[name], abs=1e-3)


def test_the_shipped_models_are_small():
    files = checkpoints.home().glob("*.safetensors") if NAMES else []
    assert sum(path.stat().st_size for path in files) < LARGEST
