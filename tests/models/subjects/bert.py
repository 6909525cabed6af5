"""BERT and its heads, and what is wrongly done in them."""

import dataclasses
import math
from functools import partial, wraps
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from lmcourse.models import bert, bert_heads, bert_tasks, embeddings, inputs
from lmcourse.models.activations import ACTIVATIONS
from lmcourse.models.bert import BertConfig
from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import IGNORED
from tests.models.broken import Broken
from tests.models.subject import Batch, Subject
from tests.models.subjects.transformer import ignored, inverted, mask, replaced

VOCAB, CLASSES = 300, 3
CONFIG = BertConfig(VOCAB, 12, 2, 3, 20, max_position_embeddings=16, num_labels=CLASSES)
IDS = ("input_ids", "attention_mask", "token_type_ids")


def batch() -> Batch:
    """Ids without [PAD] among the words: its embedding is one that does not learn from reading."""
    return {
        "input_ids": torch.randint(1, VOCAB, (3, 7)),
        "attention_mask": mask(3, 7),
        "token_type_ids": torch.tensor([0, 0, 0, 1, 1, 1, 1]).expand(3, 7),
    }


def masked_words() -> Batch:
    given = batch()
    chosen = (torch.rand(3, 7) < 0.4) & (given["attention_mask"] == 1)
    chosen[0, 2] = True
    return given | {"labels": torch.randint(VOCAB, (3, 7)).masked_fill(~chosen, IGNORED)}


def tags() -> Batch:
    given = masked_words()
    labels = given["labels"]
    return given | {"labels": torch.where(labels == IGNORED, labels, labels % CLASSES)}


def classes(count: int) -> Batch:
    return batch() | {"labels": torch.randint(count, (3,))}


def spans() -> Batch:
    positions = {
        "start_positions": torch.tensor([1, 0, 9]),
        "end_positions": torch.tensor([3, 1, 1]),
    }
    return batch() | positions


def both_tasks() -> Batch:
    return masked_words() | {"next_sentence_label": torch.randint(2, (3,))}


def subject(
    name: str, kind: type[Model], batch: Any, config: BertConfig = CONFIG, **options: Any
) -> Subject:
    options = {"dropouts": DROPOUTS, "ids": IDS} | options
    return Subject(name, partial(kind, config), batch, **options)


DROPOUTS = {"hidden_dropout_prob": 5, "attention_probs_dropout_prob": 2}
"""Of two layers: what is embedded and what four sublayers add; and the attentions."""
CLASSIFIED = {"dropouts": DROPOUTS | {"classifier_dropout": 1}}


LAYERS = {"output": "hidden_states", "options": {"output_hidden_states": True}}
POOLED = LAYERS | {"pooled": ("logits", "loss")}
SPANS = LAYERS | {
    "pooled": ("loss",),
    "unused": {"qa_outputs.bias": "added at all places, it changes no softmax"},
}
SUBJECTS = (
    subject("BERT", bert.Bert, batch, pooled=("pooler_output",)),
    subject(
        "BERT for pre-training",
        bert_heads.BertForPreTraining,
        both_tasks,
        output="prediction_logits",
        pooled=("seq_relationship_logits", "loss"),
        chance=None,
    ),
    subject(
        "BERT for masked LM",
        bert_heads.BertForMaskedLM,
        masked_words,
        output="logits",
        shift=0,
        chance=math.log(VOCAB),
    ),
    subject(
        "BERT for sequences",
        bert_tasks.BertForSequenceClassification,
        partial(classes, CLASSES),
        chance=math.log(CLASSES),
        **POOLED,
        **CLASSIFIED,
    ),
    subject("BERT for questions", bert_tasks.BertForQuestionAnswering, spans, **SPANS),
    subject(
        "BERT for tokens",
        bert_tasks.BertForTokenClassification,
        tags,
        output="logits",
        shift=0,
        chance=math.log(CLASSES),
        **CLASSIFIED,
    ),
)


INPUTS = ("input_ids", "token_type_ids", "position_ids", "inputs_embeds")


def averaged_first(label_loss: Any) -> Any:
    """The mean over all places, of which those without a label count as 0."""

    def wrong(self: Any, hidden: Tensor, words: Tensor, labels: Tensor | None = None) -> Any:
        logits = label_loss(self, hidden, words)[0]
        if labels is None:
            return logits, None
        losses = nn.functional.cross_entropy(
            logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="none"
        )
        return logits, losses.mean()

    return wrong


def untied(scores: Any) -> Any:
    """The output has weights of its own (a copy, as good as the embeddings at the start)."""
    return lambda self, x, words: scores(self, x, words.detach())


def without(name: str) -> Any:
    """An argument of the embeddings that is not handed on."""

    def make(forward: Any) -> Any:
        def wrong(self: Any, *given: Any, **more: Any) -> Tensor:
            return forward(self, **(dict(zip(INPUTS, given, strict=False)) | more | {name: None}))

        return wrong

    return make


def one_late(forward: Any) -> Any:
    """Positions counted from 1."""

    def wrong(self: Any, *given: Any, **more: Any) -> Tensor:
        named = dict(zip(INPUTS, given, strict=False)) | more
        if named.get("position_ids") is None:
            time = named["input_ids"].shape[1]
            places = torch.arange(1, time + 1) % self.position.num_embeddings
            named["position_ids"] = places.expand_as(named["input_ids"])
        return forward(self, **named)

    return wrong


def last_pooled(forward: Any) -> Any:
    """The pooler over the last place, which may be padding."""
    return lambda self, hidden: forward(self, hidden.flip(1))


def no_tanh(forward: Any) -> Any:
    return lambda self, hidden: self.dense(hidden[:, 0])


def swapped_span(forward: Any) -> Any:
    """The answer's end for its start."""

    def wrong(self: Any, *given: Any, **more: Any) -> Any:
        done = forward(self, *given, **more)
        return bert_tasks.QuestionAnsweringOutput(
            done.loss, done.end_logits, done.start_logits, done.hidden_states, done.attentions
        )

    return wrong


def swapped_labels(forward: Any) -> Any:
    """The starts' labels for the ends', and back."""

    def wrong(self: Any, *given: Any, **more: Any) -> Any:
        start, end = more.pop("start_positions"), more.pop("end_positions")
        return forward(self, *given, start_positions=end, end_positions=start, **more)

    return wrong


def summed_span(position_loss: Any) -> Any:
    return lambda scores, places, real: 2 * position_loss(scores, places, real)


def clamped_span(position_loss: Any) -> Any:
    """An answer that was cut off is looked for at the last place."""
    return lambda scores, places, real: position_loss(
        scores, places.clamp(max=scores.shape[1] - 1), real
    )


def other_activation(name: str, other: str) -> Any:
    return lambda: patch.dict(ACTIVATIONS, {name: ACTIVATIONS[other]})


def other_eps(layer: property) -> property:
    """PyTorch's usual ε in the layers."""
    return property(lambda self: dataclasses.replace(layer.fget(self), layer_norm_eps=1e-5))


def padding_learns(init: Any) -> Any:
    def wrong(self: Any, *given: Any, **more: Any) -> None:
        init(self, *given, **(more | {"pad_token_id": None}))

    return wrong


def without_norm(forward: Any) -> Any:
    """The prediction head without its LayerNorm."""

    def wrong(self: Any, *given: Any, **more: Any) -> Any:
        with patch.object(self, "norm", nn.Identity()):
            return forward(self, *given, **more)

    return wrong


def one_task(forward: Any) -> Any:
    """The next sentence's loss forgotten."""

    @wraps(forward)
    def wrong(self: Any, *given: Any, **more: Any) -> Any:
        done = forward(self, *given, **more)
        words = forward(self, *given, **(more | {"next_sentence_label": None}))
        return bert_heads.PreTrainingOutput(
            words.loss,
            done.prediction_logits,
            done.seq_relationship_logits,
            done.hidden_states,
            done.attentions,
        )

    return wrong


def all_pairs(sequence_loss: Any) -> Any:
    """Predictions (batch, 1) less labels (batch,): broadcast to all pairs."""

    def wrong(logits: Tensor, labels: Tensor, config: BertConfig) -> Tensor:
        if config.num_labels > 1:
            return sequence_loss(logits, labels, config)
        return (logits - labels).square().mean()

    return wrong


def other_layer(**settings: Any) -> Any:
    """Each layer with other settings than the configuration says."""
    return lambda layer: property(lambda self: dataclasses.replace(layer.fget(self), **settings))


def embedded_whole(init: Any) -> Any:
    """The embeddings' dropout forgotten."""

    def wrong(self: Any, *given: Any, **more: Any) -> None:
        init(self, *given, **(more | {"dropout": 0.0}))

    return wrong


def classified_whole(forward: Any) -> Any:
    """A classifying head with its dropout made and left out."""
    return lambda self, x: self.dense(x)


def hidden_dropout_only(init: Any) -> Any:
    """A classifying head that never looks at ``classifier_dropout``."""
    return lambda self, config, classes: init(
        self, dataclasses.replace(config, classifier_dropout=None), classes
    )


HEAD, EMBED = bert_heads.PredictionHead, embeddings.Embeddings
SPAN, CLASSIFIER = bert_tasks.BertForQuestionAnswering, bert_tasks.ClassificationHead
MLM, ALL = ("BERT for masked LM",), ("BERT", "BERT for tokens")
BROKEN = (
    Broken("BERT: mask inverted", replaced(inputs, "visible", inverted), ALL, ("BERT",)),
    Broken("BERT: padding attended to", replaced(inputs, "visible", ignored), ALL, ("BERT",)),
    Broken("BERT: masked LM's loss averaged before it is weighted",
           replaced(HEAD, "forward", averaged_first), MLM, MLM),
    Broken("BERT: output untied", replaced(HEAD, "scores", untied), MLM),
    Broken("BERT: segments ignored", replaced(EMBED, "forward", without("token_type_ids")),
           ALL, ("BERT",)),
    Broken("BERT: position_ids ignored", replaced(EMBED, "forward", without("position_ids")), ALL),
    Broken("BERT: positions from 1", replaced(EMBED, "forward", one_late), ALL),
    Broken("BERT: [PAD] learns", replaced(EMBED, "__init__", padding_learns), ALL),
    Broken("BERT: pooler over the last place", replaced(bert.Pooler, "forward", last_pooled),
           ("BERT",), ("BERT",)),
    Broken("BERT: pooler without tanh", replaced(bert.Pooler, "forward", no_tanh), ("BERT",)),
    Broken("BERT: start and end swapped", replaced(SPAN, "forward", swapped_span),
           ("BERT for questions",)),
    Broken("BERT: start's and end's labels swapped", replaced(SPAN, "forward", swapped_labels),
           ("BERT for questions",)),
    Broken("BERT: start's and end's losses summed",
           replaced(bert_tasks, "position_loss", summed_span),
           ("BERT for questions",)),
    Broken("BERT: an answer beyond the text at its last place",
           replaced(bert_tasks, "position_loss", clamped_span), ("BERT for questions",)),
    Broken("BERT: GELU by tanh for the exact one", other_activation("gelu", "gelu_new"), ALL),
    Broken("BERT: LayerNorm's ε of 1e-5", replaced(BertConfig, "layer", other_eps), ALL),
    Broken("BERT: prediction without LayerNorm", replaced(HEAD, "forward", without_norm), MLM, MLM),
    Broken("BERT: next sentence's loss forgotten",
           replaced(bert_heads.BertForPreTraining, "forward", one_task),
           ("BERT for pre-training",), ("BERT for pre-training",)),
    Broken("BERT: regression's error over all pairs",
           replaced(bert_tasks, "sequence_loss", all_pairs), ("BERT for sequences",)),
    Broken("BERT: no dropout of what a sublayer adds",
           replaced(BertConfig, "layer", other_layer(hidden_dropout_prob=0.0)), (), ("BERT",)),
    Broken("BERT: no dropout of the attention",
           replaced(BertConfig, "layer", other_layer(attention_probs_dropout_prob=0.0)),
           (), ("BERT",)),
    Broken("BERT: no dropout of the embeddings", replaced(EMBED, "__init__", embedded_whole),
           (), ("BERT",)),
    Broken("BERT: a classifier without its dropout",
           replaced(CLASSIFIER, "forward", classified_whole), (), ("BERT for sequences",)),
    Broken("BERT: a classifier with the hidden states' dropout",
           replaced(CLASSIFIER, "__init__", hidden_dropout_only), (), ("BERT for tokens",)),
)  # fmt: skip
