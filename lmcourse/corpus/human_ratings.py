"""Human ratings of similarity, and analogies, from the files in gensim's test data.

wordsim353.tsv        Finkelstein et al. 2001: pairs of words, rated for relatedness, 0 to 10
simlex999.txt         Hill et al. 2015: pairs of words, rated for similarity, 0 to 10
questions-words.txt   Mikolov et al. 2013a, section 4.1: analogies in 14 sections
lee.cor               Lee et al. 2005: 50 short news texts; all 1,225 pairs are rated

The files are not copied into the project: they name no license of their own (gensim has the LGPL).
`lmcourse.evaluation.word_similarity` scores vectors on them.
"""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from jaxtyping import Float

from lmcourse.corpus import streams
from lmcourse.corpus.folder import read_texts
from lmcourse.corpus.tasks import Analogy
from lmcourse.errors import CourseError

T = TypeVar("T")


def gensim_file(name: str) -> Path:
    """Return the path of one of gensim's test files, without importing gensim."""
    spec = find_spec("gensim")
    folder = Path(spec.origin).parent / "test" / "test_data" if spec and spec.origin else Path()
    if not spec or not (folder / name).is_file():
        raise CourseError(
            f"There is no file {name}: it is part of gensim's test data.",
            "Install gensim (`python -m coursekit.install --dev`), or download the file from "
            "github.com/piskvorky/gensim, folder gensim/test/test_data, and pass its path.",
        )
    return folder / name


def read_word_pairs(path: str | Path) -> list[tuple[str, str, float]]:
    """Read lines of two words and the mean rating, separated by tabs."""

    def parse(line: str) -> tuple[str, str, float]:
        one, other, rating = line.split("\t")
        return one, other, float(rating)

    return _lines(path, parse, "two words and a rating, separated by tabs")


def read_analogies(path: str | Path) -> list[Analogy]:
    """Read lines of four words, in sections that begin with a line such as ``: family``."""
    section = ""

    def parse(line: str) -> Analogy | None:
        nonlocal section
        if line.startswith(":"):
            section = line.strip(": ")
            return None
        a, b, c, d = line.split()
        return Analogy(a, b, c, d, section)

    return [each for each in _lines(path, parse, "four words") if each]


class LeeDocuments(NamedTuple):
    """The 50 rated documents, 300 for computing word weights, and the ratings from 0.2 to 1."""

    documents: list[str]
    background: list[str]
    ratings: Float[np.ndarray, "document document"]


def read_lee(folder: str | Path | None = None) -> LeeDocuments:
    """Read Lee's documents from a folder; None: from gensim's test data."""
    folder = gensim_file("lee.cor").parent if folder is None else Path(folder)
    documents, background = (
        _lines(folder / name, str.strip, "text", "latin-1")
        for name in ("lee.cor", "lee_background.cor")
    )

    def parse(line: str) -> Float[np.ndarray, " document"]:
        return np.array(line.split(), float).reshape(len(documents))

    path = folder / "similarities0-1.txt"
    upper = np.array(_lines(path, parse, f"{len(documents)} numbers"))
    if len(upper) != len(documents):
        raise CourseError(
            f"{path} has {len(upper)} lines, lee.cor {len(documents)}.", streams.FETCH_AGAIN
        )
    return LeeDocuments(documents, background, np.triu(upper) + np.triu(upper, 1).T)


def _lines(
    path: str | Path, parse: Callable[[str], T], form: str, encoding: str = "utf-8"
) -> list[T]:
    """Parse the lines of a file that are neither blank nor comments."""
    found = []
    text = next(read_texts(streams.check(path), encoding=encoding)).text
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            try:
                found.append(parse(line))
            except ValueError:
                cause = f"Line {number:,} of {path} is not {form}: {line[:60]!r}."
                raise CourseError(cause, "Correct the line, or download the file again.") from None
    return found
