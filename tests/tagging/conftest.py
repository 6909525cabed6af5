"""An invented corpus in the format of the real one, and taggers that learn from it in a moment."""

import random

import pytest

from lmcourse.corpus.brown import Brown
from research.tagging import command, entries, page
from research.tagging.entries import Entry
from research.tagging.features import MostFrequentTag, Perceptron
from research.tagging.text import texts_of

WORDS = 400
TEXTS = {"a": 17, "b": 7, "k": 8, "m": 6, "r": 6}  # by genres; k and m are fiction


def line(draw):
    """A sentence: "run" is a verb after "to" and a noun otherwise; endings tell classes."""
    letter = draw.choice("bcdfg") + draw.choice("aeiou") + draw.choice("lmnpr")
    return draw.choice(
        [
            f"the/at {letter}ness/nn runs/vbz ./.",
            f"{letter.title()}ton/np {letter}ed/vbd to/to run/vb ./.",
            f"a/at run/nn {letter}ed/vbd it/ppo ,/, {letter}ly/rb ./.",
            f"it/pps runs/vbz {draw.randrange(30)}/cd runs/nns ./.",
            f"it/pps {letter}ed/vbd ./.",
            f"it/pps {letter}ly/rb ./.",
        ]
    )


@pytest.fixture(scope="session")
def sentences(tmp_path_factory):
    """Those of all texts, eight each."""
    folder, draw = tmp_path_factory.mktemp("corpus"), random.Random(0)
    for letter, count in TEXTS.items():
        for number in range(1, count + 1):
            text = "\n".join(line(draw) for _ in range(8))
            (folder / f"c{letter}{number:02}").write_text(text)
    return list(Brown(folder).sentences())


@pytest.fixture(scope="session")
def texts(sentences):
    return texts_of(sentences, WORDS)


@pytest.fixture(scope="module")
def table():
    """The command's table: a small tagger of each kind."""
    both = {"hidden": 3, "bidirectional": True, "characters": True}
    small = [
        Entry("most-frequent", "m. f. tag", lambda text, *_: MostFrequentTag(text), seeds=1),
        Entry(
            "perceptron",
            "perceptron",
            lambda text, epochs, seed, _: Perceptron(text, int(epochs), seed),
            setting="epochs",
            values=(1.0, 2.0),
            shifted=True,
        ),
        entries.network("lstm", "LSTM", epochs=2, trial=1, hidden=4),
        entries.network("bilstm-characters", "characters", epochs=2, trial=1, shifted=True, **both),
    ]
    found = {entry.name: entry for entry in small}
    with pytest.MonkeyPatch.context() as patch:
        for module in (entries, page, command):
            patch.setattr(module, "ENTRIES", found)
        patch.setattr(page, "PAIRS", [("lstm", "perceptron"), ("bilstm-characters", "lstm")])
        yield found
