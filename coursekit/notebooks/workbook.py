"""Lay the course's notebooks out in the student's folder, and never overwrite what was edited.

One direction only: from the tracked sources to the workbook. For each file:

- absent: written (deleting a file is how a student gets a fresh copy);
- there and not edited: replaced when the course's version changed; the old file, with its outputs,
  is kept in ``.lmcourse/replaced``;
- edited: left alone; a newer version goes beside it, once, as ``NAME.updated.ipynb``.
"""

import copy
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from filelock import FileLock, Timeout

from coursekit import course
from coursekit.notebooks import contents, files, glossary
from coursekit.notebooks.manifest import Entry, Manifest
from coursekit.notebooks.masters import student_version
from coursekit.notebooks.sources import markdown_notebook, read_notebook, to_bytes
from coursekit.notebooks.targets import Targets
from lmcourse.errors import CourseError

if TYPE_CHECKING:
    from nbformat import NotebookNode

PRIVATE = ".lmcourse"
REPLACED = f"{PRIVATE}/replaced"
GLOSSARY = f"{glossary.PAGE}.ipynb"
# What the course, its tools and `make clean` write and delete in the checkout, besides hidden
# folders: no place for a workbook.
_TAKEN = frozenset(course.FOLDERS.values()) | {
    "_build", "benchmarks", "coursekit", "data", "lmcourse", "pictures", "research", "tests",
    "theme", "web",
}  # fmt: skip
_PATIENCE = 60  # seconds, for another command that lays out the same workbook
_ATTEMPTS = 10  # to write a file that another program keeps changing
# Beside sources are figures and data. Notebooks are products, and code lives in the package: what
# an author tries out there (a solution, perhaps) is not laid out.
_NOT_COPIED = {".md", ".ipynb", ".py", ".pyc"}


State = Literal["written", "replaced", "current", "edited", "broken"]


@dataclass(frozen=True)
class Product:
    """One file to lay out; ``digest`` is of its content (`contents.of_bytes`)."""

    name: str  # relative to the workbook, with "/"
    data: bytes
    digest: str


@dataclass
class Report:
    """What a layout did; names are relative to ``folder``, with ``/``."""

    folder: Path
    written: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    updates: dict[str, str] = field(default_factory=dict)  # edited file -> newer version beside it
    broken: list[str] = field(default_factory=list)  # files that cannot be read
    notices: list[str] = field(default_factory=list)


def product_name(source: course.Source) -> str:
    """Return where a source's notebook lies in the workbook: ``labs/02-slug.ipynb``."""
    return f"{course.FOLDERS[source.kind]}/{source.slug}.ipynb"


def products() -> Iterator[Product]:
    """Build every file of the workbook: notebooks, and the figures beside their sources.

    Raises:
        CourseError: a source cannot be read, a lab's solution marks are wrong, a term is defined
            twice, or a work, term or page that a cell refers to does not exist.
    """
    notebooks = {source: read_notebook(source.path) for source in course.sources()}
    targets = Targets.of(notebooks)
    for source, notebook in notebooks.items():
        laid = handed_out(source, notebook, targets)
        yield _product(product_name(source), to_bytes(laid))
    if targets.terms:
        yield _product(GLOSSARY, to_bytes(_glossary(targets)))
    for folder in course.FOLDERS.values():
        base = course.root() / folder
        for path in sorted(base.rglob("*")):
            parts = path.relative_to(base).parts
            hidden = any(part.startswith((".", "__")) for part in parts)
            if path.is_file() and not hidden and path.suffix not in _NOT_COPIED:
                yield _product("/".join((folder, *parts)), path.read_bytes())


def handed_out(source: course.Source, notebook: "NotebookNode", targets: Targets) -> "NotebookNode":
    """Return a source's notebook as a student gets it: no solutions; works and terms as links.

    Raises:
        CourseError: a lab's solution marks are wrong, or what a cell refers to does not exist.
    """
    if source.kind == "lab":
        notebook = student_version(notebook, source.path.name)
    else:
        notebook = copy.deepcopy(notebook)
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "markdown":
            location = f"Cell {number} of {source.path.name}"
            cell.source = targets.write_out(cell.source, course.FOLDERS[source.kind], location)
    return notebook


def _glossary(targets: Targets) -> "NotebookNode":
    """Return the glossary as a notebook of one cell."""
    text = targets.write_out(glossary.notebook_page(targets.terms), "", "The glossary")
    return markdown_notebook(text, GLOSSARY)


def lay_out(folder: Path | None = None) -> Report:
    """Lay all products out in the workbook (`course.workbook` by default).

    Raises:
        CourseError: a product cannot be built (then nothing is written), or a file cannot be
            written (then what was there is unchanged).
    """
    folder = folder or course.workbook()
    refuse_taken(folder)
    built = list(products())
    private = files.private_folder(folder / PRIVATE)
    try:
        with _alone(private):
            return _laid_out(folder, private, built)
    except OSError as error:  # a folder that may not even be looked into
        raise files.trouble(error, folder) from error


@contextmanager
def _alone(private: Path) -> Iterator[None]:
    """Let one command at a time lay a workbook out."""
    lock = FileLock(private / "layout.lock")
    try:
        lock.acquire(timeout=_PATIENCE)
    except Timeout as error:
        raise CourseError(
            f"Another command is laying out {private.parent}.",
            "Wait until it is done, then try again.",
        ) from error
    except NotImplementedError:
        pass  # a file system without locks
    try:
        yield
    finally:
        lock.release()


def _laid_out(folder: Path, private: Path, built: Sequence[Product]) -> Report:
    manifest = Manifest.read(private)
    report = Report(folder, notices=[manifest.notice] if manifest.notice else [])
    for each in sorted({private, *((folder / product.name).parent for product in built)}):
        files.sweep(each)
    try:
        for product in built:
            _place(product, manifest, report)
    finally:
        # Also when a later file failed: what was laid out so far must not look edited next time.
        manifest.write()
    return report


def _product(name: str, data: bytes) -> Product:
    digest = contents.of_bytes(data, Path(name).suffix)
    assert digest is not None, f"{name} is not a notebook"
    return Product(name, data, digest)


def refuse_taken(folder: Path) -> None:
    """Raise if a workbook in this folder would be among the sources, or be deleted with products.

    Raises:
        CourseError: with what to do.
    """
    root, wanted = course.root(), folder.resolve()
    if not wanted.is_relative_to(root):
        return
    parts = [part.casefold() for part in wanted.relative_to(root).parts]
    if (
        not parts
        or parts[0] in _TAKEN
        or parts[0].startswith(".")
        or parts[0].endswith(".egg-info")
        or "__pycache__" in parts
    ):
        raise CourseError(
            f"The workbook cannot be in {folder}: the course's own sources or products are there, "
            "and `make clean` or a build may delete them.",
            "Set LMCOURSE_WORKBOOK to a folder outside the checkout, or unset it.",
        )


def _place(product: Product, manifest: Manifest, report: Report) -> None:
    """Lay one product out after the rules above, and note in manifest and report what was done."""
    entry = manifest.entry(product.name)
    done = _brought(product.name, product, entry.laid, report.folder)
    if done in ("edited", "broken"):
        report.edited.append(product.name)
        if done == "broken":
            report.broken.append(product.name)
        _offer(product, manifest, report)
        return
    if done == "written":
        report.written.append(product.name)
    elif done == "replaced":
        report.replaced.append(product.name)
    entry.laid, entry.offered, entry.copy = product.digest, None, None


def _brought(name: str, product: Product, laid: str | None, folder: Path) -> State:
    """Bring a file up to date unless it was edited; return what was done or found.

    A file that another program saves meanwhile is looked at again.
    """
    path, kept = folder / name, folder / REPLACED / name
    for _ in range(_ATTEMPTS):
        if not path.exists():
            if files.create(path, product.data):
                return "written"
            continue
        found = contents.of_file(path)
        if found is None:
            if path.exists():
                return "broken"
        elif found == product.digest:
            return "current"
        elif found != laid:
            return "edited"
        elif files.replace(path, product.data, kept, lambda old: contents.of_file(old) == laid):
            return "replaced"
    return "edited"


def _offer(product: Product, manifest: Manifest, report: Report) -> None:
    """Put a newer version beside an edited file, once: a copy that was deleted stays away."""
    entry = manifest.entry(product.name)
    if entry.laid == product.digest:
        entry.offered = entry.copy = None
        return
    if entry.offered != product.digest:
        entry.copy = _write_copy(product, manifest, report)
        entry.offered = product.digest
    if entry.copy and (report.folder / entry.copy).exists():
        report.updates[product.name] = entry.copy


def _write_copy(product: Product, manifest: Manifest, report: Report) -> str:
    """Write the newer version under the first name that holds no edit, and return that name."""
    stem, _, suffix = product.name.rpartition(".")
    later = (f"{stem}.updated-{number}.{suffix}" for number in itertools.count(2))
    for name in itertools.chain([f"{stem}.updated.{suffix}"], later):
        laid = manifest.entries.get(name, Entry()).laid
        done = _brought(name, product, laid, report.folder)
        if done in ("edited", "broken"):
            continue
        if done != "current":
            report.written.append(name)
        break
    manifest.entry(name).laid = product.digest
    return name
