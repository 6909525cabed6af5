"""Perplexity of a model on a text."""

import math

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.evaluation import perplexity, token_probabilities
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel


def test_perplexity_is_the_inverse_probability_normalized_by_length():
    p = torch.rand(50, generator=torch.Generator().manual_seed(0)) * 0.9 + 0.1
    assert perplexity(p) == pytest.approx(math.prod(p.tolist()) ** (-1 / 50), rel=1e-6)
    assert perplexity(torch.tensor([0.5, 0.0])) == math.inf


def test_a_model_that_knows_nothing_has_the_perplexity_of_its_vocabulary():
    model = RNNLanguageModel(RNNConfig(7, 4, 4))
    torch.nn.init.zeros_(model.output.weight), torch.nn.init.zeros_(model.output.bias)
    assert perplexity(token_probabilities(model, torch.randint(7, (200,)))) == pytest.approx(7)


@pytest.mark.parametrize("window", [1, 7, 59, 60, 1000])
def test_windows_do_not_change_the_probabilities(window):
    torch.manual_seed(0)
    model = RNNLanguageModel(RNNConfig(7, 4, 6))
    ids = torch.randint(7, (61,))
    with torch.no_grad():
        wanted = model(ids[None, :-1]).logits[0].softmax(-1)[torch.arange(60), ids[1:]]
    torch.testing.assert_close(token_probabilities(model, ids, window), wanted)


def test_a_text_without_a_second_token_is_refused():
    with pytest.raises(CourseError, match="at least two tokens"):
        token_probabilities(RNNLanguageModel(RNNConfig(7, 4, 4)), torch.tensor([3]))
