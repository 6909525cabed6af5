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
    assert sorted(shipped) == sorted(floors._key(world, split) for split in SPLITS)


def test_a_floor_is_kept_for_what_was_measured_and_nothing_else(world, monkeypatch):
    key = floors._key(world, "test")
    for name, other in {"MASKED_SHARE": 0.3, "FLOOR_REVIEWS": 10, "_VERSION": 2}.items():
        with monkeypatch.context() as changed:
            changed.setattr(floors, name, other)
            assert floors._key(world, "test") != key


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
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path))
    kept = tmp_path / "bookworld-floors.json"
    kept.write_text("{ half a fi")
    first = world_of(SMALL).floor("test")
    for broken in ("[]", '{"%s": {}}', '{"%s": {"language": 3, "masked": {}}}'):
        kept.write_text(broken.replace("%s", floors._key(world_of(SMALL), "test")))
        assert world_of(SMALL).floor("test") == first
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path / "file" / "below"))
    assert world_of(SMALL).floor("test") == first
