"""The two tasks that models are fine-tuned on: one like GLUE's CoLA, one like SQuAD.

- acceptability: a sentence, does it have a mistake? Accuracy; the labels are equally frequent.
- span questions: a question and three sentences of a review, which words answer it? F1.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.tasks import Question, bag_of_words, questions
from lmcourse.corpus.tasks.acceptability import acceptability
from lmcourse.models.bert_tasks import BertForQuestionAnswering, BertForSequenceClassification
from lmcourse.models.checkpoint import Model
from lmcourse.models.distilbert import (
    DistilBert,
    DistilBertConfig,
    DistilBertForMaskedLM,
    DistilBertForQuestionAnswering,
)
from lmcourse.tokenizers import words
from lmcourse.training.examples import Example, padded
from research.claims.span_questions import as_examples, scored

ACCEPTABILITY, SPANS = "acceptability", "span questions"
METRICS = {ACCEPTABILITY: "accuracy", SPANS: "F1"}
TRAIN, VALIDATION, TEST = 1, 2, 3  # seeds of the tasks
SENTENCES = 3  # of a passage
HEAD = 0.05  # the standard deviation of a new head's weights, the same for all encoders


class PooledDistilBert(BertForSequenceClassification):
    """DistilBERT with the head that the other encoders have, BERT's."""

    Config = DistilBertConfig
    Base = DistilBert


@dataclass(frozen=True)
class Amounts:
    """How many examples there are, and how many updates.

    Attributes:
        train, validation, test: examples of each task.
        tune: updates of fine-tuning, by tasks.
        recover: updates of recovery, by tasks.
        batch_size: examples of an update.
        calibrate: training examples for the importance of heads.
    """

    train: Mapping[str, int]
    validation: int
    test: int
    tune: Mapping[str, int]
    recover: Mapping[str, int]
    batch_size: int = 16
    calibrate: int = 160

    def shortened(self, steps: int) -> "Amounts":
        """The same with so few updates, as a trial."""
        return replace(
            self,
            train=dict.fromkeys(self.train, 16 * steps + self.calibrate),
            validation=20,
            test=20,
            tune=dict.fromkeys(self.tune, steps),
            recover=dict.fromkeys(self.recover, steps),
        )


AMOUNTS = Amounts(
    train={ACCEPTABILITY: 12_000, SPANS: 4_000},
    validation=200,
    test=300,
    tune={ACCEPTABILITY: 800, SPANS: 220},
    recover={ACCEPTABILITY: 100, SPANS: 40},
)


@dataclass(frozen=True)
class Data:
    """A task's examples, and how a model is scored with them.

    Attributes:
        name: of the task.
        train: what models are fine-tuned on, and recover with.
        validation, test: score a model.
        reference: what a logistic regression on the words of a text scores; None: no such.
    """

    name: str
    train: Sequence[Example]
    validation: Callable[[nn.Module], float]
    test: Callable[[nn.Module], float]
    reference: float | None = None

    @property
    def length(self) -> float:
        """The mean number of tokens of a training example."""
        return sum(len(it["input_ids"]) for it in self.train) / len(self.train)

    def head_on(self, encoder: Model) -> Model:
        """Return the encoder's copy with a new head for this task."""
        student = isinstance(encoder, DistilBertForMaskedLM)
        if self.name == SPANS and student:
            changes: dict[str, Any] = {"initializer_range": HEAD, "qa_dropout": 0.0}
            return DistilBertForQuestionAnswering.on_top_of(encoder, **changes)
        if self.name == SPANS:
            return BertForQuestionAnswering.on_top_of(encoder, initializer_range=HEAD)
        kind = PooledDistilBert if student else BertForSequenceClassification
        return kind.on_top_of(encoder, num_labels=2, initializer_range=HEAD)


def data_of(world: BookWorld, amounts: Amounts) -> dict[str, Data]:
    """Return both tasks; no review is in two of their parts."""
    count, sizes = amounts.train, (amounts.validation, amounts.test)
    parts = zip(sizes, (VALIDATION, TEST), strict=True)
    train = acceptability(world, count[ACCEPTABILITY], TRAIN)
    others = [acceptability(world, size, seed) for size, seed in parts]
    known = words.ids(world)

    def sentences(task: Any) -> list[dict[str, Any]]:
        return [
            {
                "input_ids": [words.CLS, *(known[token] for token in it.tokens), words.SEP],
                "labels": task.labels.index(it.label),
            }
            for it in task.examples
        ]

    asked = [
        passages(world, size, seed)
        for size, seed in zip((count[SPANS], *sizes), (TRAIN, VALIDATION, TEST), strict=True)
    ]

    def accuracy(task: Any) -> Callable[[nn.Module], float]:
        examples = sentences(task)
        return lambda model: accuracy_of(model, examples)

    def f1(part: Sequence[Question]) -> Callable[[nn.Module], float]:
        return lambda model: scored(model, world, part)["F1"]

    words_alone = bag_of_words(train, others[1]).score
    return {
        ACCEPTABILITY: Data(
            ACCEPTABILITY, sentences(train), accuracy(others[0]), accuracy(others[1]), words_alone
        ),
        SPANS: Data(SPANS, as_examples(world, asked[0]), f1(asked[1]), f1(asked[2])),
    }


@torch.no_grad()
def accuracy_of(model: nn.Module, examples: Sequence[Example], size: int = 100) -> float:
    """Return the share of right classes."""
    right = 0
    for start in range(0, len(examples), size):
        batch = padded(examples[start : start + size], words.PAD)
        labels = batch.pop("labels")
        right += int((model(**batch).logits.argmax(-1) == labels).sum())
    return right / len(examples)


def passages(world: BookWorld, count: int, seed: int) -> list[Question]:
    """Questions whose answer is not found through a pronoun, about three sentences of a review.

    The sentence before that of the answer comes first, where there is one.
    """
    found = []
    for it in questions(world, 2 * count, seed).examples:
        if it.pronoun is not None:
            continue
        ends = [i + 1 for i, token in enumerate(it.tokens) if token in ".?!"]
        starts = [0, *ends]
        own = sum(end <= it.spans[0][0] for end in ends)  # the sentence of the answer
        first = starts[max(own - 1, 0)]
        last = ([*ends, len(it.tokens)])[min(max(own - 1, 0) + SENTENCES - 1, len(ends))]
        inside = [(a, b) for a, b in it.spans if first <= a and b <= last]
        spans = tuple((a - first, b - first) for a, b in inside)
        if spans:
            found.append(replace(it, tokens=it.tokens[first:last], spans=spans))
    return found[:count]
