"""The recipe of ELECTRA: what is shipped is the discriminator (chapter 14).

It predicts no words, so it has no gap. Its own task is measured on the test split with tokens that
the generator filled in; and the generator, which is thrown away, by its gap table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

from lmcourse.corpus.bookworld import BookWorld, Review
from lmcourse.evaluation import gap_table, of_masked
from lmcourse.evaluation.uncertainty import Score, bootstrap, mean_of_ratio
from lmcourse.models.checkpoint import Model
from lmcourse.models.electra import ElectraConfig
from lmcourse.models.electra_pair import ElectraPair, ElectraPairConfig
from lmcourse.tokenizers import words
from lmcourse.training.examples import padded
from lmcourse.training.objectives import Objective
from lmcourse.training.seeds import generator_of
from lmcourse.training.two_models import ReplacedTokens
from research.pretrain import held_out
from research.pretrain.encoders import ENCODER, FAMILY, SMALL, MaskedRecipe, Masks
from research.pretrain.head_scores import head_scores
from research.pretrain.recipe import Trained
from research.pretrain.records import Scores

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
            scores, replaced = map(np.concatenate, zip(*judged(network, reviews), strict=True))
            return float(_nats(scores, replaced).mean())

        return loss

    def scores(self, trained: Trained, world: BookWorld) -> Scores:
        """The discriminator at its own task, and the generator's gap table."""
        pair = trained.network
        assert isinstance(pair, ElectraPair)
        given = self.test_reviews(world)
        others = told_apart(judged(pair, given or world.split("test", TEST)))
        asked = {GENERATOR: of_masked(pair.generator, world, words.ids(world))}
        table = gap_table(asked, world, kind="masked", reviews=given)
        heads = head_scores(trained.model, world, given is not None)
        return Scores.of(table, others, heads)


Judged = tuple[Float[np.ndarray, " _token"], Float[np.ndarray, " _token"]]
"""Of one review: the discriminator's logits, and 1 where a token was replaced, else 0.

Reviews have different lengths, which is why the axis has no name that a list of them must share.
"""


@torch.no_grad()
def judged(pair: nn.Module, reviews: list[Review]) -> list[Judged]:
    """The discriminator on reviews in which the generator filled in what gap tables hide."""
    assert isinstance(pair, ElectraPair)
    device = next(pair.parameters()).device
    found = []
    for review in reviews:
        batch = held_out.hidden(padded(words.examples([review]), words.PAD), [review])
        chance = generator_of(review.seed, review.index)  # the same draws at each look
        draws = torch.rand(batch["labels"].shape, generator=chance)
        given = {name: batch[name].to(device) for name in ("input_ids", "labels")}
        logits = pair.generator(given["input_ids"]).logits.cpu()
        corrupted, replaced = pair.corrupt(batch["input_ids"], batch["labels"], logits, draws)
        scores = pair.discriminator(corrupted.to(device)).logits.cpu()[0, 1:-1]
        found.append((scores.double().numpy(), replaced[0, 1:-1].double().numpy()))
    return found


def told_apart(found: Sequence[Judged]) -> dict[str, Score]:
    """How well replaced tokens are distinguished from the original ones.

    Few are replaced, so that who never says so is nearly always right. The area under the ROC curve
    is free of that: it is the chance that a replaced token has a higher score than one that is not,
    0.5 if nothing is known.
    """
    from sklearn.metrics import roc_auc_score

    scores, replaced = map(np.concatenate, zip(*found, strict=True))
    review = np.repeat(np.arange(len(found)), [len(one) for one, _ in found])

    def share(values: Float[np.ndarray, " token"]) -> Score:
        return mean_of_ratio(np.bincount(review, values), np.bincount(review))

    asked = "replaced or not"
    return {
        "share of tokens that are replaced": share(replaced),
        f"{asked}, loss in nats a token": share(_nats(scores, replaced)),
        f"{asked}, accuracy": share(((scores > 0) == (replaced > 0)).astype(float)),
        f'{asked}, accuracy of the answer "original"': share(1 - replaced),
        f"{asked}, area under the ROC curve": bootstrap(
            roc_auc_score, replaced, scores, resamples=200, groups=review
        ),
    }


def _nats(
    scores: Float[np.ndarray, " token"], replaced: Float[np.ndarray, " token"]
) -> Float[np.ndarray, " token"]:
    """Binary cross-entropy of logits: −log σ(s) where replaced, −log(1 − σ(s)) elsewhere."""
    nats: np.ndarray = np.logaddexp(0, scores) - scores * replaced
    return nats


ELECTRA = ElectraRecipe(
    "bookworld-electra",
    "ELECTRA: the discriminator, which detects the tokens that a small masked model has replaced",
    ElectraPair,
    SMALL | {**ENCODER, "embedding_size": SMALL["hidden_size"] // 2},  # as of ELECTRA-Small
    replace(FAMILY, matrix_rate=0.01),
    Masks(),
    discriminator_weight=10.0,
)
"""Its rate and weight are of the grid of `research.claims.electra`: three times the rate learns
next to nothing there, and a third of it as much or a little more."""
