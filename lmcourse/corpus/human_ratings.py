"""Human ratings of similarity, and analogies, from the files in gensim's test data.

wordsim353.tsv        Finkelstein et al. 2001: pairs of words, rated for relatedness, 0 to 10
simlex999.txt         Hill et al. 2015: pairs of words, rated for similarity, 0 to 10
questions-words.txt   Mikolov et al. 2013a, section 4.1: analogies in 14 sections
lee.cor               Lee et al. 2005: 50 short news texts; all 1,225 pairs are rated

The files are not copied into the project: they name no license of their own (gensim has the LGPL).
`lmcourse.evaluation.word_similarity` scores vectors on them.
"""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from lmcourse.corpus import streams
from lmcourse.corpus.tasks import Analogy
from lmcourse.errors import CourseError
from lmcourse.files import cache_folder

FILES = ("wordsim353.tsv", "simlex999.txt", "questions-words.txt")
LEE_FILES = ("lee.cor", "lee_background.cor", "similarities0-1.txt")


def gensim_file(name: str) -> Path:
    """Return the path of one of gensim's test files, without importing gensim.

    It is where `lmcourse real install` put it, or in an installed gensim.
    """
    spec = find_spec("gensim")
    path = unpacked() / name
    if not path.is_file() and spec and spec.origin:
        path = Path(spec.origin).parent / "test" / "test_data" / name
    if not path.is_file():
        raise CourseError(
            f"There is no file {name}: it is part of gensim's test data.",
            "Run `lmcourse real install`, or download the file from "
            "github.com/piskvorky/gensim, folder gensim/test/test_data, and pass its path.",
        )
    return path


def unpacked() -> Path:
    """Return the folder for the files that `lmcourse real install` takes from gensim's wheel."""
    return cache_folder() / "real" / "gensim"


def read_word_pairs(path: str | Path) -> list[tuple[str, str, float]]:
    """Read lines of two words and their mean rating, separated by tabs."""
    lines = [each for each in _lines(path) if not each[1].startswith("#")]
    return [tuple(_fields(path, *each, [str, str, float], "\t")) for each in lines]


def read_analogies(path: str | Path) -> list[Analogy]:
    """Read lines of four words, in sections that begin with a line such as ``: family``."""
    found, section = [], ""
    for number, line in _lines(path):
        if line.startswith(":"):
            section = line.strip(": ")
        else:
            found.append(Analogy._make([*_fields(path, number, line, [str] * 4), section]))
    return found


class LeeDocuments(NamedTuple):
    """The 50 rated documents, 300 for computing word weights, and the ratings from 0.2 to 1."""

    documents: list[str]
    background: list[str]
    ratings: Float[np.ndarray, "document document"]


def read_lee(folder: str | Path | None = None) -> LeeDocuments:
    """Read Lee's documents from a folder; None: from gensim's test data."""
    folder = gensim_file("lee.cor").parent if folder is None else Path(folder)
    documents, background = (
        [line for _, line in _lines(folder / name, "latin-1")]
        for name in ("lee.cor", "lee_background.cor")
    )
    path, numbers = folder / "similarities0-1.txt", [float] * len(documents)
    upper = np.array([_fields(path, *each, numbers) for each in _lines(path)])
    if len(upper) != len(numbers):
        cause = f"{path} has {len(upper)} lines, lee.cor {len(documents)}."
        raise CourseError(cause, streams.FETCH_AGAIN)
    return LeeDocuments(documents, background, np.triu(upper) + np.triu(upper, 1).T)


def _lines(path: str | Path, encoding: str = "utf-8") -> list[tuple[int, str]]:
    """Return the lines that are not blank, with their numbers."""
    path = streams.check(path)
    try:
        text = path.read_text(encoding=encoding)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        cause = f"Line {line:,} of {path}: {streams.spoiled(error, error.object, encoding)}."
        raise CourseError(cause, "Save it with that encoding, or download it again.") from None
    lines = enumerate(map(str.strip, text.removeprefix("\ufeff").split("\n")), start=1)
    return [(number, line) for number, line in lines if line]


def _fields(
    path: str | Path,
    number: int,
    line: str,
    types: Sequence[Callable[[str], Any]],
    separator: str | None = None,
) -> list[Any]:
    try:
        return [kind(each) for kind, each in zip(types, line.split(separator), strict=True)]
    except ValueError:
        form = f"{types.count(str)} words and {types.count(float)} numbers"
        cause = f"Line {number:,} of {path} does not have {form}: {line[:60]!r}."
        raise CourseError(cause, "Correct it, or download the file again.") from None
