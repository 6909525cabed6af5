"""Recipes of LSTM language models, over words and over characters (chapters 02 to 04).

Each review is read from its beginning, with an empty state, and its gradient goes back all the way:
no state is carried from one review to the next, which have nothing to do with each other.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import nn

from lmcourse.corpus.bookworld import END, BookWorld, Review
from lmcourse.evaluation import Score
from lmcourse.evaluation.uncertainty import mean_of_ratio
from lmcourse.models.checkpoint import Model
from lmcourse.models.rnn_lm import RNNLanguageModel
from lmcourse.tokenizers import words
from lmcourse.tokenizers.characters import characters
from lmcourse.training.examples import Example
from lmcourse.training.watching import Watch
from research.pretrain.budget import Budget
from research.pretrain.causal import CausalRecipe
from research.pretrain.looks import loss_of
from research.pretrain.recipe import Trained
from research.pretrain.records import Scores
from research.pretrain.text_score import text_score
from research.runs import Checkpoints

WORDS = {"cell": "lstm", "embedding_size": 64, "hidden_size": 112}
CHARACTERS = {"cell": "lstm", "embedding_size": 24, "hidden_size": 144}
TEST = 300  # reviews, as many as gap tables of causal models have


@dataclass(frozen=True)
class CharacterRecipe(CausalRecipe):
    """A language model over the characters of the reviews as they are printed.

    It predicts no words, so it has no gap. Its code is held against that of the words: who knows
    the characters of a text knows its words, so −log p of the words is a floor of −log p of the
    characters. (They are not equal. The words of a text do not determine all of its capitals.)
    """

    def built(self, world: BookWorld) -> Model:
        """See `Recipe.built`."""
        size = characters(alphabet(world)).get_vocab_size()
        return self.model(self.model.Config(vocab_size=size, **self.settings))

    def examples(self, world: BookWorld) -> list[Example]:
        """See `Recipe.examples`."""
        reviews = world.sample(self.budget.reviews, self.budget.reviews_seed)
        return spelled(reviews, characters(alphabet(world)))

    def held_out(self, world: BookWorld, device: torch.device) -> Callable[[nn.Module], float]:
        """See `Recipe.held_out`."""
        examples = spelled(self.held_out_reviews(world), characters(alphabet(world)))
        return loss_of(self.objective, examples)

    def train(
        self,
        world: BookWorld,
        seed: int,
        device: torch.device,
        checkpoints: Checkpoints | None = None,
        watch: Watch = "log",
    ) -> Trained:
        """See `Trainable.train`."""
        trained = super().train(world, seed, device, checkpoints, watch)
        return replace(trained, tokenizer=characters(alphabet(world)))

    def scores(self, trained: Trained, world: BookWorld) -> Scores:
        """Bits a character of the test split, and of the best model of its words."""
        reviews = self.test_reviews(world) or world.split("test", TEST)
        return Scores.of(None, bits(trained.model, reviews, world))


def spelled(reviews: Sequence[Review], tokenizer: Tokenizer) -> list[Example]:
    """Reviews to learn from: what the tokenizer of characters makes of their texts, but faster."""
    ids: Mapping[str, int] = tokenizer.get_vocab()
    return [
        {"input_ids": np.array([words.CLS, *map(ids.__getitem__, review.text), words.SEP])}
        for review in reviews
    ]


def bits(model: nn.Module, reviews: Sequence[Review], world: BookWorld) -> dict[str, Score]:
    """How many bits a character takes by a model over characters, and by BookWorld's words.

    The end of a review is paid for in both.
    """
    tokenizer = characters(alphabet(world))
    ids = [example["input_ids"][1:] for example in spelled(reviews, tokenizer)]
    texts = [review.text for review in reviews]
    own = text_score(model, ids, texts=texts, start=words.CLS)
    exact = exact_nats(reviews, world)
    counts = np.array([len(text) for text in texts])
    scale = counts * math.log(2)
    return {
        "bits a character": mean_of_ratio(own.nats, scale),
        "bits a character, floor by the words": mean_of_ratio(exact, scale),
        "bits a character above this floor": mean_of_ratio(own.nats - exact, scale),
    }


def exact_nats(reviews: Sequence[Review], world: BookWorld) -> NDArray[np.float64]:
    """−log p of each review, its end included."""
    return np.array([-world.log_probs(end_marked(review)).sum() for review in reviews])


def end_marked(review: Review) -> list[str]:
    """The tokens of a review, and the end mark."""
    return [review.network.vocabulary[id_] for id_ in review.ids]


RECURRENT: tuple[Any, ...] = (
    CausalRecipe(
        "bookworld-lstm",
        "LSTM: a language model over words",
        RNNLanguageModel,
        WORDS,
        Budget(steps=8000, learning_rate=8e-3, matrix_rate=0.02),
    ),
    CharacterRecipe(
        "bookworld-char-lstm",
        "LSTM over characters: a language model of reviews",
        RNNLanguageModel,
        CHARACTERS,
        Budget(steps=3500, reviews=20_000, learning_rate=5e-3, matrix_rate=0.02),
    ),
)


def alphabet(world: BookWorld) -> list[str]:
    """All characters that a text of a world can have, in order."""
    letters = {letter for word in world.vocabulary if word != END for letter in word}
    return sorted({" ", *letters, *(letter.upper() for letter in letters)})
