"""Tokenizers: BPE, byte-level BPE, WordPiece and unigram, step by step, and whole pipelines."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lmcourse.tokenizers.vocabulary import Vocabulary

__all__ = ["Vocabulary"]


def __getattr__(name: str) -> Any:
    """Import the vocabulary on its first use: it is the only part that needs torch."""
    if name == "Vocabulary":
        return importlib.import_module("lmcourse.tokenizers.vocabulary").Vocabulary
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
