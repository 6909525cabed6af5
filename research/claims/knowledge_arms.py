"""How a question about an author is given to a model: with which triples, and in which form.

See `research.claims.knowledge`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

import torch
from torch import nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.tasks import KnowledgeQuestion, graph, knowledge_questions
from lmcourse.corpus.tasks.knowledge import UNSTATED
from lmcourse.models.inputs import IGNORED
from lmcourse.models.sentence_tree import TRUNK, Branch, SentenceTree
from lmcourse.tokenizers import words
from lmcourse.training.examples import padded
from lmcourse.training.objectives import Labelled
from research.pretrain.looks import loss_of

Triples = Literal["none", "true", "shuffled", "irrelevant", "drawn"]
Form = Literal["tree", "no matrix", "hard positions", "inserted", "behind"]
Reads = Literal["entity", "[MASK]"]
Fact = tuple[str, str]
"""A relation and an object."""

TEST = 2  # seed of the questions; training has another
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
