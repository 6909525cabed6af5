"""The helper package of the course: what its chapters and labs import.

Importing it is fast and imports no torch; a submodule loads on first use, so both
``import lmcourse; lmcourse.models.rnn`` and ``from lmcourse import expect`` work.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_SUBMODULES = (
    "compression",
    "corpus",
    "evaluation",
    "findings",
    "hub",
    "labs",
    "models",
    "show",
    "tokenizers",
    "training",
    "widgets",
)
_NAMES = {
    "cited": "checks",
    "device": "devices",
    "expect": "checks",
    "identity": "checks",
    "use_style": "style",
}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_SUBMODULES, *_NAMES])
