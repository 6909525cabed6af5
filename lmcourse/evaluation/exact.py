"""BookWorld's exact distributions over the tokens of reviews, computed once and cached.

Each is the distribution of one token given all tokens before it (``"causal"``), or given all tokens
that are not masked (``"masked"``, with 15 % masked at once). They take 15 to 40 ms per review. Few
words are possible at a position in BookWorld (13 of 1,495 on average; 5 given both sides), so only
those with a probability above zero are stored.
"""

import contextlib
import hashlib
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from lmcourse import files
from lmcourse.corpus.bookworld import END, BookWorld, Review
from lmcourse.corpus.bookworld.floors import MASKED_SHARE, hidden_positions
from lmcourse.files import cache_folder

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
        answers = _read(path, reviews) if worth else None
        if answers is None:
            answers = [_computed(world, review, kind) for review in reviews]
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


def _read(path: Path, reviews: Sequence[Review]) -> list[Exact] | None:
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
    except damaged:
        return None
    return answers if len(answers) == len(reviews) else None
