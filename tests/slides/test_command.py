"""``lmcourse slides``: from a chapter's number to its files."""

import json

import pytest
from typer.testing import CliRunner

from coursekit import cli, course
from coursekit.book import build
from coursekit.book.site.search import index_script
from coursekit.book.slides import __main__ as author
from coursekit.book.slides import browser, deck, pdf, server
from coursekit.book.slides.speaker import every
from coursekit.notebooks.workbook import products
from lmcourse.errors import CourseError
from tests.book.checkout import CHAPTER, executed, executed_once, small  # noqa: F401 - fixtures
from tests.browser import require_chromium

MARKED = CHAPTER.replace(
    "A loss {eq}", '+++ {"slideshow": {"slide_type": "slide"}}\n\n## A loss\n\nA loss {eq}'
).replace("ipython3\n", "ipython3\n---\nslideshow:\n  slide_type: '-'\n---\n")


@pytest.fixture
def marked(small, executed):  # noqa: F811
    """A small course whose chapter has a slide."""
    small.write("chapters/02-recurrent.md", MARKED)
    return small


def run(*arguments):
    """Run the command; errors of the course are raised."""
    return CliRunner().invoke(cli.app, ["slides", *arguments], catch_exceptions=False)


def test_the_deck_is_written_where_it_is_said(marked, tmp_path):
    said = run("2").output
    file = marked.root / "_build" / "slides" / "02-recurrent.html"
    assert str(file) in said.replace("\n", "")
    text = file.read_text(encoding="utf-8")
    assert "A loss" in text and "42" in text and 'class="katex' in text
    run("02", "--output", str(tmp_path / "mine.html"))
    assert (tmp_path / "mine.html").read_text(encoding="utf-8") == text


def test_options_open_print_and_go_live(marked, monkeypatch):
    done = []
    monkeypatch.setattr(deck, "present", lambda file: done.append(("present", file.name)))
    monkeypatch.setattr(browser, "find_browser", lambda: marked.root)
    monkeypatch.setattr(pdf, "write_pdf", lambda file, to: done.append((file.name, to.name)))
    monkeypatch.setattr(server, "serve_live", lambda file: done.append(("live", file)))
    said = run("02", "--present", "--pdf").output
    assert done == [("02-recurrent.html", "02-recurrent.pdf"), ("present", "02-recurrent.html")]
    assert "No browser was found" in said and "file://" in said, "present returned nothing"
    run("02", "--live")
    assert done[-1] == ("live", marked.root / "_build" / "live" / "02-recurrent.ipynb")
    assert done[-1][1].is_file()


def test_an_output_that_is_a_pdf_is_the_pdf(marked, tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(browser, "find_browser", lambda: tmp_path)
    monkeypatch.setattr(pdf, "write_pdf", lambda file, to: done.append((file, to)))
    run("02", "--output", str(tmp_path / "talk.PDF"), "--pdf")
    deck = marked.root / "_build" / "slides" / "02-recurrent.html"
    assert done == [(deck, tmp_path / "talk.PDF")] and deck.is_file()
    run("02", "--output", str(tmp_path / "talk.html"), "--pdf")
    assert done[1:] == [(tmp_path / "talk.html", tmp_path / "talk.pdf")]
    assert not (tmp_path / "talk.PDF").exists(), "no HTML was written there"


def test_an_output_never_replaces_a_file_of_yours(marked, tmp_path, monkeypatch):
    monkeypatch.setattr(browser, "find_browser", lambda: tmp_path)
    chapter = marked.root / "chapters" / "02-recurrent.md"
    before = chapter.read_bytes()
    (tmp_path / "talk.pdf").write_bytes(b"%PDF-1.7 of yours")
    for name, *options in (
        (chapter,),
        (tmp_path / "talk.pdf", "--pdf"),
        (tmp_path / "talk", "--pdf"),
    ):
        with pytest.raises(CourseError, match="did not write") as caught:
            run("02", "--output", str(name), *options)
        assert "--output" in caught.value.remedy
    assert chapter.read_bytes() == before
    assert (tmp_path / "talk.pdf").read_bytes() == b"%PDF-1.7 of yours"


def test_an_output_replaces_the_last_one(marked, tmp_path, monkeypatch):
    monkeypatch.setattr(browser, "find_browser", lambda: tmp_path)
    monkeypatch.setattr(browser, "require_browser", lambda *_: tmp_path)
    monkeypatch.setattr(pdf, "_printed", lambda *_: b"%PDF-1.7")
    for _ in range(2):
        run("02", "--output", str(tmp_path / "talk.html"), "--pdf")
    assert (tmp_path / "talk.pdf").read_bytes() == b"%PDF-1.7" + pdf.MARK


def test_an_output_in_the_users_folder(marked, tmp_path, monkeypatch):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    run("02", "--output=~/talk.html")
    assert [path.name for path in tmp_path.glob("*.html")] == ["talk.html"]
    assert not (tmp_path / "~").exists()


ONLY = """\
+++ {"slideshow": {"slide_type": "slide"}, "tags": ["slide-only"]}

## A loss

- only here, see {eq}`eq-loss`

$$
S = 0
$$

"""


def test_text_for_slides_only_is_nowhere_else(marked, tmp_path):
    """The heading is that of the page, and the equation comes before its first one."""
    text = (
        MARKED.replace("+++ {", ONLY + "+++ {", 1) + "\n" + ONLY.replace("only here", "last here")
    )
    marked.write("chapters/02-recurrent.md", text)
    (source,) = course.sources("chapter")
    assert "only here, see" in build.build_slides(source, print).read_text(encoding="utf-8")
    page, content = build.laid_out(source, print)
    assert "only here" not in json.dumps(page.tree) and page.deck is not None
    assert [each.get("slide_only", False) for each in page.deck["children"]].count(True) == 2
    shown = [node for node in every(page.deck) if node["type"] == "math"]
    assert [node.get("enumerator") for node in shown] == [None, "2.1", None]
    titles = [node for node in every(page.tree) if node["type"] == "heading"]
    equations = [node for node in every(page.tree) if node["type"] == "math"]
    assert [node["html_id"] for node in titles] == ["a-loss"]
    assert [node["enumerator"] for node in equations] == ["2.1"]
    assert "only here" not in index_script(content, str)
    assert [each.slug for each in content.pages if "slides" in each.slug] == []
    live = build.build_live(source, print).read_text(encoding="utf-8")
    assert "only here" in live and "last here" in live
    handed = {it.name: it.data for it in products()}
    assert not any(b"only here" in data for data in handed.values())


def test_authors_get_a_table_and_pictures(marked, capsys, monkeypatch):
    require_chromium()
    monkeypatch.setattr("sys.argv", ["slides", "02"])
    assert author.main() == 0
    said = capsys.readouterr().out
    assert "2 slides, smallest text 20 pixels, 0 faults" in said and "A loss" in said
    folder = marked.root / "_build" / "slides" / "02-recurrent"
    assert sorted(path.name for path in folder.iterdir()) == ["01.png", "02.png", "all-1.png"]
    bad = MARKED.replace("slide_type: '-'", "slide_type: subslide").replace("6 * 7", "'1' * 999")
    marked.write("chapters/02-recurrent.md", bad.replace("A loss {eq}", "word " * 60 + "{eq}"))
    monkeypatch.setattr("sys.argv", ["slides", "02", "--no-pictures"])
    assert author.main() == 1
    assert "- slide 2 (A loss): 6" in capsys.readouterr().out.replace("\n", " ")


@pytest.fixture
def unexecuted(marked, monkeypatch):
    """The small course; an error where one of its notebooks is executed."""

    def execute(*arguments):
        raise AssertionError("a notebook was executed")

    monkeypatch.setattr(build, "execute", execute)
    return marked


def test_html_is_not_written_into_a_pdf(unexecuted, tmp_path):
    with pytest.raises(CourseError, match=r"ends in \.pdf, but slides are") as caught:
        run("02", "--output", str(tmp_path / "talk.pdf"))
    assert "--pdf" in caught.value.remedy


def test_without_a_browser_nothing_is_executed_for_a_pdf(unexecuted, monkeypatch):
    monkeypatch.setattr(browser, "find_browser", lambda: None)
    with pytest.raises(CourseError, match="no browser here"):
        run("02", "--pdf")


@pytest.mark.parametrize("options", [[], ["--pdf"]])
def test_an_output_that_cannot_be_written_is_named_first(
    unexecuted, tmp_path, monkeypatch, options
):
    monkeypatch.setattr(browser, "find_browser", lambda: tmp_path)
    (tmp_path / "file").write_text("")
    for name in ("file/talk.html", "file/talk.pdf" if options else "file/talk.html", "."):
        with pytest.raises(CourseError) as caught:
            run("02", "--output", str(tmp_path / name), *options)
        assert "--output" in caught.value.remedy


def test_an_output_that_may_not_be_written_is_named_first(unexecuted, tmp_path, unprivileged):
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(CourseError, match="may not write") as caught:
            run("02", "--output", str(tmp_path / "new" / "talk.html"))
    finally:
        tmp_path.chmod(0o755)
    assert "--output" in caught.value.remedy


@pytest.mark.parametrize("number", ["01", "7", "x"])
def test_a_chapter_that_is_not_there(marked, number):
    with pytest.raises(CourseError) as caught:
        run(number)
    assert repr(number) in caught.value.cause and "02" in caught.value.remedy


def test_a_chapter_without_marks_is_named_and_the_last_deck_stays(small):  # noqa: F811
    file = small.root / "_build" / "slides" / "02-recurrent.html"
    file.parent.mkdir(parents=True)
    file.write_text("the last deck")
    with pytest.raises(CourseError, match=r"No part of chapters/02-recurrent.md is marked"):
        run("02")
    assert file.read_text() == "the last deck"


def test_references_to_chapters_that_are_not_executed_resolve(marked):
    other = MARKED.replace("eq-loss", "eq-other") + "\nSee {eq}`eq-loss`.\n"
    marked.write("chapters/01-other.md", other.replace("6 * 7", "1 / 0"))
    (source,) = (each for each in course.sources("chapter") if each.number == "01")
    assert build.build_live(source, lambda line: None).is_file()
    (source,) = (each for each in course.sources("chapter") if each.number == "02")
    assert build.build_slides(source, lambda line: None).is_file(), "01 fails, and is not executed"
