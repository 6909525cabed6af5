"""The book as one PDF and one EPUB, from a small site."""

import re
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest

from coursekit.book.paper import write_paper
from coursekit.repository import Repository

XHTML = "{http://www.w3.org/1999/xhtml}"
OPF = "{http://www.idpf.org/2007/opf}"
WHERE = Repository("https://github.com/ann/course", "main", "gh-pages", "")


@pytest.fixture(scope="module")
def made(site: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("paper")
    pdf, epub = folder / "book.pdf", folder / "book.epub"
    write_paper(site, pdf, epub, WHERE, lambda line: None)
    return pdf, epub


def test_the_epub_is_an_epub(made: tuple[Path, Path]):
    with zipfile.ZipFile(made[1]) as file:
        first = file.infolist()[0]
        assert first.filename == "mimetype" and first.compress_type == zipfile.ZIP_STORED
        package = ElementTree.fromstring(file.read("EPUB/book.opf"))
        listed = {f"EPUB/{item.get('href')}" for item in package.iter(f"{OPF}item")}
        inside = {name for name in file.namelist() if name.startswith("EPUB/")}
        assert inside == listed | {"EPUB/book.opf"}
        assert WHERE.url in file.read("EPUB/book.opf").decode()
        spine = [item.get("idref") for item in package.iter(f"{OPF}itemref")]
        assert spine[0] == "p-index" and "p-everything" in spine


def test_every_page_is_xhtml_whose_links_and_pictures_are_there(made: tuple[Path, Path]):
    with zipfile.ZipFile(made[1]) as file:
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


def test_formulas_are_mathml_and_answers_are_unfolded(made: tuple[Path, Path]):
    with zipfile.ZipFile(made[1]) as file:
        page = file.read("EPUB/everything.xhtml").decode()
    assert "<math" in page and "katex" not in page and "<details" not in page
    assert "Show the code" not in page


def test_the_pdf_has_pages_and_bookmarks(made: tuple[Path, Path]):
    data = made[0].read_bytes()
    assert data.startswith(b"%PDF") and b"%%EOF" in data[-40:]
    assert len(re.findall(rb"/Type\s*/Page\b", data)) >= 4 and b"/Outlines" in data
