"""Spam among SpamAssassin's mails: how much of a score is the text, and how much the collection.

Views are what a classifier reads of a mail; splits are what it is tested on. Nothing that a mail
contains is recorded but how often fields of its header occur.

Near-copies: mails whose sets of five adjacent words overlap by half (Broder 1997, "On the
resemblance and containment of documents": intersection / union), and what they are linked to.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import lru_cache, partial
from typing import Any

import numpy as np
from jaxtyping import Int
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import roc_auc_score

from lmcourse.corpus.mails import Mail
from lmcourse.evaluation.uncertainty import mean_score
from research.real_text import classifiers
from research.real_text.classifiers import (
    LAYERS,
    MODELS,
    SEED,
    Split,
    crossed,
    folds,
    packed,
    rows_of,
)
from research.real_text.sources import PACKAGES, Sources, Units, Values

WORDS = 50  # of a body, that all models read: MiniLM takes minutes
SHINGLE, SIMILAR, COMMON = 5, 0.5, 0.02
FIRST, SECOND = ("easy-ham-1", "spam-1"), ("easy-ham-2", "spam-2")
FIELDS = (
    *("From", "To", "Subject", "Date", "Received", "Return-Path", "Delivered-To", "Message-Id"),
    *("Content-Type", "X-Mailer", "Sender", "Precedence", "List-Id", "X-Keywords", "X-Status"),
)
RANDOM, TOGETHER, LATER, SAME_SIZES = SPLITS = (
    "random",
    "near-copies together",
    "second collections",
    "same sizes, random",
)
SETUP = {
    "splits": {
        RANDOM: "all mails, five folds",
        TOGETHER: "the same, near-copies always in one fold",
        LATER: f"trained on {' and '.join(FIRST)}, tested on {' and '.join(SECOND)}",
        SAME_SIZES: "the same mails and as many of each class in training and test, drawn at "
        "random, near-copies together",
    },
    "near-copies": f"sets of {SHINGLE} adjacent words, intersection / union ≥ {SIMILAR}",
    "first words": WORDS,
    "packages": [PACKAGES[name] for name in ("mails", "minilm", "glove-6b-50d")],
    **classifiers.SETUP,
}


def values(mail: Mail, chosen: Callable[[str], bool]) -> Iterator[str]:
    """Yield the values of some fields of the header, by their names in lower case."""
    return (value for name, value in mail.headers if chosen(name.lower()))


def field(name: str, mail: Mail) -> str:
    """The values of the fields of one name, with marks that tell a blank one from none."""
    found = values(mail, lambda other: other == name.lower())
    return " ".join(f"here {value}" for value in found) or "absent"


def month(dates: Iterator[str]) -> str:
    """Year and month of the first date, such as "m200208"; "none" if it cannot be read."""
    with suppress(ValueError, TypeError):
        return f"m{parsedate_to_datetime(next(dates, '')):%Y%m}"
    return "none"


def about_list(name: str) -> bool:
    """Whether a field is a mailing list's."""
    return name.startswith("list-") or any(it in name for it in ("mailing-list", "beenthere"))


def header(mail: Mail) -> str:
    """The whole header."""
    return " ".join(f"{name} {value}" for name, value in mail.headers)


FIRST_WORDS, BODY = f"body, first {WORDS} words", "body"
VIEWS: dict[str, Callable[[Mail], str]] = {
    FIRST_WORDS: lambda mail: " ".join(mail.body.split()[:WORDS]),
    BODY: lambda mail: mail.body,
    "header": header,
    "header and body": lambda mail: f"{header(mail)}\n{mail.body}",
    "names of the header's fields": lambda mail: " ".join(
        name.lower().replace("-", "_") for name, _ in mail.headers
    ),
    "month it was sent (Date)": lambda mail: month(values(mail, "date".__eq__)),
    "month it arrived (first Received)": lambda mail: month(
        it.rpartition(";")[2] for it in values(mail, "received".__eq__)
    ),
    "hosts (Received: from, by)": lambda mail: " ".join(
        re.findall(r"\b(?:from|by) ([\w.-]+)", " ".join(values(mail, "received".__eq__)))
    ),
    "mailing list's fields": lambda mail: " ".join(values(mail, about_list)),
    **{f"field {name}": partial(field, name) for name in FIELDS},
}
READERS = {
    FIRST_WORDS: MODELS,
    BODY: ("words", "words and pairs", "GloVe"),
}


def near_copies(texts: Sequence[str]) -> Int[np.ndarray, " text"]:
    """A number for each text, which near-copies share."""
    sets = CountVectorizer(analyzer=shingles, binary=True).fit_transform(texts)
    shared = coo_matrix(sets @ sets.T)
    sizes = sets.getnnz(axis=1)
    union = sizes[shared.row] + sizes[shared.col] - shared.data
    near = shared.data >= SIMILAR * union
    links = coo_matrix((shared.data[near], (shared.row[near], shared.col[near])), shared.shape)
    found: Int[np.ndarray, " text"] = connected_components(links, directed=False)[1]
    return found


def shingles(text: str) -> set[str]:
    """The sets of adjacent words; of a shorter text, all of it."""
    words = re.findall(r"\w+", text.lower())
    count = max(1, len(words) - SHINGLE + 1)
    return {" ".join(words[at : at + SHINGLE]) for at in range(count)}


def labels(mails: Sequence[Mail]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whether each mail is spam, is of the first collections, is of the second ones."""
    group = np.array([mail.group for mail in mails])
    spam = np.array([mail.spam for mail in mails])
    return spam, np.isin(group, FIRST), np.isin(group, SECOND)


def split(name: str, mails: Sequence[Mail], copies: Int[np.ndarray, " mail"]) -> list[Split]:
    """The training and test mails of a split."""
    spam, train, test = labels(mails)
    if name in (RANDOM, TOGETHER):
        return list(folds(spam, copies if name == TOGETHER else np.arange(len(mails))))
    if name == SAME_SIZES:
        drawn = np.random.default_rng(SEED).permutation(copies.max() + 1)[copies]
        kept = train | test
        order = np.flatnonzero(kept)[np.argsort(drawn[kept], kind="stable")]
        chosen = [order[spam[order] == it][: (spam[train] == it).sum()] for it in (False, True)]
        train = np.isin(np.arange(len(mails)), np.concatenate(chosen))
        test = kept & ~train
    return [(np.flatnonzero(train), np.flatnonzero(test))]


def corpus(sources: Sources) -> Values:
    """Near-copies."""
    mails = sources.mails
    copies = _copies(sources)
    several = np.bincount(copies)[copies] > 1
    _, first, second = labels(mails)
    return {
        "copies": " ".join(map(str, copies)),
        "second": packed(second),
        "mails": len(mails),
        "with copies": int(several.sum()),
        "sets of copies": len(np.unique(copies[several])),
        "largest set": int(np.bincount(copies).max()),
        "of the second collections, with a copy in the first": int(
            np.isin(copies[second], copies[first]).sum()
        ),
    }


def encoding(sources: Sources) -> Values:
    """How long MiniLM takes."""
    texts = [VIEWS[FIRST_WORDS](mail) for mail in sources.mails]
    return {"encoding_seconds": sources.encoded(texts).cpu_seconds}


def presence(sources: Sources) -> Values:
    """The common fields: shares of ham and spam that have each, and how well it alone decides.

    Each is a rule "spam, if it is there" or "spam, if it is not", whichever is more often right on
    the first collections; its accuracies there, and on the second ones.
    """
    mails = sources.mails
    spam, first, second = labels(mails)
    names = [{name.lower() for name, _ in mail.headers} for mail in mails]
    counts = Counter(name for each in names for name in each)
    found = {}
    for name, count in counts.items():
        if count < COMMON * len(mails):
            continue
        there = np.array([name in each for each in names])
        right = there == spam
        if right[first].mean() < 0.5:
            right = ~right
        shares = there[~spam].mean(), there[spam].mean(), right[first].mean(), right[second].mean()
        found[name] = [float(each) for each in shares]
    return {"fields": found, "majority": float(1 - spam[first].mean())}


def measured(view: str, model: str, name: str, sources: Sources) -> Values:
    """What a model's features of a view achieve on a split."""
    mails = sources.mails
    spam, copies = labels(mails)[0], _copies(sources)
    rows = _rows(view, model, sources)
    tested, p, strengths = crossed(rows, spam, copies, split(name, mails, copies))
    right = (p[:, 1] > 0.5) == spam[tested]
    ham = ~spam[tested]
    return {
        "accuracy": mean_score(right, copies[tested]),
        "area": float(roc_auc_score(spam[tested], p[:, 1])),
        "ham called spam": float(1 - right[ham].mean()),
        "C": strengths,
        "right": packed(right),
    }


@lru_cache(maxsize=1)
def _copies(sources: Sources) -> Int[np.ndarray, " mail"]:
    return near_copies([mail.body for mail in sources.mails])


@lru_cache(maxsize=1)
def _rows(view: str, model: str, sources: Sources) -> Any:
    return rows_of(model, [VIEWS[view](mail) for mail in sources.mails], sources)


def unit(view: str, model: str, split_name: str) -> str:
    """The name of a unit."""
    return f"{view} | {model} | {split_name}"


def _units() -> Iterator[tuple[str, Callable[[Sources], Values]]]:
    yield "corpus", corpus
    yield "presence", presence
    named = [
        (view, model, name)
        for view in VIEWS
        for model in READERS.get(view, ("words",))
        for name in ((TOGETHER, LATER) if view.startswith("field ") else SPLITS)
    ]
    for slow in (False, True):
        if slow:
            yield "encoding", encoding
        for each in named:
            if (each[1] in LAYERS) == slow:
                yield unit(*each), partial(measured, *each)


UNITS: Units = dict(_units())
