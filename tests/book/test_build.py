"""``lmcourse book`` as a whole: what it makes, and that a failed build leaves the last book."""

import http.server
import io
import json
import os
import re
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from filelock import FileLock

from coursekit import course
from coursekit.book import build
from coursekit.book.build import build_book
from lmcourse.errors import CourseError
from tests.book.checkout import CHAPTER, executed, executed_once, small  # noqa: F401 - fixtures

uses_executed = pytest.mark.usefixtures("executed")


def make(**options):
    return build_book(lambda line: None, **options)


def texts(folder: Path) -> str:
    return "\n".join(p.read_text(encoding="utf-8") for p in sorted(folder.rglob("*.html")))


@uses_executed
def test_the_book(small):  # noqa: F811
    index = make()
    site = index.parent
    assert index == small.root / "_build" / "site" / "index.html"
    page = (site / "recurrent.html").read_text(encoding="utf-8")
    assert "42" in page and "Elman" in page and 'class="katex' in page
    assert 'aria-label="Link to equation 2.1"' in page and ">(2.1)</a>, after" in page
    first = BeautifulSoup(index.read_text(encoding="utf-8"), "html.parser")
    assert [each.get_text() for each in first.select(".card-title")] == [
        "02 Recurrent language models"
    ]
    assert "01 Backpropagation (planned)" in first.select_one("details").get_text()
    assert "The secret is" not in texts(site)
    assert not list((small.root / "_build").glob("book-work-*"))


@uses_executed
def test_solutions_where_the_instructor_allows(small):  # noqa: F811
    site = make(show_solutions=True).parent
    assert "The secret is" in texts(site)
    site = make().parent
    assert "The secret is" not in texts(site), "a book for students follows one for instructors"


@uses_executed
def test_absolute_addresses_follow_the_base_url(small):  # noqa: F811
    site = make(base_url="https://example.org/a/course/").parent
    sitemap = (site / "sitemap.xml").read_text(encoding="utf-8")
    assert "<loc>https://example.org/a/course/recurrent.html</loc>" in sitemap
    page = (site / "recurrent.html").read_text(encoding="utf-8")
    assert 'property="og:url" content="https://example.org/a/course/recurrent.html"' in page
    assert "https://example.org/a/course/sitemap.xml" in (site / "robots.txt").read_text()
    assert "/a/course/assets/" in (site / "404.html").read_text(encoding="utf-8")


LINKED = (
    CHAPTER
    + """
It keeps the **hidden state** $h_t$ (see [lab 02](../labs/02-lab-recurrent.md)).
"""
)


@uses_executed
def test_links_and_terms(small):  # noqa: F811
    lab = small.root / "labs" / "02-lab-recurrent.md"
    refers = "{term}`states <hidden state>` of [chapter 02](../chapters/02-recurrent.md)"
    lab.write_text(lab.read_text("utf-8").replace("# Lab 02", f"# Lab 02\n\n{refers}"), "utf-8")
    small.write("chapters/02-recurrent.md", LINKED)
    index = small.root / "index.md"
    index.write_text(f"{index.read_text('utf-8')}\nSee the [glossary](glossary.md).\n", "utf-8")
    site = make().parent
    chapter, lab, glossary, first = (
        BeautifulSoup((site / f"{name}.html").read_text("utf-8"), "html.parser").main
        for name in ("recurrent", "lab-recurrent", "glossary", "index")
    )
    assert chapter.select_one("strong > #definition-hidden-state").get_text() == "hidden state"
    assert chapter.find("a", string="lab 02")["href"] == "lab-recurrent.html"
    assert lab.find("a", string="chapter 02")["href"] == "recurrent.html"
    term = lab.find("a", string="states")
    assert term["href"] == "glossary.html#term-hidden-state"
    assert term["title"] == "It keeps the hidden state hₜ (see lab 02)."
    assert glossary.select_one("dt#term-hidden-state").get_text() == "Hidden state"
    links = {each.get_text(): each["href"] for each in glossary.select("dd a")}
    assert links["lab 02"] == "lab-recurrent.html"
    where = "Chapter 02: Recurrent language models"
    assert links[where] == "recurrent.html#definition-hidden-state"
    assert not glossary.select("a[download]")
    assert first.find("a", string="glossary")["href"] == "glossary.html"
    offered = (site / "downloads" / "02-recurrent.md").read_text("utf-8")
    assert "**hidden state** $h_t$ (see [lab 02](../labs/02-lab-recurrent.md))" in offered
    laid = (site / "downloads" / "02-recurrent.ipynb").read_text("utf-8")
    assert "[lab 02](../labs/02-lab-recurrent.ipynb)" in laid
    found = (site / "search-index.js").read_text("utf-8")
    assert '"url":"glossary.html"' in found and "{span" not in found and ".md" not in found


@uses_executed
def test_a_notebook_that_is_offered_links_to_the_book(small):  # noqa: F811
    small.write("chapters/02-recurrent.md", LINKED + "\nSee [it](../glossary.md).\n")
    site = make(base_url="https://example.org/a/course").parent
    offered = (site / "downloads" / "02-recurrent.ipynb").read_text("utf-8")
    assert "[lab 02](https://example.org/a/course/lab-recurrent.html)" in offered
    assert "[it](https://example.org/a/course/glossary.html)" in offered


@pytest.mark.parametrize("url", ["example.org", "ftp://example.org", "/course", "https://"])
def test_a_base_url_that_is_none(small, url):  # noqa: F811
    with pytest.raises(CourseError) as caught:
        make(base_url=url)
    assert repr(url) in caught.value.cause and "BASE_URL=https://" in caught.value.remedy


FAULTS = {
    "a cell that fails": (CHAPTER.replace("6 * 7", "6 / 0"), "ZeroDivisionError"),
    "a broken reference": (CHAPTER + "\nSee {eq}`eq-none`.\n", "eq-none"),
    "a broken link to a page": (CHAPTER + "\n[There](./03-nowhere.md).\n", "03-nowhere"),
    "an unknown term": (CHAPTER + "\nA {term}`gate`.\n", "“gate”"),
    "a term defined twice": (CHAPTER + "\nA **gate** is one.\n\nA **gate** is two.\n", "“gate”"),
    "a missing work": (CHAPTER + "\n{cite:p}`nobody2020`\n", "nobody2020"),
    "a drawing without words": (CHAPTER + "\n![](drawn.svg)\n", "drawn"),
    "an output without words": (
        CHAPTER
        + "\n```{code-cell} ipython3\nimport matplotlib.pyplot as plt\n\nplt.plot([1, 2]);\n```\n",
        "alternative text",
    ),
}


@uses_executed
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_fails_the_build_and_leaves_the_last_book(small, fault):  # noqa: F811
    site = small.root / "_build" / "site"
    site.mkdir(parents=True)
    (site / "index.html").write_text("the last book")
    text, named = FAULTS[fault]
    (small.root / "chapters" / "drawn.svg").write_text(
        "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><circle r='4'/></svg>"
    )
    small.write("chapters/02-recurrent.md", text)
    with pytest.raises(CourseError) as caught:
        make()
    assert named in caught.value.cause, caught.value
    assert "recurrent" in caught.value.cause, caught.value
    assert [path.name for path in site.iterdir()] == ["index.html"]
    assert (site / "index.html").read_text() == "the last book"
    assert not list((small.root / "_build").glob("book-work-*"))


@pytest.mark.parametrize("killed", ["before", "between", "after"])
def test_a_killed_build_is_swept_up(small, killed):  # noqa: F811
    products = small.root / "_build"
    (products / "book-work-x" / "site").mkdir(parents=True)
    last = products / ("site.last" if killed != "before" else "site")
    last.mkdir()
    (last / "index.html").write_text("the last book")
    if killed == "after":
        (products / "site").mkdir()
        (products / "site" / "index.html").write_text("the new book")
    with build.workplace():
        pass
    expected = "the new book" if killed == "after" else "the last book"
    assert (products / "site" / "index.html").read_text() == expected
    assert sorted(path.name for path in products.iterdir() if path.is_dir()) == ["site"]


@pytest.mark.parametrize(
    ("where", "character"), [("folder", "#"), ("file", "#"), ("file", "?"), ("file", "%")]
)
def test_a_path_that_mystmd_would_misread_is_named_first(
    small,  # noqa: F811
    tmp_path,
    monkeypatch,
    where,
    character,
):
    def execute(*arguments):
        raise AssertionError("a notebook was executed")

    monkeypatch.setattr(build, "execute", execute)
    if where == "folder":
        root = small.root.rename(tmp_path / f"a{character}b")
        monkeypatch.setenv("LMCOURSE_ROOT", str(root))
    else:
        small.write(f"chapters/03-a{character}b.md", CHAPTER)
    (source,) = (each for each in course.sources("chapter") if each.number == "02")
    for command in (make, lambda: build.build_slides(source, print)):
        with pytest.raises(CourseError, match=re.escape(repr(character))) as caught:
            command()
        assert f"a{character}b" in caught.value.cause and "Rename" in caught.value.remedy


def test_one_build_at_a_time(small):  # noqa: F811
    (small.root / "_build").mkdir()
    with (
        FileLock(small.root / "_build" / "book.lock"),
        pytest.raises(CourseError, match="Another command is building"),
    ):
        make()


def test_a_folder_that_may_not_be_written(small, unprivileged):  # noqa: F811
    (small.root / "_build").mkdir()
    (small.root / "_build").chmod(0o555)
    try:
        with pytest.raises(CourseError, match="may not write"):
            make()
    finally:
        (small.root / "_build").chmod(0o755)


def test_a_file_where_the_folder_of_products_should_be(small):  # noqa: F811
    (small.root / "_build").write_text("")
    with pytest.raises(CourseError, match="_build is a file, but a folder is needed there"):
        make()


def test_the_command(small):  # noqa: F811
    done = subprocess.run(
        [sys.executable, "-m", "lmcourse", "book", "--base-url", "nonsense"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[0].startswith("'nonsense' is not a URL")


SERVER = """\
import http from "node:http";
const { HOST, PORT, CONTENT_CDN_PORT, BASE_URL = "" } = process.env;
const content = (path) => fetch(`http://localhost:${CONTENT_CDN_PORT}${path}`);
http.createServer(async (request, response) => {
  const path = new URL(request.url, "http://x").pathname.replace(BASE_URL, "");
  const name = path === "/" ? "/index" : path.replace(".json", "");
  const found = await content(`/content${name}.json`);
  if (path.endsWith(".json")) return response.end(await found.text());
  if (path.includes(".")) return response.end("a file of the theme");
  const page = found.ok ? await found.json() : { frontmatter: { title: "none" } };
  response.end(`<html><head></head><body>fetched theme: ${page.frontmatter.title}</body></html>`);
}).listen(Number(PORT), HOST, () => console.log(`http://${HOST}:${PORT}`));
"""


@pytest.fixture
def templates(monkeypatch):
    """A server on loopback that speaks as the templates' own: its listing, then an archive."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        start = {"install": "node --version", "start": "node server.mjs"}
        file.writestr("template.yml", json.dumps(
            {"myst": "v1", "kind": "site", "title": "Fetched", "build": start}))  # fmt: skip
        file.writestr("server.mjs", SERVER)
        file.writestr("public/theme.css", "")
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = archive.getvalue()
            if not self.path.endswith(".zip"):
                link = f"http://127.0.0.1:{self.server.server_port}/theme.zip"
                body = json.dumps({"links": {"download": link}}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("API_URL", f"http://127.0.0.1:{server.server_port}")
    yield asked
    server.shutdown()
    server.server_close()


@uses_executed
def test_the_official_theme_is_fetched_once(small, templates):  # noqa: F811
    site = make(theme="book-theme").parent
    assert templates == ["/templates/site/myst/book-theme", "/theme.zip"]
    assert "fetched theme: Neural language models" in (site / "index.html").read_text()
    assert "fetched theme: Recurrent language models" in texts(site)
    make(theme="book-theme")
    assert len(templates) == 2, "what was fetched is kept"


@uses_executed
def test_without_a_network_the_official_theme_is_named(small, monkeypatch):  # noqa: F811
    monkeypatch.setenv("API_URL", "http://127.0.0.1:9")
    with pytest.raises(CourseError) as caught:
        make(theme="book-theme")
    assert "book-theme" in str(caught.value) and "network" in caught.value.remedy
    assert not os.path.lexists(small.root / "_build" / "site")
