"""Matthews correlation, exact match and F1 with several annotators, spans."""

import re
import string
from collections import Counter

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal
from lmcourse.labs.results import Result


def matthews(labels: Tensor, predictions: Tensor, classes: int) -> Tensor:
    T, P = (torch.eye(classes).double()[each] for each in (labels, predictions))
    T, P = T - T.mean(0), P - P.mean(0)
    sizes = (T * T).sum() * (P * P).sum()
    return (T * P).sum() / sizes.sqrt() if sizes > 0 else sizes


def _classified(classes: int, count: int, right: float) -> Example:
    """Skewed classes, which the predictions confuse in one direction."""
    skew = torch.arange(classes, 0, -1).double()
    labels = (normal(count, classes, seed=(classes, "labels")) + 0.5 * skew).argmax(1)
    logits = normal(count, classes, seed=(classes, "predictions")) + 0.4 * skew.roll(1)
    logits[torch.arange(count), labels] += right
    return labels, logits.argmax(1), classes


_TWO = torch.tensor([0, 1, 1, 0, 1])
MATTHEWS = Task(
    matthews,
    examples=[_classified(*each) for each in ((3, 14, 1), (2, 11, 0.9), (5, 20, 2), (4, 14, -1))],
    edge_cases={
        "where all predictions are the same": (_TWO, torch.ones_like(_TWO), 2),
        "where all labels are the same": (2 * torch.ones_like(_TWO), 2 * _TWO, 3),
        "where all labels and all predictions are the same": (_TWO // 2, _TWO // 2, 2),
        "where a class never occurs": (2 * _TWO, torch.tensor([0, 2, 2, 2, 2]), 3),
    },
    slips="""
This correlates the class *numbers*, which are only names. Renaming the classes changes nothing.
    (torch.eye(classes).double()[each] for -> (each[:, None].double() for
This is the score of one class, or a mean of such scores. Sum over the classes, then divide once.
    (T * P).sum() / sizes.sqrt() ->
        ((T * P).sum(0) / ((T * T).sum(0) * (P * P).sum(0)).sqrt()).nan_to_num(0).mean() ||
        ((T * P).sum(0) / ((T * T).sum(0) * (P * P).sum(0)).sqrt()).nanmean() ||
        ((T * P).sum(0) / ((T * T).sum(0) * (P * P).sum(0)).sqrt())[1]
Each column of both tables has its own mean, the share of its class. Subtract these, and no others.
    T - T.mean(0), P - P.mean(0) -> T, P || T - T.mean(0), P || T, P - P.mean(0) ||
        T - T.mean(), P - P.mean()
A class that occurs only in the predictions is left out. `classes` is the number of all classes.
    P - P.mean(0) -> (P - P.mean(0)) * (T.sum(0) > 0)
This is Cohen's kappa or the like. The denominator is the root of a *product* of two sums.
    sizes.sqrt() if -> ((T * T).sum() / 2 + (P * P).sum() / 2) if ||
        ((T * T).sum() + (P * P).sum()).sqrt() if || (len(T) - sum(float(
        (labels == k).sum() * (predictions == k).sum()) for k in range(classes)) / len(T)) if
The sign is lost: predictions that are worse than guesses have a negative correlation.
    (T * P).sum() / -> (T * P).sum().abs() / || (T * P).sum().clamp(min=0) /
The denominator is missing or has no root, or this is a covariance, divided by a number of examples.
    / sizes.sqrt() if -> / sizes if || / 1 if || / len(T) if || / (len(T) - 1) if
Where all predictions, or all labels, are the same, this is 0/0. The score is then 0.
    if sizes > 0 else -> if sizes >= 0 else
""",
    note="Renaming the classes changes nothing. For more than two, the minimum is above −1.",
)


def fair_scores(prediction: str, answers: list[str]) -> tuple[float, ...]:
    def words(text: str) -> list[str]:
        kept = "".join(c for c in text.lower() if c not in string.punctuation)
        return re.sub(r"\b(a|an|the)\b", " ", kept).split()

    def scores(one: list[str], other: list[str]) -> list[float]:
        common = (Counter(one) & Counter(other)).total()
        f1 = 2 * common / (len(one) + len(other)) if one or other else 1.0
        return [float(one == other), f1]

    given, sums = [words(text) for text in answers], torch.zeros(2, 2)
    for i, own in enumerate(given):
        others = given[:i] + given[i + 1 :]
        for k, text in enumerate((words(prediction), own)):
            sums[k] += torch.tensor([scores(text, other) for other in others]).amax(0)
    return tuple((sums / len(given)).flatten().tolist())


ANSWERS = Task(
    fair_scores,
    examples=[
        ("in a U.S.A. bay", ["the old Bay", "a U.S.A. bay", "an old b-ay", "USA Bay."]),
        ("An anthem!", ["anthem", "The anthem of a band", "anthem, the", "anthem"]),
        ("new orleans \t and new york", ["New York and New Orleans", "New", "New York, new! New"]),
        ("The cost-free coast road", ["a costfree road", "cost free coast road", "a rod, free"]),
        ("a b c", ["C, b", "d e", "E d f", "B c.", "d e"]),
        ('a "$5" soda_ soda', ["€5 sod", "5 dollars", "5 soda soda"]),
    ],
    edge_cases={"where no word is left of a text": ("The.", ["the", "A well", "well"])},
    slips="""
The model is scored against all answers, people against one fewer. Leave one out for both.
    for other in others] -> for other in (others if k else given)]
People are compared with their own answer, so they are always right. Leave it out.
    for other in others] -> for other in given] || for other in (given if k else others)]
The mean over the other answers is taken, or only one answer is used. The best of them counts.
    .amax(0) -> .mean(0) || [0] || [-1] || .amin(0) ||
        .sort(0).values[-1 if k < 1 else slice(9)].view(-1, 2).mean(0)
Equal answers are left out together, or count once. Two annotators who agree are two annotators.
    others = given[:i] + given[i + 1 :] -> others = [o for o in given if o != given[i]] or [[]]
        || [words(o) for o in answers if o != answers[i]] or given[:1]
    or
    for text in answers] -> for text in dict.fromkeys(answers)]
A step is missing, or the order is wrong: lower case, punctuation ("U.S.A."), articles ("The").
    text.lower() -> text
    or
    text.lower() if -> re.sub(r"\\b(a|an|the)\\b", " ", text.lower()) if
    or
    text.lower() -> text
    kept).split() -> kept).lower().split()
Delete each character of `string.punctuation`, and no other: "U.S.A." is one word, and "€" stays.
    "".join(c for c in text.lower() if c not in string.punctuation) ->
        "".join(c if c not in string.punctuation else " " for c in text.lower()) || " ".join(
        re.findall(r"\\w+", text.lower())) || " ".join(w.strip(".!,") for w in text.lower().split())
    or
    if c not in string.punctuation -> if True || if c not in ".,!?;:" || if c not in ".," ||
        if c not in string.punctuation.replace("-", "") || if c.isalnum() or c.isspace() ||
        if c not in string.punctuation.replace("_", "") || if c not in "'$.,!?;:-_"
Articles stay, or letters within words go, as in "coast". Delete the whole words a, an and the.
    r"\\b(a|an|the)\\b" -> r"\\b(the)\\b" || r"\\b(a|the)\\b" || "zzz" || r"^(a|an|the)\\b"
    or
    r"\\b(a|an|the)\\b", " " -> r"(the |an |a )", "" || r"(a|an|the)", "" || r"(the|an|a)", "" ||
        r"(a|an|the)\\b", "" || r"\\b(a|an|the)", "" || r"\\b(a|an|the) ", ""
Split at all white space. `split(" ")` finds empty words between two spaces, and ignores tabs.
    kept).split() -> kept).split(" ") || kept.replace("\\t", "-")).split()
Exact match compares two lists of words. Their order counts, and so do the boundaries of words.
    one == other -> sorted(one) == sorted(other) || set(one) == set(other) ||
        "".join(one) == "".join(other)
A repeated word counts once, or as often as in one text. The smaller of its two numbers counts.
    (Counter(one) & Counter(other)).total() -> len(set(one) & set(other)) ||
        sum(word in other for word in one) || sum(word in one for word in other)
    (len(one) + len(other)) if -> (len(one) + len(other)) if || (len(set(one)) + len(set(other))) if
F1 is the harmonic mean of precision and recall. This is one of them, or another mean or overlap.
    2 * common / (len(one) + len(other)) if one or -> common / len(one) if one and ||
        common / len(other) if one and || common / (len(one) + len(other) - common) if one or ||
        (common / len(one) + common / len(other)) / 2 if one and
The four numbers have another order: exact match and F1 of the model, then both of people.
    .flatten() -> .flip(0).flatten() || .flip(1).flatten() || .T.flatten()
""",
    names=("The model's exact match", "The model's F1", "People's exact match", "People's F1"),
    note="More accepted answers raise every score. Compare at equal numbers of them.",
)


def best_span(start: Tensor, end: Tensor, passage: Tensor, longest: int) -> tuple:  # type: ignore[type-arg]
    s, e = (each.masked_fill(~passage, -torch.inf) for each in (start, end))
    best, first, last = torch.tensor(-torch.inf), 0, 0
    for d in range(0, min(longest, len(s))):
        value, i = (s[: len(s) - d] + e[d:]).max(0)
        if value > best:
            best, first, last = value, int(i), int(i) + d
    return first, last, best - (start[0] + end[0])


def _span(seed: int, time: int, begin: int, stop: int, longest: int, least: float = 0) -> Example:
    at = torch.arange(time)
    passage = (at >= begin) & (at < stop)
    outside = 2.5 * (~passage & (at > 0)) + 4 * (seed % 2) * (at == 0)
    start, end = (2 * normal(time, seed=(seed, k)) + outside for k in "se")
    return start + 3 + least, end - 2 + least, passage, longest


def _rule(arguments: Example, value: Result, wanted: Result) -> str:
    start, end, passage, longest = arguments
    i, j, f, e = torch.stack(value.parts[:2] + wanted.parts[:2]).nan_to_num(-1).long().tolist()
    a, *_, b = passage.nonzero().flatten().tolist()
    if not a <= min(i, j) <= max(i, j) <= b:
        return f"Your span, {i} to {j}, is not in the passage, {a} to {b}."
    if not 0 <= j - i < longest:
        return f"Your span, {i} to {j}, ends before it starts or exceeds `longest = {longest}`."
    yours, best = start[i] + end[j], start[f] + end[e]
    text = f"Your span, {i} to {j}, has the score {yours:.3f}, that from {f} to {e} has {best:.3f}."
    none = f"Your span has the score {best:.3f}, and no answer has {start[0] + end[0]:.3f}."
    return text if (i, j) != (f, e) else f"{none} Your difference is {value.parts[2]:.3f}."


SPAN = Task(
    best_span,
    examples=[
        *(_span(seed, 24 + seed, 7, 20, 3 + seed % 3) for seed in (5, 1, 2, 3, 8, 9)),
        *(_span(seed, 40, 5 + seed, 39 - seed, 6) for seed in (1, 4, 6, 7)),
    ],
    edge_cases={
        "where the answer has one token at most": _span(5, 20, 4, 18, 1),
        "where `longest` exceeds the passage": _span(6, 20, 12, 17, 30),
        "where all scores are far below 0": _span(2, 24, 7, 20, 4, -200),
        "with 24,000 tokens, too many for a table of pairs": _span(7, 24_000, 12, 23_990, 12),
    },
    slips="""
Start and end are chosen independently. The end may then come before the start, or far after it.
    return -> first, last = int(s.argmax()), int(e.argmax()); best = s[first] + e[last]; return
The best start or end is chosen first, and then the other one. The best *pair* may have neither.
    return -> first = int(s.argmax()); last = first + int(e[first : first + longest].argmax());
        best = s[first] + e[last]; return || last = int(e.argmax()); a = max(0, last + 1 - longest);
        first = a + int(s[a : last + 1].argmax()); best = s[first] + e[last]; return
The logits outside the passage are set to 0, which is no exclusion: logits may be negative.
    masked_fill(~passage, -torch.inf) for -> masked_fill(~passage, 0.0) for
The span is too long or too short: it has at most `longest` tokens, both ends included.
    min(longest, -> min(longest + 1, || min(longest - 1, || min(10**9,
Count the positions from the beginning of the text. The last one is that of the span's last token.
    return first, last -> at = int(passage.long().argmax()); return first - at, last - at ||
        return first, last + 1
The sign of the difference is wrong or lost: it is the span's score minus that of no answer.
    best - (start[0] + end[0]) -> (start[0] + end[0]) - best ||
        (best - (start[0] + end[0])).abs() || (best - (start[0] + end[0])).clamp(min=0)
Probabilities are added. Probabilities of start and end are multiplied, and logits are added.
    for each in (start, end)) -> for each in (start.softmax(0), end.softmax(0)))
    - (start[0] + end[0]) -> - (start[0] + end[0]) || - (start.softmax(0)[0] + end.softmax(0)[0])
""",
    names=("The first position", "The last position", "The difference"),
    cause=_rule,
    note="BERT's threshold for this difference is chosen on the development set.",
)
