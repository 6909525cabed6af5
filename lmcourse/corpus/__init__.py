"""Text, and tasks made of it: BookWorld, readers, windows."""

from lmcourse.corpus.bookworld import END, SPLITS, BookWorld, Grammar, Review
from lmcourse.corpus.datasets import DATASETS
from lmcourse.corpus.documentation import python_documentation
from lmcourse.corpus.download import fetch
from lmcourse.corpus.folder import Document, read_texts
from lmcourse.corpus.goodreads import read_reviews, split_of, write_reviews
from lmcourse.corpus.recall import RecallTask
from lmcourse.corpus.records import ReviewRecord
from lmcourse.corpus.vectors import WordVectors, read_vectors, write_vectors
from lmcourse.corpus.windows import windows

__all__ = [
    "DATASETS",
    "END",
    "SPLITS",
    "BookWorld",
    "Document",
    "Grammar",
    "RecallTask",
    "Review",
    "ReviewRecord",
    "WordVectors",
    "fetch",
    "python_documentation",
    "read_reviews",
    "read_texts",
    "read_vectors",
    "split_of",
    "windows",
    "write_reviews",
    "write_vectors",
]
