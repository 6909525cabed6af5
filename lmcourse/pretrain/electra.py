"""The recipe of ELECTRA: what is shipped is the discriminator (chapter 14).

It predicts no words, so it has no gap. Its own task is measured on the test split with tokens that
the generator filled in; and the generator, which is thrown away, by its gap table.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

from lmcourse.corpus.bookworld import BookWorld, Review
from lmcourse.evaluation import gap_table, of_masked
from lmcourse.evaluation.uncertainty import Score, mean_of_ratio
from lmcourse.models.checkpoint import Model
from lmcourse.models.electra import ElectraConfig
from lmcourse.models.electra_pair import ElectraPair, ElectraPairConfig
from lmcourse.pretrain import held_out, words
from lmcourse.pretrain.encoders import ENCODER, FAMILY, SMALL, MaskedRecipe, Masks
from lmcourse.pretrain.head_scores import head_scores
from lmcourse.pretrain.recipe import Trained
from lmcourse.pretrain.records import Scores
from lmcourse.training.examples import padded
from lmcourse.training.objectives import Objective
from lmcourse.training.seeds import generator_of
from lmcourse.training.two_models import ReplacedTokens

GENERATOR = "generator"
TEST = 600  # reviews


@dataclass(frozen=True)
class ElectraRecipe(MaskedRecipe):
    """A generator and a discriminator, which are trained together.

    Attributes:
        generator_size, discriminator_weight: see `ElectraPairConfig`.
    """

    generator_size: float = 1 / 2
    discriminator_weight: float = 50.0

    def built(self, world: BookWorld) -> Model:
        """See `Recipe.built`."""
        one = ElectraConfig(vocab_size=words.size(world), **self.settings)
        config = ElectraPairConfig(one, self.generator_size, self.discriminator_weight)
        return self.placed(self.model(config))

    def kept(self, network: nn.Module) -> Model:
        """The discriminator."""
        assert isinstance(network, ElectraPair)
        return network.without_generator()

    def objective(self, network: nn.Module) -> Objective:
        """See `Recipe.objective`."""
        assert isinstance(network, ElectraPair)
        masking = self.masks.masking(network.config.discriminator.vocab_size)
        return ReplacedTokens(network, masking)

    def held_out(self, world: BookWorld, device: torch.device) -> held_out.HeldOut:
        """The discriminator's loss, on what the generator fills in."""
        reviews = self.held_out_reviews(world)

        def loss(network: nn.Module) -> float:
            nats, *_, counts = judged(network, reviews)
            return float(nats.sum() / counts.sum())

        return loss

    def scores(self, trained: Trained, world: BookWorld) -> Scores:
        """The discriminator at its own task, and the generator's gap table."""
        pair = trained.network
        assert isinstance(pair, ElectraPair)
        given = self.test_reviews(world)
        nats, right, replaced, counts = judged(pair, given or world.split("test", TEST))
        others: dict[str, Score] = {
            "share of tokens that are replaced": mean_of_ratio(replaced, counts),
            "replaced or not, loss in nats a token": mean_of_ratio(nats, counts),
            "replaced or not, share of tokens told rightly": mean_of_ratio(right, counts),
        }
        asked = {GENERATOR: of_masked(pair.generator, world, words.ids(world))}
        table = gap_table(asked, world, kind="masked", reviews=given)
        heads = head_scores(trained.model, world, given is not None)
        return Scores.of(table, others, heads)


@torch.no_grad()
def judged(pair: nn.Module, reviews: list[Review]) -> tuple[Float[np.ndarray, " review"], ...]:
    """The discriminator on reviews in which the generator filled in what gap tables hide.

    Returns:
        Sums over each review's tokens: loss in nats, right answers, replaced tokens, tokens.
    """
    assert isinstance(pair, ElectraPair)
    device = next(pair.parameters()).device
    rows = []
    for review in reviews:
        batch = held_out.hidden(padded(words.examples([review]), words.PAD), [review])
        chance = generator_of(review.seed, review.index)  # the same draws at each look
        given = {name: batch[name].to(device) for name in ("input_ids", "labels")}
        logits = pair.generator(given["input_ids"]).logits.cpu()
        corrupted, replaced = pair.corrupt(batch["input_ids"], batch["labels"], logits, chance)
        scores = pair.discriminator(corrupted.to(device)).logits.cpu()[0, 1:-1].double()
        answer = replaced[0, 1:-1].double()
        nats = nn.functional.binary_cross_entropy_with_logits(scores, answer, reduction="sum")
        right = (scores > 0) == (answer > 0)
        rows.append([nats.item(), right.sum().item(), answer.sum().item(), len(answer)])
    return tuple(np.array(rows, float).T)


ELECTRA = ElectraRecipe(
    "bookworld-electra",
    "ELECTRA: which words a small masked model has put in place of others (the discriminator)",
    ElectraPair,
    SMALL | {**ENCODER, "embedding_size": SMALL["hidden_size"]},
    FAMILY,
    Masks(),
)
