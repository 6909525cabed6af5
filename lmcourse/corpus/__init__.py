"""Text, and tasks made of it: BookWorld, readers, windows."""

from lmcourse.corpus.bookworld import END, SPLITS, BookWorld, Grammar, Review
from lmcourse.corpus.documentation import python_documentation
from lmcourse.corpus.goodreads import read_reviews, split_of
from lmcourse.corpus.recall import RecallTask
from lmcourse.corpus.records import ReviewRecord
from lmcourse.corpus.vectors import WordVectors, read_vectors
from lmcourse.corpus.windows import windows

__all__ = [
    "END",
    "SPLITS",
    "BookWorld",
    "Grammar",
    "RecallTask",
    "Review",
    "ReviewRecord",
    "WordVectors",
    "python_documentation",
    "read_reviews",
    "read_vectors",
    "split_of",
    "windows",
]
