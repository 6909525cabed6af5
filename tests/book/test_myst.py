"""Running mystmd: which Node.js, and what is said of a fault."""

import os
import stat

import pytest
import yaml

from coursekit.book import myst
from lmcourse.errors import CourseError

GOOD = "# Title\n\nText.\n"
FAULTS = {
    "See {eq}`nowhere`.": "nowhere",
    "See [](#nowhere).": "#nowhere",
    "{cite:p}`nobody2020`": "nobody2020",
    "```{nonsense}\nx\n```": "unknown directive: nonsense",
    "{nonsense}`x`": "unknown role: nonsense",
    "![A drawing.](missing.png)": "missing.png",
    "$$\n\\nonsense{x}\n$$": "Undefined control sequence",
    "(twice)=\n## A\n\n(twice)=\n## B": "Duplicate identifier",
    ":::{note}\n:nonsense: 1\nx\n:::": "unexpected option",
}


@pytest.fixture
def project(tmp_path):
    """A folder that mystmd can build; its page is yet to be written."""
    (tmp_path / "chapters").mkdir()
    (tmp_path / "theme").mkdir()
    (tmp_path / "theme" / "template.yml").write_text("myst: v1\nkind: site\ntitle: Test\n")
    configuration = {
        "version": 1,
        "project": {"title": "Test", "toc": [{"file": "index.md"}]},
        "site": {"template": "./theme"},
    }
    (tmp_path / "myst.yml").write_text(yaml.safe_dump(configuration))
    return tmp_path


def test_a_good_folder(project, monkeypatch):
    monkeypatch.setenv("PATH", "")  # nothing but the environment's own Node.js and npm
    (project / "index.md").write_text(GOOD)
    assert (myst.build_site(project) / "content" / "index.json").is_file()


def test_progress_is_shown_while_pages_are_parsed(project, monkeypatch):
    monkeypatch.setattr(myst, "_EVERY", 1)
    (project / "index.md").write_text(GOOD)
    said = []
    myst.build_site(project, said.append)
    assert said == ["mystmd: 1 pages parsed ..."]


@pytest.mark.parametrize("text", FAULTS)
def test_faults(project, text):
    (project / "index.md").write_text(f"{GOOD}\n{text}\n")
    with pytest.raises(CourseError) as caught:
        myst.build_site(project)
    assert "index.md" in caught.value.cause and FAULTS[text] in caught.value.cause
    assert "the previous book is unchanged" in caught.value.remedy


def test_a_fault_names_the_tracked_source():
    line = "⛔️ chapters/02-recurrent.ipynb:13 unknown directive: nonsense"
    assert myst._fault(line) == "chapters/02-recurrent.md unknown directive: nonsense"


def test_without_node(monkeypatch):
    monkeypatch.setattr(myst, "_node_of_the_environment", lambda: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CourseError) as caught:
        myst.find_node()
    assert "needs Node.js" in caught.value.cause
    assert "nodejs.org" in caught.value.remedy


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
@pytest.mark.parametrize(
    ("script", "cause"),
    [
        ("echo v18.20.1", "is v18.20.1"),
        ("echo nonsense", "does not start"),
        ("exit 3", "does not start"),
    ],
)
def test_a_node_that_will_not_do(monkeypatch, tmp_path, script, cause):
    monkeypatch.setattr(myst, "_node_of_the_environment", lambda: None)
    node = tmp_path / "node"
    node.write_text(f"#!/bin/sh\n{script}\n")
    node.chmod(node.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(CourseError) as caught:
        myst.find_node()
    assert cause in caught.value.cause
    assert "Node.js 20 or newer" in caught.value.remedy


def test_without_jupyter_book(project, monkeypatch):
    find = myst.importlib.util.find_spec
    monkeypatch.setattr(
        myst.importlib.util,
        "find_spec",
        lambda name: None if name == "jupyter_book" else find(name),
    )
    with pytest.raises(CourseError, match="needs Jupyter Book"):
        myst.build_site(project)


def test_what_mystmd_does_not_explain_is_passed_on(project):
    (project / "index.md").write_text(GOOD)
    (project / "myst.yml").write_text("version: 1\nproject: [")
    with pytest.raises(CourseError) as caught:
        myst.build_site(project)
    assert "myst.yml" in caught.value.cause
