"""Small corpora in the format of the installed ones, vectors of their words, and an encoder."""

import json
import random
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from lmcourse import hub
from lmcourse.corpus.brown import _OF_LETTER, Brown
from lmcourse.corpus.mails import GROUPS, Mails
from lmcourse.corpus.vectors import WordVectors
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.tokenizers import recipes
from research.real_text import genres, spam, zipf
from research.real_text.sources import Sources

COMMON = ["the", "of", "and", "to", "in", "a", "is", "it"]
SIZES = dict(zip(GROUPS, (60, 40, 10, 30, 40), strict=True))


def own_words(letter):
    """The words of a genre."""
    return [f"{letter}{other}{letter}" for other in "abcdefgh"]


def write_brown(folder):
    """Six texts of each genre, whose words depend a little on it."""
    draw = random.Random(0)
    every = [word for letter in _OF_LETTER for word in own_words(letter)]
    for letter in _OF_LETTER:
        own = own_words(letter)
        for number in range(6):
            lines = []
            for _ in range(14):
                words = (
                    draw.choices(own, k=1) + draw.choices(every, k=2) + draw.choices(COMMON, k=5)
                )
                lines.append(" ".join(f"{word}/nn" for word in [*words, "``", "Xy", "''"]) + " ./.")
            (folder / f"c{letter}{number:02}").write_text("\n".join(lines) + "\n")


def raw_mail(draw, group, number):
    """A mail: spam has other words, each collection another month, lists are of ham."""
    bad = group.startswith("spam")
    month = "Aug" if group.endswith("1") else "Sep"
    words = draw.choices(["free", "money", "win", "click"] if bad else list("bcdefgh"), k=9)
    words += draw.choices(COMMON, k=9)
    lines = [
        f"From: person{number}@example.org",
        f"Received: from host{number % 3}.example by mail.example; 22 {month} 2002 12:00:00 +0000",
        f"Date: Thu, 22 {month} 2002 11:00:00 +0000" if number % 4 else "Date: never",
    ]
    if not bad and number % 2:
        lines.append("List-Id: talk")
    if number == 4 and group not in ("easy-ham-2", "hard-ham-1"):  # too rare for the table
        lines += [
            f"{name}: secret" for name in spam.FIELDS if name not in "From Received Date List-Id"
        ]
    return "\n".join([*lines, "", " ".join(words), ""])


def write_mails(folder):
    """Mails of which every tenth is the one before it, but for a word."""
    draw = random.Random(1)
    for group, count in SIZES.items():
        found = []
        for number in range(count):
            raw = raw_mail(draw, group, number)
            if number % 10 == 9:
                raw = found[-1].rstrip() + " more\n"
            found.append(raw)
        lines = [json.dumps({"name": "1.txt", "text": raw}) + "\n" for raw in found]
        (folder / f"{group}.jsonl").write_text("".join(lines))


def small_world():
    """Some reviews."""
    draw = random.Random(2)
    words = [" ".join(draw.choices(["book", "plot", *COMMON, "7"], k=30)) for _ in range(12)]
    reviews = [SimpleNamespace(text=f"{text}.", tokens=[*text.split(), "."]) for text in words]
    return SimpleNamespace(split=lambda name, at_most=None: reviews[:at_most])


def small_encoder():
    """A BERT with three layers and random weights."""
    words = " ".join(word for letter in _OF_LETTER for word in own_words(letter))
    texts = [words, 'the of and to in a is it xy free money win click offer . "']
    tokenizer = recipes.bert(texts, 200, score="frequency", backend="tokenizers").tokenizer
    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2}
    model = Bert(BertConfig(vocab_size=200, intermediate_size=8, **sizes)).eval()
    names = ("input_ids", "token_type_ids", "attention_mask")
    return hub.Loaded(model, tokenizer, names, "small")


@pytest.fixture(scope="session")
def corpora(tmp_path_factory):
    """The folders of both corpora."""
    folder = tmp_path_factory.mktemp("corpora")
    for name, write in (("brown", write_brown), ("mails", write_mails)):
        (folder / name).mkdir()
        write(folder / name)
    return folder


@pytest.fixture(scope="session")
def sources(corpora, tmp_path_factory):
    """What the tables read, all small."""
    words = [word for letter in _OF_LETTER for word in own_words(letter)]
    words += ["money", "free", ".", *COMMON]
    vectors = np.random.default_rng(0).normal(size=(len(words), 6)).astype(np.float32)
    found = Sources(
        open_brown=lambda: Brown(corpora / "brown"),
        open_mails=lambda: Mails(corpora / "mails"),
        open_vectors=lambda: WordVectors(words, vectors),
        open_encoder=small_encoder,
        folder=tmp_path_factory.mktemp("parts"),
    )
    found.world = small_world()
    return found


@pytest.fixture(scope="module")
def small_texts():
    """Passages and samples that texts of some hundred words have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(genres, "WORDS", 24)
        patch.setattr(genres, "RESAMPLES", 20)
        patch.setattr(zipf, "LENGTH", 60)
        patch.setattr(zipf, "SAMPLES", 20)
        patch.setattr(spam, "WORDS", 15)
        yield
