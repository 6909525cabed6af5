"""Random data, good and bad: a picture in the page, or words that say what is wrong and what to do.

Each widget gets 120: sizes, Unicode, extreme values. A page takes every third one after another, as
a notebook whose cell is run again, with keys and clicks between.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from lmcourse.errors import CourseError
from lmcourse.widgets import Widget
from tests.widgets.examples import EXAMPLES
from tests.widgets.hosts import open_file

HOW_MANY = 120
IN_THE_PAGE = 3  # every third: drawing takes most of the time
PAGE = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>Fuzz</title><body><div id="el"></div>
<script type="module">
const url = URL.createObjectURL(new Blob([{module}], {{type: "text/javascript"}}));
const widget = (await import(url)).default;
const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
const KEYS =
  ["ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft", "End", "Home", "Enter", "PageDown"];
window.executed = 0;
window.mount = async (state, seed) => {{
  const model = {{
    get: (name) => state[name], set: (name, value) => {{ state[name] = value; }},
    on() {{}}, off() {{}}, save_changes() {{}}, send() {{}},
  }};
  let at = seed;
  const random = (below) => (at = (at * 48271) % 2147483647) % below;
  const el = document.getElementById("el");
  const end = await widget.render({{model, el}});
  await frame();
  const svg = el.querySelector(".lm-stage svg[role=img]");
  const first = svg.getAttribute("aria-label");
  for (let i = 0; i < 6; i++) {{
    const all = [...el.querySelectorAll(
      ".lm-grid [role=gridcell], .lm-field input, .lm-field select, .lm-buttons button")]
      .filter((it) => !it.closest("[hidden]")); // nothing happens to what is not there
    const it = all[random(all.length)];
    if (it.type === "range") {{
      it.value = random(Number(it.max) + 1);
      it.dispatchEvent(new Event("input"));
      it.dispatchEvent(new Event("change"));
    }} else if (it.type === "text") {{
      it.value = ["", "a b", "\\u202e<b>", "👩‍👩‍👧 x", "1/0", "tanh(a*b)+a"][random(6)];
      it.dispatchEvent(new Event("input"));
    }} else if (it.type === "checkbox") it.click();
    else if (it.tagName === "SELECT") {{
      it.selectedIndex = random(it.options.length);
      it.dispatchEvent(new Event("change"));
    }} else if (it.tagName === "BUTTON") {{
      if (!/Save|Copy/.test(it.textContent)) it.click();
    }} else {{
      const key = KEYS[random(KEYS.length)];
      it.dispatchEvent(new KeyboardEvent("keydown", {{key, bubbles: true}}));
      const box = it.parentNode.parentNode.getBoundingClientRect();
      const place = {{clientX: box.x + random(1000) / 1000 * box.width, bubbles: true,
        clientY: box.y + random(1000) / 1000 * box.height}};
      it.parentNode.parentNode.dispatchEvent(new PointerEvent("pointermove", place));
    }}
  }}
  await frame();
  const last = svg.getAttribute("aria-label");
  const shown = {{
    words: Boolean(first?.trim() && last?.trim()) && !/NaN|undefined|\\[object/.test(first + last),
    box: svg.clientWidth > 100 && svg.clientHeight > 40, marks: svg.querySelectorAll("*").length,
    wrong: [...svg.querySelectorAll("*")].flatMap((node) => [...node.attributes])
      .filter((it) => /NaN|undefined|\\[object/.test(it.value) && it.name !== "aria-label")
      .map((it) => `${{it.name}}=${{it.value}}`).slice(0, 3),
    strange: el.querySelectorAll("script, iframe, img, b, form, object, embed").length,
  }};
  end();
  return {{...shown, left: el.childNodes.length, first}};
}};
window.ready = true;
</script>
"""


@pytest.mark.parametrize("name", EXAMPLES)
def test_random_data_are_shown_or_refused(name, browser: Browser, tmp_path: Path):
    example = EXAMPLES[name]
    module = json.dumps(str(example.make()._esm)).replace("<", "\\u003c")
    path = tmp_path / "fuzz.html"
    path.write_text(PAGE.format(module=module), encoding="utf-8")
    shown = refused = 0
    with open_file(browser, path, width=700) as it:
        it.page.wait_for_function("window.ready")
        for seed in range(HOW_MANY):
            try:
                widget = example.fuzz(Random(seed))()
            except CourseError as error:
                assert error.remedy, f"seed {seed}"
                refused += 1
                continue
            shown += 1
            assert widget.alt.strip()
            widget.to_html().encode("utf-8")
            if seed % IN_THE_PAGE == 0:
                check(it.page, widget, seed)
                assert it.errors == [] and it.requests == [], f"seed {seed}"
        assert it.page.evaluate("executed") == 0, "a token ran as a script"
    assert shown > HOW_MANY / 3, f"only {shown} were shown"
    assert refused > HOW_MANY / 50, f"only {refused} were refused: is there bad input among them?"


def check(page: Page, widget: Widget, seed: int) -> None:
    """Let the page show it, and check what is drawn."""
    found: dict[str, Any] = page.evaluate(
        "([state, seed]) => mount(state, seed)", [widget.state(), seed + 1]
    )
    wanted = {"words": True, "box": True, "wrong": [], "strange": 0, "left": 0}
    assert {key: found[key] for key in wanted} == wanted, f"seed {seed}: {found}"
    assert found["marks"] > 2, f"seed {seed}"
