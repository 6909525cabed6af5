"""The findings that the course keeps, ``data/claims``: what was found of each claim, in NAME.json.

Chapters read one by `finding`.
"""

from pathlib import Path

import msgspec

from lmcourse import checkout
from lmcourse.errors import CourseError
from lmcourse.findings.finding import Finding


def shelf() -> Path:
    """Where findings are kept: ``data/claims``."""
    return checkout.shared("data/claims")


def finding(name: str, folder: Path | None = None) -> Finding:
    """What was found of a claim.

    Raises:
        CourseError: nothing yet, or its file cannot be read.
    """
    path = (folder or shelf()) / f"{name}.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Finding)
    except FileNotFoundError as error:
        there = sorted(it.stem for it in path.parent.glob("*.json"))
        raise CourseError(
            f"Of the claim {name!r} nothing was found yet.",
            f"Test it: lmcourse claims {name}. There are: {', '.join(there) or 'none'}.",
        ) from error
    except (OSError, msgspec.DecodeError) as error:
        raise CourseError(
            f"The finding {path} cannot be read: {error}.",
            f"Restore it (git checkout -- {path}), or test the claim again.",
        ) from error
