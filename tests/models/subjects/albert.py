"""ALBERT and its heads, and what is wrongly done in them."""

import copy
import dataclasses
import math
from functools import partial, wraps
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from lmcourse.models import albert
from lmcourse.models.albert import AlbertConfig, SharedEncoder
from lmcourse.models.factorized_embeddings import FactorizedEmbeddings
from lmcourse.models.losses import label_loss
from lmcourse.models.outputs import LanguageModelOutput
from tests.models.broken import Broken
from tests.models.subject import Batch
from tests.models.subjects import bert
from tests.models.subjects.bert import (
    CLASSES,
    DROPOUTS,
    POOLED,
    SPANS,
    VOCAB,
    batch,
    classes,
    masked_words,
    other_activation,
    spans,
    tags,
)
from tests.models.subjects.transformer import replaced

CONFIG = AlbertConfig(
    VOCAB,
    12,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=20,
    hidden_dropout_prob=0.1,
    attention_probs_dropout_prob=0.1,
    max_position_embeddings=16,
    num_labels=CLASSES,
    embedding_size=8,
)
CLASSIFIED = {"dropouts": DROPOUTS | {"classifier_dropout": 1}}
subject = partial(bert.subject, config=CONFIG)


def both_tasks() -> Batch:
    return masked_words() | {"sentence_order_label": torch.randint(2, (3,))}


SUBJECTS = (
    subject("ALBERT", albert.Albert, batch, pooled=("pooler_output",)),
    *(
        bert.subject(
            f"ALBERT sharing {what}",
            albert.Albert,
            batch,
            config=dataclasses.replace(CONFIG, sharing=what),
            pooled=("pooler_output",),
        )
        for what in ("attention", "ffn", "none")
    ),
    subject(
        "ALBERT for pre-training",
        albert.AlbertForPreTraining,
        both_tasks,
        output="prediction_logits",
        pooled=("sop_logits", "loss"),
        **CLASSIFIED,
    ),
    subject(
        "ALBERT for masked LM",
        albert.AlbertForMaskedLM,
        masked_words,
        output="logits",
        shift=0,
        chance=math.log(VOCAB),
    ),
    subject(
        "ALBERT for sequences",
        albert.AlbertForSequenceClassification,
        partial(classes, CLASSES),
        chance=math.log(CLASSES),
        **POOLED,
        **CLASSIFIED,
    ),
    subject("ALBERT for questions", albert.AlbertForQuestionAnswering, spans, **SPANS),
    subject(
        "ALBERT for tokens",
        albert.AlbertForTokenClassification,
        tags,
        output="logits",
        shift=0,
        chance=math.log(CLASSES),
        **CLASSIFIED,
    ),
)


def copied(init: Any) -> Any:
    """Each layer with weights of its own, which were the same ones at the start."""

    def wrong(self: SharedEncoder, config: AlbertConfig) -> None:
        init(self, config)
        for name, uses in (("attention", "attention_of"), ("feed_forward", "feed_forward_of")):
            for part in (name, f"{name}_residual"):
                shared = getattr(self, part)
                copies = (copy.deepcopy(shared[number]) for number in getattr(self, uses))
                setattr(self, part, nn.ModuleList(copies))
            setattr(self, uses, list(range(config.num_hidden_layers)))

    return wrong


def copied_in_use(forward: Any) -> Any:
    """Stored once, but each layer after the first computes with a copy: it teaches nothing."""

    def wrong(self: SharedEncoder, *given: Any, **more: Any) -> Any:
        used = copy.copy(self)
        used._modules = dict(self._modules)
        for name, uses in (
            ("attention", self.attention_of),
            ("feed_forward", self.feed_forward_of),
        ):
            setattr(used, f"{name}_of", list(range(len(uses))))
            for part in (name, f"{name}_residual"):
                shared: Any = getattr(self, part)
                first = [number not in uses[:layer] for layer, number in enumerate(uses)]
                used._modules[part] = nn.ModuleList(
                    shared[number] if own else copy.deepcopy(shared[number])
                    for number, own in zip(uses, first, strict=True)
                )
        return forward(used, *given, **more)

    return wrong


def one_too_many(init: Any) -> Any:
    """The attention shared, and the feed-forward network, which should not be, too."""

    def wrong(self: SharedEncoder, config: AlbertConfig) -> None:
        sharing = "all" if config.sharing == "attention" else config.sharing
        init(self, dataclasses.replace(config, sharing=sharing))

    return wrong


def own_norms(init: Any) -> Any:
    """The LayerNorms never shared."""

    def wrong(self: SharedEncoder, config: AlbertConfig) -> None:
        init(self, config)
        for name, uses in (
            ("attention", self.attention_of),
            ("feed_forward", self.feed_forward_of),
        ):
            norms = getattr(self, f"{name}_residual")
            setattr(
                self, f"{name}_residual", nn.ModuleList(copy.deepcopy(norms[use]) for use in uses)
            )

    return wrong


def by_turns(groups: property) -> property:
    """Layer 0 in group 0, layer 1 in group 1, …, for neighbors in one group."""
    return property(
        lambda self: [layer % self.num_hidden_groups for layer in range(self.num_hidden_layers)]
    )


def unprojected(forward: Any) -> Any:
    """Narrow embeddings filled up with zeros."""

    def wrong(self: FactorizedEmbeddings, *given: Any, **more: Any) -> Tensor:
        x = super(FactorizedEmbeddings, self).forward(*given, **more)
        return functional.pad(x, (0, self.projection.out_features - x.shape[-1]))

    return wrong


def wide_decoder(forward: Any) -> Any:
    """Hidden states scored with the projected embeddings, not brought back to their width."""

    @wraps(forward)
    def wrong(self: Any, *given: Any, labels: Tensor | None = None, **more: Any) -> Any:
        done = forward(self, *given, **more)
        states = self.bert(*given, **more)
        embeddings = self.bert.embeddings
        words = embeddings.projection(embeddings.word.weight)
        logits = functional.linear(states.last_hidden_state, words, self.predictions.bias)
        loss = None if labels is None else label_loss(logits, labels)
        return LanguageModelOutput(loss, logits, done.hidden_states, done.attentions)

    return wrong


def ordered_whole(forward: Any) -> Any:
    """The order's head with its dropout made and left out."""

    def wrong(self: Any, pooled: Tensor, *labels: Any) -> Any:
        return super(albert.SentenceOrderHead, self).forward(pooled, *labels)

    return wrong


def one_task(forward: Any) -> Any:
    """The order's loss forgotten."""

    @wraps(forward)
    def wrong(self: Any, *given: Any, **more: Any) -> Any:
        done = forward(self, *given, **more)
        labels = more.get("labels")
        loss = done.loss if labels is None else label_loss(done.prediction_logits, labels)
        return dataclasses.replace(done, loss=loss)

    return wrong


PARTIAL, ALL = ("ALBERT's partial sharing",), ("ALBERT", "ALBERT for tokens")
MLM, TASKS = ("ALBERT for masked LM",), ("ALBERT for pre-training",)
BROKEN = (
    Broken("ALBERT: shared weights copied", replaced(SharedEncoder, "__init__", copied), PARTIAL),
    Broken("ALBERT: shared weights copied where they are used",
           replaced(SharedEncoder, "forward", copied_in_use), (*ALL, *PARTIAL)),
    Broken("ALBERT: one sublayer shared too many",
           replaced(SharedEncoder, "__init__", one_too_many), PARTIAL),
    Broken("ALBERT: LayerNorms not shared", replaced(SharedEncoder, "__init__", own_norms),
           PARTIAL),
    Broken("ALBERT: groups by turns", replaced(AlbertConfig, "groups", by_turns), ALL),
    Broken("ALBERT: projection left out", replaced(FactorizedEmbeddings, "forward", unprojected),
           ALL, ("ALBERT",)),
    Broken("ALBERT: output tied to the projected embeddings",
           replaced(albert.AlbertForMaskedLM, "forward", wide_decoder), MLM, MLM),
    Broken("ALBERT: the order's dropout left out",
           replaced(albert.SentenceOrderHead, "forward", ordered_whole), (), TASKS),
    Broken("ALBERT: the order's loss forgotten",
           replaced(albert.AlbertForPreTraining, "forward", one_task), TASKS, TASKS),
    Broken("ALBERT: exact GELU for the one by tanh", other_activation("gelu_new", "gelu"), ALL),
)  # fmt: skip
