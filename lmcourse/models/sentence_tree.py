"""A sentence tree, a sentence with knowledge: K-BERT's input (Liu et al. 2020; chapter 15).

A knowledge base has triples: Tim Cook – CEO – Apple. If a sentence contains a triple's subject, its
relation and object are added as a branch; the sentence is the trunk (figure 2):

    [CLS] Tim Cook ─ is visiting Beijing ─ now
                 └─ CEO Apple          ├─ capital China
                                       └─ is_a City

A Transformer reads sequences, so the tree is flattened, with each branch right after its entity.
This is the order of the *hard* positions. As a sentence it makes no sense, "Tim Cook CEO Apple is
visiting …", which two structures correct:

    soft position    the depth in the tree. The trunk is numbered as if there were no branches, each
                     branch from its entity's last token on: "is" and "CEO" both have 3
    visible matrix   tokens attend within their branch: the trunk's to the trunk, a branch's to each
                     other and their entity, and the entity to its branches

Branches are not visible to each other or to other tokens of the trunk: knowledge about Beijing
changes the state of Beijing only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool
from torch import Tensor

from lmcourse.errors import CourseError

Token = int | str
Tokens = tuple[Token, ...]
TRUNK = -1
"""The branch number of the trunk."""


@dataclass(frozen=True)
class Branch:
    """The branch of one entity.

    Attributes:
        start, end: the entity's tokens are the sentence's ``[start:end]``.
        tokens: the relation's and the object's.
    """

    start: int
    end: int
    tokens: Tokens

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", as_tokens(self.tokens))


@dataclass(frozen=True, eq=False)
class FlatTree:
    """A sentence tree as a sequence; a token's index is its hard position.

    Attributes:
        tokens: the sentence's tokens, with each branch's after its entity.
        soft_positions: the soft position of each token.
        visible: True where token j is visible to token i.
        branches: the number of each token's branch, ``TRUNK`` for the sentence's.
        anchors: the index of each token in the sentence; for a branch, of its entity's last token.
    """

    tokens: Tokens
    soft_positions: tuple[int, ...]
    visible: Bool[Tensor, "time time"]
    branches: tuple[int, ...]
    anchors: tuple[int, ...]


@dataclass(frozen=True)
class SentenceTree:
    """A sentence and its branches.

    Attributes:
        tokens: the sentence's tokens, including [CLS] and [SEP], as text or ids.
        branches: its branches.
    """

    tokens: Tokens
    branches: tuple[Branch, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", as_tokens(self.tokens))
        object.__setattr__(self, "branches", tuple(self.branches))
        for branch in self.branches:
            if not (branch.tokens and 0 <= branch.start < branch.end <= len(self.tokens)):
                raise CourseError(
                    f"{branch} does not fit a sentence of {len(self.tokens)} tokens.",
                    "A branch needs tokens, and an entity [start:end] in the sentence.",
                )

    def flatten(self, max_length: int | None = None) -> FlatTree:
        """Return the tree as a sequence.

        Args:
            max_length: maximal number of tokens; the last branches are removed to fit. (The
                published code truncates the sequence, and so the sentence.)
        """
        kept = self._within(max_length)
        rows: list[tuple[Token, int, int, int]] = []
        for position, token in enumerate(self.tokens):
            rows.append((token, position, TRUNK, position))
            for number, branch in enumerate(kept):
                if branch.end == position + 1:
                    for soft, known in enumerate(branch.tokens, start=branch.end):
                        rows.append((known, soft, number, position))
        tokens, soft_positions, branches, anchors = zip(*rows, strict=True)
        visible = visible_matrix(kept, torch.tensor(branches), torch.tensor(anchors))
        return FlatTree(tokens, soft_positions, visible, branches, anchors)

    def _within(self, max_length: int | None) -> list[Branch]:
        """Return the branches that fit."""
        kept, length = list(self.branches), len(self.tokens)
        if max_length is None:
            return kept
        if length > max_length:
            raise CourseError(
                f"The sentence alone has {length} tokens; max_length is {max_length}.",
                "Truncate the sentence before building its tree.",
            )
        while length + sum(len(branch.tokens) for branch in kept) > max_length:
            kept.pop()
        return kept


def visible_matrix(kept: Sequence[Branch], branches: Tensor, anchors: Tensor) -> Tensor:
    """Return the visible matrix, (time, time).

    Args:
        kept: the branches.
        branches, anchors: as in `FlatTree`.
    """
    visible = branches[:, None] == branches
    for number, branch in enumerate(kept):
        entity = (branches == TRUNK) & (anchors >= branch.start) & (anchors < branch.end)
        known = branches == number
        visible |= (entity[:, None] & known) | (known[:, None] & entity)
    return visible


class KnowledgeBase:
    """Triples by subject.

    Args:
        triples: subject, relation and object, each a sequence of tokens. The relation may be empty,
            as in the published `run_kbert_ner.py`.
        most: maximal number of branches for an entity; 2 in the published code.
    """

    def __init__(
        self,
        triples: Iterable[tuple[Sequence[Token], Sequence[Token], Sequence[Token]]],
        most: int = 2,
    ) -> None:
        self.most = most
        self.known: dict[Tokens, list[Tokens]] = {}
        for triple in triples:
            subject, relation, object_ = map(as_tokens, triple)
            facts = self.known.setdefault(subject, [])
            if (*relation, *object_) not in facts:
                facts.append((*relation, *object_))
        self.longest = max(map(len, self.known), default=0)

    def tree(self, tokens: Sequence[Token]) -> SentenceTree:
        """Return the tree of a sentence.

        Entities are matched from left to right, the longest subject first, without overlap.
        """
        tokens, branches, start = as_tokens(tokens), [], 0
        while start < len(tokens):
            end = self._end(tokens, start)
            facts = self.known.get(tokens[start:end], [])[: self.most]
            branches += [Branch(start, end, fact) for fact in facts]
            start = end
        return SentenceTree(tokens, tuple(branches))

    def _end(self, tokens: Tokens, start: int) -> int:
        """Return the end of the longest subject starting here, or the next token."""
        for end in range(min(start + self.longest, len(tokens)), start + 1, -1):
            if tokens[start:end] in self.known:
                return end
        return start + 1


def as_tokens(tokens: Sequence[Token]) -> Tokens:
    """Return tokens as a tuple of text or ids; a string or tensors raise `CourseError`."""
    sequence = tuple(tokens)
    if isinstance(tokens, str) or not all(isinstance(token, int | str) for token in sequence):
        raise CourseError(
            f"{tokens!r:.80} is not a sequence of tokens.",
            "Give text or ids, such as ['Tim', 'Cook'], or array.tolist().",
        )
    return sequence
