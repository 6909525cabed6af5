"""Seq2seq with recurrent networks, and what is wrongly done in it."""

import math
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from lmcourse.models import attention, seq2seq
from lmcourse.models.seq2seq import Score, Seq2Seq, Seq2SeqConfig
from tests.models.broken import Broken
from tests.models.subject import Subject
from tests.models.subjects.transformer import (
    VOCAB,
    batch,
    ignored,
    late_mask,
    replaced,
    undropped,
)


def build(score: Score, bidirectional: bool, layers: int) -> Seq2Seq:
    return Seq2Seq(Seq2SeqConfig(VOCAB, 6, 8, layers, bidirectional, score, dropout=0.2))


def dropouts(layers: int) -> dict[str, int]:
    """Below each layer of both networks, and of h̃."""
    return {"dropout": 2 * layers + 1}


KINDS: tuple[tuple[Score, bool, int], ...] = (
    ("dot", True, 1),
    ("general", False, 2),
    ("additive", True, 2),
)
SUBJECTS = tuple(
    subject
    for kind in KINDS
    for subject in (
        Subject(
            f"seq2seq's source, {kind[0]}",
            partial(build, *kind),
            batch,
            output="encoder_last_hidden_state",
            causal=not kind[1],
            pooled=("logits", "loss"),
            attentions="cross_attentions",
            dropouts=dropouts(kind[2]),
            hidden_states=None,  # as many as there are layers, where the attention is but one
        ),
        Subject(
            f"seq2seq's target, {kind[0]}",
            partial(build, *kind),
            batch,
            ids=("decoder_input_ids", "decoder_attention_mask"),
            mask="decoder_attention_mask",
            causal=True,
            output="logits",
            shift=0,
            chance=math.log(VOCAB),
            attentions=None,
            dropouts=dropouts(kind[2]),
        ),
    )
)


def cold_start(first_state: Any) -> Any:
    """The decoder starts from zeros: without attention it knows nothing of the source."""
    return lambda self, state: None


def one_direction_twice(first_state: Any) -> Any:
    """Both halves of the decoder's first state from the encoder's forward direction."""

    def wrong(self: Any, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        if not self.config.bidirectional:
            return first_state(self, state)
        forth = tuple(part[0::2].repeat_interleave(2, 0) for part in state)
        return first_state(self, forth)

    return wrong


def scaled(attend: Any) -> Any:
    """Luong's dot product is not divided by √width."""
    return lambda *args, scale=None, **kwargs: attend(*args, **kwargs)


def undropped_top() -> Any:
    """What reaches the softmax is not dropped, what the embeddings give is."""

    def wrong(self: Any, ids: Tensor) -> Tensor:
        return torch.nn.functional.dropout(self.embedding(ids), self.config.dropout, self.training)

    def built(self: Any, config: Any, init: Any = Seq2Seq.__init__) -> None:
        init(self, config)
        self.dropout = torch.nn.Identity()

    return patch.multiple(Seq2Seq, __init__=built, _embed=wrong)


def padded_lengths(lengths_from_mask: Any) -> Any:
    """Every sequence is read to the end of its padding."""
    return lambda *args: None


ROW = ("seq2seq with attention",)
SOURCES = tuple(subject.name for subject in SUBJECTS if "source" in subject.name)
BROKEN = (
    Broken("decoder starts from zeros", replaced(Seq2Seq, "_first_state", cold_start), ROW),
    Broken(
        "decoder starts from one direction twice",
        replaced(Seq2Seq, "_first_state", one_direction_twice),
        ROW,
    ),
    Broken(
        "seq2seq's dropout of the embeddings forgotten",
        replaced(Seq2Seq, "_embed", undropped),
        subjects=SOURCES,
    ),
    Broken("seq2seq's dropout of h̃ forgotten", undropped_top, subjects=SOURCES),
    Broken("dot product divided by √width", replaced(attention, "attend", scaled), ROW),
    Broken(
        "attention to the source's padding", replaced(seq2seq, "visible", ignored), ROW, SOURCES
    ),
    Broken(
        "weights that do not sum to one",
        replaced(attention, "masked_softmax", late_mask),
        ROW,
        SOURCES,
    ),
    Broken("lengths ignored", replaced(seq2seq, "lengths_from_mask", padded_lengths), ROW, SOURCES),
    Broken(
        "tanh missing behind the attention",
        replaced(torch, "tanh", lambda tanh: lambda x: x),
        ROW,
    ),
)
