"""The classes of characters that a browser gets are those of the installed library."""

import json

import pytest

from lmcourse.tokenizers.plain import CLASSES
from tests.tokenizers.unicode_classes import EVERY, PROBES, members

TABLE = json.loads(CLASSES.read_text(encoding="utf-8"))
# Where anything is assigned to a class; the rest of the planes is sampled.
ASKED = [*EVERY[:0x20000:1], *EVERY[0x20000::61]]


@pytest.mark.parametrize("name", PROBES)
def test_a_class_is_what_the_library_answers(name):
    kept = set()
    for part in TABLE[name].split():
        start, _, end = part.partition("-")
        kept.update(map(chr, range(int(start, 16), int(end or start, 16) + 1)))
    remedy = "run `python -m tests.tokenizers.unicode_classes` and commit what it writes"
    assert members(name, ASKED) == kept & set(ASKED), remedy


def test_every_class_is_asked_for():
    assert set(TABLE) == {"library", *PROBES}
