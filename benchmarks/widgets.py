"""How fast and how large the widgets are: `python -m benchmarks.widgets [--runs 5]`.

Each widget is opened from disk in headless Chromium, then on a page that stands for Jupyter. Two
tables go to `benchmarks/widgets.md`: every widget against the budgets of all, and AttentionHeads
beside bertviz, as the course ships it but without its limit of size, on the same weights.
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Error, Frame, Page

from benchmarks import tables
from lmcourse.evaluation.gradient_flow import random_network
from lmcourse.widgets import AttentionHeads, GradientFlow, Widget, bertviz
from tests.browser import chromium
from tests.widgets.examples import EXAMPLES
from tests.widgets.hosts import host_page

MODULE, STATE, REFUSED = 25 * 1024, 300 * 1024, 4_000_000  # bytes
FIRST_PAINT, LARGE_PAINT = 200, 1000  # ms; the second at 12 × 12 heads of 512 tokens
PATIENCE = 180  # seconds for one page
SIZES = (16, 32, 64, 128)

# In every frame: when its picture stood there for a frame. In the top one: when the module began.
WATCH = """
{
  const drawn = () => document.querySelector(".lm-stage svg[role=img][aria-label], #vis svg line");
  const observer = new MutationObserver(() => {
    if (!drawn()) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => {
      window.painted = performance.now();
      window.paintedAt = performance.timeOrigin + painted;
    }));
  });
  observer.observe(document, {childList: true, subtree: true, attributes: true,
    attributeFilter: ["aria-label"]});
  const create = URL.createObjectURL;
  URL.createObjectURL = (it) => { window.began ??= performance.now(); return create(it); };
}
"""
FRAME = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
# A setting that a kernel sends, until its picture stands there.
CHANGE = f"""async ([name, value]) => {{
  const began = performance.now();
  kernel(name, value);
  await {FRAME};
  await {FRAME};
  return performance.now() - began;
}}"""
# The pointer at eight places of the largest grid, each until the frame after.
POINT = f"""async () => {{
  const grids = [...document.querySelectorAll(".lm-grid")]
    .map((it) => [it, it.getBoundingClientRect()]);
  if (!grids.length) return [];
  const size = ([, {{width, height}}]) => width * height;
  const [grid, box] = grids.reduce((a, b) => (size(a) >= size(b) ? a : b));
  const took = [];
  for (let i = 1; i <= 8; i++) {{
    const place = {{clientX: box.x + 0.02 * box.width, clientY: box.y + (i / 9) * box.height}};
    const began = performance.now();
    grid.dispatchEvent(new PointerEvent("pointermove", {{...place, bubbles: true}}));
    await {FRAME};
    took.push(performance.now() - began);
  }}
  return took;
}}"""
# bertviz's: the tokens on the left; in its model view after a click on a head.
BERTVIZ_POINT = f"""async () => {{
  const click = (it) => it.dispatchEvent(new MouseEvent("click", {{bubbles: true}}));
  const head = document.querySelector(".attn_background");
  if (head) click(head.parentNode.lastChild);
  await {FRAME};
  const all = [...document.querySelectorAll("#left text, text.token")];
  const took = [];
  for (const it of all.slice(0, all.length / (head ? 2 : 1)).slice(0, 8)) {{
    const began = performance.now();
    it.dispatchEvent(new MouseEvent("mouseover", {{bubbles: true}}));
    await {FRAME};
    took.push(performance.now() - began);
  }}
  return took;
}}"""


@dataclass
class Times:
    """Milliseconds of some runs; why there are none, if there are none."""

    took: list[float] = field(default_factory=list)
    trouble: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.took) if self.took else float("inf")

    def __str__(self) -> str:
        if not self.took:
            return self.trouble or "–"
        if len(self.took) == 1:
            return f"{self.median:,.0f}"
        return f"{self.median:,.0f} ({min(self.took):,.0f}–{max(self.took):,.0f})"


@dataclass
class Measured:
    """What one page took."""

    bytes: int
    nodes: int = 0
    module: Times = field(default_factory=Times)  # from the start of the module to the first paint
    page: Times = field(default_factory=Times)  # from the start of the page
    point: Times = field(default_factory=Times)


@contextlib.contextmanager
def opened(browser: Browser) -> Iterator[Page]:
    """A page that is watched."""
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    page.add_init_script(WATCH)
    try:
        yield page
    finally:
        context.close()


def look(browser: Browser, path: Path, script: str, runs: int) -> Measured:
    """Open a page some times; give up after `PATIENCE` seconds, and say so."""
    found = Measured(path.stat().st_size)
    for _ in range(runs):
        began = time.monotonic()
        try:
            with opened(browser) as page:
                page.goto(path.as_uri(), wait_until="commit")
                frame = painted(page, began + PATIENCE)
                start = asked(page.main_frame, "performance.timeOrigin")
                found.page.took.append(asked(frame, "paintedAt") - start)
                if frame is page.main_frame:
                    found.module.took.append(asked(frame, "painted - began"))
                found.nodes = asked(frame, "document.querySelectorAll('body *').length")
                asked(frame, f"(({script})().then((took) => {{ window.took = took; }}), true)")
                found.point.took += asked(frame, "window.took")
        except (Error, TimeoutError) as error:
            late = isinstance(error, TimeoutError) or "Timeout" in str(error)
            trouble = f"> {PATIENCE} s" if late else "the page crashed"
            for times in (found.page, found.point):
                times.trouble = trouble
            break
    return found


def asked(frame: Frame, expression: str) -> Any:
    """What an expression is in the frame, once it is something; `evaluate` would wait for ever."""
    return frame.wait_for_function(
        f"() => {{ const it = {expression}; return it && [it]; }}"
    ).evaluate("([it]) => it")


def painted(page: Page, deadline: float) -> Frame:
    """The frame with the picture, once it has been painted."""
    while time.monotonic() < deadline:
        frame = page.frames[-1]
        with contextlib.suppress(Error):  # it is not there yet
            frame.wait_for_function("window.painted", timeout=1000)
            return frame
    raise TimeoutError


def changes(browser: Browser, path: Path, name: str, values: Sequence[Any]) -> Times:
    """From a setting that a kernel sends to the picture, back and forth."""
    with opened(browser) as page:
        page.goto(path.as_uri())
        page.wait_for_function("window.kernel && window.painted")
        return Times([page.evaluate(CHANGE, [name, value]) for value in [*values] * 3])


def attention(tokens: int) -> tuple[Any, list[str]]:
    """Weights of 12 × 12 heads as a trained model's: some keys get most of a row."""
    scores = 3 * np.random.default_rng(0).standard_normal((12, 12, tokens, tokens), np.float32)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True), [f"token{i}" for i in range(tokens)]


def cases() -> Iterator[tuple[str, Callable[[], Widget], str, Any, float]]:
    """Each widget: its label, how it is made, a setting, its other value, the goal of its paint."""
    for example in EXAMPLES.values():
        name, value, _ = example.trait
        yield f"{example.name}, example", example.make, name, value, FIRST_PAINT
    network = random_network()
    yield "GradientFlow, 60 × 32", lambda: GradientFlow(network), "step", 30, FIRST_PAINT
    yield (
        "GradientFlow, 60 × 32, clipped",
        lambda: GradientFlow(network, clip=1.0),
        "spectral_radius",
        1.5,
        FIRST_PAINT,
    )
    for tokens, goal in ((128, FIRST_PAINT), (512, LARGE_PAINT)):
        label = f"AttentionHeads, 12 × 12 × {tokens}"
        yield label, lambda tokens=tokens: AttentionHeads(*attention(tokens)), "head", 5, goal


def every_widget(browser: Browser, folder: Path, runs: int) -> tuple[list[str], bool]:
    """The first table, and whether every budget is kept."""
    rows, within = [], True
    for label, make, name, value, goal in cases():
        widget = make()
        module, state = len(str(widget._esm).encode()), len(json.dumps(widget.state()))
        widget.save(folder / "widget.html")
        seen = look(browser, folder / "widget.html", POINT, runs)
        jupyter = host_page("jupyter", widget, folder)
        change = changes(browser, jupyter, name, (value, getattr(widget, name)))
        most = STATE if label.endswith("example") else REFUSED / 3 * 4 + STATE  # in base64
        kept = (
            module <= MODULE
            and state <= most
            and min(seen.module.took, default=float("inf")) <= goal
        )
        within &= kept
        rows.append(
            f"| {label} | {module / 1024:.1f} | {state / 1024:,.0f} | {seen.module} | {goal} | "
            f"{change} | {seen.point} | {seen.nodes:,} | {'yes' if kept else 'no'} |"
        )
        print(rows[-1], flush=True)
    return rows, within


def beside_bertviz(browser: Browser, folder: Path, runs: int) -> list[str]:
    """The second table: what each takes for the same weights, and how much more bertviz does."""
    bertviz.MOST_LINES = bertviz.MOST_WEIGHTS = sys.maxsize
    rows = []
    for tokens in SIZES:
        data = attention(tokens)
        turns = runs if tokens <= 32 else 1
        own = None
        for label, made, script in (
            ("AttentionHeads", AttentionHeads(*data), POINT),
            ("bertviz, head view", bertviz.head_view(*data), BERTVIZ_POINT),
            ("bertviz, model view", bertviz.model_view(*data), BERTVIZ_POINT),
        ):
            made.save(folder / "view.html")
            del made
            seen = look(browser, folder / "view.html", script, runs if own is None else turns)
            own = own or seen
            rows.append(
                f"| {tokens} | {label} | {seen.bytes / 1e6:,.2f}{ratio(seen.bytes, own.bytes)} | "
                f"{seen.nodes:,}{ratio(seen.nodes, own.nodes)} | "
                f"{seen.page}{ratio(seen.page.median, own.page.median)} | "
                f"{seen.point}{ratio(seen.point.median, own.point.median)} |"
            )
            print(rows[-1], flush=True)
    return rows


def ratio(value: float, own: float) -> str:
    """How many times more than AttentionHeads takes."""
    if not 0 < value < float("inf") or value == own:
        return ""
    times = value / own
    return f" · {times:,.0f}×" if times >= 10 else f" · {times:.1f}×"


def busy() -> str:
    """How much ran on the machine, where that can be asked."""
    return f" (load {os.getloadavg()[2]:.0f})" if hasattr(os, "getloadavg") else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="the median of so many runs counts")
    runs = parser.parse_args().runs
    with chromium() as browser, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows, within = every_widget(browser, folder, runs)
        against = beside_bertviz(browser, folder, runs)
        version = browser.version
    facts = (
        f"{os.cpu_count()} cores{busy()}, headless Chromium {version}, pages from disk, 1,000 "
        f"pixels wide; medians of {runs} runs (smallest–largest). Paint: from the start of the "
        "module to the frame after its picture. Change: from a setting that a kernel sends to the "
        "second frame after. Pointing: from a move of the pointer to the frame after; a frame "
        f"alone is 16 ms. Budgets: module {MODULE / 1024:.0f} kB, state {STATE / 1024:.0f} kB on "
        "a page (up to 4 MB of arrays are taken), paint as in its column; the fastest run is held "
        "to it, since all times are a clock's and other work slows the rest."
    )
    header = (
        "widget",
        "module, kB",
        "state, kB",
        "paint, ms",
        "goal",
        "change, ms",
        "pointing, ms",
        "nodes",
        "within",
    )
    columns = ("tokens", "view", "page, MB", "nodes", "paint, ms", "pointing, ms")
    rows += [
        "",
        "## AttentionHeads beside bertviz",
        "",
        "12 × 12 heads, the same weights. Here paint counts from the start of the page. bertviz is "
        "as `lmcourse.widgets.bertviz` ships it, whose limit of size is lifted for this table: the "
        "course refuses it what is slow here. · says how many times more it takes; above 32 tokens "
        f"it runs once, and a page that takes longer than {PATIENCE} s is given up.",
        "",
        tables.head(columns),
        *against,
    ]
    tables.write(__file__, "Speed of the widgets", facts, header, rows)
    return 0 if within else 1


if __name__ == "__main__":
    tables.run(main)
