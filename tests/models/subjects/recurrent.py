"""Recurrent language models, and what is wrongly done in recurrent networks."""

import math
from functools import partial
from typing import Any, cast
from unittest.mock import patch

import torch
from torch import Tensor

from lmcourse.models import gru, lstm, recurrent, rnn, rnn_lm
from lmcourse.models.conversion import recurrent as conversion
from lmcourse.models.gru import GRU
from lmcourse.models.inputs import IGNORED
from lmcourse.models.lstm import LSTM
from lmcourse.models.recurrent import Bidirectional, Cell, Recurrent
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from tests.models.broken import Broken
from tests.models.subject import Batch, Subject
from tests.models.subjects.transformer import mask, replaced

VOCAB = 60


def build(cell: Cell, num_layers: int) -> RNNLanguageModel:
    return RNNLanguageModel(RNNConfig(VOCAB, 6, 9, cell, num_layers, dropout=0.2))


def batch() -> Batch:
    seen = mask(3, 7)
    labels = torch.randint(VOCAB, (3, 7)).masked_fill(seen == 0, IGNORED)
    labels[0, 3] = IGNORED
    return {"input_ids": torch.randint(VOCAB, (3, 7)), "attention_mask": seen, "labels": labels}


SUBJECTS = tuple(
    Subject(
        f"{cell.upper()} language model{name}",
        partial(build, cell, layers),
        batch,
        causal=True,
        pooled=() if cell == "lstm" else ("state",),
        shift=0,
        chance=math.log(VOCAB),
        options=options,
        dropouts={"dropout": layers + 1},  # below each layer, and above the last
    )
    for cell in cast(tuple[Cell, ...], ("rnn", "lstm", "gru"))
    for layers, options, name in ((2, {}, ""), (1, {"fused": False}, ", step by step"))
)


def lstm_step(
    order: str = "ifgo", kept: str = "f", taken: str = "i", out: str = "o", swapped: bool = False
) -> Any:
    """An LSTM's step with its gates in another order, or with one in another's place."""

    def step(
        self: LSTM, projected_t: Tensor, state: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, Tensor]:
        h, c = reversed(state) if swapped else state
        gates = dict(zip(order, (projected_t + h @ self.W.T).chunk(4, -1), strict=True))
        opened = {name: gate.sigmoid() for name, gate in gates.items()} | {"": torch.ones(())}
        c = opened[kept] * c + opened[taken] * gates["g"].tanh()
        h = opened[out] * c.tanh()
        return h, c

    return lambda: patch.object(LSTM, "step", step)


def gru_step(before: bool = False, turned: bool = False, outside: bool = False) -> Any:
    """A GRU's step with one thing in another place."""

    def step(self: GRU, projected_t: Tensor, state: tuple[Tensor]) -> tuple[Tensor]:
        (h,) = state
        W_r, W_z, W_n = self.W.chunk(3)
        r_x, z_x, n_x = projected_t.chunk(3, -1)
        r, z = (r_x + h @ W_r.T).sigmoid(), (z_x + h @ W_z.T).sigmoid()
        if before:
            n = torch.tanh(n_x + (r * h) @ W_n.T + self.b_n)
        elif outside:
            n = torch.tanh(n_x + r * (h @ W_n.T) + self.b_n)
        else:
            n = torch.tanh(n_x + r * (h @ W_n.T + self.b_n))
        return (z * n + (1 - z) * h if turned else (1 - z) * n + z * h,)

    return lambda: patch.object(GRU, "step", step)


def unbiased(run_kernel: Any) -> Any:
    def wrong(
        kernel: Any, inputs: Tensor, state: Any, weights: list[Tensor], lengths: Any = None
    ) -> Any:
        U, W, b, *rest = weights
        return run_kernel(kernel, inputs, state, [U, W, 0 * b, *rest], lengths)

    return wrong


def to_the_end(run_kernel: Any) -> Any:
    """The kernel reads the padding, too."""
    return lambda kernel, inputs, state, weights, lengths=None: run_kernel(
        kernel, inputs, state, weights
    )


def running_on(unroll: Any) -> Any:
    """The loop reads the padding, too."""
    return lambda step, projected, state, lengths=None, boundary=None: unroll(
        step, projected, state
    )


def forgetful(unroll: Any) -> Any:
    """Each step starts from the first state."""

    def wrong(step: Any, projected: Tensor, state: Any, *_: Any) -> Any:
        new = [step(projected_t, state) for projected_t in projected.unbind(1)]
        return torch.stack([parts[0] for parts in new], 1), new[-1]

    return wrong


def cut(unroll: Any) -> Any:
    """The gradient does not cross a step."""

    def wrong(step: Any, projected: Tensor, state: Any, *rest: Any) -> Any:
        def short(projected_t: Tensor, before: Any) -> Any:
            return step(projected_t, tuple(part.detach() for part in before))

        return unroll(short, projected, state, *rest)

    return wrong


def from_zero(check_inputs: Any) -> Any:
    """The first state that is given is not taken."""
    return lambda name, x, size, state, widths, lengths: check_inputs(
        name, x, size, None, widths, lengths
    )


def flipped(reverse: Any) -> Any:
    """The backward direction starts in the padding."""
    return lambda x, lengths=None: x.flip(1)


def not_turned_back(self: Any, x: Tensor, state: Any, lengths: Any, *_: Any, **options: Any) -> Any:
    """The backward direction's outputs stay in the order in which it read."""
    forth, first = self.forward_layer(x, state[0], lengths, **options)
    turned = recurrent.reverse(x, lengths)
    back, second = self.backward_layer(turned, state[1], lengths, **options)
    return torch.cat([forth, back], -1), (first, second)


def directions_first(split: Any) -> Any:
    """The states of all forward directions, then of all backward ones."""

    def wrong(self: Recurrent, inputs: Tensor, state: Any) -> Any:
        if state is not None and self.bidirectional:
            parts = state if isinstance(state, tuple) else (state,)
            sorted_ = [part.unflatten(0, (2, -1)).transpose(0, 1).flatten(0, 1) for part in parts]
            state = tuple(sorted_) if isinstance(state, tuple) else sorted_[0]
        return split(self, inputs, state)

    return wrong


def one_bias(to_ours: Any) -> Any:
    """The reference's second bias is lost on the way."""

    def wrong(theirs: dict[str, Tensor], gradients: bool) -> Any:
        return to_ours({name: t for name, t in theirs.items() if name != "bias_hh"}, gradients)

    return wrong


def shifted_again(label_loss: Any) -> Any:
    """Labels that are shifted already are shifted once more."""
    return lambda logits, labels: label_loss(logits[:, :-1], labels[:, 1:])


def counted_padding(lengths_from_mask: Any) -> Any:
    def wrong(attention_mask: Tensor | None, input_ids: Tensor) -> Any:
        real = lengths_from_mask(attention_mask, input_ids)
        return None if real is None else input_ids.shape[1] - real

    return wrong


def unclipped(name: str) -> Any:
    """What is to be clipped is not: the setting is lost."""
    lost = property(lambda self: None, lambda self, value: None)
    return lambda: patch.object(LSTM, name, lost, create=True)


def always_dropping(forward: Any) -> Any:
    return lambda self, x: torch.nn.functional.dropout(x, self.p, training=True)


MODELS = tuple(f"{cell} language model" for cell in ("RNN", "LSTM", "GRU"))
SLOW_MODELS = tuple(f"{name}, step by step" for name in MODELS)
TWO_WAYS = ("stacked RNN", "stacked LSTM", "stacked GRU")
BROKEN = (
    Broken("gates in TensorFlow's order", lstm_step(order="igfo"), ("LSTM",)),
    Broken("forget gate in place of the input gate", lstm_step("figo"), ("LSTM",)),
    Broken("input gate for both", lstm_step(kept="i"), ("LSTM",)),
    Broken("hidden and cell state swapped", lstm_step(swapped=True), ("LSTM",)),
    Broken("forget gate missing", lstm_step(kept=""), ("LSTM",)),
    Broken("output gate missing", lstm_step(out=""), ("LSTM",)),
    Broken("reset gate before the product", gru_step(before=True), ("GRU",)),
    Broken("update gate turned round", gru_step(turned=True), ("GRU",)),
    Broken("the candidate's two biases added", gru_step(outside=True), ("GRU",)),
    Broken(
        "cell state not clipped",
        unclipped("cell_clip"),
        ("LSTM, clipped",),
    ),
    Broken(
        "projection not clipped",
        unclipped("projection_clip"),
        ("LSTM, clipped",),
    ),
    *(
        Broken(f"{name} ({kind})", replaced(module, where, make), (kind,), subjects)
        for kind, module, number in (("RNN", rnn, 0), ("LSTM", lstm, 1), ("GRU", gru, 2))
        for name, where, make, subjects in (
            ("bias left out of the kernel", "run_kernel", unbiased, ()),
            ("the kernel reads padding", "run_kernel", to_the_end, (MODELS[number],)),
            ("the loop reads padding", "unroll", running_on, (SLOW_MODELS[number],)),
            ("state not carried", "unroll", forgetful, ()),
            ("gradient cut at each step", "unroll", cut, ()),
            ("first state ignored", "check_inputs", from_zero, ()),
        )
    ),
    Broken(
        "relu for tanh",
        lambda: patch.dict(rnn.NONLINEARITIES, tanh=torch.relu),
        ("RNN",),
    ),
    Broken("backward direction reads padding", replaced(recurrent, "reverse", flipped), TWO_WAYS),
    Broken(
        "backward direction not turned back",
        lambda: patch.object(Bidirectional, "forward", not_turned_back),
        TWO_WAYS,
    ),
    Broken("states sorted by direction", replaced(Recurrent, "_split", directions_first), TWO_WAYS),
    Broken(
        "the second bias lost in conversion",
        replaced(conversion, "_layer_to_ours", one_bias),
        ("RNN", "LSTM", "GRU"),
    ),
    Broken(
        "labels shifted twice", replaced(rnn_lm, "label_loss", shifted_again), MODELS, MODELS[:1]
    ),
    Broken(
        "padding taken for the length",
        replaced(rnn_lm, "lengths_from_mask", counted_padding),
        MODELS,
        MODELS[:1],
    ),
    Broken(
        "mask of a recurrent model ignored",
        replaced(rnn_lm, "lengths_from_mask", lambda _: lambda *_: None),
        MODELS,
        MODELS[:1],
    ),
    Broken(
        "dropout of a recurrent model on in evaluation",
        replaced(torch.nn.Dropout, "forward", always_dropping),
        subjects=MODELS[:1],
    ),
)
