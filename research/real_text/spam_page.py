"""The page's part on spam."""

from collections.abc import Mapping, Sequence

import numpy as np

from lmcourse import table_forms
from lmcourse.evaluation.uncertainty import Score, mean_score
from research.real_text.classifiers import CONTRASTS, contrasts, plain, said, unpacked
from research.real_text.sources import Values
from research.real_text.spam import (
    FIELDS,
    FIRST_WORDS,
    LATER,
    RANDOM,
    READERS,
    SPLITS,
    TOGETHER,
    VIEWS,
    unit,
)

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
Fields of at least 2 % of the mails whose rule beats the majority class there by a point or more,
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
    rows = [[*pair, *_row([units[unit(*pair, name)] for name in SPLITS])] for pair in named]
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
            model: unpacked(units[unit(FIRST_WORDS, model, name)]["right"], len(mails))
            for model in READERS[FIRST_WORDS]
        }
        parts.append(contrasts(right, copies[mails]))
    gains = []
    for pair in named:
        one, other = (unpacked(units[unit(*pair, it)]["right"], len(copies)) for it in SPLITS[:2])
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
        of_words = ["", ""]
        if name in valued:
            found = [units[unit(valued[name], "words", it)] for it in (TOGETHER, LATER)]
            of_words = [plain(each["accuracy"]) for each in found]
        rows.append([*row, *of_words])
    header = ["field", "in ham", "in spam", "rule, first", "rule, second", "its words", LATER]
    return table_forms.markdown(header, rows)
