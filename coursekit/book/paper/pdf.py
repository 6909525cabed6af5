"""What is read from, and changed in, a PDF that Chromium printed.

Its objects are plain text with a table of their offsets (PDF 1.4). Changes are appended as an
incremental update (PDF 32000-1:2008, section 7.5.6): new versions of objects, and a table of these.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

_TITLE = re.compile(rb"/Title (?:\((?:\\.|[^\\()])*\)|<[^<>]*>)", re.DOTALL)
_NAME = re.compile(rb"/([^\s/<>\[\]()]+) \[(\d+) 0 R")
_ESCAPED = re.compile(rb"#([0-9A-Fa-f]{2})")


class Pdf:
    """A printed PDF.

    Raises:
        ValueError: it is not of the form that Chromium prints.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.start = int(self._found(rb"startxref\s+(\d+)\s+%%EOF\s*\Z", data))
        self.trailer = data[data.rindex(b"trailer") :]
        self.offsets = self._table()
        self.root = int(self._found(rb"/Root (\d+) 0 R", self.trailer))
        self.catalog = self.object(self.root)

    @staticmethod
    def _found(pattern: bytes, data: bytes) -> bytes:
        if found := re.search(pattern, data):
            return found[1]
        raise ValueError(f"the PDF has no {pattern.decode()}")

    def _table(self) -> dict[int, int]:
        """Read where the objects are: an update's table leads to the one before it."""
        offsets: dict[int, int] = {}
        start: int | None = self.start
        while start is not None:
            end = self.data.index(b"trailer", start)
            number = 0
            for line in self.data[start:end].splitlines()[1:]:
                fields = line.split()
                if len(fields) == 2:
                    number = int(fields[0])
                elif len(fields) == 3:
                    offsets.setdefault(number, int(fields[0]))
                    number += 1
            trailer = self.data[end : self.data.index(b"startxref", end)]
            earlier = re.search(rb"/Prev (\d+)", trailer)
            start = int(earlier[1]) if earlier else None
        return offsets

    def object(self, number: int) -> bytes:
        """Return a dictionary, without what is around it."""
        start = self.offsets[number]
        head = b"%d 0 obj" % number
        if not self.data.startswith(head, start):
            raise ValueError(f"object {number} of the PDF is not where its table says")
        return self.data[start + len(head) : self.data.index(b"endobj", start)].strip()

    def pages(self) -> list[int]:
        """Return the objects of the pages, in order."""
        found, waiting = [], [int(self._found(rb"/Pages (\d+) 0 R", self.catalog))]
        while waiting:
            number = waiting.pop(0)
            node = self.object(number)
            if kids := re.search(rb"/Kids \[([^\]]*)\]", node):
                waiting[:0] = [int(it) for it in re.findall(rb"(\d+) 0 R", kids[1])]
            else:
                found.append(number)
        return found

    def numbers(self) -> dict[str, int]:
        """Return the page of each anchor that a link of the document leads to, counted from 1."""
        pages = {number: page for page, number in enumerate(self.pages(), start=1)}
        if not (anchors := re.search(rb"/Dests (\d+) 0 R", self.catalog)):
            return {}
        found = _NAME.findall(self.object(int(anchors[1])))
        return {_plain(name): pages[int(page)] for name, page in found}

    def bookmarks(self) -> list[int]:
        """Return the objects of the outline's entries, in reading order."""
        outline = self.object(int(self._found(rb"/Outlines (\d+) 0 R", self.catalog)))
        return list(self._entries(outline))

    def _entries(self, parent: bytes) -> Iterator[int]:
        following = re.search(rb"/First (\d+) 0 R", parent)
        while following:
            number = int(following[1])
            entry = self.object(number)
            yield number
            yield from self._entries(entry)
            following = re.search(rb"/Next (\d+) 0 R", entry)

    def with_titles(self, titles: Sequence[str], info: Mapping[str, str]) -> bytes:
        """Return the PDF with other bookmarks' titles, and with more said about it.

        Args:
            titles: one for each bookmark, in reading order.
            info: entries of its information dictionary, such as ``Author``.

        Raises:
            ValueError: there is another number of bookmarks.
        """
        bookmarks = self.bookmarks()
        if len(bookmarks) != len(titles):
            raise ValueError(f"the PDF has {len(bookmarks)} bookmarks for {len(titles)} headings")
        changed = {
            number: _TITLE.sub(b"/Title " + _text(title), self.object(number), count=1)
            for number, title in zip(bookmarks, titles, strict=True)
        }
        about = int(self._found(rb"/Info (\d+) 0 R", self.trailer))
        more = b"".join(b"/%s %s\n" % (name.encode(), _text(it)) for name, it in info.items())
        changed[about] = self.object(about).removesuffix(b">>") + b"\n" + more + b">>"
        changed[self.root] = (
            self.catalog.removesuffix(b">>")
            + b"\n/PageMode /UseOutlines\n/ViewerPreferences <</DisplayDocTitle true>>\n>>"
        )
        return self._updated(changed)

    def _updated(self, changed: Mapping[int, bytes]) -> bytes:
        parts, length, table = [self.data], len(self.data), [b"xref\n0 0\n"]
        for number in sorted(changed):
            part = b"%d 0 obj\n%s\nendobj\n" % (number, changed[number])
            table.append(b"%d 1\n%010d 00000 n \n" % (number, length))
            parts.append(part)
            length += len(part)
        trailer = self.trailer[: self.trailer.rindex(b">>")]
        end = b"/Prev %d\n>>\nstartxref\n%d\n%%%%EOF\n" % (self.start, length)
        return b"".join([*parts, *table, trailer, b"\n", end])


def _plain(name: bytes) -> str:
    return _ESCAPED.sub(lambda it: bytes([int(it[1], 16)]), name).decode()


def _text(words: str) -> bytes:
    """Return a text string: UTF-16, in hexadecimal digits."""
    return b"<feff" + words.encode("utf-16-be").hex().encode() + b">"
