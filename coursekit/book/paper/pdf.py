"""What is read from, and changed in, a PDF that a browser printed."""

import io
import logging
from collections.abc import Iterator, Mapping, Sequence

from pypdf import PdfReader, PdfWriter
from pypdf.generic import BooleanObject, DictionaryObject, NameObject, TextStringObject

logging.getLogger("pypdf").setLevel(logging.ERROR)  # Chromium counts objects in its own way


def numbers(data: bytes) -> dict[str, int]:
    """Return the page of each anchor that a link of the document leads to, counted from 1."""
    pdf = PdfReader(io.BytesIO(data))
    pages = {
        name.removeprefix("/"): pdf.get_destination_page_number(target)
        for name, target in pdf.named_destinations.items()
    }
    return {name: page + 1 for name, page in pages.items() if page is not None}


def bookmarks(pdf: PdfReader | PdfWriter) -> list[DictionaryObject]:
    """Return the outline's entries, in reading order."""
    return list(_entries(pdf.root_object.get("/Outlines", DictionaryObject())))


def _entries(parent: DictionaryObject) -> Iterator[DictionaryObject]:
    following = parent.get("/First")
    while following is not None:
        entry = following.get_object()
        yield entry
        yield from _entries(entry)
        following = entry.get("/Next")


def with_titles(data: bytes, titles: Sequence[str], info: Mapping[str, str]) -> bytes:
    """Return a PDF with other bookmarks' titles, which is shown with these, and more said about it.

    Args:
        titles: one for each bookmark, in reading order.
        info: entries of its information dictionary, such as ``Author``.

    Raises:
        ValueError: there is another number of bookmarks.
    """
    pdf = PdfWriter(clone_from=io.BytesIO(data))
    found = bookmarks(pdf)
    if len(found) != len(titles):
        raise ValueError(f"the PDF has {len(found)} bookmarks for {len(titles)} headings")
    for entry, title in zip(found, titles, strict=True):
        entry[NameObject("/Title")] = TextStringObject(title)
    pdf.add_metadata({f"/{name}": text for name, text in info.items()})
    pdf.page_mode = "/UseOutlines"
    shown = pdf.root_object.setdefault(NameObject("/ViewerPreferences"), DictionaryObject())
    shown.get_object()[NameObject("/DisplayDocTitle")] = BooleanObject(True)
    file = io.BytesIO()
    pdf.write(file)
    return file.getvalue()
