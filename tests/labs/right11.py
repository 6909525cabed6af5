"""Right answers to lab 11, written differently from the master's."""

import copy
import math
import re
import string
from collections import Counter
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import matthews_corrcoef
from torch.optim.lr_scheduler import LambdaLR

from lmcourse.evaluation.squad import answer_f1, exact_match, normalize_answer
from tests.labs.right import RightAnswer, rights

RIGHT: list[RightAnswer] = []
right = rights("11", RIGHT)


@right("rates")
def rates_by_regex(names, num_layers, base, factor, epoch):
    def group(name):
        found = re.search(r"\.layers\.(\d+)\.", name)
        if found:
            return num_layers - int(found[1])
        return num_layers + 1 if ".embeddings." in name else 0

    groups = np.array([group(name) for name in names])
    return np.where(groups <= epoch, base * factor**groups, 0)


@right("rates")
def rates_by_prefixes(names, num_layers, base, factor, epoch):
    prefixes = [f"bert.encoder.layers.{n}." for n in reversed(range(num_layers))]
    prefixes = [*prefixes, "bert.embeddings"][:epoch]
    rates = torch.zeros(len(names), dtype=torch.float64)
    for i, name in enumerate(names):
        if name.startswith(("bert.pooler", "classifier")):
            rates[i] = base
        for g, prefix in enumerate(prefixes, 1):
            if name.startswith(prefix):
                rates[i] = base * math.prod([factor] * g)
    return rates


@right("rates")
def rates_in_float32(names, num_layers, base, factor, epoch):
    rates = [base]
    for _ in range(num_layers + 1):
        rates.append(rates[-1] * factor)
    rates[epoch + 1 :] = [0] * len(rates[epoch + 1 :])
    found = []
    for name in names:
        match name.split("."):
            case ["bert", "encoder", "layers", n, *_]:
                found.append(rates[num_layers - int(n)])
            case ["bert", "embeddings", *_]:
                found.append(rates[-1])
            case _:
                found.append(rates[0])
    return torch.tensor(found)


@right("matthews")
def matthews_of_sklearn(labels, predictions, classes):
    return matthews_corrcoef(labels, predictions)


@right("matthews")
def matthews_of_counts(labels, predictions, classes):
    n, labels, predictions = len(labels), labels.tolist(), predictions.tolist()
    t, p = Counter(labels), Counter(predictions)
    c = sum(a == b for a, b in zip(labels, predictions, strict=True))
    top = c * n - sum(t[k] * p[k] for k in range(classes))
    below = [n * n - sum(x[k] ** 2 for k in range(classes)) for x in (t, p)]
    return top / math.sqrt(below[0] * below[1]) if all(below) else 0


@right("matthews")
def matthews_numpy(labels, predictions, classes):
    T, P = (np.eye(classes, dtype=np.float32)[each.numpy()] for each in (labels, predictions))
    covariance = np.cov(T.T, P.T)
    both, own, other = (
        np.trace(covariance[i : i + classes, j : j + classes])
        for i, j in ((0, classes), (0, 0), (classes, classes))
    )
    return np.nan_to_num(both / np.sqrt(own * other)) if own * other > 0 else np.float32(0)


@right("matthews")
def matthews_one_hot(labels, predictions, classes):
    T, P = F.one_hot(labels, classes).float(), F.one_hot(predictions, classes).float()
    T, P = (F.normalize((M - M.mean(0)).flatten(), dim=0) for M in (T, P))
    return T @ P


@right("answers")
def fair_scores_of_the_package(prediction, answers):
    rows = []
    for i, own in enumerate(answers):
        others = [answer for j, answer in enumerate(answers) if j != i]
        rows.append(
            [f(text, others) for text in (prediction, own) for f in (exact_match, answer_f1)]
        )
    # The package ignores answers without words where others have some.
    if not all(map(normalize_answer, answers)):
        return fair_scores_in_loops(prediction, answers)
    return np.mean(rows, 0)


@right("answers")
def fair_scores_in_loops(prediction, answers):
    def normalized(text):
        text = re.sub("[" + re.escape(string.punctuation) + "]", "", text.lower())
        return " ".join(re.sub(r"\b(the|an|a)\b", " ", text).split())

    def f1(one, other):
        one, other = one.split(), other.split()
        if not one or not other:
            return int(one == other)
        rest, common = list(other), 0
        for word in one:
            if word in rest:
                rest.remove(word)
                common += 1
        if common == 0:
            return 0
        precision, recall = common / len(one), common / len(other)
        return 2 * precision * recall / (precision + recall)

    prediction, answers = normalized(prediction), [normalized(each) for each in answers]
    sums = [0, 0, 0, 0]
    for i in range(len(answers)):
        others = answers.copy()
        own = others.pop(i)
        sums[0] += prediction in others
        sums[1] += max(f1(prediction, other) for other in others)
        sums[2] += own in others
        sums[3] += max(f1(own, other) for other in others)
    return [each / len(answers) for each in sums]


@right("span")
def span_by_end(start, end, passage, longest):
    a, *_, b = passage.nonzero().flatten().tolist() * 2
    b = int(passage.nonzero().max())
    s, e, best = start.tolist(), end.tolist(), (-math.inf, 0, 0)
    for last in range(a, b + 1):
        for first in range(max(a, last - longest + 1), last + 1):
            best = max(best, (s[first] + e[last], first, last))
    return best[1], best[2], best[0] - s[0] - e[0]


@right("span")
def span_unfolded(start, end, passage, longest):
    s = start.masked_fill(~passage, -1e9)
    e = torch.cat([end.masked_fill(~passage, -1e9), torch.full((longest - 1,), -1e9)])
    scores = s[:, None] + e.unfold(0, longest, 1)  # [first, length − 1]
    flat = int(scores.argmax())
    first, last = flat // longest, flat // longest + flat % longest
    return np.array([first, last, float(scores.max() - start[0] - end[0])])


@right("span")
def span_of_log_probabilities(start, end, passage, longest):
    s, e = start.float().log_softmax(0), end.float().log_softmax(0)
    where = passage.nonzero().flatten()
    best = (-math.inf, 0, 0)
    for i in where.tolist():
        stop = min(i + longest, int(where[-1]) + 1)
        value, j = e[i:stop].max(0)
        best = max(best, (float(s[i] + value), i, i + int(j)))
    return torch.tensor([best[1], best[2], best[0] - float(s[0] + e[0])], dtype=torch.float64)


@right("fine_tuning")
def fine_tuning_by_hand(model, train, test, rate, warmup, epochs):
    model = copy.deepcopy(model)
    parameters, losses = list(model.parameters()), []
    means = [(torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]
    T = epochs * len(train)
    for t, (ids, mask, tags) in enumerate(train * epochs, start=1):
        model.train()
        loss = F.cross_entropy(model(ids, mask)[mask], tags[mask])
        losses.append(loss.item())
        model.zero_grad()
        loss.backward()
        now = rate * max(0.0, min(t / warmup, (T - t) / (T - warmup)))
        with torch.no_grad():
            for p, (m, v) in zip(parameters, means, strict=True):
                m.mul_(0.9).add_(p.grad, alpha=0.1)
                v.mul_(0.999).addcmul_(p.grad, p.grad, value=0.001)
                step = now * math.sqrt(1 - 0.999**t) / (1 - 0.9**t)
                p -= step * m / (v.sqrt() + 1e-8 * math.sqrt(1 - 0.999**t))
    model.eval()
    total = count = 0.0
    for ids, mask, tags in test:
        logits, real = model(ids, mask), int(mask.sum())
        total += F.cross_entropy(logits[mask], tags[mask]).item() * real
        count += real
    return losses, total / count


@right("fine_tuning")
def fine_tuning_with_a_schedule(model, train, test, rate, warmup, epochs):
    model = copy.deepcopy(model)
    T = epochs * len(train)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0)
    schedule = LambdaLR(
        optimizer, lambda k: max(0, min((k + 1) / warmup, (T - k - 1) / (T - warmup)))
    )
    losses = []

    def token_losses(ids, mask, tags):
        labels = tags.masked_fill(~mask, -100)
        return F.cross_entropy(model(ids, mask).mT, labels, reduction="none")[mask]

    for _ in range(epochs):
        model.train()
        for batch in train:
            optimizer.zero_grad(set_to_none=False)
            loss = token_losses(*batch).mean()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(float(loss))
        model.eval()
        with torch.no_grad():
            result = torch.cat([token_losses(*batch) for batch in test]).mean()
    return np.array(losses), result


@right("bits")
def bits_numpy(learn, vectors, labels, ends, classes):
    X, y = vectors.numpy(), labels.numpy()
    bits = np.full(len(y), np.log2(classes))
    for begin, end in pairwise(ends):
        p = np.asarray(learn(X[:begin], y[:begin])(X[begin:end]))
        bits[begin:end] = -np.log2(np.take_along_axis(p, y[begin:end, None], 1)[:, 0])
    return bits


@right("bits")
def bits_item_by_item(learn, vectors, labels, ends, classes):
    bits = [math.log(classes, 2)] * ends[0]
    for k in range(1, len(ends)):
        predict = learn(vectors[: ends[k - 1]], labels[: ends[k - 1]])
        for i in range(ends[k - 1], ends[k]):
            bits.append(-math.log2(predict(vectors[i : i + 1])[0, labels[i]]))
    return bits


@right("bits")
def bits_by_nll(learn, vectors, labels, ends, classes):
    parts = [torch.full((ends[0],), math.log(classes))]
    for X, y, known in zip(
        vectors.tensor_split(ends[:-1])[1:], labels.tensor_split(ends[:-1])[1:], ends, strict=False
    ):
        log_p = learn(vectors[:known], labels[:known])(X).log()
        parts.append(F.nll_loss(log_p, y, reduction="none"))
    return torch.cat(parts).float() / math.log(2)
