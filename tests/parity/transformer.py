"""The Transformer's parts beside `torch.nn`'s."""

from random import Random
from typing import Any, cast

import torch
from torch import Tensor, nn

from lmcourse.models import inputs
from lmcourse.models.attention import MultiHeadAttention
from lmcourse.models.conversion.transformer import DECODER, ENCODER
from lmcourse.models.encoder_decoder import Transformer, TransformerConfig
from lmcourse.models.inputs import IGNORED
from lmcourse.models.transformer import DecoderLayer, EncoderLayer, LayerConfig
from tests.parity.comparing import (
    Architecture,
    Comparison,
    gradients,
    padded_batch,
    probe,
    shaken,
)
from tests.parity.from_torch import from_torch


def sizes(draw: Random) -> tuple[int, int, int, int]:
    """Width, heads, batch and length."""
    heads = draw.choice([1, 2, 3, 4])
    return heads * draw.choice([2, 4, 5]), heads, draw.randint(2, 4), draw.randint(3, 9)


def layer_settings(draw: Random, width: int, heads: int) -> dict[str, Any]:
    return {
        "d_model": width,
        "nhead": heads,
        "dim_feedforward": draw.choice([3, 7, 4 * width]),
        "dropout": 0.1,
        "activation": draw.choice(["relu", "gelu"]),
        "layer_norm_eps": draw.choice([1e-5, 1e-12]),
        "batch_first": True,
        "norm_first": draw.random() < 0.5,
    }


def embedded(batch: int, time: int, width: int) -> Tensor:
    return torch.randn(batch, time, width, requires_grad=True)


def attention(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    width, heads, batch, time = sizes(draw)
    reference = shaken(nn.MultiheadAttention(width, heads, dropout=0.1, batch_first=True))
    ours = from_torch(MultiHeadAttention, reference)
    hidden, context = embedded(batch, time, width), embedded(batch, draw.randint(2, 9), width)
    mask = padded_batch(draw, 2, batch, context.shape[1])[1]
    causal = draw.random() < 0.5
    theirs, weights = reference(
        hidden,
        context,
        context,
        key_padding_mask=mask == 0,
        attn_mask=torch.ones(time, context.shape[1]).triu(1).bool() if causal else None,
        average_attn_weights=False,
    )
    seen = inputs.visible(mask, batch, time, context.shape[1])
    found, own_weights = ours(hidden, context, seen, causal=causal, need_weights=True)
    fused, _ = ours(hidden, context, seen, causal=causal)
    comparison.add("outputs", [found, fused], [theirs, theirs])
    comparison.add("attentions", own_weights, weights)
    compare_gradients(comparison, ours, reference, fused, theirs, [hidden, context])
    comparison.add_round_trip(ours, from_torch(MultiHeadAttention, ours.to_torch()))


def encoder_layer(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    width, heads, batch, time = sizes(draw)
    reference = shaken(nn.TransformerEncoderLayer(**layer_settings(draw, width, heads)))
    ours = from_torch(EncoderLayer, reference)
    x, mask = embedded(batch, time, width), padded_batch(draw, 2, batch, time)[1]
    theirs = reference(x, src_key_padding_mask=mask == 0)
    seen = inputs.visible(mask, batch, time, time)
    fused = ours(x, seen)[0]
    comparison.add("outputs", [fused, ours(x, seen, need_weights=True)[0]], [theirs, theirs])
    compare_gradients(comparison, ours, reference, fused, theirs, [x])
    comparison.add_round_trip(ours, from_torch(EncoderLayer, ours.to_torch()))


def decoder_layer(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    width, heads, batch, time = sizes(draw)
    reference = shaken(nn.TransformerDecoderLayer(**layer_settings(draw, width, heads)))
    ours = from_torch(DecoderLayer, reference)
    x, context = embedded(batch, time, width), embedded(batch, draw.randint(2, 9), width)
    mask = padded_batch(draw, 2, batch, time)[1]
    context_mask = padded_batch(draw, 2, batch, context.shape[1])[1]
    theirs = reference(
        x,
        context,
        tgt_mask=torch.ones(time, time).triu(1).bool(),
        tgt_key_padding_mask=mask == 0,
        memory_key_padding_mask=context_mask == 0,
    )
    seen = inputs.visible(mask, batch, time, time)
    context_seen = inputs.visible(context_mask, batch, time, context.shape[1])
    fused = ours(x, context, seen, context_seen)[0]
    readable = ours(x, context, seen, context_seen, need_weights=True)[0]
    comparison.add("outputs", [fused, readable], [theirs, theirs])
    compare_gradients(comparison, ours, reference, fused, theirs, [x, context])
    comparison.add_round_trip(ours, from_torch(DecoderLayer, ours.to_torch()))


def compare_gradients(
    comparison: Comparison,
    ours: nn.Module,
    reference: nn.Module,
    output: Tensor,
    reference_output: Tensor,
    leaves: list[Tensor],
) -> None:
    """The gradient of every parameter and of every input, from the same probe of both outputs."""
    probe(reference_output).backward()
    theirs = [cast(Tensor, leaf.grad) for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    probe(output).backward()
    own = [cast(Tensor, leaf.grad) for leaf in leaves]
    comparison.add("gradients", own, theirs, name="input")
    comparison.add_gradients(ours, ours.torch_layer.renaming.to_ours(gradients(reference)))


class TorchTransformer(nn.Module):
    """The same whole model from `torch.nn`'s stacks, with its own embedding and positions."""

    def __init__(self, ours: Transformer) -> None:
        super().__init__()
        self.width = ours.config.layer.hidden_size
        self.embedding = nn.Embedding.from_pretrained(ours.embedding.weight.clone(), freeze=False)
        self.encoder = ours.encoder.to_torch()
        self.decoder = ours.decoder.to_torch()

    def embed(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids) * self.width**0.5
        for place in range(ids.shape[1]):
            for i in range(self.width):
                angle = torch.tensor(place / 10_000 ** ((i - i % 2) / self.width))
                x[:, place, i] += angle.cos() if i % 2 else angle.sin()
        return x

    def forward(self, source: Tensor, mask: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """The logits and the encoder's states."""
        encoded = self.encoder(self.embed(source), src_key_padding_mask=mask == 0)
        time = target.shape[1]
        decoded = self.decoder(
            self.embed(target),
            encoded,
            tgt_mask=torch.ones(time, time).triu(1).bool(),
            memory_key_padding_mask=mask == 0,
        )
        return decoded @ self.embedding.weight.T, encoded


def whole_transformer(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    width, heads, batch, time = sizes(draw)
    settings = layer_settings(draw, width, heads)
    config = TransformerConfig(
        vocab_size=draw.randint(5, 20),
        layer=LayerConfig(
            hidden_size=width,
            num_attention_heads=heads,
            intermediate_size=settings["dim_feedforward"],
            hidden_act=settings["activation"],
            norm_first=settings["norm_first"],
        ),
        num_hidden_layers=draw.randint(1, 3),
        max_position_embeddings=16,
        label_smoothing=draw.choice([0.0, 0.1]),
    )
    ours = shaken(Transformer(config))
    reference = TorchTransformer(ours).eval()
    source, mask = padded_batch(draw, config.vocab_size, batch, time)
    labels, real = padded_batch(draw, config.vocab_size, batch, draw.randint(2, 8))
    start = torch.full((batch, 1), config.decoder_start_token_id)
    target = torch.cat([start, labels.where(real.bool(), 0)[:, :-1]], 1)
    labels = labels.masked_fill(real == 0, IGNORED)
    logits, encoded = reference(source, mask, target)
    result = ours(source, mask, labels=labels)
    loss = nn.CrossEntropyLoss(label_smoothing=config.label_smoothing)(logits.mT, labels)
    comparison.add("outputs", result.logits, logits)
    comparison.add("outputs", result.encoder_last_hidden_state, encoded)
    comparison.add("loss", result.loss, loss)
    loss.backward()
    result.loss.backward()
    theirs = {"embedding.weight": cast(Tensor, reference.embedding.weight.grad)}
    for name, rules in (("encoder", ENCODER), ("decoder", DECODER)):
        theirs |= rules.under(f"{name}.", "").to_ours(gradients(getattr(reference, name)))
    for stack in (ours.encoder, ours.decoder):
        comparison.add_round_trip(stack, from_torch(type(stack), stack.to_torch()))
    comparison.add_gradients(ours, theirs)


ARCHITECTURES = (
    Architecture("multi-head attention", "torch.nn.MultiheadAttention", attention),
    Architecture("Transformer encoder layer", "torch.nn.TransformerEncoderLayer", encoder_layer),
    Architecture("Transformer decoder layer", "torch.nn.TransformerDecoderLayer", decoder_layer),
    Architecture("Transformer", "torch.nn.TransformerEncoder, …Decoder", whole_transformer),
)
