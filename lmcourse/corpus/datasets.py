"""The data sets that the course knows by name: where they are, and how to know them again."""

import hashlib
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from lmcourse.errors import CourseError


@dataclass(frozen=True)
class DataSet:
    """A file to download.

    Attributes:
        url: where it is.
        file: its name in the cache folder.
        sha256: its digest as others published it, in hexadecimal digits. None: nobody did, so the
            digest of the first download is recorded and every later one is held against it.
        member: the file to take out of it, if it is an archive.
        about: what it is, its size, its license and source.
    """

    url: str
    file: str
    sha256: str | None = None
    member: str | None = None
    about: str = ""


def _glove(width: int) -> DataSet:
    return DataSet(
        url="https://nlp.stanford.edu/data/glove.6B.zip",
        file="glove.6B.zip",
        sha256="617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb",
        member=f"glove.6B.{width}d.txt",
        about=f"GloVe vectors of 400,000 words, width {width}, trained on 6 billion tokens "
        "(Pennington, Socher, Manning 2014); an archive of 862 MB; PDDL 1.0.",
    )


DATASETS = {
    "goodreads-spoilers": DataSet(
        url="https://mcauleylab.ucsd.edu/public_datasets/gdrive/goodreads/"
        "goodreads_reviews_spoiler.json.gz",
        file="goodreads_reviews_spoiler.json.gz",
        about="1.4 million book reviews with spoiler labels (Wan, Misra, Nakashole, McAuley 2019), "
        "UCSD Book Graph; 620 MB; for academic use, not to be passed on.",
    ),
    **{f"glove-6b-{width}": _glove(width) for width in (50, 100, 200, 300)},
}


def find(name_or_url: str, sha256: str | None) -> DataSet:
    """A data set by its name, or any file by its address.

    Raises:
        CourseError: there is no such name, the address is none, or the digest is none.
    """
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise CourseError(
            f"{sha256!r} is no SHA-256 digest.", "Give its 64 hexadecimal digits, or leave it out."
        )
    if name_or_url in DATASETS:
        known = DATASETS[name_or_url]
        return DataSet(known.url, known.file, sha256 or known.sha256, known.member, known.about)
    try:
        parts = urlsplit(name_or_url)
        host = parts.hostname if parts.scheme in ("http", "https") else None
    except ValueError:
        host = None
    if not host:
        raise CourseError(
            f"{name_or_url!r} is neither a known data set nor an http or https address.",
            f"Known are: {', '.join(DATASETS)}.",
        )
    # Two addresses may end in the same name; the beginning keeps their files apart.
    name = re.sub(r"[^\w.-]", "_", parts.path.rsplit("/", 1)[-1], flags=re.ASCII)[-100:]
    mark = hashlib.sha256(name_or_url.encode()).hexdigest()[:8]
    return DataSet(name_or_url, f"{mark}-{name or 'file'}", sha256)
