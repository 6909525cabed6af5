"""K-BERT and its heads, and what is wrongly done in trees, soft positions and visible matrices."""

import dataclasses
import math
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lmcourse.models import kbert, sentence_tree
from lmcourse.models.bert import Bert
from lmcourse.models.inputs import IGNORED
from lmcourse.models.sentence_tree import TRUNK, Branch, SentenceTree
from tests.models.broken import Broken
from tests.models.subject import Batch
from tests.models.subjects import bert
from tests.models.subjects.transformer import replaced

IDS = (*bert.IDS, "position_ids")


def words(count: int) -> tuple[int, ...]:
    return tuple(torch.randint(1, bert.VOCAB, (count,)).tolist())


def trees() -> Batch:
    """Two triples of one entity, one of another; and a sentence without any."""
    known = (Branch(1, 3, words(2)), Branch(1, 3, words(1)), Branch(4, 5, words(1)))
    found = (
        SentenceTree(words(5), known),
        SentenceTree(words(5), (Branch(0, 1, words(2)),)),
        SentenceTree(words(int(torch.randint(1, 7, ())))),
    )
    segments = [[n % 2 for n in range(len(tree.tokens))] for tree in found]
    return kbert.batch_of([tree.flatten() for tree in found], token_type_ids=segments)


def classes() -> Batch:
    return trees() | {"labels": torch.randint(bert.CLASSES, (3,))}


def tags() -> Batch:
    given = trees()
    chosen = given["attention_mask"].diagonal(dim1=1, dim2=2) & (torch.rand(3, 9) < 0.6)
    chosen[0, 1], chosen[0, 2] = True, False
    labels = torch.randint(bert.CLASSES, (3, 9)).masked_fill(~chosen, IGNORED)
    return given | {"labels": labels}


subject = partial(bert.subject, ids=IDS)
SUBJECTS = (
    subject("K-BERT", kbert.KBert, trees, pooled=("pooler_output",)),
    subject(
        "K-BERT for sequences",
        kbert.KBertForSequenceClassification,
        classes,
        chance=math.log(bert.CLASSES),
        **bert.POOLED,
        **bert.CLASSIFIED,
    ),
    subject(
        "K-BERT for tokens",
        kbert.KBertForTokenClassification,
        tags,
        output="logits",
        shift=0,
        chance=math.log(bert.CLASSES),
        **bert.CLASSIFIED,
    ),
)


def hard(forward: Any) -> Any:
    """Positions in the sequence, branches and all."""

    def wrong(self: Any, input_ids: Any = None, attention_mask: Any = None, *given: Any,
              **more: Any) -> Any:  # fmt: skip
        return Bert.forward(self, input_ids, attention_mask, **(more | {"position_ids": None}))

    return wrong


def all_visible(forward: Any) -> Any:
    """The visible matrix tells padding from tokens, and nothing more."""

    def wrong(self: Any, input_ids: Any = None, attention_mask: Any = None, *given: Any,
              **more: Any) -> Any:  # fmt: skip
        seen = attention_mask.diagonal(dim1=1, dim2=2)
        return Bert.forward(self, input_ids, seen, **more)

    return wrong


def matrix(change: Any) -> Any:
    """Another matrix: ``change(visible, branches, anchors, kept)`` is True where it is."""

    def make(visible_matrix: Any) -> Any:
        def wrong(kept: Any, branches: Tensor, anchors: Tensor) -> Tensor:
            return change(visible_matrix(kept, branches, anchors), branches, anchors, kept)

        return wrong

    return make


def one_way(visible: Tensor, branches: Tensor, *_: Any) -> Tensor:
    """An entity sees its branch, and the branch does not see it."""
    return visible & ~((branches != TRUNK)[:, None] & (branches == TRUNK))


def the_other_way(visible: Tensor, branches: Tensor, *_: Any) -> Tensor:
    return visible & ~((branches == TRUNK)[:, None] & (branches != TRUNK))


def branch_sees_trunk(visible: Tensor, branches: Tensor, *_: Any) -> Tensor:
    return visible | ((branches != TRUNK)[:, None] & (branches == TRUNK))


def trunk_sees_branches(visible: Tensor, branches: Tensor, *_: Any) -> Tensor:
    return visible | ((branches == TRUNK)[:, None] & (branches != TRUNK))


def branches_see_each_other(visible: Tensor, branches: Tensor, anchors: Tensor, *_: Any) -> Tensor:
    """Those of one entity."""
    known = branches != TRUNK
    return visible | (known[:, None] & known & (anchors[:, None] == anchors))


def last_token_alone(visible: Tensor, branches: Tensor, anchors: Tensor, *_: Any) -> Tensor:
    """Of an entity, only its last token and the branch see each other."""
    same = (branches[:, None] == branches) | (anchors[:, None] == anchors)
    return visible & same


def positions(change: Any) -> Any:
    """Other soft positions: ``change(flat, number)`` of token ``number``."""

    def make(flatten: Any) -> Any:
        def wrong(self: Any, max_length: int | None = None) -> Any:
            flat = flatten(self, max_length)
            soft = tuple(change(flat, number) for number in range(len(flat.tokens)))
            return dataclasses.replace(flat, soft_positions=soft)

        return wrong

    return make


def one_after_the_other(flat: Any, number: int) -> int:
    """An entity's second triple goes on where its first one ended."""
    anchor, branch = flat.anchors[number], flat.branches[number]
    if branch == TRUNK:
        return anchor
    before = [n for n in range(number) if flat.anchors[n] == anchor and flat.branches[n] != TRUNK]
    return anchor + 1 + len(before)


def from_the_root(flat: Any, number: int) -> int:
    """A branch counts from 0."""
    if flat.branches[number] == TRUNK:
        return int(flat.anchors[number])
    return int(flat.soft_positions[number]) - int(flat.anchors[number]) - 1


def at_the_entity(flat: Any, number: int) -> int:
    """A branch begins at its entity's last token, not behind it."""
    return int(flat.soft_positions[number]) - (flat.branches[number] != TRUNK)


def padding_seen(batch_of: Any) -> Any:
    def wrong(*given: Any, **more: Any) -> Any:
        batch = batch_of(*given, **more)
        there = batch["attention_mask"].diagonal(dim1=1, dim2=2)
        return batch | {"attention_mask": batch["attention_mask"] | ~there[:, None, :]}

    return wrong


TREE = ("K-BERT",)
MODEL = ("K-BERT", "K-BERT as BERT", "K-BERT for tokens")
MATRICES = {
    "a branch does not see its entity": one_way,
    "an entity does not see its branch": the_other_way,
    "a branch sees all of the trunk": branch_sees_trunk,
    "the trunk sees all branches": trunk_sees_branches,
    "an entity's branches see each other": branches_see_each_other,
    "an entity's last token alone sees its branch": last_token_alone,
}
POSITIONS = {
    "a second triple goes on from the first": one_after_the_other,
    "branches counted from the root": from_the_root,
    "branches begin at their entity": at_the_entity,
}
BROKEN = (
    Broken("K-BERT: hard positions for soft", replaced(kbert.KBert, "forward", hard), MODEL),
    Broken("K-BERT: visible matrix ignored", replaced(kbert.KBert, "forward", all_visible), MODEL),
    *(
        Broken(f"K-BERT: {name}", replaced(sentence_tree, "visible_matrix", matrix(change)), TREE)
        for name, change in MATRICES.items()
    ),
    *(
        Broken(f"K-BERT: {name}", replaced(SentenceTree, "flatten", positions(change)), TREE)
        for name, change in POSITIONS.items()
    ),
    Broken("K-BERT: padding seen", replaced(kbert, "batch_of", padding_seen), TREE, TREE),
)  # fmt: skip
