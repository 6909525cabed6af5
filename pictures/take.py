"""Take the README's pictures anew: `make pictures`.

Chapter 02 is run, lab 02 answered wrongly, the book built and its slides made.
"""

import io
import json
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page

from coursekit import course
from coursekit.book.build import build_book
from coursekit.notebooks.workbook import lay_out
from tests import browser

HERE = Path(__file__).parent
KILOBYTES = 200
SIZE = {"width": 1180, "height": 860}


def take(page: Page, name: str, part: Locator) -> None:
    """Save a picture of a part of the page, in few enough colors to stay small."""
    picture = Image.open(io.BytesIO(part.screenshot())).convert("RGB").quantize(256)
    path = HERE / f"{name}.png"
    picture.save(path, optimize=True)
    size = path.stat().st_size / 1000
    print(f"{path.name}: {size:.0f} kB")
    if size > KILOBYTES:
        raise SystemExit(f"{path.name} is larger than {KILOBYTES} kB: make SIZE smaller.")


def bring_to_top(page: Page, panel: Locator, words: str) -> None:
    """Scroll the notebook until a heading with these words stands at its top."""
    heading = panel.locator("h2", has_text=words).first
    for _page in browser.leaf(page):
        if heading.count():
            for _again in range(5):  # cells above come into being meanwhile, and push it down
                heading.evaluate("it => it.scrollIntoView({block: 'start'})")
                page.wait_for_timeout(1000)
            return
    raise SystemExit(f"There is no heading {words!r} in this notebook.")


def answer_wrongly(notebook: Path) -> None:
    """Fill the first exercise in as a student might: the sum where the mean should be."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    cell = next(c for c in content["cells"] if "def perplexity" in "".join(c["source"]))
    lines = "".join(cell["source"]).splitlines()
    body = next(i for i, line in enumerate(lines) if "Your code here" in line)
    lines[body : body + 2] = ["    return math.exp(-log_probabilities.sum())"]
    cell["source"] = "\n".join(lines)
    notebook.write_text(json.dumps(content), encoding="utf-8")


def main() -> None:
    chapter, lab = course.select("02")
    with tempfile.TemporaryDirectory() as folder:
        workbook = Path(folder) / "workbook"
        lay_out(workbook)
        answer_wrongly(workbook / "labs" / f"{lab.slug}.ipynb")
        with (
            browser.chromium_page() as (page, _seen),
            browser.open_door(Path(folder)) as door,
        ):
            page.set_viewport_size(SIZE)
            page.goto(door.url)
            page.get_by_role("link", name="Chapter 02").wait_for()
            page.wait_for_timeout(3000)
            take(page, "start", page.locator("#main"))

            name = f"labs/{lab.slug}.ipynb"
            panel = browser.open_notebook(page, door, name)
            browser.run_all(page, door.workbook / name)
            bring_to_top(page, panel, "Perplexity")
            take(page, "check", panel)

            name = f"chapters/{chapter.slug}.ipynb"
            panel = browser.open_notebook(page, door, name)
            browser.run_all(page, door.workbook / name)
            bring_to_top(page, panel, "Backpropagation through time")
            take(page, "chapter", panel)
    take_the_book()


def take_the_book() -> None:
    """Take the landing page, three widgets on their pages and a slide, from disk."""
    site = build_book(print).parent
    with browser.chromium_page() as (page, _seen):
        page.set_viewport_size({"width": 1180, "height": 700})
        page.goto((site / "index.html").as_uri())
        take(page, "book", page.locator("html"))
        page.goto((site / "recurrent-language-models.html").as_uri())
        page.locator(".lm svg").last.wait_for()
        page.set_viewport_size({"width": 1180, "height": 1700})
        take(page, "widget", page.locator(".lm").last)
        page.goto((site / "attention-heads.html").as_uri())
        page.locator(".lm svg").first.wait_for()
        page.locator(".lm").first.evaluate("it => it.scrollIntoView({block: 'center'})")
        take(page, "attention", page.locator(".lm").first)
        page.goto((site / "graph.html").as_uri())
        page.locator(".lm svg").first.wait_for()
        take(page, "graph", page.locator(".lm").nth(1))
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto((site / "slides" / "02-recurrent-language-models.html").as_uri())
        page.wait_for_selector("html[data-ready]")
        page.evaluate("""() => {
            const widget = [...document.querySelectorAll(".live")].at(-1);
            const {h, v} = Reveal.getIndices(widget.closest("section"));
            Reveal.slide(h, v);
        }""")
        page.wait_for_timeout(1500)
        take(page, "slide", page.locator("html"))


if __name__ == "__main__":
    main()
