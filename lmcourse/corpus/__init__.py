"""Text, and tasks made of it: readers, vocabulary, windows."""

from lmcourse.corpus.documentation import python_documentation
from lmcourse.corpus.recall import RecallTask
from lmcourse.corpus.vocabulary import Vocabulary
from lmcourse.corpus.windows import windows

__all__ = ["RecallTask", "Vocabulary", "python_documentation", "windows"]
