"""ELECTRA's claim: all positions teach, so that at equal compute more is learned (chapter 14).

Equal compute is equal floating-point operations of the training, counted by PyTorch for one batch
(`flops`). ELECTRA's step costs more, the more the larger its generator is, so it takes fewer of
them than BERT.
"""

from dataclasses import replace

from torch.utils.flop_counter import FlopCounterMode

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.models.electra_pair import ElectraPair
from lmcourse.tokenizers import words
from lmcourse.training.checks import single_loss
from lmcourse.training.examples import padded
from lmcourse.training.seeds import generator_of
from research.claims.claim import Claim, Contrast, Plan, Variant
from research.claims.scale import LONGER, SIZES, TWICE
from research.claims.span_questions import ANSWERS, COLUMNS, tuned
from research.pretrain.budget import Budget
from research.pretrain.electra import ElectraRecipe
from research.pretrain.recipe import Recipe

OPERATIONS = {1 / 2: 1.18, 1.0: 1.65}
"""ELECTRA's operations a step by BERT's, by the generator's size; a test counts them."""
COMPUTE = OPERATIONS[1 / 2]  # of BERT's 8,000 steps: what all in this claim spend
RATES = 0.001, 0.003, 0.01, 0.03  # Muon's
PAIRS = (1 / 2, 50.0), (1 / 2, 10.0), (1.0, 10.0)
"""The generator's size and the discriminator's weight."""


PAIR = ElectraRecipe(
    "electra",
    "a generator and a discriminator",
    ElectraPair,
    SIZES | {"embedding_size": SIZES["hidden_size"]},
    TWICE,
)


def flops(recipe: Recipe, world: BookWorld) -> int:
    """How many operations one training step takes, forward and backward, on one batch."""
    network = recipe.built(world)
    objective = recipe.objective(network)
    batch = padded(words.examples(world.split("train", TWICE.batch_size)), words.PAD)
    with FlopCounterMode(display=False) as counter:
        single_loss(objective(batch, generator_of(0)), 0).backward()
    return counter.get_total_flops()


def _budget(rate: float, operations: float) -> Budget:
    return replace(TWICE, matrix_rate=rate, steps=round(COMPUTE / operations * TWICE.steps))


def _electra(rate: float, size: float, weight: float) -> Plan:
    budget = _budget(rate, OPERATIONS[size])
    return Plan(replace(PAIR, budget=budget, generator_size=size, discriminator_weight=weight))


def _bert(rate: float) -> Plan:
    return Plan(replace(LONGER, name="bert, as much compute", budget=_budget(rate, 1.0)))


_CHOSEN = "answers/validation F1"
ELECTRA = Claim(
    "electra",
    "Replaced-token detection learns more than masked language modeling with the same compute",
    "clark2020",
    "sections 3.3 and 3.5",
    "14",
    (
        Variant(
            "ELECTRA",
            "the discriminator",
            tuple(tuned(_electra(rate, *pair)) for rate in RATES for pair in PAIRS),
            ANSWERS,
            _CHOSEN,
            tuple(
                f"rate {rate}, generator of {'half its' if size < 1 else 'the same'} size, "
                f"weight {weight:.0f}"
                for rate in RATES
                for size, weight in PAIRS
            ),
        ),
        Variant(
            "BERT",
            "of the discriminator's size",
            tuple(tuned(_bert(rate)) for rate in RATES),
            ANSWERS,
            _CHOSEN,
            tuple(f"rate {rate}" for rate in RATES),
        ),
    ),
    COLUMNS,
    (Contrast("ELECTRA", "BERT", "F1", 0.03),),
    "All are trained with the same number of floating-point operations. Both are tuned by F1 on "
    "validation questions, and scored on test questions.",
)

CLAIMS = (ELECTRA,)
