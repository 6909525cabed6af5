"""The table of what each measured check rules out has every check of the chapters and labs."""

from coursekit.syntax import calls
from tests.chapters import false_world


def test_the_table_has_every_measured_check():
    kept = false_world.TABLE.read_text(encoding="utf-8")
    assert kept == false_world.written(), "run `python -m tests.chapters.false_world`"
    places = [where for where, _ in false_world.checks()]
    assert len(places) > 150 and {"01", "17", "lab 01", "lab 17"} <= set(places)
    assert sum(line.startswith("| ") for line in kept.splitlines()) == len(places) + 2  # its head


def test_a_row_has_bounds_and_rivals_as_written():
    (call,) = calls(
        'expect(f"{cell}, T = 80: accuracy", values, close_to=0.9, within=0.05, '
        'rules_out={"chance": 1 / n, f"untrained {cell}": other})',
        "expect",
    )
    assert false_world._text(call.args[0]) == "{cell}, T = 80: accuracy"
    assert false_world._bounds(call) == "0.9 ± 0.05"
    assert false_world._ruled_out(call) == "chance; untrained {cell}"
    (call,) = calls("expect('gap', x, at_most=rival, rules_out=rivals)", "expect")
    assert (false_world._bounds(call), false_world._ruled_out(call)) == (
        "at most `rival`",
        "`rivals`",
    )
