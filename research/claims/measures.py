"""What is measured on a trained model: functions from it to scores, by name.

Each gives several scores; a claim reads "measure/score". What is measured is never what was learned
from: the test split, or reviews of a task's own.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.tasks import (
    SentencePair,
    Task,
    next_sentence,
    questions,
    sentence_order,
    word_sense,
)
from lmcourse.evaluation import GapTable, gap_table, of_masked
from lmcourse.evaluation.probes import (
    averaged_context,
    exact_shares,
    hidden_states,
    nearest_neighbor,
    occurrences,
    untrained,
)
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.checkpoint import Model
from lmcourse.models.inputs import IGNORED
from lmcourse.models.word2vec import Word2Vec
from lmcourse.tokenizers import words
from lmcourse.training.examples import padded
from research.claims import knowledge, span_questions
from research.claims.learners import StartedBiLMRecipe, start_from, words_of
from research.pretrain import held_out

REVIEWS = 300  # of the test split, for gaps and accuracies
SENSES = 1500, 800  # examples whose neighbors are looked for, and that are asked about
PAIRS = 1000  # of each task of two sentences
QUESTIONS = 500
EXACT = 150  # examples for which the best possible score is computed
TRAIN, TEST = 1, 2  # seeds of the tasks

States = list[np.ndarray]


@dataclass(frozen=True)
class Measured:
    """A trained model and what is needed to measure it.

    Attributes:
        model: in evaluation mode.
        source: what it learned from, or started from.
        short: whether a few examples will do, as in tests.
        seed: of the run.
    """

    model: Model
    world: BookWorld
    source: Model | None = None
    short: bool = False
    seed: int = 0

    def few(self, count: int) -> int:
        """So many; or some, if it is short."""
        return min(count, 24) if self.short else count


Measure = Callable[[Measured], dict[str, float]]


def table_of(given: Measured) -> GapTable:
    """By how much the model exceeds the masked floor, by phenomenon."""
    asked = of_masked(given.model, given.world, words.ids(given.world))
    reviews = given.world.split("test", given.few(REVIEWS))
    return gap_table(asked, given.world, kind="masked", reviews=reviews)


def gap(given: Measured) -> dict[str, float]:
    """Nats above BookWorld's masked floor, and the share of masked words predicted correctly."""
    world, table = given.world, table_of(given)
    right, best = accuracy(given.model, world, given.few(REVIEWS)), world.floor("test").masked
    found = {"gap": table.gap().value, "accuracy": right, "best accuracy": best.accuracy}
    return found | {"loss": table.loss().value, "floor": table.floor().value}


def names(given: Measured) -> dict[str, float]:
    """What the masked names add to the gap, in nats a masked token of any kind."""
    table = table_of(given)
    share = table.count("names") / table.count()
    return {"gap": share * table.gap("names").value}


@torch.no_grad()
def accuracy(model: nn.Module, world: BookWorld, count: int) -> float:
    """The share of hidden words of the test split that are a model's most probable ones."""
    right = asked = 0
    for review in world.split("test", count):
        batch = held_out.hidden(padded(words.examples([review]), words.PAD), [review])
        chosen = batch["labels"] != IGNORED
        logits = model(input_ids=batch["input_ids"]).logits
        right += int((logits[chosen].argmax(-1) == batch["labels"][chosen]).sum())
        asked += int(chosen.sum())
    return right / asked


def validation(given: Measured) -> dict[str, float]:
    """The loss on the validation split: what settings are chosen by."""
    reviews = given.world.split("validation", given.few(REVIEWS))
    loss = held_out.masked(reviews, torch.device("cpu"))
    with torch.no_grad():
        return {"minus loss": -loss(given.model)}


def size(given: Measured) -> dict[str, float]:
    """How many parameters there are, in thousands."""
    return {"parameters": parameters(given.model) / 1e3}


def parameters(model: nn.Module) -> int:
    """Their number; shared ones count once."""
    return sum(parameter.numel() for parameter in model.parameters())


# --------------------------------------------------------------------------------- word senses


def sense(given: Measured) -> dict[str, float]:
    """Word sense by the nearest neighbor, of each layer, and of the one that is best on one half.

    The layer is chosen on one half of the texts, and scored on the other.
    """
    train, test = _sense_tasks(given)
    reader = words.ids(given.world)
    known, asked = (
        hidden_states(given.model, [example.tokens for example in task.examples], reader)
        for task in (train, test)
    )
    layers = [_right(train, test, *states) for states in zip(known, asked, strict=True)]
    half = np.arange(len(test)) % 2 == 0
    best = max(range(len(layers)), key=lambda layer: layers[layer][half].mean())
    found = {f"layer {number}": float(right.mean()) for number, right in enumerate(layers)}
    return found | {"best layer": float(layers[best][~half].mean()), "exact": _exact(test)}


def static_sense(given: Measured) -> dict[str, float]:
    """The same of static vectors, and of two controls that need no contextual model.

    The controls: the mean of the other words' vectors, and an untrained Transformer over these
    vectors.
    """
    assert isinstance(given.model, Word2Vec)
    train, test = _sense_tasks(given)
    vectors, reader = given.model.vectors, words.ids(given.world)

    def static(task: Task[Any]) -> States:
        texts = [[reader[token] for token in example.tokens] for example in task.examples]
        return [vectors[text].numpy() for text in texts]

    half = np.arange(len(test)) % 2 == 1  # that on which contextual layers are scored
    known, asked = static(train), static(test)
    around = averaged_context(known), averaged_context(asked)
    mixer = untrained_mixer(given.model)
    mixed = [
        hidden_states(mixer, [one.tokens for one in task.examples], reader, layers=[-1])[0]
        for task in (train, test)
    ]
    pairs = {"static": (known, asked), "averaged context": around, "untrained": tuple(mixed)}
    found = {name: float(_right(train, test, *two)[half].mean()) for name, two in pairs.items()}
    return found | {"exact": _exact(test)}


def untrained_mixer(vectors: Word2Vec) -> Model:
    """A Transformer of random weights, at claims' scale, over trained vectors of words."""
    from research.claims.scale import SIZES

    size, width = vectors.vectors.shape
    model = BertForMaskedLM(
        BertForMaskedLM.Config(vocab_size=size, **SIZES | {"hidden_size": width})
    )
    start_from(words_of(model), vectors)
    return untrained(model, keep=["bert.embeddings.word"])


def untrained_bilm_sense(given: Measured) -> dict[str, float]:
    """Word sense of the claim's biLM before its first step: random LSTMs over static vectors.

    Its layer is chosen in the same way as that of the trained one.
    """
    assert isinstance(given.model, Word2Vec)
    return sense(replace(given, model=untrained_bilm(given.model, given.world, given.seed)))


def untrained_bilm(vectors: Word2Vec, world: BookWorld, seed: int) -> Model:
    """The biLM that a run of this seed trains, at its start."""
    from research.claims.encoders import STARTED_BILM

    assert isinstance(STARTED_BILM.recipe, StartedBiLMRecipe)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return STARTED_BILM.recipe.with_given(vectors).built(world).eval()


def _sense_tasks(given: Measured) -> tuple[Task[Any], Task[Any]]:
    # With too few of them, a word of the test would have no neighbor.
    sizes = (200, 100) if given.short else SENSES
    train, test = (
        word_sense(given.world, count, seed)
        for count, seed in zip(sizes, (TRAIN, TEST), strict=True)
    )
    return train, test


def _right(train: Task[Any], test: Task[Any], known: States, asked: States) -> np.ndarray:
    return nearest_neighbor(occurrences(train, known), occurrences(test, asked)).right


def _exact(task: Task[Any]) -> float:
    return float(exact_shares(task.first(EXACT)).mean())


# -------------------------------------------------------------------------------- two sentences


def pairs(given: Measured) -> dict[str, float]:
    """Of two sentences, does B follow A (NSP), and are they in order (SOP)?"""
    count, world = given.few(PAIRS), given.world
    found: dict[str, float] = {}
    for name, build in (("next", next_sentence), ("order", sentence_order)):
        task = build(world, count, TEST)
        found[name] = _pair_accuracy(given.model, world, task.examples, task.labels[0])
        found[f"{name}, exact"] = _exact(task.first(given.few(EXACT)))
    return found


@torch.no_grad()
def _pair_accuracy(
    model: nn.Module, world: BookWorld, examples: Sequence[SentencePair], yes: str, size: int = 100
) -> float:
    known, right = words.ids(world), 0
    for start in range(0, len(examples), size):
        part = examples[start : start + size]
        rows = []
        for one in part:
            a, b = ([known[token] for token in side] for side in (one.first, one.second))
            ids = [words.CLS, *a, words.SEP, *b, words.SEP]
            segments = [0] * (len(a) + 2) + [1] * (len(b) + 1)
            rows.append({"input_ids": ids, "token_type_ids": segments})
        logits = model(**padded(rows, words.PAD)).seq_relationship_logits
        follows = (logits.argmax(-1) == 0).tolist()
        right += sum(it == (one.label == yes) for it, one in zip(follows, part, strict=True))
    return right / len(examples)


# ------------------------------------------------------------------------------ span questions


def answers(given: Measured) -> dict[str, float]:
    """Span questions: exact match and F1, on the test's questions and on those for choosing."""
    count = given.few(QUESTIONS)
    found: dict[str, float] = {}
    for prefix, seed in (("", span_questions.TEST), ("validation ", span_questions.VALIDATION)):
        task = questions(given.world, count, seed)
        scores = span_questions.scored(given.model, given.world, task.examples)
        found |= {prefix + name: value for name, value in scores.items()}
    return found | {"exact": float(task.first(given.few(EXACT)).best.score)}


# --------------------------------------------------------------------- a student and its teacher


def beside_teacher(given: Measured) -> dict[str, float]:
    """A student's size, speed and accuracy as shares of its teacher's, in one process."""
    student, teacher, world = given.model, given.source, given.world
    assert teacher is not None, "the measure is of students"
    count = given.few(REVIEWS)
    own, its = (accuracy(model, world, count) for model in (student, teacher))
    return {
        "parameters": parameters(student) / parameters(teacher),
        "times as small": parameters(teacher) / parameters(student),
        "times as fast": times_as_fast(student, teacher, world, 3 if given.short else 15),
        "retained accuracy": own / its if its else 0.0,
        "accuracy": own,
    }


@torch.no_grad()
def times_as_fast(first: nn.Module, second: nn.Module, world: BookWorld, rounds: int) -> float:
    """The second's time by the first's, for one batch: in turn, and the median of the ratios.

    CPU seconds of this process, which other processes do not lengthen by waiting.
    """
    batch = padded(words.examples(world.split("validation", 16)), words.PAD)
    given = {name: batch[name] for name in ("input_ids", "attention_mask")}
    ratios = []
    for _ in range(rounds + 1):
        spent = []
        for model in (first, second):
            start = time.process_time()
            model(**given)
            spent.append(time.process_time() - start)
        ratios.append(spent[1] / spent[0])
    return float(np.median(ratios[1:]))  # the first round warms up


# ------------------------------------------------------------------------ questions about authors


def facts(score: Callable[[nn.Module, BookWorld, int], dict[str, float]]) -> Measure:
    """Accuracy on questions that need the graph, for one form of its triples."""
    return lambda given: score(given.model, given.world, given.few(knowledge.QUESTIONS))


MEASURES: dict[str, Measure] = {
    "masked": gap,
    "names": names,
    "validation": validation,
    "size": size,
    "sense": sense,
    "static sense": static_sense,
    "untrained biLM": untrained_bilm_sense,
    "pairs": pairs,
    "answers": answers,
    "beside teacher": beside_teacher,
    **{name: facts(score) for name, score in knowledge.SCORED.items()},
}
