"""MyST's own directive `{anywidget}`: mystmd parses it, and a strict page shows what comes out."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from lmcourse import course
from lmcourse.book import myst
from tests.widgets import hosts
from tests.widgets.examples import EXAMPLES
from tests.widgets.test_every_widget import says

CONFIGURATION = """\
version: 1
project:
  title: Widgets
  toc: [{file: index.md}]
site:
  template: ./theme
"""


@pytest.fixture(scope="module")
def parsed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, Any]]]:
    """The folder that mystmd leaves, and each widget's node in it, by the widget's name."""
    folder = tmp_path_factory.mktemp("directive")
    (folder / "theme").mkdir()
    template = course.root() / "theme" / "template.yml"
    (folder / "theme" / "template.yml").write_bytes(template.read_bytes())
    (folder / "myst.yml").write_text(CONFIGURATION, encoding="utf-8")
    page = "# Widgets\n"
    for name, example in EXAMPLES.items():
        widget = example.make()
        (folder / f"{name}.js").write_text(str(widget._esm), encoding="utf-8")
        page += f"\n``````{{anywidget}} {name}.js\n{json.dumps(widget.state())}\n``````\n"
    (folder / "index.md").write_text(page, encoding="utf-8")
    site = myst.build_site(folder)
    tree = json.loads((site / "content" / "index.json").read_text(encoding="utf-8"))["mdast"]
    return site, {node["esm"].split("-")[0].strip("/"): node for node in nodes(tree)}


def nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if tree.get("type") == "anywidget":
        yield tree
    for child in tree.get("children", []):
        yield from nodes(child)


def test_each_widget_comes_through_whole(
    parsed: tuple[Path, dict[str, dict[str, Any]]], browser: Browser, tmp_path: Path
) -> None:
    site, found = parsed
    assert found.keys() == EXAMPLES.keys()
    for name, example in EXAMPLES.items():
        widget, node = example.make(), found[name]
        module = (site / "public" / node["esm"].strip("/")).read_text(encoding="utf-8")
        assert module == str(widget._esm)
        assert node["model"] == json.loads(json.dumps(widget.state()))
        path = tmp_path / f"{name}.html"
        path.write_text(hosts.strict_page(node["model"], module), encoding="utf-8")
        with hosts.open_file(browser, path) as it:
            says(it.page, example.first)
            example.by_keyboard(it.page)
            says(it.page, example.after_keyboard)
            assert it.requests == [] and it.errors == []
