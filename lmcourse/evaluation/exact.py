"""BookWorld's exact answers to reviews: computed once, and kept.

An answer is the distribution of one token given what a model is given: all tokens before it
(``"causal"``), or all tokens that are not hidden (``"masked"``, with 15 % hidden at once). They
take 15 to 40 ms a review. Few words can follow in BookWorld (13 of 1,495 on average; 5 where both
sides are seen), so only those with a probability above zero are kept.
"""

import contextlib
import hashlib
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from lmcourse import files
from lmcourse.corpus.bookworld import END, BookWorld, Review
from lmcourse.corpus.bookworld.floors import MASKED_SHARE, hidden_positions
from lmcourse.corpus.download import cache_folder
from lmcourse.errors import CourseError

Kind = Literal["causal", "masked"]

KEPT = 50  # reviews that are worth a file: their answers take more than a second
_VERSION = 1  # of how answers are computed: another one makes the files that are kept invalid
_RECENT: dict[str, list["Exact"]] = {}  # the last few sets of answers
_SETS = 8


class Exact(NamedTuple):
    """The exact answers to one review, entry after entry: one for each word that may stand there.

    Attributes:
        places: of the tokens that are predicted; place ``len(review.tokens)`` is the end mark.
        row: which of ``places`` an entry is about.
        word, probability: its word's id, and that word's probability there.
    """

    places: Int[np.ndarray, " predicted"]
    row: Int[np.ndarray, " entry"]
    word: Int[np.ndarray, " entry"]
    probability: Float[np.ndarray, " entry"]


def check_world(world: Any) -> None:
    """See that a world is one.

    Raises:
        CourseError: it is something else.
    """
    if not isinstance(world, BookWorld):
        raise CourseError(f"{world!r:.40} is no BookWorld.", "Pass one: BookWorld().")


def predicted_places(review: Review, kind: Kind) -> list[int]:
    """The places whose tokens are predicted: all and the end mark, or those that are hidden."""
    return list(range(len(review.tokens) + 1)) if kind == "causal" else hidden_positions(review)


def exact_answers(world: BookWorld, reviews: Sequence[Review], kind: Kind) -> list[Exact]:
    """The exact answers to each review, from memory, from the user's cache, or computed now.

    Raises:
        CourseError: a review is none of this world's.
    """
    key = answers_key(world, reviews, kind)
    if key not in _RECENT:
        path = cache_folder() / "bookworld-exact" / f"{key}.npz"
        worth = len(reviews) >= KEPT
        answers = _read(path, reviews, kind, len(world.vocabulary)) if worth else None
        if answers is None:
            answers = [_computed(world, review, kind) for review in _told(reviews)]
            if worth:
                with contextlib.suppress(OSError):  # a folder that cannot be written: no matter
                    _write(path, answers)
        while len(_RECENT) >= _SETS:
            del _RECENT[next(iter(_RECENT))]
        _RECENT[key] = answers
    return _RECENT[key]


def _computed(world: BookWorld, review: Review, kind: Kind) -> Exact:
    places = predicted_places(review, kind)
    if kind == "causal":
        answers = world.next_tokens(review.tokens)
    else:
        answers = world.masked_posterior([*review.tokens, END], places)
    row, word = np.nonzero(answers)
    return Exact(np.array(places, int), row, word, answers[row, word])


def answers_key(world: BookWorld, reviews: Sequence[Review], kind: Kind) -> str:
    """What the answers depend on. (Which tokens are hidden depends on a review's number.)"""
    known = f"{_VERSION} {kind} {world.digest} {MASKED_SHARE:g} {END}"
    found = hashlib.sha256(known.encode())
    for review in reviews:
        found.update(f"{review.seed} {review.index} {' '.join(review.tokens)}\n".encode())
    return f"{kind}-{found.hexdigest()[:24]}"


# ------------------------------------------------------------------------------------ the file


def _write(path: Path, answers: list[Exact]) -> None:
    """All answers in one file; what is cut by review there is told by two lists of lengths."""
    joined = {
        name: np.concatenate(column) for name, *column in zip(Exact._fields, *answers, strict=True)
    }
    small = {"places": "<i4", "row": "<i4", "word": "<i4", "probability": "<f8"}
    columns: dict[str, Any] = {
        "predicted": np.array([len(it.places) for it in answers]),
        "entries": np.array([len(it.word) for it in answers]),
        **{name: column.astype(small[name]) for name, column in joined.items()},
    }
    with files.replacing(path) as out:
        np.savez_compressed(out, **columns)


def _read(path: Path, reviews: Sequence[Review], kind: Kind, width: int) -> list[Exact] | None:
    """What a file holds; None if there is none, or it is damaged: then all is computed anew."""
    damaged = (OSError, ValueError, KeyError, EOFError, IndexError, zlib.error, zipfile.BadZipFile)
    try:
        with np.load(path, allow_pickle=False) as held:
            content = {name: held[name] for name in held.files}
        cuts = {name: np.cumsum(content[name])[:-1] for name in ("predicted", "entries")}
        columns = [
            np.split(content[name], cuts["predicted" if name == "places" else "entries"])
            for name in Exact._fields
        ]
        answers = [Exact(*each) for each in zip(*columns, strict=True)]
        whole = len(answers) == len(reviews) and all(
            _fits(answer, predicted_places(review, kind), width)
            for answer, review in zip(answers, reviews, strict=True)
        )
    except damaged:
        return None
    return answers if whole else None


def _fits(answer: Exact, places: list[int], width: int) -> bool:
    """Whether an answer is one: distributions of words at the places that are asked for."""
    if answer.places.tolist() != places or not (answer.probability > 0).all():
        return False
    sums = np.bincount(answer.row, answer.probability, len(places))
    words = (answer.word >= 0) & (answer.word < width)
    return bool(len(sums) == len(places) and words.all() and np.allclose(sums, 1, atol=1e-9))


# -------------------------------------------------------------------------------- what is told


def _told(reviews: Sequence[Review]) -> Iterator[Review]:
    """The reviews one by one; somebody who watches sees how far it is."""
    line = _line() if len(reviews) >= KEPT else None
    try:
        for number, review in enumerate(reviews):
            if number % 10 == 0:
                _say(line, f"BookWorld's exact answers: {number} of {len(reviews)} reviews")
            yield review
    finally:
        _say(line, "")  # nothing is left of it


def _line() -> Any:
    """A line of the running cell that can be rewritten; None outside a notebook."""
    if "IPython" not in sys.modules:
        return None
    from IPython.core.getipython import get_ipython
    from IPython.display import display

    if not hasattr(get_ipython(), "kernel"):
        return None
    return display({"text/plain": ""}, raw=True, display_id=True)


def _say(line: Any, text: str) -> None:
    if line is not None:
        line.update({"text/plain": text}, raw=True)
    elif sys.stderr.isatty():
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()
