"""A student's weights, its least loss, the share of a score that it retains."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.special import xlogy

from lmcourse.labs.kit import Example, Task, normal, one_value
from lmcourse.labs.results import Result, shown
from lmcourse.labs.verdict import Wrong

State = dict[str, Tensor]
_LAYER = "encoder.layers."


def student_state(teacher: State, n: int) -> State:
    N = 1 + max(int(name.split(".")[2]) for name in teacher if name.startswith(_LAYER))
    layers = [int(i * (N - 1) / max(n - 1, 1) + 0.5) for i in range(n)]
    student = {
        f"{_LAYER}{i}.{name.removeprefix(f'{_LAYER}{layer}.')}": tensor
        for i, layer in enumerate(layers)
        for name, tensor in teacher.items()
        if name.startswith(f"{_LAYER}{layer}.")
    }
    others = "embeddings.word.weight", "embeddings.norm.weight", "embeddings.norm.bias"
    student |= {name: teacher[name] for name in others}
    added = teacher["embeddings.segment.weight"][0]
    student["embeddings.position.weight"] = teacher["embeddings.position.weight"] + added
    return student


def _teacher(N: int, n: int) -> Example:
    shapes = {"word": (4, 3), "position": (5, 3), "segment": (2, 3)}
    state = {f"embeddings.{name}.weight": normal(*shapes[name], seed=(N, name)) for name in shapes}
    state |= {f"embeddings.norm.{name}": normal(3, seed=(N, name)) for name in ("weight", "bias")}
    for i in range(N):
        state[f"{_LAYER}{i}.attention.query.weight"] = normal(2, 2, seed=(N, i))
        state[f"{_LAYER}{i}.feed_forward.output.bias"] = normal(2, seed=(N, i))
    pooler = dict.fromkeys(("pooler.dense.weight", "pooler.dense.bias"), normal(3, seed=N))
    return {**state, **pooler}, n


def _layers(state: Mapping[str, Any], count: int) -> Tensor:
    """One row of numbers for each layer."""
    rows = ([k for k in state if k.startswith(f"{_LAYER}{i}.")] for i in range(count))
    flat = ([torch.as_tensor(state[k]).double().flatten() for k in sorted(row)] for row in rows)
    return torch.stack([torch.cat(row) for row in flat])


def _parts(returned: object, teacher: State, n: int) -> tuple[Tensor, ...]:
    """The embeddings and the layers of what was returned, which has a student's names."""
    if not isinstance(returned, Mapping):
        raise Wrong("Return a dictionary: a tensor for each name of the student.", "type")
    like = {k: v for k, v in teacher.items() if k.startswith("emb") and "segment" not in k}
    for i in range(n):
        like |= {k.replace("0", str(i)): v for k, v in teacher.items() if f"{_LAYER}0." in k}
    sides = ("needs", like.keys() - {*returned}), ("has no", {*returned} - like.keys())
    if any("pooler" in str(name) or "segment" in str(name) for name in returned):
        raise Wrong("Segments or the pooler are copied, too. DistilBERT has neither.", "type")
    for what, found in sides:
        if found:
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            raise Wrong(f"A student of {n} layers {what} `{min(map(str, found))}`{more}.", "type")
    embeddings = [name for name in like if name.startswith("emb")]
    return *(returned[name] for name in embeddings), _layers(returned, n)


def _which(arguments: Example, value: Result, wanted: Result) -> str:
    """Which of the teacher's layers the student has."""
    rows = _layers(arguments[0], sum(name.endswith("query.weight") for name in arguments[0]))
    same = [(part.parts[-1][:, None] - rows).abs().amax(-1) < 1e-4 for part in (value, wanted)]
    ours, right = (shown(each.double().argmax(1)) for each in same)
    fine = ours == right or not same[0].any(1).all()
    return "" if fine else f"Of {len(rows)} layers, you copy {ours}; expected: {right}."


LAYERS = Task(
    student_state,
    examples=[_teacher(12, 6), _teacher(11, 4), _teacher(5, 4), _teacher(12, 10)],
    edge_cases={"for n = N": _teacher(4, 4), "for one layer": _teacher(6, 1)},
    slips="""
These layers are evenly spaced, but the first or the last one is missing. Both are copied.
    int(i * (N - 1) / max(n - 1, 1) + 0.5) -> i * N // n || (i + 1) * N // n - 1 ||
        int(i * N / n + 0.5) || i * (N // n) || (i + 1) * (N // n) - 1
These layers are the lowest or the highest ones. They should be evenly spaced.
    int(i * (N - 1) / max(n - 1, 1) + 0.5) -> i || N - n + i
Fractions are cut off, or rounded up. Round to the nearest integer.
    int(i * (N - 1) / max(n - 1, 1) + 0.5) -> i * (N - 1) // max(n - 1, 1) ||
        -(-i * (N - 1) // max(n - 1, 1))
The names keep the teacher's numbers. The student's layers are numbered from 0.
    {_LAYER}{i}. -> {_LAYER}{layer}.
Names are compared by their beginnings: layer 1 also matches layers 10 and 11.
    name.startswith(f"{_LAYER}{layer}.") -> name.startswith(f"{_LAYER}{layer}")
    name.removeprefix(f'{_LAYER}{layer}.') -> name.split('.', 3)[3]
The first segment's embedding is lost. BERT adds it to every token: where can a constant go?
    + added -> + 0
The wrong row is added: a single text is segment 0, and only its embedding counts.
    segment.weight"][0] -> segment.weight"][1] || segment.weight"].sum(0) ||
        segment.weight"].mean(0)
The segment's embedding is added to one position only. Every token gets it.
    + added -> + added * (torch.arange(5) == 0)[:, None] || + added * torch.eye(5, 3)
The segment's embedding is in the words. An output layer with tied embeddings then differs.
    + added -> + 0; student[others[0]] = student[others[0]] + added
The segment's embedding is in the bias of the normalization. BERT adds it before the normalization.
    + added -> + 0; student[others[2]] = student[others[2]] + added
For one layer this divides by 0. Copy layer 0 then.
    max(n - 1, 1) -> (n - 1)
""",
    result=_parts,
    names=("The words", "The positions", "norm.weight", "norm.bias", "The layers"),
    cause=_which,
    note="With n = N, your student computes what its teacher does on a single text. With fewer "
    "layers, it computes something else until it is trained.",
)


def excess_losses(
    exact: Tensor, teacher_logits: Tensor, groups: Tensor, T: float
) -> tuple[Tensor, ...]:
    same = (groups[:, None] == groups).to(exact.dtype)
    same = same / same.sum(1, keepdim=True)
    targets = (teacher_logits / T).softmax(-1)
    student = (T * (same @ targets).log()).softmax(-1)
    answers = teacher_logits.softmax(-1), student, same @ exact
    return tuple((xlogy(exact, exact) - xlogy(exact, q)).sum(-1).mean() for q in answers)


def _noisy(seed: int, groups: list[int], T: float, noise: float, zero: bool = False) -> Example:
    numbers = torch.tensor(groups)
    shared = torch.stack([2 * normal(5, seed=(seed, group)) for group in groups])
    logits = shared + 0.5 * normal(len(groups), 5, seed=seed)
    exact = logits.softmax(-1)
    if zero:
        exact = exact.masked_fill(exact < 0.05, 0)
        exact = exact / exact.sum(-1, keepdim=True)
    return exact, logits + noise * normal(len(groups), 5, seed=(seed, "noise")), numbers, T


EXCESS: Task = Task(
    excess_losses,
    examples=[
        _noisy(1, [0, 1, 1, 0, 1, 2, 1], 3.0, 1.5),
        _noisy(2, [5, 2, 5, 5, 5], 2.0, 0.7),
        _noisy(0, [3, 3, 8, 3, 8, 3], 1.0, 1.0),
    ],
    edge_cases={"where an exact probability is 0": _noisy(3, [1, 4, 1, 4], 2.0, 1.0, zero=True)},
    slips="""
The predictions are the averaged soft targets, at temperature T. The student predicts at 1.
    (T * (same @ targets).log()).softmax(-1) -> same @ targets
The student's logits are divided by T once more, are probabilities, or its answer does not sum to 1.
Its logits divided by T give the soft targets.
    (T * (same @ targets).log()).softmax(-1) -> ((same @ targets).log() / T).softmax(-1) ||
        (same @ targets) ** T || (T * (same @ targets)).softmax(-1)
The teacher's logits are averaged. Which distribution has the least mean divergence from others?
    (T * (same @ targets).log()).softmax(-1) -> (same @ teacher_logits).softmax(-1) ||
        (same @ teacher_logits / T).softmax(-1)
The averaged targets are at temperature 1. The student learns from soft targets at temperature T.
    targets = (teacher_logits / T) -> T = 1; targets = teacher_logits || targets = teacher_logits
The teacher predicts at temperature T. T is for the distillation only; predictions are at 1.
    teacher_logits.softmax(-1), student -> targets, student || targets, same @ targets
The roles in the divergence are exchanged. It is KL(exact ‖ prediction).
    xlogy(exact, exact) - xlogy(exact, q) -> xlogy(q, q) - xlogy(q, exact)
This is the loss, with the entropy of the exact distribution, or it is in bits.
    xlogy(exact, exact) - xlogy(exact, q) -> -xlogy(exact, q) ||
        (xlogy(exact, exact) - xlogy(exact, q)) / torch.tensor(2.0).log()
This is no mean over texts of sums over classes, or groups count equally. Each text counts once.
    .sum(-1).mean() -> .mean() || .sum() || .sum(-1) @ (w := same.diagonal()) / w.sum()
An excess is measured from `exact`, not from the teacher's answer or from the best student's.
    xlogy(exact, exact) - xlogy(exact, q) -> xlogy(exact, same @ exact) - xlogy(exact, q)
    or
    xlogy(exact, exact) - xlogy(exact, q) -> xlogy(r, r) - xlogy(r, q)
    for q in answers -> for r, q in zip((exact, targets, exact), answers) ||
        for r, q in zip((exact, teacher_logits.softmax(-1), exact), answers)
The texts are assigned to groups in the order of the groups' numbers. `groups` is in any order.
    groups[:, None] == groups -> (g := groups.sort().values)[:, None] == g
The student has one row for all texts, or one for each text. It has one for each group.
    groups[:, None] == groups -> groups[:, None] > groups - 99
    or
    student, same @ exact -> teacher_logits.softmax(-1), same @ exact || student, exact ||
        teacher_logits.softmax(-1), exact
Two students are confused. The second learns from its teacher at T, the third from `exact` at 1.
    same @ exact -> (same @ exact.log()).softmax(-1) || same @ teacher_logits.softmax(-1) ||
        (T * (same @ (exact.log() / T).softmax(-1)).log()).softmax(-1) || student
    or
    (T * (same @ targets).log()).softmax(-1) -> same @ exact
""",
    names=("The teacher's excess", "The student's excess", "The least excess"),
    cause=lambda *call: one_value(EXCESS, *call),
    note="Averaging removes noise that differs between the texts of a group. An error that the "
    "teacher repeats in all of them remains, at any temperature.",
)


def retained(
    student: Tensor, teacher: Tensor, baseline: Tensor, draws: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    every = torch.arange(len(student))

    def share(rows: Tensor) -> Tensor:
        s, t, b = (each[rows].sum(-1) for each in (student, teacher, baseline))
        return (s - b) / (t - b)

    return student.sum() / teacher.sum(), share(every), share(draws).std()


def _scores(seed: int, reviews: int, draws: int) -> Example:
    count = (25 * normal(reviews, seed=seed).mul(0.5).exp()).round() + 5
    s, t, b = (
        (count * (rate + 0.15 * normal(reviews, seed=(seed, rate)))).round().clamp(min=1)
        for rate in (0.5, 0.65, 0.35)
    )
    t[0] = b[0]  # in this review, the teacher has no lead
    rows = (reviews * torch.special.ndtr(normal(draws, reviews, seed=(seed, "draws")))).long()
    return s, t, b, rows


RETAINED: Task = Task(
    retained,
    examples=[_scores(0, 12, 40), _scores(1, 20, 60), _scores(2, 9, 25)],
    slips="""
The shares of the reviews are averaged. Without a lead, this is infinite. Add the counts first.
    share(every) -> share(every[:, None]).mean()
    or
    student.sum() / teacher.sum() -> (student / teacher).mean()
The baseline is subtracted from only one of the two scores.
    (s - b) / (t - b) -> (s - b) / t || s / (t - b)
The baseline is not subtracted: an untrained model would already retain a large share.
    (s - b) / (t - b) -> s / t
This is the share that is lost, an inverted share, or a difference.
    (s - b) / (t - b) -> (t - s) / (t - b) || (t - b) / (s - b) || (s - b) - (t - b)
    or
    student.sum() / teacher.sum() -> teacher.sum() / student.sum() || student.sum() - teacher.sum()
The deviation is divided by a root. A draw is a whole sample: the deviation is the error already.
    .std() -> .std() / len(draws) ** 0.5 || .std() / len(student) ** 0.5
The variance divides by n, not by n − 1; or it is returned instead of its root.
    .std() -> .std(correction=0) || .var()
The models are scored on different reviews. In a draw, all three have the same ones.
    each[rows] -> each[rows if each is student else rows * 0 + every] ||
        each[rows if each is not baseline else rows * 0 + every] ||
        each[rows if each is student else rows.roll(1, 0)]
    or
    (s - b) / (t - b) -> (s - b) / (teacher - baseline).sum()
This is the error of the plain share, or of a score. It should be that of the second result.
    share(draws).std() -> (student[draws].sum(-1) / teacher[draws].sum(-1)).std() ||
        student[draws].sum(-1).std() || (student[draws] - teacher[draws]).sum(-1).std()
The second result is the mean or the median of the draws, which are for its error only.
    share(every) -> share(draws).mean() || share(draws).median()
The sum is over the samples. A row of `draws` is one sample, so the sum is over its reviews.
    [rows].sum(-1) -> [rows].sum(0)
A review that is drawn twice counts once. It counts twice.
    share(draws).std() -> torch.stack([share(row.unique()) for row in draws]).std()
This is the width of an interval, or half of it, not a standard error.
    .std() -> .std() * 1.96 || .std() * 2 || .std() * 3.92
""",
    names=("The plain share", "The share above the baseline", "Its standard error"),
    cause=lambda *call: one_value(RETAINED, *call),
    note="The two shares answer different questions. Report the baseline with either of them, and "
    "remember that this error does not cover another training run.",
)
