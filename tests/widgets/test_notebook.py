"""Every widget in a notebook: live in JupyterLab, and in what nbconvert makes of it."""

import json
from pathlib import Path
from typing import Any, cast

import nbformat
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Locator, Page, expect

from lmcourse.widgets import Widget
from tests import browser as door_browser
from tests.doors.conftest import make_small
from tests.widgets.examples import EXAMPLES
from tests.widgets.hosts import open_file
from tests.widgets.test_every_widget import says

HEAD = """\
title: Widgets
question: Do they live?
minutes: 75
---

# Widgets

```{code-cell} ipython3
from tests.widgets.examples import EXAMPLES
made = {}
```
"""
SHOWN = """
```{{code-cell}} ipython3
made["{name}"] = EXAMPLES["{name}"].make()
made["{name}"]
```
"""
# Run with the others it does nothing; the second time the kernel says all settings, and the third
# time it sets one of each widget.
LAST = """
```{code-cell} ipython3
import json
turn = globals().get("turn", 0) + 1
if turn == 2:
    states = {name: widget.state() for name, widget in made.items()}
    for state in states.values():
        del state["arrays"]
    print(json.dumps(states))
if turn == 3:
    for name, widget in made.items():
        setattr(widget, *EXAMPLES[name].trait[:2])
print("turn", turn)
```
"""
BERTVIZ = """
```{code-cell} ipython3
import torch
from lmcourse.widgets.bertviz import head_view, model_view
weights = [torch.ones(1, 2, 3, 3) / 3 for layer in range(2)]
head_view(weights, ["[CLS]", "</script><b>soup", "[SEP]"])
```

```{code-cell} ipython3
model_view(weights, ["[CLS]", "soup", "[SEP]"])
```
"""
HEIGHT = 1400  # pixels of a widget and its cell: JupyterLab keeps only what is in view


def scoped(root: Locator) -> Page:
    """The page, on which what is looked for is looked for in one widget alone."""

    class Scoped:
        def __getattr__(self, name: str) -> Any:
            here = name == "locator" or name.startswith("get_by_")
            return getattr(root if here else root.page, name)

    return cast(Page, Scoped())


def shown(panel: Locator, name: str) -> Locator:
    """The widget in the output of the cell that made it."""
    return panel.locator(".jp-CodeCell", has_text=f'EXAMPLES["{name}"]').locator(".lm")


def test_all_live_in_jupyterlab(tmp_path: Path) -> None:
    course = make_small(tmp_path)
    cells = [SHOWN.format(name=name) for name in EXAMPLES]
    course.write("chapters/02-recurrent.md", "".join([HEAD, *cells, BERTVIZ, LAST]))
    variables = {"LMCOURSE_ROOT": str(course.root), "PYTHONPATH": str(Path(__file__).parents[2])}
    with (
        door_browser.chromium_page(touch=True) as (page, seen),
        door_browser.open_door(tmp_path, **variables) as door,
    ):
        page.set_viewport_size({"width": 1300, "height": HEIGHT * (len(EXAMPLES) + 3)})
        panel = door_browser.open_notebook(page, door, "chapters/02-recurrent.ipynb")
        ran = door_browser.run_all(page, door.workbook / "chapters/02-recurrent.ipynb")
        assert door_browser.errors_in(ran) == []
        bertviz_draws(panel)
        before = panel.locator(".jp-Cell").count()
        for name, example in EXAMPLES.items():
            says(shown(panel, name), example.first)
            lives(shown(panel, name), name)
            keeps_its_keys(shown(panel, name))
        assert panel.locator(".jp-Cell").count() == before
        door_browser.picture(page, "widgets-jupyterlab")
        copied = {name: copied_as_python(shown(panel, name)) for name in EXAMPLES}
        states = json.loads(run_the_last(page, panel, 2).splitlines()[0])
        for name, example in EXAMPLES.items():
            rebuilt = eval(copied[name], {example.name: type(example.make()), **example.call})
            settings = json.loads(json.dumps(rebuilt.state()))
            assert {key: settings[key] for key in states[name]} == states[name], name
        for name, example in EXAMPLES.items():
            shown(panel, name).get_by_role("button", name="Reset").click()
            says(shown(panel, name), example.first)
        run_the_last(page, panel, 3)
        for name, example in EXAMPLES.items():
            says(shown(panel, name), example.trait[2])
        assert seen.outside == []
        assert [it for it in seen.errors if "Failed to load resource" not in it] == []


def bertviz_draws(panel: Locator) -> None:
    """Both views of bertviz are drawn in the first run, where bertviz's own would need a second."""
    frames = [panel.frame_locator(f"iframe >> nth={i}") for i in (0, 1)]
    expect(frames[0].locator("#vis line")).to_have_count(2 * 3 * 3)
    expect(frames[1].locator("#vis line")).to_have_count(2 * 2 * 3 * 3)
    frames[0].get_by_text("[CLS]").first.hover()
    expect(frames[0].locator("#attention line[visibility=visible]")).to_have_count(2 * 3)


def run_the_last(page: Page, panel: Locator, turn: int) -> str:
    """Run the last cell, and return what it prints."""
    panel.locator(".jp-CodeCell .jp-InputArea-editor").last.click()
    page.keyboard.press("Control+Enter")
    output = panel.locator(".jp-OutputArea-output", has_text=f"turn {turn}")
    expect(output).to_be_visible()
    return output.inner_text()


def lives(root: Locator, name: str) -> None:
    """Do with a widget what its example does; the picture follows."""
    example = EXAMPLES[name]
    example.by_keyboard(scoped(root))
    says(root, example.after_keyboard)
    example.by_pointer(scoped(root))
    says(root, example.after_pointer)


def keeps_its_keys(root: Locator) -> None:
    """Press keys that JupyterLab takes for itself elsewhere: `b` inserts a cell."""
    slider = root.locator(".lm-controls :is(input[type=range], select):visible").first
    for place in (root.get_by_role("gridcell").first, slider):
        if not place.count():
            continue
        place.focus()
        for key in ("ArrowDown", "b", "ArrowDown", "ArrowUp"):
            root.page.keyboard.press(key)
            expect(place).to_be_focused()


def copied_as_python(root: Locator) -> str:
    root.get_by_role("button", name="Copy as Python").click()
    return root.get_by_label("Copied text").input_value()


def test_all_live_in_exported_html_from_disk(browser: Browser, tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[_run(it.make()) for it in EXAMPLES.values()])
    offline = {"require_js_url": "", "mathjax_url": "", "jquery_url": "", "mermaid_js_url": ""}
    html, _ = HTMLExporter(**offline).from_notebook_node(notebook)
    path = tmp_path / "exported.html"
    path.write_text(html, encoding="utf-8")
    with open_file(browser, path, touch=True) as it:
        roots = it.page.locator(".lm")
        expect(roots).to_have_count(len(EXAMPLES))
        for place, (name, example) in enumerate(EXAMPLES.items()):
            says(roots.nth(place), example.first)
            lives(roots.nth(place), name)
        assert [url for url in it.requests if url.startswith(("http", "file"))] == []
        assert it.errors == []


def _run(widget: Widget) -> Any:
    """A cell that has run and shows the widget."""
    data, metadata = widget._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", data=data, metadata=metadata)
    return nbformat.v4.new_code_cell(type(widget).__name__, outputs=[output])
