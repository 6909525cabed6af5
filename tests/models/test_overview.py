"""The overview in `lmcourse.models`: every module it names is there, and all are named."""

import re
from pathlib import Path

import lmcourse.models


def test_the_overview_names_the_modules_that_there_are():
    text = lmcourse.models.__doc__
    table, shared = text.split("Shared:")
    named = set(
        re.findall(
            r"[a-z_]+[a-z0-9_]*", re.sub(r"^ +[\d, ]+", "", table.split("\n\n")[1], flags=re.M)
        )
    )
    there = {path.stem for path in Path(lmcourse.models.__file__).parent.glob("*.py")}
    there -= {"__init__"}
    words = {
        "and",
        "lmcourse",
        "compression",
        "counts",
        "the",
        "recurrence",
        "a",
        "language",
        "model",
    }
    words |= {"on", "it", "gates", "stacked", "bidirectional", "layers"}
    words |= {"network", "as", "many", "words"}
    assert named - there - words == set()
    assert there - named - set(re.findall(r"\w+", shared)) == set()
