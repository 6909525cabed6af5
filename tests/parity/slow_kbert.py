"""K-BERT once more, straight from the paper: a tree of nodes, and what follows from its paths.

A token's soft position is how many steps it is from the root. Two tokens see each other if a path
from an entity's first token down one of its branches has both, or the sentence has. What is not
seen has −∞ added to its score.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from tests.parity import slow_bert as slow

Known = Sequence[tuple[int, int, Sequence[Any]]]
"""What is known: an entity's first and last place, and the tokens of a branch."""


@dataclass(eq=False)
class Node:
    """A token of the tree, what it follows, and the branches that begin behind it."""

    token: int
    parent: "Node | None"
    segment: int
    branches: "list[Node]" = field(default_factory=list)
    following: "Node | None" = None

    def steps(self) -> int:
        """How far it is from the root."""
        return 0 if self.parent is None else 1 + self.parent.steps()


def walk(node: Node | None) -> list[Node]:
    """The nodes in hard order: one, its branches in turn, and what follows it."""
    found: list[Node] = []
    while node is not None:
        found.append(node)
        for branch in node.branches:
            found += walk(branch)
        node = node.following
    return found


def tree(
    tokens: Sequence[Any], segments: Sequence[int], known: Known
) -> tuple[list[Node], list[set[Node]]]:
    """The nodes in hard order, and the paths: the sentence, and each branch with its entity."""
    trunk: list[Node] = []
    for token, segment in zip(tokens, segments, strict=True):
        node = Node(token, trunk[-1] if trunk else None, segment)
        if trunk:
            trunk[-1].following = node
        trunk.append(node)
    paths = [set(trunk)]
    for first, last, branch in known:
        path, before = set(trunk[first : last + 1]), trunk[last]
        for number, token in enumerate(branch):
            node = Node(token, before, trunk[last].segment)
            if number == 0:
                before.branches.append(node)
            else:
                before.following = node
            path.add(node)
            before = node
        paths.append(path)
    return walk(trunk[0]), paths


def added(nodes: Sequence[Node], paths: Sequence[set[Node]]) -> list[list[float]]:
    """M: 0 for two tokens that are in one path, −∞ for others."""
    return [
        [0.0 if any(one in path and other in path for path in paths) else -math.inf
         for other in nodes]
        for one in nodes
    ]  # fmt: skip


def sequence(
    w: Mapping[str, Tensor],
    config: Any,
    tokens: Sequence[Any],
    segments: Sequence[int],
    known: Known,
) -> tuple[list[list[Tensor]], list[Tensor]]:
    """One sentence and what is known about it: states and attentions as `slow_bert.sequence` has.

    Args:
        w: the weights of a `KBert`, by name.
        segments: of the sentence's own tokens.
    """
    nodes, paths = tree(tokens, segments, known)
    return slow.sequence(
        w,
        config,
        [node.token for node in nodes],
        [node.steps() for node in nodes],
        [node.segment for node in nodes],
        added(nodes, paths),
    )
