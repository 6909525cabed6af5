"""The command ``lmcourse``: entry points to the other modules."""

import io
import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from coursekit import course, research_commands
from coursekit.research_commands import Device
from lmcourse.errors import CourseError
from lmcourse.files import expanded

app = typer.Typer(
    help="An interactive course on neural language models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


research_commands.add_to(app)

DeviceOption = Annotated[
    Device | None,
    typer.Option(
        help="Device for notebooks. Default: LMCOURSE_DEVICE, else the best one available."
    ),
]


@app.command()
def lab(
    port: Annotated[
        int | None,
        typer.Option(help="The port to serve on. Default: the first free one from 8888."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the start page in the browser.")
    ] = True,
    device: DeviceOption = None,
) -> None:
    """Lay your notebooks out in workbook/ and open them in JupyterLab. Ctrl-C stops it.

    Notebooks that you edited are never overwritten.
    """
    from coursekit.notebooks.serve import serve_lab

    _set_device(device)
    serve_lab(port=port, open_browser=browser)


@app.command()
def workbook() -> None:
    """Write your notebooks to workbook/, for an editor other than JupyterLab."""
    from coursekit.notebooks.serve import prepare

    prepare()


@app.command(context_settings={"allow_extra_args": True})
def test(
    context: typer.Context,
    only: Annotated[
        str | None, typer.Option(help="Test a chapter and its lab (--only 02), or a widget's page.")
    ] = None,
    device: DeviceOption = None,
) -> None:
    """Run the package's tests, every notebook, and the labs' checks.

    Arguments after `--` go to pytest: `lmcourse test --only 02 -- -x -k clipping`.
    """
    from coursekit import testing

    raise typer.Exit(testing.run(only, None if device is None else device.value, context.args))


@app.command()
def book(
    solutions: Annotated[
        bool, typer.Option("--solutions", help="Include the labs' solutions, folded.")
    ] = False,
    theme: Annotated[
        str,
        typer.Option(help="The course's own `theme`, or `book-theme`, the official one (network)."),
    ] = "theme",
    base_url: Annotated[
        str | None,
        typer.Option(envvar="BASE_URL", help="Where it will be served: https://example.org/course"),
    ] = None,
    repository: Annotated[
        str | None,
        typer.Option(
            envvar="REPOSITORY",
            help="Where its sources are: https://github.com/OWNER/NAME. Default: pyproject.toml's.",
        ),
    ] = None,
    branch: Annotated[
        str | None, typer.Option(envvar="BRANCH", help="The branch of the sources.")
    ] = None,
    pdf: Annotated[bool, typer.Option("--pdf", help="Also print it as one PDF.")] = False,
    epub: Annotated[bool, typer.Option("--epub", help="Also write it as one EPUB.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Serve it, and show each edit of a source.")
    ] = False,
    port: Annotated[
        int,
        typer.Option(help="With --watch: where to serve. Default: any.", min=0, max=65535),
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="With --watch: open the browser.")
    ] = True,
) -> None:
    """Build the book in _build/site; it works from there, without a network."""
    from coursekit.book.build import build_book, paper_files
    from coursekit.book.published import checked
    from coursekit.book.watch import watch_book
    from coursekit.repository import Repository

    where = Repository.of(repository, branch)
    if watch and (pdf or epub or theme != "theme"):
        raise CourseError(
            "--watch writes pages in the course's own theme, and no PDF or EPUB.",
            "Leave out --watch, or --pdf, --epub and --theme.",
        )
    if watch:
        watch_book(_say, base_url, where, solutions, port, browser)
        return
    files = paper_files(pdf, epub, theme)
    page = build_book(_say, solutions, theme, base_url, where)
    print(f"The book is ready. Open it: {page.as_uri()}")
    if files:
        from coursekit.book.paper import write_paper

        pdf_file, epub_file = files.get("pdf"), files.get("epub")
        write_paper(page.parent, pdf_file, epub_file, where, _say, checked(base_url))
        print("Written:", *files.values())


@app.command()
def wheel() -> None:
    """Build the package as one file, for notebooks outside of the course's checkout."""
    from coursekit.wheel import build_wheel

    path = build_wheel()
    print(f"The wheel is {path} ({path.stat().st_size / 1e6:.1f} MB).")
    print(f"Install it with: python -m pip install {path.name}")


@app.command()
def slides(
    number: Annotated[str, typer.Argument(help="The chapter: 02")],
    present: Annotated[bool, typer.Option("--present", help="Open them in the browser.")] = False,
    pdf: Annotated[bool, typer.Option("--pdf", help="Also print them as PDF.")] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Open them in JupyterLab, with running cells.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            help="The file to write; with --pdf, one that ends in .pdf is the PDF. "
            "Default: _build/slides/NN-name.html"
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(envvar="BASE_URL", help="The book's URL, for links to its pages."),
    ] = None,
) -> None:
    """Make a chapter's slides: one self-contained HTML file."""
    from coursekit.book import build

    source = course.chapter(number)
    if live:
        from coursekit.book.slides.server import serve_live

        serve_live(build.build_live(source, _say))
        return
    chosen = None if output is None else expanded(output)
    file, printed = build.slide_files(source, chosen, pdf)
    build.build_slides(source, _say, file, base_url)
    print(f"The slides are in {file}\nSpeaker's notes: key S. Light or dark: T. All keys: ?")
    if printed is not None:
        from coursekit.book.slides.pdf import write_pdf

        write_pdf(file, printed)
        print(f"Printed: {printed}")
    if present:
        from coursekit.book.slides.deck import present as show

        if not show(file):
            print(f"No browser was found. The slides are at {file.as_uri()}")


@app.command()
def models(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Models to fetch: bert-base-uncased, organization/name, name@revision"),
    ] = None,
) -> None:
    """List the available models; download those that you name, for use without a network."""
    from coursekit.models import overview
    from lmcourse import hub

    for name in names or []:
        print(hub.load(name))
    if not names:
        print(overview())


@app.command()
def real(
    action: Annotated[
        Literal["list", "install"], typer.Argument(help="`install` downloads what is missing.")
    ] = "list",
) -> None:
    """List or install weights, vectors and corpora of real English (220 MB, optional)."""
    from coursekit.real import install, overview

    if action == "install":
        install(_say)
    else:
        print(overview())


@app.command()
def new(
    what: Annotated[Literal["chapter"], typer.Argument(help="chapter")],
    number: Annotated[str, typer.Argument(help="Its number: 13")],
    title: Annotated[str | None, typer.Option(help="Default: the outline's.")] = None,
    question: Annotated[str | None, typer.Option(help="Default: the outline's.")] = None,
) -> None:
    """Write a chapter and its lab, to be filled; say what they need."""
    from coursekit.new import new_chapter

    print(new_chapter(number, title, question))


@app.command()
def doctor() -> None:
    """Check the installation and the device; explain what would not work."""
    from coursekit import doctor as checks

    raise typer.Exit(checks.main())


def _say(line: str) -> None:
    print(line, flush=True)


def _set_device(device: Device | None) -> None:
    """Pass the choice on to the kernels, which inherit the environment, if it can be had.

    PyTorch is asked only where somebody chose: its import takes a second.

    Raises:
        CourseError: the device is not there.
    """
    if device is not None:
        os.environ["LMCOURSE_DEVICE"] = device.value
    if os.environ.get("LMCOURSE_DEVICE"):
        from lmcourse import devices

        devices.device()


def main() -> None:
    """Run the command; what the reader can fix is two sentences and status 1, no traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a path may have letters that a console lacks
            stream.reconfigure(errors="replace")
    try:
        app(prog_name="lmcourse")
    except CourseError as error:
        print(f"{error.cause}\n{error.remedy}", file=sys.stderr)
        sys.exit(1)
