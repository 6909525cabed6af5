"""The files beside a site's pages: figures, style sheets, scripts, downloads."""

import hashlib
import shutil
from pathlib import Path

from coursekit.book.content import Download
from lmcourse.errors import CourseError

FOLDER, DOWNLOADS = "assets", "downloads"


class Assets:
    """Copies a file into the site when a page first needs it, under a name made of its content.

    A changed file gets another name, so that no browser shows an old one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[Path, str] = {}
        self._offered: dict[str, Path] = {}

    def add(self, path: Path, stem: str = "") -> str:
        """Return the path of a file in the site, from the site's first folder.

        Args:
            path: the file.
            stem: is put before the name, for those who read the page's source.
        """
        if path not in self._known:
            data = path.read_bytes()
            digest = hashlib.sha256(data).hexdigest()[:12]
            name = f"{FOLDER}/{stem}{digest}{path.suffix}"
            self._write(name, data)
            self._known[path] = name
        return self._known[path]

    def add_named(self, path: Path) -> str:
        """Add a file under its own name and its content's: ``book-0123456789ab.css``."""
        return self.add(path, f"{path.stem}-")

    def copy_folder(self, path: Path) -> None:
        """Add a folder as it is: KaTeX's style sheet names its fonts by relative paths."""
        if not (self._folder / FOLDER / path.name).exists():
            shutil.copytree(path, self._folder / FOLDER / path.name)

    def offer(self, download: Download) -> str:
        """Add what a page offers, under the name that it is saved by."""
        before = self._offered.setdefault(download.filename, download.path)
        if before.read_bytes() != download.path.read_bytes():
            raise CourseError(
                f"Two pages offer different files by the name {download.filename}.",
                "Give one of the sources another name.",
            )
        return self.add_to(DOWNLOADS, download.path, download.filename)

    def add_to(self, folder: str, path: Path, name: str = "") -> str:
        """Copy a file into a folder of the site, under its own name or another."""
        target = f"{folder}/{name or path.name}"
        self._write(target, path.read_bytes())
        return target

    def _write(self, name: str, data: bytes) -> None:
        target = self._folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
