"""`lmcourse claims`: lists the claims, and tests some of them."""

import re

import pytest
from typer.testing import CliRunner

from coursekit import cli
from lmcourse.errors import CourseError
from lmcourse.findings import kept
from research.claims import command, results, runs, schedule, table
from research.claims.claim import Run
from tests.claims.conftest import toy
from tests.claims.test_finding import made


def invoke(*arguments):
    return CliRunner().invoke(cli.app, ["claims", *arguments], catch_exceptions=False)


def lines_of(name, shown):
    """The lines about a claim: one with its runs, then its findings, indented."""
    (found,) = re.findall(rf"^{name}: .*\n(?: .*\n)*", shown, re.MULTILINE)
    return found


def test_alone_it_lists_the_claims_with_what_is_there(claim, world, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "home", lambda: tmp_path / "runs")
    monkeypatch.setattr(kept, "shelf", lambda: tmp_path / "found")
    monkeypatch.setattr(command, "CLAIMS", table.CLAIMS)
    runs.perform(Run(toy("one"), 1), ["size", "validation"], tmp_path / "runs", world)
    results.write(made(name="other"), tmp_path / "found")
    shown = invoke().output
    assert lines_of("toy", shown) == (
        "toy: 1 of 4 runs, some 12 minutes to go.\n    Nothing found yet.\n"
    )
    other = lines_of("other", shown)
    assert "1 of 2 runs" in other and "Found with 3 seeds:\n" in other
    assert "    - Gap: fresh < fixed: supported\n" in other
    assert "counted once: 3 runs, some 12 minutes" in shown


def test_minutes_are_told_from_the_runs_that_are_there():
    jobs = [schedule.Job(Run(toy(name), 0), frozenset()) for name in ("one", "one", "new")]
    assert command.minutes(jobs, {"one": 2.0, "two": 4.0}) == 7.0
    assert command.minutes(jobs, {}) == 3 * command.GUESS


def test_it_passes_its_options_on_and_shows_what_was_found(monkeypatch):
    given = {}

    def tested(names, **options):
        given.update(options, names=names)
        return [made()]

    monkeypatch.setattr(command, "tested", tested)
    shown = invoke("a", "b", "--jobs", "2", "--seeds", "4", "--steps", "5", "--anew").output
    assert "0.510 ± 0.010" in shown and given.pop("say")
    assert given == {"names": ["a", "b"], "at_once": 2, "seeds": 4, "steps": 5, "anew": True}
    invoke("--all")
    assert given["names"] == list(table.CLAIMS) and given["at_once"] == 1
    assert given["steps"] is None and not given["anew"]


def test_a_short_test_writes_no_finding(claim, tmp_path, monkeypatch):
    monkeypatch.setattr(schedule, "do", lambda *arguments: None)
    monkeypatch.setattr(command, "_found", lambda *arguments: made())
    monkeypatch.setattr(kept, "shelf", lambda: tmp_path / "found")
    assert command.tested(["toy"], steps=2, folder=tmp_path) == [made()]
    assert not (tmp_path / "found").exists()
    command.tested(["toy"], folder=tmp_path)
    assert {it.name for it in (tmp_path / "found").iterdir()} == {"masks.json", "README.md"}


@pytest.mark.parametrize("locked", ["_build", "data"])
def test_a_read_only_checkout_is_named_before_anything_is_trained(
    claim, tmp_path, monkeypatch, unprivileged, locked
):

    def do(*arguments):
        raise AssertionError("a run began")

    monkeypatch.setattr(schedule, "do", do)
    monkeypatch.setattr(runs, "home", lambda: tmp_path / "_build" / "claims")
    monkeypatch.setattr(kept, "shelf", lambda: tmp_path / "data" / "claims")
    for name in ("_build", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / locked).chmod(0o555)
    try:
        with pytest.raises(CourseError, match=f"may not write .*{locked}") as caught:
            invoke("toy")
    finally:
        (tmp_path / locked).chmod(0o755)
    assert "checkout of your own" in caught.value.remedy


def test_it_names_the_claims_that_there_are():
    with pytest.raises(CourseError, match="no claim 'masking'") as caught:
        invoke("masking")
    assert all(name in caught.value.remedy for name in table.CLAIMS)


@pytest.mark.parametrize("option", ["at_once", "seeds", "steps"])
def test_numbers_below_one_are_refused(option):
    with pytest.raises(CourseError, match=r"is 0\."):
        command.tested([], **{option: 0})


def test_ctrl_c_says_that_the_same_command_goes_on(monkeypatch):
    def interrupted(names, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "tested", interrupted)
    with pytest.raises(CourseError, match="finished runs are kept") as caught:
        invoke("dynamic-masking")
    assert "same command" in caught.value.remedy
