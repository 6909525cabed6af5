"""`expect` shows what should come out, fails under test, and knows the device."""

import math

import pytest
import torch

from lmcourse import contracts
from lmcourse.contracts import ContractError, expect


@pytest.fixture(autouse=True)
def on_a_cpu(monkeypatch):
    monkeypatch.setenv("LMCOURSE_DEVICE", "cpu")
    monkeypatch.setenv("LMCOURSE_STRICT", "1")


@pytest.mark.parametrize(
    ("value", "contract"),
    [
        (1.04, {"close_to": 1, "within": 0.05}),
        (torch.tensor(0.5, requires_grad=True), {"close_to": 0.5, "within": 0}),
        (3, {"at_least": 3}),
        (torch.tensor([2.0]), {"at_most": 2.5}),
        (0.3, {"at_least": 0.1, "at_most": 0.4}),
        (math.inf, {"at_least": math.inf}),
    ],
)
def test_a_kept_contract_is_shown(value, contract, capsys):
    expect("the number", value, **contract)
    shown = capsys.readouterr().out
    assert shown.startswith("✓ the number: ") and "expected: " in shown


@pytest.mark.parametrize(
    ("value", "contract", "wanted"),
    [
        (1.06, {"close_to": 1, "within": 0.05}, r"1.06 \(expected: 1 ± 0.05\)"),
        (2.9, {"at_least": 3}, "at least 3"),
        (2.6, {"at_most": 2.5}, "at most 2.5"),
        (math.nan, {"close_to": 1, "within": 5}, "nan"),
        (math.nan, {"at_most": 1}, "nan"),
    ],
)
def test_a_broken_contract_fails_under_test_only(value, contract, wanted, monkeypatch, capsys):
    with pytest.raises(ContractError, match=wanted):
        expect("the number", value, because="Mind the gap.", **contract)
    monkeypatch.delenv("LMCOURSE_STRICT")
    capsys.readouterr()
    expect("the number", value, because="Mind the gap.", **contract)
    shown = capsys.readouterr().out
    assert shown.startswith("✗ the number") and "Mind the gap." in shown and "doctor" in shown


def test_a_gpus_tolerance_is_wider_and_says_so(monkeypatch, capsys):
    monkeypatch.setattr(contracts, "_device_kind", lambda: "cuda")
    expect("loss", 1.12, close_to=1, within=0.05)
    assert "± 0.15" in (shown := capsys.readouterr().out) and "on cuda" in shown
    with pytest.raises(ContractError):
        expect("loss", 1.2, close_to=1, within=0.05)
    with pytest.raises(ContractError, match=r"± 0.05\)"):
        expect("a float64 sum", 1.12, close_to=1, within=0.05, on="cpu")


@pytest.mark.parametrize("empty", [{}, {"close_to": 1}, {"within": 0.1}])
def test_a_contract_that_promises_nothing_is_an_error(empty):
    with pytest.raises(ValueError):
        expect("nothing", 1.0, **empty)


def test_the_notebooks_form_escapes_and_carries_the_verdict():
    line = contracts.Contract("<b>x</b>", 1.0, "at most 2", True, "")._repr_html_()
    assert "&lt;b&gt;x" in line and 'data-passed="true"' in line
    assert 'data-passed="false"' in contracts.Contract("x", 1.0, "w", False, "")._repr_html_()
