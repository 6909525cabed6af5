"""Recurrent layers and stacks beside `torch.nn`'s, and the language model beside their composition.

PyTorch reads sequences of different lengths as packed sequences, ours as padded ones. Both of our
ways are compared: the loop over the steps, and the kernel.
"""

import warnings
from functools import partial
from random import Random
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from lmcourse.models.conversion.recurrent import RecurrentNaming
from lmcourse.models.gru import GRU
from lmcourse.models.inputs import IGNORED
from lmcourse.models.lstm import LSTM
from lmcourse.models.recurrent import Recurrent
from lmcourse.models.rnn import RNN
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from tests.parity.comparing import (
    Architecture,
    Comparison,
    gradients,
    padded_batch,
    probe,
    shaken,
)

Layer = RNN | LSTM | GRU | Recurrent
THEIRS: dict[str, Any] = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}


def settings(draw: Random, cell: str, projected: bool) -> dict[str, Any]:
    """Arguments of a network of `torch.nn` with one layer."""
    hidden = draw.randint(2 if projected else 1, 9)
    found: dict[str, Any] = {
        "input_size": draw.randint(1, 7),
        "hidden_size": hidden,
        "bias": draw.random() < 0.7,
        "batch_first": draw.random() < 0.5,
    }
    if cell == "rnn":
        found["nonlinearity"] = draw.choice(["tanh", "relu"])
    if projected:
        found["proj_size"] = draw.randint(1, hidden - 1)
    return found


def layer(
    cell: str,
    ours: type[RNN] | type[LSTM] | type[GRU],
    draw: Random,
    dtype: torch.dtype,
    comparison: Comparison,
    *,
    projected: bool = False,
) -> None:
    """One layer in one direction."""
    reference = shaken(THEIRS[cell](**settings(draw, cell, projected)))
    compare(comparison, draw, reference, ours.from_torch(reference), RecurrentNaming())


def stack(
    cell: str, projected: bool, draw: Random, dtype: torch.dtype, comparison: Comparison
) -> None:
    """Several layers, mostly in both directions."""
    options = settings(draw, cell, projected) | {
        "num_layers": (layers := draw.randint(1, 3)),
        "bidirectional": draw.random() < 0.7,
        "dropout": draw.choice([0.0, 0.4]) if layers > 1 else 0.0,
    }
    reference = shaken(THEIRS[cell](**options))
    ours = Recurrent.from_torch(reference)
    compare(comparison, draw, reference, ours, RecurrentNaming(stacked=True))


def compare(
    comparison: Comparison,
    draw: Random,
    reference: nn.RNNBase,
    ours: Layer,
    naming: RecurrentNaming,
) -> None:
    """Outputs, last states and all gradients, with and without padding and a first state."""
    batch, time = draw.randint(1, 5), draw.randint(1, 8)
    for padded, with_state in ((False, True), (True, True), (True, False)):
        lengths = padded_batch(draw, 2, batch, time)[1].sum(1) if padded else None
        inputs = torch.randn(batch, time, reference.input_size, requires_grad=True)
        state = first_state(reference, batch) if with_state else ()
        leaves = [inputs, *state]
        expected = read_theirs(reference, inputs, state, lengths)
        wanted, to_leaves = backward(reference, expected, leaves)
        wanted = naming.to_ours(wanted, gradients=True)
        for fused in (True, False):
            found = read_ours(ours, inputs, state, lengths, fused)
            mine, own_leaves = backward(ours, found, leaves)
            way = "kernel" if fused else "loop"
            comparison.add("outputs", found, expected, name=way)
            comparison.add("gradients", own_leaves, to_leaves, name=f"{way}: input and state")
            for name in mine.keys() | wanted.keys():
                if reference.bias or name.split(".")[-1] not in ("b", "b_n"):
                    comparison.add("gradients", mine[name], wanted[name], name=f"{way}: {name}")
    comparison.add_round_trip(ours, type(ours).from_torch(ours.to_torch()))


def first_state(reference: nn.RNNBase, batch: int) -> tuple[Tensor, ...]:
    """h_0, and c_0 of an LSTM, as PyTorch stacks them."""
    count = reference.num_layers * (2 if reference.bidirectional else 1)
    widths = [reference.proj_size or reference.hidden_size]
    widths += [reference.hidden_size] if isinstance(reference, nn.LSTM) else []
    return tuple(torch.randn(count, batch, width, requires_grad=True) for width in widths)


def read_theirs(
    reference: nn.RNNBase, inputs: Tensor, state: tuple[Tensor, ...], lengths: Tensor | None
) -> list[Tensor]:
    """The outputs, (batch, time, width), and the last states, of the reference."""
    first = reference.batch_first
    given: Any = inputs if first else inputs.transpose(0, 1)
    if lengths is not None:
        given = pack_padded_sequence(given, lengths, first, enforce_sorted=False)
    start: Any = state if len(state) == 2 else state[0] if state else None
    with warnings.catch_warnings():  # that oneDNN, which computes it on some CPUs, has none
        warnings.filterwarnings("ignore", "LSTM with projections")
        outputs, last = reference(given, start)
    if lengths is not None:
        outputs, _ = pad_packed_sequence(outputs, first)
    outputs = outputs if first else outputs.transpose(0, 1)
    return [outputs, *last] if isinstance(last, tuple) else [outputs, last]


def read_ours(
    ours: Layer, inputs: Tensor, state: tuple[Tensor, ...], lengths: Tensor | None, fused: bool
) -> list[Tensor]:
    """The same of ours. One layer's state has no axis for layers; here it gets one."""
    one = not isinstance(ours, Recurrent)
    parts = [part[0] for part in state] if one else list(state)
    start: Any = tuple(parts) if len(parts) == 2 else parts[0] if parts else None
    outputs, last = ours(inputs, start, lengths, fused=fused)
    ends = last if isinstance(last, tuple) else (last,)
    return [outputs, *(part[None] if one else part for part in ends)]


def backward(
    module: nn.Module, outputs: list[Tensor], leaves: list[Tensor]
) -> tuple[dict[str, Tensor], list[Tensor]]:
    """The gradients of every parameter and of the leaves, from the same probe of the outputs."""
    module.zero_grad()
    for leaf in leaves:
        leaf.grad = None
    probe(*outputs).backward()
    return gradients(module), [torch.zeros_like(x) if x.grad is None else x.grad for x in leaves]


def clipped(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    """An LSTM that clips, as `torch.nn` has none, beside its equations: one sequence at a time."""
    size, hidden = draw.randint(1, 5), draw.randint(2, 7)
    projection = draw.choice([0, draw.randint(1, hidden)])
    clip, projection_clip = draw.uniform(0.05, 0.4), draw.uniform(0.02, 0.2)
    ours = shaken(LSTM(size, hidden, projection, clip, projection_clip if projection else None))
    weights = {
        name: tensor.detach().clone().requires_grad_() for name, tensor in ours.named_parameters()
    }
    batch, time = draw.randint(2, 4), draw.randint(3, 8)
    lengths = padded_batch(draw, 2, batch, time)[1].sum(1)
    inputs = torch.randn(batch, time, size, requires_grad=True)
    h0, c0 = (torch.randn(batch, w, requires_grad=True) for w in (projection or hidden, hidden))
    rows = [
        by_the_equations(weights, x[:length], h, c, clip, projection_clip)
        for x, length, h, c in zip(inputs, lengths, h0, c0, strict=True)
    ]
    states, h, c = zip(*rows, strict=True)
    expected = [pad_sequence(list(states), batch_first=True), torch.stack(h), torch.stack(c)]
    probe(*expected).backward()
    wanted = [leaf.grad.clone() for leaf in (inputs, h0, c0) if leaf.grad is not None]
    outputs, last = ours(inputs, (h0, c0), lengths)
    _, mine = backward(ours, [outputs, *last], [inputs, h0, c0])
    comparison.add("outputs", [outputs, *last], expected)
    comparison.add("gradients", mine, wanted, name="input and state")
    comparison.add_gradients(
        ours, {name: cast(Tensor, weight.grad) for name, weight in weights.items()}
    )


def by_the_equations(
    weights: dict[str, Tensor], x: Tensor, h: Tensor, c: Tensor, clip: float, projection_clip: float
) -> tuple[Tensor, Tensor, Tensor]:
    """h_1 … h_T, h_T and c_T of one sequence, gate by gate."""
    U, W, b = (dict(zip("ifgo", weights[name].chunk(4), strict=True)) for name in "UWb")
    states = []
    for x_t in x:
        a = {gate: U[gate] @ x_t + W[gate] @ h + b[gate] for gate in "ifgo"}
        i, f, o = (1 / (1 + torch.exp(-a[gate])) for gate in "ifo")
        c = torch.clip(f * c + i * torch.tanh(a["g"]), -clip, clip)
        h = o * torch.tanh(c)
        if "P" in weights:
            h = torch.clip(weights["P"] @ h, -projection_clip, projection_clip)
        states.append(h)
    return torch.stack(states), h, c


def language_model(cell: str, draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    """Embedding, recurrence and read-out, padded, with labels of which some do not count."""
    vocab, embedding, hidden = draw.randint(5, 30), draw.randint(2, 8), draw.randint(2, 9)
    layers, nonlinearity = draw.randint(1, 3), draw.choice(["tanh", "relu"])
    options = {"nonlinearity": nonlinearity} if cell == "rnn" else {}
    reference: Any = shaken(
        nn.ModuleDict(
            {
                "embedding": nn.Embedding(vocab, embedding),
                "rnn": THEIRS[cell](embedding, hidden, layers, batch_first=True, **options),
                "output": nn.Linear(hidden, vocab),
            }
        )
    )
    config: Any = (vocab, embedding, hidden, cell, layers, 0.3, nonlinearity)
    ours = RNNLanguageModel(RNNConfig(*config)).eval()
    ours.load_state_dict(_renamed(reference.state_dict()))
    ids, mask = padded_batch(draw, vocab, draw.randint(2, 4), draw.randint(3, 8))
    labels = torch.randint(vocab, ids.shape)
    labels[(mask == 0) | (torch.rand(ids.shape) < 0.3)] = IGNORED
    labels[0, 0] = 1
    state = first_state(reference["rnn"], len(ids))
    embedded = reference["embedding"](ids)
    hidden_states, *last = read_theirs(reference["rnn"], embedded, state, mask.sum(1))
    logits = reference["output"](hidden_states)
    loss = functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)
    wanted, to_state = backward(reference, [loss, *last], [*state])
    start: Any = state if len(state) == 2 else state[0]
    for fused in (True, False):
        result = ours(ids, mask, labels, start, fused=fused)
        ends = result.state if isinstance(result.state, tuple) else (result.state,)
        comparison.add("loss", result.loss, loss)
        comparison.add("outputs", result.logits, logits, name="logits")
        comparison.add("outputs", result.last_hidden_state, hidden_states, name="hidden state")
        comparison.add("outputs", ends, last, name="state")
        _, own_state = backward(ours, [result.loss, *ends], [*state])
        comparison.add("gradients", own_state, to_state, name="state")
        comparison.add_gradients(ours, _renamed(wanted, gradients=True))


def _renamed(theirs: dict[str, Tensor], gradients: bool = False) -> dict[str, Tensor]:
    """The composition's tensors under our model's names."""
    inner = {name[4:]: tensor for name, tensor in theirs.items() if name.startswith("rnn.")}
    renamed = RecurrentNaming(stacked=True).to_ours(inner, gradients=gradients)
    outer = {name: tensor for name, tensor in theirs.items() if not name.startswith("rnn.")}
    return outer | {f"rnn.{name}": tensor for name, tensor in renamed.items()}


ARCHITECTURES = (
    Architecture("RNN", "torch.nn.RNN", partial(layer, "rnn", RNN)),
    Architecture("LSTM", "torch.nn.LSTM", partial(layer, "lstm", LSTM)),
    Architecture("LSTM, projected", "torch.nn.LSTM", partial(layer, "lstm", LSTM, projected=True)),
    Architecture("LSTM, clipped", "its equations", clipped),
    Architecture("GRU", "torch.nn.GRU", partial(layer, "gru", GRU)),
    *(
        Architecture(
            f"stacked {cell.upper()}{', projected' if projected else ''}",
            f"torch.nn.{cell.upper()}",
            partial(stack, cell, projected),
        )
        for cell, projected in (("rnn", False), ("lstm", False), ("lstm", True), ("gru", False))
    ),
    *(
        Architecture(
            f"{cell.upper()} language model", "torch.nn, composed", partial(language_model, cell)
        )
        for cell in ("rnn", "lstm", "gru")
    ),
)
