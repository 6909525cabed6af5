"""Sentence trees as editable lines of text.

    (tim cook) [ceo apple] is visiting beijing [capital china] [is_a city] now

Square brackets hold a branch of the word before them; parentheses group several words into one
entity. [CLS], [SEP], [PAD], [MASK] and [UNK] are words. `tree_of` computes order, soft positions
and visible matrix like `lmcourse.models.sentence_tree` and ``web/widgets/visibility/tree.js``.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.packing import Array
from lmcourse.widgets.tokens import MOST_TOKENS, PADDING, as_tokens

# As in tree.js: Python and browsers differ in what is a space.
_SPACE = r"\s\x1c-\x1f\x85\ufeff"
_PARTS = re.compile(rf"\[(?:CLS|SEP|PAD|MASK|UNK)\]|[^{_SPACE}\[\]()]+|[\[\]()]")


class Tree(NamedTuple):
    """A flattened sentence tree, with each branch after its entity.

    Attributes:
        tokens: in the order of the text.
        soft: soft positions.
        branch: 0 for the trunk, else the index of the branch from 1.
        anchor: the position in the trunk; for a branch, that of the end of its entity.
        tree: the visible matrix: 1 where the key is visible to the query (row).
        real: 0 for padding.
    """

    tokens: list[str]
    soft: Array
    branch: Array
    anchor: Array
    tree: Array
    real: Array


def tree_of(text: str) -> Tree:
    """Return the tree of a text."""
    found: list[tuple[str, int, int, int]] = []  # token, soft position, branch, anchor
    starts = [0]  # of each branch's entity, in the trunk
    start = end = 0  # of the last entity
    inside, branches, length = "", 0, 0
    for part in _PARTS.findall(text):
        wrong = _misplaced(part, inside, end, length)
        if wrong:
            raise CourseError(*wrong)
        if part in "[(":
            inside, length = part, 0
            if part == "[":
                branches += 1
                starts.append(start)
            else:
                start = end
        elif part in "])":
            inside = ""
        elif inside == "[":
            found.append((part, end + length, branches, end - 1))
            length += 1
        else:
            if not inside:
                start = end
            found.append((part, end, 0, end))
            end += 1
            length += 1
    if inside:
        raise CourseError(*_open(inside))
    if not 1 <= len(found) <= MOST_TOKENS:
        raise CourseError(f"The text has {len(found)} tokens.", f"Write 1 to {MOST_TOKENS}.")
    tokens = as_tokens("text", [it[0] for it in found])
    soft, branch, anchor = (np.array([it[k] for it in found], np.uint16) for k in (1, 2, 3))
    first = np.array(starts)[branch]
    seen = branch[:, None] == branch
    # A branch attends to the words of its entity, which ends at the anchor.
    entity = (branch == 0) & (anchor >= first[:, None]) & (anchor <= anchor[:, None])
    seen |= entity & (branch[:, None] > 0)
    real = np.array([it not in PADDING for it in tokens], np.uint8)
    return Tree(tokens, soft, branch, anchor, (seen | seen.T).astype(np.uint8), real)


_OTHER = {"[": "]", "(": ")"}


def _open(inside: str) -> tuple[str, str]:
    return f"“{inside}” is not closed.", f"Write “{_OTHER[inside]}”."


def _misplaced(part: str, inside: str, end: int, length: int) -> tuple[str, str] | None:
    """Return the cause and the remedy of a misplaced bracket."""
    if part in ("[", "("):
        if inside:
            return _open(inside)
        if part == "[" and not end:
            return "A branch is at the start.", "Write its word before it."
    elif part in ("]", ")"):
        if _OTHER.get(inside) != part:
            return f"“{part}” has no opening bracket.", "Delete it."
        if not length:
            return f"“{inside}{part}” is empty.", "Write a word into it."
    return None


def text_of(
    tokens: Sequence[str], branch: Sequence[int], anchor: Sequence[int], visible: Array
) -> str:
    """Return the text of a flattened tree; empty if it cannot be written as a text.

    Args:
        tokens, branch, anchor, visible: as in `Tree`.
    """
    trunk = [i for i, it in enumerate(branch) if it == 0]
    parts = list(tokens)
    for i, number in enumerate(branch):
        if number and (i == 0 or branch[i - 1] != number):  # its first token
            entity = [k for k in trunk if visible[i, k]]
            if len(entity) > 1 and not parts[entity[0]].startswith("("):
                parts[entity[0]] = "(" + parts[entity[0]]
                parts[entity[-1]] += ")"
            parts[i] = "[" + parts[i]
        if number and (i + 1 == len(branch) or branch[i + 1] != number):
            parts[i] += "]"
    text = " ".join(parts)
    try:
        found = tree_of(text)
    except CourseError:
        return ""
    numbers = list(dict.fromkeys([0, *branch]))  # in the order of the text
    same = (
        found.tokens == list(tokens)
        and found.branch.tolist() == [numbers.index(it) for it in branch]
        and found.anchor.tolist() == list(anchor)
        and np.array_equal(found.tree, visible)
    )
    return text if same else ""
