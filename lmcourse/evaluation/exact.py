"""BookWorld's exact distributions over the tokens of reviews, computed once and cached.

Each is the distribution of one token given all tokens before it (``"causal"``), or given all tokens
that are not masked (``"masked"``, with 15 % masked at once). They take 15 to 40 ms per review. Few
words are possible at a position in BookWorld (13 of 1,495 on average; 5 given both sides), so only
those with a probability above zero are stored.
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
from lmcourse.files import cache_folder
from lmcourse.training.watching import notebook

Kind = Literal["causal", "masked"]

KEPT = 50  # reviews from which on answers are stored in a file: they take more than a second
_VERSION = 1  # of the computation; another one invalidates cached files
_RECENT: dict[str, list["Exact"]] = {}  # the last few sets of answers
_SETS = 8


class Exact(NamedTuple):
    """The exact distributions of one review, with one entry per possible word at a position.

    Attributes:
        positions: of the predicted tokens; ``len(review.tokens)`` is that of the end mark.
        row: the index into ``positions`` of each entry.
        word, probability: the word's id and its probability there.
    """

    positions: Int[np.ndarray, " predicted"]
    row: Int[np.ndarray, " entry"]
    word: Int[np.ndarray, " entry"]
    probability: Float[np.ndarray, " entry"]


def predicted_positions(review: Review, kind: Kind) -> list[int]:
    """Return the positions of predicted tokens: all with the end mark, or the masked ones."""
    return list(range(len(review.tokens) + 1)) if kind == "causal" else hidden_positions(review)


def exact_answers(world: BookWorld, reviews: Sequence[Review], kind: Kind) -> list[Exact]:
    """Return the exact answers to each review, from memory, the cache folder, or computed now."""
    key = answers_key(world, reviews, kind)
    if key not in _RECENT:
        path = cache_folder() / "bookworld-exact" / f"{key}.npz"
        worth = len(reviews) >= KEPT
        answers = _read(path, reviews, kind, len(world.vocabulary)) if worth else None
        if answers is None:
            answers = [_computed(world, review, kind) for review in _with_progress(reviews)]
            if worth:
                with contextlib.suppress(OSError):  # a folder that cannot be written
                    _write(path, answers)
        while len(_RECENT) >= _SETS:
            del _RECENT[next(iter(_RECENT))]
        _RECENT[key] = answers
    return _RECENT[key]


def _computed(world: BookWorld, review: Review, kind: Kind) -> Exact:
    positions = predicted_positions(review, kind)
    if kind == "causal":
        answers = world.next_tokens(review.tokens)
    else:
        answers = world.masked_posterior([*review.tokens, END], positions)
    row, word = np.nonzero(answers)
    return Exact(np.array(positions, int), row, word, answers[row, word])


def answers_key(world: BookWorld, reviews: Sequence[Review], kind: Kind) -> str:
    """Return a key of all that determines the answers, such as the reviews' seeds and indices."""
    known = f"{_VERSION} {kind} {world.digest} {MASKED_SHARE:g} {END}"
    found = hashlib.sha256(known.encode())
    for review in reviews:
        found.update(f"{review.seed} {review.index} {' '.join(review.tokens)}\n".encode())
    return f"{kind}-{found.hexdigest()[:24]}"


# ------------------------------------------------------------------------------------ the file


def _write(path: Path, answers: list[Exact]) -> None:
    """Write all answers to one file, concatenated, with their lengths by review."""
    joined = {
        name: np.concatenate(column) for name, *column in zip(Exact._fields, *answers, strict=True)
    }
    small = {"positions": "<i4", "row": "<i4", "word": "<i4", "probability": "<f8"}
    columns: dict[str, Any] = {
        "predicted": np.array([len(it.positions) for it in answers]),
        "entries": np.array([len(it.word) for it in answers]),
        **{name: column.astype(small[name]) for name, column in joined.items()},
    }
    with files.replacing(path) as out:
        np.savez_compressed(out, **columns)


def _read(path: Path, reviews: Sequence[Review], kind: Kind, width: int) -> list[Exact] | None:
    """Return a file's content; None if it is missing or damaged."""
    damaged = (OSError, ValueError, KeyError, EOFError, IndexError, zlib.error, zipfile.BadZipFile)
    try:
        with np.load(path, allow_pickle=False) as held:
            content = {name: held[name] for name in held.files}
        cuts = {name: np.cumsum(content[name])[:-1] for name in ("predicted", "entries")}
        columns = [
            np.split(content[name], cuts["predicted" if name == "positions" else "entries"])
            for name in Exact._fields
        ]
        answers = [Exact(*each) for each in zip(*columns, strict=True)]
        whole = len(answers) == len(reviews) and all(
            _fits(answer, predicted_positions(review, kind), width)
            for answer, review in zip(answers, reviews, strict=True)
        )
    except damaged:
        return None
    return answers if whole else None


def _fits(answer: Exact, positions: list[int], width: int) -> bool:
    """Whether an answer holds distributions over words at these positions."""
    if answer.positions.tolist() != positions or not (answer.probability > 0).all():
        return False
    sums = np.bincount(answer.row, answer.probability, len(positions))
    words = (answer.word >= 0) & (answer.word < width)
    return bool(len(sums) == len(positions) and words.all() and np.allclose(sums, 1, atol=1e-9))


# ------------------------------------------------------------------------------------ progress


def _with_progress(reviews: Sequence[Review]) -> Iterator[Review]:
    """The reviews, with a line of progress in notebooks and terminals if there are many.

    (rich's progress bar would leave a widget in executed notebooks.)
    """
    line = _line() if len(reviews) >= KEPT else None
    try:
        for number, review in enumerate(reviews):
            if number % 10 == 0:
                _show(line, f"BookWorld's exact answers: {number} of {len(reviews)} reviews")
            yield review
    finally:
        _show(line, "")


def _line() -> Any:
    """A line of the running cell that can be updated; None outside a notebook."""
    if notebook() is None:
        return None
    from IPython.display import display

    return display({"text/plain": ""}, raw=True, display_id=True)


def _show(line: Any, text: str) -> None:
    if line is not None:
        line.update({"text/plain": text}, raw=True)
    elif sys.stderr.isatty():
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()
