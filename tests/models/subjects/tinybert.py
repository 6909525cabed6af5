"""A student of TinyBERT's losses, and what is wrongly done in them."""

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from lmcourse.models import distillation, layer_map, tinybert
from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_tasks import BertForSequenceClassification
from lmcourse.models.checkpoint import Model
from lmcourse.models.distillation import FrozenTeacher
from lmcourse.models.tinybert import TinyBertDistiller
from tests.models.broken import Broken
from tests.models.subject import Subject
from tests.models.subjects.bert import CLASSIFIED, CONFIG, IDS, batch
from tests.models.subjects.distillation import (
    held,
    learning,
    lively,
    negative,
    over_classes,
    teacher,
)
from tests.models.subjects.transformer import replaced


class TaughtByLayers(Model):
    """A student with its teacher, made from the student's configuration."""

    Config = BertConfig

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        taught_by = teacher(BertForSequenceClassification, num_hidden_layers=4, hidden_size=18)
        self.distiller = TinyBertDistiller(BertForSequenceClassification(config), taught_by)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
    ) -> Any:
        return self.distiller(input_ids, attention_mask, token_type_ids)


LOSSES = ("embedding_loss", "hidden_losses", "attention_losses", "prediction_loss")
SUBJECTS = (
    Subject(
        "TinyBERT's losses",
        partial(TaughtByLayers, CONFIG),
        batch,
        ids=IDS,
        output="hidden_states",
        pooled=("loss", "logits", *LOSSES),
        attentions=None,
        hidden_states=None,
        **CLASSIFIED,
    ),
)


def shifted(layer_map: Any) -> Any:
    """g(m) one too low: 0-based where it is counted from 1."""

    def wrong(M: int, N: int, *given: Any) -> tuple[int, ...]:
        first, *between, last = layer_map(M, N, *given)
        return (first, *(max(1, layer - 1) for layer in between), last)

    return wrong


def reversed_map(layer_map: Any) -> Any:
    def wrong(M: int, N: int, *given: Any) -> tuple[int, ...]:
        first, *between, last = layer_map(M, N, *given)
        return (first, *between[::-1], last)

    return wrong


def other_strategy(layer_map: Any) -> Any:
    return lambda M, N, strategy="uniform": layer_map(M, N, "bottom")


def unprojected(losses: Any) -> Any:
    """The student's states as they are, as far as the teacher's width goes."""

    def wrong(self: Any, own: Any, taught: Any, real: Any) -> Any:
        width = min(own[0].shape[-1], taught[0].shape[-1])
        self.embedding_projection.forward = self.hidden_projection.forward = lambda x: (
            x[..., :width] + 0 * self.hidden_projection.weight.sum()
        )
        return losses(self, own, [t[..., :width] for t in taught], real)

    return wrong


def other_side(losses: Any) -> Any:
    """The teacher's states taken to the student's width."""

    def wrong(self: Any, own: Any, taught: Any, real: Any) -> Any:
        embedded, *hidden = own
        target, *targets = [taught[layer] for layer in self.layers[:-1]]
        down_e, down_h = self.embedding_projection.weight.T, self.hidden_projection.weight.T
        mse = tinybert.mean_squared_error
        return mse(embedded, functional.linear(target, down_e), real, ""), torch.stack(
            [
                mse(h, functional.linear(t, down_h), real, "")
                for h, t in zip(hidden, targets, strict=True)
            ]
        )

    return wrong


def one_matrix(losses: Any) -> Any:
    """W_h for what is embedded, too."""

    def wrong(self: Any, own: Any, *given: Any) -> Any:
        self.embedding_projection.forward = self.hidden_projection.forward
        return losses(self, own, *given)

    return wrong


def after_softmax(losses: Any) -> Any:
    """The attention's weights in place of its scores."""

    def weights(scores: Tensor, pairs: Tensor | None) -> Tensor:
        if pairs is not None:
            scores = scores.masked_fill(~pairs[:, None], -1e4)
        return scores.softmax(-1)

    def wrong(own: Any, taught: Any, pairs: Any) -> Tensor:
        return losses([weights(a, pairs) for a in own], [weights(a, pairs) for a in taught], pairs)

    return wrong


def padded_scores(losses: Any) -> Any:
    """The mean over padding, too."""
    return lambda own, taught, pairs: losses(own, taught, None)


def padded_queries(position_pairs: Any) -> Any:
    """Of a pair, only the key looked at: what padding attends to counts."""

    def wrong(mask: Any, real: Any) -> Any:
        pairs = position_pairs(mask, real)
        return None if pairs is None else real[:, None, :].expand_as(pairs)

    return wrong


def summed_heads(losses: Any) -> Any:
    """1/h forgotten."""
    return lambda own, *given: losses(own, *given) * own[0].shape[1]


def unscaled_scores(scores: Any) -> Any:
    """1/√d forgotten, which differs from student to teacher."""

    def wrong(model: Any, *given: Any) -> Tensor:
        config = model.config
        return scores(model, *given) * (config.hidden_size / config.num_attention_heads) ** 0.5

    return wrong


def late_scores(scores: Any) -> Any:
    """Scores of what the layer made, not of what it read."""
    return lambda model, states, layer: scores(model, states[1:], layer)


def padded_states(mse: Any) -> Any:
    """Hidden states of padding counted."""

    def wrong(student: Tensor, teacher: Tensor, counted: Any, what: str) -> Tensor:
        return mse(student, teacher, counted if what == "scores" else None, what)

    return wrong


def tempered(cross_entropy: Any) -> Any:
    """The temperature on the student's side alone."""

    def wrong(student: Tensor, teacher: Tensor, T: float = 1.0, counted: Any = None) -> Tensor:
        return cross_entropy(student, teacher * T, T, counted)

    return wrong


NAMES = ("TinyBERT's losses",)


def mapped(wrong: Any) -> Any:
    """In place of the map where the distiller asks for it, and where an author does."""
    return replaced(layer_map, "layer_map", wrong)


def of_tinybert(name: str, wrong: Any) -> Any:
    return replaced(tinybert, name, wrong)


def of_distiller(name: str, wrong: Any) -> Any:
    return replaced(TinyBertDistiller, name, wrong)


def prediction(wrong: Any) -> Any:
    return replaced(distillation, "soft_cross_entropy", wrong)


BROKEN = (
    Broken("TinyBERT: layers one too low", of_tinybert("layer_map", shifted), NAMES),
    Broken("TinyBERT: a map one too low", mapped(shifted), NAMES),
    Broken("TinyBERT: layers reversed", of_tinybert("layer_map", reversed_map), NAMES),
    Broken("TinyBERT: a map reversed", mapped(reversed_map), NAMES),
    Broken("TinyBERT: the first layers for the uniform ones", mapped(other_strategy), NAMES),
    Broken("TinyBERT: no projection", of_distiller("_hidden_losses", unprojected), NAMES, NAMES),
    Broken("TinyBERT: the teacher projected", of_distiller("_hidden_losses", other_side), NAMES),
    Broken("TinyBERT: W_h for W_e", of_distiller("_hidden_losses", one_matrix), NAMES, NAMES),
    Broken("TinyBERT: weights for scores", of_tinybert("attention_losses", after_softmax), NAMES),
    Broken("TinyBERT: scores of padding", of_tinybert("attention_losses", padded_scores),
           NAMES, NAMES),
    Broken("TinyBERT: scores of padded queries", of_tinybert("position_pairs", padded_queries),
           NAMES, NAMES),
    Broken("TinyBERT: heads summed", of_tinybert("attention_losses", summed_heads), NAMES),
    Broken("TinyBERT: scores without 1/√d", of_tinybert("attention_scores", unscaled_scores),
           NAMES),
    Broken("TinyBERT: scores of the next layer's input",
           of_tinybert("attention_scores", late_scores), NAMES),
    Broken("TinyBERT: hidden states of padding", of_tinybert("mean_squared_error", padded_states),
           NAMES, NAMES),
    Broken("TinyBERT: temperature on the student's side alone", prediction(tempered), NAMES),
    Broken("TinyBERT: the prediction's sign dropped", prediction(negative), NAMES),
    Broken("TinyBERT: the prediction's mean over the classes too", prediction(over_classes), NAMES),
    Broken("TinyBERT: a teacher with dropout", replaced(FrozenTeacher, "on", lively),
           NAMES, NAMES),
    Broken("TinyBERT: a teacher that learns", replaced(FrozenTeacher, "on", learning), NAMES),
    Broken("TinyBERT: a teacher in the optimizer", of_distiller("__init__", held), NAMES, NAMES),
)  # fmt: skip
