"""Measured checks and identities: what they show, refuse and rule out, and on which device."""

import math

import numpy as np
import pytest
import torch

from lmcourse import checks, cited, expect, identity
from lmcourse.checks import CheckError
from lmcourse.errors import CourseError


@pytest.fixture(autouse=True)
def on_a_cpu(monkeypatch):
    monkeypatch.setenv("LMCOURSE_DEVICE", "cpu")
    monkeypatch.setenv("LMCOURSE_STRICT", "1")


@pytest.mark.parametrize(
    ("value", "bounds"),
    [
        (1.04, {"close_to": 1, "within": 0.05}),
        (torch.tensor(0.5, requires_grad=True), {"close_to": 0.5, "within": 0}),
        (3, {"at_least": 3}),
        (torch.tensor([2.0]), {"at_most": 2.5}),
        (0.3, {"at_least": 0.1, "at_most": 0.4}),
        (math.inf, {"at_least": math.inf}),
        ([1.0, torch.tensor(1.1)], {"close_to": 1.05, "within": 0.01}),
        (np.array([0.9, 1.1]), {"close_to": 1, "within": 0.01}),
    ],
)
def test_a_number_within_its_bounds_is_shown(value, bounds, capsys):
    expect("the number", value, **bounds)
    shown = capsys.readouterr().out
    assert shown.startswith("✓ measured · the number: ") and "expected: " in shown


@pytest.mark.parametrize(
    ("value", "bounds", "wanted"),
    [
        (1.06, {"close_to": 1, "within": 0.05}, r"1.06 \(expected: 1 ± 0.05\)"),
        (2.9, {"at_least": 3}, "at least 3"),
        (2.6, {"at_most": 2.5}, "at most 2.5"),
        (math.nan, {"close_to": 1, "within": 5}, "nan"),
        (math.nan, {"at_most": 1}, "nan"),
        ([1, math.nan, 1], {"at_most": 1}, r"nan ± nan \(3 runs\)"),
        ([1, math.inf], {"at_most": 1}, r"inf ± nan \(2 runs\)"),
        ([1.0, 3.0], {"at_least": 2.1}, r"2 ± 1.4 \(2 runs\)"),
    ],
)
def test_a_failed_check_fails_under_test_only(value, bounds, wanted, monkeypatch, capsys):
    with pytest.raises(CheckError, match=wanted):
        expect("the number", value, because="Mind the gap.", **bounds)
    monkeypatch.delenv("LMCOURSE_STRICT")
    capsys.readouterr()
    expect("the number", value, because="Mind the gap.", **bounds)
    shown = capsys.readouterr().out
    assert shown.startswith("✗ measured · the number")
    assert "Mind the gap." in shown and "doctor" in shown


def test_a_check_fails_if_its_bounds_admit_what_it_rules_out(capsys):
    bounds = {"close_to": 0.9, "within": 0.05}
    expect("accuracy", 0.91, rules_out={"chance": 0.5, "untrained": [0.4, 0.6]}, **bounds)
    assert "rules out: chance 0.5, untrained 0.5)" in capsys.readouterr().out
    with pytest.raises(CheckError, match="does not rule out: the baseline"):
        expect("accuracy", 0.91, rules_out={"chance": 0.5, "the baseline": 0.94}, **bounds)


def test_a_gpus_tolerance_is_wider_and_says_so(monkeypatch, capsys):
    monkeypatch.setattr(checks, "_device_kind", lambda: "cuda")
    bounds = {"close_to": 1, "within": 0.05}
    expect("loss", 1.12, rules_out={"untrained": 1.1}, **bounds)  # by the bounds of a CPU
    assert "± 0.15" in (shown := capsys.readouterr().out) and "on cuda" in shown
    with pytest.raises(CheckError):
        expect("loss", 1.2, **bounds)
    with pytest.raises(CheckError, match=r"± 0.05\)"):
        expect("a float64 sum", 1.12, on="cpu", **bounds)
    identity("both sides", 1.0, 1.2, within=0.1)
    with pytest.raises(CheckError):
        identity("both sides", 1.0, 1.2, within=0.1, on="cpu")


@pytest.mark.parametrize("empty", [{}, {"close_to": 1}, {"within": 0.1}])
def test_a_check_without_bounds_is_an_error(empty):
    with pytest.raises(ValueError):
        expect("nothing", 1.0, **empty)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1.0, 1.0 + 1e-9),
        (torch.ones(2, 3, requires_grad=True), np.ones((2, 3))),
        ([torch.ones(2), torch.zeros(2)], [[1, 1], [0, 0]]),
        ([torch.ones(2), torch.zeros(3)], [torch.ones(2), torch.zeros(3)]),
        (torch.tensor([1e-9, 0.0]), 0.0),
        (torch.tensor([math.inf, 1.0]), torch.tensor([math.inf, 1.0])),
        (torch.tensor(1 + 2j), 1 + 2j),
        (["a", "##b"], ["a", "##b"]),
        (torch.tensor([True, False]), [True, False]),
        ([], []),
    ],
)
def test_an_identity_that_holds_is_a_quiet_line(left, right, capsys):
    identity("both sides of (3.2)", left, right, within=1e-8)
    assert capsys.readouterr().out.startswith("≡ identity · both sides of (3.2): ")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1.0, 1.1),
        (torch.ones(2, 3), torch.ones(3, 2)),
        (torch.ones(3), torch.ones(1)),
        (1.0, torch.ones(3)),
        ([torch.ones(2), torch.zeros(3)], [torch.ones(2), torch.ones(3)]),
        (math.nan, math.nan),
        (math.inf, 1.0),
        (1 + 1j, 1 + 2j),
        (["a", "b"], ["a", "##b"]),
        ([], [1.0]),
    ],
)
def test_an_identity_that_does_not_hold_fails(left, right, monkeypatch, capsys):
    with pytest.raises(CheckError):
        identity("both sides", left, right, within=1e-8)
    monkeypatch.delenv("LMCOURSE_STRICT")
    capsys.readouterr()
    identity("both sides", left, right, within=1e-8)
    assert capsys.readouterr().out.startswith("✗ identity · both sides")


def test_cited_numbers_name_their_source(capsys):
    cited("liu2019", "table 1", ["masking", "SQuAD 2.0"], [["static", "78.3"]])
    shown = capsys.readouterr().out
    assert shown.startswith("cited · Liu et al., 2019, table 1.\n") and "78.3" in shown
    assert "✓" not in shown
    with pytest.raises(CourseError, match="no entry 'liu2018'"):
        cited("liu2018", "table 1", ["", "F1"], [["static", "78.3"]])


def test_the_notebooks_form_escapes_and_carries_kind_and_verdict():
    def form(kind, passed):
        return checks.Check(kind, "<b>x</b>", 1.0, "<1>", "at most 2", passed)._repr_html_()

    kept = form("measured", True)
    assert "&lt;b&gt;x" in kept and "&lt;1&gt;" in kept
    assert 'data-kind="measured" data-passed="true"' in kept and "✓" in kept
    assert 'data-passed="false"' in form("measured", False)
    assert 'data-kind="identity"' in form("identity", True) and "✓" not in form("identity", True)
    table = checks.framed_table("cited", "<caption>", ["", "<F1>"], [["<a>", "<1>"]])
    assert table.count("&lt;") == 4 and 'class="kind"' in table and 'data-kind="cited"' in table
