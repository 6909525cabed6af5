"""The neural n-gram model: the paper's equations, word by word."""

import pytest
import torch

from lmcourse.evaluation.perplexity import token_probabilities
from research.brown.neural_ngram import NeuralNGramModel


@pytest.mark.parametrize("context", [1, 3])
def test_equals_the_equations(context):
    torch.manual_seed(context)
    model = NeuralNGramModel(11, context, embedding_size=4, hidden_size=5).eval()
    ids = torch.randint(11, (2, 7))
    logits = model(ids).logits
    for row in range(2):
        for t in range(context - 1, 7):
            x = model.embedding.weight[ids[row, t - context + 1 : t + 1]].flatten()
            a = torch.tanh(model.hidden.bias + model.hidden.weight @ x)
            wanted = model.output.bias + model.output.weight @ a
            torch.testing.assert_close(logits[row, t], wanted)


def test_only_the_last_words_matter():
    model = NeuralNGramModel(11, 3, embedding_size=4, hidden_size=5).eval()
    ids = torch.randint(11, (1, 8))
    other = ids.clone()
    other[0, 4] = (other[0, 4] + 1) % 11
    change = (model(ids).logits != model(other).logits).any(-1)[0]
    assert change.tolist() == [False] * 4 + [True] * 3 + [False]


def test_parameters_are_those_of_the_paper():
    """|V| (1 + m + h) + h (1 + (n − 1) m), without direct connections (section 2)."""
    n, m, h, size = 5, 30, 50, 1000
    model = NeuralNGramModel(size, n - 1, m, h)
    wanted = size * (1 + m + h) + h * (1 + (n - 1) * m)
    assert sum(parameter.numel() for parameter in model.parameters()) == wanted


def test_its_perplexity_can_be_computed_and_its_loss_is_the_mean():
    torch.manual_seed(0)
    model = NeuralNGramModel(11, 3, embedding_size=4, hidden_size=5).eval()
    ids = torch.randint(11, (30,))
    p = token_probabilities(model, ids, window=10, stride=8)
    assert len(p) == 29
    loss = model(ids[None, :-1], labels=ids[None, 1:]).loss
    torch.testing.assert_close(loss, -p.log().mean())
