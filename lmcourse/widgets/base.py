"""The base class of all widgets: three forms, one JavaScript module, packed arrays."""

import base64
import os
import sys
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
_VIEW = "application/vnd.jupyter.widget-view+json"


def module(name: str) -> Path:
    """Return the path of a widget's bundle, for ``_esm``."""
    return page.STATIC / f"{name}.js"


class Manager(anywidget.AnyWidget):
    """One in a kernel, never displayed: through it the HTML in a notebook finds its models."""

    _esm = """export default { initialize({ model }) {
  (globalThis.lmcourseManagers ??= new Set()).add(model.widget_manager);
  dispatchEvent(new Event("lmcourse-manager"));
} }"""
    only: ClassVar["Manager | None"] = None


class Widget(anywidget.AnyWidget):
    """An interactive figure in three forms.

    - With a kernel: a Jupyter widget whose settings are synchronized traits.
    - Without a kernel: ``text/html`` with the module and the data, which makes no requests.
    - As text: ``alt``.

    A Jupyter server gets the second, which also uses the model while the kernel has it: a view of
    the first, in a notebook that is opened again, is an error once the kernel has ended.

    A subclass sets ``_esm = module("its_name")``, ``title`` and ``lighter``, tags its settings with
    ``sync=True``, describes itself in ``alt``, and packs its arrays with `hold`.

    Settings accept NumPy numbers and tensors for Python's, and raise a `CourseError` for other
    types. Traits tagged with ``data=True`` are not settings: only the widget itself changes them,
    with `renew`.

    If an export stores the widget state, nbconvert prefers the first form, which loads scripts from
    the network: execute with ``store_widget_state=False`` to get the second.
    """

    title: ClassVar[str] = "Widget"
    lighter: ClassVar[str] = "Pass smaller arrays."  # the remedy for data that are too large

    arrays = traitlets.Bytes().tag(sync=True, data=True)
    index = traitlets.Dict().tag(sync=True, data=True)

    _made = False  # until then data can be set

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self._made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_ours(name):
            self.set_trait(name, value)
        else:
            super().__setattr__(name, value)

    def set_trait(self, name: str, value: Any) -> None:
        """Set a trait, for assignments in Python as well as for messages from a page."""
        if not self._is_ours(name):
            super().set_trait(name, value)
            return
        trait = getattr(type(self), name)
        if self._made and trait.metadata.get("data"):
            if value is not getattr(self, name) and plain(value) != getattr(self, name):
                own = type(self).__name__
                raise CourseError(
                    f"{name} cannot change in an existing widget.",
                    f"Make a new widget: {own}(...).",
                )
            return
        value = plain(value)
        try:
            if isinstance(trait, traitlets.Unicode) and type(value) in (int, float):
                value = f"{value:.12g}"  # a number that names a choice: -10000
            super().set_trait(name, value)
        except (traitlets.TraitError, OverflowError, ValueError):  # the latter for huge numbers
            raise wrong_kind(trait, value) from None

    def renew(self, **data: Any) -> None:
        """Replace data in one message to the page.

        Args:
            data: traits by name; arrays as `hold` returns them.
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
        """A description of the figure at the present settings."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.alt}>"

    def state(self) -> dict[str, Any]:
        """Return the state of the JavaScript model, ready for JSON; arrays in base64.

        It is also the content of MyST's ``{anywidget}`` directive.
        """
        names = (name for name in sorted(self.traits(sync=True)) if name[0] != "_")
        values = {name: getattr(self, name) for name in names if name not in _JUPYTERS_OWN}
        return {
            name: base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else value
            for name, value in values.items()
        }

    def to_html(self, model: str = "") -> str:
        """Return the widget as one element and one script, for a page without a kernel.

        Args:
            model: the id of the model that a notebook uses while the kernel has it.
        """
        name, module = type(self).__name__, str(self._esm)
        return page.fragment(name, module, self.state(), self.alt, model)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the widget as a page that needs no network."""
        page.save(path, self.title, self.to_html())

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**options) or ({}, {})
        model = ""
        if os.environ.get("JPY_SESSION_NAME") and "google.colab" not in sys.modules:
            if Manager.only is None or Manager.only.comm is None:  # closed
                Manager.only = Manager()
            model = data.pop(_VIEW)["model_id"]
        return {**data, "text/html": self.to_html(model), "text/plain": self.alt}, metadata

    @classmethod
    def hold(cls, arrays: Mapping[str, Array]) -> dict[str, bytes | Index]:
        """Return the traits ``arrays`` and ``index`` of a widget with these arrays."""
        packed, index = pack(arrays)
        if len(packed) > LIMIT:
            raise CourseError(
                f"The data of this {cls.__name__} take {len(packed) / 1e6:.1f} MB, "
                f"and a page can hold {LIMIT / 1e6:.0f} MB.",
                cls.lighter,
            )
        return {"arrays": packed, "index": index}
