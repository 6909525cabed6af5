"""GPT and GPT-2, and what is wrongly done in them."""

import math
from typing import Any

import torch
from torch import Tensor

from lmcourse.models import attention, embeddings, gpt, transformer
from lmcourse.models.gpt import GPT, GPTConfig, GPTForCausalLM
from lmcourse.models.inputs import IGNORED
from tests.models.broken import Broken
from tests.models.subject import Batch, Subject
from tests.models.subjects.bert import embedded_whole, one_late, other_activation, other_layer
from tests.models.subjects.transformer import mask, other_norm, replaced, shifted_mask

VOCAB = 300
DROPOUTS = {"embd_pdrop": 1, "hidden_dropout_prob": 4, "attention_probs_dropout_prob": 2}
"""Of two layers."""


def config(norm_first: bool) -> GPTConfig:
    return GPTConfig(VOCAB, 12, 2, 3, 20, max_position_embeddings=16, norm_first=norm_first)


def batch() -> Batch:
    return {"input_ids": torch.randint(VOCAB, (3, 7)), "attention_mask": mask(3, 7)}


def labelled() -> Batch:
    given = batch()
    return given | {"labels": given["input_ids"].masked_fill(given["attention_mask"] == 0, IGNORED)}


SUBJECTS = tuple(
    subject
    for norm_first, name in ((True, "GPT-2"), (False, "first GPT"))
    for subject in (
        Subject(
            name,
            lambda first=norm_first: GPT(config(first)),
            batch,
            causal=True,
            dropouts=DROPOUTS,
        ),
        Subject(
            f"{name} for causal LM",
            lambda first=norm_first: GPTForCausalLM(config(first)),
            labelled,
            causal=True,
            output="logits",
            shift=1,
            chance=math.log(VOCAB),
            dropouts=DROPOUTS,
        ),
    )
)


def shifted(by: int) -> Any:
    """Labels that are shifted by one more place, or one less."""

    def make(label_loss: Any) -> Any:
        def wrong(logits: Tensor, labels: Tensor) -> Tensor:
            moved = labels.roll(by, 1)
            moved[:, 0 if by > 0 else -1] = IGNORED
            return label_loss(logits, moved)

        return wrong

    return make


def both_ways(init: Any) -> Any:
    """Without the causal mask: BERT's encoder."""

    def wrong(self: Any, *given: Any, **more: Any) -> None:
        init(self, *given, **(more | {"causal": False}))

    return wrong


def no_last_norm(init: Any) -> Any:
    """Without the LayerNorm behind the last layer: made, and left out."""

    def wrong(self: Any, *given: Any, **more: Any) -> Any:
        norm, self.norm = self.norm, None
        try:
            return init(self, *given, **more)
        finally:
            self.norm = norm

    return wrong


LM = ("GPT-2 for causal LM", "first GPT for causal LM")
ALL = ("GPT-2", "first GPT")
BROKEN = (
    Broken("GPT: labels not shifted", replaced(gpt, "label_loss", shifted(1)), LM, LM),
    Broken("GPT: labels shifted twice", replaced(gpt, "label_loss", shifted(-1)), LM, LM),
    Broken("GPT: no causal mask", replaced(transformer.Encoder, "__init__", both_ways), ALL, ALL),
    Broken("GPT: a place sees the next one",
           replaced(attention, "causal_mask", shifted_mask(1)), ALL, ALL),
    Broken("GPT: post-norm for pre-norm, and back", lambda: other_norm(transformer), ALL),
    Broken("GPT: no LayerNorm behind the last layer",
           replaced(transformer.Encoder, "forward", no_last_norm), ("GPT-2",), ("GPT-2",)),
    Broken("GPT: positions from 1", replaced(embeddings.Embeddings, "forward", one_late), ALL),
    Broken("GPT: the exact GELU for its approximation", other_activation("gelu_new", "gelu"), ALL),
    Broken("GPT: no dropout of what a sublayer adds",
           replaced(GPTConfig, "layer", other_layer(hidden_dropout_prob=0.0)), (), ALL),
    Broken("GPT: no dropout of the attention",
           replaced(GPTConfig, "layer", other_layer(attention_probs_dropout_prob=0.0)), (), ALL),
    Broken("GPT: no dropout of the embeddings",
           replaced(embeddings.Embeddings, "__init__", embedded_whole), (), ALL),
)  # fmt: skip
