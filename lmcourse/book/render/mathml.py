"""Maths in what cells show. MyST's KaTeX sees the text alone; here TeX becomes MathML."""

import re
from typing import TYPE_CHECKING

from lmcourse.book.render.markup import element, escape

if TYPE_CHECKING:
    from lmcourse.book.render.nodes import Renderer

_DELIMITED = re.compile(r"\A\s*(\$\$?|\\\[|\\\()(?P<tex>.*?)(\$\$?|\\\]|\\\))\s*\Z", re.DOTALL)
_UNKNOWN = re.compile(r">(\\[A-Za-z]+)<")  # a command that the converter does not know


def math(renderer: "Renderer", tex: str, display: bool = False) -> str:
    """Return the MathML of some TeX; what cannot be read is a problem."""
    from latex2mathml.converter import convert

    try:
        written = convert(tex.strip(), display="block" if display else "inline")
    except Exception as error:  # the package has no class of its own for its errors
        return _refuse(renderer, tex, str(error) or type(error).__name__)
    unknown = _UNKNOWN.search(written)
    if unknown:
        return _refuse(renderer, tex, f"{unknown[1]} is not known")
    return written


def latex(renderer: "Renderer", text: str) -> str:
    """Return the MathML of an output in LaTeX, with or without its dollars."""
    match = _DELIMITED.match(text)
    shown = math(renderer, match["tex"] if match else text, display=True)
    return element("div", shown, class_="output latex scroll")


def _refuse(renderer: "Renderer", tex: str, reason: str) -> str:
    renderer.problem(f"the equation `{tex.strip()}` in an output is not right: {reason}.")
    return element("code", escape(tex))


def markdown(renderer: "Renderer", text: str) -> str:
    """Return the HTML of an output in Markdown: tables, maths, and no HTML of its own."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.use(
        dollarmath_plugin,
        allow_space=False,
        allow_digits=False,  # $5 and $6 are prices
        double_inline=True,
        renderer=lambda tex, options: math(renderer, tex, options["display_mode"]),
    )
    return str(parser.render(text))
