"""Recipes of word vectors: one vector for each word, whatever its sense (chapter 05).

Both learn from the same reviews: skip-gram pair by pair, in the order of the text; GloVe from
counts of all pairs. Their rows are the tokens of `lmcourse.tokenizers.words`; those of the special
tokens are in no window, and keep their initial vectors.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.vectors import WordVectors
from lmcourse.evaluation.probes import averaged_context
from lmcourse.models.context_windows import context_pairs
from lmcourse.models.glove import GloVe, count_cooccurrences
from lmcourse.models.negative_sampling import (
    draw_negatives,
    keep_probability,
    noise_distribution,
    subsample,
)
from lmcourse.models.word2vec import SkipGram
from lmcourse.tokenizers import words
from lmcourse.tokenizers.well_known import BERT_TOKENS
from lmcourse.training import train
from lmcourse.training.examples import Batch, Example
from lmcourse.training.objectives import Objective
from lmcourse.training.seeds import generator_of
from lmcourse.training.watching import Watch
from research.pretrain.budget import Budget
from research.pretrain.clock import Clocked
from research.pretrain.held_out import HeldOut
from research.pretrain.looks import loss_of
from research.pretrain.probing import States, Texts, analogy_scores, sense_scores
from research.pretrain.recipe import Recipe, Trained
from research.pretrain.records import Scores
from research.runs import Checkpoints

G = TypeVar("G", bound="GloVeRecipe")


@dataclass(frozen=True)
class Windows:
    """What a word is learned from.

    Attributes:
        window: positions on either side.
        negatives: how many invented pairs there are for each real one.
        threshold: above which frequency words are left out now and then (`keep_probability`).
    """

    window: int = 10
    negatives: int = 5
    threshold: float = 1e-3


class Pairs(Objective):
    """Skip-gram with negative sampling; what is left out and made up is drawn anew each time.

    Args:
        model: a `SkipGram`.
        counts: how often each token occurs in the text.
        windows: see `Windows`.
    """

    def __init__(self, model: nn.Module, counts: Int[Tensor, " vocab"], windows: Windows) -> None:
        super().__init__(model)
        self.windows = windows
        self.noise = noise_distribution(counts)
        self.keep = keep_probability(counts, windows.threshold)

    def sample(self, batch: Batch, generator: torch.Generator | None) -> Batch:
        """The pairs of the texts' words, and invented ones."""
        texts = []
        for row, special in zip(batch["input_ids"], batch["special_tokens_mask"], strict=True):
            kept = subsample(row[special == 0], self.keep, generator)
            texts.append(kept.tolist())
        pairs = context_pairs(texts, self.windows.window, generator)
        count = self.windows.negatives
        negatives = draw_negatives(self.noise, len(pairs.centers), count, generator)
        return {
            **batch,
            "centers": pairs.centers,
            "contexts": pairs.contexts,
            "negatives": negatives,
        }

    def means(self, batch: Batch) -> list[Tensor]:
        """See `Objective.means`: of the pairs."""
        device = next(self.module.parameters()).device
        given = {name: batch[name].to(device) for name in ("centers", "contexts", "negatives")}
        return [self.model(**given).loss]

    def counts(self, batch: Batch) -> list[int]:
        """See `Objective.counts`."""
        return [len(batch["centers"])]

    @property
    def config(self) -> dict[str, str]:
        """See `Objective.config`."""
        return super().config | {"windows": repr(self.windows)}


@dataclass(frozen=True)
class SkipGramRecipe(Recipe):
    """Skip-gram with negative sampling (Mikolov et al. 2013b).

    The rate falls to 0, as in the published program; Adam replaces its plain steps.
    """

    windows: Windows = Windows()

    def objective_in(self, world: BookWorld, network: nn.Module) -> Objective:
        """See `Recipe.objective_in`."""
        return Pairs(network, counted(self.examples(world), words.size(world)), self.windows)

    def optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        """See `Recipe.optimizer`."""
        budget = self.budget
        return torch.optim.Adam(network.parameters(), budget.learning_rate, budget.betas)

    def held_out(self, world: BookWorld, device: torch.device) -> HeldOut:
        """See `Recipe.held_out`: with one draw of what is left out and made up."""
        examples = words.examples(self.held_out_reviews(world))
        counts = counted(examples, words.size(world))  # near enough to watch a training by
        return loss_of(lambda network: Pairs(network, counts, self.windows), examples)

    def scores(self, trained: Trained, world: BookWorld) -> Scores:
        """Analogies, and word senses."""
        return vector_scores(trained.model, world, self.budget.measured is not None)


class Counts(Iterator[tuple[Tensor, int]]):
    """GloVe's losses: pairs that occur, drawn evenly at random, with their counts.

    Args:
        model: a `GloVe`.
        counts: of `count_cooccurrences`.
        steps: how many batches.
        batch_size: in pairs.
        seed: of the draws; each depends on the seed and its step alone.

    Attributes:
        step: how many batches were drawn.
        config: what must be the same when a run is taken up again.
    """

    def __init__(
        self,
        model: GloVe,
        counts: Float[Tensor, "vocab vocab"],
        steps: int,
        batch_size: int,
        seed: int,
    ) -> None:
        self.model, self.steps, self.batch_size, self.seed = model, steps, batch_size, seed
        self.pairs, self.counts = counts.indices(), counts.values()
        self.config = {
            "batch_size": batch_size,
            "seed": seed,
            "pairs": len(self.counts),
            "sum": float(self.counts.double().sum()),
        }
        self.step = 0

    def __len__(self) -> int:
        return self.steps

    def __next__(self) -> tuple[Tensor, int]:
        if self.step >= self.steps:
            raise StopIteration
        generator = generator_of(self.seed, self.step)
        chosen = torch.randint(len(self.counts), (self.batch_size,), generator=generator)
        self.step += 1
        given = (*self.pairs[:, chosen], self.counts[chosen])
        device = self.model.words.weight.device
        return self.model(*(each.to(device) for each in given)).loss, len(chosen)

    def state_dict(self) -> dict[str, int]:
        """Where this is."""
        return {"step": self.step}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on from there."""
        self.step = state["step"]


@dataclass(frozen=True)
class GloVeRecipe(Recipe):
    """GloVe (Pennington et al. 2014) with its AdaGrad; ``batch_size`` counts pairs, not reviews.

    Attributes:
        window: positions on either side; a pair d positions apart counts 1/d.
    """

    window: int = 10

    def shortened(self: G, steps: int) -> G:
        """See `Trainable.shortened`; few reviews have pairs enough."""
        return replace(self, budget=replace(super().shortened(steps).budget, reviews=20))

    def train(
        self,
        world: BookWorld,
        seed: int,
        device: torch.device,
        checkpoints: Checkpoints | None = None,
        watch: Watch = "log",
    ) -> Trained:
        """See `Trainable.train`. Each token is read once, when pairs are counted."""
        budget = self.budget
        torch.manual_seed(seed)
        network = self.built(world).to(device)
        assert isinstance(network, GloVe)
        texts = [example["input_ids"][1:-1].tolist() for example in self.examples(world)]
        counts = count_cooccurrences(texts, words.size(world), self.window)
        clocked = Clocked(Counts(network, counts, budget.steps, budget.batch_size, seed))
        optimizer = torch.optim.Adagrad(network.parameters(), budget.learning_rate)
        history = train(
            network,
            clocked,
            clip=None,
            optimizer=optimizer,
            checkpoints=checkpoints,
            watch=watch,
        )
        read = sum(map(len, texts))
        network.cpu().eval()
        return Trained(network, words.words(world), history, clocked.spent, read)

    def scores(self, trained: Trained, world: BookWorld) -> Scores:
        """Analogies, and word senses."""
        return vector_scores(trained.model, world, self.budget.measured is not None)


def counted(examples: Sequence[Example], size: int) -> Int[Tensor, " vocab"]:
    """How often each token occurs in some examples, special tokens left out."""
    ids = [each["input_ids"][each["special_tokens_mask"] == 0] for each in examples]
    return torch.from_numpy(np.bincount(np.concatenate(ids), minlength=size))


def word_vectors(model: Any, world: BookWorld) -> WordVectors:
    """The vectors of a world's words, without those of the special tokens."""
    first, known = len(BERT_TOKENS), list(words.ids(world))
    return WordVectors(known[first:], model.vectors[first:].numpy())


def vector_scores(model: nn.Module, world: BookWorld, small: bool = False) -> Scores:
    """Analogies, and senses by the word's own vector and by the mean of those around it."""
    table = word_vectors(model, world)

    def layers(texts: Texts) -> dict[str, States]:
        static = [np.stack([table.vector(word) for word in words]) for words in texts]
        return {"static vector": static, "averaged context": averaged_context(static)}

    return Scores.of(None, analogy_scores(table, world) | sense_scores(layers, world, small))


VECTORS: tuple[Recipe, ...] = (
    SkipGramRecipe(
        "bookworld-skipgram",
        "word2vec: skip-gram with negative sampling, width 64",
        SkipGram,
        {"hidden_size": 64},
        Budget(
            steps=12_000,
            reviews=20_000,
            batch_size=8,
            learning_rate=1e-2,
            warmup=0.0,
            weight_decay=0.0,
        ),
    ),
    GloVeRecipe(
        "bookworld-glove",
        "GloVe: products of vectors fit logarithms of co-occurrence counts, width 64",
        GloVe,
        {"hidden_size": 64, "x_max": 100.0},
        Budget(steps=40_000, batch_size=4096, learning_rate=0.05, warmup=0.0, weight_decay=0.0),
    ),
)
