"""Segmentation: how BPE, WordPiece and a unigram model cut a text, and a word step by step."""

import re
from typing import Any, ClassVar

import traitlets

from lmcourse.widgets.base import module
from lmcourse.widgets.checks import whole_below
from lmcourse.widgets.cutting import MOST_TEXT, NAMES, TEXT, Cutting, listed
from lmcourse.widgets.tokens import visible


class Segmentation(Cutting):
    """A text of the reader's own, cut by up to three tokenizers; and how they cut a word of it.

    BPE redoes its merges, WordPiece looks for the longest piece, a unigram model for the most
    probable path. The browser does it, exactly as the tokenizers do. What stands in the text is
    text: a typed ``[MASK]`` is no special token. (A unigram model's special tokens are among its
    pieces: of a typed ``<pad>``, it takes that piece, and so does its library.)

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
        # a recipe without its training
        given = [getattr(it, "tokenizer", it) for it in (bpe, wordpiece, unigram)]
        facts = self.facts(*given)
        self._tools = {name: it for name, it in zip(NAMES, given, strict=True) if it is not None}
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
        ends = [it.end() for it in re.finditer(r"\S+", self.text)]
        if not ends:
            return f"Segmentation: there is no text yet that {self.named()}."
        rows = {kind: tool.told(self.text) for kind, tool in self._tools.items()}
        lanes = [
            f"{NAMES[kind]}, {listed(token for cut in cuts for token in cut.tokens)}."
            for kind, cuts in rows.items()
        ]
        if self._shows_longest_first():
            greedy = listed(token for cut in rows["bpe"] for token in cut.greedy)
            lanes.insert(1, f"BPE’s pieces, longest first, which is not what BPE does, {greedy}.")
        return (
            f"Segmentation: the text {self.quoted()} as {self.named()} it, one row a tokenizer. "
            f"{' '.join(lanes)} {self._taken_apart(rows, ends)}"
        ).rstrip()

    def _taken_apart(self, rows: dict[str, list[Any]], ends: list[int]) -> str:
        """How the word that is pinned, or the one with most pieces, is cut."""

        def of(cut: Any) -> int:
            return next((i for i, end in enumerate(ends) if cut.place < end), len(ends) - 1)

        sizes = [0] * len(ends)
        for cut in (it for cuts in rows.values() for it in cuts):
            greedy = len(cut.greedy) if self._shows_longest_first() else 0
            sizes[of(cut)] += len(cut.tokens) + greedy
        chosen = sizes.index(max(sizes)) if self.word is None else min(self.word, len(ends) - 1)
        cut = max(
            (it for it in rows[self.algorithm] if of(it) == chosen),
            key=lambda it: len(it.word),
            default=None,
        )
        if cut is None:
            return ""
        between = "·" if self.algorithm == "unigram" else " + "
        steps = [
            f"{what}, {between.join(map(visible, pieces))}" if pieces else what
            for pieces, what in cut.steps
        ]
        return (
            f"Below, how {NAMES[self.algorithm]} cuts “{visible(cut.word)}”: "
            f"{'; '.join(steps) or 'there is no step'}."
        )

    def _shows_longest_first(self) -> bool:
        return bool(self.longest_first) and "bpe" in self.tokenizers

    @traitlets.validate("word")
    def _word_can_be(self, proposal: Any) -> int | None:
        return whole_below("word", proposal["value"], MOST_TEXT)
