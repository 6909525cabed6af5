"""The data card and the floors that are shipped are those of the grammar that is shipped."""

import json

import pytest

from data import card
from lmcourse.corpus.bookworld import SPLITS, floors
from tests.corpus.bookworld.grammars import SMALL, world_of


def test_the_card_is_what_its_command_writes(world):
    assert card.CARD.read_text(encoding="utf-8") == card.written(world), "run `make card`"


def test_every_split_has_its_floor_at_hand(world, monkeypatch):
    monkeypatch.setattr(floors, "measured", lambda *_: pytest.fail("computed anew"))
    for split in SPLITS:
        assert world.floor(split).language.reviews == min(floors.FLOOR_REVIEWS, SPLITS[split][0])


def test_the_shipped_floors_hold_no_other_grammar(world):
    shipped = json.loads(floors._SHIPPED.read_text(encoding="utf-8"))
    assert sorted(shipped) == sorted(f"{world.digest} {split}" for split in SPLITS)


def test_the_floor_of_another_grammar_is_computed_once_and_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path))
    monkeypatch.setattr(floors, "SPLITS", {"test": (40, 3)})
    monkeypatch.setattr("lmcourse.corpus.bookworld.world.SPLITS", {"test": (40, 3)})
    first = world_of(SMALL).floor("test")
    monkeypatch.setattr(floors, "measured", lambda *_: pytest.fail("computed again"))
    assert world_of(SMALL).floor("test") == first


def test_a_broken_or_read_only_cache_is_no_obstacle(tmp_path, monkeypatch):
    monkeypatch.setattr(floors, "SPLITS", {"test": (20, 3)})
    monkeypatch.setattr("lmcourse.corpus.bookworld.world.SPLITS", {"test": (20, 3)})
    (tmp_path / "bookworld-floors.json").write_text("{ half a fi")
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path))
    first = world_of(SMALL).floor("test")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path / "file" / "below"))
    assert world_of(SMALL).floor("test") == first
