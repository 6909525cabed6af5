"""The recipe of the whole Transformer, which learns to write dates (chapter 09).

It reads and writes characters. Label smoothing, Adam's settings and the schedule are those of
Vaswani et al. (2017, section 5), for a smaller width and a shorter warm-up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.dates import DatePair, DateTask
from lmcourse.evaluation.uncertainty import Score, proportion
from lmcourse.models.checkpoint import Model
from lmcourse.models.decoding import greedy
from lmcourse.models.encoder_decoder import Transformer, TransformerConfig
from lmcourse.models.transformer import LayerConfig
from lmcourse.pretrain import words
from lmcourse.pretrain.budget import Budget
from lmcourse.pretrain.characters import characters
from lmcourse.pretrain.held_out import HeldOut
from lmcourse.pretrain.looks import loss_of
from lmcourse.pretrain.recipe import Recipe, Trained
from lmcourse.pretrain.records import Scores
from lmcourse.tokenizers import Tokenizer
from lmcourse.training import Checkpoints
from lmcourse.training.examples import Batch, Example, padded
from lmcourse.training.objectives import Objective
from lmcourse.training.schedules import Curve, inverse_square_root
from lmcourse.training.watching import Watch

ANSWER = len("1987-03-03") + 1  # with the mark of its end
HELD_OUT, TEST = range(2)  # seeds of the dates that the train split does not have
MEASURED = 2000


class Transduction(Objective):
    """A target from its source: each of its tokens from those before it.

    Args:
        model: a `Transformer` or `Seq2Seq`.
    """

    def loss(self, batch: Batch, generator: torch.Generator | None) -> tuple[Tensor, int | float]:
        """See `Objective.loss`. Each token of a target is a prediction."""
        given = self.given(batch, "target")
        target = given.pop("target")
        return self.model(**given, labels=target).loss, target.numel()


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
        return Transduction(network)

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
        return spelled(pairs, self.tokenizer)

    def held_out(self, world: BookWorld, device: torch.device) -> HeldOut:
        """See `Recipe.held_out`: the smoothed loss on other dates."""
        pairs = self.task.pairs(self.budget.held_out, HELD_OUT, "test")
        return loss_of(self.objective, spelled(pairs, self.tokenizer))

    def train(
        self,
        world: BookWorld,
        seed: int,
        device: torch.device,
        checkpoints: Checkpoints | None = None,
        watch: Watch = "plot",
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
    found = written(model, [pair.source for pair in pairs], recipe.tokenizer)
    return proportion([one == pair.target for one, pair in zip(found, pairs, strict=True)])


def written(model: Any, sources: Sequence[str], tokenizer: Tokenizer) -> list[str]:
    """What a model makes of some sources."""
    ids = tokenizer.get_vocab()
    batch = padded([{"input_ids": _read(source, ids)} for source in sources], words.PAD)
    device = next(model.parameters()).device
    targets = greedy(
        model,
        batch["input_ids"].to(device),
        batch["attention_mask"].to(device),
        end_token_id=words.SEP,
        max_new_tokens=ANSWER,
    )
    return [tokenizer.decode(row.tolist()) for row in targets]


def spelled(pairs: Sequence[DatePair], tokenizer: Tokenizer) -> list[Example]:
    """Dates to learn from."""
    ids = tokenizer.get_vocab()
    return [
        {
            "input_ids": _read(pair.source, ids),
            "target": np.array([*map(ids.__getitem__, pair.target), words.SEP]),
        }
        for pair in pairs
    ]


def _read(source: str, ids: dict[str, int]) -> np.ndarray:
    return np.array([words.CLS, *map(ids.__getitem__, source), words.SEP])


TRANSFORMER = TransformerRecipe(
    "bookworld-transformer",
    "The Transformer: dates as people write them, to dates as ISO 8601 has them",
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
