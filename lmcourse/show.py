"""What a cell shows: a figure with its words, the package's own source, prose in HTML."""

import ast
import base64
import html
import inspect
import io
import re
import textwrap
from typing import TYPE_CHECKING, Any

from lmcourse.errors import CourseError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure(fig: "Figure", alt: str) -> None:
    """Display a figure with the text that says what is to be seen in it.

    Raises:
        CourseError: there is no text.
    """
    import matplotlib.pyplot as plt
    from IPython.display import display

    data, metadata = forms(fig, alt)
    plt.close(fig)  # or the inline backend would show it again
    display(data, raw=True, metadata=metadata)


def forms(fig: "Figure", alt: str) -> tuple[dict[str, str], dict[str, Any]]:
    """A figure as Jupyter displays it, and what it is told besides.

    Three forms go out: HTML whose image carries the text for a screen reader, PNG for exports that
    take images, and the text alone for those that take words.

    Raises:
        CourseError: there is no text.
    """
    if not alt.strip():
        raise CourseError(
            "This figure has no alternative text.",
            "Pass alt=… : a sentence that says what is to be seen, for those who cannot see it.",
        )
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    buffer = io.BytesIO()
    FigureCanvasAgg(fig).print_png(buffer)  # savefig draws twice, the same
    png = base64.b64encode(buffer.getvalue()).decode("ascii")
    words = " ".join(alt.split())
    image = (
        f'<img alt="{html.escape(words)}" style="max-width:100%;height:auto" '
        f'src="data:image/png;base64,{png}">'
    )
    data = {"text/html": image, "image/png": png, "text/plain": words}
    return data, {"image/png": {"alt": words}}


def source(thing: Any, *, brief: bool = False) -> None:
    """Display the source of a function or class of the package, read from its module.

    Args:
        brief: whether only the first line of its docstring is shown, so that the code stands out.
    """
    from IPython.display import Code, display

    code = textwrap.dedent(inspect.getsource(thing))
    module = inspect.getmodule(thing)
    where = module.__name__.replace(".", "/") + ".py" if module else "?"
    display(Code(f"# {where}\n{_brief(code) if brief else code}", language="python"))


def _brief(code: str) -> str:
    """A definition with the first line of its docstring alone."""
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
    """HTML of a plain text: escaped, `code` between backticks set as code, line breaks kept."""
    marked = re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))
    return marked.replace("\n", "<br>")
