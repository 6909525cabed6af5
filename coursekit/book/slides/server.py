"""Present live slides: serve their folder with JupyterLab until it is stopped."""

from pathlib import Path

from rich.console import Console

from coursekit.book.slides.live import presentation_url
from coursekit.notebooks import jupyterlab

_SAID = (
    "\nThe live slides are open at\n  {url}\n",
    "Click into a cell once. Ctrl + Enter runs the one that is marked,",
    "Shift + Enter runs it and goes on, Space shows the next slide.",
    "Ctrl + C here stops the presentation.",
)


def serve_live(notebook: Path, port: int | None = None, open_browser: bool = True) -> None:
    """Serve a live notebook's folder and open its presentation; Ctrl-C or a signal ends it.

    Args:
        notebook: what `live.write_live` wrote.
        port: where to serve; by default the first free one from 8888.
        open_browser: whether to open the presentation in the browser.

    Raises:
        CourseError: JupyterLab cannot present slides here, the port is taken, or the server ends by
            itself with an error.
    """
    console = Console(highlight=False)
    notebook = notebook.absolute()
    page = presentation_url(notebook)
    with jupyterlab.able_to_serve(port):
        jupyterlab.run(notebook.parent, page, port, open_browser, console, _SAID)
    console.print("The presentation has stopped.")
