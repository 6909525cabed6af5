"""The book as EPUB 3: an archive of XHTML pages, a table of contents, and pictures."""

import io
import uuid
import zipfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

from coursekit import citation
from coursekit.book.paper.take import Leaf
from coursekit.notebooks import files
from coursekit.repository import Repository

_TYPES = {".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp"}
_STYLE = Path(__file__).with_name("epub.css")
_CONTAINER = """<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles>
<rootfile full-path="EPUB/book.opf" media-type="application/oebps-package+xml"/>
</rootfiles>
</container>
"""
_PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"
 lang="en" xml:lang="en">
<head><title>{title}</title><link rel="stylesheet" href="epub.css"/></head>
<body>
{body}
</body>
</html>
"""
_COVER = (
    '<section epub:type="cover" id="top" class="cover"><img src="cover.png" alt="Cover"/></section>'
)
_FIXED = (1980, 1, 1, 0, 0, 0)  # the same book gives the same bytes


def write_epub(
    leaves: Sequence[Leaf],
    folder: Path,
    file: Path,
    title: str,
    repository: Repository | None,
    cover: bytes,
) -> None:
    """Write a book.

    Args:
        leaves: its pages, in reading order.
        folder: with ``assets``: the pictures that the pages name.
        file: where to write.
        cover: the picture that a shelf shows (PNG).

    Raises:
        CourseError: the file cannot be written; the last one is then as it was.
    """
    cited = citation.read()
    assets = sorted(path for path in (folder / "assets").iterdir() if path.suffix in _TYPES)
    used = [path for path in assets if any(f"assets/{path.name}" in it.epub for it in leaves)]
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name: str, data: str | bytes, stored: bool = False) -> None:
            entry = zipfile.ZipInfo(name, _FIXED)
            entry.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)

        add("mimetype", "application/epub+zip", stored=True)
        add("META-INF/container.xml", _CONTAINER)
        add("EPUB/book.opf", _package(leaves, used, title, cited, repository))
        add("EPUB/nav.xhtml", _PAGE.format(title="Contents", body=_contents(leaves)))
        add("EPUB/epub.css", _STYLE.read_text(encoding="utf-8"))
        for leaf in leaves:
            page = _PAGE.format(title=escape(leaf.title), body=leaf.epub)
            add(f"EPUB/{leaf.slug}.xhtml", page)
        for path in used:
            add(f"EPUB/assets/{path.name}", path.read_bytes())
        add("EPUB/cover.png", cover)
        add("EPUB/cover.xhtml", _PAGE.format(title=escape(title), body=_COVER))
    files.write(file, data.getvalue())


def name_of(leaf: Leaf) -> str:
    """Return a page's name in a table of contents: with its number, if it has one."""
    numbered = leaf.label and not leaf.title.startswith(leaf.label)
    return f"{leaf.label}: {leaf.title}" if numbered else leaf.title


def _package(
    leaves: Sequence[Leaf],
    used: Sequence[Path],
    title: str,
    cited: dict[str, object],
    repository: Repository | None,
) -> str:
    identifier = uuid.uuid5(uuid.NAMESPACE_URL, f"lmcourse {cited['version']}")
    creators = "".join(f"<dc:creator>{escape(it)}</dc:creator>" for it in citation.authors())
    pages = "".join(
        f'<item id="p-{it.slug}" href="{it.slug}.xhtml" media-type="application/xhtml+xml"'
        f"{_properties(it)}/>\n"
        for it in leaves
    )
    images = "".join(
        f'<item id="a-{path.stem}" href="assets/{path.name}" media-type="{_TYPES[path.suffix]}"/>\n'
        for path in used
    )
    source = f"<dc:source>{escape(repository.url)}</dc:source>" if repository else ""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:{identifier}</dc:identifier>
<dc:title>{escape(title)}</dc:title>
<dc:language>en</dc:language>
{creators}{source}
<dc:rights>Text and figures: CC BY 4.0. Code: MIT.</dc:rights>
<meta property="dcterms:modified">{cited["date-released"]}T00:00:00Z</meta>
</metadata>
<manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="cover" href="cover.xhtml" media-type="application/xhtml+xml"/>
<item id="cover-image" href="cover.png" media-type="image/png" properties="cover-image"/>
<item id="css" href="epub.css" media-type="text/css"/>
{pages}{images}</manifest>
<spine>
<itemref idref="cover"/>
<itemref idref="nav"/>
{"".join(f'<itemref idref="p-{it.slug}"/>' for it in leaves)}
</spine>
</package>
"""


def _properties(leaf: Leaf) -> str:
    found = [name for name, mark in (("mathml", "<math"), ("svg", "<svg")) if mark in leaf.epub]
    return f' properties="{" ".join(found)}"' if found else ""


def _contents(leaves: Sequence[Leaf]) -> str:
    lines, part = ['<nav epub:type="toc" id="toc"><h1>Contents</h1><ol>'], None
    opened = False
    for leaf in leaves:
        if leaf.part != part:
            lines.append("</ol></li>" if opened else "")
            opened = leaf.part is not None
            part = leaf.part
            lines.append(f"<li><span>{escape(part)}</span><ol>" if part else "")
        lines.append(f'<li><a href="{leaf.slug}.xhtml">{escape(name_of(leaf))}</a></li>')
    lines.append("</ol></li>" if opened else "")
    return "\n".join([*lines, "</ol></nav>"])
