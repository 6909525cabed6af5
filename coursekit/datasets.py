"""The data sets that `coursekit.download` knows by name: their addresses and digests."""

import hashlib
import re
from dataclasses import dataclass, replace

from lmcourse.errors import CourseError


@dataclass(frozen=True)
class DataSet:
    """A file to download.

    Attributes:
        url: its address.
        file: its name in the cache folder.
        sha256: its published digest. None: there is none, and that of the first download counts.
        member: the file to extract from it, if it is an archive.
        about: its content, size, license and source.
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
    """A data set by its name, or any file by its address."""
    if known := DATASETS.get(name_or_url):
        return replace(known, sha256=sha256 or known.sha256)
    if not (address := re.fullmatch(r"https?://[\w.-]+(?::\d+)?(?:/([^?#]*))?.*", name_or_url)):
        raise CourseError(
            f"{name_or_url!r} is neither a known data set nor an http or https address.",
            f"Known are: {', '.join(DATASETS)}.",
        )
    # Two addresses may end in the same name; the digest of the address distinguishes their files.
    name = re.sub(r"[^\w.-]", "_", (address[1] or "").rpartition("/")[2], flags=re.ASCII)[-100:]
    mark = hashlib.sha256(name_or_url.encode()).hexdigest()[:8]
    return DataSet(name_or_url, f"{mark}-{name or 'file'}", sha256)
