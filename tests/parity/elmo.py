"""ELMo beside its equations in loops, and one layer of its biLM beside PyTorch's LSTM."""

from random import Random

import torch
from torch import nn

from lmcourse.models.bilm import BiLM, BiLMConfig
from lmcourse.models.char_cnn import CHARACTERS, CharacterCNNConfig
from lmcourse.models.elmo import ElmoConfig, ElmoForPreTraining
from lmcourse.models.inputs import IGNORED
from lmcourse.models.scalar_mix import ScalarMix
from tests.parity import slow_elmo as slow
from tests.parity.comparing import (
    Architecture,
    Comparison,
    gradient,
    gradients,
    padded_batch,
    probe,
    shaken,
)


def bilm_config(draw: Random, layers: int) -> BiLMConfig:
    """Clips are tight now and then, so that they bite."""
    return BiLMConfig(
        hidden_size=draw.randint(2, 7),
        projection_size=draw.randint(2, 5),
        num_hidden_layers=layers,
        cell_clip=draw.choice([None, 3.0, 0.2]),
        projection_clip=draw.choice([None, 3.0, 0.1]),
    )


def characters(draw: Random) -> CharacterCNNConfig:
    widths = draw.sample([1, 2, 3], draw.randint(1, 2))
    return CharacterCNNConfig(
        embedding_size=draw.randint(2, 4),
        filters=tuple((width, draw.randint(1, 3)) for width in widths),
        num_highway_layers=draw.randint(1, 2),
        max_characters=draw.randint(3, 5),
        activation=draw.choice(["relu", "tanh"]),
    )


def words(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    compare(draw, comparison, None)


def spelled(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    compare(draw, comparison, characters(draw))


def compare(draw: Random, comparison: Comparison, spelling: CharacterCNNConfig | None) -> None:
    """All layers, both predictions, the loss, a mixture, and every gradient."""
    layers = draw.randint(1, 3)
    config = ElmoConfig(draw.randint(5, 12), spelling, bilm_config(draw, layers))
    # Where all of a state's entries are clipped to the same number, there is no variance to norm.
    normalized = draw.random() < 0.5 and config.bilm.projection_clip != 0.1
    model = shaken(ElmoForPreTraining(config))
    mixture = shaken(ScalarMix(layers + 1, layer_norm=normalized))
    ids, mask = padded_batch(draw, config.vocab_size, 3, draw.randint(3, 6))
    labels = ids.masked_fill(torch.rand(ids.shape) < 0.2, IGNORED)
    if spelling is not None:
        ids = torch.randint(CHARACTERS, (*ids.shape, spelling.max_characters))
    result = model(ids, mask, labels, output_hidden_states=True)
    total = result.loss + 0.1 * probe(mixture(result.hidden_states)[mask.bool()])
    total.backward()

    weights = dict(model.named_parameters())
    copies = {name: w.detach().clone().requires_grad_() for name, w in weights.items()}
    w, gamma = (p.detach().clone().requires_grad_() for p in mixture.parameters())
    lengths = mask.sum(1).tolist()
    results = [
        slow.sequence(copies, row[:length].tolist(), config)
        for row, length in zip(ids, lengths, strict=True)
    ]
    targets = [
        [None if word == IGNORED else word for word in row[:length].tolist()]
        for row, length in zip(labels, lengths, strict=True)
    ]
    loss = slow.loss(results, targets)
    mixed = torch.cat([slow.mix(w, gamma, one.layers, normalized) for one in results])
    (loss + 0.1 * probe(mixed)).backward()

    real = mask.bool()
    for number, states in enumerate(result.hidden_states):
        theirs = torch.cat([one.layers[number] for one in results])
        comparison.add("outputs", states[real], theirs, name=f"layer {number}")
    forward = torch.cat([one.forward for one in results])
    backward = torch.cat([one.backward for one in results])
    comparison.add("outputs", result.forward_logits[real], forward, name="forward")
    comparison.add("outputs", result.backward_logits[real], backward, name="backward")
    comparison.add("outputs", mixture(result.hidden_states)[real], mixed, name="mixture")
    comparison.add("loss", result.loss, loss)
    comparison.add_gradients(model, {name: gradient(copy) for name, copy in copies.items()})
    comparison.add_gradients(mixture, {"weights": gradient(w), "gamma": gradient(gamma)})


def one_layer(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    """Without clips and dropout, one layer is PyTorch's LSTM in two directions, projected."""
    width = draw.randint(1, 4)
    config = BiLMConfig(width + draw.randint(1, 4), width, 1, 0.0, None, None)
    ours, (batch, time) = shaken(BiLM(config)), (draw.randint(2, 4), draw.randint(2, 7))
    reference = nn.LSTM(
        width, config.hidden_size, proj_size=width, bidirectional=True, batch_first=True
    )
    names = {"U": "weight_ih", "W": "weight_hh", "P": "weight_hr", "b": "bias_ih"}
    pairs = {
        f"{direction}_direction.layers.0.{own}": f"{name}_l0{ending}"
        for direction, ending in (("forward", ""), ("backward", "_reverse"))
        for own, name in names.items()
    }
    weights, theirs = dict(ours.named_parameters()), dict(reference.named_parameters())
    with torch.no_grad():
        for own, name in pairs.items():
            theirs[name].copy_(weights[own])
            if "bias" in name:
                theirs[name.replace("ih", "hh")].zero_()  # they keep two biases, and add them
    x, mask = torch.randn(batch, time, width), padded_batch(draw, 2, batch, time)[1]
    packed = nn.utils.rnn.pack_padded_sequence(
        x, mask.sum(1), batch_first=True, enforce_sorted=False
    )
    found, _ = nn.utils.rnn.pad_packed_sequence(reference(packed)[0], batch_first=True)
    forward, backward = ours(x, mask.sum(1))
    own_found = torch.cat([forward[0], backward[0]], -1)
    comparison.add("outputs", own_found, found, mask)
    probe(found).backward()
    probe(own_found).backward()
    by_name = gradients(reference)
    comparison.add_gradients(ours, {own: by_name[name] for own, name in pairs.items()})


ARCHITECTURES = (
    Architecture("ELMo over words", "the papers' equations, in loops", words),
    Architecture("ELMo over characters", "the papers' equations, in loops", spelled),
    Architecture("ELMo's biLM, one layer", "torch.nn.LSTM(bidirectional, proj_size)", one_layer),
)
