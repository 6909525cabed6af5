"""The Transformer that writes dates: what it reads, its published settings, and its score."""

from dataclasses import replace

import pytest
import torch

from lmcourse.corpus.dates import DatePair
from lmcourse.models.losses import label_loss
from lmcourse.tokenizers import words
from lmcourse.training import train
from lmcourse.training.examples import padded
from lmcourse.training.seq2seq import LENGTH, Seq2SeqLM, date_examples, transcribe
from research.pretrain import RECIPES
from research.pretrain.seq2seq import exact_match

RECIPE = RECIPES["bookworld-transformer"]


def test_sources_are_framed_and_answers_end(world):
    pairs = RECIPE.task.pairs(50, seed=2)
    tokenizer = RECIPE.tokenizer
    for pair, example in zip(pairs, date_examples(pairs, tokenizer), strict=True):
        assert example["input_ids"].tolist() == tokenizer.encode(pair.source).ids
        assert tokenizer.decode(example["target"].tolist()) == pair.target
        assert len(example["target"]) == LENGTH and example["target"][-1] == words.SEP


def test_the_loss_is_of_each_character_from_those_before_it(world):
    torch.manual_seed(2)
    network = RECIPE.built(world).eval()
    batch = padded(date_examples(RECIPE.task.pairs(5, seed=2), RECIPE.tokenizer))
    ((loss, count),) = Seq2SeqLM(network)(batch)
    assert count == 5 * LENGTH
    target = batch["target"]
    start = torch.full((5, 1), words.CLS)
    logits = network(
        batch["input_ids"],
        batch["attention_mask"],
        decoder_input_ids=torch.cat([start, target[:, :-1]], 1),
    ).logits
    assert loss.item() == pytest.approx(label_loss(logits, target, 0.1).item(), rel=1e-6)


def test_the_schedule_is_the_published_one():
    curve, width = RECIPE.curve(), RECIPE.settings["layer"].hidden_size
    warmup = round(RECIPE.budget.warmup * RECIPE.budget.steps)
    for step in (1, warmup // 2, warmup, 2 * warmup):
        rate = width**-0.5 * min(step**-0.5, step * warmup**-1.5)
        assert curve(step - 1) == pytest.approx(rate)


def test_a_few_dates_are_learned_by_heart_and_the_score_tells(world):
    pairs = [
        DatePair("March 3, 1987", "1987-03-03"),
        DatePair("the 21st of Oct. 2015", "2015-10-21"),
    ]
    plain = replace(RECIPE.settings["layer"], hidden_dropout_prob=0, attention_probs_dropout_prob=0)
    small = replace(RECIPE.shortened(1), settings=RECIPE.settings | {"layer": plain})
    torch.manual_seed(1)
    network = small.built(world)
    assert exact_match(network, pairs, small).value == 0
    batch = padded(date_examples(pairs, small.tokenizer))
    objective = Seq2SeqLM(network)
    losses = (objective(batch) for _ in range(150))
    train(network, losses, learning_rate=3e-3, watch="nothing")
    network.eval()
    assert transcribe(network, [pair.source for pair in pairs], small.tokenizer) == [
        pair.target for pair in pairs
    ]
    assert exact_match(network, pairs, small).value == 1
    swapped = [DatePair(pairs[0].source, pairs[1].target), pairs[1]]
    assert exact_match(network, swapped, small).value == 0.5
