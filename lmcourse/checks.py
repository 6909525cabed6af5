"""The four kinds of checks in a chapter; each says in one word what it is.

``measured``   `expect`: a number that a cell computes, against bounds that a rival misses.
``identity``   `identity`: two ways to compute the same thing, such as both sides of an equation.
``recorded``   `lmcourse.findings.finding`: a stored experiment with its setup and all contrasts.
``cited``      `cited`: published numbers with their source.

Only a measured check has a tick.
"""

import html
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any, SupportsFloat

from lmcourse import table_forms
from lmcourse.show import prose

# A GPU sums in another order and may use lower precision: float32 results differ in their last
# digits, and training amplifies the difference. These factors widen tolerances set on a CPU.
SLACK = {"cpu": 1.0, "cuda": 3.0, "mps": 3.0}
COLORS = {"measured": "#009E73", "identity": "#BBBBBB", "recorded": "#0072B2", "cited": "#CC79A7"}
FAILED = "#D55E00"
_DOCTOR = (
    "Run the cells above in order first; if it persists, run `!lmcourse doctor` in a cell to check "
    "this machine."
)

Values = SupportsFloat | Sequence[SupportsFloat]
"""A number, a tensor or array with one element, or a sequence of them: one for each seed."""


class CheckError(AssertionError):
    """A cell did not compute what was expected. Raised under test only."""

    def _render_traceback_(self) -> list[str]:
        return [f"CheckError: {self}"]


@dataclass(frozen=True)
class Check:
    """The result of `expect` or `identity`: displayed as HTML in a notebook, elsewhere as text.

    Attributes:
        kind: ``measured`` or ``identity``.
        name: of the number, in words.
        value: that was computed; the mean over seeds.
        shown: the value with its spread, as text.
        wanted: the bounds, as text.
        passed: whether the value is within the bounds, and everything that is ruled out is not.
        note: for the reader.
    """

    kind: str
    name: str
    value: float
    shown: str
    wanted: str
    passed: bool
    note: str = ""

    @property
    def mark(self) -> str:
        """A tick for a measured number; an identity that holds has none."""
        return "✗" if not self.passed else "✓" if self.kind == "measured" else "≡"

    def __str__(self) -> str:
        text = f"{self.mark} {self.kind} · {self.name}: {self.shown} ({self.wanted})"
        return f"{text}. {self.note}" if self.note else text

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        color = COLORS[self.kind] if self.passed else FAILED
        value = html.escape(self.shown)
        line = (
            f'<span aria-hidden="true" style="color:{color};font-weight:bold">{self.mark}</span> '
            f"{_label(self.kind)} {html.escape(self.name)}: "
            f"{f'<b>{value}</b>' if self.kind == 'measured' else value} "
            f'<span style="opacity:.75">({html.escape(self.wanted)})</span>'
        )
        note = f"<br><small>{prose(self.note)}</small>" if self.note else ""
        return _framed(self.kind, line + note, self.passed)


def expect(
    name: str,
    value: Values,
    *,
    close_to: SupportsFloat | None = None,
    within: float | None = None,
    at_least: SupportsFloat | None = None,
    at_most: SupportsFloat | None = None,
    rules_out: Mapping[str, Values] | None = None,
    because: str = "",
    on: str | None = None,
) -> None:
    """Display a measured number with its expected value, and check it.

    Args:
        name: the name of the number, in words.
        value: the computed number; of several, one for each seed, the mean is checked and shown
            with the standard deviation.
        close_to, within: the expected value and its tolerance on a CPU, which is widened on a GPU
            (see ``SLACK``).
        at_least, at_most: bounds of a one-sided claim: the value of a rival that was measured, or
            an exact limit, such as chance or the floor.
        rules_out: by name, what the number would be if the claim were false: for untrained
            weights, shuffled labels, the baseline, chance. The check fails if the bounds (those of
            a CPU) admit one of them. The mean of several values counts.
        because: why the number may differ elsewhere, or what to check if it does.
        on: the type of device that computed it, if it is not the notebook's: ``"cpu"`` for a cell
            that computes in float64.

    Raises:
        CheckError: the number is not as expected, or something is not ruled out, and
            ``LMCOURSE_STRICT`` is set, as in tests. A reader's notebook displays the result and
            continues.
        ValueError: there is no expected value.
    """
    numbers, kind = _numbers(value), on or _device_kind()
    low, high, wanted = _bounds(close_to, within, at_least, at_most, SLACK[kind])
    strict_low, strict_high, _ = _bounds(close_to, within, at_least, at_most, 1.0)
    rivals = {rival: mean(_numbers(it)) for rival, it in (rules_out or {}).items()}
    admitted = [rival for rival, it in rivals.items() if strict_low <= it <= strict_high]
    if rivals:
        shown = ", ".join(f"{rival} {_digits(it)}" for rival, it in rivals.items())
        wanted = f"expected: {wanted}; rules out: {shown}"
    else:
        wanted = f"expected: {wanted}"
    notes = [because] if because else []
    if close_to is not None and kind != "cpu":
        notes.append(
            f"The tolerance is {SLACK[kind]:g} × as wide on {kind}, which sums in another order."
        )
    inside = low <= mean(numbers) <= high  # False for NaN
    if admitted:
        notes.append(f"It does not rule out: {', '.join(admitted)}.")
    if not inside:
        notes.append(_DOCTOR)
    passed = inside and not admitted
    _report(
        Check("measured", name, mean(numbers), _spread(numbers), wanted, passed, " ".join(notes))
    )


def identity(name: str, left: Any, right: Any, *, within: float, on: str | None = None) -> None:
    """Display that two computations of the same thing agree, in one quiet line, and check it.

    Args:
        name: what is computed in two ways, such as ``"both sides of (3.2)"``.
        left, right: numbers, tensors or arrays of the same shape, or sequences of them; anything
            else, such as texts, must be equal. ``right`` may be a number for all elements.
        within: the largest absolute difference on a CPU, which is widened on a GPU (see ``SLACK``).
        on: see `expect`.

    Raises:
        CheckError: they differ in shape or by more, and ``LMCOURSE_STRICT`` is set.
    """
    difference = _largest_difference(left, right)
    limit = within * SLACK[on or _device_kind()]
    passed = difference <= limit  # False for NaN
    wanted = f"largest difference; at most {_digits(limit)}"
    note = "" if passed else _DOCTOR
    _report(Check("identity", name, difference, _digits(difference), wanted, passed, note))


def cited(key: str, where: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Display published numbers with their source.

    Args:
        key: of the source in ``references.bib``.
        where: in it, such as ``"table 1"``; with the rows, if not all are shown.
        header, rows: a table; the first cell of a row is its name.

    Raises:
        CourseError: the source is not in the bibliography.
    """
    from lmcourse import references

    caption = f"{references.named(key)}, {where}."
    text = f"cited · {caption}\n{table_forms.text(header, rows)}"
    _show(Shown(text, framed_table("cited", caption, header, rows)))


@dataclass(frozen=True)
class Shown:
    """Text, and the HTML of the same for a notebook."""

    text: str
    html: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def framed_table(
    kind: str, caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], below: str = ""
) -> str:
    """Return a table in HTML, with a frame and a label that say what kind of check it is.

    Args:
        below: further HTML.
    """
    table = table_forms.html(caption, header, rows)
    labeled = table.replace("<figcaption>", f"<figcaption>{_label(kind)} ", 1)
    return _framed(kind, labeled + below, True)


def _framed(kind: str, content: str, passed: bool) -> str:
    color = COLORS[kind] if passed else FAILED
    size = "font-size:.85em;opacity:.8;" if kind == "identity" and passed else ""
    line = "dotted" if kind == "cited" else "double" if kind == "recorded" else "solid"
    return (
        f'<div class="lmcourse-check" data-kind="{kind}" data-passed="{str(passed).lower()}" '
        f'style="border-left:4px {line} {color};padding:.15em .7em;margin:.2em 0;{size}">'
        f"{content}</div>"
    )


def _label(kind: str) -> str:
    style = "font-size:.8em;letter-spacing:.04em;text-transform:uppercase;opacity:.75"
    return f'<span class="kind" style="{style}">{kind}</span>'


def _numbers(value: Values) -> list[float]:
    """Return one number or several as floats."""
    plain = value.tolist() if hasattr(value, "tolist") else value  # a tensor's or an array's
    several = plain if isinstance(plain, Sequence) else [plain]
    return [float(it.detach() if hasattr(it, "detach") else it) for it in several]


def _spread(numbers: Sequence[float]) -> str:
    """Return a number, or the mean of several with their standard deviation, as text."""
    if len(numbers) == 1:
        return _digits(numbers[0])
    spread = stdev(numbers) if all(map(math.isfinite, numbers)) else math.nan
    return f"{_digits(mean(numbers))} ± {spread:.2g} ({len(numbers)} runs)"


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
        raise ValueError("A check needs close_to and within, at_least or at_most.")
    return low, high, " and ".join(wanted)


def _largest_difference(left: Any, right: Any) -> float:
    """Return the largest absolute difference; infinity for another shape or another text."""
    import numpy as np

    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        if len(left) != len(right):
            return math.inf
        parts = [_largest_difference(*pair) for pair in zip(left, right, strict=True)]
        return float(np.max(parts, initial=0.0))  # NaN if one is, unlike Python's max
    one, other = _array(left), _array(right)
    if one.dtype.kind not in "biufc" or other.dtype.kind not in "biufc":
        return 0.0 if left == right else math.inf
    if one.shape != other.shape and other.ndim:
        return math.inf
    one, other = one.astype(np.complex128), other.astype(np.complex128)
    with np.errstate(invalid="ignore"):  # ∞ − ∞, where both are the same
        return float(np.where(one == other, 0.0, np.abs(one - other)).max(initial=0.0))


def _array(value: Any) -> Any:
    """Return a tensor, an array, a number, or a list of them as an array."""
    import numpy as np

    if hasattr(value, "detach"):
        return value.detach().cpu().numpy()
    if isinstance(value, list | tuple):
        return np.array([_array(it) for it in value])
    return np.asarray(value)


def _device_kind() -> str:
    from lmcourse.devices import device

    return device().type


def _digits(number: float) -> str:
    return f"{number:.4g}" if abs(number) < 1e4 or not math.isfinite(number) else f"{number:,.0f}"


def _report(check: Check) -> None:
    """Display a check; raise under test if it failed."""
    _show(check)
    if not check.passed and os.environ.get("LMCOURSE_STRICT"):
        raise CheckError(str(check))


def _show(thing: Check | Shown) -> None:
    try:
        from IPython.core.getipython import get_ipython
        from IPython.display import display
    except ImportError:
        print(thing)
        return
    if get_ipython() is None:
        print(thing)
    else:
        display(thing)
