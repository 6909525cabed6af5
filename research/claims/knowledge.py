"""Claims about knowledge in the input: K-BERT's triples, and what keeps them apart (chapter 15).

A question is asked about an author whom a sentence names, and whose facts no text states. The model
is the shipped BERT with its head for masked tokens, all of whose weights are fine-tuned:

    [CLS] born_in [MASK] [SEP] the unlikely gravity is the seventh book by jessop . [SEP]
                                                              jessop ── born_in delhi
                                                                     ├─ won vector
                                                                     └─ influenced_by yardley

The answer is predicted at [MASK], or at the entity. Of the authors that training may ask about, a
quarter is for choosing the learning rate.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any

import torch
from torch import nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.tasks import knowledge_questions
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.checkpoint import Model
from lmcourse.training.examples import Example
from lmcourse.training.objectives import Labelled, Objective
from research.claims.claim import Claim, Column, Contrast, Plan, Variant
from research.claims.knowledge_arms import FALSE, TEST, Arm, Facts, Form, Reads, Triples, authors
from research.claims.learners import GivenRecipe, ShippedRecipe
from research.claims.scale import BUDGET
from research.pretrain.looks import loss_of

TRAIN = 1  # seed of the questions
ASKED = 1200  # questions that training repeats, each time with triples in another order


@dataclass(frozen=True)
class KnowledgeRecipe(GivenRecipe):
    """All weights of a pretrained BERT learn to answer questions about authors.

    Of the budget, ``reviews`` is the number of examples.
    """

    arm: Arm = field(default_factory=Arm)

    def built(self, world: BookWorld) -> Model:
        """The pretrained network with random embeddings for the relations and the new answers."""
        pretrained: Any = self.body()
        size = len(Facts.read(world).ids)
        network = BertForMaskedLM(replace(pretrained.config, vocab_size=size))
        return with_rows_of(network, pretrained)

    def objective(self, network: nn.Module) -> Objective:
        """See `Recipe.objective`."""
        return Labelled(network)

    def examples(self, world: BookWorld) -> list[Example]:
        """Questions about the authors to learn from, in turn, with their triples."""
        return list(
            self._examples(world, TRAIN, self.budget.reviews, authors(Facts.read(world))[0])
        )

    def held_out(self, world: BookWorld, device: torch.device) -> Callable[[nn.Module], float]:
        """The loss on questions about the authors to choose by."""
        chosen = authors(Facts.read(world))[1]
        return loss_of(self.objective, list(self._examples(world, TEST, 100, chosen)))

    def _examples(
        self, world: BookWorld, seed: int, count: int, of: set[str]
    ) -> Iterator[dict[str, Any]]:
        facts, draw = Facts.read(world), Random(f"triples {seed}")
        asked = knowledge_questions(world, min(ASKED, 2 * count), seed, "train").examples
        fitting = [one for one in asked if one.subject in of]
        for number in range(count):
            yield self.arm.example(facts, fitting[number % len(fitting)], draw)


@torch.no_grad()
def with_rows_of(network: BertForMaskedLM, pretrained: Model) -> BertForMaskedLM:
    """Copy all weights; additional tokens keep embeddings as drawn, as long as the others."""
    known = pretrained.state_dict()
    for name, it in network.state_dict().items():
        if it.shape == known[name].shape:
            it.copy_(known[name])
        else:
            if it.ndim == 2:
                it.normal_(0, known[name].std().item())
            else:
                it.fill_(known[name].mean().item())
            it[: len(known[name])] = known[name]
    return network


FINE_TUNING = replace(
    BUDGET,
    steps=400,
    batch_size=16,
    reviews=6400,
    learning_rate=1e-3,
    matrix_rate=None,
    held_out=100,
)
RATES = 5e-4, 1e-3
QUESTIONS = 300
SHIPPED = Plan(
    ShippedRecipe("bookworld-mlm", "the course's BERT", BertForMaskedLM, {}, FINE_TUNING)
)


def _tuned(name: str, arm: Arm, rate: float) -> Plan:
    budget = replace(FINE_TUNING, learning_rate=rate)
    recipe = KnowledgeRecipe(f"knowledge: {name}", "", BertForMaskedLM, {}, budget, arm=arm)
    return Plan(recipe, SHIPPED, source_seed=0)


def _variant(name: str, about: str, arm: Arm, *columns: str) -> Variant:
    plans = tuple(_tuned(name, arm, rate) for rate in RATES)
    reads = {it: f"{arm.measure}/{it}" for it in ("test", "learned", *columns)}
    settings = tuple(f"rate {rate}" for rate in RATES)
    return Variant(name, about, plans, reads, f"{arm.choice}/minus loss", settings)


_FIXED: tuple[tuple[str, str, Triples], ...] = (
    ("no triples", "the text alone", "none"),
    ("true triples", "the author's, the same in every example", "true"),
    ("shuffled triples", "another author's, drawn for each example", "shuffled"),
    ("irrelevant triples", "the author's residence and books", "irrelevant"),
)
_DRAWN: tuple[tuple[str, str, Form, Reads], ...] = (
    ("tree", "soft positions and visible matrix", "tree", "entity"),
    ("no visible matrix", "all tokens are visible to each other", "no matrix", "entity"),
    ("no soft positions", "hard positions", "hard positions", "entity"),
    ("inserted", "neither: the triples in the middle of the text", "inserted", "entity"),
    ("as text", "sentences after the text, ordinary BERT", "behind", "entity"),
    ("tree, at [MASK]", "the same tree", "tree", "[MASK]"),
    ("no visible matrix, at [MASK]", "", "no matrix", "[MASK]"),
    ("as text, at [MASK]", "", "behind", "[MASK]"),
)
ARMS = (
    *(Arm(triples) for _, _, triples in _FIXED),
    *(Arm("drawn", form, reads) for _, _, form, reads in _DRAWN),
)
SCORED: Mapping[str, Callable[[nn.Module, BookWorld, int], dict[str, float]]] = {
    **{arm.measure: partial(Arm.scores, arm) for arm in ARMS},
    **{arm.choice: partial(Arm.validation, arm) for arm in ARMS},
}
"""What is measured, by the name of the measure."""

KNOWLEDGE = Claim(
    "knowledge",
    "Triples in a sentence tree give a model facts that it was not trained on; soft positions and "
    "the visible matrix keep them from disturbing the sentence",
    "liu2020",
    "sections 3 and 4, tables 1 and 3",
    "15",
    (
        *(_variant(name, about, Arm(triples)) for name, about, triples in _FIXED),
        *(
            _variant(name, about, Arm("drawn", form, reads), "by the graph", "noise")
            for name, about, form, reads in _DRAWN
        ),
    ),
    {
        "test": Column("authors never asked about, accuracy", "more", 1.0),
        "learned": Column("authors of the training, accuracy", "more", 1.0),
        "by the graph": Column("invented triples, answers as they say", "more", 1.0),
        "noise": Column(f"test authors, {FALSE} false branches at other words", "more", 1.0),
    },
    (
        Contrast("true triples", "no triples", "test", 0.05),
        Contrast("true triples", "shuffled triples", "test", 0.05),
        Contrast("true triples", "irrelevant triples", "test", 0.05),
        Contrast("tree", "no triples", "test", 0.05),
        Contrast("tree", "no visible matrix", "test", 0.05),
        Contrast("tree", "no soft positions", "test", 0.05),
        Contrast("tree", "inserted", "test", 0.05),
        Contrast("tree", "as text", "test", 0.05),
        Contrast("tree", "as text, at [MASK]", "test", 0.05),
        Contrast("tree, at [MASK]", "no visible matrix, at [MASK]", "test", 0.05),
        Contrast("tree, at [MASK]", "as text, at [MASK]", "test", 0.05),
        Contrast("tree", "no visible matrix", "noise", 0.05),
        Contrast("tree", "no soft positions", "noise", 0.05),
        Contrast("tree", "as text", "noise", 0.05),
        Contrast("tree", "as text, at [MASK]", "noise", 0.05),
    ),
    "The model is bookworld-mlm (two layers of width 128), fine-tuned for 400 steps of 16 "
    "questions about 18 authors, and tested on 12 others. In the first four rows, the facts are "
    "those of the graph in every example; in the others, each training example has invented "
    "triples, and the answer is theirs. The answer is predicted at the entity, or at [MASK] in the "
    "question. For the sentences after the text, the subject is repeated. The learning rate is "
    "chosen by the loss on 6 further authors. Without the graph, no score above 0.241 is expected.",
    seeds=5,
)

CLAIMS = (KNOWLEDGE,)
