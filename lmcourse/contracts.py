"""`expect`: a visible check of a number that a cell computes."""

import html
import math
import os
from dataclasses import dataclass
from typing import SupportsFloat

from lmcourse.show import prose

# A GPU sums in another order and may use lower precision: float32 results differ in their last
# digits, and training amplifies the difference. These factors widen tolerances set on a CPU.
SLACK = {"cpu": 1.0, "cuda": 3.0, "mps": 3.0}


class ContractError(AssertionError):
    """A cell did not compute the expected number. Raised under test only."""

    def _render_traceback_(self) -> list[str]:
        return [f"ContractError: {self}"]


@dataclass(frozen=True)
class Contract:
    """The result of `expect`: displayed as HTML in a notebook, elsewhere as text."""

    name: str
    value: float
    wanted: str
    passed: bool
    note: str

    def __str__(self) -> str:
        mark = "✓" if self.passed else "✗"
        text = f"{mark} {self.name}: {_digits(self.value)} (expected: {self.wanted})"
        return f"{text}. {self.note}" if self.note else text

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        color, mark = ("#009E73", "✓") if self.passed else ("#D55E00", "✗")
        return (
            f'<div class="lmcourse-expect" data-passed="{str(self.passed).lower()}" '
            f'style="border-left:4px solid {color};padding:.15em .7em;margin:.2em 0">'
            f'<span aria-hidden="true" style="color:{color};font-weight:bold">{mark}</span> '
            f"{html.escape(self.name)}: <b>{html.escape(_digits(self.value))}</b> "
            f'<span style="opacity:.75">(expected: {html.escape(self.wanted)})</span>'
            + (f"<br><small>{prose(self.note)}</small>" if self.note else "")
            + "</div>"
        )


def expect(
    name: str,
    value: SupportsFloat,
    *,
    close_to: SupportsFloat | None = None,
    within: float | None = None,
    at_least: SupportsFloat | None = None,
    at_most: SupportsFloat | None = None,
    because: str = "",
    on: str | None = None,
) -> None:
    """Display a computed number with its expected value, and check it.

    Args:
        name: the name of the number, in words.
        value: the computed number: a float, or a tensor or array with one element.
        close_to, within: the expected value and its tolerance on a CPU, which is widened on a GPU
            (see ``SLACK``).
        at_least, at_most: bounds, instead of ``close_to`` or in addition to it.
        because: why the number may differ elsewhere, or what to check if it does.
        on: the type of device that computed it, if it is not the notebook's: ``"cpu"`` for a cell
            that computes in float64.

    Raises:
        ContractError: the number is not as expected, and ``LMCOURSE_STRICT`` is set, as in tests. A
            reader's notebook displays the result and continues.
        ValueError: there is no expected value.
    """
    number = float(value.detach() if hasattr(value, "detach") else value)
    kind = on or _device_kind()
    low, high, wanted = _bounds(close_to, within, at_least, at_most, SLACK[kind])
    passed = low <= number <= high  # False for NaN
    contract = Contract(name, number, wanted, passed, _note(passed, close_to, because, kind))
    _show(contract)
    if not passed and os.environ.get("LMCOURSE_STRICT"):
        raise ContractError(str(contract))


def _bounds(
    close_to: SupportsFloat | None,
    within: float | None,
    at_least: SupportsFloat | None,
    at_most: SupportsFloat | None,
    slack: float,
) -> tuple[float, float, str]:
    if (close_to is None) != (within is None):
        raise ValueError("close_to and within belong together: close_to=2.5, within=0.1.")
    low, high, wanted = -math.inf, math.inf, []
    if close_to is not None and within is not None:
        center, tolerance = float(close_to), within * slack
        low, high = center - tolerance, center + tolerance
        wanted.append(f"{_digits(center)} ± {_digits(tolerance)}")
    if at_least is not None:
        low = max(low, float(at_least))
        wanted.append(f"at least {_digits(float(at_least))}")
    if at_most is not None:
        high = min(high, float(at_most))
        wanted.append(f"at most {_digits(float(at_most))}")
    if not wanted:
        raise ValueError("A contract needs close_to and within, at_least or at_most.")
    return low, high, " and ".join(wanted)


def _note(passed: bool, close_to: SupportsFloat | None, because: str, kind: str) -> str:
    notes = [because] if because else []
    if close_to is not None and kind != "cpu":
        notes.append(
            f"The tolerance is {SLACK[kind]:g} × as wide on {kind}, which sums in another order."
        )
    if not passed:
        notes.append(
            "Run the cells above in order first; if it persists, run `!lmcourse doctor` in a cell "
            "to check this machine."
        )
    return " ".join(notes)


def _device_kind() -> str:
    from lmcourse.devices import device

    return device().type


def _digits(number: float) -> str:
    return f"{number:.4g}" if abs(number) < 1e4 or not math.isfinite(number) else f"{number:,.0f}"


def _show(contract: Contract) -> None:
    try:
        from IPython.core.getipython import get_ipython
        from IPython.display import display
    except ImportError:
        print(contract)
        return
    if get_ipython() is None:
        print(contract)
    else:
        display(contract)
