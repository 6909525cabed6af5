"""The table of what each measured check rules out has every check of the chapters."""

import pytest

from coursekit import course
from tests.chapters import false_world

ROWS = [
    [cell.strip().replace("\\|", "|") for cell in line.strip("| ").split(" | ")]
    for line in false_world.TABLE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and line[2:4].isdigit()
]


@pytest.mark.parametrize("source", course.sources("chapter"), ids=lambda source: source.number)
def test_every_measured_check_has_its_row(source: course.Source):
    kept = {(row[1]): row[4] for row in ROWS if row[0] == source.number}
    found = list(false_world.checks(source))
    for name, rivals in found:
        rows = [ruled_out for known, ruled_out in kept.items() if name.fullmatch(known)]
        assert rows, f"{name.pattern}: run `python -m tests.chapters.false_world`"
        assert all(rival in ruled_out for ruled_out in rows for rival in rivals), name.pattern
    stale = [known for known in kept if not any(name.fullmatch(known) for name, _ in found)]
    assert not stale, "run `python -m tests.chapters.false_world`"


def test_a_name_may_be_an_f_string():
    import ast

    (name,) = ast.parse('f"{length} steps: loss (nats)"').body
    assert isinstance(name, ast.Expr)
    assert false_world._pattern(name.value).fullmatch("80 steps: loss (nats)")
    assert not false_world._pattern(name.value).fullmatch("80 steps: loss")


def test_a_shown_check_is_read_back():
    from lmcourse.checks import Check

    wanted = "expected: 0.9 ± 0.1; rules out: chance (4 classes) 0.25, untrained 0.3"
    shown = str(Check("measured", "last state: accuracy", 0.9, "0.9 ± 0.01 (3 runs)", wanted, True))
    found = false_world._MEASURED.match(shown)
    assert found is not None
    assert found.groups() == (
        "last state: accuracy",
        "0.9 ± 0.01 (3 runs)",
        "0.9 ± 0.1",
        "chance (4 classes) 0.25, untrained 0.3",
    )
    assert false_world._MEASURED.match(shown + ". A note (with parentheses).")
