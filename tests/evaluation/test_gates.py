"""The gates that the helper returns are those of the model's own run."""

import pytest
import torch
from torch import nn

from lmcourse.errors import CourseError
from lmcourse.evaluation.gates import gates
from lmcourse.models.gru import GRU
from lmcourse.models.lstm import LSTM
from lmcourse.models.recurrent import Bidirectional
from lmcourse.models.rnn import RNN
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel

TIME, WIDTH, HIDDEN = 7, 3, 5


def near(found, wanted):
    torch.testing.assert_close(found, wanted, atol=1e-6, rtol=1e-5)


@pytest.fixture
def inputs():
    return torch.randn(TIME, WIDTH, generator=torch.Generator().manual_seed(0))


def test_an_lstms_states_are_its_own_and_follow_from_its_gates(inputs):
    layer = LSTM(WIDTH, HIDDEN)
    found = gates(layer, inputs)
    outputs, (_, c) = layer(inputs[None])
    near(found["h"], outputs[0])
    near(found["c"][-1], c[0])
    before = torch.cat([torch.zeros(1, HIDDEN), found["c"][:-1]])
    near(found["c"], found["f"] * before + found["i"] * found["g"])
    near(found["h"], found["o"] * found["c"].tanh())
    assert set(found) == set("fiogch") and not found["f"].requires_grad


def test_a_grus_states_are_its_own_and_follow_from_its_gates(inputs):
    layer = GRU(WIDTH, HIDDEN)
    nn.init.normal_(layer.b_n)
    found = gates(layer, inputs)
    near(found["h"], layer(inputs[None])[0][0])
    before = torch.cat([torch.zeros(1, HIDDEN), found["h"][:-1]])
    near(found["h"], (1 - found["z"]) * found["n"] + found["z"] * before)
    near(found["r"][0], (inputs[0] @ layer.U[:HIDDEN].T + layer.b[:HIDDEN]).sigmoid())


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
@pytest.mark.parametrize("layer", [0, 1])
def test_torchs_layers_in_both_directions(kind, layer, inputs):
    theirs = kind(WIDTH, HIDDEN, num_layers=2, bidirectional=True, batch_first=True, dropout=0.5)
    found = gates(theirs, inputs, layer)
    theirs.num_layers = layer + 1  # its own run, up to that layer
    count = 2 * (layer + 1)
    theirs._flat_weights = theirs._flat_weights[: 4 * count]
    wanted, _ = theirs.eval()(inputs[None])
    near(torch.cat([found["h"], found["backward"]["h"]], -1), wanted[0])


def test_a_language_models_layers_without_dropout():
    model = RNNLanguageModel(RNNConfig(11, 4, HIDDEN, "lstm", num_layers=2, dropout=0.5)).train()
    ids = torch.randint(11, (TIME,))
    found = [gates(model, ids, layer)["h"] for layer in (0, 1)]
    assert model.training
    result = model.eval()(ids[None], output_hidden_states=True)
    for layer, h in enumerate(found):
        near(h, result.hidden_states[layer + 1][0])


def test_a_projection_and_a_clip(inputs):
    layer = LSTM(WIDTH, HIDDEN, projection_size=2, cell_clip=0.05)
    found = gates(layer, inputs)
    near(found["h"] @ layer.P.T, layer(inputs[None])[0][0])
    assert found["cell_clip"] == 0.05 and found["c"].abs().max() == pytest.approx(0.05)


def test_two_directions_of_ours(inputs):
    both = Bidirectional(GRU(WIDTH, HIDDEN), GRU(WIDTH, HIDDEN))
    found = gates(both, inputs)
    near(torch.cat([found["h"], found["backward"]["h"]], -1), both(inputs[None])[0][0])


@pytest.mark.parametrize(
    ("model", "shape", "layer", "says"),
    [
        (RNN(WIDTH, HIDDEN), (TIME, WIDTH), 0, "A layer of type RNN has no gates"),
        (LSTM(WIDTH, HIDDEN), (TIME, WIDTH + 1), 0, r"takes \(batch, time, 3\)"),
    ],
)
def test_what_has_no_gates_or_does_not_fit(model, shape, layer, says):
    with pytest.raises(CourseError, match=says):
        gates(model, torch.zeros(shape), layer)
