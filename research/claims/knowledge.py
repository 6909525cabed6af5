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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any, Literal

import torch
from torch import nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.tasks import KnowledgeQuestion, graph, knowledge_questions
from lmcourse.corpus.tasks.knowledge import UNSTATED
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import IGNORED
from lmcourse.models.sentence_tree import TRUNK, Branch, SentenceTree
from lmcourse.tokenizers import words
from lmcourse.training.examples import Example, padded
from lmcourse.training.objectives import Labelled, Objective
from research.claims.claim import Claim, Column, Contrast, Plan, Variant
from research.claims.learners import GivenRecipe, ShippedRecipe
from research.claims.scale import BUDGET
from research.pretrain.looks import loss_of

Triples = Literal["none", "true", "shuffled", "irrelevant", "drawn"]
Form = Literal["tree", "no matrix", "hard positions", "inserted", "behind"]
Reads = Literal["entity", "[MASK]"]
Fact = tuple[str, str]
"""A relation and an object."""

TRAIN, TEST = 1, 2  # seeds of the questions
ASKED = 1200  # questions that training repeats, each time with triples in another order
FALSE = 8  # branches of other words, as knowledge noise


@dataclass(frozen=True)
class Facts:
    """The graph as the recipe needs it.

    Attributes:
        ids: of all words, relations and answers.
        of: each author's facts that no text states.
        others: each author's facts that say nothing about the questions, of the same length.
        objects: of each relation.
    """

    ids: dict[str, int]
    of: dict[str, dict[str, str]]
    others: dict[str, list[Fact]]
    objects: dict[str, list[str]]

    @classmethod
    def read(cls, world: BookWorld) -> "Facts":
        """BookWorld's."""
        found: dict[str, dict[str, str]] = {}
        others: dict[str, list[Fact]] = {}
        ids = dict(words.ids(world))
        for fact in graph(world):
            if fact.relation in UNSTATED:
                found.setdefault(fact.subject, {})[fact.relation] = fact.object
            elif fact.relation in ("lives_in", "wrote"):
                last = fact.object.split()[-1]  # of a title, its noun
                others.setdefault(fact.subject, []).append((fact.relation, last))
        objects = {
            relation: sorted({its[relation] for its in found.values()}) for relation in UNSTATED
        }
        listed = [each for its in objects.values() for each in its]
        for token in ("lives_in", "wrote", *UNSTATED, *listed):
            ids.setdefault(token, len(ids))
        return cls(ids, found, others, objects)

    @property
    def answers(self) -> list[int]:
        """The ids of all answers."""
        return sorted({self.ids[each] for its in self.objects.values() for each in its})


@dataclass(frozen=True)
class Arm:
    """What the triples are, in which form they are given, and where the answer is predicted.

    Attributes:
        triples: the author's own; another author's for each example; the author's, of other
            relations; or drawn anew for each example, the answer with them.
        form: a sentence tree; the tree without its visible matrix, without its soft positions, or
            without both; or sentences after the text.
        reads: where the answer is predicted.
    """

    triples: Triples = "drawn"
    form: Form = "tree"
    reads: Reads = "entity"

    @property
    def measure(self) -> str:
        """The name of what is measured on it."""
        return f"knowledge, {self.triples}, {self.form}, {self.reads}"

    @property
    def choice(self) -> str:
        """The name of what settings are chosen by."""
        return f"chosen by, {self.triples}, {self.form}, {self.reads}"

    def example(
        self, facts: Facts, one: KnowledgeQuestion, draw: Random, noise: int = 0
    ) -> dict[str, Any]:
        """One question with its triples, as a model takes it."""
        known, label = self._known(facts, one, draw)
        draw.shuffle(known)
        own = 4 + one.tokens.index(one.subject)
        places = [4 + at for at, it in enumerate(one.tokens) if it != one.subject]
        spread = draw.sample(places, min(noise, len(places)))
        false = [(at, self._false(facts, one, draw)) for at in spread]
        given = [(own, fact) for fact in known] + false
        tokens = ["[CLS]", one.relation, "[MASK]", "[SEP]", *one.tokens, "[SEP]"]
        if self.form == "behind":
            draw.shuffle(given)
            said = [word for at, fact in given for word in (tokens[at], *fact)]
            tree = SentenceTree((*tokens, *said, *(["[SEP]"] if said else []))).flatten()
        else:
            tree = SentenceTree(
                tuple(tokens), tuple(Branch(at, at + 1, fact) for at, fact in given)
            ).flatten()
        time, full = len(tree.tokens), self.form in ("no matrix", "inserted", "behind")
        soft = self.form in ("tree", "no matrix")
        at = tree.tokens.index("[MASK]")
        if self.reads == "entity":
            at = next(i for i in range(time) if (tree.branches[i], tree.anchors[i]) == (TRUNK, own))
        labels = [IGNORED] * time
        labels[at] = facts.ids[label]
        visible = torch.ones(time, time, dtype=torch.bool) if full else tree.visible
        return {
            "input_ids": [facts.ids[str(token)] for token in tree.tokens],
            "position_ids": list(tree.soft_positions) if soft else list(range(time)),
            "attention_mask": visible.numpy(),
            "labels": labels,
        }

    def _known(self, facts: Facts, one: KnowledgeQuestion, draw: Random) -> tuple[list[Fact], str]:
        """The triples and the answer: by the graph, or by the drawn triples."""
        known = facts.of[one.subject]
        if self.triples == "none":
            return [], one.label
        if self.triples == "irrelevant":
            return list(facts.others[one.subject]), one.label
        if self.triples == "shuffled":
            other = draw.choice([it for it in facts.of if it != one.subject])
            return list(facts.of[other].items()), one.label
        if self.triples == "drawn":
            known = {relation: draw.choice(its) for relation, its in facts.objects.items()}
            return list(known.items()), known[one.relation]
        return list(known.items()), one.label

    def _false(self, facts: Facts, one: KnowledgeQuestion, draw: Random) -> Fact:
        """A fact of another author, for a word that is none."""
        other = draw.choice([it for it in facts.of if it != one.subject])
        return draw.choice(list(facts.of[other].items()))

    def validation(self, model: nn.Module, world: BookWorld, count: int) -> dict[str, float]:
        """Minus the loss on questions about the authors to choose by: accuracies would tie."""
        facts, draw = Facts.read(world), Random(0)
        own = replace(self, triples="true") if self.triples == "drawn" else self
        asked = knowledge_questions(world, 2 * count, TEST, "train").examples
        chosen = [one for one in asked if one.subject in authors(facts)[1]]
        loss = loss_of(Labelled, [own.example(facts, one, draw) for one in chosen])
        return {"minus loss": -loss(model)}

    def scores(
        self, model: nn.Module, world: BookWorld, count: int, size: int = 50
    ) -> dict[str, float]:
        """Accuracy on authors of the three parts, with wrong triples, and with false ones."""
        facts = Facts.read(world)
        learned, chosen = authors(facts)
        asked = knowledge_questions(world, 2 * count, TEST, "train").examples
        test = knowledge_questions(world, count, TEST, "test").examples
        own = replace(self, triples="true") if self.triples == "drawn" else self
        wrong = replace(self, triples="drawn")  # facts that no one has, judged by them
        parts: dict[str, tuple[Arm, Sequence[KnowledgeQuestion], int]] = {
            "validation": (own, [it for it in asked if it.subject in chosen], 0),
            "learned": (own, [it for it in asked if it.subject in learned][:count], 0),
            "test": (own, test, 0),
            "by the graph": (wrong, test, 0),
            "noise": (own, test, FALSE),
        }
        return {name: _share(model, facts, *part, size) for name, part in parts.items()}


@torch.no_grad()
def _share(
    model: nn.Module,
    facts: Facts,
    arm: Arm,
    asked: Sequence[KnowledgeQuestion],
    noise: int,
    size: int,
) -> float:
    """The share of questions that are answered correctly."""
    draw, answers, right = Random(0), torch.tensor(facts.answers), 0
    for start in range(0, len(asked), size):
        part = [arm.example(facts, one, draw, noise) for one in asked[start : start + size]]
        batch = padded(part, words.PAD)
        labels = batch.pop("labels")
        logits = model(**batch).logits[labels != IGNORED]
        right += int((answers[logits[:, answers].argmax(-1)] == labels[labels != IGNORED]).sum())
    return right / len(asked)


def authors(facts: Facts) -> tuple[set[str], set[str]]:
    """Of the authors that training may ask about: those to learn from, and those to choose by."""
    known = [it for number, it in enumerate(facts.of) if number % 3 != 2]
    chosen = set(known[::4])
    return set(known) - chosen, chosen


@dataclass(frozen=True)
class KnowledgeRecipe(GivenRecipe):
    """All weights of a pretrained BERT learn to answer questions about authors.

    Of the budget, ``reviews`` is the number of examples.
    """

    arm: Arm = Arm()

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
SCORED: dict[str, Callable[[nn.Module, BookWorld, int], dict[str, float]]] = {
    arm.measure: partial(Arm.scores, arm) for arm in ARMS
} | {arm.choice: partial(Arm.validation, arm) for arm in ARMS}
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
    "chosen by the loss on 6 further authors. Without the graph, 0.241 is the best possible score.",
    seeds=5,
)

CLAIMS = (KNOWLEDGE,)
