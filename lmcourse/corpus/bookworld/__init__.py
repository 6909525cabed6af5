"""BookWorld: generated book reviews whose exact probabilities are known."""

from lmcourse.corpus.bookworld.automaton import END
from lmcourse.corpus.bookworld.grammar import LANGUAGE, Grammar
from lmcourse.corpus.bookworld.review import Agreement, Fact, Review, Sentence
from lmcourse.corpus.bookworld.world import SPLITS, BookWorld

__all__ = [
    "END",
    "LANGUAGE",
    "SPLITS",
    "Agreement",
    "BookWorld",
    "Fact",
    "Grammar",
    "Review",
    "Sentence",
]
