"""Maths in what cells show. MyST's KaTeX sees the text alone; here TeX becomes MathML."""

import html
import re
from typing import TYPE_CHECKING

from coursekit.book.render.markup import element, escape, is_safe
from coursekit.book.render.renderer import NodeRenderer

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_DELIMITED = re.compile(r"\A\s*(\$\$?|\\\[|\\\()(?P<tex>.*?)(\$\$?|\\\]|\\\))\s*\Z", re.DOTALL)
_UNKNOWN = re.compile(r">(\\[A-Za-z]+)<")  # a command that the converter does not know
# All that the converter writes, but for the class, style and link that TeX can give.
_ELEMENTS = {
    "math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow",
    "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr",
    "munder", "munderover",
}  # fmt: skip
_ATTRIBUTES = {
    "accent", "border-color", "columnalign", "columnlines", "columnspacing", "depth", "display",
    "displaystyle", "fence", "form", "height", "largeop", "linebreak", "linethickness", "lspace",
    "mathbackground", "mathcolor", "mathsize", "mathvariant", "maxsize", "minsize", "movablelimits",
    "notation", "rowlines", "rowspacing", "rspace", "scriptlevel", "separator", "stretchy",
    "voffset", "width", "xmlns",
}  # fmt: skip


def math(renderer: NodeRenderer, tex: str, display: bool = False) -> str:
    """Return the MathML of some TeX; what cannot be read is a problem."""
    from latex2mathml.converter import convert_to_element

    try:
        written = _written(
            convert_to_element(tex.strip(), display="block" if display else "inline")
        )
    except Exception as error:  # the package has no class of its own for its errors
        return _refuse(renderer, tex, str(error) or type(error).__name__)
    unknown = _UNKNOWN.search(written)
    if unknown:
        return _refuse(renderer, tex, f"{unknown[1]} is not known")
    return written


def _written(root: "Element") -> str:
    r"""Write MathML with its text escaped, which the converter's own writer does not do.

    Raises:
        ValueError: an element or attribute is not listed above, such as the style of ``\style``,
            or a link would run a script.
    """
    from xml.etree.ElementTree import tostring

    for each in root.iter():
        if each.tag not in _ELEMENTS:
            raise ValueError(f"a page does not show the element <{each.tag}>")
        for name, value in each.attrib.items():
            if name not in _ATTRIBUTES and not (name == "href" and is_safe(value)):
                raise ValueError(f"a page does not take the attribute {name}={value!r}")
        # The converter names symbols by character references.
        each.text = html.unescape(each.text or "")
    return tostring(root, encoding="unicode", short_empty_elements=False)


def latex(renderer: NodeRenderer, text: str) -> str:
    """Return the MathML of an output in LaTeX, with or without its dollars."""
    match = _DELIMITED.match(text)
    shown = math(renderer, match["tex"] if match else text, display=True)
    return element("div", shown, class_="output latex scroll")


def _refuse(renderer: NodeRenderer, tex: str, reason: str) -> str:
    renderer.problem(f"the equation `{tex.strip()}` in an output is not right: {reason}.")
    return element("code", escape(tex))


def markdown(renderer: NodeRenderer, text: str, *, inline: bool = False) -> str:
    """Return the HTML of Markdown in an output: tables, maths, and no HTML of its own.

    Quotes and apostrophes are typographic, as MyST's are in the prose around it.

    Args:
        inline: whether it is a part of a paragraph, such as a caption.
    """
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    parser = MarkdownIt("commonmark", {"html": False, "typographer": True})
    parser.enable(["table", "smartquotes"])
    parser.use(
        dollarmath_plugin,
        allow_space=False,
        allow_digits=False,  # $5 and $6 are prices
        double_inline=True,
        renderer=lambda tex, options: math(renderer, tex, options["display_mode"]),
    )
    return str(parser.renderInline(text) if inline else parser.render(text))
