"""Where the course's files are: the checkout, its data, what is built from it; or the wheel."""

import os
from pathlib import Path

from lmcourse.errors import CourseError
from lmcourse.files import expanded

_PACKED = Path(__file__).parent / "_files"  # in the wheel: what notebooks read of the checkout


def root() -> Path:
    """Find the checkout: ``$LMCOURSE_ROOT``, else the folder above this package.

    Raises:
        CourseError: there is no ``chapters`` and ``labs`` folder there.
    """
    named = os.environ.get("LMCOURSE_ROOT")
    folder = expanded(named) if named else Path(__file__).parent.parent
    folder = folder.resolve()
    if all((folder / name).is_dir() for name in ("chapters", "labs")):
        return folder
    raise CourseError(
        f"The course's chapters and labs are not in the folder {folder}.",
        "Set LMCOURSE_ROOT to the folder of the course's checkout, or unset it and install the "
        "course from its checkout with `pip install -e .`.",
    )


def shared(name: str) -> Path:
    """Return a file or folder that notebooks read, such as ``data/claims`` or ``references.bib``.

    It is in the checkout; the wheel has a copy of it (`hatch_build.py`).

    Raises:
        CourseError: this package is neither in a checkout nor from the wheel.
    """
    return (_PACKED if _PACKED.is_dir() else root()) / name


def labs() -> Path:
    """Return the folder of the labs' exercises, ``labs/lab02`` and so on.

    It is this package's own, also where ``$LMCOURSE_ROOT`` names another checkout.
    """
    return (_PACKED if _PACKED.is_dir() else Path(__file__).parent.parent) / "labs"


def products() -> Path:
    """Return the folder of everything that can be built again: ``_build`` in the checkout."""
    return root() / "_build"


def read_text(path: Path) -> str:
    """Read a tracked text of the course.

    Raises:
        CourseError: it is not there, or is no UTF-8 text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(
            f"The source {path} cannot be read: {error}.",
            "Restore it, for example with `git checkout`, and try again.",
        ) from error
