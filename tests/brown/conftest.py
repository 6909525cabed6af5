"""An invented corpus of some hundred words, and models that learn from it in a moment."""

import random

import pytest

from lmcourse.corpus.brown import Sentence
from research.brown import entries
from research.brown.entries import Learner, NGram
from research.brown.networks import (
    BothSides,
    MaskedTransformer,
    NeuralNGram,
    RecurrentNetwork,
    Transformer,
)
from research.brown.text import text_of
from research.brown.training import Budget


def sentence(words, genre, text):
    """A sentence without tags, which the table does not read."""
    return Sentence(tuple(words), (), genre, text, ())


def sentences(count=60, seed=0):
    """Texts of ten sentences each, which repeat some pairs of words."""
    draw = random.Random(seed)
    for number in range(count):
        words = []
        for _ in range(draw.randrange(2, 5)):
            words += [draw.choice("abcd"), draw.choice("wxyz"), draw.choice("AB,")]
        if number % 7 == 0:
            words.append(f"rare{number}")
        genre = "news" if number < 20 else "humor"
        yield sentence([*words, "."], genre, f"c{number // 10:02}")


TRAIN, VALIDATION = 400, 100
SMALL = Budget(3, rows=2, time=8)
ATTENTIVE = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}


@pytest.fixture(scope="session")
def text():
    return text_of(sentences(), TRAIN, VALIDATION)


def learners():
    """One of each kind."""
    ngram = {"context": 2, "embedding_size": 4, "hidden_size": 5}
    return [
        Learner("lstm", "LSTM", RecurrentNetwork, {"width": 6, "cell": "lstm"}, SMALL, untied=True),
        Learner("neural", "neural", NeuralNGram, ngram, SMALL),
        Learner("gpt", "GPT", Transformer, {"positions": 8} | ATTENTIVE, SMALL),
        Learner("both", "both", BothSides, {"width": 6}, SMALL, both_sides=True),
        Learner(
            "bert",
            "BERT",
            MaskedTransformer,
            {"positions": 8, "intermediate_size": 8} | ATTENTIVE,
            SMALL,
            both_sides=True,
        ),
    ]


@pytest.fixture(scope="module")
def table():
    """The command's table: two n-gram models and three of the small networks."""
    from research.brown import command, page, runs

    ngrams = [NGram("1-gram", "unigram", 0), NGram("2-gram", "bigram", 1)]
    networks = [learner for learner in learners() if learner.name in ("lstm", "neural", "both")]
    found = {entry.name: entry for entry in (*ngrams, *networks)}
    with pytest.MonkeyPatch.context() as patch:
        for module in (entries, runs, page):
            patch.setattr(module, "NGRAMS", ngrams)
        for module in (entries, page):
            patch.setattr(module, "LEARNERS", networks)
        for module in (entries, page, command):
            patch.setattr(module, "ENTRIES", found)
        yield found
