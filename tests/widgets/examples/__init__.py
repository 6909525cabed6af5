"""An example of each widget: what the tests of all widgets, and the benchmark, know about it.

One file a widget, named as its module; each sets ``EXAMPLE``.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from playwright.sync_api import Page

from lmcourse.widgets import Widget


@dataclass(frozen=True)
class Example:
    """One widget, and what a reader does with it.

    Each act is done on a page that shows the widget as ``make`` made it, once. What is to be seen
    is the figure's text alternative.
    """

    make: Callable[[], Widget]  # small: quick to draw, and to send
    first: str  # the text alternative holds it at first
    by_keyboard: Callable[[Page], None]  # changes a setting with keys alone
    after_keyboard: str  # the text alternative holds it then
    by_pointer: Callable[[Page], None]  # changes a setting with `tap`, after by_keyboard
    after_pointer: str
    trait: tuple[str, Any, str]  # a setting, another value for it, and what is said then
    nonsense: tuple[str, Any]  # a setting, and a value that is none
    call: dict[str, Any]  # the names in what "Copy as Python" gives
    fuzz: Callable[[Random], Callable[[], Widget]]  # a widget of random data, good or bad

    @property
    def name(self) -> str:
        """The widget's class: ``GradientFlow``."""
        return type(self.make()).__name__


def press(page: Page, label: str, *keys: str) -> None:
    """Put the focus on the control of that label, and press keys."""
    page.get_by_label(label).and_(page.locator("input, select")).first.focus()
    for key in keys:
        page.keyboard.press(key)


def walk(page: Page, grid: str, *keys: str) -> None:
    """Put the focus on the cell that takes it of the first grid of that name, and press keys."""
    page.get_by_role("grid", name=grid).first.get_by_role("gridcell").focus()
    for key in keys:
        page.keyboard.press(key)


def tap(page: Page, grid: str, right: float, down: float) -> None:
    """Click, or with a touch screen tap, in a grid: at a share of its width and of its height."""
    place = page.get_by_role("grid", name=grid).first
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    assert box is not None
    at = (box["x"] + right * box["width"], box["y"] + down * box["height"])
    touch = page.evaluate("navigator.maxTouchPoints > 0")
    (page.touchscreen.tap if touch else page.mouse.click)(*at)


def _found() -> dict[str, Example]:
    names = sorted(it.name for it in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}").EXAMPLE for name in names}


EXAMPLES: dict[str, Example]


def __getattr__(name: str) -> Any:
    if name == "EXAMPLES":  # only when all of this module is there: the files import from it
        globals()[name] = _found()
        return globals()[name]
    raise AttributeError(name)
