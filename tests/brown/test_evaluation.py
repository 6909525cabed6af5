"""Every model predicts every word from the context that it may read, as brute force does."""

import math

import pytest
import torch

from research.brown import evaluation, networks
from research.brown.evaluation import best_weight, mixed, of_network, of_ngram, perplexity
from research.brown.kneser_ney import KneserNey
from tests.brown.conftest import learners

CAUSAL = ["lstm", "neural", "gpt"]


def built(name, vocabulary, seed=0):
    """A network with random weights that are large enough to tell contexts apart."""
    torch.manual_seed(seed)
    (learner,) = (it for it in learners() if it.name == name)
    setting = {"learning_rate": 1e-3, "dropout": 0.2, "tied": False}
    network, _ = learner.built(vocabulary, setting)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return network.eval()


@pytest.fixture
def small_windows(monkeypatch):
    """Windows of a few words, so that a split has many, and the last one is shorter."""
    monkeypatch.setattr(networks, "WINDOW", 13)
    monkeypatch.setattr(networks, "WARM_UP", 7)
    monkeypatch.setattr(networks.RecurrentNetwork, "scope", (7, 13, 0))
    monkeypatch.setattr(networks.BothSides, "scope", (6, 13, 6))
    monkeypatch.setattr(evaluation, "AT_ONCE", 40)


def log_p_of_one(network, window, at):
    """log p of the word at a position of a window, by a full softmax over all words."""
    features, _ = network.features(window[None])
    logits = features[0, at - network.margins[0]] @ network.weight.T + network.bias
    return logits.log_softmax(0)[window[at]].item()


@pytest.mark.parametrize("name", CAUSAL)
def test_each_word_is_predicted_from_the_words_before_it(name, text, small_windows):
    network = built(name, len(text.vocabulary))
    start, end = text.splits["test"]
    found = of_network(network, text.ids, start, end)
    assert len(found) == end - start
    before, count, after = network.scope
    assert after == 0
    for at in (0, 1, count - 1, count, count + 1, len(found) - 1):
        window_start = start + at - at % count - before
        window = text.ids[window_start : start + at + 1]  # nothing after the word
        wanted = log_p_of_one(network, window, len(window) - 1)
        assert found[at].item() == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("name", CAUSAL)
def test_no_later_word_matters(name, text, small_windows):
    network = built(name, len(text.vocabulary))
    start, end = text.splits["test"]
    other = text.ids.clone()
    other[start + 20 :] = (other[start + 20 :] + 1) % len(text.vocabulary)
    one, two = (of_network(network, ids, start, end) for ids in (text.ids, other))
    torch.testing.assert_close(one[:20], two[:20])
    assert not torch.allclose(one[20:], two[20:])


@pytest.mark.parametrize("name", ["both", "bert"])
def test_both_sides_matter_and_the_word_itself_does_not(name, text, small_windows):
    network = built(name, len(text.vocabulary))
    start, end = text.splits["test"]
    before, count, after = network.scope
    at = start + 2 * count
    padded = torch.cat([text.ids, text.ids[-1:].expand(after)])

    def distribution(ids):
        features = network.scored(ids[None, at - before : at + count + after], count)[0, 0]
        return (features @ network.weight.T + network.bias).log_softmax(0)

    def changed(position):
        ids = padded.clone()
        ids[position] = (ids[position] + 1) % len(text.vocabulary)
        return distribution(ids)

    p = distribution(padded)
    assert torch.equal(p, changed(at))
    assert not torch.allclose(p, changed(at - 1)) and not torch.allclose(p, changed(at + 1))
    found = of_network(network, text.ids, start, end)
    assert len(found) == end - start
    assert found[at - start].item() == pytest.approx(p[text.ids[at]].item(), abs=1e-5)


def test_an_ngram_model_has_the_context_of_the_split_before(text):
    train = text.split("train").tolist()
    for context in (0, 2):
        model = KneserNey(train, context, len(text.vocabulary))
        start, end = text.splits["test"]
        wanted = [
            math.log(model.probability(int(text.ids[at]), text.ids[max(0, at - 5) : at].tolist()))
            for at in range(start, end)
        ]
        assert of_ngram(model, text.ids, start, end).tolist() == pytest.approx(wanted)


def test_perplexity_is_the_geometric_mean_of_one_over_p():
    p = torch.tensor([0.5, 0.25, 0.125])
    assert perplexity(p.log()) == pytest.approx((2 * 4 * 8) ** (1 / 3))


def test_a_mixture_is_the_weighted_mean_of_probabilities():
    one, two = torch.tensor([0.9, 0.1]), torch.tensor([0.1, 0.5])
    found = mixed(one.log(), two.log(), 0.25).exp()
    torch.testing.assert_close(found, torch.tensor([0.3, 0.4], dtype=torch.double))
    assert best_weight(one.log(), two.log()) not in (0, 1)
    assert best_weight(one.log(), one.log() - 1) == 1
