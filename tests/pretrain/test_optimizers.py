"""Muon and AdamW as one optimizer: as the two by hand, taken up again, on a schedule."""

import copy

import pytest
import torch
from torch import nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.models.bert_heads import BertForPreTraining
from lmcourse.models.deberta import DebertaConfig, DebertaForMaskedLM
from lmcourse.models.lstm import LSTM
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.training.schedules import linear, scheduled
from research.pretrain.optimizers import (
    Muon,
    MuonWithAdamW,
    matrices,
    orthogonal,
    parameter_groups,
)
from research.pretrain.recipes import recipe
from tests.models.small import BERT

RATES = {"matrix_rate": 0.02, "learning_rate": 3e-3, "betas": (0.9, 0.98), "weight_decay": 0.1}
FAMILY = ["mlm", "mlm-relative", "clm", "albert", "electra", "spanbert", "deberta", "teacher"]


class Network(nn.Module):
    """A table whose rows also answer, two layers, and a norm."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(11, 8)
        self.wide, self.narrow = nn.Linear(8, 24), nn.Linear(24, 8)
        self.norm = nn.LayerNorm(8)
        self.answer = nn.Linear(8, 11)
        self.answer.weight = self.table.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        states = self.narrow(torch.tanh(self.wide(self.table(ids))))
        return self.answer(self.norm(states))


def network(seed: int = 0) -> Network:
    torch.manual_seed(seed)
    return Network()


def learn(model: nn.Module, steps: range, *parts: torch.optim.Optimizer) -> None:
    for step in steps:
        ids = torch.randint(11, (7,), generator=torch.Generator().manual_seed(step))
        loss = nn.functional.cross_entropy(model(ids), (ids + 1) % 11)
        for part in parts:
            part.zero_grad()
        loss.backward()
        for part in parts:
            part.step()


def same(one: nn.Module, other: nn.Module) -> bool:
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def steps_of(kind: type[torch.optim.Muon], shape: tuple[int, int]) -> torch.Tensor:
    """A weight after four steps with gradients from very small to large, one of them missing."""
    chance = torch.Generator().manual_seed(shape[0])
    weight = nn.Parameter(torch.randn(shape, generator=chance))
    optimizer = kind([weight], lr=0.1, weight_decay=0.2, momentum=0.9)
    for scale in (1e-6, 1.0, None, 1e3):
        weight.grad = None if scale is None else scale * torch.randn(shape, generator=chance)
        optimizer.step()
    return weight.detach()


@pytest.mark.parametrize("shape", [(8, 8), (5, 17), (17, 5), (1, 6), (6, 1)])
def test_muon_is_pytorchs_but_for_its_rounding(
    shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
):
    ours, rounded = steps_of(Muon, shape), steps_of(torch.optim.Muon, shape)
    torch.testing.assert_close(ours, rounded, rtol=0.05, atol=0.02)
    monkeypatch.setattr(torch.Tensor, "bfloat16", lambda it: it.clone())
    unrounded = steps_of(torch.optim.Muon, shape)
    torch.testing.assert_close(ours, unrounded, rtol=1e-4, atol=1e-5)
    if min(shape) > 1:
        assert not torch.allclose(rounded, unrounded, rtol=1e-4, atol=1e-5)


def test_directions_move_alike():
    torch.manual_seed(0)
    sizes = torch.tensor([1.0, 0.5, 0.1, 0.05])
    tall, square = (torch.linalg.qr(torch.randn(rows, 4)).Q for rows in (9, 4))
    for matrix in (tall * sizes @ square, 1e-4 * square * sizes @ tall.T):
        found = torch.linalg.svdvals(orthogonal(matrix, (3.4445, -4.7750, 2.0315), 5))
        assert found.min() > 0.6
        assert found.max() < 1.3


def test_it_is_muon_on_the_layers_and_adamw_on_the_rest():
    ours, theirs = network(), network()
    layers = [theirs.wide.weight, theirs.narrow.weight]
    spared = [theirs.wide.bias, theirs.narrow.bias, theirs.answer.bias, *theirs.norm.parameters()]
    muon = Muon(layers, lr=0.02, weight_decay=0.1)
    groups = [
        {"params": [theirs.table.weight], "weight_decay": 0.1},
        {"params": spared, "weight_decay": 0.0},
    ]
    adamw = torch.optim.AdamW(groups, lr=3e-3, betas=(0.9, 0.98), eps=1e-6)
    before = copy.deepcopy(ours)
    learn(ours, range(6), MuonWithAdamW(ours, **RATES))
    learn(theirs, range(6), muon, adamw)
    assert same(ours, theirs) and not same(ours, before)


def halve(optimizer: torch.optim.Optimizer) -> None:
    for group in optimizer.param_groups:
        group["lr"] /= 2


def test_it_goes_on_from_its_state_as_if_it_had_not_stopped():
    whole, first = network(), network()
    unbroken = MuonWithAdamW(whole, **RATES)
    learn(whole, range(5), unbroken)
    halve(unbroken)
    learn(whole, range(5, 8), unbroken)
    optimizer = MuonWithAdamW(first, **RATES)
    learn(first, range(5), optimizer)
    later, state = network(1), copy.deepcopy(optimizer.state_dict())
    later.load_state_dict(first.state_dict())
    again = MuonWithAdamW(later, **RATES)
    again.load_state_dict(state)
    halve(again)
    learn(later, range(5, 8), again)
    assert same(later, whole)
    fresh = network(1)
    fresh.load_state_dict(first.state_dict())
    learn(fresh, range(5, 8), MuonWithAdamW(fresh, **RATES))
    assert not same(fresh, whole)


def test_one_schedule_moves_both_rates():
    model = network()
    optimizer = MuonWithAdamW(model, **RATES)
    scheduler = scheduled(optimizer, linear(2, 6))
    for factor in (0.0, 0.5, 1.0, 0.75, 0.5, 0.25):
        rates = [group["lr"] for group in optimizer.param_groups]
        assert rates == pytest.approx([0.02 * factor, 3e-3 * factor, 3e-3 * factor])
        before = copy.deepcopy(model)
        learn(model, range(1), optimizer)
        assert same(model, before) == (factor == 0)
        scheduler.step()


@pytest.mark.parametrize("name", FAMILY)
def test_layers_are_muons_and_tables_adamws(name: str, world: BookWorld):
    model = recipe(f"bookworld-{name}").built(world)
    known = {id(parameter): name for name, parameter in model.named_parameters()}
    chosen = [known[id(weight)] for weight in matrices(model)]
    left = {name for name, p in model.named_parameters() if p.ndim > 1} - set(chosen)
    assert len(chosen) == len(set(chosen)) > 5
    assert {it.split(".")[-2] for it in left} <= {"word", "position", "segment", "distance"}
    assert {"word"} <= {it.split(".")[-2] for it in left}


@pytest.mark.parametrize("name", ["lstm", "char-lstm", "elmo"])
def test_recurrent_layers_are_muons_too(name: str, world: BookWorld):
    model = recipe(f"bookworld-{name}").built(world)
    chosen = {id(weight) for weight in matrices(model)}
    cells = [part for part in model.modules() if isinstance(part, LSTM)]
    assert cells
    for cell in cells:
        assert {id(it) for it in (cell.U, cell.W, cell.P) if it is not None} <= chosen
        assert id(cell.b) not in chosen
    left = [name for name, p in model.named_parameters() if p.ndim > 1 and id(p) not in chosen]
    assert left and all("embedding" in it or "convolution" in it for it in left)


def test_what_is_frozen_stays():
    model = network()
    model.wide.weight.requires_grad_(False)
    assert [id(it) for it in matrices(model)] == [id(model.narrow.weight)]
    before = model.wide.weight.clone()
    learn(model, range(3), MuonWithAdamW(model, **RATES))
    assert torch.equal(model.wide.weight, before)


def test_weight_decay_spares_what_berts_code_spares():
    model = BertForPreTraining(BERT)
    decayed, spared = parameter_groups(model, 0.1)
    names = {id(p): name for name, p in model.named_parameters()}
    found = {names[id(p)] for p in spared["params"]}
    assert found == {n for n in names.values() if "norm" in n or n.endswith("bias")}
    assert decayed["weight_decay"] == 0.1 and spared["weight_decay"] == 0
    assert len(decayed["params"]) + len(spared["params"]) == len(names)


@pytest.mark.parametrize(
    "model",
    [
        RNNLanguageModel(RNNConfig(7, 3, 4, cell="gru")),
        DebertaForMaskedLM(DebertaConfig(23, 12, 2, 3, 20, max_position_embeddings=9)),
        nn.Sequential(nn.Linear(2, 3), nn.LayerNorm((3, 1)), nn.Linear(1, 1, bias=False)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_parameter_is_in_one_group(model):
    groups = parameter_groups(model)
    both = [id(p) for group in groups for p in group["params"]]
    assert sorted(both) == sorted(id(p) for p in model.parameters())
    assert all(p.ndim > 1 for p in groups[0]["params"])


def test_frozen_parameters_are_left_out():
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[0].requires_grad_(False)
    assert [group["params"] for group in parameter_groups(model)] == [
        [model[1].weight],
        [model[1].bias],
    ]
