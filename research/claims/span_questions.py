"""Fine-tuning on span questions: which words of a review answer a question (chapters 11 and 14)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.tasks import Question, questions
from lmcourse.evaluation.squad import answer_f1
from lmcourse.models.bert_tasks import BertForQuestionAnswering
from lmcourse.models.checkpoint import Model
from lmcourse.models.deberta import DebertaForMaskedLM, DebertaForQuestionAnswering
from lmcourse.models.electra import ElectraForPreTraining, ElectraForQuestionAnswering
from lmcourse.models.spanbert import SpanBertForPreTraining, SpanBertForQuestionAnswering
from lmcourse.tokenizers import words
from lmcourse.training.examples import Example, padded
from lmcourse.training.objectives import Labelled, Objective
from research.claims.claim import Column, Plan
from research.claims.learners import GivenRecipe
from research.claims.left_to_right import LeftToRightForQuestionAnswering, LeftToRightLM
from research.claims.scale import BUDGET
from research.pretrain.looks import loss_of

LONGEST = 8  # tokens of an answer
TRAIN, VALIDATION, TEST = 1, 2, 3  # seeds of the task; none shares a review with a split

HEADS: dict[type[Model], type[Model]] = {
    DebertaForMaskedLM: DebertaForQuestionAnswering,
    LeftToRightLM: LeftToRightForQuestionAnswering,
    ElectraForPreTraining: ElectraForQuestionAnswering,
    SpanBertForPreTraining: SpanBertForQuestionAnswering,
}
"""The head of each pretrained model; BERT's for all others."""


@dataclass(frozen=True)
class QuestionRecipe(GivenRecipe):
    """All weights of a pretrained network learn to find the answers.

    Of the budget, ``reviews`` says how many questions there are, and ``held_out`` how many others
    are looked at.
    """

    def built(self, world: BookWorld) -> Model:
        """The pretrained network under a head that scores each position as start and as end."""
        pretrained = self.body()
        head: Any = HEADS.get(type(pretrained), BertForQuestionAnswering)
        found: Model = head.on_top_of(pretrained)
        return found

    def objective(self, network: nn.Module) -> Objective:
        """See `Recipe.objective`."""
        return Labelled(network)

    def examples(self, world: BookWorld) -> list[Example]:
        """Questions of the task's own reviews."""
        return list(as_examples(world, questions(world, self.budget.reviews, TRAIN).examples))

    def held_out(self, world: BookWorld, device: torch.device) -> Callable[[nn.Module], float]:
        """The loss on other questions."""
        asked = questions(world, self.budget.held_out, VALIDATION).examples
        return loss_of(self.objective, as_examples(world, asked))


FINE_TUNING = replace(
    BUDGET,
    steps=500,
    batch_size=16,
    reviews=4000,
    learning_rate=1e-3,
    matrix_rate=None,
    held_out=200,
)


def tuned(pretrained: Plan) -> Plan:
    """A pretrained network that learns span questions, from the run's own seed."""
    name = f"{pretrained.recipe.name}, span questions"
    return Plan(QuestionRecipe(name, "", BertForQuestionAnswering, {}, FINE_TUNING), pretrained)


ANSWERS = {"F1": "answers/F1", "exact": "answers/exact match"}
"""What of it claims read, and the columns of their tables."""
COLUMNS = {
    "F1": Column("F1 of span questions", "more"),
    "exact": Column("exact match", "more", "answers/exact"),
}


def as_examples(world: BookWorld, asked: Sequence[Question]) -> list[dict[str, Any]]:
    """[CLS] question [SEP] review [SEP], with the positions of the first accepted answer."""
    known, found = words.ids(world), []
    for one in asked:
        question = [known[token] for token in one.question]
        review = [known[token] for token in one.tokens]
        before = len(question) + 2
        start, end = one.spans[0]
        ids = [words.CLS, *question, words.SEP, *review, words.SEP]
        spans = {"start_positions": before + start, "end_positions": before + end - 1}
        found.append({"input_ids": ids, **spans})
    return found


@torch.no_grad()
def scored(
    model: nn.Module, world: BookWorld, asked: Sequence[Question], size: int = 50
) -> dict[str, float]:
    """Exact match and F1 of the most probable spans, as in SQuAD."""
    exact, overlap = [], []
    examples = as_examples(world, asked)
    for start in range(0, len(asked), size):
        batch = padded(examples[start : start + size], words.PAD)
        given = {name: batch[name] for name in ("input_ids", "attention_mask")}
        result = model(**given)
        rows = zip(asked[start : start + size], result.start_logits, result.end_logits, strict=True)
        for one, starts, ends in rows:
            before = len(one.question) + 2
            review = slice(before, before + len(one.tokens))
            first, last = best_span(starts[review], ends[review])
            exact.append(one.accepts(first, last + 1))
            answers = [" ".join(one.tokens[slice(*span)]) for span in one.spans]
            overlap.append(answer_f1(" ".join(one.tokens[first : last + 1]), answers))
    return {"exact match": float(np.mean(exact)), "F1": float(np.mean(overlap))}


def best_span(starts: Tensor, ends: Tensor, longest: int = LONGEST) -> tuple[int, int]:
    """The span whose start and end have the highest scores together, not longer than that."""
    sums = starts[:, None] + ends
    allowed = torch.ones_like(sums, dtype=torch.bool).triu().tril(longest - 1)
    best = int(sums.masked_fill(~allowed, -torch.inf).argmax())
    return best // len(ends), best % len(ends)
