"""What learns otherwise than the recipes of `research.pretrain`: masked once, in pairs, students.

Each is a recipe with what one claim changes.
"""

from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, Literal, TypeVar, cast

import torch
from torch import Tensor, nn

from lmcourse import hub
from lmcourse.corpus.bookworld import BookWorld, Review
from lmcourse.models.checkpoint import Model
from lmcourse.models.distilbert import DistilBertForMaskedLM
from lmcourse.models.elmo import ElmoForPreTraining
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.triple_loss import DistillationConfig, Distiller
from lmcourse.models.word2vec import Word2Vec
from lmcourse.tokenizers import words
from lmcourse.training import History
from lmcourse.training.examples import Example
from lmcourse.training.masking import StaticMasking
from lmcourse.training.objectives import CausalLM, MaskedLM, Objective, PreTraining
from lmcourse.training.pairs import Frame, sentence_pairs, swapped_pairs
from lmcourse.training.two_models import Distilled
from lmcourse.training.watching import Watch
from research.pretrain import held_out
from research.pretrain.clock import Seconds
from research.pretrain.elmo import BothDirections
from research.pretrain.encoders import MaskedRecipe
from research.pretrain.looks import loss_of
from research.pretrain.recipe import Recipe, Trained
from research.runs import Checkpoints
from research.runs.run_config import plain

G = TypeVar("G", bound="GivenRecipe")


@dataclass(frozen=True)
class DrawnRecipe(MaskedRecipe):
    """A network whose position embeddings start at random."""

    def placed(self, network: Model) -> Model:
        """See `Recipe.placed`."""
        return network


@dataclass(frozen=True)
class StaticRecipe(MaskedRecipe):
    """Each review has so many masks, which are drawn once (RoBERTa, section 4.1)."""

    copies: int = 1

    def objective(self, network: nn.Module) -> Objective:
        """See `Recipe.objective`."""
        config: Any = network.config
        masking = self.masks.masking(config.vocab_size)
        seed = int(torch.randint(2**31, ()))  # of the run's own seed, which was just set
        return MaskedLM(network, StaticMasking(masking, self.copies, seed))


@dataclass(frozen=True)
class PairRecipe(MaskedRecipe):
    """Masked words, and two sentences: whether B follows A, or whether they are swapped.

    The network is the same for both: its head answers 0 where B follows A.
    """

    asks: Literal["next", "order"] = "next"

    def objective(self, network: nn.Module) -> Objective:
        """See `Recipe.objective`."""
        config: Any = network.config
        return PreTraining(network, self.masks.masking(config.vocab_size))

    def examples(self, world: BookWorld) -> list[Example]:
        """Pairs of neighbors; half of them are swapped, or have a random sentence for B."""
        reviews = world.sample(self.budget.reviews, self.budget.reviews_seed)
        return self._pairs(world, reviews)

    def held_out(self, world: BookWorld, device: torch.device) -> held_out.HeldOut:
        """See `Recipe.held_out`."""
        pairs = self._pairs(world, self.held_out_reviews(world))
        return loss_of(self.objective, pairs)

    def _pairs(self, world: BookWorld, reviews: list[Review]) -> list[Example]:
        known, frame = words.ids(world), Frame(words.CLS, words.SEP, 128)
        texts = [
            [[known[token] for token in it.tokens[s.start : s.end]] for s in it.sentences]
            for it in reviews
        ]
        if self.asks == "next":
            found = sentence_pairs(texts, frame)
        else:
            neighbors = [list(two) for text in texts for two in pairwise(text)]
            found = swapped_pairs(neighbors, frame, short=0.0)
        for pair in found:
            if "sentence_order_label" in pair:
                pair["next_sentence_label"] = pair.pop("sentence_order_label")
        return cast(list[Example], found)


@dataclass(frozen=True)
class ShippedRecipe(Recipe):
    """A model that comes with the course: nothing is trained, others learn from it.

    Its name and its file decide all; of the budget, how much of BookWorld it is measured with.
    """

    @property
    def config(self) -> dict[str, Any]:
        """See `Trainable.config`; the digest is None where it does not come with this checkout."""
        known = hub.shipped().get(self.name)
        return {"name": self.name, "sha256": None if known is None else known.model.sha256}

    def built(self, world: BookWorld) -> Model:
        """It itself.

        Raises:
            CourseError: it does not come with this checkout.
        """
        return hub.load(self.name).model

    def train(
        self,
        world: BookWorld,
        seed: int,
        device: torch.device,
        checkpoints: Checkpoints | None = None,
        watch: Watch = "log",
    ) -> Trained:
        """It itself, after no steps."""
        return Trained(self.built(world).eval(), None, History(), Seconds(), tokens=0)


@dataclass(frozen=True)
class GivenRecipe(MaskedRecipe):
    """What needs a network that was trained before. (`given` is no part of the configuration: the
    run's source is.)"""

    given: Model | None = field(default=None, compare=False, repr=False)

    @property
    def config(self) -> dict[str, Any]:
        """See `Trainable.config`."""
        left_out = ("about", "given")
        return {
            f.name: plain(getattr(self, f.name)) for f in fields(self) if f.name not in left_out
        }

    def with_given(self: G, network: Model) -> G:
        """The recipe with that network."""
        return replace(self, given=network)

    def body(self) -> Model:
        """That network."""
        assert self.given is not None, "a run gives it before it trains"
        return self.given


@dataclass(frozen=True)
class StartedRecipe(GivenRecipe):
    """A network whose words start from skip-gram's vectors, as long as it would have drawn them."""

    def built(self, world: BookWorld) -> Model:
        """See `Recipe.built`."""
        network, vectors = super().built(world), self.body()
        assert isinstance(vectors, Word2Vec)
        start_from(self.table(network), vectors)
        return network

    def table(self, network: Model) -> Tensor:
        """The network's vectors of words."""
        return words_of(network)


@dataclass(frozen=True)
class StartedCausalRecipe(StartedRecipe):
    """The same of one that reads from left to right."""

    def objective(self, network: nn.Module) -> Objective:
        """See `Recipe.objective`."""
        return CausalLM(network)

    def held_out(self, world: BookWorld, device: torch.device) -> held_out.HeldOut:
        """See `Recipe.held_out`."""
        return held_out.causal(self.held_out_reviews(world), device)


@dataclass(frozen=True)
class StartedBiLMRecipe(StartedRecipe):
    """The same of two language models, one in each direction, that read words and no characters."""

    def objective(self, network: nn.Module) -> Objective:
        """See `Recipe.objective`."""
        return BothDirections(network)

    def held_out(self, world: BookWorld, device: torch.device) -> held_out.HeldOut:
        """See `Recipe.held_out`: the mean of both directions."""
        return loss_of(self.objective, words.examples(self.held_out_reviews(world)))

    def table(self, network: Model) -> Tensor:
        """See `StartedRecipe.table`."""
        assert isinstance(network, ElmoForPreTraining)
        found = network.elmo.tokens.weight
        assert isinstance(found, Tensor)
        return found


def words_of(network: Model) -> Tensor:
    """A Transformer's vectors of words."""
    return next(part.word.weight for part in network.modules() if isinstance(part, Embeddings))


@torch.no_grad()
def start_from(table: Tensor, vectors: Word2Vec) -> None:
    """Copy vectors of words into a network's table of them, as long as those that it has drawn."""
    known = vectors.vectors
    table.copy_(known / known.std() * table.std())


@dataclass(frozen=True)
class StudentRecipe(GivenRecipe):
    """A student of a teacher: DistilBERT's three losses, each of which may be left out.

    Attributes:
        start: from the teacher's layers, or from random weights.
        distillation, masked_words, cosine: the weights of the three losses.
        temperature: of the soft targets.
    """

    start: Literal["teacher", "random"] = "random"
    distillation: float = 5.0
    masked_words: float = 2.0
    cosine: float = 0.0
    temperature: float = 2.0

    def built(self, world: BookWorld) -> Model:
        """The student and its teacher."""
        teacher = self.body()
        config: Any = teacher.config
        if self.start == "teacher":
            student: Model = DistilBertForMaskedLM.from_teacher(
                teacher, num_hidden_layers=self.settings["num_hidden_layers"]
            )
        else:
            settings = {"vocab_size": config.vocab_size, **self.settings}
            student = self.placed(self.model(self.model.Config(**settings)))
        losses = DistillationConfig(
            self.temperature, self.distillation, self.masked_words, self.cosine
        )
        return cast(Model, Distiller(student, teacher, losses))

    def objective(self, network: nn.Module) -> Objective:
        """See `Recipe.objective`."""
        config: Any = self.body().config
        return Distilled(network, self.masks.masking(config.vocab_size))

    def kept(self, network: nn.Module) -> Model:
        """The student."""
        assert isinstance(network, Distiller)
        return network.student
