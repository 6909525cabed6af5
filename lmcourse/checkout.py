"""Where the course's files are: the checkout, its data, what is built from it."""

import os
from pathlib import Path

from lmcourse.errors import CourseError


def root() -> Path:
    """Find the checkout: ``$LMCOURSE_ROOT``, else the folder above this package.

    Raises:
        CourseError: there is no ``chapters`` and ``labs`` folder there.
    """
    named = os.environ.get("LMCOURSE_ROOT")
    folder = Path(named).expanduser() if named else Path(__file__).parent.parent
    folder = folder.resolve()
    if all((folder / name).is_dir() for name in ("chapters", "labs")):
        return folder
    raise CourseError(
        f"The course's chapters and labs are not in the folder {folder}.",
        "Set LMCOURSE_ROOT to the folder of the course's checkout, or unset it and install the "
        "course from its checkout with `pip install -e .`.",
    )


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
