"""Every widget in a notebook that was saved: alive when it is opened again."""

import json
import urllib.request
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests import browser
from tests.browser import Door
from tests.doors.conftest import make_small
from tests.widgets.examples import EXAMPLES
from tests.widgets.test_every_widget import says
from tests.widgets.test_notebook import HEAD, HEIGHT, LAST, SHOWN, lives, run_the_last, shown

NOTEBOOK = "chapters/02-recurrent.ipynb"


def ask(door: Door, method: str, path: str) -> Any:
    """Send Jupyter's server a request, and return its answer."""
    headers = {"Authorization": f"token {door.token}"}
    request = urllib.request.Request(f"{door.origin}/api/{path}", method=method, headers=headers)
    with urllib.request.urlopen(request, timeout=browser.PATIENCE) as answer:
        return json.loads(answer.read() or "null")


def all_live(panel: Locator) -> None:
    """Each widget is as it was displayed, follows keys and pointer, and none is displayed twice."""
    for name, example in EXAMPLES.items():
        says(shown(panel, name), example.first)
    for name in EXAMPLES:  # all are drawn, so none moves under the pointer
        lives(shown(panel, name), name)
    expect(panel.locator(".lm")).to_have_count(len(EXAMPLES))
    expect(panel.get_by_text("model not found")).to_have_count(0)


def all_follow_the_kernel(page: Page, panel: Locator) -> None:
    """The kernel has the settings of each widget, and sets one of them."""
    states = json.loads(run_the_last(page, panel, 2).splitlines()[0])
    for name, example in EXAMPLES.items():
        first = json.loads(json.dumps(example.make().state()))
        assert states[name] != {key: first[key] for key in states[name]}, name
        shown(panel, name).get_by_role("button", name="Reset").click()
    run_the_last(page, panel, 3)
    for name, example in EXAMPLES.items():
        says(shown(panel, name), example.trait[2])


def test_all_live_when_the_notebook_is_opened_again(tmp_path: Path) -> None:
    course = make_small(tmp_path)
    cells = [SHOWN.format(name=name) for name in EXAMPLES]
    course.write("chapters/02-recurrent.md", "".join([HEAD, *cells, LAST]))
    variables = {"LMCOURSE_ROOT": str(course.root), "PYTHONPATH": str(Path(__file__).parents[2])}
    with (
        browser.chromium_page(touch=True) as (page, seen),
        browser.open_door(tmp_path, **variables) as door,
    ):
        page.set_viewport_size({"width": 1300, "height": HEIGHT * (len(EXAMPLES) + 2)})
        browser.open_notebook(page, door, NOTEBOOK)
        ran = browser.run_all(page, door.workbook / NOTEBOOK)
        assert browser.errors_in(ran) == []

        panel = browser.open_notebook(page, door, NOTEBOOK)  # the kernel still runs
        all_live(panel)
        all_follow_the_kernel(page, panel)

        session = ask(door, "GET", "sessions")[0]
        ask(door, "POST", f"kernels/{session['kernel']['id']}/restart")
        all_live(browser.open_notebook(page, door, NOTEBOOK))
        browser.picture(page, "widgets-reopened")

        ask(door, "DELETE", f"sessions/{session['id']}")
        all_live(browser.open_notebook(page, door, NOTEBOOK))

        changed = json.loads((door.workbook / NOTEBOOK).read_text(encoding="utf-8"))
        changed["cells"][-1]["source"] = "print('from somebody else')"
        foreign = door.workbook / "chapters" / "foreign.ipynb"
        foreign.write_text(json.dumps(changed), encoding="utf-8")
        panel = browser.open_notebook(page, door, "chapters/foreign.ipynb")
        for example in EXAMPLES.values():
            expect(panel.get_by_text(example.make().alt[:60]).first).to_be_visible()
        assert panel.locator(".lm").count() == 0
        assert seen.outside == []
        assert [it for it in seen.errors if "Failed to load resource" not in it] == []
