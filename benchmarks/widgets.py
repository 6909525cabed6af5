"""How fast the widgets are: `python -m benchmarks.widgets [--runs 5]`.

Each widget is opened from disk in headless Chromium: from the start of its module to the first
picture, and from the move of a slider to the new one. The table goes to `benchmarks/widgets.md`.
"""

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from benchmarks import tables
from lmcourse.evaluation.gradient_flow import random_network
from lmcourse.widgets import GradientFlow, Widget
from tests.browser import chromium

FIRST_PAINT = 200  # ms
FIGURE = ".lm svg[role=img]"
# The page's own clock: from the module's import to the frame after the picture stands there.
WATCH = """
new MutationObserver((_, self) => {
  const picture = document.querySelector(".lm svg[role=img] image");
  if (!picture) return;
  self.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.painted = performance.now(); }));
}).observe(document, {childList: true, subtree: true});
const create = URL.createObjectURL;
URL.createObjectURL = (it) => { window.began ??= performance.now(); return create(it); };
"""
MOVE = """(name) => new Promise((done) => {
  const input = document.querySelector(`.lm-field:nth-child(${name}) input`);
  const before = document.querySelector(".lm svg[role=img]").getAttribute("aria-label");
  const began = performance.now();
  new MutationObserver((_, self) => {
    self.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  }).observe(document.querySelector(".lm svg[role=img]"), {attributes: true});
  input.stepUp();
  input.dispatchEvent(new Event("input"));
})"""


def cases() -> list[tuple[str, Widget]]:
    network = random_network()
    return [
        ("GradientFlow, chapter 02", GradientFlow(network)),
        ("GradientFlow, clipped", GradientFlow(network, clip=1.0)),
    ]


def measure(page: Page, path: Path) -> tuple[float, float]:
    """Milliseconds to the first paint, and from a move of the first slider to the next one."""
    page.goto("about:blank")
    page.goto(path.as_uri())
    page.wait_for_function("window.painted")
    first = page.evaluate("painted - began")
    moves = [page.evaluate(MOVE, 1) for _ in range(5)]
    return first, statistics.median(moves)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="the median of so many runs counts")
    runs = parser.parse_args().runs
    rows, within = [], True
    with chromium() as browser, tempfile.TemporaryDirectory() as folder:
        page = browser.new_page()
        page.add_init_script(WATCH)
        for name, widget in cases():
            path = Path(folder) / "widget.html"
            widget.save(path)
            paints, moves = zip(*(measure(page, path) for _ in range(runs)), strict=True)
            within &= statistics.median(paints) <= FIRST_PAINT
            sizes = f"{len(str(widget._esm).encode()) / 1e3:.0f} | {len(widget.arrays) / 1e3:.0f}"
            rows.append(
                f"| {name} | {statistics.median(paints):.0f} ({min(paints):.0f}–{max(paints):.0f}) "
                f"| {statistics.median(moves):.0f} | {sizes} |"
            )
            print(rows[-1], flush=True)
        version = browser.version
    facts = (
        f"{os.cpu_count()} cores, headless Chromium {version}, pages from disk; the median of "
        f"{runs} runs (smallest and largest). From the start of the module to the first paint "
        f"(goal: {FIRST_PAINT} ms), from the move of a slider to the new picture, and what travels."
    )
    header = ("widget", "first paint, ms", "slider, ms", "module, kB", "arrays, kB")
    tables.write(__file__, "Speed of the widgets", facts, header, rows)
    return 0 if within else 1


if __name__ == "__main__":
    tables.run(main)
