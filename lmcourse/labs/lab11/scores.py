"""11.2 Matthews correlation, 11.3 exact match and F1 with several annotators, 11.4 spans."""

import re
import string
from collections import Counter

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal


def matthews(labels: Tensor, predictions: Tensor, classes: int) -> Tensor:
    T, P = (torch.eye(classes, dtype=torch.float64)[each] for each in (labels, predictions))
    T, P = T - T.mean(0), P - P.mean(0)
    product = (T * P).sum()
    sizes = (T * T).sum() * (P * P).sum()
    return product / sizes.sqrt() if sizes > 0 else sizes


def _classified(seed: int, classes: int, count: int, right: float) -> Example:
    """Skewed classes, which the predictions confuse in one direction."""
    skew = torch.arange(classes, 0, -1, dtype=torch.float64)
    labels = (normal(count, classes, seed=(seed, "labels")) + 0.5 * skew).argmax(1)
    logits = normal(count, classes, seed=(seed, "predictions")) + 0.4 * skew.roll(1)
    logits[torch.arange(count), labels] += right
    return labels, logits.argmax(1), classes


_TWO = torch.tensor([0, 1, 1, 0, 1])
MATTHEWS = Task(
    matthews,
    examples=[
        *(_classified(0, 3, 40, 1.0), _classified(1, 2, 30, 0.9), _classified(2, 5, 60, 1.5)),
        _classified(3, 4, 30, -1.0),
    ],
    edge_cases={
        "where all predictions are the same": (_TWO, torch.ones_like(_TWO), 2),
        "where all labels are the same": (2 * torch.ones_like(_TWO), 2 * _TWO, 3),
        "where a class never occurs": (2 * _TWO, torch.tensor([0, 2, 2, 2, 2]), 3),
    },
    slips="""
This is the correlation of the class *numbers*. They are names: renaming the classes must change
nothing. With two classes you cannot notice it.
    (torch.eye(classes, dtype=torch.float64)[each] for -> (each[:, None].double() for
This is a mean of one score for each class. Sum over the classes first, then divide once.
    product / sizes.sqrt() if sizes > 0 else sizes ->
        ((T * P).sum(0) / ((T * T).sum(0) * (P * P).sum(0)).sqrt()).nan_to_num(0).mean() ||
        ((T * P).sum(0) / ((T * T).sum(0) * (P * P).sum(0)).sqrt())[1]
The means are not subtracted, so this is the accuracy, or they are subtracted from one table only.
    T - T.mean(0), P - P.mean(0) -> T, P || T - T.mean(0), P || T, P - P.mean(0)
One mean is subtracted for all classes. Each column has its own: the share of its class.
    T - T.mean(0), P - P.mean(0) -> T - T.mean(), P - P.mean()
The root in the denominator is missing.
    sizes.sqrt() if -> sizes if
This is Cohen's kappa, or another score with this numerator. The denominator is a root of a
*product* of two sums of squares.
    sizes.sqrt() if -> (((T * T).sum() + (P * P).sum()) / 2) if ||
        (len(T) * (1 - (T - torch.eye(classes)[labels]).square().mean(0).sqrt()
        @ (P - torch.eye(classes)[predictions]).square().mean(0).sqrt())) if ||
        (T * T).sum() if || (P * P).sum() if
The sign is lost: predictions that are worse than guesses have a negative correlation.
    product / -> product.abs() /
This is a covariance, divided by nothing or by the number of examples.
    product / sizes.sqrt() if -> product if || product / len(T) if || product / (len(T) - 1) if
Where all predictions, or all labels, are the same, this is 0/0. The score is then 0.
    if sizes > 0 else sizes -> if sizes >= 0 else sizes
""",
    tolerance=1e-3,
    note="With two classes this is GLUE's score for CoLA. Renaming the classes changes nothing. "
    "With more than two classes the smallest possible value is above −1.",
)


def fair_scores(prediction: str, answers: list[str]) -> tuple[float, ...]:
    def words(text: str) -> list[str]:
        kept = "".join(c for c in text.lower() if c not in string.punctuation)
        return re.sub(r"\b(a|an|the)\b", " ", kept).split()

    def exact(one: list[str], other: list[str]) -> float:
        return float(one == other)

    def f1(one: list[str], other: list[str]) -> float:
        common = (Counter(one) & Counter(other)).total()
        return 2 * common / (len(one) + len(other)) if one or other else 1.0

    given, n = [words(text) for text in answers], len(answers)
    sums = [0.0, 0.0, 0.0, 0.0]
    for i in range(n):
        others = given[:i] + given[i + 1 :]
        for k, (text, score) in enumerate(
            ((words(prediction), exact), (words(prediction), f1), (given[i], exact), (given[i], f1))
        ):
            sums[k] += max(score(text, other) for other in others)
    return tuple(each / n for each in sums)


ANSWERS = Task(
    fair_scores,
    examples=[
        (
            "in a U.S.A. harbor, near the old lighthouse",
            ["the old Lighthouse", "a U.S.A. harbor", "near an old light-house", "USA Harbor."],
        ),
        ("An anthem!", ["anthem", "The anthem of a band", "the, anthem"]),
        (
            "  new  york and new orleans",
            ["New York and New Orleans", "New York", "New York, New Orleans"],
        ),
        ("The cost-free coast road", ["a costfree road", "the coast", "a rod, cost free"]),
        ("a b c", ["b, C, d", "d e", "E d f", "B."]),
    ],
    edge_cases={
        "where no word is left of a text": ("The.", ["the", "A well", "well"]),
        "where no word is in common": ("one", ["two", "three four"]),
    },
    slips="""
The model is scored against all answers, people against one answer fewer: that favors the model.
Leave one answer out for both.
    max(score(text, other) for other in others) ->
        max(score(text, other) for other in (others if k > 1 else given))
People are compared with their own answer, so they are always right. Leave it out.
    others = given[:i] + given[i + 1 :] -> others = given
    or
    max(score(text, other) for other in others) ->
        max(score(text, other) for other in (others if k < 2 else given))
The mean over the other answers is taken, or only one answer is used. The best of them counts.
    max(score(text, other) for other in others) ->
        sum(score(text, other) for other in others) / len(others) ||
        score(text, others[0]) || score(text, others[-1]) || min(score(text, o) for o in others)
Equal answers are left out together. Two annotators who agree are two annotators.
    others = given[:i] + given[i + 1 :] -> others = [o for o in given if o != given[i]] or [[]]
The case is not removed, or only after the articles: "The" stays.
    text.lower() if -> text if
    or
    text.lower() -> text
    kept).split() -> kept).lower().split()
Punctuation becomes a space, so "U.S.A." becomes three words. Delete it.
    "".join(c for c in text.lower() if c not in string.punctuation) ->
        "".join(c if c not in string.punctuation else " " for c in text.lower())
Punctuation stays, or some of it: `string.punctuation` lists all that goes.
    if c not in string.punctuation -> if True || if c not in ".,!?;:" || if c not in ".," ||
        if c not in string.punctuation.replace("-", "")
Articles stay, or some of them: "a", "an" and "the" go.
    r"\\b(a|an|the)\\b" -> r"\\b(the)\\b" || r"\\b(a|the)\\b" || r"\\b(zzz)\\b"
Articles are deleted within words: "coast" becomes "cost". Only whole words are articles.
    r"\\b(a|an|the)\\b", " " -> r"(a|an|the)", "" || r"(the|an|a)", "" || r"(the|an|a)", " " ||
        r"(a|an|the)", " "
Articles are deleted before the punctuation: then the "A" of "U.S.A." is one.
    text.lower() if -> re.sub(r"\\b(a|an|the)\\b", " ", text.lower()) if
A repeated word counts once, or as often as it occurs in one text. Common words are counted as often
as in *both* texts: the smaller number.
    (Counter(one) & Counter(other)).total() -> len(set(one) & set(other)) ||
        sum(word in other for word in one) || sum(word in one for word in other)
    (len(one) + len(other)) if -> (len(one) + len(other)) if || (len(set(one)) + len(set(other))) if
F1 is 2 · precision · recall / (precision + recall). This is one of the two, their mean, or another
overlap.
    2 * common / (len(one) + len(other)) if -> common / max(len(one), 1) if ||
        common / max(len(other), 1) if || common / max(len(Counter(one) | Counter(other)), 1) if ||
        (common / max(len(one), 1) + common / max(len(other), 1)) / 2 if ||
        common / max((Counter(one) | Counter(other)).total(), 1) if
""",
    names=("The model's exact match", "The model's F1", "People's exact match", "People's F1"),
    note="More accepted answers make every score higher. A comparison with people is fair if both "
    "are scored against the same number of answers.",
)


def best_span(start: Tensor, end: Tensor, passage: Tensor, longest: int) -> tuple:  # type: ignore[type-arg]
    s, e = (each.masked_fill(~passage, -torch.inf) for each in (start, end))
    best, first, last = -torch.inf, 0, 0
    for d in range(0, min(longest, len(s))):
        scores = s[: len(s) - d] + e[d:]
        value, i = scores.max(0)
        if value > best:
            best, first, last = value, int(i), int(i) + d
    return first, last, best - (start[0] + end[0])


def _span(seed: int, time: int, begin: int, stop: int, longest: int) -> Example:
    """A passage after a question, before padding; the largest logits are outside of it."""
    start, end = 2 * normal(time, seed=(seed, "s")), 2 * normal(time, seed=(seed, "e"))
    passage = (torch.arange(time) >= begin) & (torch.arange(time) < stop)
    start, end = (x + 2.5 * (~passage) * (torch.arange(time) > 0) for x in (start, end))
    return start + 3, end - 2, passage, longest


SPAN = Task(
    best_span,
    examples=[
        *(_span(seed, 24 + seed, 7, 20, 3 + seed % 3) for seed in (5, 1, 2, 3, 8, 9)),
        *(_span(seed, 40, 5 + seed, 39 - seed, 6) for seed in (1, 4, 6, 7)),
    ],
    edge_cases={
        "where the answer has one token at most": _span(5, 20, 4, 18, 1),
        "where `longest` exceeds the passage": _span(6, 20, 12, 17, 30),
        "with a text of 24,000 tokens": _span(7, 24_000, 12, 23_990, 12),
    },
    slips="""
Start and end are chosen independently. The end may then come before the start, or far after it.
    return -> first, last = int(s.argmax()), int(e.argmax()); best = s[first] + e[last]; return
The best start is chosen first, then an end for it, or the reverse. The best *pair* may have neither
the best start nor the best end.
    return -> first = int(s.argmax()); last = first + int(e[first : first + longest].argmax());
        best = s[first] + e[last]; return || last = int(e.argmax());
        first = max(0, last - longest + 1); first += int(s[first : last + 1].argmax());
        best = s[first] + e[last]; return
The span may lie outside the passage: `[CLS]`, the question and the padding have logits as well.
    masked_fill(~passage, -torch.inf) for -> clone() for
    or
    masked_fill(~passage, -torch.inf) for ->
        masked_fill((~passage) & (torch.arange(len(passage)) == 0), -torch.inf) for ||
        masked_fill(torch.arange(len(passage)) < int(passage.long().argmax()), -torch.inf) for ||
        masked_fill(torch.arange(len(passage)) > int(passage.nonzero().max()), -torch.inf) for
The logits outside the passage are set to 0, which is no exclusion: logits may be negative.
    masked_fill(~passage, -torch.inf) for -> masked_fill(~passage, 0.0) for
The positions are counted from the passage's first token. Count from the beginning of the text.
    return first, last -> at = int(passage.long().argmax()); return first - at, last - at
The span is too long or too short: it has at most `longest` tokens, both ends included.
    min(longest, -> min(longest + 1, || min(longest - 1, || min(10**9,
A span of one token is left out.
    range(0, -> range(1,
The last position is returned as the position after it.
    return first, last -> return first, last + 1
The difference has the wrong sign: it is the span's score minus that of no answer.
    best - (start[0] + end[0]) -> (start[0] + end[0]) - best
The third value is the span's score alone, or compares with something else. Subtract the score of no
answer, which is `start[0] + end[0]`.
    best - (start[0] + end[0]) -> best || best - start[0] || best - end[0] ||
        best + start[0] + end[0] || best - torch.max(start[0], end[0]) ||
        best - (start[0] + end[0]) / 2 || best - (start.softmax(0)[0] + end.softmax(0)[0])
Probabilities are added. Probabilities of start and end are multiplied, and logits are added.
    for each in (start, end)) -> for each in (start.softmax(0), end.softmax(0)))
    - (start[0] + end[0]) -> - (start[0] + end[0]) || - (start.softmax(0)[0] + end.softmax(0)[0])
Logits are multiplied. They are logarithms: add them.
    s[: len(s) - d] + e[d:] -> (s[: len(s) - d] * e[d:]).nan_to_num(-torch.inf, -torch.inf)
""",
    names=("The first position", "The last position", "The difference"),
    note="BERT answers a question of SQuAD 2.0 if the difference exceeds a threshold that is "
    "chosen on the development set.",
)
