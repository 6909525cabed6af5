"""What Masking is given, checked and made into what its page reads."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.distributions import divergence
from lmcourse.widgets.masking_draw import KEPT, MASKED, RANDOM
from lmcourse.widgets.packing import Array, as_array, as_booleans
from lmcourse.widgets.tokens import SPECIAL, as_tokens, visible

MOST_WORDS = 2000  # that the browser may draw a random one of
MOST_SHOWN = 3  # words of each distribution
NOBODY = 0xFFFF  # no word
ROUNDED = 4e-3  # what bfloat16's 8 bits may take from a sum of 1, and as much again
READERS = ("exact", "model")


class Content(NamedTuple):
    """A text with its draws and answers, as a page gets it."""

    tokens: list[str]
    words: list[str]  # that stand in others' places
    pool: int  # so many of them are drawn from
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
    """What `Masking` is given, checked and packed; its docstring says what each is."""
    named = [token in SPECIAL for token in tokens] if special is None else special
    arrays: dict[str, Array] = {"special": as_booleans("special", named, (len(tokens),))}
    words = Words(vocabulary, tokens, arrays["special"])
    arrays["word"] = word_numbers(word_ids, tokens)
    arrays |= draws_of(selected, read, tokens, words, mask_token)
    arrays |= predictions_of(model, exact, tokens, words, len(arrays.get("fates", ())))
    return Content(tokens, words.listed, words.pool, arrays)


class Words:
    """The words that a page may show, each sent once.

    Args:
        vocabulary: of the predictions, and random words are drawn from it: all, or 2,000 evenly
            spaced ones. None: random words are the text's own.
        tokens: the text.
        special: 1 where a token is never selected.
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
                f"vocabulary has {twice!r} twice.", "Give each word once, in the order of the ids."
            )
        self._known = known

    def id(self, word: str) -> int:
        """The number of a word in the list, to which it is added if need be."""
        found = self._ids.setdefault(word, len(self.listed))
        if found == len(self.listed):
            self.listed.append(word)
        return found

    def named(self, column: int) -> int:
        """The number of the word that a column of the predictions stands for."""
        return self.id(self._known[column])


def word_numbers(word_ids: Any, tokens: Sequence[str]) -> Array:
    """Of each token the number of its word: as given, or a piece with ## belongs to what is before.

    Args:
        word_ids: as tokenizers give them; None stands for a word of its own.
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
            f"word_ids has {len(given)} numbers for {len(tokens)} tokens.",
            "Give one a token: encoding.word_ids of the same text.",
        )
    whole = [it is None or (isinstance(it, int | np.integer) and it >= 0) for it in given]
    if not all(whole):
        raise CourseError(
            f"word_ids[{whole.index(False)}] is {given[whole.index(False)]!r}.",
            "Give a whole number from 0 for each token, and None for special tokens.",
        )
    new = [i == 0 or it is None or it != given[i - 1] for i, it in enumerate(given)]
    return np.cumsum(new).astype(np.uint16)


def draws_of(
    selected: Any, read: Any, tokens: Sequence[str], words: Words, mask: str
) -> dict[str, Array]:
    """The given draws, (draw, token): fates, and the numbers of random words."""
    if selected is None:
        if read is not None:
            raise CourseError("read was given without selected.", "Give both, or selected alone.")
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
            f"read is no list of {len(chosen)} texts, as selected has draws.",
            "Give a list of tokens for each draw: what the model reads.",
        )
    rows = [as_tokens(f"read[{i}]", row, n) for i, row in enumerate(read)]
    fates, stands = np.zeros((2, len(rows), n), np.uint16)
    for e, row in enumerate(rows):
        for i, (token, there) in enumerate(zip(tokens, row, strict=True)):
            if chosen[e, i]:
                fates[e, i] = MASKED if there == mask else KEPT if there == token else RANDOM
                stands[e, i] = words.id(there) if fates[e, i] == RANDOM else 0
            elif there != token:
                raise CourseError(
                    f"read[{e}][{i}] is {there!r}, where {token!r} is not selected.",
                    "Select it, or leave the token as it is.",
                )
    return {"fates": fates.astype(np.uint8), "stands": stands}


class _Rows(NamedTuple):
    """Distributions of one reader, (given, token, word)."""

    rows: Array
    known: Array  # (given, token): a row of zeros was not computed


def predictions_of(
    model: Any, exact: Any, tokens: Sequence[str], words: Words, draws: int
) -> dict[str, Array]:
    """The likeliest words under both, p of the true token, and KL(exact ‖ model) in nats.

    Of both distributions the same words: the likeliest of each, and the true token. A divergence
    that is infinite is sent as −1.
    """
    found = dict(zip(READERS, (exact, model), strict=True))
    given = {name: it for name, it in found.items() if it is not None}
    if not given:
        return {}
    if not words.vocabulary:
        raise CourseError(
            "Predictions were given without a vocabulary.",
            "Give the words that their columns stand for as vocabulary.",
        )
    both = {
        name: _rows(name, it, len(tokens), len(words.vocabulary), draws)
        for name, it in given.items()
    }
    joint = {_axes(it) == 3 for it in given.values()}
    if len(joint) > 1:
        raise CourseError(
            "model and exact are not for the same draws.",
            "Give both with the shape (token, word), or both with (draw, token, word).",
        )
    out = _likeliest(both, tokens, words)
    out["joint"] = np.array([*joint], np.uint8)
    if len(both) == 2:
        gap = divergence(both["exact"].rows, both["model"].rows)
        out["divergence"] = np.where(np.isfinite(gap), gap, -1.0)
    return out


def _likeliest(both: dict[str, _Rows], tokens: Sequence[str], words: Words) -> dict[str, Array]:
    """The words that are shown at each position, and the true token, with their probabilities."""
    known = np.logical_and.reduce([it.known for it in both.values()])
    count = len(both) * MOST_SHOWN + 1
    shown = np.full((*known.shape, count), NOBODY, np.uint16)
    parts = {name: np.zeros(shown.shape, np.float32) for name in both}
    truth = np.zeros((*known.shape, len(both)), np.float32)
    for r, i in zip(*np.nonzero(known), strict=True):
        if tokens[i] not in words.vocabulary:
            raise CourseError(
                f"The token {tokens[i]!r} at position {i} has predictions, and is not in the "
                "vocabulary.",
                "Give rows of zeros for tokens that are not predicted, such as [CLS].",
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
    """Which row of the predictions a position's are; None if there are none.

    Args:
        held: the arrays.
        i: the position.
        draw: the given draw that is shown, None if it is another.
    """
    if "known" not in held or (held["joint"][0] and draw is None):
        return None
    row = (draw or 0) if held["joint"][0] else 0
    return row if held["known"][row, i] else None


def gain(held: dict[str, Array], i: int, draw: int | None) -> float:
    """By how much the exact answer knows a token better than the model does; -2 without answers."""
    row = row_of(held, i, draw)
    if row is None:
        return -2.0
    first, *second = held["truth"][row, i].tolist()
    return float(first - sum(second))


def said(held: dict[str, Array], words: Sequence[str], i: int, draw: int | None) -> str:
    """The answers at a position, in words; nothing where there are none."""
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
            f"{name} is for several draws, and none were given.",
            "Give the draws as selected, or one row a token: each token hidden alone.",
        )
    shape = (draws, n, width) if deep else (n, width)
    rows = as_array(name, value, shape).astype(np.float64).reshape(-1, n, width)
    sums = rows.sum(-1)
    known = sums != 0
    wrong = (rows < 0).any(-1) | (known & (np.abs(sums - 1) > ROUNDED))
    if wrong.any():
        r, i = (int(it) for it in np.argwhere(wrong)[0])
        place = f"{name}[{r}, {i}]" if deep else f"{name}[{i}]"
        raise CourseError(
            f"{place} is no distribution: it sums to {sums[r, i]:.4g}, its least is "
            f"{rows[r, i].min():.4g}.",
            "Give probabilities (logits.softmax(-1)); zeros for a token that is not predicted.",
        )
    return _Rows(rows / np.where(known, sums, 1)[..., None], known)


def _axes(value: Any) -> int:
    """How many axes an array has, or a list that would be one."""
    try:
        return int(getattr(value, "ndim", None) or np.ndim(value))
    except (TypeError, ValueError, RuntimeError):  # as_array says what is wrong
        return 2
