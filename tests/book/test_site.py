"""The site as files: whole, relative, described, and the same at each build."""

import dataclasses
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from coursekit import course
from coursekit.book.content import Content, Download
from coursekit.book.published import Published
from coursekit.book.site import links
from coursekit.book.site.site import write_site
from coursekit.repository import Repository
from lmcourse.errors import CourseError
from tests.book.conftest import BASE_URL

PUBLIC = course.root() / "theme" / "public"


def read(site: Path, name: str) -> BeautifulSoup:
    """Read a page."""
    return BeautifulSoup((site / name).read_text(encoding="utf-8"), "html.parser")


def test_the_files(site: Path) -> None:
    names = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    assert names >= {
        *("index.html", "everything.html", "outputs.html", "second.html", "404.html"),
        *("search-index.js", "previews.js", "robots.txt", "sitemap.xml", ".nojekyll"),
        *("downloads/second.txt", "downloads/outputs.ipynb", "slides/second-slides.html"),
        "assets/katex/katex.css",
    }
    others = {name for name in names if name.startswith("assets/") and "katex/" not in name}
    assert all(re.search(r"[0-9a-f]{12}\.\w+$", name) for name in others)


def test_every_page_works_at_any_place(site: Path) -> None:
    for path in site.glob("*.html"):
        if path.name == "404.html":
            continue
        for each in read(site, path.name).select("[href], [src]"):
            target = each.get("href") or each.get("src")
            outside = target.startswith(("https://", "mailto:", "#"))
            assert outside or not target.startswith(("/", "file:")), f"{path.name}: {target}"
            if each.name in ("script", "img") or each.get("rel") == ["stylesheet"]:
                assert not outside, f"{path.name}: {target}"


def test_nothing_is_broken_inside(site: Path) -> None:
    assert links.check(site, "/a/course/") == []


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ('<a href="gone.html">x</a>', "`gone.html` is not there"),
        ('<a href="b.html#gone">x</a>', "names an anchor that b.html does not have"),
        ('<a href="#gone">x</a>', "names an anchor that a.html does not have"),
        ('<a href="/b.html">x</a>', "starts at the server's root"),
        ('<a href="javascript:x">x</a>', "is no link"),
        ('<a href="b.html#ü">x</a>', None),
        ('<a href="b.html?q=1#%C3%BC">x</a>', None),
        ('<img src="gone.png" alt="">', "`gone.png` is not there"),
        ('<img src="data:image/png;base64,">', "has no words"),
        ('<p id="x"></p><p id="x"></p>', "`x` is used twice"),
        ('<div aria-labelledby="gone"></div>', "`#gone`"),
        ('<script src="gone.js"></script>', "`gone.js` is not there"),
        ('<script>const a = "<a href=gone.html>"</script>', None),
        ('<a href="https://example.org/gone">x</a> <a href="mailto:a@b.org">y</a>', None),
    ],
)
def test_the_link_checker(tmp_path: Path, html: str, words: str | None) -> None:
    (tmp_path / "a.html").write_text(html, encoding="utf-8")
    (tmp_path / "b.html").write_text('<p id="ü"></p>', encoding="utf-8")
    found = links.check(tmp_path)
    assert len(found) == (words is not None), found
    assert words is None or words in found[0]


def test_the_link_checker_reads_style_sheets(tmp_path: Path) -> None:
    css = "a{background:url(gone.png)} b{src:url('https://a.org/x')} c{src:url(data:x)}"
    (tmp_path / "a.css").write_text(css, encoding="utf-8")
    found = links.check(tmp_path)
    assert len(found) == 2
    assert "gone.png" in found[0] and "another server" in found[1]


def test_the_missing_page_leads_back_from_any_depth(site: Path) -> None:
    page = read(site, "404.html")
    assert page.select_one("main a")["href"] == "/a/course/index.html"
    targets = [each.get("href") or each.get("src") for each in page.select("head [href], [src]")]
    inside = [each for each in targets if not each.startswith("https://")]
    assert inside and all(each.startswith("/a/course/") for each in inside)


def test_what_search_engines_and_previews_read(site: Path) -> None:
    page = read(site, "second.html")
    facts = {
        each.get("name") or each.get("property"): each["content"]
        for each in page.select("meta[content]")
    }
    assert page.title.string == "Second · A small book"
    assert facts["description"] == facts["og:description"] == "What does the second page ask?"
    assert (facts["og:type"], facts["og:title"]) == ("article", "Second")
    assert facts["og:url"] == f"{BASE_URL}/second.html"
    assert page.select_one("link[rel=canonical]")["href"] == facts["og:url"]
    image = facts["og:image"].removeprefix(f"{BASE_URL}/")
    assert (site / image).stat().st_size <= 200_000
    assert facts["og:image:alt"]
    assert {"generator", "viewport", "color-scheme", "theme-color"} <= facts.keys()
    assert page.select_one("link[rel=license]")
    assert page.html["lang"] == "en"
    first = read(site, "index.html")
    assert first.title.string == "A small book"
    assert first.select_one("link[rel=canonical]")["href"] == f"{BASE_URL}/"


def test_the_preview_picture_has_its_size() -> None:
    from PIL import Image

    with Image.open(PUBLIC / "social.png") as image:
        assert image.size == (1200, 630)


def test_the_sitemap_and_robots(site: Path) -> None:
    tree = ElementTree.parse(site / "sitemap.xml")
    places = [each.text for each in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    names = ("", "everything.html", "outputs.html", "second.html")
    assert places == [f"{BASE_URL}/{name}" for name in names]
    assert f"Sitemap: {BASE_URL}/sitemap.xml" in (site / "robots.txt").read_text()


def test_without_an_address(content: Content, tmp_path: Path) -> None:
    said, _ = write_site(content, tmp_path)
    assert "sitemap.xml" in said and "BASE_URL" in said
    assert not (tmp_path / "sitemap.xml").exists()
    assert "Sitemap" not in (tmp_path / "robots.txt").read_text()
    page = read(tmp_path, "second.html")
    assert not page.select("link[rel=canonical], meta[property='og:image']")
    assert read(tmp_path, "404.html").select_one("main a")["href"] == "index.html"


def test_a_page_has_its_head_and_end(site: Path) -> None:
    page = read(site, "second.html")
    assert page.select_one(".head .label").get_text() == "Chapter 02"
    assert page.select_one(".head .lede").get_text() == "What does the second page ask?"
    assert page.main.get_text().count("What does the second page ask?") == 1
    offers = {each.get_text(): each["href"] for each in page.select(".offers a")}
    assert offers == {"Slides": "slides/second-slides.html", "Text (.txt)": "downloads/second.txt"}
    assert page.select_one(".turn .previous")["href"] == "outputs.html"
    assert not page.select(".turn .next")
    works = page.select(".bibliography li")
    assert [work["id"] for work in works] == ["cite-elman1990"]
    assert page.select_one(works[0].select_one("a.back")["href"]).get_text() == "Elman (1990)"
    assert [each["href"] for each in page.select(".here a")] == ["#far"]
    assert page.select(".contents a[aria-current=page]")[0]["href"] == "second.html"


def test_a_work_that_the_page_does_not_cite_is_left_out(content: Content, tmp_path: Path) -> None:
    works = content.page("second").bibliography | {"other": "Another work."}
    write_site(changed(content, "second", bibliography=works), tmp_path)
    assert len(read(tmp_path, "second.html").select(".bibliography li")) == 1


def test_a_page_offers_what_belongs_to_it(content: Content, tmp_path: Path) -> None:
    def offers(folder: str, **labels: str | None) -> dict[str, list[str]]:
        labeled = content
        for slug, label in labels.items():
            labeled = changed(labeled, slug, label=label)
        site = tmp_path / folder
        site.mkdir()
        write_site(labeled, site)
        return {
            slug: [each["href"] for each in read(site, f"{slug}.html").select(".offers a")]
            for slug in labels
        }

    found = offers("numbers", everything="Lab 02", outputs="Lab 03", second="Chapter 02")
    assert found["everything"][0] == "second.html" and found["second"][0] == "everything.html"
    assert not {"second.html", "everything.html"} & {*found["outputs"]}
    assert offers("names", everything="Chapter 01", second=None)["second"][0] == "everything.html"


def test_a_widgets_page_opens_with_the_widget(content: Content, tmp_path: Path) -> None:
    write_site(changed(content, "outputs", source="gallery/outputs.md"), tmp_path)
    page, other = read(tmp_path, "outputs.html"), read(tmp_path, "second.html")
    opening, offers = page.select_one(".opening"), page.select_one(".offers")
    assert [each["class"][0] for each in opening.select(".cell > *")] == ["outputs", "code"]
    assert offers in opening.next_siblings and not page.select(".head .offers")
    assert len(page.select(".cell")) > 5 and len(opening.select(".cell")) == 1
    assert "gallery" in page.body["class"] and "gallery" not in other.body["class"]
    assert other.select(".head .offers") and not other.select(".opening")


def test_the_contents_name_every_page_by_part(site: Path) -> None:
    contents = read(site, "outputs.html").select_one(".contents")
    assert [each.get_text() for each in contents.select(".part")] == [
        "Part I: Beginnings",
        "Part II: Ends",
    ]
    names = [each["href"] for each in contents.select("a")]
    assert names == ["index.html", "everything.html", "outputs.html", "second.html"]


def test_the_first_page(site: Path) -> None:
    page = read(site, "index.html")
    buttons = {each.get_text(): each["href"] for each in page.select(".hero .button")}
    assert buttons == {
        "Start reading": "everything.html",
        "Do it on your laptop": "#laptop",
    }
    assert len(page.select(".card")) == 3 and len(page.select(".card.linked")) == 2
    assert page.select_one("svg[role=img]")["aria-label"]


def test_footnotes_stand_at_the_end(site: Path) -> None:
    page = read(site, "everything.html")
    assert len(page.select(".footnotes .footnote")) == 2
    assert not page.select("article > .footnote")


def test_only_pages_with_maths_load_its_style(site: Path) -> None:
    assert not read(site, "index.html").select("link[href*=katex]")
    assert read(site, "second.html").select("link[href*=katex]")


def test_the_searchs_words(site: Path) -> None:
    script = (site / "search-index.js").read_text(encoding="utf-8")
    records = json.loads(script.removeprefix("window.lmcourseIndex = ").removesuffix(";\n"))
    far = next(each for each in records if each["url"] == "second.html#far")
    assert (far["page"], far["title"]) == ("Chapter 02: Second", "Far away")
    assert "Truncation cuts the gradient." in far["text"]
    code = next(each for each in records if each["url"] == "everything.html#code")
    assert 'return x < 1 and "<b>"' in code["code"] and "return x" not in code["text"]
    # TeX is nothing to search for, or to read in a result.
    assert not any(re.search(r"\\[a-zA-Z]+|[{}$^]", each["text"]) for each in records)
    maths = next(each for each in records if each["url"] == "everything.html#maths")
    assert "Inline eⁱᵠ" not in maths["text"] and "a < b" in maths["text"]
    assert len({each["id"] for each in records}) == len(records)


def test_two_builds_are_the_same(content: Content, tmp_path: Path) -> None:
    def build(name: str) -> dict[str, bytes]:
        folder = tmp_path / name
        folder.mkdir()
        write_site(content, folder, published=Published(BASE_URL))
        files = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}

    assert build("one") == build("two")


def test_pages_lead_to_their_sources_if_the_repository_is_known(
    content: Content, tmp_path: Path
) -> None:
    where = Repository("https://github.com/ann/course", "main", "gh-pages", "")
    for name, known in (("with", where), ("without", None)):
        site = tmp_path / name
        site.mkdir()
        notes = write_site(content, site, published=Published(repository=known))
        assert any("REPOSITORY=" in note for note in notes) == (known is None)
        for page in content.pages:
            links = [each["href"] for each in read(site, f"{page.slug}.html").select("a[href]")]
            for path in (f"blob/main/{page.source}", f"edit/main/{page.source}", "issues/new"):
                assert any(f"{where.url}/{path}" in each for each in links) == (known is not None)
            assert known or not any("colab" in each or "mybinder" in each for each in links)
    links = [each["href"] for each in read(tmp_path / "with", "outputs.html").select("a[href]")]
    assert any(each.startswith("https://colab.research.google.com/github/ann") for each in links)
    assert any(each.startswith("https://mybinder.org/v2/gh/ann/course/main") for each in links)


def test_the_package_is_offered(content: Content, tmp_path: Path) -> None:
    wheel, site = tmp_path / "lmcourse-0.1.0-py3-none-any.whl", tmp_path / "site"
    wheel.write_bytes(b"PK")
    site.mkdir()
    write_site(content, site, published=Published(wheel=wheel))
    assert (site / "downloads" / wheel.name).read_bytes() == b"PK"
    assert read(site, "index.html").select_one(f"a[href='downloads/{wheel.name}']")


def test_a_folder_that_holds_something_is_left_alone(content: Content, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CourseError, match="not empty"):
        write_site(content, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def changed(content: Content, slug: str, **fields: Any) -> Content:
    """The book with one page changed."""
    pages = [
        dataclasses.replace(page, **fields) if page.slug == slug else page for page in content.pages
    ]
    return dataclasses.replace(content, pages=tuple(pages))


def test_all_problems_are_named_at_once(content: Content, tmp_path: Path) -> None:
    tree = {"type": "root", "children": [{"type": "hologram"}, {"type": "iframe", "src": "x"}]}
    broken = changed(changed(content, "second", tree=tree), "everything", tree=tree)
    with pytest.raises(CourseError) as raised:
        write_site(broken, tmp_path)
    said = raised.value.cause
    assert said.count("“hologram”") == said.count("“iframe”") == 2
    assert "second.md, " in said and "everything.md, " in said


def test_a_broken_link_stops_the_book(content: Content, tmp_path: Path) -> None:
    link = {"type": "link", "url": "#nowhere", "children": [{"type": "text", "value": "x"}]}
    with pytest.raises(CourseError, match=r"second.html: `#nowhere`"):
        write_site(changed(content, "second", tree={"type": "root", "children": [link]}), tmp_path)


def test_two_files_of_one_name_are_not_mixed_up(content: Content, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("other")
    offered = (Download("Text", "second.txt", other),)
    site = tmp_path / "site"
    site.mkdir()
    with pytest.raises(CourseError, match=r"second\.txt"):
        write_site(changed(content, "everything", downloads=offered), site)


def test_the_style_sheets_are_small() -> None:
    assert (PUBLIC / "book.css").stat().st_size + (PUBLIC / "code.css").stat().st_size <= 40_000


def luminance(color: str) -> float:
    """The relative luminance of ``#rrggbb`` (WCAG 2.2)."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    """The contrast of two colors (WCAG 2.2)."""
    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


def colors(name: str) -> dict[str, tuple[str, str]]:
    """The colors that a style sheet names, for light and dark pages."""
    text = (PUBLIC / name).read_text(encoding="utf-8")
    pairs = re.findall(r"(--[\w-]+): light-dark\((#\w{6}), (#\w{6})\);", text)
    return {key: (light, dark) for key, light, dark in pairs}


def test_colors_can_be_read() -> None:
    code, book = colors("code.css"), colors("book.css")
    pairs = [(code[f"--code-{name}"], code["--code-back"]) for name in (
        "text", "comment", "keyword", "name", "type", "string", "number",
    )]  # fmt: skip
    words = ("text", "muted", "accent", "green", "orange", "purple")
    pairs += [(book[f"--{name}"], book[f"--{on}"]) for name in words for on in ("back", "raised")]
    pairs += [(book["--accent"], book["--accent-soft"]), (book["--on-accent"], book["--accent"])]
    pairs += [(book["--orange"], book["--orange-soft"]), (book["--text"], book["--mark"])]
    for ink, paper in pairs:
        for one, two in zip(ink, paper, strict=True):
            assert contrast(one, two) >= 4.5, (one, two)
