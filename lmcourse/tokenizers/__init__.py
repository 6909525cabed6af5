"""Tokenizers: BPE, byte-level BPE, WordPiece and unigram, step by step, and whole pipelines.

``text`` holds what happens to a text before the model, ``models`` the four models with their
trainers, this folder the pipeline that joins them, under the names of the ``tokenizers`` library.
"""

import importlib
from typing import TYPE_CHECKING, Any

from lmcourse.tokenizers import decoders, processors, recipes
from lmcourse.tokenizers.added_tokens import AddedToken
from lmcourse.tokenizers.encoding import Encoding
from lmcourse.tokenizers.models.bpe import BPE
from lmcourse.tokenizers.models.trainers import BpeTrainer, WordPieceTrainer
from lmcourse.tokenizers.models.unigram import Unigram
from lmcourse.tokenizers.models.unigram_training import UnigramTrainer
from lmcourse.tokenizers.models.word_level import WordLevel
from lmcourse.tokenizers.models.wordpiece import WordPiece
from lmcourse.tokenizers.published_files import from_vocab_json, from_vocab_txt
from lmcourse.tokenizers.template import TemplateProcessing
from lmcourse.tokenizers.text import normalizers, pre_tokenizers
from lmcourse.tokenizers.tokenizer import Tokenizer

if TYPE_CHECKING:
    from lmcourse.tokenizers.vocabulary import Vocabulary

__all__ = [
    "BPE",
    "AddedToken",
    "BpeTrainer",
    "Encoding",
    "TemplateProcessing",
    "Tokenizer",
    "Unigram",
    "UnigramTrainer",
    "Vocabulary",
    "WordLevel",
    "WordPiece",
    "WordPieceTrainer",
    "decoders",
    "from_vocab_json",
    "from_vocab_txt",
    "normalizers",
    "pre_tokenizers",
    "processors",
    "recipes",
]


def __getattr__(name: str) -> Any:
    """Import the vocabulary on its first use, because it imports torch."""
    if name == "Vocabulary":
        return importlib.import_module("lmcourse.tokenizers.vocabulary").Vocabulary
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
