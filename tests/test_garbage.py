"""``tests/garbage.py``: the collector rests while tests are collected, and not later."""

import gc

COLLECTED_WITH = gc.isenabled()


def test_the_collector_rests_while_tests_are_collected_and_skips_what_was_imported() -> None:
    assert not COLLECTED_WITH
    assert gc.isenabled() and gc.get_freeze_count() > 0
