"""K-BERT: BERT over a sentence tree (Liu et al. 2020; chapter 15).

Knowledge about a sentence's entities is added to its input (`lmcourse.models.sentence_tree`). The
weights are BERT's. Position embeddings use the soft positions, and the visible matrix masks the
attention (the paper's mask-self-attention):

    M_ij = 0 where token j is visible to token i, else −∞
    h = softmax((Q Kᵀ + M) / √d) V

So knowledge can be added to any pretrained or fine-tuned BERT without training:

    model = KBertForSequenceClassification.on_top_of(tuned)    a BertForSequenceClassification

For a sentence without knowledge, K-BERT equals BERT.
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
from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import IGNORED
from lmcourse.models.outputs import EncoderOutput
from lmcourse.models.reuse import body_of, on_top_of, settings_for
from lmcourse.models.sentence_tree import TRUNK, FlatTree, Token
from lmcourse.models.weights import load_strictly

H = TypeVar("H", bound=BertHead)


class KBert(Bert):
    """BERT over flattened trees, as from `batch_of`.

    Only the soft positions, not the number of tokens, are limited by ``max_position_embeddings``.
    """

    same_weights: ClassVar[tuple[type[Bert], ...]] = (Bert,)

    @classmethod
    def on_top_of(cls, pretrained: Model, **changes: Any) -> "KBert":
        """Build a K-BERT from a copy of a pretrained BERT.

        Args:
            pretrained: the base model, or one with any head, which is dropped.
            changes: settings that differ from the pretrained model's.
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
        """Compute the hidden states of a batch.

        Args:
            attention_mask: the visible matrix, (batch, query, key).
            position_ids: the soft positions. A tree needs both; a sentence without branches,
                neither.
            input_ids, token_type_ids, inputs_embeds, output_attentions, output_hidden_states: as in
                `Bert.forward`.
        """
        tree = attention_mask is not None and attention_mask.ndim == 3
        if tree != (position_ids is not None):
            raise CourseError(
                f"This {type(self).__name__} got only one of the visible matrix, attention_mask of "
                "(batch, time, time), and the soft positions, position_ids.",
                "Give both, as from batch_of, or neither, for sentences without branches.",
            )
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
    """BERT's head for sequences on K-BERT."""

    Base = KBert

    @classmethod
    def on_top_of(cls: type[H], pretrained: Model, **changes: Any) -> H:
        """Build this head on a copy of a pretrained BERT; see `with_classifier`."""
        return with_classifier(cls, pretrained, BertForSequenceClassification, changes)


class KBertForTokenClassification(BertForTokenClassification):
    """BERT's head for tokens on K-BERT."""

    Base = KBert

    @classmethod
    def on_top_of(cls: type[H], pretrained: Model, **changes: Any) -> H:
        """Build this head on a copy of a pretrained BERT; see `with_classifier`."""
        return with_classifier(cls, pretrained, BertForTokenClassification, changes)


def with_classifier(
    kind: type[H], pretrained: Model, head: type[BertHead], changes: dict[str, Any]
) -> H:
    """Build a K-BERT with a head on a copy of a pretrained BERT.

    Unlike BERT's own heads, the classifier is copied if it is for the same task and number of
    classes; otherwise it is initialized.

    Args:
        kind: the class to build.
        pretrained: the base model, or one with any head.
        head: BERT's class for the same task.
        changes: settings that differ from the pretrained model's.
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
    """Collate flattened trees into the arguments of `KBert`.

    Args:
        trees: flattened trees, padded on the right with invisible tokens.
        pad_token_id: the padding token; None: 0.
        token_ids: the ids of tokens that are text.
        labels: the classes of each sentence's own tokens; branches get ``IGNORED``.
        token_type_ids: the segments of each sentence's own tokens; a branch gets its entity's.

    Returns:
        ``input_ids``, ``position_ids`` and the optional arguments, (batch, time), and
        ``attention_mask``, (batch, time, time).
    """
    trees = list(trees)
    columns: dict[str, tuple[list[list[int]], int]] = {
        "input_ids": ([_ids(tree, token_ids) for tree in trees], pad_token_id or 0),
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


def _ids(tree: FlatTree, token_ids: Mapping[Token, SupportsIndex] | None) -> list[int]:
    """Return the ids of a tree's tokens."""
    ids: list[Any] = [t if token_ids is None else token_ids[t] for t in tree.tokens]
    return [operator.index(each) for each in ids]


def _spread(
    trees: Sequence[FlatTree], values: Sequence[Sequence[SupportsIndex]], name: str
) -> list[list[int]]:
    """Return each token's value, from those of the sentences' own tokens."""
    lengths = [tree.branches.count(TRUNK) for tree in trees]
    rows = [[operator.index(value) for value in row] for row in values]
    if [len(row) for row in rows] != lengths:
        raise CourseError(
            f"{name} has {[len(row) for row in rows]} numbers; the sentences have {lengths} "
            "tokens of their own.",
            f"Give one number of {name} for each token of a sentence, and none for its branches.",
        )
    return [
        [row[position] for position in tree.anchors] for row, tree in zip(rows, trees, strict=True)
    ]
