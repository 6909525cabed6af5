"""Visibility: which tokens a model may look at, and what a mask does to a softmax."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import traitlets
from numpy.typing import NDArray

from lmcourse.errors import CourseError
from lmcourse.widgets.base import Widget, module
from lmcourse.widgets.checks import one_of, whole_below
from lmcourse.widgets.packing import Array, as_array, as_booleans
from lmcourse.widgets.tokens import as_tokens, visible

MOST_TOKENS = 512  # what BERT reads
PADDING = frozenset(("[PAD]", "<pad>"))
MASKS = ("causal", "padding", "segment", "boundary", "tree", "given")
ADDED = ("-inf", "-10000", "lowest")
_BITS = ("tree", "given")  # matrices that travel as bits


class Visibility(Widget):
    """The matrix of who may look at whom, under one mask or several, and one query's softmax.

    Queries and keys count from 0. A mask is added to the scores before the softmax, in float32. A
    query that sees nothing becomes NaN, as in PyTorch (our models give zeros). Settings are traits.

    Args:
        tokens: the text, padding included, 512 at most.
        attention_mask: 1 for a token, 0 for padding, (token); None: 0 for [PAD].
        token_type_ids: each token's segment, (token), for the mask ``"segment"``.
        selected: 1 for each token that is masked out, (token), for the mask ``"boundary"``:
            SpanBERT's second task tells such a token from the two places around its span alone.
        visible: any mask, 1 where the query (row) may look at the key (column).
        scores: a head's scores before the mask, (query, key); None: all 0.
        tree: a `lmcourse.models.sentence_tree.FlatTree`; pass its tokens as tokens.
        masks: which are combined: of ``"causal"``, ``"padding"``, ``"segment"``, ``"boundary"``,
            ``"tree"`` and ``"given"`` (``visible``); None: those that data were given for, else
            causal.
        added: what is added to a hidden key's score: ``"-inf"``, ``"-10000"`` or ``"lowest"``, the
            lowest number of float32.
        after: whether hidden weights are set to 0 *after* the softmax instead, which is a mistake.
        row: the query whose softmax is shown; None: the middle one.

    Raises:
        CourseError: tokens and arrays do not fit each other, an array holds something else than
            named here, a setting is unknown or out of range.
    """

    _esm = module("visibility")
    title: ClassVar[str] = "Visibility"
    lighter: ClassVar[str] = "Pass a shorter text."

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True, data=True)
    masks = traitlets.List(traitlets.Unicode()).tag(sync=True)
    added = traitlets.Unicode("-inf").tag(sync=True)
    after = traitlets.Bool(False).tag(sync=True)
    row = traitlets.Int(None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        tokens: Sequence[str],
        *,
        attention_mask: Any = None,
        token_type_ids: Any = None,
        selected: Any = None,
        visible: Any = None,
        scores: Any = None,
        tree: Any = None,
        masks: Sequence[str] | None = None,
        added: str = "-inf",
        after: bool = False,
        row: int | None = None,
    ) -> None:
        listed = as_tokens("tokens", tokens)
        n = len(listed)
        if n > MOST_TOKENS:
            raise CourseError(
                f"tokens has {n:,} tokens; Visibility shows {MOST_TOKENS}.",
                f"Pass a part of the text, such as tokens[:{MOST_TOKENS}].",
            )
        real = [it not in PADDING for it in listed] if attention_mask is None else attention_mask
        arrays: dict[str, Array] = {"real": as_booleans("attention_mask", real, (n,))}
        if token_type_ids is not None:
            arrays["segment"] = _ids("token_type_ids", token_type_ids, n)
        if selected is not None:
            arrays["selected"] = as_booleans("selected", selected, (n,))
        if visible is not None:
            arrays["given"] = as_booleans("visible", visible, (n, n))
        if scores is not None:
            arrays["scores"] = as_array("scores", scores, (n, n))
        self._held = arrays | _tree(tree, listed)
        there = {
            "causal": True,
            "padding": not arrays["real"].all(),
            "boundary": "selected" in arrays,
        }
        self._masks = [it for it in MASKS if there.get(it, it in self._held)]
        packed = {it: np.packbits(self._held[it], axis=1) for it in _BITS if it in self._held}
        super().__init__(
            **self.hold(self._held | packed),
            tokens=listed,
            masks=(self._masks[1:] or self._masks) if masks is None else masks,
            added=added,
            after=after,
            row=row,
        )

    @property
    def matrix(self) -> NDArray[np.bool_]:
        """True where the query may look at the key under the present masks, (query, key)."""
        held, n = self._held, len(self.tokens)
        seen = np.ones((n, n), bool)
        for mask in self.masks:
            seen &= {
                "causal": lambda: np.tri(n, dtype=bool),
                "padding": lambda: held["real"] > 0,
                "segment": lambda: held["segment"][:, None] == held["segment"],
                "boundary": lambda: _boundaries(held["selected"] > 0),
                "tree": lambda: held["tree"] > 0,
                "given": lambda: held["given"] > 0,
            }[mask]()
        return seen

    @property
    def alt(self) -> str:
        """What is to be seen, in words, at the present settings."""
        n, seen = len(self.tokens), self.matrix
        row = (n - 1) // 2 if self.row is None else self.row
        how = (
            "are set to 0 after the softmax"
            if self.after
            else f"get {'the lowest float32' if self.added == 'lowest' else self.added} added"
        )
        return (
            f"Visibility: the matrix of which of {n} tokens may look at which. Under "
            f"{' and '.join(self.masks) or 'no mask'}, {int(seen.sum()):,} of {n * n:,} pairs are "
            f"visible. Query {row}, “{visible(self.tokens[row])}”, sees {int(seen[row].sum())} of "
            f"{n} keys; the others {how}."
        )

    @traitlets.validate("masks")
    def _masks_are_there(self, proposal: Any) -> list[str]:
        found = [one_of("mask", it, self._masks) for it in proposal["value"]]
        if len(set(found)) < len(found):
            raise CourseError(f"masks names one twice: {', '.join(found)}.", "Name each once.")
        return found

    @traitlets.validate("added")
    def _number_is_known(self, proposal: Any) -> str:
        return one_of("added", proposal["value"], ADDED)

    @traitlets.validate("row")
    def _row_exists(self, proposal: Any) -> int | None:
        return whole_below("row", proposal["value"], len(self._held["real"]))


def _ids(name: str, value: Any, n: int) -> Array:
    array = as_array(name, value, (n,))
    if ((array < 0) | (array > 0xFFFF) | (array != np.floor(array))).any():
        raise CourseError(f"{name} holds numbers that are no ids.", "Give whole numbers from 0.")
    return array.astype(np.uint16)


def _boundaries(selected: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of a selected token's row, the places just outside its run; of any other, all."""
    seen = np.ones((len(selected), len(selected)), bool)
    open_places = np.flatnonzero(~selected)
    for i in np.flatnonzero(selected):
        left, right = open_places[open_places < i], open_places[open_places > i]
        seen[i] = False
        seen[i, [*left[-1:], *right[:1]]] = True
    return seen


def _tree(tree: Any, tokens: Sequence[str]) -> dict[str, Array]:
    """A flattened sentence tree: soft positions, branches (0 is the trunk), anchors, visible."""
    if tree is None:
        return {}
    names = ("tokens", "soft_positions", "branches", "anchors", "visible")
    if not all(hasattr(tree, name) for name in names):
        raise CourseError(
            f"tree is of type {type(tree).__name__}, not a flattened sentence tree.",
            "Give SentenceTree(...).flatten(), and its tokens as tokens.",
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
