"""Where a book will be: what its pages and notebooks can link to."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from coursekit.book.site.assets import DOWNLOADS
from coursekit.repository import Repository
from coursekit.wheel import build_wheel
from lmcourse.errors import CourseError

_INSTALLATION = """\
# Install the course's package where it is missing, in Colab or elsewhere.{note}
try:
    import lmcourse
except ImportError:
    %pip install --quiet {requirement}
    import lmcourse"""
_BESIDE = (
    "\n# The book's first page offers the file that is named here: put it beside this notebook."
)


@dataclass(frozen=True)
class Published:
    """The addresses of a book and of its sources, as far as they are known.

    Attributes:
        base_url: where it will be served, without a slash at the end.
        repository: where its sources are.
        wheel: the package, which the book offers as a file.
    """

    base_url: str | None = None
    repository: Repository | None = None
    wheel: Path | None = None

    @property
    def installation(self) -> str:
        """The first code cell of a notebook that the book offers."""
        requirement, note = self.wheel.name if self.wheel else "lmcourse", ""
        if self.base_url and self.wheel:
            requirement = f"{self.base_url}/{DOWNLOADS}/{self.wheel.name}"
        elif self.repository:
            requirement = self.repository.requirement
        elif self.wheel:
            note = _BESIDE
        return _INSTALLATION.format(requirement=requirement, note=note)


def published(base_url: str | None, repository: Repository | None) -> Published:
    """Return where a book will be, with the package that it offers.

    Raises:
        CourseError: an address is none, or the package cannot be built.
    """
    return Published(checked(base_url), repository, build_wheel())


def checked(base_url: str | None) -> str | None:
    """Return the address without a slash at its end.

    Raises:
        CourseError: it is no address of a web page.
    """
    if not base_url:
        return None
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query or parts.fragment:
        raise CourseError(
            f"{base_url!r} is not a URL at which a book can be served.",
            "Pass the complete URL, for example BASE_URL=https://example.org/course.",
        )
    return base_url.rstrip("/")
