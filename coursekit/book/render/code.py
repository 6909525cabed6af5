"""Code with colors: Pygments' classes, which the style sheets color for light and dark pages."""

import re
from collections.abc import Collection
from functools import lru_cache

from pygments import highlight as _pygments
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound

from coursekit.book.render.markup import element, escape

# Pygments' classes for names, numbers, operators and spaces, which have the text's own color:
# without them, a page is smaller by more than a quarter.
_PLAIN = re.compile(r'<span class="(?:n|nn|mi|mf|mh|il|si|o|p|w)">([^<]*)</span>')
_STRINGS = re.compile(r'(<span class="s[12]">[^<]*)</span><span class="s[12]">')  # side by side
_PREFIX = re.compile(r'<span class="sa">([^<]*)</span>(<span class="s[12]">)')  # as in f"…"
_NAMED = {"ipython": "python", "ipython3": "python", "plaintext": "text", "none": "text"}


def highlight(
    code: str,
    language: str,
    *,
    filename: str | None = None,
    numbers_from: int | None = None,
    emphasized: Collection[int] = (),
) -> str:
    """Return the HTML of some code.

    Args:
        language: a name that Pygments knows; any other is shown without colors.
        filename: is shown above it.
        numbers_from: the first line's number, if lines are numbered.
        emphasized: lines to mark, counted from 1.
    """
    name = _NAMED.get(language, language)
    colored = _pygments(code, _lexer(name), _formatter()).rstrip("\n")
    colored = _STRINGS.sub(r"\1", _PREFIX.sub(r"\2\1", _PLAIN.sub(r"\1", colored)))
    if numbers_from is not None or emphasized:
        colored = _lines(colored, numbers_from, emphasized)
    inner = element("code", colored, class_=_language_class(name))
    content = element("pre", inner, class_="scroll")
    if filename:
        content = element("div", escape(filename), class_="code-name") + content
    return element("div", content, class_="code")


@lru_cache
def _formatter() -> HtmlFormatter:
    return HtmlFormatter(nowrap=True)


@lru_cache
def _lexer(name: str) -> Lexer:
    try:
        return get_lexer_by_name(name, stripnl=False)
    except ClassNotFound:
        return TextLexer(stripnl=False)


def _language_class(name: str) -> str | None:
    return f"language-{name}" if re.fullmatch(r"[\w+-]+", name) else None


def _lines(colored: str, numbers_from: int | None, emphasized: Collection[int]) -> str:
    """Wrap each line: Pygments closes its spans at each line's end, so none is torn."""
    out = []
    for index, line in enumerate(colored.split("\n"), start=1):
        number = None if numbers_from is None else numbers_from + index - 1
        marked = "line marked" if index in emphasized else "line"
        out.append(element("span", line, class_=marked, data_number=number))
    return "\n".join(out)
