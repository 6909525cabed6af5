"""A comparison of models with true, wrong and irrelevant facts."""

from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal, one_value
from lmcourse.labs.results import Result, read, shown
from lmcourse.labs.verdict import Wrong


def compare(
    predictions: Tensor, answers: Tensor, stated: Tensor, t: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    seeds = predictions.shape[1]
    accuracy = (predictions == answers).double().mean(2)
    difference = accuracy - accuracy[0]
    half = t * difference.std(1) / seeds**0.5
    trust = []
    for chosen, triples in zip(predictions, stated, strict=True):
        wrong = (triples != -1) & (triples != answers)
        same = (chosen == triples)[:, wrong].double()
        trust.append(same.mean() if wrong.any() else torch.tensor(-1.0).double())
    return accuracy, difference.mean(1), half, torch.stack(trust)


def _share(seed: object, *shape: int) -> Tensor:
    return torch.special.ndtr(normal(*shape, seed=seed))


def _answers(seed: int, settings: int, seeds: int, questions: int, t: float) -> Example:
    """Predictions of models that are often right, or believe what is stated."""
    classes = 5
    draw = lambda name, *shape: (_share((seed, name), *shape) * classes).long()  # noqa: E731
    answers = draw("answers", questions)
    stated = draw("stated", settings, questions)
    stated[_share((seed, "true"), settings, questions) < 0.4] = -2
    stated = torch.where(stated == -2, answers, stated)
    stated[_share((seed, "none"), settings, questions) < 0.2] = -1
    stated[seed % settings] = -1  # a setting without triples
    stated[(seed + 1) % settings] = answers  # and one with true ones
    luck = _share((seed, "luck"), settings, seeds, 1) * 0.5
    kind = _share((seed, "kind"), settings, seeds, questions)
    guess = draw("guess", settings, seeds, questions)
    predictions = torch.where(kind < 0.3 + luck, answers, guess)
    followed = stated[:, None].expand(-1, seeds, -1)
    return torch.where((kind > 0.6) & (followed != -1), followed, predictions), answers, stated, t


def _in_shape(returned: Any, predictions: Tensor, *_: Any) -> Any:
    """What was returned, if each value has its shape."""
    settings, seeds = predictions.shape[:2]
    each, one = torch.zeros(settings, seeds), torch.zeros(settings)
    parts = read(returned, (each, one, one, one)).parts
    for name, ours, right in zip(COMPARE.names, parts, (each, one, one, one), strict=True):
        if ours.shape != right.shape:
            raise Wrong(
                f"{name}: shape {list(ours.shape)}; expected: {list(right.shape)}, with {settings} "
                f"settings and {seeds} seeds.",
                "shape",
            )
    return returned


def _part(arguments: Example, value: Result, wanted: Result) -> str:
    """The hint of a slip for one of the values, or the first value that differs."""
    found = one_value(COMPARE, arguments, value, wanted)
    pairs = zip(COMPARE.names, value.parts, wanted.parts, strict=True)
    for name, ours, right in pairs if not found else ():
        if ours.shape == right.shape and not torch.allclose(ours, right, atol=1e-6):
            settings, seeds, questions = arguments[0].shape
            return (
                f"With {settings} settings, {seeds} seeds and {questions} questions. {name}: "
                f"{shown(ours)}; expected: {shown(right)}."
            )
    return found


COMPARE: Task = Task(
    compare,
    examples=[
        *(_answers(0, 4, 4, 60, 3.182), _answers(1, 3, 5, 41, 2.776)),
        *(_answers(2, 5, 6, 50, 2.571), _answers(7, 4, 3, 37, 4.303)),
    ],
    edge_cases={"for two settings with two seeds": _answers(4, 2, 2, 30, 12.71)},
    slips="""
The differences are others: the accuracy of a setting minus that of setting 0, for the same seed.
    accuracy - accuracy[0] -> accuracy[0] - accuracy
    or
    accuracy - accuracy[0] -> accuracy - accuracy[-1] || accuracy - accuracy.mean(0) ||
        accuracy - accuracy[accuracy.mean(1).argmax()] ||
        accuracy - accuracy[:, :1] || accuracy - accuracy.roll(1, 0)
The seeds are paired: seed 0 of a setting is compared with seed 0 of setting 0. Use the standard
deviation of the differences.
    t * difference.std(1) -> t * (accuracy.var(1) + accuracy[0].var()).sqrt() ||
        t * accuracy.std(1) || t * ((accuracy.var(1) + accuracy[0].var()) / 2).sqrt()
The unit of the interval is the question. Questions share a model, so the runs are independent, not
the answers: use the standard deviation over seeds.
    half = t * difference.std(1) / seeds**0.5 -> right = (predictions == answers).double(); half = t
        * (right - right[0]).flatten(1).std(1) / right[0].numel() ** 0.5
    or
    half = t * difference.std(1) / seeds**0.5 -> right = (predictions == answers).double(); half = t
        * (right - right[0]).mean(1).std(1) / len(answers) ** 0.5
    or
    / seeds**0.5 -> / len(answers) ** 0.5
The interval has another width: `t` times the standard deviation (with n − 1), over the root of the
number of seeds.
    t * difference.std(1) / seeds**0.5 -> t * difference.std(1) ||
        difference.std(1) / seeds**0.5 || t * difference.std(1, correction=0) / seeds**0.5 ||
        2 * t * difference.std(1) / seeds**0.5 || t * difference.std(1) / seeds ||
        t * difference.var(1) / seeds**0.5 || 1.96 * difference.std(1) / seeds**0.5 ||
        t * difference.std(1) / len(accuracy) ** 0.5 ||
        t * difference.std(1) / (seeds - 1) ** 0.5 || 2 * difference.std(1) / seeds**0.5
The accuracy is not a share for each setting *and seed*: the mean is over the questions.
    (predictions == answers).double().mean(2) -> (predictions == answers).double().sum(2) ||
        (predictions == answers).double().mean(2).mean(1, keepdim=True).expand(-1, seeds)
The accuracy is the share of *right* answers: predictions that equal `answers`, whatever the input
states.
    accuracy = (predictions == answers) -> accuracy = (predictions == stated[:, None])
    or
    accuracy = (predictions == answers) -> accuracy = (predictions != answers)
Trust is measured over other questions. Use only those for which a fact is stated (not −1) that is
wrong: if it is true, a model that ignores it may give the same answer.
    wrong = (triples != -1) & (triples != answers) -> wrong = triples != -1 ||
        wrong = (triples != -1) & (triples == answers)
    or
    same = (chosen == triples)[:, wrong].double() -> same = ((chosen == triples) & wrong).double()
    or
    same = (chosen == triples)[:, wrong].double() -> same = (chosen == triples).double()
    or
    (triples != -1) & (triples != answers) -> triples != answers
Trust is a share of *all* answers to the questions with a wrong fact, those that are the stated
object. Another wrong answer is not a sign of trust.
    same = (chosen == triples)[:, wrong].double() -> same = (chosen != answers)[:, wrong].double()
    or
    same = (chosen == triples)[:, wrong].double() -> same = (chosen == answers)[:, wrong].double()
    or
    same = (chosen == triples)[:, wrong].double() -> same = (chosen != triples)[:, wrong].double()
    or
    same = (chosen == triples)[:, wrong].double() -> same = (chosen == triples)[:, wrong][
        (chosen != answers)[:, wrong]].double()
Trust is a number of answers, or a sum over seeds. Divide by questions times seeds.
    same.mean() -> same.sum() || same.sum() / wrong.sum() || same.sum() / len(same)
Trust is that of one seed. Average over all seeds.
    (chosen == triples)[:, wrong] -> (chosen == triples)[:1, wrong] ||
        (chosen == triples)[-1:, wrong]
Where no wrong fact is stated, trust is not defined. The text asks for −1.
    torch.tensor(-1.0) -> torch.tensor(torch.nan) || torch.tensor(0.0) || torch.tensor(1.0)
The facts of another setting are used: row n of `stated` belongs to setting n.
    zip(predictions, stated, strict=True) -> zip(predictions, stated.roll(1, 0), strict=True) ||
        zip(predictions, stated[:1].expand(len(stated), -1), strict=True)
""",
    names=("The accuracies", "The differences", "The half widths", "Trust"),
    result=_in_shape,
    cause=_part,
    note="A setting with a wrong fact shows what a model does with a fact: a model that answers "
    "right in spite of it did not use it.",
)
