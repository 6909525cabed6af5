"""K-BERT: BERT that reads a sentence tree (Liu et al. 2020; chapter 15).

What is known about a sentence's entities is read with it, as `lmcourse.models.sentence_tree` lays
it out. The model is BERT's, to the last weight. Positions are looked up by the soft position, and
the visible matrix masks the attention (the paper's mask-self-attention):

    M_ij = 0 where token i sees token j, −∞ where it does not
    h = softmax((Q Kᵀ + M) / √d) V

So knowledge comes in at any time, with no training of its own, under any pretrained BERT's weights,
those of a task's head among them:

    model = KBertForSequenceClassification.on_top_of(tuned)    a BertForSequenceClassification

Over a sentence of which nothing is known, it is BERT.
"""

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, SupportsIndex, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert, BertHead
from lmcourse.models.bert_tasks import BertForSequenceClassification, BertForTokenClassification
from lmcourse.models.checkpoint import Model, load_strictly
from lmcourse.models.inputs import IGNORED, check_range, check_tensor, whole_number
from lmcourse.models.outputs import EncoderOutput
from lmcourse.models.reuse import body_of, on_top_of, settings_for
from lmcourse.models.sentence_tree import TRUNK, FlatTree, Token

H = TypeVar("H", bound=BertHead)


class KBert(Bert):
    """BERT over flattened trees, as `batch_of` makes them.

    A tree may have more tokens than ``max_position_embeddings``: its soft positions must fit.
    """

    same_weights: ClassVar[tuple[type[Bert], ...]] = (Bert,)

    @classmethod
    def on_top_of(cls, pretrained: Model, **changes: Any) -> "KBert":
        """A copy of a pretrained BERT that reads trees.

        Args:
            pretrained: the base model, or one with any head on it, which is left off.
            changes: settings that are to differ from the pretrained model's.

        Raises:
            CourseError: it is no BERT; a setting is unknown; a tensor does not fit.
        """
        body = body_of(cls, pretrained, (Bert,), "bert")
        model = cls(settings_for(cls.Config, body.config, changes))
        load_strictly(model, body.state_dict(), f"this {type(pretrained).__name__}")
        return model.train(pretrained.training)

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        attention_mask: Tensor | None = None,
        token_type_ids: Int[Tensor, "batch time"] | None = None,
        position_ids: Int[Tensor, "batch time"] | None = None,
        inputs_embeds: Float[Tensor, "batch time width"] | None = None,
        *,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> EncoderOutput:
        """Read a batch.

        Args:
            attention_mask: the visible matrix, 1 where a token sees another, (batch, query, key).
            position_ids: the soft positions.
            input_ids, token_type_ids, inputs_embeds, output_attentions, output_hidden_states: as
                `Bert.forward` has them.

        Raises:
            CourseError: visible matrix or soft positions are given without the other: a tree needs
                both, and a plain sentence neither; a soft position is higher than the model
                knows; or an input does not fit.
        """
        if attention_mask is not None:
            check_tensor(attention_mask, "attention_mask")
        tree = attention_mask is not None and attention_mask.ndim == 3
        if tree != (position_ids is not None):
            given, other = "a visible matrix", "soft positions, position_ids"
            if not tree:
                given, other = (
                    "soft positions",
                    "a visible matrix, attention_mask of (b, time, time)",
                )
            raise CourseError(
                f"This {type(self).__name__} was given {given} without {other}.",
                "Give both, as batch_of makes them of flattened trees; or neither, for sentences "
                "of which nothing is known.",
            )
        if position_ids is not None:
            count = self.embeddings.position.num_embeddings
            remedy = f"tree.flatten(max_length={count}) leaves out branches until all of it fits"
            check_range(position_ids, count, "position_ids", remedy=remedy)
        return super().forward(
            input_ids,
            attention_mask,
            token_type_ids,
            position_ids,
            inputs_embeds,
            output_attentions=output_attentions,
            output_hidden_states=output_hidden_states,
        )


class KBertForSequenceClassification(BertForSequenceClassification):
    """Classes of sentences of which something is known, as BERT's."""

    Base = KBert

    @classmethod
    def on_top_of(cls: type[H], pretrained: Model, **changes: Any) -> H:
        """This head on a copy of a pretrained BERT; see `keeping_classifier`."""
        return keeping_classifier(cls, pretrained, BertForSequenceClassification, changes)


class KBertForTokenClassification(BertForTokenClassification):
    """Classes of their tokens, as BERT's."""

    Base = KBert

    @classmethod
    def on_top_of(cls: type[H], pretrained: Model, **changes: Any) -> H:
        """This head on a copy of a pretrained BERT; see `keeping_classifier`."""
        return keeping_classifier(cls, pretrained, BertForTokenClassification, changes)


def keeping_classifier(
    kind: type[H], pretrained: Model, head: type[BertHead], changes: dict[str, Any]
) -> H:
    """A head of K-BERT's on a copy of a pretrained BERT.

    What a BERT was tuned for is kept: its classifier is copied where it is for the same task and
    for as many classes. (BERT's own heads are drawn anew each time.) Any other is drawn anew.

    Args:
        kind: the head.
        pretrained: the base model, or one with any head on it.
        head: BERT's head for the same task.
        changes: settings that are to differ from the pretrained model's.

    Raises:
        CourseError: it is no BERT; a setting is unknown; a tensor does not fit.
    """
    same = isinstance(pretrained, head) and (
        changes.get("num_labels", pretrained.config.num_labels) == pretrained.config.num_labels
    )
    return on_top_of(kind, pretrained, KBert, "bert", changes, ("classifier",) if same else ())


def batch_of(
    trees: Iterable[FlatTree],
    *,
    pad_token_id: int | None = 0,
    token_ids: Mapping[Token, SupportsIndex] | None = None,
    labels: Sequence[Sequence[SupportsIndex]] | None = None,
    token_type_ids: Sequence[Sequence[SupportsIndex]] | None = None,
) -> dict[str, Tensor]:
    """What a `KBert` is called with: soft positions and visible matrix under BERT's names.

    Args:
        trees: flattened; shorter ones are filled up behind, with what nobody sees.
        pad_token_id: the token they are filled up with; None: 0.
        token_ids: each token's id, where tokens are text.
        labels: classes of each sentence's own tokens; what is injected has none. (A class of a
            whole sentence is no part of the tree: the model is given it beside the batch.)
        token_type_ids: the segments of each sentence's own tokens; a branch is in its entity's.

    Returns:
        ``input_ids``, ``position_ids`` and what was given of the others, (batch, time), and
        ``attention_mask``, (batch, time, time).

    Raises:
        CourseError: there are no trees, or they are not flattened; a token has no id; or there is
            not one whole number for each token among labels or segments.
    """
    trees = _flattened(trees)
    pad = 0 if pad_token_id is None else whole_number(pad_token_id, "pad_token_id", "batch", 0)
    columns: dict[str, tuple[list[list[int]], int]] = {
        "input_ids": ([_ids(tree, token_ids) for tree in trees], pad),
        "position_ids": ([list(tree.soft_positions) for tree in trees], 0),
    }
    if labels is not None:
        spread = _spread(trees, labels, "labels")
        rows = [
            [label if own == TRUNK else IGNORED for label, own in zip(row, t.branches, strict=True)]
            for row, t in zip(spread, trees, strict=True)
        ]
        columns["labels"] = (rows, IGNORED)
    if token_type_ids is not None:
        columns["token_type_ids"] = (_spread(trees, token_type_ids, "token_type_ids"), 0)
    time = max(len(tree.tokens) for tree in trees)
    batch = {
        name: torch.tensor([row + [fill] * (time - len(row)) for row in rows])
        for name, (rows, fill) in columns.items()
    }
    rest = [time - len(tree.tokens) for tree in trees]
    padded = [functional.pad(t.visible, (0, n, 0, n)) for t, n in zip(trees, rest, strict=True)]
    return batch | {"attention_mask": torch.stack(padded)}


def _flattened(trees: Iterable[FlatTree]) -> list[FlatTree]:
    found: list[Any] = list(trees) if isinstance(trees, Iterable) else [trees]
    if not found:
        raise CourseError("A batch was to be made of no trees.", "Give at least one.")
    if not isinstance(trees, Iterable) or not all(isinstance(tree, FlatTree) for tree in found):
        kinds = ", ".join(sorted({type(tree).__name__ for tree in found}))
        raise CourseError(
            f"A batch was to be made of {kinds}.",
            "Give a list of flattened trees: [tree.flatten(), …].",
        )
    return found


def _ids(tree: FlatTree, token_ids: Mapping[Token, SupportsIndex] | None) -> list[int]:
    return [
        _id(token, token if token_ids is None else token_ids.get(token)) for token in tree.tokens
    ]


def _id(token: Token, number: Any) -> int:
    try:
        return operator.index(number)
    except TypeError:
        raise CourseError(
            f"The token {token!r} has no id.",
            "Give the ids of all tokens as token_ids, or make the trees of ids.",
        ) from None


def _spread(
    trees: Sequence[FlatTree], values: Sequence[Sequence[SupportsIndex]], name: str
) -> list[list[int]]:
    """Each token's value, from those of the sentences' own tokens."""
    lengths = [tree.branches.count(TRUNK) for tree in trees]
    try:
        rows = [[operator.index(value) for value in row] for row in values]
    except TypeError:
        raise CourseError(
            f"{name} is {values!r:.80}: not a row of whole numbers for each sentence.",
            f"Give {name} of each sentence's tokens, [[…], …]. One class of a whole sentence goes "
            "to the model: model(**batch_of(trees), labels=torch.tensor([…])).",
        ) from None
    if [len(row) for row in rows] != lengths:
        raise CourseError(
            f"{name} has {[len(row) for row in rows]} numbers; the sentences have {lengths} "
            "tokens of their own.",
            f"Give one number of {name} for each token of a sentence, and none for its branches.",
        )
    return [[row[place] for place in tree.anchors] for row, tree in zip(rows, trees, strict=True)]
