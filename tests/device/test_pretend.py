"""The pretended device refuses what a GPU refuses, and computes what the CPU computes."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils._device import _device_constructors

from tests.device.pretend import DEVICE, DeviceTensor, pretending


def values(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of the device on the CPU."""
    assert isinstance(tensor, DeviceTensor) and tensor.device == DEVICE
    return tensor.detach().cpu()


REFUSED = {
    "two devices": (lambda x: x + torch.ones(3, 4), RuntimeError, "on the same device"),
    "two devices, matrices": (lambda x: torch.ones(2, 3) @ x, RuntimeError, "on the same device"),
    "a list of both": (lambda x: torch.cat([x, torch.ones(1, 4)]), RuntimeError, "same device"),
    "ids on the CPU": (
        lambda x: functional.embedding(torch.tensor([1]), x),
        RuntimeError,
        "same device",
    ),
    "in place": (lambda x: torch.ones(3, 4).add_(x), RuntimeError, "same device"),
    "an index of the device": (
        lambda x: torch.ones(3)[torch.tensor([1], device=x.device)],
        RuntimeError,
        "same device",
    ),
    "numpy": (lambda x: x.numpy(), TypeError, "to numpy"),
    "an array": (np.asarray, TypeError, "to numpy"),
    "float64": (lambda x: x.double(), TypeError, "no torch.float64"),
    "a new float64": (
        lambda x: torch.zeros(2, dtype=torch.float64, device=x.device),
        TypeError,
        "no torch.float64",
    ),
    "the CPU's generator": (
        lambda x: torch.randn(2, device=x.device, generator=torch.Generator()),
        RuntimeError,
        "generator",
    ),
    "the CPU's generator, sampling": (
        lambda x: x.softmax(-1).multinomial(1, generator=torch.Generator()),
        RuntimeError,
        "generator",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_gpu_refuses(name):
    wrong, error, says = REFUSED[name]
    with pretending() as device, pytest.raises(error, match=says):
        wrong(torch.ones(3, 4, device=device))


ALLOWED = {
    "a scalar of the CPU": lambda x: x * torch.tensor(2.0),
    "an index of the CPU": lambda x: x[torch.tensor([2, 0])],
    "an assignment": lambda x: x.clone().index_put_((torch.tensor([1]),), x[:1]),
    "a value": lambda x: torch.where(x > 0, x, 0.0),
    "a slice assigned": lambda x: x.clone().fill_diagonal_(3.0).mul_(2)[1:],
    "a view changed": lambda x: (y := x.clone(), y[1].add_(1), y.T[0].zero_())[0],
    "sorted": lambda x: x.sort(-1, descending=True).values,
    "transposed in place": lambda x: x.clone().transpose_(0, 1).contiguous(),
    "softmax": lambda x: x.masked_fill(x > 1, -torch.inf).softmax(-1),
    "like": lambda x: torch.full_like(x, 3.0) + torch.zeros_like(x) + x.new_ones(4),
    "a list": lambda x: torch.tensor(x.tolist(), device=x.device),
    "half precision": lambda x: x.to(torch.bfloat16) @ x.to(torch.bfloat16).T,
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_it_computes(name):
    torch.manual_seed(0)
    x = torch.randn(3, 4)
    wanted = ALLOWED[name](x)
    with pretending() as device:
        found = ALLOWED[name](x.to(device))
    torch.testing.assert_close(values(found), wanted, rtol=0, atol=0, equal_nan=True)


def test_numbers_leave_it():
    with pretending() as device:
        x = torch.tensor([1.5, 2.0], device=device)
        assert (x.sum().item(), float(x[0]), int(x[1]), bool(x[0] > 1)) == (3.5, 1.5, 2, True)
        assert x.tolist() == [1.5, 2.0] and f"{x[0]:.1f}" == "1.5"
        assert x.cpu().numpy().tolist() == [1.5, 2.0]


def test_its_own_generator():
    with pretending() as device:
        generator = torch.Generator(device).manual_seed(3)
        assert isinstance(generator, torch.Generator)
        found = torch.randn(4, device=device, generator=generator)
    wanted = torch.randn(4, generator=torch.Generator().manual_seed(3))
    assert torch.equal(values(found), wanted)


def test_a_module_keeps_its_parameters_and_their_ties():
    model = nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 5, bias=False))
    model[1].weight = model[0].weight
    weight = model[0].weight
    with pretending() as device:
        model.to(device)
        assert model[0].weight is weight and model[1].weight is weight
        assert len(list(model.parameters())) == 1 and weight.device == device
        assert isinstance(copy.deepcopy(model)[1].weight, nn.Parameter)
        model.to("cpu")
    assert model[1].weight is weight and not isinstance(weight, DeviceTensor)


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
def test_kernels_of_recurrent_layers(kind):
    torch.manual_seed(0)
    layer, x = kind(3, 4, batch_first=True), torch.randn(2, 5, 3)
    with torch.no_grad():  # a module whose graph is alive cannot be moved in place
        wanted, _ = layer(x)
    with pretending() as device:
        found, _ = layer.to(device)(x.to(device))
    torch.testing.assert_close(values(found), wanted.detach(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW])
def test_a_training_takes_the_same_steps(optimizer):
    def train(device):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 1))
        x = torch.randn(16, 4).to(device)
        model.to(device)
        steps = optimizer(model.parameters(), lr=0.1)
        for _ in range(3):
            steps.zero_grad()
            model(x).square().mean().backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            steps.step()
        return [it.detach() for it in model.parameters()]

    wanted = train(torch.device("cpu"))
    with pretending() as device:
        found = train(device)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(values(one), other, rtol=0, atol=1e-6)


def test_a_real_meta_tensor_is_not_taken_for_one_of_it():
    real = torch.ones(2, device="meta")
    with pretending() as device, pytest.raises(NotImplementedError, match="meta tensor"):
        torch.ones(2, device=device) + real


def test_the_context_of_the_meta_device_makes_tensors_of_the_cpu():
    _device_constructors()  # as if it had been used before
    with pretending(), torch.device("meta"):
        assert torch.zeros(3).tolist() == [0, 0, 0]
        assert nn.Linear(2, 2).weight.device.type == "cpu"
    with torch.device("meta"):
        assert torch.zeros(3).is_meta
