"""The power 3/4, shifted PPMI, subsampling."""

import math

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal


def noise(counts: Tensor, power: float) -> Tensor:
    weights = counts.double() ** power * (counts > 0)
    return weights / weights.sum()


def _counts(seed: int, vocab: int) -> Tensor:
    counts = (100 * normal(vocab, seed=seed).exp()).long() + 1
    return counts.where(torch.arange(vocab) != 2, 0)


NOISE = Task(
    noise,
    examples=[(_counts(0, 6), 0.75), (_counts(1, 9), 0.5), (_counts(2, 4), 1.25)],
    edge_cases={"for the power 0": (_counts(3, 5), 0.0)},
    slips="""
These are weights, not probabilities: they do not sum to 1.
    / weights.sum() -> / 1
The sum is taken before the power. Divide by the sum of the powers.
    / weights.sum() -> / counts.sum() || / counts.sum() ** power
The power is ignored: words are drawn by their own frequencies, or all equally often.
    ** power * (counts > 0) -> * (counts > 0) || ** 0 * (counts > 0)
The power is fixed at 3/4. It is the argument `power`.
    ** power -> ** 0.75
The power is inverted or negative: 3/4 must bring the probabilities closer to each other.
    counts.double() ** power -> counts.clamp(min=1) ** (1 / power) ||
        counts.clamp(min=1) ** (1 - power) || counts.clamp(min=1) ** -power
This is divided by the largest weight or by the norm. Probabilities sum to 1: divide by the sum.
    weights.sum() -> weights.max() || weights.norm()
This is a softmax, which takes e to the power of the count, and the largest count takes all.
    weights / weights.sum() -> weights.softmax(0) || counts.double().softmax(0) ||
        (power * counts).softmax(0)
A word with count 0 is drawn. Add nothing to the counts.
    counts.double() ** power * (counts > 0) -> (counts + 1.0) ** power ||
        counts.clamp(min=1).double() ** power
A word with count 0 is drawn, since 0⁰ is 1. Set its weight to 0.
    * (counts > 0) -> * 1
""",
    note="Powers of the counts and of the frequencies give the same distribution: a common factor "
    "cancels. Between two words, the ratio of 16 becomes 8.",
)


def shifted_ppmi(X: Tensor, k: float) -> Tensor:
    rows, columns = X.sum(1, keepdim=True), X.sum(0)
    ratio = X * X.sum() / (rows * columns).clamp(min=1e-300)
    pmi = ratio.clamp(min=1e-300).log()
    return (pmi - math.log(k)).clamp(min=0)


def _table(rows: int, columns: int, k: float, empty: bool = False) -> Example:
    X = (3 * (normal(rows, columns, seed=(rows, columns)) + 0.3).clamp(min=0).exp() - 3).round()
    X[0, 1], X[1, 0], X[2, 2] = 9, 4, 12
    if empty:
        X[3], X[:, 1] = 0, 0
    return X, k


PPMI = Task(
    shifted_ppmi,
    examples=[_table(5, 5, 1.5), _table(4, 7, 1.0), _table(6, 4, 2.0)],
    edge_cases={"where a word and a context never occur": _table(5, 4, 1.0, empty=True)},
    slips="""
The logarithm has the base 2 or 10. Use the natural one.
    pmi - math.log(k) -> (pmi - math.log(k)) / math.log(2) || (pmi - math.log(k)) / math.log(10) ||
        pmi / math.log(2) - math.log(k) || pmi - math.log10(k) || pmi - math.log2(k)
Negative numbers are left. Everything below 0 becomes 0, pairs that never occur included.
    (pmi - math.log(k)).clamp(min=0) -> ratio.log() - math.log(k) ||
        torch.where(X > 0, pmi - math.log(k), 0)
The positive part is taken before the shift. First subtract log k, then replace what is below 0.
    (pmi - math.log(k)).clamp(min=0) -> pmi.clamp(min=0) - math.log(k) ||
        torch.where(X > 0, pmi.clamp(min=0) - math.log(k), 0)
The shift is missing or wrong: subtract the logarithm of k, also from what remains above 0.
    - math.log(k) -> + math.log(k) || - k || - 0 * k || / k
    or
    (pmi - math.log(k)).clamp(min=0) -> pmi.clamp(min=0) * (pmi > math.log(k))
The sums of the rows are used for the columns. A context word has its own sum, over the words.
    X.sum(1, keepdim=True), X.sum(0) -> X.sum(1, keepdim=True), X.sum(1) ||
        X.sum(0)[:, None], X.sum(0)
The sums are exchanged: X_i is the sum of row i, X_j of column j.
    X.sum(1, keepdim=True), X.sum(0) -> X.sum(0)[:, None], X.sum(1)
The total of the counts is missing, or in the wrong part of the fraction.
    X * X.sum() / -> X / || X / X.sum() / || X * X.sum() ** 2 /
This is the ratio of the probabilities, or the logarithm of 1 + the ratio. PMI is its logarithm.
    pmi - math.log(k) -> ratio - math.log(k) || ratio / k || ratio * (ratio > k) ||
        ratio.log1p() - math.log(k)
This compares with one of the words alone. Divide by both sums, one of a row, one of a column.
    (rows * columns) -> rows || columns || rows.square() || columns.square()
This is the logarithm of the counts, or weighted by them. PMI is a property of the pair alone.
    pmi - math.log(k) -> X.clamp(min=1e-300).log() - math.log(k) || X * pmi - math.log(k) ||
        X / X.sum() * pmi - math.log(k) || X / X.sum() * (pmi - math.log(k))
The counts are changed first. Nothing is added to them, and k is not subtracted from them.
    rows, columns = -> X = X + 1; rows, columns = || X = X + 0.5; rows, columns =
    or
    ratio = X * -> ratio = (X - k).clamp(min=0) *
    - math.log(k) -> - 0
For a word that never occurs this is 0/0. Make it 0.
    (rows * columns).clamp(min=1e-300) -> (rows * columns)
""",
    note="With the number of noise words as k, this is the positive part of what skip-gram with "
    "negative sampling factorizes, if the noise has the power 1.",
)


def subsampled_counts(ids: Tensor, f: Tensor, t: float, uniform: Tensor, window: int) -> Tensor:
    kept = ids[uniform < (t / f[ids]).sqrt()]
    step = torch.arange(len(kept)) - torch.arange(len(kept))[:, None]
    near = ((step.abs() <= window) & (step != 0)).double()
    words = torch.eye(len(f), dtype=torch.float64)[kept]
    return words.T @ near @ words


def _text(seed: int, length: int, vocab: int, t: float, window: int) -> Example:
    weights = 1 / torch.arange(1, vocab + 1, dtype=torch.float64)
    f = weights / weights.sum()
    ids = (normal(length, vocab, seed=seed) + 1.3 * f.log()).argmax(1)
    return ids, f, t, torch.special.ndtr(normal(length, seed=(seed, "uniform"))), window


SUBSAMPLING = Task(
    subsampled_counts,
    examples=[_text(0, 40, 5, 0.12, 2), _text(1, 60, 7, 0.09, 3), _text(2, 50, 4, 0.2, 1)],
    edge_cases={"where nearly all is dropped": _text(3, 12, 6, 0.004, 4)},
    slips="""
The windows are formed before words are dropped. Drop first: then words that were far apart can
meet in a window.
    kept = ids[uniform < (t / f[ids]).sqrt()] -> kept, on = ids, uniform < (t / f[ids]).sqrt()
    words.T @ near @ words -> words[on].T @ near[on][:, on] @ words[on] ||
        words[on].T @ near[on] @ words || words.T @ near[:, on] @ words[on]
Dropped words are still in the text, as another word. Select the others with `ids[mask]`.
    ids[uniform < (t / f[ids]).sqrt()] -> ids * (uniform < (t / f[ids]).sqrt())
Kept and dropped occurrences are exchanged, or other ones are kept: the one at position n is kept if
`uniform[n]` is below its probability.
    uniform < -> uniform >= || 1 - uniform <
    or
    (t / f[ids]).sqrt() -> 1 - (t / f[ids]).sqrt()
The root is missing, or the fraction is inverted: keep(w) is the root of t/f(w).
    (t / f[ids]).sqrt() -> t / f[ids] || (f[ids] / t).sqrt() || f[ids] / t || (t / f[ids]) ** 2
This is the formula of the authors' program, √(t/f) + t/f. Use the paper's, √(t/f).
    .sqrt() -> .sqrt() + t / f[ids]
Nothing is dropped, or a word is dropped always or never. Each occurrence has its own random
number, `uniform[n]`.
    uniform < (t / f[ids]).sqrt() -> f[ids] <= t || uniform[ids] < (t / f[ids]).sqrt() ||
        uniform <= 1
Only one side of the window is counted. Every word is the center once, with both sides.
    step != 0 -> step > 0 || step < 0
The window has the wrong size: it has L words on each side, besides the center.
    <= window) -> < window) || <= window + 1) || <= window // 2) || <= window) & (step < window) ||
        <= window) & (step > -window)
A repeated pair is counted once. `X[i, j] += 1` with tensors of indices sets each entry only once.
    words.T @ near @ words -> (words.T @ near @ words > 0).double() ||
        words.T @ (near @ words).clamp(max=1) || sum((words.T @ (near * (side * step > 0)) @ words
        > 0).double() for side in (1, -1)) || sum((words.T @ (near * (step == d)) @ words
        > 0).double() for d in range(-window, window + 1))
At the ends of the text the window is cut off. No center is left out, and a negative index, which
counts from the end in Python, is not in the window.
    words.T @ near @ words -> words[window:-window].T @ near[window:-window] @ words ||
        words.T @ (near + (step >= len(kept) - window)) @ words ||
        words.T @ (near + (step.abs() >= len(kept) - window)) @ words ||
        words.T @ (near * ((step > 0) | (step[:, :1] <= -window))) @ words
The center is its own context, or other occurrences of the same word are left out. Only the
*position* of the center is left out.
    words.T @ near @ words -> words.T @ (near + (step == 0)) @ words ||
        words.T @ (near + 2 * (step == 0)) @ words || (words.T @ near @ words).fill_diagonal_(0)
Near pairs count more than far ones. That is GloVe's choice; here each pair counts 1.
    words.T @ near -> words.T @ (near / step.abs().clamp(min=1))
""",
    note="So subsampling also widens the windows: words that were more than L positions apart "
    "become neighbors. That is why it must come first.",
)
