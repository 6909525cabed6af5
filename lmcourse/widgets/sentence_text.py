"""A sentence tree as a line of text that a reader edits, and back.

    (tim cook) [ceo apple] is visiting beijing [capital china] [is_a city] now

Square brackets hold a branch of the word before them; parentheses make one entity of several words.
[CLS], [SEP], [PAD], [MASK] and [UNK] are words. What a text means, `tree_of` computes as
`lmcourse.models.sentence_tree` does, and a page does (``web/widgets/visibility/tree.js``): order,
soft positions and visible matrix are theirs.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lmcourse.errors import CourseError
from lmcourse.widgets.packing import Array
from lmcourse.widgets.tokens import MOST_TOKENS, PADDING, as_tokens

# As in tree.js: what Python and browsers call a space is not the same.
_SPACE = r"\s\x1c-\x1f\x85\ufeff"
_PARTS = re.compile(rf"\[(?:CLS|SEP|PAD|MASK|UNK)\]|[^{_SPACE}\[\]()]+|[\[\]()]")


class Tree(NamedTuple):
    """A sentence tree as a sequence, a branch right behind its entity; a number a token each.

    Attributes:
        tokens: in the order of the text.
        soft: positions.
        branch: 0 for the sentence's own, else the branch's number from 1.
        anchor: where in the sentence a token stands; a branch's, where its entity ends.
        tree: 1 where the query (row) sees the key.
        real: 0 for padding.
    """

    tokens: list[str]
    soft: Array
    branch: Array
    anchor: Array
    tree: Array
    real: Array


def tree_of(text: str) -> Tree:
    """What a text means.

    Raises:
        CourseError: a bracket is missing or too many, a branch hangs on nothing or is empty, there
            are no words or more than 512 tokens.
    """
    found: list[tuple[str, int, int, int]] = []  # token, soft position, branch, anchor
    starts = [0]  # of each branch's entity, in the sentence
    start = end = 0  # of the last entity; nothing came yet
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
        raise CourseError(f"These are {len(found)} tokens.", f"Give 1 to {MOST_TOKENS}.")
    tokens = as_tokens("text", [it[0] for it in found])
    soft, branch, anchor = (np.array([it[k] for it in found], np.uint16) for k in (1, 2, 3))
    first = np.array(starts)[branch]
    seen = branch[:, None] == branch
    # Of a branch's row: the words of its entity, which ends where the branch hangs.
    entity = (branch == 0) & (anchor >= first[:, None]) & (anchor <= anchor[:, None])
    seen |= entity & (branch[:, None] > 0)
    real = np.array([it not in PADDING for it in tokens], np.uint8)
    return Tree(tokens, soft, branch, anchor, (seen | seen.T).astype(np.uint8), real)


_OTHER = {"[": "]", "(": ")"}


def _open(inside: str) -> tuple[str, str]:
    return f"“{inside}” is not closed.", f"Write “{_OTHER[inside]}”."


def _misplaced(part: str, inside: str, end: int, length: int) -> tuple[str, str] | None:
    """What is wrong with a bracket where it stands, and what to do."""
    if part in ("[", "("):
        if inside:
            return _open(inside)
        if part == "[" and not end:
            return "A branch stands at the start.", "Write its word before it."
    elif part in ("]", ")"):
        if _OTHER.get(inside) != part:
            return f"“{part}” closes nothing.", "Delete it."
        if not length:
            return f"“{inside}{part}” is empty.", "Write a word into it."
    return None


def text_of(
    tokens: Sequence[str], branch: Sequence[int], anchor: Sequence[int], visible: Array
) -> str:
    """The text of a flattened tree; empty if a text cannot say it.

    Args:
        tokens, branch, anchor, visible: as `Tree` has them.
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
