"""Segmentation: how BPE, WordPiece and a unigram model split a text, and a word step by step."""

import re
from typing import Any, ClassVar

import traitlets

from lmcourse.widgets.base import module
from lmcourse.widgets.checks import index_below
from lmcourse.widgets.cutting import MOST_TEXT, NAMES, TEXT, Cutting, listed
from lmcourse.widgets.tokens import visible


class Segmentation(Cutting):
    """A text split by up to three tokenizers, with the steps for one of its words.

    BPE applies its merges, WordPiece searches the longest piece, a unigram model the most probable
    path. The browser computes exactly what the tokenizers compute. Special tokens in the text are
    ordinary text, except that a unigram model's pieces include its special tokens: a typed
    ``<pad>`` becomes that piece, as in the library.

    Args:
        bpe: the result of ``recipes.char_bpe`` or ``recipes.gpt2``; for another tokenizer of the
            ``tokenizers`` library, ``recipes.recipe_of(tokenizer)``. None: not shown.
        wordpiece: the same for WordPiece, such as ``recipes.bert``.
        unigram: the same for a unigram model, such as ``recipes.albert``.
        text: the text, up to 200 characters (an emoji counts two or more).
        algorithm: the tokenizer whose steps are shown: ``"bpe"``, ``"wordpiece"`` or
            ``"unigram"``; None: the first one given.
        word: the index of the word whose steps are shown, from 0 to 199, where spaces separate
            words; beyond the last word, the last. None: the word with most pieces.
        longest_first: whether to show also BPE's pieces chosen longest first, unlike BPE.
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
        recipes = self.recipes(bpe, wordpiece, unigram)
        self._recipes = {name: it.without_training() for name, it in recipes.items()}
        facts = self.facts(self._recipes)
        super().__init__(
            **self.held(facts),
            text=text,
            algorithm=next(iter(facts)) if algorithm is None else algorithm,
            word=word,
            longest_first=longest_first,
        )

    @property
    def alt(self) -> str:
        """A description of the figure at the present settings."""
        ends = [it.end() for it in re.finditer(r"\S+", self.text)]
        if not ends:
            return f"Segmentation: there is no text yet that {self.named()}."
        rows = {kind: recipe.explained(self.text) for kind, recipe in self._recipes.items()}
        lanes = [
            f"{NAMES[kind]}, {listed(token for cut in cuts for token in cut.tokens)}."
            for kind, cuts in rows.items()
        ]
        if self._shows_longest_first():
            greedy = listed(token for cut in rows["bpe"] for token in cut.greedy)
            lanes.insert(1, f"BPE’s pieces, longest first, which is not what BPE does, {greedy}.")
        return (
            f"Segmentation: the text {self.quoted()} as {self.named()} it, one row per tokenizer. "
            f"{' '.join(lanes)} {self._steps_of_word(rows, ends)}"
        ).rstrip()

    def _steps_of_word(self, rows: dict[str, list[Any]], ends: list[int]) -> str:
        """Return the steps of the pinned word, or of the one with most pieces."""

        def of(cut: Any) -> int:
            return next((i for i, end in enumerate(ends) if cut.position < end), len(ends) - 1)

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
            f"Below, how {NAMES[self.algorithm]} splits “{visible(cut.word)}”: "
            f"{'; '.join(steps) or 'there is no step'}."
        )

    def _shows_longest_first(self) -> bool:
        return bool(self.longest_first) and "bpe" in self.tokenizers

    @traitlets.validate("word")
    def _word_can_be(self, proposal: Any) -> int | None:
        return index_below("word", proposal["value"], MOST_TEXT)
