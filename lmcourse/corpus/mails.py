"""SpamAssassin's public corpus: 6,046 mails of 2001 and 2002, spam or not, with all their headers.

`lmcourse real install` installs it as one file of JSON lines per group; each line has a mail, each
byte of it as the character of that code. The library's `email` takes a mail apart. Its body is the
text that a person would read: transfer encodings are undone, of several alternatives the first is
taken, HTML is reduced to its text, and images, signatures and other files are left out.

Headers show where and when a mail was collected, so a classifier that reads them learns this.
"""

import email
import html
import re
from collections.abc import Iterator
from contextlib import suppress
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lmcourse import releases
from lmcourse.corpus import streams
from lmcourse.errors import CourseError

GROUPS = ("easy-ham-1", "easy-ham-2", "hard-ham-1", "spam-1", "spam-2")

_AGAIN = "Leave the folder out: `lmcourse real install` installs the mails."
# Names that the mails declare, and the codecs that read them: each a superset of what it names.
_CODECS = {
    "gb2312": "gb18030",
    "gb2312_charset": "gb18030",
    "chinesebig5": "big5hkscs",
    "ks_c_5601-1987": "cp949",
}
_HIDDEN = re.compile(r"(?is)<!--.*?-->|<(script|style|title)\b.*?</\1\s*>")
_BLOCK = re.compile(r"(?i)</?(p|br|div|t[dhr]|table|li|[uo]l|h[1-6r]|center|blockquote)\b[^>]*>")
_TAG = re.compile(r"<[a-zA-Z/!?][^>]*>")


class Mail(NamedTuple):
    """One mail.

    Attributes:
        headers: name and value of each header, in the mail's order; names may occur repeatedly.
        body: the text, which may be empty.
        group: one of `GROUPS`.
    """

    headers: tuple[tuple[str, str], ...]
    body: str
    group: str

    @property
    def spam(self) -> bool:
        """Whether people called it spam."""
        return self.group.startswith("spam")


class _Line(msgspec.Struct):
    text: str


class Mails:
    """The mails, read anew with each iteration and never wholly in memory.

    Args:
        folder: a folder with files in the same format, such as spam-1.jsonl; None: the installed
            corpus.

    Raises:
        CourseError: it is not installed, hidden (``LMCOURSE_REAL=off``) or damaged; the folder
            lacks a group.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = releases.verified("mails") if folder is None else folder
        for group in GROUPS:
            if not self._path(group).is_file():
                raise CourseError(f"There is no file {self._path(group)}.", _AGAIN)

    def mails(self) -> Iterator[Mail]:
        """The mails, group by group.

        Raises:
            CourseError: a file cannot be read, or a line is not a mail.
        """
        decode = msgspec.json.Decoder(_Line).decode
        for group in GROUPS:
            path = self._path(group)
            for number, line in enumerate(streams.lines(streams.chunks(path), path), start=1):
                try:
                    raw = decode(line).text.encode("latin-1")
                except (msgspec.MsgspecError, ValueError, RecursionError) as error:
                    cause = f"Line {number:,} of {path} is not a mail as JSON: {error}."
                    raise CourseError(cause, _AGAIN) from None
                message = email.message_from_bytes(raw)
                headers = ((name, _header(value)) for name, value in message.raw_items())
                yield Mail(tuple(headers), _body(message), group)

    def _path(self, group: str) -> Path:
        return self.folder / f"{group}.jsonl"


def _header(value: str) -> str:
    """A header's value on one line, its encoded words decoded (RFC 2047) where that is possible."""
    text = " ".join(_decoded(value.encode("utf-8", "surrogateescape"), None).split())
    try:
        words = decode_header(text)
    except HeaderParseError:
        return text
    return "".join(
        word if isinstance(word, str) else _decoded(word, charset) for word, charset in words
    )


def _body(part: Message) -> str:
    """The text of a mail or of a part of it."""
    if part.is_multipart():
        parts: Any = part.get_payload()
        found = [text for each in parts if (text := _body(each)).strip()]
        alternatives = part.get_content_subtype() == "alternative"
        return "\n".join(found[:1] if alternatives else found)
    # Parts that no boundary separates are one text.
    if part.get_content_maintype() not in ("text", "multipart"):
        return ""
    data: Any = part.get_payload(decode=True)
    text = _decoded(data, part.get_content_charset())
    return _without_markup(text) if part.get_content_subtype() == "html" else text


def _decoded(data: bytes, charset: str | None) -> str:
    """Text in the declared charset; in UTF-8 or Windows-1252 if that is missing or wrong."""
    for codec in (_CODECS.get(charset or "", charset), "utf-8"):
        with suppress(LookupError, ValueError):
            if codec:
                return data.decode(codec)
    return data.decode("cp1252", "replace")


def _without_markup(text: str) -> str:
    """The text of an HTML page, without blank lines. A tag within a word leaves the word whole."""
    text = html.unescape(_TAG.sub("", _BLOCK.sub("\n", _HIDDEN.sub("", text))))
    return "\n".join(stripped for line in text.splitlines() if (stripped := line.strip()))
