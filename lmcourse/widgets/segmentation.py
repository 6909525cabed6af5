"""Segmentation: how BPE, WordPiece and a unigram model cut a text, and a word step by step."""

from typing import Any, ClassVar

import traitlets

from lmcourse.widgets.base import module
from lmcourse.widgets.checks import whole_below
from lmcourse.widgets.cutting import MOST_TEXT, NAMES, TEXT, Cutting


class Segmentation(Cutting):
    """A text of the reader's own, cut by up to three tokenizers; and how they cut a word of it.

    BPE redoes its merges, WordPiece looks for the longest piece, a unigram model for the most
    probable path. The browser does it, exactly as the tokenizers do. What stands in the text is
    text: a typed ``[MASK]`` is no special token.

    Args:
        bpe: what ``recipes.char_bpe`` or ``recipes.gpt2`` gives, or a ``Tokenizer`` of BPE. None:
            leave it out.
        wordpiece: the same of WordPiece, as of ``recipes.bert``.
        unigram: the same of unigram pieces, as of ``recipes.albert``.
        text: what is cut, up to 200 characters (an emoji counts two or more).
        algorithm: whose steps are shown: ``"bpe"``, ``"wordpiece"`` or ``"unigram"``. None: the
            first that is there.
        word: which word is taken apart, from 0 to 199, words as spaces part them; more than there
            are is the last. None: the one with most pieces.
        longest_first: cut by BPE's pieces, longest first, too: which is not what BPE does.

    Raises:
        CourseError: there is no tokenizer, one is of another kind or has parts that the browser
            cannot follow, a setting is out of range, or the data are too large for a page.
    """

    _esm = module("segmentation")
    title: ClassVar[str] = "Segmentation"

    word = traitlets.Int(None, allow_none=True).tag(sync=True)
    longest_first = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        bpe: Any = None,
        wordpiece: Any = None,
        unigram: Any = None,
        *,
        text: str = TEXT,
        algorithm: str | None = None,
        word: int | None = None,
        longest_first: bool = False,
    ) -> None:
        given = (getattr(it, "tokenizer", it) for it in (bpe, wordpiece, unigram))
        facts = self.facts(*given)  # a recipe without its training
        super().__init__(
            **self.held(facts),
            text=text,
            algorithm=next(iter(facts)) if algorithm is None else algorithm,
            word=word,
            longest_first=longest_first,
        )

    @property
    def alt(self) -> str:
        """What is to be seen, in words, at the present settings."""
        place = "the word with most pieces" if self.word is None else f"word {self.word + 1}"
        contrast = (
            "; and as BPE’s pieces would, longest first" if self._shows_longest_first() else ""
        )
        return (
            f"Segmentation: the text {self.quoted()} as {self.named()} cut it, one row a tokenizer"
            f"{contrast}. Below, how {NAMES[self.algorithm]} cuts {place}, step by step."
        )

    def _shows_longest_first(self) -> bool:
        return bool(self.longest_first) and "bpe" in self.tokenizers

    @traitlets.validate("word")
    def _word_can_be(self, proposal: Any) -> int | None:
        return whole_below("word", proposal["value"], MOST_TEXT)
