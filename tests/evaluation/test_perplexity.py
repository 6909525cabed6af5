"""Perplexity of a model on a text."""

import math

import pytest
import torch

from lmcourse.evaluation import mean_negative_log_likelihood, perplexity
from lmcourse.models.rnn import RNNConfig, RNNLanguageModel


def test_a_model_that_knows_nothing_has_the_perplexity_of_its_vocabulary():
    model = RNNLanguageModel(RNNConfig(7, 4, 4))
    torch.nn.init.zeros_(model.output.weight), torch.nn.init.zeros_(model.output.bias)
    nats = mean_negative_log_likelihood(model, torch.randint(7, (200,)), batch=2, time=10)
    assert perplexity(nats) == pytest.approx(7)


def test_equals_the_definition_on_one_stream():
    torch.manual_seed(0)
    model = RNNLanguageModel(RNNConfig(7, 4, 6))
    ids = torch.randint(7, (61,))
    with torch.no_grad():
        p = model(ids[None, :-1]).logits[0].softmax(-1)[torch.arange(60), ids[1:]]
    nats = mean_negative_log_likelihood(model, ids, batch=1, time=20)
    assert nats == pytest.approx(-p.log().mean().item(), abs=1e-6)
    assert perplexity(nats) == pytest.approx(math.prod(p.tolist()) ** (-1 / 60), rel=1e-5)
