"""The table of what each measured check rules out has every check of the chapters."""

from coursekit import course
from coursekit.notebooks.sources import read_notebook
from coursekit.syntax import calls
from tests.chapters import false_world


def test_the_table_has_every_measured_check():
    kept = false_world.TABLE.read_text(encoding="utf-8")
    assert kept == false_world.written(), "run `python -m tests.chapters.false_world`"
    checks = [
        call
        for source in course.sources("chapter")
        for cell in read_notebook(source.path).cells
        if cell.cell_type == "code"
        for call in calls(cell.source, "expect")
    ]
    assert len(checks) > 100
    assert sum(line.startswith("| ") for line in kept.splitlines()) == len(checks) + 2  # its head


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
