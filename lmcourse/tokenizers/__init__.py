"""Tokenizers: BPE, byte-level BPE, WordPiece and unigram, step by step.

``models`` has the four algorithms with their trainers. What surrounds them is the ``tokenizers``
library's: ``recipes`` gives its tokenizers, with our training, and ``library`` translates between
its models and ours.
"""

import importlib
from typing import TYPE_CHECKING, Any

from lmcourse.tokenizers import recipes
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.trainers import BpeTrainer, WordPieceTrainer
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.models.unigram_training import UnigramTrainer
from lmcourse.tokenizers.models.wordpiece import WordPiece

if TYPE_CHECKING:
    from lmcourse.tokenizers.vocabulary import Vocabulary

__all__ = [
    "BPE",
    "BpeTrainer",
    "Unigram",
    "UnigramTrainer",
    "Vocabulary",
    "WordPiece",
    "WordPieceTrainer",
    "recipes",
]


def __getattr__(name: str) -> Any:
    """Import the vocabulary on its first use, because it imports torch."""
    if name == "Vocabulary":
        return importlib.import_module("lmcourse.tokenizers.vocabulary").Vocabulary
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
