"""DeBERTa, its mask decoder and SiFT, and what is wrongly done in them."""

import dataclasses
import math
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from lmcourse.models import deberta, disentangled_attention, enhanced_mask_decoder, inputs
from lmcourse.models import sift as sift_module
from lmcourse.models.deberta import DebertaConfig
from lmcourse.models.disentangled_attention import DisentangledAttention
from lmcourse.models.enhanced_mask_decoder import DebertaForPreTraining, EnhancedMaskDecoder
from lmcourse.models.parity import deberta as parity
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
DECODED = {"hidden_dropout_prob": 1 + 3 * 3, "attention_probs_dropout_prob": 3}
"""A layer of the encoder, and the other one twice."""


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
        "DeBERTa for pre-training",
        DebertaForPreTraining,
        bert.masked_words,
        output="logits",
        shift=0,
        chance=math.log(bert.VOCAB),
        dropouts=DECODED,
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


def along_the_queries(at_distances: Any) -> Any:
    """What was looked up for the keys is left lying where the queries are."""

    def wrong(*given: Any, mirrored: bool = False, **more: Any) -> Tensor:
        found = at_distances(*given, mirrored=mirrored, **more)
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


def decoded(keys: bool = False, restart: bool = False, place: bool = True) -> Any:
    """The decoder with places in its keys, or with the first query in both steps."""

    def make(forward: Any) -> Any:
        def wrong(
            self: Any, hidden: Tensor, encoder: Any, seen: Any = None, *, need_weights: bool = False
        ) -> Any:
            places = self.position.weight[: hidden.shape[1]]
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
        x = self.attention_residual.after(x, found)
        return self.feed_forward_residual.after(x, self.feed_forward(x)), weights

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


def both_moved(sift: Any) -> Any:
    """The perturbed prediction held against itself."""

    def wrong(predict: Any, words: Tensor, *, start: Tensor, step: float) -> Any:
        x = sift_module.normalized(words)
        logits = predict(x)
        delta = sift_module.perturbation(predict, x, logits, start, step)
        moved = predict(x + delta)
        return sift_module.SiftOutput(sift_module.symmetric_kl(moved, moved), logits)

    return wrong


def one_sided(symmetric_kl: Any) -> Any:
    def wrong(one: Tensor, other: Tensor) -> Tensor:
        p, q = one.log_softmax(-1), other.log_softmax(-1)
        return 2 * (q.exp() * (q - p)).sum(-1).mean()

    return wrong


def stepped(how: Any) -> Any:
    """Another step from the start: ``how(start, delta)``."""

    def make(perturbation: Any) -> Any:
        def wrong(predict: Any, x: Tensor, target: Tensor, start: Tensor, step: float) -> Tensor:
            return how(start, perturbation(predict, x, target, start, step))

        return wrong

    return make


def unlimited(perturbation: Any) -> Any:
    """A step as long as the steepest token allows, for all tokens together."""

    def wrong(predict: Any, x: Tensor, target: Tensor, start: Tensor, step: float) -> Tensor:
        delta = perturbation(predict, x, target, start, step)
        return start + (delta - start).mean(1, keepdim=True)

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
SEQUENCES, SIFT = ("DeBERTa for sequences",), ("SiFT",)


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
           replaced(disentangled_attention, "at_distances", along_the_queries), MODEL),
    Broken("DeBERTa: no dropout of the distances",
           replaced(ATTEND, "__init__", other_attention(position_dropout=0.0)), (), MODEL),
    Broken("DeBERTa: no dropout of the attention",
           replaced(ATTEND, "__init__", other_attention(dropout=0.0)), (), MODEL),
    Broken("DeBERTa: absolute positions added", replaced(deberta.Unplaced, "_places", placed),
           MODEL),
    Broken("DeBERTa: queries without their bias", replaced(ATTEND, "forward", without_bias), MODEL,
           MODEL),
    Broken("DeBERTa: mask inverted", replaced(inputs, "visible", inverted), MODEL, MODEL),
    Broken("DeBERTa: padding attended to", replaced(inputs, "visible", ignored), MODEL, MODEL),
    Broken("DeBERTa: LayerNorm's ε of 1e-12", replaced(DebertaConfig, "layer", other_eps), MODEL),
    Broken("DeBERTa: a classifier with tanh",
           replaced(deberta.ContextClassifier, "__init__", with_tanh), SEQUENCES),
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
           replaced(enhanced_mask_decoder, "visible", ignored), PRE, PRE),
    Broken("SiFT: the perturbation in the target", replaced(parity, "sift", both_moved), SIFT),
    Broken("SiFT: unnormalized", replaced(sift_module, "normalized", lambda _: lambda x: x), SIFT),
    Broken("SiFT: KL one way only", replaced(sift_module, "symmetric_kl", one_sided), SIFT),
    Broken("SiFT: no step", replaced(sift_module, "perturbation",
           stepped(lambda start, delta: start)), SIFT),
    Broken("SiFT: a step down", replaced(sift_module, "perturbation",
           stepped(lambda start, delta: 2 * start - delta)), SIFT),
    Broken("SiFT: one step for all tokens", replaced(sift_module, "perturbation", unlimited), SIFT),
)  # fmt: skip
