"""DeBERTa's mask decoder, and what is wrongly done in it."""

import dataclasses
import math
from typing import Any

from torch import Tensor

from lmcourse.models import deberta, enhanced_mask_decoder, inputs
from lmcourse.models.enhanced_mask_decoder import DebertaForPreTraining, EnhancedMaskDecoder
from tests.models.broken import Broken
from tests.models.subjects import bert
from tests.models.subjects.deberta import subject
from tests.models.subjects.transformer import ignored, replaced

DECODED = {"hidden_dropout_prob": 1 + 3 * 3, "attention_probs_dropout_prob": 3}
"""A layer of the encoder, and the other one twice."""

SUBJECTS = (
    subject(
        "DeBERTa for pre-training",
        DebertaForPreTraining,
        bert.masked_words,
        output="logits",
        shift=0,
        chance=math.log(bert.VOCAB),
        dropouts=DECODED,
    ),
)


def decoded(keys: bool = False, restart: bool = False, place: bool = True) -> Any:
    """The decoder with places in its keys, or with the first query in both steps."""

    def make(forward: Any) -> Any:
        def wrong(
            self: Any,
            hidden: Tensor,
            encoder: Any,
            seen: Any = None,
            position_ids: Any = None,
            *,
            need_weights: bool = False,
        ) -> Any:
            places = self.position_embeddings(hidden, position_ids)
            first = x = hidden + (places if place else 0)
            context = x if keys else hidden
            steps, attentions = [], []
            for _ in range(enhanced_mask_decoder.STEPS):
                x, weights = encoder.layers[-1](
                    context,
                    encoder.positions,
                    seen,
                    query=first if restart else x,
                    need_weights=need_weights,
                )
                steps.append(x)
                attentions.append(weights)
            return tuple(steps), tuple(attentions)

        return wrong

    return make


def added_to_keys(forward: Any) -> Any:
    """What was found added to the keys' states, where the query's go on."""

    def wrong(
        self: Any,
        x: Tensor,
        positions: Any = None,
        visible: Any = None,
        *,
        query: Any = None,
        need_weights: bool = False,
    ) -> Any:
        found, weights = self.attention(
            x, positions, visible, query=query, need_weights=need_weights
        )
        x = self.attention_residual.post_norm(x, found)
        return self.feed_forward_residual.post_norm(x, self.feed_forward(x)), weights

    return wrong


def from_the_top(encoder: Any) -> Any:
    """The decoder upon the last layer's states, for those below it."""

    def wrong(self: Any, *given: Any, depth: int | None = None, **more: Any) -> Any:
        done = encoder(self, *given, depth=None, **more)
        if depth is None:
            return done
        cut = {
            "hidden_states": done.hidden_states and done.hidden_states[1:],
            "attentions": done.attentions and done.attentions[1:],
        }
        return dataclasses.replace(done, **cut)

    return wrong


def always_counted(places: Any) -> Any:
    """Places one after the other, whatever is given."""
    return lambda self, hidden, position_ids: places(self, hidden, None)


PRE = ("DeBERTa for pre-training",)


BROKEN = (
    Broken("mask decoder: places in the keys", replaced(EnhancedMaskDecoder, "forward",
           decoded(keys=True)), PRE),
    Broken("mask decoder: no places", replaced(EnhancedMaskDecoder, "forward",
           decoded(place=False)), PRE, PRE),
    Broken("mask decoder: the first query in both steps",
           replaced(EnhancedMaskDecoder, "forward", decoded(restart=True)), PRE),
    Broken("mask decoder: found added to the keys' states",
           replaced(deberta.DebertaLayer, "forward", added_to_keys), PRE),
    Broken("mask decoder: upon the last layer",
           replaced(deberta.DebertaEncoder, "forward", from_the_top), PRE),
    Broken("mask decoder: padding attended to",
           replaced(inputs, "visible", ignored), PRE, PRE),
    Broken("mask decoder: counted places where others are given",
           replaced(EnhancedMaskDecoder, "position_embeddings", always_counted), PRE),
)  # fmt: skip
