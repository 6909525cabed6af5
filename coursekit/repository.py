"""Where the course is published: the links of the book's pages to their sources.

``[tool.lmcourse]`` in pyproject.toml names the repository; `Repository.of` reads it.
"""

import re
import tomllib
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from coursekit.install import ROOT
from lmcourse.errors import CourseError

_COLAB = "https://colab.research.google.com/github"
_BINDER = "https://mybinder.org/v2"


@dataclass(frozen=True)
class Forge:
    """How a code host writes its addresses."""

    file: str  # {ref}, {path}
    edit: str
    report: str  # {title}


_GITHUB = Forge("/blob/{ref}/{path}", "/edit/{ref}/{path}", "/issues/new?title={title}")
_GITLAB = Forge(
    "/-/blob/{ref}/{path}", "/-/edit/{ref}/{path}", "/-/issues/new?issue[title]={title}"
)
_GITLAB_HOST = re.compile(r"gitlab\.\S+")  # also one that a university runs


@dataclass(frozen=True)
class Repository:
    """The course's repository at a code host.

    Attributes:
        url: ``https://github.com/OWNER/NAME``.
        branch: the branch of the sources.
        site_branch: the branch of the built book, from which Colab and nbgitpuller take notebooks.
        hub: the address of a JupyterHub with nbgitpuller; empty: there is none.
    """

    url: str
    branch: str
    site_branch: str
    hub: str

    @classmethod
    def of(cls, url: str | None = None, branch: str | None = None) -> "Repository | None":
        """Return the repository of pyproject.toml, with another address or branch if given.

        Raises:
            CourseError: an address is none of a repository or a hub.
        """
        text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        settings = tomllib.loads(text).get("tool", {}).get("lmcourse", {})
        url = (url or settings.get("repository", "")).removesuffix(".git").rstrip("/")
        hub = settings.get("hub", "").rstrip("/")
        if not url:
            return None
        parts = urlsplit(url)
        known = parts.netloc == "github.com" or _GITLAB_HOST.fullmatch(parts.netloc)
        if parts.scheme != "https" or not known or parts.path.count("/") < 2:
            raise CourseError(
                f"{url!r} is not the address of a repository at github.com or at a GitLab, "
                "whose name begins with `gitlab.`.",
                "Pass REPOSITORY=https://github.com/OWNER/NAME, or set it in pyproject.toml, "
                "[tool.lmcourse].",
            )
        if hub and urlsplit(hub).scheme != "https":
            raise CourseError(
                f"{hub!r} is not the address of a JupyterHub.",
                "In pyproject.toml, [tool.lmcourse], set hub to https://…, or to an empty string.",
            )
        branch = branch or settings.get("branch", "main")
        return cls(url, branch, settings.get("site-branch", "gh-pages"), hub)

    @property
    def _forge(self) -> Forge:
        return _GITHUB if urlsplit(self.url).netloc == "github.com" else _GITLAB

    @property
    def name(self) -> str:
        """The folder that ``git clone`` makes."""
        return self.url.rsplit("/", 1)[1]

    @property
    def requirement(self) -> str:
        """What pip installs the package from: the repository's branch."""
        return f"git+{self.url}@{self.branch}"

    def about(self, path: str, title: str) -> dict[str, str]:
        """The links of a page: to its source, to an editor of it, to a report about it."""
        words = {"ref": quote(self.branch), "path": quote(path), "title": quote(f"{title}: ")}
        forms = {"Source": self._forge.file, "Edit": self._forge.edit, "Report": self._forge.report}
        return {label: self.url + form.format(**words) for label, form in forms.items()}

    def runs(self, notebook: str, workbook: str) -> dict[str, str]:
        """Where a notebook can be run without an installation, by the service's name.

        Args:
            notebook: its path in the built book: ``downloads/08-attention.ipynb``.
            workbook: its path in the workbook: ``chapters/08-attention.ipynb``.
        """
        parts = urlsplit(self.url)
        place, branch = parts.path.strip("/"), quote(self.branch, safe="")
        found = {}
        if parts.netloc == "github.com":
            found["Colab"] = f"{_COLAB}/{place}/blob/{quote(self.site_branch)}/{quote(notebook)}"
        provider = {
            "github.com": f"gh/{place}",
            "gitlab.com": f"gl/{quote(place, safe='')}",
        }.get(parts.netloc, f"git/{quote(self.url, safe='')}")
        path = quote(f"lab/tree/workbook/{workbook}")
        found["Binder"] = f"{_BINDER}/{provider}/{branch}?urlpath={path}"
        if self.hub:
            path = quote(f"lab/tree/{self.name}/{notebook}")
            found["JupyterHub"] = (
                f"{self.hub}/hub/user-redirect/git-pull?repo={quote(self.url, safe='')}"
                f"&branch={quote(self.site_branch, safe='')}&urlpath={path}"
            )
        return found
