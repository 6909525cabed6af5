"""Spam among SpamAssassin's mails: how much of a score is the text, and how much the collection.

Views are what a classifier reads of a mail; splits are what it is tested on. Nothing that a mail
contains is recorded but how often fields of its header occur.

Near-copies: mails whose sets of five adjacent words overlap by half (Broder 1997, "On the
resemblance and containment of documents": intersection / union), and what they are linked to.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
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

from lmcourse import table_forms
from lmcourse.corpus.mails import Mail
from lmcourse.evaluation.uncertainty import Score, mean_score
from research.real_text import classifiers
from research.real_text.classifiers import (
    CONTRASTS,
    LAYERS,
    MODELS,
    SEED,
    Split,
    contrasts,
    crossed,
    folds,
    packed,
    plain,
    rows_of,
    said,
    unpacked,
)
from research.real_text.sources import PACKAGES, Sources, Units, Values

WORDS = 50  # of a body, that all models read: MiniLM takes minutes
SHINGLE, SIMILAR, COMMON = 5, 0.5, 0.05
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


def _name(view: str, model: str, split_name: str) -> str:
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
                yield _name(*each), partial(measured, *each)


UNITS: Units = dict(_units())
READING = """{mails:,} mails. Near-copies: {with_copies:,} mails form {sets_of_copies} sets, the
largest of {largest_set}; {late} mails of the second collections have one in the first. Accuracy,
with a 95 % interval over sets of near-copies. *Same sizes*: drawn at random from the mails of the
column before, with as many of each class in training and test. *Fall*: the difference of these two;
its interval takes them as independent. *Area*: under the ROC curve, which does not depend on the
share of spam, on the second collections and at the same sizes. *Ham*: the share called spam
there."""
COPIES = """What copies give: accuracy on the same mails of a random split, minus that with
near-copies together."""
PRESENT = """Single fields of the header. *Rule*: spam if the field is there, or if it is not, as
the first collections have it. *Its words*: TF-IDF of the field's value, near-copies together.
Fields of at least 5 % of the mails whose rule beats the majority class there by a point or more,
and some others."""


def section(units: Mapping[str, Values]) -> str:
    """The page's part."""
    corpus = units["corpus"]
    copies = np.array(list(map(int, corpus["copies"].split())))
    keys = {key.replace(" ", "_"): value for key, value in corpus.items()}
    named = [
        (view, model)
        for view in VIEWS
        if not view.startswith("field ")
        for model in READERS.get(view, ("words",))
    ]
    rows = [[*pair, *_row([units[_name(*pair, name)] for name in SPLITS])] for pair in named]
    header = ["reads", "features", RANDOM, TOGETHER, LATER, "same sizes", "fall"]
    header += ["area, second", "area, same sizes", "ham, second", "ham, same sizes"]
    parts = [
        READING.format(late=corpus["of the second collections, with a copy in the first"], **keys),
        table_forms.markdown(header, rows, words=(0, 1)),
    ]
    tested = {
        TOGETHER: np.arange(len(copies)),
        LATER: np.flatnonzero(unpacked(corpus["second"], len(copies))),
    }
    for name, mails in tested.items():
        parts += [f"**{FIRST_WORDS}; {name}.** {CONTRASTS}"]
        right = {
            model: unpacked(units[_name(FIRST_WORDS, model, name)]["right"], len(mails))
            for model in READERS[FIRST_WORDS]
        }
        parts.append(contrasts(right, copies[mails]))
    gains = []
    for pair in named:
        one, other = (unpacked(units[_name(*pair, it)]["right"], len(copies)) for it in SPLITS[:2])
        gains.append([*pair, said(mean_score(one - other, copies))])
    parts += [COPIES, table_forms.markdown(["reads", "features", "difference"], gains, (0, 1))]
    return "\n\n".join([*parts, PRESENT, _fields(units)])


def _row(found: Sequence[Values]) -> list[str]:
    late, same = found[2:]
    difference = same["accuracy"][0] - late["accuracy"][0]
    error = float(np.hypot(same["accuracy"][1], late["accuracy"][1]))
    fall = Score(difference, error, difference - 1.96 * error, difference + 1.96 * error)
    return [
        *(plain(each["accuracy"]) for each in found),
        said(fall),
        *(f"{each['area']:.3f}" for each in (late, same)),
        *(f"{each['ham called spam']:.1%}" for each in (late, same)),
    ]


def _fields(units: Mapping[str, Values]) -> str:
    fields: dict[str, list[float]] = units["presence"]["fields"]
    floor = units["presence"]["majority"] + 0.01
    valued = {name.lower(): f"field {name}" for name in FIELDS}
    chosen = {name: it for name, it in fields.items() if it[2] >= floor or name in valued}
    rows = []
    for name, (ham, spam, first, second) in sorted(chosen.items(), key=lambda it: -it[1][2]):
        row = [name, f"{ham:.1%}", f"{spam:.1%}", f"{first:.3f}", f"{second:.3f}"]
        of_words = (
            [units[_name(valued[name], "words", it)] for it in (TOGETHER, LATER)]
            if (name in valued)
            else []
        )
        row += [plain(it["accuracy"]) for it in of_words] or ["", ""]
        rows.append(row)
    header = ["field", "in ham", "in spam", "rule, first", "rule, second", "its words", LATER]
    return table_forms.markdown(header, rows)
