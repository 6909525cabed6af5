"""Links, terms and minutes in the course's texts, checked on the sources."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from coursekit import course, reading
from coursekit.notebooks import glossary, workbook
from coursekit.notebooks.links import Link, links_of, source_of
from coursekit.notebooks.prose import SYMBOL, masked
from coursekit.notebooks.sources import read_notebook
from lmcourse import widgets

ROOT = course.root()
SOURCES = course.sources()
WRITTEN = {(source.kind, source.number): source for source in SOURCES if source.number}
WIDGETS = {*widgets.__all__, "Anatomy"} - {"Widget"}

PLANNED = r"(?: \(planned\b|, planned\b)"
NUMBER = rf"\[?\d\d\b(?:\]\([^()]*\))?(?:{PLANNED}\)?)?"
MENTION = re.compile(
    rf"\b(?P<kind>chapter|lab)s?\s+(?P<numbers>{NUMBER}(?:(?:,? and |,? or |, | to |–){NUMBER})*)",
    re.IGNORECASE,
)
OTHER = re.compile(r"!\[[^\]]*\]\([^()]*\)|^#.*$|^\(\S+\)=$", re.MULTILINE)  # pictures, headings


@dataclass(frozen=True)
class Text:
    """A Markdown file of the course."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def folder(self) -> str:
        return self.name.rpartition("/")[0]

    @property
    def source(self) -> course.Source | None:
        return next((source for source in SOURCES if source.path == self.path), None)

    @property
    def content(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def prose(self) -> str:
        """The content with symbols for all that is no prose, in the same length."""
        return OTHER.sub(lambda found: SYMBOL * len(found[0]), masked(self.content))


TEXTS = [
    *(Text(source.path) for source in SOURCES),
    Text(ROOT / "index.md"),
    Text(ROOT / "README.md"),
]
every_text = pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
every_page = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.path.stem)


def target_of(link: Link, text: Text) -> course.Source | None:
    """The page of the course that a link leads to."""
    path = source_of(link.target, text.folder)
    return next((it for it in SOURCES if path and it.path == ROOT / path), None)


def unlinked(text: Text) -> Iterator[str]:
    """Yield what is wrong with each mention of a chapter or a lab."""
    prose = text.prose
    links = [(link, target_of(link, text)) for link in links_of(text.content)]
    for mention in MENTION.finditer(prose):
        kind = mention["kind"].lower()
        # "chapters 12 and 13 (planned)" says it of both
        for found in re.finditer(r"(?<!\d)\d\d\b(?![\w-])", mention["numbers"]):
            start = mention.start("numbers") + found.start()
            line = prose.count("\n", 0, start) + 1
            where = f"{text.name}:{line}: {kind} {found[0]}"
            page = WRITTEN.get((kind, found[0]))
            end = start + len(found[0])
            planned = re.match(PLANNED, prose[end:]) or re.search(rf"{PLANNED}.?$", mention[0])
            if page is None and not planned:
                yield f"{where} is not written: add “(planned)”"
            inside = [to for link, to in links if link.start <= start < link.end]
            if page is not None and page != text.source and inside != [page]:
                yield f"{where} is not a link to {page.path.name}"


@every_text
def test_each_mention_of_a_chapter_or_a_lab_is_a_link_or_planned(text: Text) -> None:
    assert list(unlinked(text)) == []


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("As chapter 08 shows.", 1),
        ("As [chapter 08](08-attention.md) shows.", 0),
        ("As [chapter 08](10-bert.md) shows.", 1),
        ("As [lab 08](08-attention.md) shows.", 1),
        ("As [lab 08](../labs/08-lab-attention.md) shows.", 0),
        ("Chapters [08](08-attention.md) and [10](10-bert.md).", 0),
        ("Chapters [08](08-attention.md) and 10.", 1),
        ("Chapters 97 (planned), 98 (planned) and [08](08-attention.md).", 0),
        ("Chapter 97.", 1),
        ("The gates (chapter 97, planned) of chapters 98 and 96 (planned).", 0),
        ("We planned chapter 97.", 1),
        ("Chapters 97 (planned) and 98.", 1),
        ("Chapter 02 is this one. `chapter 08` is code. ![Chapter 08](x.png)", 0),
        ("## Before chapter 08\n\nIn 2017, see lab 99.", 1),
    ],
)
def test_the_check_of_mentions(content: str, wrong: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Text, "content", content)
    text = Text(WRITTEN["chapter", "02"].path)
    assert len(list(unlinked(text))) == wrong


def named_widgets(text: Text) -> set[str]:
    """The widgets that a text names; a word at the beginning of a sentence may be just a word."""
    names = "|".join(sorted(WIDGETS))
    inside = re.findall(rf"(?<=[a-z,;(] )\[?({names})\b", text.prose)
    joined = [name for name in WIDGETS if re.search(r"[a-z][A-Z]", name)]  # no word but a name
    return {*inside, *re.findall(rf"\b({'|'.join(joined)})\b", text.prose)}


def linked_widgets(text: Text) -> set[str]:
    """The widgets that a text links to their pages."""
    pages = [(link, target_of(link, text)) for link in links_of(text.content)]
    return {
        name
        for link, page in pages
        if page and page.kind == "widget"
        for name in re.findall(r"\w+", link.text)
    }


@every_text
def test_each_widget_that_a_page_names_is_linked_there(text: Text) -> None:
    own = text.content if text.source and text.source.kind == "widget" else ""
    shown = {name for name in WIDGETS if f"{name}(" in own}
    assert named_widgets(text) - linked_widgets(text) - shown == set()


@pytest.mark.parametrize(
    ("content", "missing"),
    [
        ("Move the widget Gates. Gates are gates.", {"Gates"}),
        ("Gates keep it. `Gates` is code. Masking a token is a choice.", set()),
        ("Use [Gates](../gallery/gates.md), then move the widget Gates.", set()),
        ("AttentionHeads shows it; see [`AttentionHeads`](../gallery/attention-heads.md).", set()),
        ("AttentionHeads shows it; see [`AttentionHeads`](08-attention.md).", {"AttentionHeads"}),
    ],
)
def test_the_check_of_widgets(
    content: str, missing: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Text, "content", content)
    text = Text(WRITTEN["chapter", "02"].path)
    assert named_widgets(text) - linked_widgets(text) == missing


@every_text
def test_each_link_leads_to_a_file(text: Text) -> None:
    targets = [link.target for link in links_of(text.content)]
    inside = [it for it in targets if not re.match(r"[a-z]+:|#", it)]
    files = [text.path.parent / it.partition("#")[0] for it in inside]
    listed = ROOT / f"{glossary.PAGE}.md"  # it is generated
    assert [path for path in files if not path.exists() and path.resolve() != listed] == []


def test_the_course_refers_to_pages_works_and_terms_that_there_are() -> None:
    made = {product.name for product in workbook.products()}  # an error names file and term
    assert workbook.GLOSSARY in made and len(made) > len(SOURCES)


def test_a_definition_can_be_read_alone() -> None:
    notebooks = {source: read_notebook(source.path) for source in SOURCES}
    terms = glossary.terms_of(notebooks)
    assert len(terms) >= 10 * len(course.sources("chapter"))
    assert [term.name for term in terms.values() if len(term.name.split()) > 5] == []
    short = [it.sentence for it in terms.values() if reading.count_words(it.sentence) < 6]
    assert short == []
