"""A registry of npm on the loopback, and installations from it: in this process and in others.

python -m tests.doors.npm_registry releases.json      installs what the file names
"""

import base64
import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path

import msgspec

from coursekit import real
from lmcourse import releases
from lmcourse.releases import Release
from tests.corpus.broken_server import Site

TEXTS = {"ca01": b"The/at dog/nn barked/vbd ./.\n", "cb02": b"It/pps slept/vbd ./.\n"}
MAILS = {"2.b.txt": b"Subject: caf\xe9\n\nHello\n", "1.a.txt": b"Subject: one\n\n\n"}
FILES = {
    **{f"package/{name}": data for name, data in TEXTS.items()},
    **{f"package/data/spam/{name}": data for name, data in MAILS.items()},
    "package/README": b"redistribution permitted",
    "package/categories.pickle": b"cos\nsystem\n(S'exit'\ntR.",
    "package/data/spam/more/3.c.txt": b"Subject: of another folder\n\n\n",
    "package/package.json": b'{"name": "tiny", "version": "1.0.0", "scripts": {"pack": "exit 1"}}',
}
LINES = (
    b'{"name": "1.a.txt", "text": "Subject: one\\n\\n\\n"}\n'
    b'{"name": "2.b.txt", "text": "Subject: caf\\u00e9\\n\\nHello\\n"}\n'
)


def tarball(files: Iterable[tuple[str, bytes]], *others: tarfile.TarInfo) -> bytes:
    """A package: regular files, and other members before them."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for info in others:
            archive.addfile(info)
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), mtime=0)


def sha512(data: bytes) -> str:
    """The digest of a download as npm writes it."""
    return f"sha512-{base64.b64encode(hashlib.sha512(data).digest()).decode()}"


def folder_digest(files: dict[str, bytes]) -> str:
    """The digest of a folder with these files, as `lmcourse.releases.sha256` defines it."""
    lines = [f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def serve(site: Site, package: bytes) -> None:
    """Have a site serve a package as @tiny/corpora 1.0.0, with what npm asks for before."""
    dist = {"tarball": f"{site.url}/corpora.tgz", "integrity": sha512(package)}
    version = {"name": "@tiny/corpora", "version": "1.0.0", "dist": dist}
    about = {"name": "@tiny/corpora", "versions": {"1.0.0": version}}
    site.files["/@tiny%2fcorpora"] = json.dumps(about).encode()
    site.files["/corpora.tgz"] = package


def release(package: bytes) -> Release:
    """A folder of texts and a file of mails from a package."""
    files = {
        "texts": ("package/c[a-r][0-9][0-9]", folder_digest(TEXTS)),
        "spam.jsonl": ("package/data/spam/*.txt", hashlib.sha256(LINES).hexdigest()),
    }
    about, licenses = "two texts and two mails", "CC0-1.0"
    return Release(about, licenses, "@tiny/corpora@1.0.0", sha512(package), len(package), files)


def start(listed: Path, named: dict[str, Release]) -> "subprocess.Popen[str]":
    """Install releases in another process, which leads a group with what it starts."""
    listed.write_bytes(msgspec.json.encode(named))
    command = [sys.executable, "-m", __name__, str(listed)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


if __name__ == "__main__":
    found = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=dict[str, Release])
    real.RELEASES = releases.RELEASES = found
    real._install_reader = lambda: None  # type: ignore[assignment]
    real._install_ratings = lambda report: None  # type: ignore[assignment]
    real.install()
