"""LSTM language models: characters and their ids, and bits a character."""

import math

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.tokenizers import words
from lmcourse.tokenizers.characters import characters
from lmcourse.training import CausalLM
from research.pretrain import RECIPES, held_out
from research.pretrain.looks import loss_of
from research.pretrain.recurrent import alphabet, bits, spelled


@pytest.fixture(scope="module")
def tokenizer(world):
    return characters(alphabet(world))


def test_a_text_comes_back_from_its_characters(world, tokenizer, tmp_path):
    tokenizer.save(str(tmp_path / "characters.json"))
    loaded = Tokenizer.from_file(str(tmp_path / "characters.json"))
    for review in world.sample(20, seed=8):
        encoding = loaded.encode(review.text)
        assert len(encoding) == len(review.text) + 2
        assert encoding.ids[0] == words.CLS and encoding.ids[-1] == words.SEP
        assert words.UNKNOWN not in encoding.ids
        assert loaded.decode(encoding.ids) == review.text


def test_reviews_are_spelled_as_the_tokenizer_reads_them(world, tokenizer):
    reviews = world.sample(100, seed=8)
    for review, example in zip(reviews, spelled(reviews, tokenizer), strict=True):
        assert example["input_ids"].tolist() == tokenizer.encode(review.text).ids


def test_the_alphabet_has_all_characters_of_the_reviews(world):
    known = set(alphabet(world))
    assert {letter for review in world.sample(500, seed=6) for letter in review.text} <= known
    assert len(alphabet(world)) == len(known) < 80


def test_bits_of_a_model_that_knows_nothing(world, tokenizer):
    model = RNNLanguageModel(RNNConfig(tokenizer.get_vocab_size(), 4, 4, "lstm"))
    torch.nn.init.zeros_(model.output.weight)
    torch.nn.init.zeros_(model.output.bias)
    reviews = world.sample(6, seed=3)
    found = bits(model, reviews, world)
    letters = sum(len(review.text) for review in reviews)
    blind = math.log2(tokenizer.get_vocab_size()) * (letters + len(reviews)) / letters
    assert found["bits a character"].value == pytest.approx(blind, rel=1e-5)
    exact = -sum(world.log_prob([*review.tokens, "<end>"]) for review in reviews)
    floor = found["bits a character, floor by the words"].value
    assert floor == pytest.approx(exact / letters / math.log(2))
    above = found["bits a character above this floor"]
    assert above.value == pytest.approx(blind - floor, rel=1e-5) and above.error > 0


def test_a_training_is_watched_by_the_mean_over_all_held_out_predictions(world):
    recipe = RECIPES["bookworld-lstm"].shortened(2)
    network = recipe.built(world).eval()
    reviews = world.sample(7, seed=2)
    found = loss_of(CausalLM, words.examples(reviews), size=3)(network)
    assert found == pytest.approx(held_out.causal(reviews, torch.device("cpu"))(network))
    with torch.no_grad():
        each = [
            CausalLM(network)({"input_ids": ids, "attention_mask": torch.ones_like(ids)})
            for example in words.examples(reviews)
            for ids in [torch.from_numpy(example["input_ids"])[None]]
        ]
    sums = np.array([[mean.item() * count, count] for [(mean, count)] in each]).sum(0)
    assert found == pytest.approx(sums[0] / sums[1], rel=1e-5)
