"""The findings that the course keeps, ``data/claims``: what was found of each claim, in NAME.json.

Chapters read one by `finding`. What a finding records of its runs is not done again (`runs_of`).
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from lmcourse import course
from lmcourse.claims.finding import Finding
from lmcourse.errors import CourseError


def shelf() -> Path:
    """Where findings are kept: ``data/claims``."""
    return course.root() / "data" / "claims"


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


def runs_of(folder: Path | None = None) -> Mapping[str, Any]:
    """All runs that the findings rest on, by their digests.

    Raises:
        CourseError: a finding cannot be read.
    """
    paths = sorted((folder or shelf()).glob("*.json"))
    return _runs_of(tuple((path, path.stat().st_mtime_ns) for path in paths))


@lru_cache(maxsize=1)
def _runs_of(paths: tuple[tuple[Path, int], ...]) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for path, _ in paths:
        for digest, run in finding(path.stem, path.parent).runs.items():
            one = found.setdefault(digest, run)
            for name in ("scores", "measured_seconds"):  # each claim has measured its own
                one = one | {name: run[name] | one[name]}
            found[digest] = one
    return found
