"""ELMo and its parts: what parity and the property kit leave."""

import math

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.models.bilm import BiLMConfig
from lmcourse.models.char_cnn import BEGIN, END, CharacterCNN, CharacterCNNConfig, character_ids
from lmcourse.models.elmo import ElmoConfig, ElmoForPreTraining, ElmoModel, neighbors
from lmcourse.models.highway import Highway
from lmcourse.models.inputs import IGNORED
from lmcourse.models.scalar_mix import ScalarMix
from tests.parity.comparing import shaken

BILM = BiLMConfig(hidden_size=7, projection_size=4)
SPELLING = CharacterCNNConfig(3, ((1, 4), (2, 4)), 2, 6)
WORDS, SPELLED = ElmoConfig(11, None, BILM), ElmoConfig(11, SPELLING, BILM)
BOTH = pytest.mark.parametrize("config", [WORDS, SPELLED], ids=["words", "characters"])


def made(kind, config):
    torch.manual_seed(0)
    return shaken(kind(config).double())


def given(config, batch=2, time=6):
    shape = (batch, time) if config is WORDS else (batch, time, 6)
    return torch.randint(11 if config is WORDS else 262, shape)


@pytest.mark.parametrize(
    ("preset", "parameters"),
    [("original", 93_600_864), ("medium", 28_027_744), ("small", 13_593_312)],
)
def test_the_published_sizes(preset, parameters):
    with torch.device("meta"):
        model = ElmoModel(getattr(ElmoConfig, preset)())
        ids = character_ids([["a", "word"]]).to("meta")
        states = model(ids, output_hidden_states=True).hidden_states
    assert sum(p.numel() for p in model.parameters()) == parameters
    width = 2 * model.config.bilm.projection_size
    assert [tuple(layer.shape) for layer in states] == [(1, 2, width)] * 3


@BOTH
def test_no_direction_sees_the_other_side(config):
    model, ids = made(ElmoModel, config), given(config)
    before = model(ids, output_hidden_states=True).hidden_states
    for place in range(6):
        changed = ids.clone()
        changed[:, place] = (ids[:, place] + 1) % 11
        after = model(changed, output_hidden_states=True).hidden_states
        for one, other in zip(before[1:], after[1:], strict=True):
            forward, backward = (one != other).any(0).split(4, dim=-1)
            assert forward.any(-1).tolist() == [k >= place for k in range(6)]
            assert backward.any(-1).tolist() == [k <= place for k in range(6)]


@BOTH
def test_no_prediction_has_seen_its_target(config):
    model, ids = made(ElmoForPreTraining, config), given(config)
    before = model(ids)
    for place in range(1, 5):
        changed = ids.clone()
        changed[:, place] = (ids[:, place] + 1) % 11
        after = model(changed)
        assert torch.equal(before.forward_logits[:, place - 1], after.forward_logits[:, place - 1])
        assert torch.equal(
            before.backward_logits[:, place + 1], after.backward_logits[:, place + 1]
        )
        assert not torch.equal(before.forward_logits[:, place], after.forward_logits[:, place])
        assert not torch.equal(before.backward_logits[:, place], after.backward_logits[:, place])


def test_what_each_place_predicts():
    words = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])
    no = IGNORED
    behind, before = neighbors(words, mask)
    assert behind.tolist() == [[2, 3, 4, no], [6, no, no, no]]
    assert before.tolist() == [[no, 1, 2, 3], [no, 5, no, no]]
    behind, before = neighbors(words)
    assert behind[1].tolist() == [6, 7, 8, no] and before[1].tolist() == [no, 5, 6, 7]


def test_the_loss_is_the_mean_over_both_directions():
    model, ids = made(ElmoForPreTraining, WORDS), given(WORDS)
    labels = ids.clone()
    labels[0, 2] = IGNORED
    result = model(ids, labels=labels)
    costs = []
    for row, k in ((row, k) for row in range(2) for k in range(6) if labels[row, k] != IGNORED):
        if k > 0:
            costs.append(-result.forward_logits[row, k - 1].log_softmax(-1)[labels[row, k]])
        if k < 5:
            costs.append(-result.backward_logits[row, k + 1].log_softmax(-1)[labels[row, k]])
    torch.testing.assert_close(result.loss, torch.stack(costs).mean())
    nothing = model(ids, labels=torch.full_like(ids, IGNORED)).loss
    assert nothing.item() == 0
    assert model(ids).loss is None and "loss" not in model(ids)


@BOTH
def test_layers_hold_both_directions_side_by_side(config):
    model, ids = made(ElmoModel, config), given(config)
    mask = torch.tensor([[1] * 6, [1] * 3 + [0] * 3])
    result = model(ids, mask, output_hidden_states=True)
    assert len(result.hidden_states) == 3 and "hidden_states" not in model(ids, mask)
    tokens = model.tokens(ids)
    assert torch.equal(result.hidden_states[0][0], torch.cat([tokens[0], tokens[0]], -1))
    assert torch.equal(result.hidden_states[-1], result.last_hidden_state)
    alone = model(ids[1:, :3], output_hidden_states=True).hidden_states
    for layer, short in zip(result.hidden_states, alone, strict=True):
        torch.testing.assert_close(layer[1, :3], short[0], rtol=0, atol=1e-14)
        assert not layer[1, 3:].any(), "padding holds zeros"


def test_a_sentence_without_marks_loses_a_prediction_at_either_end():
    model = made(ElmoForPreTraining, WORDS)
    one = model(torch.tensor([[3]]), labels=torch.tensor([[3]]))
    assert one.loss.item() == 0  # nothing stands beside the only word


def test_both_directions_learn_a_text():
    torch.manual_seed(0)
    config = ElmoConfig(6, None, BiLMConfig(32, 16, hidden_dropout_prob=0.0))
    model = ElmoForPreTraining(config)
    ids = (torch.arange(24).view(4, 6) + torch.arange(4)[:, None]) % 6  # one word after the other
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(40):
        optimizer.zero_grad()
        result = model(ids, labels=ids)
        result.loss.backward()
        optimizer.step()
    assert result.loss.item() < 0.1
    assert torch.equal(result.forward_logits.argmax(-1)[:, :-1], ids[:, 1:])
    assert torch.equal(result.backward_logits.argmax(-1)[:, 1:], ids[:, :-1])


def test_characters_are_numbered_as_published():
    ids = character_ids([[BEGIN, "cat", "é", END], ["a"]], 7)
    begin, end, padding = 259, 260, 261
    c, a, t = (ord(letter) + 1 for letter in "cat")
    assert ids[0].tolist() == [
        [begin, 257, end] + [padding] * 4,
        [begin, c, a, t, end, padding, padding],
        [begin, 0xC3 + 1, 0xA9 + 1, end] + [padding] * 3,
        [begin, 258, end] + [padding] * 4,
    ]
    assert ids[1].tolist() == [[begin, a, end] + [padding] * 4] + [[0] * 7] * 3
    long = character_ids([["x" * 80]])
    assert long.shape == (1, 1, 50) and long[0, 0, -1] == end and (long[0, 0, 1:-1] == 121).all()


def test_a_word_has_one_vector_from_its_characters_wherever_it_stands():
    torch.manual_seed(0)
    network = shaken(CharacterCNN(SPELLING, 5))
    x = network(character_ids([["stick", "a", "stick"], ["the", "stick", "é"]], 6))
    assert torch.equal(x[0, 0], x[0, 2]) and torch.equal(x[0, 0], x[1, 1])
    assert not torch.allclose(x[0, 0], x[1, 0])


def test_a_word_that_stands_again_is_computed_once_and_learns_from_all_its_places():
    torch.manual_seed(0)
    network, computed = shaken(CharacterCNN(SPELLING, 5).double()), []
    network.projection.register_forward_hook(lambda *call: computed.append(len(call[2])))
    ids = character_ids([["stick", "a", "stick"], ["the", "stick", "a"]], 6)
    weights = torch.randn(2, 3, 5).double()
    (network(ids) * weights).sum().backward()
    found = [parameter.grad.clone() for parameter in network.parameters()]
    network.zero_grad()
    for row, place in ((row, place) for row in range(2) for place in range(3)):
        (network(ids[row, place][None, None])[0, 0] * weights[row, place]).sum().backward()
    assert computed == [3] + [1] * 6
    for once, each in zip(found, network.parameters(), strict=True):
        torch.testing.assert_close(once, each.grad)


def test_a_fresh_highway_layer_carries_and_an_open_one_transforms():
    torch.manual_seed(0)
    layer, x = Highway(8), torch.randn(3, 8)
    assert torch.sigmoid(layer.gate.bias).mean().item() == pytest.approx(0.119, abs=1e-3)
    assert (layer(x) - x).norm() < 0.25 * x.norm()
    for bias, expected in ((-1e4, x), (1e4, torch.relu(layer.transform(x)))):
        torch.nn.init.constant_(layer.gate.bias, bias)
        torch.testing.assert_close(layer(x), expected)


def test_a_mixture_starts_as_the_mean_and_can_choose():
    layers = torch.randn(3, 2, 4, 6).unbind()
    mix = ScalarMix(3)
    torch.testing.assert_close(mix(layers), torch.stack(layers).mean(0))
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([-1e4, 0.0, -1e4]))
        mix.gamma.fill_(2.5)
    torch.testing.assert_close(mix(layers), 2.5 * layers[1])
    assert mix.shares.sum().item() == pytest.approx(1)
    normalized = ScalarMix(1, layer_norm=True)(layers[:1])
    torch.testing.assert_close(normalized.mean(-1), torch.zeros(2, 4), atol=1e-6, rtol=0)
    torch.testing.assert_close(
        normalized.var(-1, correction=0), torch.ones(2, 4), atol=1e-3, rtol=0
    )


def test_a_frozen_model_learns_nothing_while_its_mixture_does():
    model = made(ElmoModel, WORDS).requires_grad_(False)
    mix = ScalarMix(3).double()
    mix(model(given(WORDS), output_hidden_states=True).hidden_states).square().sum().backward()
    assert mix.weights.grad.all() and mix.gamma.grad.all()
    assert all(p.grad is None for p in model.parameters())


def test_a_mask_may_be_of_truth_values():
    model, ids = made(ElmoForPreTraining, WORDS), given(WORDS)
    mask = torch.tensor([[1] * 6, [1] * 3 + [0] * 3])
    assert torch.equal(model(ids, mask.bool(), ids).loss, model(ids, mask, ids).loss)


def test_without_characters_the_first_loss_is_log_v():
    torch.manual_seed(0)
    model = ElmoForPreTraining(ElmoConfig(50, None, BILM)).eval()
    ids = torch.randint(50, (16, 12))
    assert model(ids, labels=ids).loss.item() == pytest.approx(math.log(50), rel=0.05)


def test_no_highway_layers_are_none():
    assert not CharacterCNN(CharacterCNNConfig(num_highway_layers=0), 4).highway


@pytest.mark.bad_input  # lists are no tuples, to a checker of types
def test_filters_given_as_lists_come_back_equal(tmp_path):
    spelling = CharacterCNNConfig(3, [[1, 4], [2, 4]], 1, 6)
    assert spelling.filters == ((1, 4), (2, 4)) and hash(spelling)
    model = ElmoModel(ElmoConfig(11, spelling, BILM))
    model.save(tmp_path / "model.safetensors")
    assert ElmoModel.load(tmp_path / "model.safetensors").config == model.config


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("config", "call", "words"),
    [
        (
            WORDS,
            {"input_ids": torch.zeros(1, 2, 6, dtype=torch.long)},
            r"\(1, 2, 6\).*\(batch, time",
        ),
        (SPELLED, {"input_ids": torch.full((1, 2, 6), 262)}, "number 262.*0 to 261"),
        (WORDS, {"attention_mask": torch.ones(1, 3)}, r"\(1, 3\).*\(1, 2\)"),
        (WORDS, {"attention_mask": torch.tensor([[0, 1]])}, "padding precedes a token"),
        (WORDS, {"labels": torch.tensor([[1]])}, r"labels has shape \(1, 1\), the ids \(1, 2\)"),
    ],
)
def test_what_does_not_fit_is_named(config, call, words):
    model = made(ElmoForPreTraining, config)
    with pytest.raises(CourseError, match=words):
        model(**({"input_ids": torch.tensor([[1, 2]])} | call))
