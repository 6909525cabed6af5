"""Logistic regression on frozen features of texts: one tuning for all of them, and its scores.

Every kind of features is fitted on training texts alone (which n-grams there are, their weights,
means and deviations), and the strength of the regularization, one of `STRENGTHS`, is the one with
the lowest loss on a quarter of the training texts; then all of these train.
"""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from lmcourse import table_forms
from lmcourse.evaluation.uncertainty import mean_score
from research.real_text.sources import Sources, Values

STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)  # scikit-learn's C: large is weak
FOLDS, INNER, SEED, MIN_TEXTS = 5, 4, 0, 2
WORD = r"\w+|[^\w\s]"
COUNTERS: dict[str, dict[str, Any]] = {
    "words": {"token_pattern": WORD},
    "words and pairs": {"token_pattern": WORD, "ngram_range": (1, 2)},
    "characters": {"analyzer": "char_wb", "ngram_range": (2, 4)},
}
LAYERS = {"MiniLM": -1, "MiniLM, layer 3": 3}
MAJORITY = "majority class"
MODELS = (MAJORITY, *COUNTERS, "GloVe", *LAYERS)
SETUP = {
    "features": "TF-IDF of words, of words and pairs of adjacent words, of 2 to 4 characters of a "
    "word (lower case, 1 + log count, n-grams of 2 training texts or more); the mean of GloVe's "
    "vectors over the words; the mean of MiniLM's states over the tokens, of the last layer and of "
    "layer 3 of 6, frozen; vectors are standardized",
    "classifier": "logistic regression, at most 200 steps of L-BFGS",
    "C": list(STRENGTHS),
    "folds": FOLDS,
    "seed": SEED,
}
CONTRASTS = """How much more often the row's features are right than the column's, same texts; bold:
the interval does not contain 0. Intervals are not corrected for their number; what is not bold is
inconclusive."""
Split = tuple[Int[np.ndarray, " training"], Int[np.ndarray, " test"]]


def rows_of(model: str, texts: Sequence[str], sources: Sources) -> Any:
    """Counts or vectors, a row for each text, in which nothing is fitted yet."""
    if model == MAJORITY:
        return np.zeros((len(texts), 1))  # the intercept alone is learned
    if model in COUNTERS:
        return CountVectorizer(**COUNTERS[model]).fit_transform(texts)
    if model in LAYERS:
        return sources.encoded(texts).states[:, LAYERS[model]]
    vectors, found = sources.vectors, []
    for text in texts:
        words = re.findall(WORD, text.lower())
        known = [vectors.ids[word] for word in words if word in vectors.ids]
        # A text without a known word has the vector 0.
        found.append(vectors.vectors[known].sum(0) / max(1, len(known)))
    return np.stack(found)


def folds(labels: np.ndarray, groups: np.ndarray, count: int = FOLDS) -> Iterator[Split]:
    """Yield training and test texts; a group is never divided, and classes have equal shares."""
    units, first = np.unique(groups, return_index=True)
    splitter = StratifiedKFold(count, shuffle=True, random_state=SEED)
    for _, test in splitter.split(units, labels[first]):
        held_out = np.isin(groups, units[test])
        yield np.flatnonzero(~held_out), np.flatnonzero(held_out)


def learned(
    rows: Any, labels: np.ndarray, groups: Int[np.ndarray, " text"], split: Split
) -> tuple[Float[np.ndarray, "test label"], float]:
    """The probabilities of the classes, sorted by name, and the C that was chosen."""
    train = split[0]
    inner, held_out = next(folds(labels[train], groups[train], INNER))
    tuning = train[inner], train[held_out]
    truth = labels[tuning[1]]
    losses = [
        log_loss(truth, p, labels=np.unique(labels))
        for p in _fitted(rows, labels, tuning, STRENGTHS)
    ]
    best = STRENGTHS[int(np.argmin(losses))]
    return next(_fitted(rows, labels, split, [best])), best


def _fitted(
    rows: Any, labels: np.ndarray, split: Split, strengths: Sequence[float]
) -> Iterator[Float[np.ndarray, "test label"]]:
    train, test = split
    if issparse(rows):
        frequent = rows[train].getnnz(axis=0) >= MIN_TEXTS
        rows, step = rows[:, frequent], TfidfTransformer(sublinear_tf=True)
    else:
        step = StandardScaler()
    inputs, held_out = step.fit_transform(rows[train]), step.transform(rows[test])
    for strength in strengths:
        model = LogisticRegression(C=strength, max_iter=200, tol=1e-3)
        with warnings.catch_warnings():  # of a C so large that it is not chosen
            warnings.simplefilter("ignore", ConvergenceWarning)
            yield model.fit(inputs, labels[train]).predict_proba(held_out)


def crossed(
    rows: Any, labels: np.ndarray, groups: Int[np.ndarray, " text"], splits: Sequence[Split]
) -> tuple[Int[np.ndarray, " tested"], Float[np.ndarray, "tested label"], list[float]]:
    """The texts that were tested, in order, their probabilities, and each split's C."""
    found = [learned(rows, labels, groups, split) for split in splits]
    tested = np.concatenate([test for _, test in splits])
    order = np.argsort(tested)
    probabilities = np.concatenate([each for each, _ in found])[order]
    return tested[order], probabilities, [strength for _, strength in found]


def packed(right: np.ndarray) -> str:
    """Whether each test text is right, as hexadecimal digits."""
    return np.packbits(right.astype(bool)).tobytes().hex()


def unpacked(digits: str, count: int) -> Int[np.ndarray, " text"]:
    """What was `packed`, as zeros and ones."""
    return np.unpackbits(np.frombuffer(bytes.fromhex(digits), np.uint8))[:count].astype(int)


def contrasts(right: Mapping[str, np.ndarray], groups: np.ndarray) -> str:
    """A table of how much more often each model (a row) is right than each other, same texts."""
    names = list(right)
    rows = [
        [name, *(said(mean_score(right[name] - right[other], groups)) for other in names[:at])]
        for at, name in enumerate(names)
    ]
    padded = [row + [""] * (len(names) - len(row)) for row in rows[1:]]
    return table_forms.markdown(["", *names[:-1]], padded)


def said(score: Sequence[float]) -> str:
    """A difference with its interval, bold if that does not contain 0."""
    value, _, low, high = score
    text = f"{value:+.3f} [{low:+.3f}, {high:+.3f}]".replace("-", "−")
    return f"**{text}**" if low > 0 or high < 0 else text


def plain(score: Sequence[float]) -> str:
    """A score with its interval."""
    value, _, low, high = score
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def tuning(values: Values) -> str:
    """The C of each fold."""
    return " ".join(f"{strength:g}" for strength in values["C"])
