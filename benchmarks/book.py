"""The book's speed and weight: `python -m benchmarks.book [--runs 5]` writes `benchmarks/book.md`.

A book of 25 executed notebooks is made of the course's own, copied under other numbers; what is
timed is a rebuild in which nothing has to be executed. Pages are opened from disk in Chromium.
"""

import argparse
import copy
import re
import shutil
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks import tables
from coursekit import course
from coursekit.book.build import build_book, parse
from coursekit.book.cache import Executed
from coursekit.book.execute import execute
from coursekit.book.site.site import write_site
from coursekit.outline import Chapter, Part

NOTEBOOKS = 25
REBUILD, WEIGHT, INTERACTIVE = 10.0, 410, 1000  # seconds, kB (each page lists all), milliseconds
_LABEL = re.compile(r"\b((?:eq|fig|tab)-[\w-]+)")
_DATA = re.compile(r"<script\b[^>]*>.*?</script>|<svg\b.*?</svg>", re.DOTALL)
# When the page answers: its script has run, and a click on a button has been handled and painted.
_TIMES = """() => {
    const page = performance.getEntriesByType("navigation")[0];
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    return [paint.startTime, page.domContentLoadedEventEnd, page.loadEventEnd];
}"""


def many(originals: list[Executed]) -> tuple[list[Executed], list[Part]]:
    """Return copies of executed notebooks under 25 numbers, and their outline."""
    copies = []
    for number in range(NOTEBOOKS):
        original = originals[number % len(originals)]
        name = f"{number + 30}-copy-{number}"
        notebook = copy.deepcopy(original.notebook)
        for cell in notebook.cells:  # a label may stand once in a book
            if cell.cell_type == "markdown":
                cell.source = _LABEL.sub(rf"\1-{number}", cell.source)
        source = replace(original.source, number=str(number + 30), slug=name)
        copies.append(replace(original, source=source, notebook=notebook))
    chapters = (
        Chapter(each.source.number, each.source.title, "", (), (each.source,)) for each in copies
    )
    return copies, [Part("Copies", tuple(chapters))]


def rebuild(copies: list[Executed], parts: list[Part]) -> float:
    """Return the seconds that a book takes whose notebooks are executed."""
    folder = Path(tempfile.mkdtemp())
    begin = time.perf_counter()
    try:
        content = parse(copies, parts, folder / "source")
        (folder / "site").mkdir()
        write_site(content, folder / "site")
        return time.perf_counter() - begin
    finally:
        shutil.rmtree(folder)


def weights(page: Path) -> tuple[float, float]:
    """Return a page's kB, as it is and without figures and widgets' data."""
    text = page.read_text(encoding="utf-8")
    bare = _DATA.sub("", text)
    return len(text.encode()) / 1000, len(bare.encode()) / 1000


def openings(page: Path, runs: int) -> list[tuple[float, float, float]]:
    """Return, for each run in a fresh Chromium, milliseconds to first paint, scripts run, all."""
    from tests.browser import chromium_page

    found = []
    for _ in range(runs):
        with chromium_page() as (browser, _):
            browser.goto(page.as_uri(), wait_until="load")
            browser.wait_for_function(
                "performance.getEntriesByName('first-contentful-paint').length"
                " && performance.getEntriesByType('navigation')[0].loadEventEnd"
            )
            found.append(tuple(browser.evaluate(_TIMES)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="the median of so many runs counts")
    runs = parser.parse_args().runs
    index = build_book(lambda line: print(line, flush=True))
    originals = execute(course.sources(), course.products() / "executed", lambda line: None)
    copies, parts = many(originals)
    times = [rebuild(copies, parts) for _ in range(runs)]
    rows = [f"| book of {NOTEBOOKS} notebooks, rebuilt | {_spread(times, 1)} s | {REBUILD:.0f} s |"]
    within = statistics.median(times) <= REBUILD
    for page in sorted(index.parent.glob("*.html")):
        whole, bare = weights(page)
        within &= bare <= WEIGHT
        rows.append(f"| `{page.name}` | {whole:.0f} kB, bare {bare:.0f} kB | {WEIGHT} kB bare |")
    for page in (index, *sorted(index.parent.glob("rec*.html"))):
        paint, ready, loaded = zip(*openings(page, runs), strict=True)
        within &= statistics.median(ready) <= INTERACTIVE
        rows += [
            f"| `{page.name}`: first paint | {_spread(paint)} ms | |",
            f"| `{page.name}`: scripts run | {_spread(ready)} ms | {INTERACTIVE} ms |",
            f"| `{page.name}`: all loaded | {_spread(loaded)} ms | |",
        ]
    print("\n".join(rows))
    facts = (
        f"the median of {runs} runs (smallest and largest). Nothing is executed in a rebuild. "
        '"Bare" is without figures and widgets\' data. Pages are opened from disk.'
    )
    header = ("what", "measured", "goal")
    tables.write(__file__, "The book: speed and weight", facts, header, rows)
    return 0 if within else 1


def _spread(values: "list[float] | tuple[float, ...]", digits: int = 0) -> str:
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{middle:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"


if __name__ == "__main__":
    tables.run(main)
