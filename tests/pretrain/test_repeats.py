"""Rare words that a text repeats count more at first: by hand, on a schedule, taken up again."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.bookworld.registers import CHARACTERS
from lmcourse.errors import CourseError
from lmcourse.tokenizers import words
from lmcourse.training import BatchLosses
from lmcourse.training.examples import padded
from lmcourse.training.objectives import CausalLM, Labelled
from lmcourse.training.seeds import generator_of
from research.pretrain.recipes import recipe
from research.pretrain.repeats import CopyWarmUp, RepeatsFirst, rare_tokens

KINDS = ["bookworld-mlm", "bookworld-mlm-relative", "bookworld-clm"]
NARROW = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8}


@pytest.fixture(scope="module")
def examples(world: BookWorld):
    return list(words.examples(world.sample(12, 3)))


def begun(name: str, world: BookWorld, examples):
    known = recipe(name)
    torch.manual_seed(0)
    network = replace(known, settings={**known.settings, **NARROW}).built(world)
    rare = rare_tokens(examples, words.size(world), 0.01)
    return known.objective(network), rare


def by_hand(plain, batch, rare, extra: float) -> float:
    """Token by token."""
    network, total, weights = plain.model, 0.0, 0.0
    for row, length in enumerate(batch["attention_mask"].sum(1).tolist()):
        ids = batch["input_ids"][row, :length].tolist()
        scores = network(torch.tensor([ids])).logits[0].log_softmax(-1)
        for place in range(length):
            if isinstance(plain, CausalLM):
                if place == 0:
                    continue
                label, shown, at = ids[place], ids[:place], place - 1
            else:
                label, shown, at = int(batch["labels"][row, place]), ids, place
                if label < 0:
                    continue
            weight = 1 + extra * (label in shown and bool(rare[label]))
            total -= weight * scores[at, label].item()
            weights += weight
    return total / weights


@pytest.mark.parametrize("extra", [0.0, 7.5])
@pytest.mark.parametrize("name", KINDS)
def test_the_loss_is_the_weighted_mean(name, extra, world, examples):
    plain, rare = begun(name, world, examples)
    first = RepeatsFirst(plain, rare)
    first.extra = extra
    batch = first.sample(padded(examples[:3], words.PAD), generator_of(1))
    (loss,), (count,) = first.means(batch), first.counts(batch)
    assert loss.item() == pytest.approx(by_hand(plain, batch, rare, extra), rel=1e-5)
    (known,), (number,) = plain.means(batch), plain.counts(batch)
    assert (count == number) == (extra == 0)
    assert (loss.item() == pytest.approx(known.item(), rel=1e-5)) == (extra == 0)


def test_rare_tokens_are_those_of_a_small_share():
    texts = [{"input_ids": [1, 1, 1, 2]}, {"input_ids": [1, 1, 1, 1, 3, 3]}]
    assert rare_tokens(texts, 6, 0.2).tolist() == [False, False, True, False, False, False]


def test_names_are_rare_and_common_words_are_not(world):
    rare = rare_tokens(list(words.examples(world.sample(300, 5))), words.size(world))
    known, names = words.ids(world), set()
    for review in world.sample(20, 6):
        for token, tag in zip(review.tokens, review.tags, strict=True):
            if tag.register in CHARACTERS:
                names.add(token)
    assert len(names) > 20 and all(rare[known[name]] for name in names)
    assert not any(rare[known[it]] for it in ("the", "a", ".", "of"))
    assert not any(rare[it] for it in (words.CLS, words.SEP, words.PAD, words.MASK))


def test_its_weight_stays_and_falls_to_nothing(world, examples):
    plain, rare = begun("bookworld-clm", world, examples)
    losses = CopyWarmUp(RepeatsFirst(plain, rare, 8.0), 4, plain, examples, steps=6, batch_size=2)
    told = []
    for _ in losses:
        told.append((type(losses.objective).__name__, losses.first.extra))
    warmup = [("RepeatsFirst", weight) for weight in (8.0, 8.0, 8.0, 4.0)]
    assert told[:4] == warmup and [name for name, _ in told[4:]] == ["CausalLM"] * 2


@pytest.mark.parametrize("name", KINDS)
def test_afterwards_it_is_the_plain_objective_on_the_same_batches(name, world, examples):
    plain, rare = begun(name, world, examples)
    settings = {"steps": 5, "batch_size": 3, "seed": 4}
    with torch.no_grad():
        ours = list(CopyWarmUp(RepeatsFirst(plain, rare), 2, plain, examples, **settings))
        theirs = list(BatchLosses(plain, examples, **settings))
    assert ours[2:] == theirs[2:]
    assert all(one != other for one, other in zip(ours[:2], theirs[:2], strict=True))


def test_it_is_taken_up_again_in_the_middle(world, examples):
    plain, rare = begun("bookworld-mlm", world, examples)

    def losses():
        return CopyWarmUp(RepeatsFirst(plain, rare), 4, plain, examples, steps=6, batch_size=2)

    with torch.no_grad():
        whole = list(losses())
        left = losses()
        before = [next(left) for _ in range(3)]
        after = losses()
        after.load_state_dict(left.state_dict())
        assert before + list(after) == whole
    assert after.config == left.config != BatchLosses(plain, examples, steps=6).config


def test_other_objectives_are_refused():
    network = nn.Linear(2, 2)
    with pytest.raises(CourseError, match="A Labelled does not say"):
        RepeatsFirst(Labelled(network), torch.ones(4, dtype=torch.bool))
