"""A sentence with what is known about it: K-BERT's input (Liu et al. 2020; chapter 15).

A knowledge base holds triples: Tim Cook – CEO – Apple. Each one whose subject a sentence names is
hung on the sentence as a branch, the relation and the object; the sentence is the trunk (figure 2):

    [CLS] Tim Cook ─ is visiting Beijing ─ now
                 └─ CEO Apple          ├─ capital China
                                       └─ is_a City

A Transformer reads sequences, so the tree is flattened: a branch right behind its entity. That is
the order of the *hard* positions. Read as a sentence, it is nonsense, "Tim Cook CEO Apple is
visiting …", and two things undo this:

    soft position    steps from the root. The trunk counts on as if there were no branches, each
                     branch from its entity's last token: "is" and "CEO" are both 3
    visible matrix   a token sees those that are in one branch with it: the trunk's see the trunk,
                     a branch's see each other and their entity, and their entity sees them

Two branches do not see each other, and no token sees another entity's branch: what is known about
Beijing changes what Beijing means, and not what Cook does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import SupportsIndex

import torch
from jaxtyping import Bool
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.models.inputs import whole_number

Token = int | str
Tokens = tuple[Token, ...]
TRUNK = -1
"""The number of the branch that is none."""


@dataclass(frozen=True)
class Branch:
    """What is known of one entity.

    Attributes:
        start, end: the entity's tokens are the sentence's ``[start:end]``.
        tokens: the relation's and the object's.

    Raises:
        CourseError: the tokens are none.
    """

    start: int
    end: int
    tokens: Tokens

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", tokens_of(self.tokens))  # a list of them will do


@dataclass(frozen=True, eq=False)
class FlatTree:
    """A sentence tree as a sequence; a token's hard position is where it stands in it.

    Attributes:
        tokens: the sentence's, and each branch's behind its entity.
        soft_positions: of each token.
        visible: True where token i sees token j.
        branches: the number of each token's branch, ``TRUNK`` for the sentence's own.
        anchors: where in the sentence each token stands; a branch's, where its entity ends.
    """

    tokens: Tokens
    soft_positions: tuple[int, ...]
    visible: Bool[Tensor, "time time"]
    branches: tuple[int, ...]
    anchors: tuple[int, ...]


@dataclass(frozen=True)
class SentenceTree:
    """A sentence, and what is known about its entities.

    Attributes:
        tokens: the sentence's, also [CLS] and [SEP]: text or ids.
        branches: what is hung on it.

    Raises:
        CourseError: the tokens are none; a branch is empty, or its entity is no part of the
            sentence.
    """

    tokens: Tokens
    branches: tuple[Branch, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", tokens_of(self.tokens))
        object.__setattr__(self, "branches", tuple(self.branches))
        if not self.tokens:
            raise CourseError("This sentence has no tokens.", "Give it at least one.")
        for branch in self.branches:
            if not self._holds(branch):
                raise CourseError(
                    f"{branch} does not fit a sentence of {len(self.tokens)} tokens.",
                    "A branch has tokens, and its entity is the sentence's [start:end], not empty.",
                )

    def _holds(self, branch: Branch) -> bool:
        if not isinstance(branch, Branch) or not branch.tokens:
            return False
        whole = all(isinstance(place, SupportsIndex) for place in (branch.start, branch.end))
        return whole and 0 <= branch.start < branch.end <= len(self.tokens)

    def flatten(self, max_length: int | None = None) -> FlatTree:
        """The tree as a sequence.

        Args:
            max_length: how many tokens there may be. Branches are left out for it, the last first.
                (The published code cuts off the sequence's end: the sentence's last words make way
                for what is known about the first.)

        Raises:
            CourseError: the sentence alone is longer; ``max_length`` is no whole number above 0.
        """
        kept = self._within(max_length)
        found: list[tuple[Token, int, int, int]] = []
        for place, token in enumerate(self.tokens):
            found.append((token, place, TRUNK, place))
            for number, branch in enumerate(kept):
                if branch.end == place + 1:
                    for soft, known in enumerate(branch.tokens, start=branch.end):
                        found.append((known, soft, number, place))
        tokens, soft_positions, branches, anchors = zip(*found, strict=True)
        visible = visible_matrix(kept, torch.tensor(branches), torch.tensor(anchors))
        return FlatTree(tokens, soft_positions, visible, branches, anchors)

    def _within(self, max_length: int | None) -> list[Branch]:
        """The branches that there is room for."""
        kept, length = list(self.branches), len(self.tokens)
        if max_length is None:
            return kept
        max_length = whole_number(max_length, "max_length", type(self).__name__)
        if length > max_length:
            raise CourseError(
                f"This sentence has {length} tokens, without what is known about it; "
                f"max_length is {max_length}.",
                "Cut the sentence before its tree is made (a tokenizer's truncation does it).",
            )
        while length + sum(len(branch.tokens) for branch in kept) > max_length:
            kept.pop()
        return kept


def visible_matrix(kept: Sequence[Branch], branches: Tensor, anchors: Tensor) -> Tensor:
    """Which token sees which, (time, time).

    Args:
        kept: the branches.
        branches, anchors: of each token, as `FlatTree` has them.
    """
    visible = branches[:, None] == branches
    for number, branch in enumerate(kept):
        entity = (branches == TRUNK) & (anchors >= branch.start) & (anchors < branch.end)
        known = branches == number
        visible |= (entity[:, None] & known) | (known[:, None] & entity)
    return visible


class KnowledgeBase:
    """Triples, looked up by their subjects.

    Args:
        triples: subject, relation and object, each as tokens: of the same kind as the sentences'.
            The relation may be empty. (The published code injects objects alone, unless its
            constructor is told to take the relations too: `run_kbert_cls.py` tells it to,
            `run_kbert_ner.py` does not.)
        most: how many of an entity's triples are hung on it; the published code's number is 2.

    Raises:
        CourseError: a triple has not three parts; one is no sequence of tokens; a subject is
            empty, or all that is known of it; ``most`` is no whole number above 0.
    """

    def __init__(
        self,
        triples: Iterable[tuple[Sequence[Token], Sequence[Token], Sequence[Token]]],
        most: int = 2,
    ) -> None:
        self.most = whole_number(most, "most", type(self).__name__)
        self.known: dict[Tokens, list[Tokens]] = {}
        for triple in triples:
            subject, relation, object_ = map(tokens_of, parts_of(triple))
            if not subject or not (*relation, *object_):
                raise CourseError(
                    f"The triple {triple!r} says nothing, or of nobody.",
                    "Give a subject, and a relation or an object.",
                )
            facts = self.known.setdefault(subject, [])
            if (*relation, *object_) not in facts:
                facts.append((*relation, *object_))
        self.longest = max(map(len, self.known), default=0)

    def tree(self, tokens: Sequence[Token]) -> SentenceTree:
        """A sentence with what is known about it.

        From left to right, the longest subject that begins at a place is taken; the next begins
        behind it.

        Raises:
            CourseError: there are no tokens, or something else than text and ids.
        """
        tokens, branches, start = tokens_of(tokens), [], 0
        while start < len(tokens):
            end = self._end(tokens, start)
            facts = self.known.get(tokens[start:end], [])[: self.most]
            branches += [Branch(start, end, fact) for fact in facts]
            start = end
        return SentenceTree(tokens, tuple(branches))

    def _end(self, tokens: Tokens, start: int) -> int:
        """Where the longest subject that begins here ends; one token on if there is none."""
        for end in range(min(start + self.longest, len(tokens)), start + 1, -1):
            if tokens[start:end] in self.known:
                return end
        return start + 1


def parts_of(triple: Sequence[Sequence[Token]]) -> tuple[Sequence[Token], ...]:
    """Subject, relation and object.

    Raises:
        CourseError: these are not three.
    """
    parts = tuple(triple) if isinstance(triple, Iterable) and not isinstance(triple, str) else ()
    if len(parts) != 3:
        raise CourseError(
            f"{triple!r:.80} stands for a triple.",
            "Give a subject, a relation and an object; an empty relation is [].",
        )
    return parts


def tokens_of(tokens: Sequence[Token]) -> Tokens:
    """Tokens that can be compared with others.

    Raises:
        CourseError: they are one text, of which each letter would be a token, or no text or ids:
            two tensors of one number are different keys.
    """
    try:
        found = tuple(tokens)
        known = all(isinstance(token, int | str) for token in found)
    except TypeError:  # nothing to go through
        known = False
    if isinstance(tokens, str) or not known:
        raise CourseError(
            f"{tokens!r:.80} stands for a sequence of tokens.",
            "Give text or whole numbers, such as ['Tim', 'Cook']; an array's are array.tolist().",
        )
    return found
