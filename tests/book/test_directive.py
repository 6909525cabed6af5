"""MyST's own directive `{anywidget}`: mystmd parses it, and a strict page shows what comes out.

Only of small data: at each mark in a directive's text mystmd looks back to the last space, so that
52 kB take minutes. The course's book does not need it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from coursekit import course
from coursekit.book import myst
from tests.widgets import hosts
from tests.widgets.examples import EXAMPLES
from tests.widgets.test_every_widget import says

MOST = 8000  # characters of JSON
STATES = {name: json.loads(json.dumps(it.make().state())) for name, it in EXAMPLES.items()}
SMALL = [name for name, state in STATES.items() if len(json.dumps(state)) <= MOST]
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
    for name in SMALL:
        (folder / f"{name}.js").write_text(module_of(name), encoding="utf-8")
        page += f"\n``````{{anywidget}} {name}.js\n{json.dumps(STATES[name])}\n``````\n"
    (folder / "index.md").write_text(page, encoding="utf-8")
    site = myst.build_site(folder)
    tree = json.loads((site / "content" / "index.json").read_text(encoding="utf-8"))["mdast"]
    return site, {node["esm"].split("-")[0].strip("/"): node for node in nodes(tree)}


def module_of(name: str) -> str:
    return str(EXAMPLES[name].make()._esm)


def nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if tree.get("type") == "anywidget":
        yield tree
    for child in tree.get("children", []):
        yield from nodes(child)


def test_each_widget_comes_through_whole(
    parsed: tuple[Path, dict[str, dict[str, Any]]], browser: Browser, tmp_path: Path
) -> None:
    site, found = parsed
    assert found.keys() == set(SMALL) and len(SMALL) >= 6
    for name in SMALL:
        example, node = EXAMPLES[name], found[name]
        module = (site / "public" / node["esm"].strip("/")).read_text(encoding="utf-8")
        assert module == module_of(name)
        assert node["model"] == STATES[name]
        path = tmp_path / f"{name}.html"
        path.write_text(hosts.strict_page(node["model"], module), encoding="utf-8")
        with hosts.open_file(browser, path) as it:
            says(it.page, example.first)
            example.by_keyboard(it.page)
            says(it.page, example.after_keyboard)
            assert it.requests == [] and it.errors == []
