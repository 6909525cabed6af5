"""The whole Transformer, and what is wrongly done in attention and around it."""

import math
from contextlib import AbstractContextManager
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from lmcourse.models import attention, encoder_decoder, source_and_target, transformer
from lmcourse.models.encoder_decoder import Transformer, TransformerConfig
from lmcourse.models.inputs import IGNORED
from lmcourse.models.transformer import LayerConfig
from tests.models.broken import Broken
from tests.models.subject import Batch, Subject

VOCAB = 300


def build(norm_first: bool) -> Transformer:
    layer = LayerConfig(12, 3, 20, norm_first=norm_first)
    return Transformer(TransformerConfig(VOCAB, layer, 2, 32, label_smoothing=0.0))


def mask(batch: int, time: int) -> Tensor:
    lengths = torch.tensor([time, *torch.randint(1, time - 1, (batch - 1,)).tolist()])
    return (torch.arange(time) < lengths[:, None]).long()


def batch() -> Batch:
    seen, target_seen = mask(3, 7), mask(3, 5)
    return {
        "input_ids": torch.randint(VOCAB, (3, 7)),
        "attention_mask": seen,
        "decoder_input_ids": torch.randint(VOCAB, (3, 5)),
        "decoder_attention_mask": target_seen,
        "labels": torch.randint(VOCAB, (3, 5)).masked_fill(target_seen == 0, IGNORED),
    }


DROPOUTS = {
    "hidden_dropout_prob": 2 + 2 * (2 + 3),  # both embeddings, then each layer's sublayers
    "attention_probs_dropout_prob": 2 * (1 + 2),
    "activation_dropout_prob": 2 * (1 + 1),
}
SUBJECTS = tuple(
    subject
    for norm_first, name in ((False, "post-norm"), (True, "pre-norm"))
    for subject in (
        Subject(
            f"Transformer's source, {name}",
            partial(build, norm_first),
            batch,
            output="encoder_last_hidden_state",
            pooled=("logits", "loss"),
            attentions="encoder_attentions",
            hidden_states="encoder_hidden_states",
            dropouts=DROPOUTS,
        ),
        Subject(
            f"Transformer's target, {name}",
            partial(build, norm_first),
            batch,
            ids=("decoder_input_ids", "decoder_attention_mask"),
            mask="decoder_attention_mask",
            causal=True,
            output="logits",
            shift=0,
            chance=math.log(VOCAB),
            attentions="decoder_attentions",
            hidden_states="decoder_hidden_states",
            dropouts=DROPOUTS,
        ),
    )
)

LAYERS = ("Transformer encoder layer", "Transformer decoder layer")
Patch = AbstractContextManager[object]


def replaced(owner: Any, name: str, make: Any) -> Any:
    """Put in the place of a function what ``make`` makes of it."""
    return lambda: patch.object(owner, name, make(getattr(owner, name)))


def unscaled(attend: Any) -> Any:
    def wrong(*args: Any, **kwargs: Any) -> Any:
        return attend(*args, **{"scale": 1.0, **kwargs})

    return wrong


def scaled_by_width(attend: Any) -> Any:
    """1/√ of the whole width, where each head has but a part of it."""

    def wrong(query: Tensor, *args: Any, **kwargs: Any) -> Any:
        return attend(query, *args, scale=(query.shape[1] * query.shape[-1]) ** -0.5, **kwargs)

    return wrong


def swapped(attend: Any) -> Any:
    """Keys for values."""
    return lambda query, key, value, *args, **kwargs: attend(query, value, key, *args, **kwargs)


def late_mask(masked_softmax: Any) -> Any:
    """The mask after the softmax: what is left does not sum to one."""

    def wrong(scores: Tensor, visible: Tensor | None = None) -> Tensor:
        weights = scores.softmax(-1)
        return weights if visible is None else weights.masked_fill(~visible, 0.0)

    return wrong


def soft_mask(masked_softmax: Any) -> Any:
    """The scores multiplied by the mask: a score of 0 is no score of −∞."""
    return lambda scores, visible=None: (scores if visible is None else scores * visible).softmax(
        -1
    )


def nan_mask(masked_softmax: Any) -> Any:
    """−∞ everywhere in a row that may see nothing."""
    return lambda scores, visible=None: (
        scores if visible is None else scores.masked_fill(~visible, -math.inf)
    ).softmax(-1)


def over_queries(masked_softmax: Any) -> Any:
    """The softmax along the wrong axis."""

    def wrong(scores: Tensor, visible: Tensor | None = None) -> Tensor:
        if visible is not None:
            scores = scores.masked_fill(~visible, -1e30)
        return scores.softmax(-2)

    return wrong


def inverted(visible: Any) -> Any:
    def wrong(mask: Tensor | None, *args: Any, **kwargs: Any) -> Any:
        found = visible(mask, *args, **kwargs)
        return None if found is None else ~found

    return wrong


def ignored(visible: Any) -> Any:
    return lambda *args, **kwargs: None


def shifted_mask(by: int) -> Any:
    """A place sees one place too many, or one too few."""

    def make(causal_mask: Any) -> Any:
        return lambda query, key, like: torch.ones(query, key, dtype=torch.bool).tril(by)

    return make


def other_norm(module: Any) -> Patch:
    def pre_norm(self: Any, x: Tensor) -> Tensor:
        return x if self.norm_first else self.norm(x)

    def post_norm(self: Any, x: Tensor, change: Tensor) -> Tensor:
        x = x + self.dropout(change)
        return self.norm(x) if self.norm_first else x

    return patch.multiple(transformer.Residual, pre_norm=pre_norm, post_norm=post_norm)


def no_residual(after: Any) -> Any:
    return lambda self, x, change: after(self, torch.zeros_like(x), change)


def unsplit(split: Any) -> Any:
    """The width cut into heads without moving the axis: places are mixed with heads."""
    return lambda self, x: x.reshape(len(x), self.heads, x.shape[1], -1)


def always_dropping(forward: Any) -> Any:
    return lambda self, x: torch.nn.functional.dropout(x, self.p, training=True)


def undropped(function: Any) -> Any:
    """The same without the dropout in it."""

    def wrong(self: Any, *args: Any) -> Any:
        with patch.object(self.dropout, "p", 0.0):
            return function(self, *args)

    return wrong


def undropped_weights(attend: Any) -> Any:
    return lambda *args, dropout=0.0, **kwargs: attend(*args, **kwargs)


def one_late(sinusoids: Any) -> Any:
    """Positions that count from 1."""
    return lambda positions, width: sinusoids(positions + 1, width)[1:]


def half_and_half(sinusoids: Any) -> Any:
    """All sines, then all cosines: not the paper's order."""

    def wrong(positions: int, width: int) -> Tensor:
        table = sinusoids(positions, width)
        return torch.cat([table[:, ::2], table[:, 1::2]], 1)

    return wrong


def unshifted(shift_right: Any) -> Any:
    """The decoder reads the very token that it is to predict."""
    return lambda ids, labels, start, pad: labels.clamp(min=0)


def unscaled_embedding(embed: Any) -> Any:
    def wrong(self: Any, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        return self.dropout(x + encoder_decoder.sinusoids(*x.shape[1:]).to(x))

    return wrong


def averaged_first(label_loss: Any) -> Any:
    """The mean over all places, then the share of the labelled ones."""

    def wrong(logits: Tensor, labels: Tensor, label_smoothing: float = 0.0) -> Tensor:
        mean = torch.nn.functional.cross_entropy(
            logits.flatten(0, -2), labels.flatten().clamp(min=0), label_smoothing=label_smoothing
        )
        return mean * (labels != IGNORED).double().mean()

    return wrong


def all_places(label_loss: Any) -> Any:
    """Padding is a label like any other."""
    return lambda logits, labels, label_smoothing=0.0: label_loss(
        logits, labels.clamp(min=0), label_smoothing
    )


WHOLE = ("Transformer",)
SOURCE = ("Transformer's source, post-norm",)
ALL = ("multi-head attention", *LAYERS)
BROKEN = (
    Broken("scale missing", replaced(attention, "attend", unscaled), ALL),
    Broken("scale of the whole width", replaced(attention, "attend", scaled_by_width), ALL),
    Broken("keys and values swapped", replaced(attention, "attend", swapped), ALL),
    Broken("mask after the softmax", replaced(attention, "masked_softmax", late_mask), ALL),
    Broken(
        "mask multiplied onto the scores", replaced(attention, "masked_softmax", soft_mask), ALL
    ),
    Broken(
        "NaN where there is nothing to see",
        replaced(attention, "masked_softmax", nan_mask),
        subjects=("Transformer's source, post-norm",),
    ),
    Broken("softmax over the queries", replaced(attention, "masked_softmax", over_queries), ALL),
    Broken(
        "mask inverted",
        replaced(encoder_decoder, "visible", inverted),
        WHOLE,
        ("Transformer's source, post-norm",),
    ),
    Broken(
        "padding attended to",
        replaced(encoder_decoder, "visible", ignored),
        subjects=("Transformer's source, post-norm", "Transformer's source, pre-norm"),
    ),
    Broken("a place sees the next one", replaced(attention, "causal_mask", shifted_mask(1)), ALL),
    Broken(
        "a place does not see itself", replaced(attention, "causal_mask", shifted_mask(-1)), ALL
    ),
    Broken("pre-norm for post-norm, and back", lambda: other_norm(transformer), LAYERS),
    Broken("residual missing", replaced(transformer.Residual, "post_norm", no_residual), LAYERS),
    Broken(
        "heads split without moving the axis",
        replaced(attention.MultiHeadAttention, "split", unsplit),
        ALL,
    ),
    Broken(
        "dropout on in evaluation",
        replaced(torch.nn.Dropout, "forward", always_dropping),
        LAYERS,
        ("Transformer's source, post-norm",),
    ),
    Broken(
        "dropout of the attention's weights forgotten",
        replaced(attention, "attend", undropped_weights),
        subjects=SOURCE,
    ),
    Broken(
        "dropout of a sublayer forgotten",
        replaced(transformer.Residual, "post_norm", undropped),
        subjects=SOURCE,
    ),
    Broken(
        "dropout in the feed-forward network forgotten",
        replaced(transformer.FeedForward, "forward", undropped),
        subjects=SOURCE,
    ),
    Broken(
        "dropout of the embeddings forgotten",
        replaced(Transformer, "embed", undropped),
        subjects=SOURCE,
    ),
    Broken("positions off by one", replaced(encoder_decoder, "sinusoids", one_late), WHOLE),
    Broken(
        "sines first, then cosines", replaced(encoder_decoder, "sinusoids", half_and_half), WHOLE
    ),
    Broken(
        "labels not shifted",
        replaced(source_and_target, "shift_right", unshifted),
        (*WHOLE, "seq2seq with attention"),
    ),
    Broken("embedding not scaled", replaced(Transformer, "embed", unscaled_embedding), WHOLE),
    Broken(
        "loss averaged before it is weighted",
        replaced(encoder_decoder, "label_loss", averaged_first),
        WHOLE,
        ("Transformer's target, post-norm",),
    ),
    Broken(
        "padding counted in the loss",
        replaced(encoder_decoder, "label_loss", all_places),
        WHOLE,
        ("Transformer's target, post-norm",),
    ),
)
