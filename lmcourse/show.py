"""What a cell shows: a figure with its words, the package's own source, prose in HTML."""

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

    Three forms go out: HTML whose image carries the text for a screen reader, PNG for exports that
    take images, and the text alone for those that take words.

    Raises:
        CourseError: there is no text.
    """
    import matplotlib.pyplot as plt
    from IPython.display import display

    if not alt.strip():
        raise CourseError(
            "This figure has no alternative text.",
            "Pass alt=… : a sentence that says what is to be seen, for those who cannot see it.",
        )
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png")
    plt.close(fig)  # or the inline backend would show it again
    png = base64.b64encode(buffer.getvalue()).decode("ascii")
    words = " ".join(alt.split())
    image = (
        f'<img alt="{html.escape(words)}" style="max-width:100%;height:auto" '
        f'src="data:image/png;base64,{png}">'
    )
    forms = {"text/html": image, "image/png": png, "text/plain": words}
    display(forms, raw=True, metadata={"image/png": {"alt": words}})


def source(thing: Any) -> None:
    """Display the source of a function or class of the package, read from its module."""
    from IPython.display import Code, display

    code = textwrap.dedent(inspect.getsource(thing))
    module = inspect.getmodule(thing)
    where = module.__name__.replace(".", "/") + ".py" if module else "?"
    display(Code(f"# {where}\n{code}", language="python"))


def prose(text: str) -> str:
    """HTML of a plain text: escaped, `code` between backticks set as code, line breaks kept."""
    marked = re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))
    return marked.replace("\n", "<br>")
