"""Every slide of a deck as a picture, measured on the way: what an author looks at."""

import base64
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coursekit.book.slides import browser

SIZE = (1280, 720)
_THUMBNAIL, _COLUMNS, _ROWS, _SPACE = (640, 360), 3, 4, 12
_REMEDY = "Open the deck in a browser: `lmcourse slides NN --present`."

# What the present slide shows, with all its fragments: the smallest letters of its text and of its
# figures (those of formulas apart), in pixels of 720, and whether it holds everything.
SHOW = """async (number) => {
  const slide = Reveal.getSlides()[number], {h, v} = Reveal.getIndices(slide);
  Reveal.slide(h, v, 999);
  const drawn = () => slide.querySelector(".lm svg, .lm canvas, .lm .lm-stage *");
  for (let i = 0; slide.querySelector(".live") && !drawn() && i < 100; i += 1) {
    await new Promise((done) => setTimeout(done, 30));
  }
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  for (let i = 0; slide.querySelector("[data-fitting]") && i < 300; i += 1) {
    await new Promise((done) => setTimeout(done, 30));
  }
  await new Promise((done) => setTimeout(done, 60));
  document.getAnimations().forEach((it) => it.finish());
}"""
MEASURE = """() => {
  const sheet = document.querySelector("section.present:not(.stack) .sheet");
  const body = sheet.querySelector(".body");
  const edge = sheet.getBoundingClientRect(), ratio = edge.height / 720;
  const seen = (it) => it.getClientRects().length && getComputedStyle(it).visibility !== "hidden";
  const sizes = [];
  const walker = document.createTreeWalker(sheet, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const at = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !seen(at)) continue;
    if (at.closest(".katex, script, style, details:not([open]) > :not(summary)")) continue;
    const matrix = at.getScreenCTM?.(); // of text in a drawing, which may be turned
    const zoom = matrix ? Math.hypot(matrix.a, matrix.b) / ratio : at.currentCSSZoom;
    sizes.push([parseFloat(getComputedStyle(at).fontSize) * zoom, Boolean(at.closest(".live"))]);
  }
  const smallest = (live) => Math.min(...sizes.filter((it) => it[1] === live).map((it) => it[0]));
  const figures = [...sheet.querySelectorAll(".item[data-smallest]")].map((item) => {
    const it = [...item.querySelectorAll("img, svg.steps")].find(seen);
    const box = it.getBoundingClientRect();
    const [width, height] = ["width", "height"].map((name) => Number(it.getAttribute(name)));
    return item.dataset.smallest * Math.min(box.width / width, box.height / height) / ratio;
  });
  const bottom = (it) => it.getBoundingClientRect().bottom;
  const below = [...sheet.querySelectorAll(".body > *, .column > *")]
    .some((it) => seen(it) && bottom(it) > bottom(body) + 2);
  const wide = [...sheet.querySelectorAll(".equation > .scroll, pre, .table, .column, .body")]
    .some((it) => it.scrollWidth > it.clientWidth + 1);
  const number = (it) => Number.isFinite(it) ? Math.round(it * 10) / 10 : null;
  return {
    title: sheet.querySelector("h1, h2")?.textContent ?? "",
    text: number(smallest(false)),
    widget: number(smallest(true)),
    figure: number(Math.min(...figures)),
    overflows: below || wide || body.classList.contains("scrolls"),
  };
}"""


@dataclass(frozen=True)
class Measured:
    """What a browser found on a slide; sizes of letters in pixels."""

    title: str
    text: float | None
    figure: float | None  # the smallest of a figure's labels
    widget: float | None
    overflows: bool


def pictures(deck: Path, dark: bool = False) -> Iterator[tuple[Measured, bytes]]:
    """Yield what each slide of a deck is like, and its picture (PNG).

    Raises:
        CourseError: there is no browser, or it fails.
    """
    path = browser.require_browser("make pictures of slides", _REMEDY)
    url = deck.absolute().as_uri()
    with browser.opened(path, url, f"made no pictures of {deck}", _REMEDY) as talk:
        width, height = SIZE
        talk("Emulation.setDeviceMetricsOverride", width=width, height=height,
             deviceScaleFactor=1, mobile=False)  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        talk("Emulation.setEmulatedMedia", features=[scheme])
        talk.evaluate("Reveal.configure({transition: 'none'}); Reveal.layout()")
        for number in range(talk.evaluate("Reveal.getTotalSlides()")):
            talk.evaluate(f"({SHOW})({number})")
            found = Measured(**json.loads(talk.evaluate(f"JSON.stringify(({MEASURE})())")))
            image = talk("Page.captureScreenshot", format="png")["data"]
            yield found, base64.b64decode(image)


def contact_sheets(images: Sequence[bytes]) -> Iterator[bytes]:
    """Yield pictures (PNG) of twelve slides each, in rows, with their numbers."""
    most = _COLUMNS * _ROWS
    for first in range(0, len(images), most):
        yield _contact_sheet(images[first : first + most], first + 1)


def _contact_sheet(images: Sequence[bytes], first: int) -> bytes:
    from PIL import Image, ImageDraw

    (width, height), rows = _THUMBNAIL, -(-len(images) // _COLUMNS)
    step = width + _SPACE, height + _SPACE
    whole = Image.new(
        "RGB", (_COLUMNS * step[0] + _SPACE, rows * step[1] + _SPACE), (120, 126, 134)
    )
    draw = ImageDraw.Draw(whole)
    for number, data in enumerate(images):
        x, y = (
            _SPACE + position * size
            for position, size in zip(divmod(number, _COLUMNS)[::-1], step, strict=True)
        )
        with Image.open(io.BytesIO(data)) as image:
            whole.paste(image.convert("RGB").resize(_THUMBNAIL), (x, y))
        y += height - 24
        draw.rectangle((x, y, x + 34, y + 24), fill=(0, 0, 0))
        draw.text((x + 6, y + 4), str(first + number), fill=(255, 255, 255), font_size=16)
    buffer = io.BytesIO()
    whole.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()
