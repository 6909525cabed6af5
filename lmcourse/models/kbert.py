"""K-BERT: BERT that reads a sentence tree (Liu et al. 2020; chapter 15).

What is known about a sentence's entities is read with it, as `lmcourse.models.sentence_tree` lays
it out. The model is BERT's, to the last weight. Positions are looked up by the soft position, and
the visible matrix masks the attention (the paper's mask-self-attention):

    M_ij = 0 where token i sees token j, −∞ where it does not
    h = softmax((Q Kᵀ + M) / √d) V

So knowledge comes in at any time, with no training of its own, under any pretrained BERT's weights.
Over a sentence of which nothing is known, it is BERT.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert
from lmcourse.models.bert_tasks import BertForSequenceClassification, BertForTokenClassification
from lmcourse.models.inputs import IGNORED
from lmcourse.models.outputs import EncoderOutput
from lmcourse.models.sentence_tree import TRUNK, FlatTree, Token


class KBert(Bert):
    """BERT over flattened trees, as `batch_of` makes them."""

    same_weights: ClassVar[tuple[type[Bert], ...]] = (Bert,)

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
                both, and a plain sentence neither; or an input does not fit.
        """
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


class KBertForTokenClassification(BertForTokenClassification):
    """Classes of their tokens, as BERT's."""

    Base = KBert


def batch_of(
    trees: Sequence[FlatTree],
    *,
    pad_token_id: int = 0,
    token_ids: Mapping[Token, int] | None = None,
    labels: Sequence[Sequence[int]] | None = None,
    token_type_ids: Sequence[Sequence[int]] | None = None,
) -> dict[str, Tensor]:
    """What a `KBert` is called with: soft positions and visible matrix under BERT's names.

    Args:
        trees: flattened; shorter ones are filled up behind, with what nobody sees.
        pad_token_id: the token they are filled up with.
        token_ids: each token's id, where tokens are text.
        labels: of each sentence's own tokens; what is injected has none.
        token_type_ids: the segments of each sentence's own tokens; a branch is in its entity's.

    Returns:
        ``input_ids``, ``position_ids`` and what was given of the others, (batch, time), and
        ``attention_mask``, (batch, time, time).

    Raises:
        CourseError: a token has no id; or there are not as many labels or segments as tokens.
    """
    if not trees:
        raise CourseError("A batch was to be made of no trees.", "Give at least one.")
    columns: dict[str, tuple[list[list[int]], int]] = {
        "input_ids": ([_ids(tree, token_ids) for tree in trees], pad_token_id),
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


def _ids(tree: FlatTree, token_ids: Mapping[Token, int] | None) -> list[int]:
    found = [token if token_ids is None else token_ids.get(token) for token in tree.tokens]
    for token, number in zip(tree.tokens, found, strict=True):
        if not isinstance(number, int):
            raise CourseError(
                f"The token {token!r} has no id.",
                "Give the ids of all tokens as token_ids, or make the trees of ids.",
            )
    return [int(number) for number in found if number is not None]


def _spread(
    trees: Sequence[FlatTree], values: Sequence[Sequence[int]], name: str
) -> list[list[int]]:
    """Each token's value, from those of the sentences' own tokens."""
    lengths = [tree.branches.count(TRUNK) for tree in trees]
    if [len(row) for row in values] != lengths:
        raise CourseError(
            f"{name} has {[len(row) for row in values]} numbers; the sentences have {lengths} "
            "tokens of their own.",
            f"Give one number of {name} for each token of a sentence, and none for its branches.",
        )
    return [
        [row[anchor] for anchor in tree.anchors] for row, tree in zip(values, trees, strict=True)
    ]
