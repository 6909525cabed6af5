"""Fifteen genres of the Brown corpus, from passages of some 200 words.

Whole texts are held out. The interval is over texts, whose passages are not independent.
"""

from collections.abc import Mapping
from functools import partial
from itertools import chain

import numpy as np
from sklearn.metrics import confusion_matrix, f1_score

from lmcourse import table_forms
from lmcourse.evaluation.uncertainty import bootstrap, mean_score
from research.real_text import classifiers
from research.real_text.classifiers import (
    CONTRASTS,
    FOLDS,
    MODELS,
    contrasts,
    crossed,
    folds,
    packed,
    plain,
    rows_of,
    tuning,
    unpacked,
)
from research.real_text.sources import PACKAGES, TOKENS, Sources, Text, Units, Values

WORDS, PASSAGES = 200, 3  # of a passage, at least; of a text
RESAMPLES = 500  # of the texts, for macro F1
QUOTES = {"``": '"', "''": '"'}
SETUP = {
    "texts": f"{PASSAGES} passages of each text, evenly spaced, each the shortest series of "
    f"sentences with at least {WORDS} tokens; MiniLM reads {TOKENS} of its tokens at most",
    "packages": [PACKAGES[name] for name in ("brown", "minilm", "glove-6b-50d")],
    **classifiers.SETUP,
}

READING = """Five-fold cross-validation; all passages of a text are in the same fold. *Whole texts*:
the genre with the highest probability, multiplied over the text's passages. Brackets: 95 % interval
over texts (of macro F1, bootstrap); it does not cover another division into folds. N-grams know
the training passages alone; GloVe and MiniLM were trained on other text, of which there is far
more, and are frozen. Fine-tuning is left out: {epochs} epochs of five folds would take some
{hours:.1f} hours of one core, if an update costs three times as much as features."""
EPOCHS = 3


def passages(text: Text) -> list[str]:
    """Evenly spaced passages of a text; all of them if there are fewer."""
    found, words = [], list[str]()
    for sentence in text.sentences:
        words += [QUOTES.get(word, word) for word in sentence.words]
        if len(words) >= WORDS:
            found.append(" ".join(words))
            words = []
    chosen = np.linspace(0, len(found) - 1, min(PASSAGES, len(found))).round().astype(int)
    return [found[at] for at in chosen]


def examples(sources: Sources) -> tuple[list[str], np.ndarray, np.ndarray]:
    """All passages, their genres, and the numbers of their texts."""
    found = [passages(text) for text in sources.brown]
    counts = [len(each) for each in found]
    genres = np.repeat([text.genre for text in sources.brown], counts)
    return list(chain.from_iterable(found)), genres, np.repeat(np.arange(len(found)), counts)


def corpus(sources: Sources) -> Values:
    """How many texts each genre has, and passages each text; the time that MiniLM takes."""
    texts, _, groups = examples(sources)
    names, counts = np.unique([text.genre for text in sources.brown], return_counts=True)
    return {
        "texts": dict(zip(names.tolist(), counts.tolist(), strict=True)),
        "passages": np.bincount(groups).tolist(),
        "encoding_seconds": sources.encoded(texts).cpu_seconds,
    }


def measured(model: str, sources: Sources) -> Values:
    """What a model's features achieve in cross-validation."""
    texts, genres, groups = examples(sources)
    names = np.unique(genres)
    splits = list(folds(genres, groups))
    _, p, strengths = crossed(rows_of(model, texts, sources), genres, groups, splits)
    found = names[p.argmax(1)]
    of_text = np.stack([np.log(p[groups == text]).sum(0) for text in np.unique(groups)])
    whole = names[of_text.argmax(1)] == [text.genre for text in sources.brown]
    matrix = confusion_matrix(genres, found, labels=names)
    return {
        "accuracy": mean_score(found == genres, groups),
        "macro F1": bootstrap(_macro, genres, found, groups=groups, resamples=RESAMPLES),
        "text accuracy": mean_score(whole),
        "C": strengths,
        "right": packed(found == genres),
        "confusion": [" ".join(map(str, row)) for row in matrix.tolist()],
    }


def _macro(genres: np.ndarray, found: np.ndarray) -> float:
    return float(f1_score(genres, found, average="macro", zero_division=0))


UNITS: Units = {"corpus": corpus, **{name: partial(measured, name) for name in MODELS}}


def section(units: Mapping[str, Values]) -> str:
    """The page's part."""
    done = {name: units[name] for name in MODELS}
    passages_of = units["corpus"]["passages"]
    groups = np.repeat(np.arange(len(passages_of)), passages_of)
    rows = [
        [name, *(plain(it[key]) for key in ("accuracy", "macro F1", "text accuracy")), tuning(it)]
        for name, it in done.items()
    ]
    right = {name: unpacked(it["right"], len(groups)) for name, it in done.items()}
    hours = units["corpus"]["encoding_seconds"] * 3 * EPOCHS * (FOLDS - 1) / 3600
    reading = READING.format(epochs=EPOCHS, hours=hours)
    best = max(done, key=lambda name: done[name]["accuracy"][0])
    header = ["features", "accuracy", "macro F1", "accuracy, whole texts", "C of the folds"]
    return "\n\n".join(
        [
            f"{len(groups):,} passages of {len(passages_of)} texts. {reading}",
            table_forms.markdown(header, rows, words=(0, 4)),
            CONTRASTS,
            contrasts(right, groups),
            f"Which genres are confused, with the best features ({best}):",
            _confused(list(units["corpus"]["texts"].items()), done[best]["confusion"]),
        ]
    )


def _confused(genres: list[tuple[str, int]], matrix: list[str]) -> str:
    rows = []
    for at, (genre, texts) in enumerate(genres):
        counts = [int(count) for count in matrix[at].split()]
        shares = np.array(counts) / sum(counts)
        others = [it for it in np.argsort(-shares, kind="stable") if it != at and shares[it] > 0]
        mistaken = ", ".join(f"{genres[it][0]} {shares[it]:.0%}" for it in others[:3])
        rows.append([genre, f"{texts}", f"{shares[at]:.0%}", mistaken])
    return table_forms.markdown(["genre", "texts", "right", "taken for"], rows, words=(0, 3))
