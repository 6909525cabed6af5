"""What mystmd made of the sources: pages as syntax trees (MyST AST, version 3), in reading order.

https://mystmd.org/spec describes the nodes; `read_content` reads the folder ``_build/site`` that
``jupyter book build --site`` leaves.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coursekit import course
from lmcourse.errors import CourseError

SLIDES = "slides-of-"  # begins the name of a page with what only another page's slides show
BEFORE = "slide_only_before"  # how many of its blocks come before a block of that other page
Node = dict[str, Any]  # a node of the syntax tree: its "type", often "children"


@dataclass(frozen=True)
class Download:
    """A file that a page offers."""

    label: str  # what the reader sees: "notebook (.ipynb)"
    filename: str  # under which name the browser saves it
    path: Path


@dataclass(frozen=True)
class Page:
    """One page of the book."""

    slug: str  # "recurrent-language-models"; the landing page's is "index"
    title: str  # plain text
    description: str  # one sentence, plain text, for search engines and previews
    tree: Node  # the root of the syntax tree
    bibliography: dict[str, str]  # HTML of each work that the page cites, by key, in order
    source: str  # path in the checkout: "chapters/02-recurrent-language-models.md"
    part: str | None = None  # its heading in the table of contents
    label: str | None = None  # "Chapter 02", "Lab 02"
    downloads: tuple[Download, ...] = ()
    deck: Node | None = None  # the tree with the blocks that only the slides show, if it has any


@dataclass(frozen=True)
class Content:
    """The whole book."""

    title: str
    description: str
    pages: tuple[Page, ...]  # in reading order, the landing page first
    public: Path  # the folder with extracted figures and long outputs
    links: dict[str, str] = field(default_factory=dict)  # outside links of the top bar, by label

    def page(self, slug: str) -> Page:
        """Return the page of a slug."""
        return next(page for page in self.pages if page.slug == slug)


def read_content(folder: Path, sources: dict[str, dict[str, Any]] | None = None) -> Content:
    """Read what mystmd left in ``folder`` (its ``_build/site``)."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        (project,) = config["projects"]
        entries = [{"slug": project["index"], "level": 0}, *project["pages"]]
        pages, part = [], None
        slides = {}
        for entry in entries:
            if "slug" not in entry:
                part = entry["title"]
            elif entry["slug"].startswith(SLIDES):
                slides[entry["slug"]] = _page(folder, entry["slug"], part)
            else:
                pages.append(_page(folder, entry["slug"], part))
    except (OSError, ValueError, KeyError) as error:
        raise CourseError(
            f"mystmd's output in {folder} has an unexpected form: {error!r}.",
            f"{course.INSTALL} Then build again.",
        ) from error
    return Content(
        title=project["title"],
        description=project.get("description", ""),
        pages=tuple(_with_slides(page, slides) for page in pages),
        public=folder / "public",
        links=project.get("options", {}).get("links", {}),
    )


def _with_slides(page: Page, slides: Mapping[str, Page]) -> Page:
    """Return a page with the tree of its slides, if these have blocks of their own."""
    own = slides.get(f"{SLIDES}{Path(page.source).stem}")
    if own is None:
        return page
    blocks = [block for block in own.tree["children"] if _marks(block)]
    merged: list[Node] = []
    for block in page.tree["children"]:
        taken = int(_marks(block).get(BEFORE, 0))
        merged += [_for_slides_only(each) for each in blocks[:taken]] + [block]
        blocks = blocks[taken:]
    merged += [_for_slides_only(each) for each in blocks]
    return replace(
        page,
        deck=page.tree | {"children": merged},
        bibliography=own.bibliography | page.bibliography,
    )


def _for_slides_only(block: Node) -> Node:
    """Return a block that only the slides show, without numbers of equations: the page's count."""
    return _unnumbered(block) | {"slide_only": True}


def _unnumbered(node: Node) -> Node:
    own = {name: value for name, value in node.items() if name != "children"}
    if node["type"] == "math":
        own.pop("enumerator", None)
    if "children" in node:
        own["children"] = [_unnumbered(child) for child in node["children"]]
    return own


def _marks(block: Node) -> dict[str, Any]:
    return (block.get("data") or {}).get("slideshow") or {}


def _page(folder: Path, slug: str, part: str | None) -> Page:
    page = json.loads((folder / "content" / f"{slug}.json").read_text(encoding="utf-8"))
    matter = page["frontmatter"]
    cited = page["references"].get("cite", {"order": [], "data": {}})
    offered = matter.get("downloads", matter.get("exports", []))
    return Page(
        slug=slug,
        title=matter.get("title", slug),
        description=matter.get("description", ""),
        tree=page["mdast"],
        bibliography={key: cited["data"][key]["html"] for key in cited["order"]},
        source=page["location"].lstrip("/").replace(".ipynb", ".md"),  # the tracked form
        part=part,
        label=matter.get("short_title"),
        downloads=tuple(
            Download(
                label=each.get("title") or each["filename"],
                filename=each["filename"],
                path=folder / "public" / each["url"].lstrip("/"),
            )
            for each in offered
            if "filename" in each
        ),
    )
