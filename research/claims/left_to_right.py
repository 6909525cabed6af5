"""The encoder with relative positions, each position attending to itself and those before it.

Beside the one that sees both sides it differs in nothing else: the same layers, heads and
parameters (chapter 10).
"""

from typing import Any, Unpack

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lmcourse.models.attention import causal_mask
from lmcourse.models.bert import BertConfig, BertInputs
from lmcourse.models.deberta import (
    Deberta,
    DebertaConfig,
    DebertaEncoder,
    DebertaForMaskedLM,
    DebertaForQuestionAnswering,
)
from lmcourse.models.inputs import IGNORED
from lmcourse.models.outputs import EncoderOutput, LanguageModelOutput


class LeftToRightEncoder(DebertaEncoder):
    """DeBERTa's layers, in which each position attends to itself and those before it."""

    def forward(
        self,
        x: Float[Tensor, "batch time width"],
        visible: Bool[Tensor, "..."] | None = None,
        **asked: Any,
    ) -> EncoderOutput:
        """See `DebertaEncoder.forward`; ``visible`` may hide more."""
        past = causal_mask(x.shape[-2], x.shape[-2], x)
        return super().forward(x, past if visible is None else visible & past, **asked)


class LeftToRight(Deberta):
    """Hidden states, each computed from the tokens up to its own."""

    @staticmethod
    def make_encoder(config: BertConfig) -> nn.Module:
        """See `Deberta.make_encoder`."""
        assert isinstance(config, DebertaConfig)
        return LeftToRightEncoder(config)


class LeftToRightLM(DebertaForMaskedLM):
    """The distribution of the next token at each position."""

    Base = LeftToRight

    def forward(
        self,
        input_ids: Int[Tensor, "batch time"] | None = None,
        *,
        labels: Int[Tensor, "batch time"] | None = None,
        **inputs: Unpack[BertInputs],
    ) -> LanguageModelOutput:
        """Predict the next tokens.

        Args:
            labels: the tokens themselves, as `GPTForCausalLM.forward` takes them: each position
                predicts the next one's.
            inputs: see `BertForMaskedLM.forward`.
        """
        if labels is not None:
            labels = torch.cat([labels[:, 1:], torch.full_like(labels[:, :1], IGNORED)], 1)
        return super().forward(input_ids, labels=labels, **inputs)


class LeftToRightForQuestionAnswering(DebertaForQuestionAnswering):
    """The start and the end of the answer, predicted at each position from the tokens up to it."""

    Base = LeftToRight
