"""The data of Masking: checked, and converted for its page."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.masking_draw import KEPT, MASKED, RANDOM
from lmcourse.widgets.packing import Array, as_array, as_booleans, divergence
from lmcourse.widgets.tokens import SPECIAL, as_tokens, visible

MOST_WORDS = 2000  # to draw random words from
MOST_SHOWN = 3  # words of each distribution
NO_WORD = 0xFFFF
TOLERANCE = 4e-3  # for a sum of 1: twice the rounding error of bfloat16
READERS = ("exact", "model")


class Content(NamedTuple):
    """A text with its draws and predictions, as sent to a page."""

    tokens: list[str]
    words: list[str]  # random words, and those of the predictions
    pool: int  # the number of random words
    arrays: dict[str, Array]


def content_of(
    tokens: list[str],
    mask_token: str,
    *,
    special: Any = None,
    word_ids: Any = None,
    vocabulary: Any = None,
    selected: Any = None,
    read: Any = None,
    model: Any = None,
    exact: Any = None,
) -> Content:
    """Return the checked and packed arguments of `Masking`, which documents them."""
    named = [token in SPECIAL for token in tokens] if special is None else special
    arrays: dict[str, Array] = {"special": as_booleans("special", named, (len(tokens),))}
    words = Words(vocabulary, tokens, arrays["special"])
    arrays["word"] = word_numbers(word_ids, tokens)
    arrays |= draws_of(selected, read, tokens, words, mask_token)
    arrays |= predictions_of(model, exact, tokens, words, len(arrays.get("actions", ())))
    return Content(tokens, words.listed, words.pool, arrays)


class Words:
    """The words of a page, each sent once.

    Args:
        vocabulary: the words of the predictions, and the random words: all of them, or 2,000 evenly
            spaced ones. None: random words are those of the text.
        tokens: the text.
        special: 1 for tokens that are never selected.
    """

    def __init__(self, vocabulary: Any, tokens: Sequence[str], special: Array) -> None:
        own = [token for token, never in zip(tokens, special, strict=True) if not never]
        known = own or list(tokens) if vocabulary is None else as_tokens("vocabulary", vocabulary)
        step = -(-len(known) // MOST_WORDS)
        self.listed = list(dict.fromkeys(known))[::step]
        self.pool = len(self.listed)
        self._ids = {word: i for i, word in enumerate(self.listed)}
        self.vocabulary = {} if vocabulary is None else {word: i for i, word in enumerate(known)}
        if vocabulary is not None and len(self.vocabulary) < len(known):
            twice = next(word for i, word in enumerate(known) if self.vocabulary[word] != i)
            raise CourseError(
                f"vocabulary has {twice!r} twice.", "Pass each word once, in the order of the ids."
            )
        self._known = known

    def id(self, word: str) -> int:
        """Return the index of a word in the list, adding it if necessary."""
        found = self._ids.setdefault(word, len(self.listed))
        if found == len(self.listed):
            self.listed.append(word)
        return found

    def named(self, column: int) -> int:
        """Return the index of the word of a column of the predictions."""
        return self.id(self._known[column])


def word_numbers(word_ids: Any, tokens: Sequence[str]) -> Array:
    """Return the index of each token's word.

    Args:
        word_ids: as tokenizers return them, where None is a word of its own. None: a token with ##
            continues a word.
    """
    if word_ids is None:
        return np.cumsum([not token.startswith("##") for token in tokens]).astype(np.uint16)
    given = (
        list(word_ids)
        if isinstance(word_ids, Sequence)
        else as_array("word_ids", word_ids, (None,))
    )
    if len(given) != len(tokens):
        raise CourseError(
            f"word_ids has {len(given)} entries for {len(tokens)} tokens.",
            "Pass one per token: encoding.word_ids of the same text.",
        )
    valid = [it is None or (isinstance(it, int | np.integer) and it >= 0) for it in given]
    if not all(valid):
        raise CourseError(
            f"word_ids[{valid.index(False)}] is {given[valid.index(False)]!r}.",
            "Pass an integer from 0 for each token, and None for special tokens.",
        )
    new = [i == 0 or it is None or it != given[i - 1] for i, it in enumerate(given)]
    return np.cumsum(new).astype(np.uint16)


def draws_of(
    selected: Any, read: Any, tokens: Sequence[str], words: Words, mask: str
) -> dict[str, Array]:
    """Return the given draws, (draw, token): actions, and the indices of random words."""
    if selected is None:
        if read is not None:
            raise CourseError("read needs selected.", "Pass both, or selected alone.")
        return {}
    n = len(tokens)
    if _axes(selected) == 1:  # one draw
        selected = selected[None] if hasattr(selected, "ndim") else [selected]
    chosen = as_booleans("selected", selected, (None, n))
    if read is None:
        read = [
            [mask if it else token for it, token in zip(row, tokens, strict=True)] for row in chosen
        ]
    if not isinstance(read, Sequence) or isinstance(read, str) or len(read) != len(chosen):
        raise CourseError(
            f"read is not a list of {len(chosen)} texts, one per draw of selected.",
            "Pass the list of the model's input tokens for each draw.",
        )
    rows = [as_tokens(f"read[{i}]", row, n) for i, row in enumerate(read)]
    actions, substitutes = np.zeros((2, len(rows), n), np.uint16)
    for e, row in enumerate(rows):
        for i, (token, there) in enumerate(zip(tokens, row, strict=True)):
            if chosen[e, i]:
                actions[e, i] = MASKED if there == mask else KEPT if there == token else RANDOM
                substitutes[e, i] = words.id(there) if actions[e, i] == RANDOM else 0
            elif there != token:
                raise CourseError(
                    f"read[{e}][{i}] is {there!r}, but {token!r} is not selected.",
                    "Select it, or keep the token.",
                )
    return {"actions": actions.astype(np.uint8), "substitutes": substitutes}


class _Rows(NamedTuple):
    """The distributions of the model, or the exact ones, (draw, token, word)."""

    rows: Array
    known: Array  # (draw, token): False for rows of zeros


def predictions_of(
    model: Any, exact: Any, tokens: Sequence[str], words: Words, draws: int
) -> dict[str, Array]:
    """Return the most probable words of both, p of the true token, and KL(exact ‖ model) in nats.

    Both distributions have the same words: the most probable of each, and the true token. An
    infinite divergence is sent as −1.
    """
    found = dict(zip(READERS, (exact, model), strict=True))
    given = {name: it for name, it in found.items() if it is not None}
    if not given:
        return {}
    if not words.vocabulary:
        raise CourseError(
            "Predictions need a vocabulary.",
            "Pass the words of their columns as vocabulary.",
        )
    both = {
        name: _rows(name, it, len(tokens), len(words.vocabulary), draws)
        for name, it in given.items()
    }
    joint = {_axes(it) == 3 for it in given.values()}
    if len(joint) > 1:
        raise CourseError(
            "model and exact are not for the same draws.",
            "Pass both with the shape (token, word), or both with (draw, token, word).",
        )
    out = _most_probable(both, tokens, words)
    out["joint"] = np.array([*joint], np.uint8)
    if len(both) == 2:
        gap = divergence(both["exact"].rows, both["model"].rows)
        out["divergence"] = np.where(np.isfinite(gap), gap, -1.0)
    return out


def _most_probable(both: dict[str, _Rows], tokens: Sequence[str], words: Words) -> dict[str, Array]:
    """Return the shown words of each position, with the true token, and their probabilities."""
    known = np.logical_and.reduce([it.known for it in both.values()])
    count = len(both) * MOST_SHOWN + 1
    shown = np.full((*known.shape, count), NO_WORD, np.uint16)
    parts = {name: np.zeros(shown.shape, np.float32) for name in both}
    truth = np.zeros((*known.shape, len(both)), np.float32)
    for r, i in zip(*np.nonzero(known), strict=True):
        if tokens[i] not in words.vocabulary:
            raise CourseError(
                f"The token {tokens[i]!r} at position {i} has predictions, but is not in the "
                "vocabulary.",
                "Pass rows of zeros for tokens that are not predicted, such as [CLS].",
            )
        true = words.vocabulary[tokens[i]]
        best = [
            [c for c in np.argsort(-it.rows[r, i], kind="stable")[:MOST_SHOWN] if it.rows[r, i, c]]
            for it in both.values()
        ]
        columns = list(dict.fromkeys([*map(int, chain(*best)), true]))
        columns.sort(key=lambda c: [-it.rows[r, i, c] for it in both.values()])
        shown[r, i, : len(columns)] = [words.named(c) for c in columns]
        for k, (name, it) in enumerate(both.items()):
            parts[name][r, i, : len(columns)] = it.rows[r, i, columns]
            truth[r, i, k] = it.rows[r, i, true]
    return {"shown": shown, "truth": truth, "known": known.astype(np.uint8), **parts}


def row_of(held: dict[str, Array], i: int, draw: int | None) -> int | None:
    """Return the row of a position's predictions; None if there are none.

    Args:
        held: the arrays.
        i: the position.
        draw: the index of the shown draw if it is a given one, else None.
    """
    if "known" not in held or (held["joint"][0] and draw is None):
        return None
    row = (draw or 0) if held["joint"][0] else 0
    return row if held["known"][row, i] else None


def gain(held: dict[str, Array], i: int, draw: int | None) -> float:
    """Return p(true token) of the exact answer minus that of the model; −2 without predictions."""
    row = row_of(held, i, draw)
    if row is None:
        return -2.0
    first, *second = held["truth"][row, i].tolist()
    return float(first - sum(second))


def described(held: dict[str, Array], words: Sequence[str], i: int, draw: int | None) -> str:
    """Return the description of the predictions at a position; "" if there are none."""
    row = row_of(held, i, draw)
    if row is None:
        return ""
    readers = [name for name in READERS if name in held]
    parts = []
    for k, name in enumerate(readers):
        best = int(held[name][row, i].argmax())
        word, p = visible(words[held["shown"][row, i, best]]), float(held[name][row, i, best])
        true = float(held["truth"][row, i, k])
        loss = f"{abs(np.log(true)):.3g}" if true > 0 else "∞"
        who = "the exact answer" if name == "exact" else "the model's"
        parts.append(f"{who} is “{word}” with {p:.3g}, its loss of the true token {loss} nats")
    if "divergence" in held:
        gap = float(held["divergence"][row, i])
        parts.append(f"KL(exact ‖ model) is {'∞' if gap < 0 else f'{gap:.3g}'} nats")
    return "; ".join(parts)


def _rows(name: str, value: Any, n: int, width: int, draws: int) -> _Rows:
    deep = _axes(value) == 3
    if deep and not draws:
        raise CourseError(
            f"{name} is for several draws, but selected is None.",
            "Pass the draws as selected, or one row per token, for each token masked alone.",
        )
    shape = (draws, n, width) if deep else (n, width)
    rows = as_array(name, value, shape).astype(np.float64).reshape(-1, n, width)
    sums = rows.sum(-1)
    known = sums != 0
    wrong = (rows < 0).any(-1) | (known & (np.abs(sums - 1) > TOLERANCE))
    if wrong.any():
        r, i = (int(it) for it in np.argwhere(wrong)[0])
        where = f"{name}[{r}, {i}]" if deep else f"{name}[{i}]"
        raise CourseError(
            f"{where} is not a distribution: its sum is {sums[r, i]:.4g}, its minimum "
            f"{rows[r, i].min():.4g}.",
            "Pass probabilities (logits.softmax(-1)); zeros for a token that is not predicted.",
        )
    return _Rows(rows / np.where(known, sums, 1)[..., None], known)


def _axes(value: Any) -> int:
    """Return the number of axes of an array or a nested list."""
    try:
        return int(getattr(value, "ndim", None) or np.ndim(value))
    except (TypeError, ValueError, RuntimeError):  # as_array raises the error
        return 2
