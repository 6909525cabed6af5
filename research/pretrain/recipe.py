"""What a recipe is: everything that decides how a model comes out, as plain data.

`research.pretrain.run` uses of a recipe what `Trainable` lists. `Recipe` is the common case, a
network that learns batch by batch; what learns otherwise brings a ``train`` of its own. All recipes
are in `research.pretrain.recipes`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch
from tokenizers import Tokenizer
from torch import nn

from lmcourse.corpus.bookworld import BookWorld, Review
from lmcourse.models.checkpoint import Model
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.encoder_decoder import sinusoids
from lmcourse.tokenizers import words
from lmcourse.training import BatchLosses, History, train
from lmcourse.training.batches import Batches
from lmcourse.training.examples import Example
from lmcourse.training.objectives import Objective
from lmcourse.training.schedules import Curve, linear, scheduled
from lmcourse.training.watching import Watch
from research.pretrain.budget import Budget
from research.pretrain.clock import Clocked, Seconds
from research.pretrain.optimizers import MuonWithAdamW, parameter_groups
from research.pretrain.records import Scores
from research.pretrain.repeats import CopyWarmUp, RepeatsFirst, rare_tokens
from research.runs import Checkpoints, EarlyStopping
from research.runs.run_config import plain

R = TypeVar("R", bound="Recipe")


@dataclass
class Trained:
    """What a training gives.

    Attributes:
        model: what is shipped, on the CPU and in evaluation mode.
        tokenizer: that it reads through; None if it reads no text, as tables of vectors.
        history: loss and gradient's norm of each step.
        seconds: how long it took, over all its parts if it was interrupted.
        tokens: how many tokens it has read, a repeated one as often as it was.
        held_out: (step, loss on reviews of the validation split).
        best_step: the step whose parameters these are; None: the last one.
        network: what was trained, where that is more than what is shipped.
    """

    model: Model
    tokenizer: Tokenizer | None
    history: History
    seconds: Seconds
    tokens: int
    held_out: list[tuple[int, float]] = field(default_factory=list)
    best_step: int | None = None
    network: nn.Module | None = None


@runtime_checkable
class Trainable(Protocol):
    """What a recipe can do. (Attributes that are read alone, so that a dataclass may be frozen.)

    ``name`` is what the model is shipped and loaded by, ``about`` what it is, in a line.
    """

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...

    @property
    def config(self) -> Mapping[str, Any]:
        """All that decides the result, as JSON has it."""
        ...

    def shortened(self, steps: int) -> "Trainable":
        """The same recipe for so few steps, as tests need it; less data will do for it."""
        ...

    def train(
        self,
        world: BookWorld,
        seed: int,
        device: torch.device,
        checkpoints: Checkpoints | None = None,
        watch: Watch = "log",
    ) -> Trained:
        """Train; or go on where the checkpoints are."""
        ...

    def scores(self, trained: Trained, world: BookWorld) -> Scores:
        """What the model is worth, with standard errors."""
        ...


@dataclass
class Begun:
    """A training at its beginning."""

    model: nn.Module
    losses: BatchLosses
    optimizer: torch.optim.Optimizer
    scheduler: torch.optim.lr_scheduler.LRScheduler
    held_out: Callable[[nn.Module], float]


@dataclass(frozen=True)
class Recipe:
    """A network of ours that learns from BookWorld's reviews, batch by batch.

    Attributes:
        name: what it is shipped and loaded by.
        about: what it is, in a line; it decides nothing.
        model: its class.
        settings: what its configuration has besides the vocabulary's size.
        budget: on what it learns, how long, and how fast.
    """

    name: str
    about: str
    model: type[Model]
    settings: Mapping[str, Any]
    budget: Budget

    # ----------------------------------------------------------------- what differs by family

    def objective(self, network: nn.Module) -> Objective:
        """What is learned of a batch."""
        raise NotImplementedError

    def held_out(self, world: BookWorld, device: torch.device) -> Callable[[nn.Module], float]:
        """The network's loss on reviews that it does not learn from, as a function of it."""
        raise NotImplementedError

    def scores(self, trained: Trained, world: BookWorld) -> Scores:
        """See `Trainable.scores`."""
        raise NotImplementedError

    def built(self, world: BookWorld) -> Model:
        """The network at its start."""
        network = self.model(self.model.Config(vocab_size=words.size(world), **self.settings))
        return self.placed(network)

    def placed(self, network: Model) -> Model:
        """A network whose position embeddings start as sinusoids; see `with_sinusoids`."""
        return with_sinusoids(network)

    def network(self, world: BookWorld) -> nn.Module:
        """What is trained, at its start: the model, alone or with what only its training needs."""
        return self.built(world)

    def objective_in(self, world: BookWorld, network: nn.Module) -> Objective:
        """What is learned of a batch, where the objective knows the world."""
        return self.objective(network)

    def optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        """AdamW, and Muon where the budget has a rate for it."""
        budget = self.budget
        if budget.matrix_rate is not None:
            return MuonWithAdamW(
                network,
                matrix_rate=budget.matrix_rate,
                learning_rate=budget.learning_rate,
                betas=budget.betas,
                weight_decay=budget.weight_decay,
            )
        groups = parameter_groups(network, budget.weight_decay)
        return torch.optim.AdamW(groups, lr=budget.learning_rate, betas=budget.betas, eps=1e-6)

    def curve(self) -> Curve:
        """How the learning rates move: up in a line, and down to 0."""
        steps = self.budget.steps
        return linear(min(round(self.budget.warmup * steps), steps - 1), steps)

    def kept(self, network: nn.Module) -> Model:
        """What of the trained network is shipped: all of it."""
        assert isinstance(network, Model)
        return network

    # -------------------------------------------------------------------- what they have in common

    @property
    def config(self) -> dict[str, Any]:
        """See `Trainable.config`."""
        return {name: plain(value) for name, value in vars(self).items() if name != "about"}

    def shortened(self: R, steps: int) -> R:
        """See `Trainable.shortened`."""
        return replace(self, budget=self.budget.shortened(steps))

    def begin(self, world: BookWorld, seed: int, device: torch.device) -> Begun:
        """Model, losses, optimizer and schedule, all of them decided by recipe and seed."""
        torch.manual_seed(seed)  # of the weights at the start, and of dropout
        network = self.network(world).to(device)
        losses = self.batch_losses(self.objective_in(world, network), self.examples(world), seed)
        optimizer = self.optimizer(network)
        scheduler = scheduled(optimizer, self.curve())
        return Begun(network, losses, optimizer, scheduler, self.held_out(world, device))

    def batch_losses(self, objective: Objective, examples: list[Example], seed: int) -> BatchLosses:
        """The loss of each batch; with a warm-up phase for copying, if the budget has one."""
        budget = self.budget
        settings: dict[str, Any] = {
            "steps": budget.steps,
            "batch_size": budget.batch_size,
            "seed": seed,
        }
        warmup = round(budget.repeats * budget.steps)
        if not warmup:
            return BatchLosses(objective, examples, **settings)
        assert objective.vocab_size is not None
        first = RepeatsFirst(objective, rare_tokens(examples, objective.vocab_size))
        return CopyWarmUp(first, warmup, objective, examples, **settings)

    def train(
        self,
        world: BookWorld,
        seed: int,
        device: torch.device,
        checkpoints: Checkpoints | None = None,
        watch: Watch = "log",
    ) -> Trained:
        """See `Trainable.train`. Of all looks at held-out reviews, the best one's model is kept."""
        begun = self.begin(world, seed, device)
        every = math.ceil(self.budget.steps / self.budget.looks)
        looks = EarlyStopping(begun.held_out, every=every, patience=self.budget.steps)
        clocked = Clocked(begun.losses)
        history = train(
            begun.model,
            clocked,
            clip=self.budget.clip,
            optimizer=begun.optimizer,
            scheduler=begun.scheduler,
            checkpoints=checkpoints,
            stop=looks,
            watch=watch,
        )
        network = begun.model.cpu().eval()
        return Trained(
            self.kept(network),
            words.words(world),
            history,
            clocked.spent,
            tokens_read(begun.losses),
            looks.scores,
            looks.best_step,
            network,
        )

    def examples(self, world: BookWorld) -> list[Example]:
        """What it learns from."""
        reviews = world.sample(self.budget.reviews, self.budget.reviews_seed)
        return list(words.examples(reviews))

    def held_out_reviews(self, world: BookWorld) -> list[Review]:
        """What the training is looked at with."""
        return world.split("validation", self.budget.held_out)

    def test_reviews(self, world: BookWorld) -> list[Review] | None:
        """What the gap table reads; None: as it has it."""
        measured = self.budget.measured
        return None if measured is None else world.split("test", measured)


@torch.no_grad()
def with_sinusoids(network: Model) -> Model:
    """Set position embeddings to sinusoids of the norm that they were initialized with.

    They learn from there. Neighbors are then a rotation apart from the first step on; from random
    vectors, networks of the course's size have learned little more than how frequent words are
    after thousands of steps. A network without position embeddings is left as it is.
    """
    for part in network.modules():
        if isinstance(part, Embeddings) and getattr(part, "position", None) is not None:
            table = part.position.weight
            found = sinusoids(*table.shape)
            table.copy_(found / found.std() * table.std())
    return network


def tokens_read(losses: BatchLosses) -> int:
    """How many tokens the losses have read so far, padding not counted.

    Which batches they were is drawn anew, from the same numbers.
    """
    batches: Batches = losses.batches
    left, epoch, found = losses.step, 0, 0
    while left > 0:
        for batch in batches.epoch(epoch)[:left]:
            found += sum(batches.lengths[at] for at in batch)
            left -= 1
        epoch += 1
    return found
