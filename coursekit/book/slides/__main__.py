"""For authors: what each slide of a chapter holds, what does not fit, and pictures of all of them.

`python -m coursekit.book.slides 08` prints a table, and fills `_build/slides/08-attention/` with
pictures: `all-1.png` and so on of twelve slides each, and one of each slide. `--dark`: dark ones.
"""

import argparse
import shutil

from rich.console import Console
from rich.table import Table

from coursekit import course
from coursekit.book import build
from coursekit.book.slides import browser, layout
from coursekit.book.slides.deck import deck_html
from coursekit.book.slides.images import image_sizes
from coursekit.book.slides.pictures import Measured, contact_sheets, pictures
from coursekit.notebooks import files
from lmcourse.errors import CourseError


def main() -> int:
    """Print the table of each chapter that is named, and write its pictures."""
    parser = argparse.ArgumentParser(prog="python -m coursekit.book.slides", description=__doc__)
    parser.add_argument("chapters", nargs="*", help="chapters, such as 08; all without one")
    parser.add_argument("--dark", action="store_true", help="pictures as on a dark page")
    parser.add_argument("--no-pictures", action="store_true", help="print the table alone")
    options = parser.parse_args()
    sources = [course.chapter(number) for number in options.chapters] or course.sources("chapter")
    found = [_one(it, options.dark, not options.no_pictures) for it in sources]
    return int(any(found))


def _one(source: course.Source, dark: bool, with_pictures: bool) -> int:
    """Report a chapter; return how many faults it has."""
    console = Console(highlight=False, width=118)
    page, content = build.laid_out(source, lambda line: console.print(line, style="dim"))
    sheets = layout.sheets_of(page)
    sizes_of = image_sizes(content.public)
    measured: list[Measured] = []
    if with_pictures and browser.find_browser():
        base = course.products() / "slides" / source.slug
        draft = base.with_suffix(".draft.html")
        files.write(draft, deck_html(page, content, strict=False).encode())
        shutil.rmtree(base, ignore_errors=True)
        images = []
        for found, image in pictures(draft, dark):
            measured.append(found)
            images.append(image)
            files.write(base / f"{len(images):02}.png", image)
        for number, image in enumerate(contact_sheets(images), 1):
            files.write(base / f"all-{number}.png", image)
        console.print(f"Pictures: {base}/all-1.png and further ones, twelve slides each; 01.png, …")
    table = Table(box=None, pad_edge=False)
    for name in ("slide", "title", "words", "lines", "arranged", "text", "figure", "widget", ""):
        table.add_column(name, justify="left" if name in ("title", "arranged", "") else "right")
    for number, sheet in enumerate(sheets, 1):
        seen = measured[number - 1] if measured else Measured("", None, None, None, False)
        share = sheet.arrangement(sizes_of).left
        table.add_row(
            str(number),
            ("  " if sheet.below else "") + (sheet.title or page.title)[:44],
            str(sheet.words),
            str(sheet.lines or ""),
            f"columns {share:.0%}" if share else "",
            *(f"{size:g}" if size else "" for size in (seen.text, seen.figure, seen.widget)),
            "overflows" if seen.overflows else "",
        )
    console.print(table)
    found_faults = list(layout.faults(sheets, sizes_of))
    found_faults += [
        f"slide {number} ({it.title}): the browser finds that it overflows. Show less of it."
        for number, it in enumerate(measured, 1)
        if it.overflows
    ]
    texts = [it.text for it in measured if it.text]
    smallest = f", smallest text {min(texts):g} pixels" if texts else ""
    console.print(f"{source.label}: {len(sheets)} slides{smallest}, {len(found_faults)} faults.")
    for fault in found_faults:
        console.print(f"- {fault}")
    return len(found_faults)


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except CourseError as error:
        raise SystemExit(str(error)) from error
