"""Displays in a notebook: figures with alternative text, source code, prose as HTML."""

import ast
import base64
import html
import inspect
import io
import re
import textwrap
from typing import TYPE_CHECKING, Any

from lmcourse.diagram import Diagram
from lmcourse.errors import CourseError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DENSITY = 2  # pixels of a plot's image for one pixel of the page: sharp on phones and projectors


def figure(
    fig: "Figure | Diagram", alt: str, caption: str = "", *, number: int | None = None
) -> None:
    """Display a plot or a diagram with its alternative text and its caption.

    Args:
        alt: what is to be seen, for those who cannot see it.
        caption: the conclusion to draw; Markdown's code and mathematics between dollar signs.
        number: of the figure in its chapter, from 1.

    Raises:
        CourseError: there is no alternative text.
    """
    from IPython.display import display

    data, metadata = forms(fig, alt, caption, number)
    if not isinstance(fig, Diagram):
        import matplotlib.pyplot as plt

        plt.close(fig)  # or the inline backend would display it again
    display(data, raw=True, metadata=metadata)


def forms(
    fig: "Figure | Diagram", alt: str, caption: str = "", number: int | None = None
) -> tuple[dict[str, str], dict[str, Any]]:
    """Return a figure as MIME bundle and metadata for Jupyter.

    There are three forms: HTML with alternative text for screen readers, an image (SVG of diagrams,
    PNG of plots) for exports with images, and plain text for those without.

    Raises:
        CourseError: there is no alternative text.
    """
    if not alt.strip():
        raise CourseError(
            "This figure has no alternative text.",
            "Pass alt=…, a description for those who cannot see the figure.",
        )
    words = " ".join(alt.split())
    caption = " ".join(caption.split())
    title = "" if number is None else f"Figure {number}"
    described: dict[str, Any] = {"alt": words, "caption": caption, "title": title}
    described["smallest"] = _smallest_text(fig.figure if isinstance(fig, Diagram) else fig)
    if isinstance(fig, Diagram):
        mime, image = "image/svg+xml", fig.svg()
        encoded = base64.b64encode(image.encode()).decode("ascii")
    else:
        mime, image = "image/png", _png(fig)
        encoded = image
        width, height = (round(inches * fig.dpi) for inches in fig.get_size_inches())
        described |= {"width": width, "height": height}
    size = f'width="{described["width"]}" ' if "width" in described else ""
    shown = f'<img alt="{html.escape(words)}" style="max-width:100%;height:auto" '
    shown += f'{size}src="data:{mime};base64,{encoded}">'
    if title or caption:
        line = f"<b>{title}.</b> {prose(caption)}" if title else prose(caption)
        shown = f'<figure style="margin:0">{shown}<figcaption>{line}</figcaption></figure>'
    plain = " ".join(part for part in (title and f"{title}.", caption, words) if part)
    return {"text/html": shown, mime: image, "text/plain": plain}, {mime: described}


def _smallest_text(fig: "Figure") -> str:
    """Return the size of the smallest type in a drawn figure, in pixels of its image."""
    from matplotlib.text import Text

    texts = [text for text in fig.findobj(Text) if text.get_visible() and text.get_text().strip()]
    points = min((text.get_fontproperties().get_size_in_points() for text in texts), default=0)
    return f"{points * fig.dpi / 72:.1f}"


def _png(fig: "Figure") -> str:
    """Return a plot as PNG in base64, with `DENSITY` times the figure's resolution."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    buffer, dpi = io.BytesIO(), fig.dpi
    fig.set_dpi(DENSITY * dpi)
    FigureCanvasAgg(fig).print_png(buffer)  # savefig draws it twice
    fig.set_dpi(dpi)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def source(thing: Any, *, brief: bool = False) -> None:
    """Display the source of a function or class of the package, read from its module.

    Args:
        brief: whether to shorten its docstring to the first line.
    """
    from IPython.display import Code, display

    code = textwrap.dedent(inspect.getsource(thing))
    module = inspect.getmodule(thing)
    where = module.__name__.replace(".", "/") + ".py" if module else "?"
    display(Code(f"# {where}\n{_brief(code) if brief else code}", language="python"))


def _brief(code: str) -> str:
    """Return a definition with only the first line of its docstring."""
    definition = ast.parse(code).body[0]
    assert isinstance(definition, ast.FunctionDef | ast.ClassDef)
    text, first = ast.get_docstring(definition), definition.body[0]
    if not text or first.end_lineno is None:
        return code
    lines = code.splitlines()
    summary = f'{" " * first.col_offset}"""{text.splitlines()[0]}"""'
    lines[first.lineno - 1 : first.end_lineno] = [summary]
    return "\n".join(lines) + "\n"


def prose(text: str) -> str:
    """Return plain text as HTML: escaped, with `code` between backticks, and line breaks."""
    marked = re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))
    return marked.replace("\n", "<br>")
