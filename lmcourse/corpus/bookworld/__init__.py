"""BookWorld: generated book reviews whose exact probabilities are known."""

from lmcourse.corpus.bookworld.automaton import END
from lmcourse.corpus.bookworld.floors import SPLITS, Floor, Floors
from lmcourse.corpus.bookworld.grammar import LANGUAGE, Grammar
from lmcourse.corpus.bookworld.review import Agreement, Fact, Review, Sentence
from lmcourse.corpus.bookworld.world import BookWorld

__all__ = [
    "END",
    "LANGUAGE",
    "SPLITS",
    "Agreement",
    "BookWorld",
    "Fact",
    "Floor",
    "Floors",
    "Grammar",
    "Review",
    "Sentence",
]
