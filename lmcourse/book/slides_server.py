"""Present live slides: serve their folder with JupyterLab until it is stopped."""

from pathlib import Path

from rich.console import Console

from lmcourse.book.live import presentation_url
from lmcourse.notebooks import lab_settings, serve
from lmcourse.notebooks.lab_settings import HOST
from lmcourse.notebooks.workbook import PRIVATE

_DEFAULT_URL = "--LabApp.default_url="


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
    target = presentation_url(notebook)
    with serve._stopped_by_signals():
        number = serve.free_port() if port is None else serve.require_port(port)
        lab_settings.require_runtime_folder()
        lab = lab_settings.write_settings(notebook.parent / PRIVATE)
        environment = lab_settings.environment(notebook.parent, lab)
        command = lab_settings.command(notebook.parent, lab, number, open_browser)
        command = [each for each in command if not each.startswith(_DEFAULT_URL)]
        command.append(_DEFAULT_URL + target)
        console.print("Starting JupyterLab …")
        _run(command, environment, lab / "jupyterlab.log", (number, target), console)
    console.print("The presentation has stopped.")


def _run(
    command: list[str],
    environment: dict[str, str],
    log: Path,
    place: tuple[int, str],
    console: Console,
) -> None:
    """Run the server as a child until it ends or this process is told to stop."""
    (port, target), token = place, environment["JUPYTER_TOKEN"]
    asked_to_stop = False
    with log.open("wb") as output:
        child = serve._spawn(command, environment, output)
        try:
            serve._wait_until_ready(child, port, token, log)
            url = f"http://{HOST}:{port}{target}?token={token}"
            console.print(f"\nThe live slides are open at\n  {url}\n", soft_wrap=True)
            console.print("Click into a cell once. Ctrl + Enter runs the one that is marked,")
            console.print("Shift + Enter runs it and goes on, Space shows the next slide.")
            console.print("Ctrl + C here stops the presentation.")
            child.wait()
        except KeyboardInterrupt:
            asked_to_stop = True
            console.print("\nStopping JupyterLab and its kernels …")
        finally:
            serve._end(child, port, token)
    if child.returncode and not asked_to_stop:
        raise serve._failed(child.returncode, log)
