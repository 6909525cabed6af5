"""`lmcourse claims`: what is shown, and that it is shown as soon as it is known."""

import pytest

from lmcourse.findings import kept
from lmcourse.findings.finding import said
from research.claims import command


def test_each_verdict_is_shown_with_its_claim():
    found = kept.finding("distilbert-ablations")
    first, *lines = command._state(found.name, None)
    assert first == f"    {found.says}. Found with {len(found.seeds)} seeds:"
    expected = [
        f"    - {said(claimed, found.columns)}: {found.verdict(claimed)}"
        for claimed in found.contrasts
    ]
    assert lines == expected and len(lines) >= 3


def test_a_claim_that_was_not_tested(tmp_path):
    assert list(command._state("distilbert-ablations", tmp_path)) == ["    Nothing found yet."]


def test_the_first_line_precedes_the_work(monkeypatch):
    class Slow:
        def __init__(self):
            raise AssertionError("nothing was shown before this")

    monkeypatch.setattr(command, "BookWorld", Slow)
    lines = command.overview()
    assert next(lines).startswith("Compiling BookWorld")
    with pytest.raises(AssertionError, match="nothing was shown"):
        next(lines)
