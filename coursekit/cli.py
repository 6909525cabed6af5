"""The command ``lmcourse``: entry points to the other modules."""

import enum
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from coursekit import course
from lmcourse.errors import CourseError

if TYPE_CHECKING:
    from coursekit.repository import Repository

app = typer.Typer(
    help="An interactive course on neural language models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Device(enum.StrEnum):
    """Where models run."""

    cpu = "cpu"
    cuda = "cuda"
    mps = "mps"


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
    watch: Annotated[
        bool, typer.Option("--watch", help="Serve it, and show each edit of a source.")
    ] = False,
    port: Annotated[int, typer.Option(help="With --watch: where to serve. Default: any.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="With --watch: open the browser.")
    ] = True,
) -> None:
    """Build the book in _build/site; it works from there, without a network."""
    from coursekit.book.build import build_book
    from coursekit.repository import Repository

    where = Repository.of(repository, branch)
    if watch:
        _watch(solutions, base_url, where, port, browser)
        return
    page = build_book(_say, solutions, theme, base_url, where)
    print(f"The book is ready. Open it: {page.as_uri()}")


def _watch(
    solutions: bool, base_url: str | None, where: "Repository | None", port: int, browser: bool
) -> None:
    import webbrowser

    from coursekit.book.published import Published
    from coursekit.book.watch import watch
    from coursekit.wheel import build_wheel

    def shown(address: str) -> None:
        print(f"The book is at {address} and shows each edit. Ctrl-C stops it.", flush=True)
        if browser:
            webbrowser.open(address)

    try:
        watch(_say, Published(base_url, where, build_wheel()), solutions, port, shown)
    except KeyboardInterrupt:
        print("Stopped.")


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
    file, printed = build.slide_files(source, output, pdf)
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
    """List or install the pretrained weights and vectors on real English (160 MB, optional)."""
    from coursekit.real import install, overview

    if action == "install":
        install(_say)
    else:
        print(overview())


@app.command()
def pretrain(
    name: Annotated[
        str | None, typer.Argument(help="The recipe: bookworld-mlm. Without one, all are listed.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights, order and masks.")] = 0,
    device: Annotated[
        Device | None, typer.Option(help="Device to train on. Default: the best one available.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help="Folder of the run. Default: _build/pretrain/NAME-SEED"),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Train so many steps only, as a trial; ships nothing.")
    ] = None,
    ship: Annotated[
        bool, typer.Option("--ship/--no-ship", help="Put the model into data/checkpoints.")
    ] = True,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Keep the shipped model; add this seed's result to its record."
        ),
    ] = False,
) -> None:
    """Train one of the course's models from nothing, measure it, and put it into the course.

    Ctrl-C leaves it and ships nothing; the same command goes on from there.
    """
    from research.pretrain import overview, run, spread

    if name is None:
        print(overview.overview())
        return
    if again and steps is not None:
        raise CourseError(
            "--again repeats a whole training run, and --steps runs only part of one.",
            "Omit one of the two.",
        )
    where, beside = None if device is None else device.value, []
    try:
        if again:
            record, shipped = run.again(name, seed=seed, device=where, folder=folder)
            beside = spread.compared(record, shipped)
        else:
            record = run.pretrain(
                name, seed=seed, device=where, folder=folder, ship=ship, steps=steps
            )
    except KeyboardInterrupt:
        raise CourseError(
            f"The training of {name} was interrupted, and nothing is shipped.",
            "Run the same command again to continue from its last checkpoint.",
        ) from None
    print("\n".join([overview.summary(record), *beside]))


@app.command()
def claims(
    names: Annotated[
        list[str] | None, typer.Argument(help="Claims to test. Without one, all are listed.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Test all of them.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time, one thread each.")] = 1,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Default: as many as its finding has, 3 or more.")
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Train so many steps only, as a trial; writes nothing."),
    ] = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Repeat runs that data/claims records.")
    ] = False,
) -> None:
    """Test the papers' claims again, and write what is found into data/claims.

    Runs that are there, or that data/claims records, are not done again. Ctrl-C leaves it; the same
    command goes on from there.
    """
    from research.claims import command, table

    if not names and not every:
        print(command.overview())
        return
    wanted = list(table.CLAIMS) if every else names or []
    try:
        found = command.tested(wanted, at_once=jobs, seeds=seeds, steps=steps, anew=anew, say=_say)
    except KeyboardInterrupt:
        raise CourseError(
            "The test of the claims was interrupted; finished runs are kept.",
            "Run the same command again to continue from there.",
        ) from None
    print("\n\n".join(map(repr, found)))


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
