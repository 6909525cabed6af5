"""Where a book will be: what its pages and notebooks can link to."""

from dataclasses import dataclass
from pathlib import Path

from coursekit.book.site.assets import DOWNLOADS
from coursekit.repository import Repository

_INSTALLATION = """\
# Install the course's package where it is missing, in Colab or elsewhere.{note}
from importlib.util import find_spec

if find_spec("lmcourse") is None:
    %pip install --quiet {requirement}"""
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
