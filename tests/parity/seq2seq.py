"""Seq2seq beside its equations: one sentence, one step, one score at a time, without padding."""

from collections.abc import Mapping
from copy import deepcopy
from random import Random
from typing import cast

import torch
from torch import Tensor

from lmcourse.models.inputs import IGNORED
from lmcourse.models.seq2seq import Score, Seq2Seq, Seq2SeqConfig
from tests.parity.comparing import (
    Architecture,
    Comparison,
    gradients,
    padded_batch,
    shaken,
)

Weights = Mapping[str, Tensor]
State = tuple[Tensor, Tensor]


def lstm(w: Weights, name: str, inputs: list[Tensor], state: State) -> tuple[list[Tensor], State]:
    """The LSTM's equations for one sentence, each gate with its own rows of the matrices."""
    h, c = state
    n, outputs = len(c), []
    for x in inputs:
        rows = w[f"{name}.U"] @ x + w[f"{name}.W"] @ h + w[f"{name}.b"]
        into, keep, new, out = (rows[k * n : (k + 1) * n] for k in range(4))
        c = keep.sigmoid() * c + into.sigmoid() * new.tanh()
        h = out.sigmoid() * c.tanh()
        outputs.append(h)
    return outputs, (h, c)


def encoder(w: Weights, config: Seq2SeqConfig, x: list[Tensor]) -> tuple[list[Tensor], list[State]]:
    """The states of the last layer, and each layer's end."""
    ends = []
    for layer in range(config.num_layers):
        name = f"encoder.layers.{layer}"
        if config.bidirectional:
            zero = torch.zeros(config.hidden_size // 2)
            forth, end = lstm(w, f"{name}.forward_layer", x, (zero, zero))
            back, start = lstm(w, f"{name}.backward_layer", x[::-1], (zero, zero))
            x = [torch.cat(pair) for pair in zip(forth, back[::-1], strict=True)]
            ends.append((torch.cat([end[0], start[0]]), torch.cat([end[1], start[1]])))
        else:
            zero = torch.zeros(config.hidden_size)
            x, end = lstm(w, name, x, (zero, zero))
            ends.append(end)
    return x, ends


def score(w: Weights, kind: Score, h: Tensor, state: Tensor) -> Tensor:
    if kind == "dot":
        return (h * state).sum()
    if kind == "general":
        return h @ w["attention.W"] @ state
    hidden = (w["attention.W"] @ h + w["attention.U"] @ state).tanh()
    return w["attention.v"] @ hidden


def sentence(
    w: Weights, config: Seq2SeqConfig, source: Tensor, target: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The source's states, the logits for each place of the target, and where it looked."""
    states, ends = encoder(w, config, [w["embedding.weight"][i] for i in source.tolist()])
    x = [w["embedding.weight"][i] for i in target.tolist()]
    for layer, end in enumerate(ends):
        x, _ = lstm(w, f"decoder.layers.{layer}", x, end)
    logits, where = [], []
    for h in x:
        top = h
        if config.attention != "none":
            powers = [score(w, config.attention, h, state).exp() for state in states]
            weights = [power / torch.stack(powers).sum() for power in powers]
            found = torch.stack([a * s for a, s in zip(weights, states, strict=True)]).sum(0)
            top = (w["combine.weight"] @ torch.cat([found, h])).tanh()
            where.append(torch.stack(weights))
        logits.append(w["output.weight"] @ top)
    looked = torch.stack(where) if where else torch.zeros(0)
    return torch.stack(states), torch.stack(logits), looked


def compare(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    config = Seq2SeqConfig(
        vocab_size=draw.randint(5, 12),
        embedding_size=draw.randint(2, 5),
        hidden_size=2 * draw.randint(1, 3),
        num_layers=draw.randint(1, 2),
        bidirectional=draw.random() < 0.5,
        attention=cast(Score, draw.choice(["dot", "general", "additive", "none"])),
    )
    ours = shaken(Seq2Seq(config))
    reference = deepcopy(ours)
    w = dict(reference.named_parameters())
    batch = draw.randint(2, 4)
    source, seen = padded_batch(draw, config.vocab_size, batch, draw.randint(3, 7))
    labels, real = padded_batch(draw, config.vocab_size, batch, draw.randint(2, 6))
    labels = labels.masked_fill(real == 0, IGNORED)
    result = ours(source, seen, labels=labels, output_attentions=True)
    result.loss.backward()
    losses = []
    for row in range(batch):
        length, source_length = int(real[row].sum()), int(seen[row].sum())
        target = labels[row, :length]
        read = torch.tensor([config.decoder_start_token_id, *target.tolist()[:-1]])
        states, logits, looked = sentence(w, config, source[row, :source_length], read)
        ours_states = result.encoder_last_hidden_state[row]
        comparison.add("outputs", ours_states[:source_length], states)
        comparison.add("outputs", ours_states[source_length:].sum(), torch.zeros(()))
        comparison.add("outputs", result.logits[row, :length], logits)
        if config.attention != "none":
            alpha = result.cross_attentions[0][row, 0, :length]
            comparison.add("attentions", alpha[:, :source_length], looked)
            comparison.add("attentions", alpha[:, source_length:].sum(), torch.zeros(()))
        losses += list(-logits.log_softmax(-1)[torch.arange(length), target])
    loss = torch.stack(losses).mean()
    comparison.add("loss", result.loss, loss)
    loss.backward()
    comparison.add_gradients(ours, gradients(reference))


ARCHITECTURES = (Architecture("seq2seq with attention", "the equations, step by step", compare),)
