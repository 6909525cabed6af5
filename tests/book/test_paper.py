"""The book as one PDF and one EPUB, from a small site."""

import io
import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page
from pypdf import PdfReader
from typer.testing import CliRunner

from coursekit import cli, course
from coursekit.book import build
from coursekit.book.paper import pdf, write_paper
from coursekit.book.paper.cover import photograph
from coursekit.book.paper.epub import write_epub
from coursekit.book.paper.print import write_pdf
from coursekit.book.paper.take import Leaf, take
from coursekit.book.slides import browser as installed
from coursekit.repository import Repository
from lmcourse.errors import CourseError
from lmcourse.widgets import Graph
from tests.book.checkout import small  # noqa: F401 - a fixture
from tests.browser import require_chromium

XHTML = "{http://www.w3.org/1999/xhtml}"
OPF = "{http://www.idpf.org/2007/opf}"
WHERE = Repository("https://github.com/ann/course", "main", "gh-pages", "")
ADDRESS = "https://example.org/a/course"
INNER = (794 - 120, 970)  # pixels: A4 without its margins
LONG = "x = " + " + ".join(["a_long_name"] * 20)
SENTENCE = "These words fill a line of the page and some of the next. "
CONTROLS = ("Undo", "Reset", "Copy link", "Save PNG", "Show values", "Step ▶", "Copied", "Open in")
# What a course's pages have, and the small book does not.
EXTRA = f"""
<p><img src="PICTURE" loading="lazy" class="plot by-day" alt="Day"><img src="PICTURE"
loading="lazy" class="plot by-night" alt="Night"></p>
<div class="cell"><div class="code"><pre class="scroll"><code class="language-python">{LONG}
</code></pre><button class="copy">Copy</button></div><div class="outputs">
<div class="output html">WIDGET</div></div></div>
<div class="output"><img src="tall.png" alt="Tall" width="300"></div>
<div class="table"><div class="scroll"><table><tbody><tr>{"<td>column</td>" * 11}</tr></tbody>
</table></div></div>
{"".join(f"<h2>Heading {n}</h2><p>{SENTENCE * (n * n % 13 + 9)}</p>" for n in range(150))}
<div class="equation"><div class="scroll">EQUATION</div></div>
<p>Here <span class="math-inline"><span class="katex"><span class="katex-mathml"><math><mi>log</mi>
<mo>\u2061</mo><mi>p</mi><mpadded width="+0.6em"><mi>q</mi></mpadded></math></span>
</span></span>, too.</p>
"""


@dataclass
class Made:
    """A printed book, and what it was printed from."""

    pdf: Path
    epub: Path
    folder: Path
    leaves: list[Leaf]

    def leaf(self, slug: str) -> Leaf:
        return next(it for it in self.leaves if it.slug == slug)


@pytest.fixture(scope="module")
def made(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    require_chromium()
    folder = tmp_path_factory.mktemp("paper")
    longer = folder / "site"
    shutil.copytree(site, longer)
    page = longer / "everything.html"
    text = page.read_text(encoding="utf-8")
    graph = Graph("(a + b)*a", a=2, b=3, step=0)._repr_mimebundle_()[0]["text/html"]
    equation = re.search(r'<span class="katex-display">.*?</math>.*?(?=</div>)', text, re.DOTALL)
    assert equation
    extra = EXTRA.replace("WIDGET", graph).replace("EQUATION", equation[0])
    extra = extra.replace("PICTURE", next(it.name for it in (longer / "assets").glob("*.png")))
    Image.new("RGB", (300, 2000), "#0072B2").save(longer / "assets" / "tall.png")
    extra = extra.replace('src="', 'src="assets/')
    at = text.index('<nav class="turn"')
    page.write_text(text[:at] + extra + text[at:], encoding="utf-8")
    work = folder / "work"
    shutil.copytree(longer / "assets", work / "assets")
    leaves = list(take(longer, work, lambda line: None, ADDRESS))
    pdf, epub = folder / "book.pdf", folder / "book.epub"
    write_pdf(leaves, work, pdf, leaves[0].title, WHERE)
    picture = photograph(leaves[0], work)
    write_epub(leaves, work, epub, leaves[0].title, WHERE, picture)
    return Made(pdf, epub, work, leaves)


@pytest.fixture
def paper(made: Made, browser: Browser) -> Iterator[Page]:
    """The document that is printed, as wide as a page between its margins."""
    page = browser.new_page(viewport={"width": INNER[0], "height": INNER[1]})
    page.emulate_media(media="print")
    page.goto((made.folder / "book.html").as_uri())
    yield page
    page.close()


def words(markup: str) -> str:
    return " ".join("".join(ElementTree.fromstring(markup).itertext()).split())


def test_the_epub_is_an_epub(made: Made):
    with zipfile.ZipFile(made.epub) as file:
        first = file.infolist()[0]
        assert first.filename == "mimetype" and first.compress_type == zipfile.ZIP_STORED
        package = ElementTree.fromstring(file.read("EPUB/book.opf"))
        listed = {f"EPUB/{item.get('href')}" for item in package.iter(f"{OPF}item")}
        inside = {name for name in file.namelist() if name.startswith("EPUB/")}
        assert inside == listed | {"EPUB/book.opf"}
        assert WHERE.url in file.read("EPUB/book.opf").decode()
        spine = [item.get("idref") for item in package.iter(f"{OPF}itemref")]
        assert spine[:3] == ["cover", "nav", "p-index"] and "p-everything" in spine
        items = package.iter(f"{OPF}item")
        shelf = next(it for it in items if it.get("properties") == "cover-image")
        picture = Image.open(io.BytesIO(file.read(f"EPUB/{shelf.get('href')}"))).convert("L")
        assert picture.size == (1200, 1600) and len(np.unique(np.asarray(picture))) > 20


def test_every_page_is_xhtml_whose_links_and_pictures_are_there(made: Made):
    with zipfile.ZipFile(made.epub) as file:
        names = set(file.namelist())
        pages = {
            name: ElementTree.fromstring(file.read(name)) for name in names if ".xhtml" in name
        }
    anchors = {name: {it.get("id") for it in page.iter()} for name, page in pages.items()}
    links = 0
    for name, page in pages.items():
        assert not list(page.iter(f"{XHTML}script"))
        for image in page.iter(f"{XHTML}img"):
            assert f"EPUB/{image.get('src')}" in names and image.get("alt") is not None
        for link in page.iter(f"{XHTML}a"):
            href = link.get("href") or ""
            if re.match(r"https?:|mailto:", href):
                continue
            target, _, anchor = href.partition("#")
            target = f"EPUB/{target}" if target else name
            assert target in pages, href
            assert not anchor or unquote(anchor) in anchors[target], href
            links += 1
    assert links > 10


def test_formulas_are_mathml_and_answers_are_unfolded(made: Made):
    with zipfile.ZipFile(made.epub) as file:
        page = file.read("EPUB/everything.xhtml").decode()
    assert "<math" in page and "katex" not in page and "<details" not in page
    assert "Show the code" not in page


def test_a_formula_has_what_readers_of_mathml_lack(made: Made):
    """Space after a function's name, no relative widths, and its comma on the same line."""
    page = made.leaf("everything").epub
    assert re.search(r'<mo rspace=".17em">\u2061</mo>', page) and 'width="+' not in page
    assert re.search(
        r'class="math-inline" style="white-space: nowrap;?">.*?</math>,</span> too', page, re.DOTALL
    )


def test_an_equation_gets_smaller_where_a_page_is_narrower_than_it_is(made: Made):
    found = re.findall(r'<math[^>]*style="font-size: max\(.45em, min\(1em, ([\d.]+)vw\)\)"',
                       made.leaf("everything").epub)  # fmt: skip
    assert found and all(float(it) > 0 for it in found)


def test_a_picture_for_dark_pages_is_left_out(made: Made):
    for leaf in made.leaves:
        assert "by-night" not in leaf.epub + leaf.paper and 'alt="Night"' not in leaf.epub
    assert 'alt="Day"' in made.leaf("everything").epub


def test_a_widget_is_a_picture_of_its_whole_figure_alone(made: Made):
    for page in (made.leaf("everything").epub, made.leaf("everything").paper):
        figure = re.search(r'<figure class="widget">.*?</figure>', page, re.DOTALL)
        assert figure and f"{ADDRESS}/everything.html" in figure[0]
        assert "A still picture" in words(figure[0].replace("&nbsp;", " "))
    file = re.search(r'src="(assets/everything-\d+\.png)"', made.leaf("everything").epub)
    assert file
    ink = np.asarray(Image.open(made.folder / file[1]).convert("L")) < 200
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    around = [rows[0], columns[0], ink.shape[0] - 1 - rows[-1], ink.shape[1] - 1 - columns[-1]]
    assert all(2 <= it <= 30 for it in around), f"cut off, or not where the figure is: {around}"


def test_a_graph_on_paper_has_done_its_passes(made: Made):
    page = made.leaf("everything").epub
    alternative = re.search(r'<img alt="([^"]*)"[^>]*src="assets/everything-', page)
    assert alternative and "10" in alternative[1], "the value of (2 + 3) · 2"


def test_nothing_that_only_a_screen_can_do_is_printed(made: Made):
    for leaf in made.leaves:
        for page in (leaf.epub, leaf.paper):
            assert "<button" not in page and "<script" not in page and "<select" not in page
            shown = words(page)
            assert not [it for it in CONTROLS if it in shown], leaf.slug


def test_nothing_is_wider_than_a_page(paper: Page):
    assert paper.evaluate("document.documentElement.scrollWidth") <= INNER[0] + 1
    line = paper.evaluate("""() => {
      const all = [...document.querySelectorAll("code")];
      const it = all.find((each) => each.textContent.includes("a_long_name"));
      return [it.getBoundingClientRect().right, getComputedStyle(it).fontSize];
    }""")
    assert line[0] <= INNER[0] and float(line[1][:-2]) < 11


def test_short_code_and_tables_stay_on_one_page(paper: Page):
    kept = """(name) => [...document.querySelectorAll(name)].filter(
      (it) => getComputedStyle(it).breakInside === "avoid").length"""
    assert paper.evaluate(kept, "#everything .table") and paper.evaluate(kept, "#everything .code")


def test_no_picture_is_higher_than_a_page(paper: Page):
    paper.evaluate("Promise.all([...document.images].map((it) => it.decode()))")
    heights = paper.evaluate("[...document.images].map((it) => it.getBoundingClientRect().height)")
    assert heights and max(heights) < INNER[1] - 60


def test_the_height_of_a_page_is_whole_pixels():
    """Else the upper edge of a box is drawn at the bottom of the last page, too."""
    style = (course.root() / "coursekit/book/paper/paper.css").read_text(encoding="utf-8")
    found = re.search(r"margin: (\d+)px \d+px calc\(297mm - (\d+)px\)", style)
    assert found and int(found[2]) - int(found[1]) == INNER[1]


def test_no_heading_is_at_the_end_of_a_page(made: Made):
    entries = pdf.bookmarks(PdfReader(made.pdf))
    places = [entry["/Dest"] for entry in entries]
    lowest = min(float(place[3]) for place in places if place[1] == "/XYZ")
    assert len(places) > 120 and lowest > 57 + 50, "points: the margin, and some lines"


def test_the_pdf_has_bookmarks_and_says_what_it_is(made: Made):
    printed = PdfReader(made.pdf)
    assert len(printed.pages) >= 4
    names = [entry["/Title"] for entry in pdf.bookmarks(printed)]
    assert names[:3] == ["A small book", "Contents", "A small book"] and "Heading 7" in names
    assert "Chapter 02: Second" in names, "with its number, once, and with its spaces"
    root = printed.root_object
    assert root["/Lang"] == "en" and root["/MarkInfo"]["/Marked"].value
    assert root["/ViewerPreferences"]["/DisplayDocTitle"].value
    assert root["/PageMode"] == "/UseOutlines"
    about = printed.metadata
    assert about.author and about.subject and about.title


def test_the_contents_and_the_glossary_name_pages(made: Made):
    numbers = pdf.numbers(made.pdf.read_bytes())
    assert 1 < numbers["everything"] < numbers["second"] <= len(PdfReader(made.pdf).pages)
    document = (made.folder / "book.html").read_text(encoding="utf-8")
    for leaf in made.leaves:
        assert f'data-page="{leaf.slug}"' in document and leaf.slug in numbers


def test_another_number_of_titles_is_refused(made: Made):
    with pytest.raises(ValueError, match=r"bookmarks for 1 heading"):
        pdf.with_titles(made.pdf.read_bytes(), ["One"], {})


def test_an_interruption_leaves_the_last_book(site: Path, tmp_path: Path, monkeypatch):
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    pdf, epub = tmp_path / "book.pdf", tmp_path / "book.epub"
    pdf.write_bytes(b"last"), epub.write_bytes(b"last")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules[take.__module__], "_pictures", interrupted)
    require_chromium()
    with pytest.raises(KeyboardInterrupt):
        write_paper(copy, pdf, epub, WHERE, lambda line: None)
    assert pdf.read_bytes() == epub.read_bytes() == b"last"
    assert sorted(it.name for it in tmp_path.iterdir()) == ["book.epub", "book.pdf", "site"]


@pytest.fixture
def unexecuted(small, monkeypatch):  # noqa: F811
    """A small course of which nothing may be executed."""
    monkeypatch.setattr(build, "execute", lambda *_: pytest.fail("a notebook was executed"))
    return small


def run(*arguments: str) -> None:
    CliRunner().invoke(cli.app, ["book", *arguments], catch_exceptions=False)


def test_without_a_browser_nothing_is_executed_for_a_book(unexecuted, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(installed, "_ELSEWHERE", ())
    for option in ("--pdf", "--epub"):
        with pytest.raises(CourseError, match="no browser here that can print the book") as caught:
            run(option)
        assert "Install Chromium" in caught.value.remedy


def test_a_file_that_cannot_be_written_is_named_first(unexecuted, monkeypatch, tmp_path):
    monkeypatch.setattr(installed, "find_browser", lambda: tmp_path)
    (unexecuted.root / "_build" / "book.pdf").mkdir(parents=True)
    with pytest.raises(CourseError, match=r"book\.pdf could not be written") as caught:
        run("--pdf")
    assert "writable" in caught.value.remedy


def test_options_that_do_not_go_together_are_named(unexecuted):
    with pytest.raises(CourseError, match="--watch writes pages in the course"):
        run("--watch", "--pdf")
    with pytest.raises(CourseError, match="not from book-theme"):
        run("--theme", "book-theme", "--epub")
