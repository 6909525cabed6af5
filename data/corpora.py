"""Measure the two corpora of real text for the data card: `python -m data.corpora`.

The figures go to ``data/corpora.json``, from which `data.card` takes them, so that the card can be
written on a machine that has not downloaded the corpora (`lmcourse real install`).
"""

import json
import re
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline

from lmcourse import releases, table_forms
from lmcourse.corpus.brown import GENRES, Brown
from lmcourse.corpus.mails import GROUPS, Mail, Mails

FIGURES = Path(__file__).with_suffix(".json")
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def main() -> int:
    """Write the figures, if both corpora are installed."""
    if not all(map(releases.installed, ("brown", "mails"))):
        print(f"The corpora are not installed: {FIGURES} stays as it is. {releases.REMEDY}")
        return 0
    mails = list(Mails().mails())
    read = {view: leaks(mails, view) for view in VIEWS}
    read["nothing: the most frequent class"] = constant(mails)
    found = {"brown": brown(), "mails": counted(mails), "leaks": read}
    FIGURES.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def brown() -> dict[str, Any]:
    """Counts of the Brown corpus."""
    texts, sentences, tokens = (Counter[str]() for _ in range(3))
    words, tags = Counter[str](), Counter[str]()
    last, doubled = "", 0
    for each in Brown().sentences():
        texts[each.genre] += each.text != last
        sentences[each.genre] += 1
        tokens[each.genre] += len(each.words)
        words.update(each.words)
        tags.update(each.brown_tags)
        doubled += each.words[-2:] in [(mark, mark) for mark in ";?!"]
        last = each.text
    return {
        "genres": {name: [texts[name], sentences[name], tokens[name]] for name in GENRES},
        "words": len(words),
        "tags": len(tags),
        "nil": tags["nil"],
        "doubled": doubled,
    }


def counted(mails: Sequence[Mail]) -> dict[str, Any]:
    """Counts of the mails by group, and of bodies that occur several times."""
    groups = {}
    for group in GROUPS:
        bodies = [mail.body for mail in mails if mail.group == group]
        kinds = [field(mail, "content-type") for mail in mails if mail.group == group]
        pages = sum(kind.lower().startswith("text/html") for kind in kinds)
        parts = sum(kind.lower().startswith("multipart/") for kind in kinds)
        blank = sum(not body.strip() for body in bodies)
        words = int(statistics.median(len(body.split()) for body in bodies))
        groups[group] = [len(bodies), pages, parts, blank, words]
    same: dict[str, list[Mail]] = {}
    for mail in mails:
        same.setdefault(" ".join(re.findall(r"\w+", mail.body.lower())), []).append(mail)
    repeated = [each for body, each in same.items() if body and len(each) > 1]
    return {
        "groups": groups,
        "repeated": [len(repeated), sum(map(len, repeated))],
        "in both": sum({"spam-1", "spam-2"} <= {mail.group for mail in each} for each in repeated),
    }


def field(mail: Mail, name: str) -> str:
    """The values of the headers of one name."""
    return " ".join(value for key, value in mail.headers if key.lower() == name)


VIEWS: dict[str, Callable[[Mail], str]] = {
    "all headers": lambda mail: " ".join(f"{name} {value}" for name, value in mail.headers),
    "the headers' names": lambda mail: " ".join(name.replace("-", "_") for name, _ in mail.headers),
    "the header Date": lambda mail: field(mail, "date"),
    "the body": lambda mail: mail.body,
}


def leaks(mails: Sequence[Mail], view: str) -> list[float]:
    """How often a linear classifier of a bag of words is right that reads one view of the mails.

    Returns:
        Three accuracies: spam or not in five-fold cross-validation; spam or not in the second
        collections after training on the first; and, of easy ham, which collection.
    """
    groups, spam, first, second, easy = labels(mails)
    texts = np.array([VIEWS[view](mail) for mail in mails], dtype=object)
    over_time = classifier().fit(texts[first], spam[first]).score(texts[second], spam[second])
    return rounded(folds(texts, spam), over_time, folds(texts[easy], groups[easy]))


def constant(mails: Sequence[Mail]) -> list[float]:
    """The same for the most frequent class."""
    groups, spam, _, second, easy = labels(mails)
    first_easy = groups[easy] == "easy-ham-1"
    return rounded(1 - spam.mean(), 1 - spam[second].mean(), first_easy.mean())


def labels(mails: Sequence[Mail]) -> tuple[np.ndarray, ...]:
    """Each mail's group, and whether it is spam, of the first or second collections, easy ham."""
    groups = np.array([mail.group for mail in mails])
    spam = np.array([mail.spam for mail in mails])
    first, second = (np.isin(groups, (f"easy-ham-{n}", f"spam-{n}")) for n in (1, 2))
    return groups, spam, first, second, np.isin(groups, ("easy-ham-1", "easy-ham-2"))


def rounded(*values: float) -> list[float]:
    """Accuracies to the digits that the sample supports."""
    return [round(float(each), 3) for each in values]


def classifier() -> Pipeline:
    """Logistic regression on which words a text has."""
    bag = CountVectorizer(binary=True, min_df=2, token_pattern=r"\b\w+\b")
    return make_pipeline(bag, LogisticRegression(solver="liblinear"))


def folds(texts: np.ndarray, labels: np.ndarray) -> float:
    """The mean accuracy over five folds."""
    return cross_val_score(classifier(), texts, labels, cv=FOLDS).mean()


def for_card() -> dict[str, str]:
    """The figures as the data card has them."""
    found = json.loads(FIGURES.read_text(encoding="utf-8"))
    brown, mails = found["brown"], found["mails"]
    genres = [[f"{name}: {GENRES[name]}", *row] for name, row in brown["genres"].items()]
    total = [sum(row[column] for row in genres) for column in (1, 2, 3)]
    rows = [[name, *(f"{each:,}" for each in row)] for name, *row in [*genres, ["all", *total]]]
    groups = [[name, *(f"{each:,}" for each in row)] for name, row in mails["groups"].items()]
    accuracies = [[name, *(f"{each:.3f}" for each in row)] for name, row in found["leaks"].items()]
    kinds = ("group", "mails", "HTML", "several parts", "blank body", "words (median)")
    asked = ("bag of words of", "spam?", "spam, second collections?", "which easy ham?")
    return {
        "brown_genres": table_forms.markdown(["genre", "texts", "sentences", "tokens"], rows),
        "brown_words": f"{brown['words']:,}",
        "brown_tags": f"{brown['tags']}",
        "brown_nil": f"{brown['nil']}",
        "brown_doubled": f"{brown['doubled']:,}",
        "mail_groups": table_forms.markdown(kinds, groups),
        "mail_sets": f"{mails['repeated'][0]}",
        "mail_repeated": f"{mails['repeated'][1]}",
        "mail_both": f"{mails['in both']}",
        "mail_leaks": table_forms.markdown(asked, accuracies),
    }


if __name__ == "__main__":
    sys.exit(main())
