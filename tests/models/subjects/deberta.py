"""DeBERTa and its heads, and what is wrongly done in them."""

import dataclasses
import math
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from lmcourse.models import deberta, disentangled_attention, inputs
from lmcourse.models.deberta import DebertaConfig
from lmcourse.models.disentangled_attention import DisentangledAttention
from tests.models.broken import Broken
from tests.models.subject import Batch
from tests.models.subjects import bert
from tests.models.subjects.transformer import ignored, inverted, replaced

CONFIG = DebertaConfig(
    bert.VOCAB,
    12,
    2,
    3,
    20,
    max_position_embeddings=16,
    max_relative_positions=4,  # of 7 places, the farthest are clipped
    num_labels=bert.CLASSES,
)
PLACED = dataclasses.replace(
    CONFIG, position_biased_input=True, type_vocab_size=2, max_relative_positions=-1
)
IDS = ("input_ids", "attention_mask")
DROPOUTS = {"hidden_dropout_prob": 1 + 2 * 3, "attention_probs_dropout_prob": 2}
"""Of two layers: what is embedded, then what two sublayers add and the distances; attentions."""
TAGGED = DROPOUTS | {"classifier_dropout": 1}


def without_segments(make: Any) -> Any:
    def batch() -> Batch:
        return {name: value for name, value in make().items() if name != "token_type_ids"}

    return batch


def subject(name: str, kind: Any, batch: Any, **options: Any) -> Any:
    options = {"config": CONFIG, "ids": IDS, "dropouts": DROPOUTS} | options
    return bert.subject(name, kind, without_segments(batch), **options)


SUBJECTS = (
    subject("DeBERTa", deberta.Deberta, bert.batch),
    bert.subject(
        "DeBERTa with places and segments",
        deberta.Deberta,
        bert.batch,
        config=PLACED,
        dropouts=DROPOUTS,
    ),
    subject(
        "DeBERTa for masked LM",
        deberta.DebertaForMaskedLM,
        bert.masked_words,
        output="logits",
        shift=0,
        chance=math.log(bert.VOCAB),
    ),
    subject(
        "DeBERTa for sequences",
        deberta.DebertaForSequenceClassification,
        partial(bert.classes, bert.CLASSES),
        chance=math.log(bert.CLASSES),
        dropouts=TAGGED | {"pooler_dropout": 1},
        **bert.POOLED,
    ),
    subject("DeBERTa for questions", deberta.DebertaForQuestionAnswering, bert.spans, **bert.SPANS),
    subject(
        "DeBERTa for tokens",
        deberta.DebertaForTokenClassification,
        bert.tags,
        output="logits",
        shift=0,
        chance=math.log(bert.CLASSES),
        dropouts=TAGGED,
    ),
)


def other_attention(**changes: Any) -> Any:
    """An attention that is made with other arguments."""

    def make(init: Any) -> Any:
        def wrong(self: Any, *given: Any, **more: Any) -> None:
            settled = {n: c(more[n]) if callable(c) else c for n, c in changes.items()}
            init(self, *given, **(more | settled))

        return wrong

    return make


def scaled(by: Any) -> Any:
    """Another scale: ``by(heads' width, number of terms)``."""

    def make(init: Any) -> Any:
        def wrong(self: Any, hidden_size: int, heads: int, terms: Any, **more: Any) -> None:
            init(self, hidden_size, heads, terms, **more)
            self.scale = 1 / math.sqrt(by(hidden_size // heads, len(terms)))

        return wrong

    return make


def clipped(low: int, high: int) -> Any:
    """Distances clipped so far from where they should be."""

    def make(distances: Any) -> Any:
        def wrong(time: int, span: int, like: Tensor) -> Tensor:
            return distances(time, span, like).clamp(low, 2 * span - 1 - high)

        return wrong

    return make


def reversed_distances(distances: Any) -> Any:
    """How far j stands behind i, for how far i stands behind j."""

    def wrong(time: int, span: int, like: Tensor) -> Tensor:
        return (2 * span - distances(time, span, like)).clamp(0, 2 * span - 1)

    return wrong


def one_on(diagonals: Any) -> Any:
    """A view that starts one column beside the right one."""
    return lambda products, first: diagonals(products.roll(1, -1), first)


def swapped(relative: Any) -> Any:
    """The queries' content for the keys', and back."""
    return lambda self, q, k, positions, gather: relative(self, k, q, positions, gather)


def along_the_queries(relative_scores: Any) -> Any:
    """What was looked up for the keys is left lying where the queries are."""

    def wrong(*given: Any, mirrored: bool = False, **more: Any) -> Tensor:
        found = relative_scores(*given, mirrored=mirrored, **more)
        return found.mT if mirrored else found

    return wrong


def undivided(relative: Any) -> Any:
    """Position to content without the scale, which c2p has from its query."""

    def wrong(self: Any, q: Tensor, k: Tensor, positions: Tensor, gather: bool) -> Any:
        added = relative(self, q, k, positions, gather)
        if self.position_query is None:
            return added
        alone = relative(self, 0 * q, k, positions, gather)
        return added - alone + alone / self.scale

    return wrong


def placed(counted: Any) -> Any:
    """Absolute positions, added where there should be none (waves, as in the Transformer)."""

    def wrong(self: Any, position_ids: Tensor | None, like: Tensor) -> Tensor:
        time = like.shape[1]
        width = self.word.weight.shape[1]
        return torch.outer(torch.arange(time), torch.arange(width)).to(self.word.weight).sin()

    return wrong


def without_bias(attention: Any) -> Any:
    """No bias of the queries either: the keys' alone would shift all scores of a query alike."""

    def wrong(self: Any, *given: Any, **more: Any) -> Any:
        bias, self.query.bias = self.query.bias, None
        try:
            return attention(self, *given, **more)
        finally:
            self.query.bias = bias

    return wrong


def other_eps(layer: property) -> property:
    """BERT's ε in the layers."""
    return property(lambda self: dataclasses.replace(layer.fget(self), layer_norm_eps=1e-12))


def with_tanh(init: Any) -> Any:
    """A classifier with the activation of BERT's pooler."""

    def wrong(self: Any, *given: Any) -> None:
        init(self, *given)
        self.activation = nn.functional.tanh

    return wrong


ATTEND = DisentangledAttention
MODEL, PRE = ("DeBERTa",), ("DeBERTa for pre-training",)
SEQUENCES = ("DeBERTa for sequences",)


BROKEN = (
    Broken("DeBERTa: δ(j, i) for δ(i, j) in p2c of the published code",
           replaced(ATTEND, "__init__", other_attention(as_in_paper=True)), MODEL),
    Broken("DeBERTa: δ(i, j) for δ(j, i) in p2c of the paper",
           replaced(ATTEND, "__init__", other_attention(as_in_paper=False)), PRE),
    Broken("DeBERTa: distances the other way round",
           replaced(disentangled_attention, "clipped_distances", reversed_distances), MODEL),
    Broken("DeBERTa: clipped one too early behind",
           replaced(disentangled_attention, "clipped_distances", clipped(0, 1)), MODEL),
    Broken("DeBERTa: clipped one too early before",
           replaced(disentangled_attention, "clipped_distances", clipped(1, 0)), MODEL),
    Broken("DeBERTa: diagonals one column on",
           replaced(disentangled_attention, "diagonals", one_on), MODEL),
    Broken("DeBERTa: √d for √(3d)", replaced(ATTEND, "__init__", scaled(lambda d, n: d)), MODEL),
    Broken("DeBERTa: √(3d) where a term is off",
           replaced(ATTEND, "__init__", scaled(lambda d, n: 3 * d)), MODEL),
    Broken("DeBERTa: p2c not divided by the scale", replaced(ATTEND, "relative", undivided), MODEL),
    Broken("DeBERTa: c2p and p2c swapped", replaced(ATTEND, "relative", swapped), MODEL),
    Broken("DeBERTa: p2c gathered along the queries",
           replaced(disentangled_attention, "relative_scores", along_the_queries), MODEL),
    Broken("DeBERTa: no dropout of the distances",
           replaced(ATTEND, "__init__", other_attention(position_dropout=0.0)), (), MODEL),
    Broken("DeBERTa: no dropout of the attention",
           replaced(ATTEND, "__init__", other_attention(dropout=0.0)), (), MODEL),
    Broken("DeBERTa: positions added",
           replaced(deberta.TokenEmbeddings, "_position_embeddings", placed),
           MODEL),
    Broken("DeBERTa: queries without their bias", replaced(ATTEND, "forward", without_bias), MODEL,
           MODEL),
    Broken("DeBERTa: mask inverted", replaced(inputs, "visible", inverted), MODEL, MODEL),
    Broken("DeBERTa: padding attended to", replaced(inputs, "visible", ignored), MODEL, MODEL),
    Broken("DeBERTa: LayerNorm's ε of 1e-12", replaced(DebertaConfig, "layer", other_eps), MODEL),
    Broken("DeBERTa: a classifier with tanh",
           replaced(deberta.ContextClassifier, "__init__", with_tanh), SEQUENCES),
)  # fmt: skip
