"""The links to the course's sources, and its citation."""

import re
import tomllib

import pytest

from coursekit import citation, install
from coursekit.repository import Repository
from lmcourse.errors import CourseError

GITHUB = Repository("https://github.com/ann/course", "main", "gh-pages", "https://hub.example.org")
GITLAB = Repository("https://gitlab.com/group/sub/course", "a b", "pages", "")


def test_a_page_has_a_source_an_editor_and_a_report():
    assert GITHUB.about("chapters/08-attention.md", "Attention") == {
        "Source": "https://github.com/ann/course/blob/main/chapters/08-attention.md",
        "Edit": "https://github.com/ann/course/edit/main/chapters/08-attention.md",
        "Report": "https://github.com/ann/course/issues/new?title=Attention%3A%20",
    }
    assert GITLAB.about("x.md", "A&B") == {
        "Source": "https://gitlab.com/group/sub/course/-/blob/a%20b/x.md",
        "Edit": "https://gitlab.com/group/sub/course/-/edit/a%20b/x.md",
        "Report": "https://gitlab.com/group/sub/course/-/issues/new?issue[title]=A%26B%3A%20",
    }


def test_a_notebook_opens_in_colab_binder_and_a_hub():
    """Colab and nbgitpuller take it from the built book's branch; Binder builds the sources."""
    path = "downloads/08-attention.ipynb"
    assert GITHUB.runs(path, "chapters/08-attention.ipynb") == {
        "Colab": f"https://colab.research.google.com/github/ann/course/blob/gh-pages/{path}",
        "Binder": "https://mybinder.org/v2/gh/ann/course/main?urlpath="
        "lab/tree/workbook/chapters/08-attention.ipynb",
        "JupyterHub": "https://hub.example.org/hub/user-redirect/git-pull?"
        "repo=https%3A%2F%2Fgithub.com%2Fann%2Fcourse&branch=gh-pages"
        f"&urlpath=lab/tree/course/{path}",
    }
    found = GITLAB.runs(path, "chapters/08-attention.ipynb")
    assert list(found) == ["Binder"]  # Colab reads GitHub alone; there is no hub
    assert "/v2/gl/group%2Fsub%2Fcourse/a%20b?" in found["Binder"]
    own = Repository.of("https://gitlab.uni.example/a/b")
    assert own.about("x.md", "A")["Edit"] == "https://gitlab.uni.example/a/b/-/edit/main/x.md"
    assert "/v2/git/https%3A%2F%2Fgitlab.uni.example%2Fa%2Fb/main?" in own.runs(path, "x")["Binder"]


def test_the_settings_can_be_overridden():
    found = Repository.of("https://github.com/me/fork.git", "draft")
    assert found == Repository("https://github.com/me/fork", "draft", "gh-pages", "")
    assert found.name == "fork"
    assert found.requirement == "git+https://github.com/me/fork@draft"


@pytest.mark.parametrize(
    "url",
    ["github.com/a/b", "https://github.com/a", "https://example.org/a/b", "git@github.com:a/b"],
)
def test_what_is_no_repository_is_refused(url: str):
    with pytest.raises(CourseError, match="is not the address of a repository"):
        Repository.of(url)


def test_package_citation_and_changes_name_one_version():
    project = tomllib.loads((install.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    cited = citation.read()
    assert cited["version"] == project["project"]["version"]
    changes = (install.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\S+) \((\S+)\)$", changes, re.MULTILINE)
    assert released[0] == (cited["version"], str(cited["date-released"]))


def test_the_citation_as_bibtex():
    entry = citation.bibtex(GITHUB)
    assert entry.startswith("@software{lmcourse,\n") and entry.endswith("}")
    assert "url = {https://github.com/ann/course}" in entry and "{TinyBERT}" in entry
    assert "url" not in citation.bibtex(None)
    assert re.search(r"year = \{20\d\d\}", entry)
