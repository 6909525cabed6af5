"""The recipe of the whole Transformer, which learns to write dates (chapter 09).

It reads and writes characters. Label smoothing, Adam's settings and the schedule are those of
Vaswani et al. (2017, section 5), for a smaller width and a shorter warm-up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.dates import DatePair, DateTask
from lmcourse.evaluation.uncertainty import Score, proportion
from lmcourse.models.checkpoint import Model
from lmcourse.models.encoder_decoder import Transformer, TransformerConfig
from lmcourse.models.transformer import LayerConfig
from lmcourse.tokenizers import words
from lmcourse.tokenizers.characters import characters
from lmcourse.training.examples import Example
from lmcourse.training.objectives import Objective
from lmcourse.training.schedules import Curve, inverse_square_root
from lmcourse.training.seq2seq import Seq2SeqLM, date_examples, transcribe
from lmcourse.training.watching import Watch
from research.pretrain.budget import Budget
from research.pretrain.held_out import HeldOut
from research.pretrain.looks import loss_of
from research.pretrain.recipe import Recipe, Trained
from research.pretrain.records import Scores
from research.runs import Checkpoints

HELD_OUT, TEST = range(2)  # seeds of the dates that the train split does not have
MEASURED = 2000


@dataclass(frozen=True)
class TransformerRecipe(Recipe):
    """A Transformer that learns dates; ``reviews`` and ``batch_size`` count these.

    ``learning_rate`` multiplies the published schedule, width^−½ min(s^−½, s W^−1.5), whose
    warm-up W is ``warmup`` of the steps.
    """

    task: DateTask = field(default_factory=DateTask)

    def built(self, world: BookWorld) -> Model:
        """See `Recipe.built`. The world has no say in it."""
        return Transformer(
            TransformerConfig(
                vocab_size=self.tokenizer.get_vocab_size(),
                decoder_start_token_id=words.CLS,
                pad_token_id=words.PAD,
                **self.settings,
            )
        )

    @property
    def tokenizer(self) -> Tokenizer:
        """That of sources and targets."""
        return characters(self.task.characters)

    def objective(self, network: nn.Module) -> Objective:
        """See `Recipe.objective`."""
        return Seq2SeqLM(network)

    def optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        """Adam as published (section 5.3)."""
        budget = self.budget
        return torch.optim.Adam(network.parameters(), budget.learning_rate, budget.betas, 1e-9)

    def curve(self) -> Curve:
        """The published schedule (section 5.3, eq. 3)."""
        warmup = max(1, round(self.budget.warmup * self.budget.steps))
        return inverse_square_root(warmup, self.settings["layer"].hidden_size)

    def examples(self, world: BookWorld) -> list[Example]:
        """See `Recipe.examples`."""
        pairs = self.task.pairs(self.budget.reviews, self.budget.reviews_seed)
        return date_examples(pairs, self.tokenizer)

    def held_out(self, world: BookWorld, device: torch.device) -> HeldOut:
        """See `Recipe.held_out`: the smoothed loss on other dates."""
        pairs = self.task.pairs(self.budget.held_out, HELD_OUT, "test")
        return loss_of(self.objective, date_examples(pairs, self.tokenizer))

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
        return replace(trained, tokenizer=self.tokenizer)

    def scores(self, trained: Trained, world: BookWorld) -> Scores:
        """The share of dates of the test split that are written rightly, every character."""
        pairs = self.task.pairs(self.budget.measured or MEASURED, TEST, "test")
        return Scores.of(None, {"dates written rightly": exact_match(trained.model, pairs, self)})


def exact_match(model: Any, pairs: Sequence[DatePair], recipe: TransformerRecipe) -> Score:
    """The share of targets that greedy decoding writes without a fault."""
    found = transcribe(model, [pair.source for pair in pairs], recipe.tokenizer)
    return proportion([one == pair.target for one, pair in zip(found, pairs, strict=True)])


TRANSFORMER = TransformerRecipe(
    "bookworld-transformer",
    "The Transformer: dates in everyday notations, translated to ISO 8601",
    Transformer,
    {
        "layer": LayerConfig(hidden_size=64, num_attention_heads=4, intermediate_size=192),
        "num_hidden_layers": 2,
        "max_position_embeddings": 64,
        "label_smoothing": 0.1,
    },
    Budget(
        steps=8000,
        reviews=100_000,
        batch_size=32,
        learning_rate=0.7,
        warmup=0.15,
        weight_decay=0.0,
        held_out=500,
    ),
)
