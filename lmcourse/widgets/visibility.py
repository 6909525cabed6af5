"""Visibility: attention masks, and their effect on a softmax."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import traitlets
from numpy.typing import NDArray

from lmcourse.errors import CourseError
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import index_below, one_of
from lmcourse.widgets.packing import Array, as_array, as_booleans
from lmcourse.widgets.sentence_text import Tree, text_of, tree_of
from lmcourse.widgets.tokens import MOST_TOKENS, PADDING, as_text, visible

MOST_CHARACTERS = 4000  # of a typed sentence
MASKS = ("causal", "padding", "segment", "boundary", "tree", "given")
ADDED = ("-inf", "-10000", "lowest")
_BITS = ("tree", "given")  # matrices that are sent as bits


class Visibility(Widget):
    """The matrix of visible keys under one or more masks, and one query's softmax.

    Queries and keys count from 0. A mask is added to the scores before the softmax, in float32. If
    all keys of a query are hidden, its weights are NaN, as in PyTorch (our models return zeros).
    Settings are traits.

    A reader edits a sentence tree as a line (`lmcourse.widgets.sentence_text`), such as
    ``(tim cook) [ceo apple] is in beijing [capital china]``. An edited tree has the masks causal,
    padding and tree only, and its scores are 0.

    Args:
        tokens: the text, including padding, at most 512; None: those of ``text``.
        attention_mask: 1 for tokens, 0 for padding, (token); None: 0 for [PAD] and <pad>.
        token_type_ids: each token's segment, (token), for the mask ``"segment"``.
        selected: 1 for masked tokens, (token), for the mask ``"boundary"``: SpanBERT's span
            boundary objective predicts them from the two tokens next to the span only.
        visible: any mask, 1 where the key (column) is visible to the query (row).
        scores: a head's scores before the mask, (query, key); None: all 0.
        tree: a `lmcourse.models.sentence_tree.FlatTree`; pass its tokens as tokens.
        text: the shown sentence tree, as a line of at most 4,000 characters; None: the given
            ``tree``, which a reader can edit if it can be written as a line.
        masks: the masks to combine: ``"causal"``, ``"padding"``, ``"segment"``, ``"boundary"``,
            ``"tree"`` and ``"given"`` (``visible``); None: those with data, and padding if there is
            any; else causal.
        added: the number added to a hidden key's score: ``"-inf"``, ``"-10000"`` or ``"lowest"``,
            the lowest float32.
        after: whether weights are set to 0 *after* the softmax instead, a mistake.
        row: the query whose softmax is shown; None: the middle one. After the end of an edited
            sentence: the last one.
    """

    _esm = module("visibility")
    title: ClassVar[str] = "Visibility"
    lighter: ClassVar[str] = "Pass a shorter text."

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    written = traitlets.Unicode("").tag(
        sync=True, data=True
    )  # the given tree as a line; empty: none
    text = traitlets.Unicode("").tag(sync=True)
    masks = traitlets.List(traitlets.Unicode()).tag(sync=True)
    added = traitlets.Unicode("-inf").tag(sync=True)
    after = traitlets.Bool(False).tag(sync=True)
    row = traitlets.Int(None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        tokens: Sequence[str] | None = None,
        *,
        attention_mask: Any = None,
        token_type_ids: Any = None,
        selected: Any = None,
        visible: Any = None,
        scores: Any = None,
        tree: Any = None,
        text: str | None = None,
        masks: Sequence[str] | None = None,
        added: str = "-inf",
        after: bool = False,
        row: int | None = None,
    ) -> None:
        if tokens is None:
            if text is None:
                raise CourseError("There is no text.", "Pass tokens, or a sentence tree as text.")
            tokens, tree = _from_text(text)
        listed = as_text(tokens, "Visibility")
        n = len(listed)
        real = [it not in PADDING for it in listed] if attention_mask is None else attention_mask
        arrays: dict[str, Array] = {"real": as_booleans("attention_mask", _alone(real, 1), (n,))}
        if token_type_ids is not None:
            arrays["segment"] = _ids("token_type_ids", _alone(token_type_ids, 1), n)
        if selected is not None:
            arrays["selected"] = as_booleans("selected", _alone(selected, 1), (n,))
        if visible is not None:
            arrays["given"] = as_booleans("visible", _alone(visible, 2), (n, n))
        if scores is not None:
            arrays["scores"] = _scores(_alone(scores, 2), n)
        self._held = arrays | _tree(tree, listed)
        written = ""
        if tree is not None:
            branch, anchor, seen = (self._held[it] for it in ("branch", "anchor", "tree"))
            written = text_of(listed, branch.tolist(), anchor.tolist(), seen)
            written = written if len(written) <= MOST_CHARACTERS else ""
        self._written, padded = written, not arrays["real"].all()
        there = {
            "causal": True,
            "padding": padded or bool(written),
            "boundary": "selected" in arrays,
        }
        self._masks = [it for it in MASKS if there.get(it, it in self._held)]
        given = [it for it in self._masks if it != "causal" and (it != "padding" or padded)]
        packed = {it: np.packbits(self._held[it], axis=1) for it in _BITS if it in self._held}
        super().__init__(
            **self.hold(self._held | packed),
            tokens=listed,
            written=written,
            text=written,
            masks=(given or ["causal"]) if masks is None else masks,
            added=added,
            after=after,
            row=row,
        )
        if text is not None:
            self.text = text

    @property
    def _now(self) -> tuple[list[str], dict[str, Array]]:
        """The tokens and arrays of the shown sentence."""
        if self.text == self._written:
            return self.tokens, self._held
        tokens, *arrays = tree_of(self.text)
        return tokens, dict(zip(Tree._fields[1:], arrays, strict=True))

    @property
    def matrix(self) -> NDArray[np.bool_]:
        """True where the key is visible to the query under the present masks, (query, key)."""
        tokens, held = self._now
        n = len(tokens)
        seen = np.ones((n, n), bool)
        each = {
            "causal": lambda: np.tri(n, dtype=bool),
            "padding": lambda: held["real"] > 0,
            "segment": lambda: held["segment"][:, None] == held["segment"],
            "boundary": lambda: _boundaries(held["selected"] > 0),
            "tree": lambda: held["tree"] > 0,
            "given": lambda: held["given"] > 0,
        }
        for mask in self.masks:
            if self.text == self._written or mask in ("causal", "padding", "tree"):
                seen &= each[mask]()
        return seen

    @property
    def alt(self) -> str:
        """A description of the figure at the present settings."""
        (tokens, held), seen = self._now, self.matrix
        n = len(tokens)
        row = (n - 1) // 2 if self.row is None else min(self.row, n - 1)
        scores = held["scores"][row] if "scores" in held else np.zeros(n)
        weights = weights_of(scores, seen[row], self.added, self.after)
        how = (
            "are set to 0 after the softmax"
            if self.after
            else f"get {'the lowest float32' if self.added == 'lowest' else self.added} added"
        )
        line = " ".join(map(visible, self.text.split()))
        tree = f" The sentence tree: {line}." if line else ""
        return (
            f"Visibility: the matrix of which of {n} tokens attends to which. Under "
            f"{' and '.join(self.masks) or 'no mask'}, {int(seen.sum()):,} of {n * n:,} pairs are "
            f"visible. Query {row}, “{visible(tokens[row])}”, attends to "
            f"{int(seen[row].sum())} of {n} keys; the others {how}. "
            f"{largest(tokens, weights, seen[row])}{tree}"
        )

    @traitlets.validate("masks")
    def _masks_are_there(self, proposal: Any) -> list[str]:
        found = [one_of("mask", it, self._masks) for it in proposal["value"]]
        if len(set(found)) < len(found):
            raise CourseError(f"masks has duplicates: {', '.join(found)}.", "Name each mask once.")
        return found

    @traitlets.validate("added")
    def _number_is_known(self, proposal: Any) -> str:
        return one_of("added", proposal["value"], ADDED)

    @traitlets.validate("row")
    def _row_exists(self, proposal: Any) -> int | None:
        fixed = not self._made or not self._written  # an edited sentence may be longer
        count = len(self._held["real"]) if fixed else MOST_TOKENS
        return index_below("row", proposal["value"], count)

    @traitlets.validate("text")
    def _text_is_a_tree(self, proposal: Any) -> str:
        text = str(proposal["value"])
        if text != self._written:
            if not self._written:
                raise CourseError(
                    "There is no sentence tree to edit.", "Make a new widget: Visibility(text=...)."
                )
            _from_text(text)
        return text


def _from_text(text: Any) -> tuple[list[str], Any]:
    """Return the tokens and the tree of a line."""
    if not isinstance(text, str) or len(text) > MOST_CHARACTERS:
        raise CourseError(
            f"text is not a line of at most {MOST_CHARACTERS:,} characters.",
            "Write a sentence with its branches: (tim cook) [ceo apple] is in beijing.",
        )
    tokens, soft, branch, anchor, tree, _ = tree_of(text)
    facts = {"soft_positions": soft, "anchors": anchor, "visible": tree}
    return tokens, SimpleNamespace(tokens=tokens, branches=branch.astype(int) - 1, **facts)


def _alone(value: Any, axes: int) -> Any:
    """Return the value without a batch axis of size 1, as returned by tokenizers and models."""
    try:
        deep = len(getattr(value, "shape", None) or np.shape(value))
    except (TypeError, ValueError):  # ragged: as_array raises the error
        return value
    return value[0] if deep == axes + 1 and len(value) == 1 else value


def _scores(value: Any, n: int) -> Array:
    """Return a head's scores before the mask."""
    plain = value.detach().cpu().float() if hasattr(value, "detach") else value
    try:
        masked = bool(np.isneginf(np.asarray(plain, np.float64)).any())
    except (TypeError, ValueError, RuntimeError):
        masked = False  # as_array raises the error
    if masked:
        raise CourseError(
            "scores has −∞: it is masked already.",
            "Pass the scores before the mask, and the mask as visible=.",
        )
    return as_array("scores", value, (n, n))


def _ids(name: str, value: Any, n: int) -> Array:
    array = as_array(name, value, (n,))
    if ((array < 0) | (array > 0xFFFF) | (array != np.floor(array))).any():
        raise CourseError(f"{name} has invalid ids.", "Pass integers from 0.")
    return array.astype(np.uint16)


def _boundaries(selected: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for selected tokens the positions next to their span; for others, all."""
    seen = np.ones((len(selected), len(selected)), bool)
    unselected = np.flatnonzero(~selected)
    for i in np.flatnonzero(selected):
        left, right = unselected[unselected < i], unselected[unselected > i]
        seen[i] = False
        seen[i, [*left[-1:], *right[:1]]] = True
    return seen


def _tree(tree: Any, tokens: Sequence[str]) -> dict[str, Array]:
    """Return a tree's soft positions, branches (0 is the trunk), anchors and visible matrix."""
    if tree is None:
        return {}
    names = ("tokens", "soft_positions", "branches", "anchors", "visible")
    if not all(hasattr(tree, name) for name in names):
        raise CourseError(
            f"tree is of type {type(tree).__name__}, not a flattened sentence tree.",
            "Pass SentenceTree(...).flatten(), and its tokens as tokens.",
        )
    if list(tree.tokens) != list(tokens):
        raise CourseError(
            "tree has other tokens than the text.",
            "Pass its own: Visibility(tree.tokens, tree=tree).",
        )
    n = len(tokens)
    branches = as_array("tree.branches", tree.branches, (n,)) + 1
    return {
        "soft": _ids("tree.soft_positions", tree.soft_positions, n),
        "branch": _ids("tree.branches", branches, n),
        "anchor": _ids("tree.anchors", tree.anchors, n),
        "tree": as_booleans("tree.visible", tree.visible, (n, n)),
    }


def weights_of(scores: Array, seen: Array, added: str, after: bool) -> NDArray[np.float64]:
    """Return one query's weights as computed by the page."""
    number = {"-inf": -np.inf, "-10000": -1e4, "lowest": float(np.finfo(np.float32).min)}[added]
    single = scores.astype(np.float32)
    with np.errstate(all="ignore"):  # NaN if all scores are −∞
        masked = single if after else np.where(seen, single, single + np.float32(number))
        parts = np.exp(masked.astype(np.float64) - masked.max())
        weights: NDArray[np.float64] = parts / parts.sum() * (seen if after else 1)
    return weights


def largest(tokens: Sequence[str], weights: NDArray[np.float64], seen: Array) -> str:
    """Return the description of a query's largest weights."""
    if np.isnan(weights).any():
        return "All its weights are NaN: every score is −∞, and the softmax is 0/0."
    order = [int(j) for j in np.argsort(-weights, kind="stable")[:3] if weights[j] > 0]
    said = [
        f"“{visible(tokens[j])}” {weights[j]:.3g}{'' if seen[j] else ' (hidden)'}" for j in order
    ]
    sums = f"they sum to {weights.sum():.3g}"
    return f"Its largest weights: {', '.join(said)}; {sums}." if said else "All its weights are 0."
