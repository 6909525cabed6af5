"""What every widget of the course shares: three forms, one module, packed arrays."""

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets import page
from lmcourse.widgets.checks import plain, wrong_kind
from lmcourse.widgets.packing import Array, Index, pack

LIMIT = 4_000_000  # bytes of packed arrays; a page's widget should stay under 300,000
_JUPYTERS_OWN = frozenset({"layout", "tabbable", "tooltip", "comm"})


def module(name: str) -> Path:
    """The bundled module of a widget, as ``_esm`` takes it."""
    return page.STATIC / f"{name}.js"


class Widget(anywidget.AnyWidget):
    """A figure that a reader can move, in three forms.

    - With a kernel: a Jupyter widget, whose settings are traits in both directions.
    - Without one: ``text/html``, which holds the module and the data and asks nobody for anything.
    - Where there are only words: ``alt``.

    A subclass sets ``_esm = module("its_name")``, ``title`` and ``lighter``, tags its settings with
    ``sync=True`` and says in ``alt`` what is to be seen. Its arrays go through `hold`.

    Settings take NumPy's numbers and tensors for Python's, and refuse with a `CourseError` what is
    of another kind. Traits tagged with ``data=True`` are no settings: what a widget shows cannot
    change under its settings, except by the widget itself, which calls `renew`.

    An export that stores widget state makes nbconvert prefer the first form, which loads scripts
    from the network: execute with ``store_widget_state=False``, and the second form is taken.
    """

    title: ClassVar[str] = "Widget"
    lighter: ClassVar[str] = "Pass smaller arrays."  # what to do about data that are too large

    arrays = traitlets.Bytes().tag(sync=True, data=True)
    index = traitlets.Dict().tag(sync=True, data=True)

    _made = False  # until then data may come

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self._made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_ours(name):
            self.set_trait(name, value)
        else:
            super().__setattr__(name, value)

    def set_trait(self, name: str, value: Any) -> None:
        """Set one of the traits; attributes that are assigned, and what a page sends, come here.

        Raises:
            CourseError: the value is of another kind than the trait's, or out of range; or the
                trait holds data, and this value is another.
        """
        if not self._is_ours(name):
            super().set_trait(name, value)
            return
        trait = getattr(type(self), name)
        if self._made and trait.metadata.get("data"):
            if value is not getattr(self, name) and plain(value) != getattr(self, name):
                own = type(self).__name__
                raise CourseError(
                    f"{name} cannot change in a widget that is there: the rest belongs to it.",
                    f"Make a new widget: {own}(...).",
                )
            return
        value = plain(value)
        try:
            if isinstance(trait, traitlets.Unicode) and type(value) in (int, float):
                value = f"{value:.12g}"  # a number among choices: -10000 for "-10000"
            super().set_trait(name, value)
        except (traitlets.TraitError, OverflowError, ValueError):  # these of immense numbers
            raise wrong_kind(trait, value) from None

    def renew(self, **data: Any) -> None:
        """Replace data, as a widget does that answers its page; a page gets all of it at once.

        Args:
            data: traits by name; arrays as `hold` gives them.
        """
        with self.hold_sync():
            self._made = False
            try:
                for name, value in data.items():
                    setattr(self, name, value)
            finally:
                self._made = True

    def _is_ours(self, name: str) -> bool:
        return name[0] != "_" and name not in _JUPYTERS_OWN and name in self.traits(sync=True)

    @property
    def alt(self) -> str:
        """What is to be seen, in words, at the present settings."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.alt}>"

    def state(self) -> dict[str, Any]:
        """What the module's model holds, ready for JSON; arrays in base64.

        It is also what a page writes into MyST's ``{anywidget}`` directive.
        """
        names = (name for name in sorted(self.traits(sync=True)) if name[0] != "_")
        values = {name: getattr(self, name) for name in names if name not in _JUPYTERS_OWN}
        return {
            name: base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else value
            for name, value in values.items()
        }

    def to_html(self) -> str:
        """The widget as one element and one script, for a page without a kernel."""
        return page.fragment(type(self).__name__, str(self._esm), self.state(), self.alt)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the widget as a page of its own, which opens from disk with no network.

        Raises:
            CourseError: the folder is not there, or the file cannot be written.
        """
        page.save(Path(path), self.title, self.to_html())

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**options) or ({}, {})
        return {**data, "text/html": self.to_html(), "text/plain": self.alt}, metadata

    @classmethod
    def hold(cls, arrays: Mapping[str, Array]) -> dict[str, bytes | Index]:
        """The traits ``arrays`` and ``index`` for a widget that holds these arrays.

        Raises:
            CourseError: they take more than a page can carry.
        """
        packed, index = pack(arrays)
        if len(packed) > LIMIT:
            raise CourseError(
                f"The data of this {cls.__name__} take {len(packed) / 1e6:.1f} MB, "
                f"and a page carries {LIMIT / 1e6:.0f} MB.",
                cls.lighter,
            )
        return {"arrays": packed, "index": index}
