"""ELMo: what both directions predict, and how it is asked by words."""

import pytest
import torch
from torch.nn import functional

from lmcourse.evaluation.logits import FORWARD, effect, logits_of
from lmcourse.models.char_cnn import BEGIN, END, character_ids
from lmcourse.tokenizers import words
from lmcourse.training.examples import padded
from research.pretrain import RECIPES
from research.pretrain.elmo import (
    LAYERS,
    MAX_CHARACTERS,
    BothDirections,
    Spelled,
    backward_nats,
    spelling,
)


@pytest.fixture(scope="module")
def network(world):
    torch.manual_seed(3)
    return RECIPES["bookworld-elmo"].built(world).eval()


def test_words_are_spelled_and_the_marks_are_elmos(world):
    table, ids = spelling(world), words.ids(world)
    assert table.shape == (words.size(world), MAX_CHARACTERS)
    assert torch.equal(table[words.CLS], character_ids([[BEGIN]], MAX_CHARACTERS)[0, 0])
    assert torch.equal(table[words.SEP], character_ids([[END]], MAX_CHARACTERS)[0, 0])
    for word in ("bank", ".", max(world.vocabulary, key=len)):
        row = table[ids[word]]
        assert torch.equal(row, character_ids([[word]], MAX_CHARACTERS)[0, 0])
    assert len(table.unique(dim=0)) == len(table)  # no word is cut to be like another


def test_each_token_is_predicted_from_both_sides(world, network):
    (example,) = words.examples(world.sample(1, seed=4))
    batch = padded([example])
    ((loss, count),) = BothDirections(network, spelling(world))(batch)
    ids = batch["input_ids"]
    result = network(spelling(world)[ids])
    forward = result.forward_logits.log_softmax(-1)[0, :-1].gather(1, ids[0, 1:, None])
    backward = result.backward_logits.log_softmax(-1)[0, 1:].gather(1, ids[0, :-1, None])
    assert count == 2 * (ids.shape[1] - 1)
    assert loss.item() == pytest.approx(-(forward.sum() + backward.sum()).item() / count, rel=1e-5)


def test_padding_changes_no_loss(world, network):
    objective = BothDirections(network, spelling(world))
    examples = words.examples(world.sample(4, seed=4))
    assert len({len(example["input_ids"]) for example in examples}) > 1
    ((whole, count),) = objective(padded(examples))
    each = [term for example in examples for term in objective(padded([example]))]
    assert count == sum(n for _, n in each)
    mean = sum(loss.item() * n for loss, n in each) / count
    assert whole.item() == pytest.approx(mean, rel=1e-5)


def test_backward_a_review_is_read_from_its_end(world, network):
    reviews = world.sample(5, seed=6)
    found = backward_nats(Spelled(network, spelling(world)), reviews, world)
    nats = count = floor = 0.0
    for review, example in zip(reviews, words.examples(reviews), strict=True):
        ids = torch.from_numpy(example["input_ids"])
        with torch.no_grad():
            logits = network(spelling(world)[ids[None]]).backward_logits[0]
        nats += functional.cross_entropy(logits[1:], ids[:-1], reduction="sum").item()
        count += len(ids) - 1
        floor -= world.log_prob([*review.tokens, "<end>"])
    one, above = found.values()
    assert one.value == pytest.approx(nats / count, rel=1e-5)
    assert above.value == pytest.approx((nats - floor) / count, rel=1e-5)
    assert 0 < above.error < one.value


def test_asked_by_words_the_forward_direction_sees_no_later_one(world, network):
    spelled = Spelled(network, spelling(world))
    (example,) = words.examples(world.sample(1, seed=5))
    ids = torch.from_numpy(example["input_ids"])
    result = spelled(ids[None])
    assert torch.equal(result.forward_logits, network(spelling(world)[ids[None]]).forward_logits)
    before, behind = effect(logits_of(spelled, FORWARD), ids, 10)
    assert before == 0 < behind
    states = spelled(ids[None], output_hidden_states=True).hidden_states
    assert len(states) == len(LAYERS)
