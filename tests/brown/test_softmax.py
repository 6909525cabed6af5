"""The softmax in blocks: PyTorch's values and gradients."""

import pytest
import torch
from torch.nn import functional

from research.brown.softmax import BLOCK, log_p, mean_nats


@pytest.mark.parametrize("words", [1, BLOCK - 1, BLOCK, 2 * BLOCK + 3])
def test_equals_cross_entropy_and_its_gradient(words):
    draw = torch.Generator().manual_seed(words)
    features, weight, bias = (
        torch.randn(*size, generator=draw).requires_grad_() for size in ((words, 5), (30, 5), (30,))
    )
    right = torch.randint(30, (words,), generator=draw)
    wanted = functional.cross_entropy(functional.linear(features, weight, bias), right)
    found = mean_nats(features, weight, bias, right)
    torch.testing.assert_close(found, wanted)
    inputs = (features, weight, bias)
    for mine, theirs in zip(
        torch.autograd.grad(3 * found, inputs), torch.autograd.grad(3 * wanted, inputs), strict=True
    ):
        torch.testing.assert_close(mine, theirs)
    torch.testing.assert_close(log_p(features, weight, bias, right).mean(), -wanted.detach())


def test_large_logits_do_not_overflow():
    features = torch.full((2, 1), 200.0)
    weight, bias = torch.tensor([[1.0], [1.0], [-1.0]]), torch.zeros(3)
    found = log_p(features, weight, bias, torch.tensor([0, 2]))
    torch.testing.assert_close(found, torch.tensor([-0.6931472, -400.6931472]))
