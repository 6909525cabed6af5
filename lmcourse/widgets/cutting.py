"""The base class of Merges and Segmentation: up to three tokenizers, and a text."""

import json
import re
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import traitlets

from lmcourse.errors import CourseError
from lmcourse.widgets.base import LIMIT, Widget
from lmcourse.widgets.checks import one_of
from lmcourse.widgets.packing import Array
from lmcourse.widgets.tokens import visible

NAMES = {"bpe": "BPE", "wordpiece": "WordPiece", "unigram": "unigram"}
TEXT = "A tokenizer cuts unbelievably rare words."
MOST_TEXT = 200  # UTF-16 units, as counted by an input field
MOST_WORK = 5e6  # words × merges: 0.5 s in a browser
REMEDY = (
    "Pass the result of a recipe, such as recipes.bert(texts, vocab_size=800), or "
    "recipes.recipe_of(tokenizer) with a tokenizer of the tokenizers library."
)


class Cutting(Widget):
    """A text tokenized by up to three tokenizers.

    Special tokens in the text are ordinary text, except that a unigram model's pieces include its
    special tokens: a typed ``<pad>`` becomes that piece, as in its library.
    """

    lighter: ClassVar[str] = "Train on fewer texts or with a smaller vocab_size, such as 1,000."

    tokenizers = traitlets.Dict().tag(sync=True, data=True)
    text = traitlets.Unicode(TEXT).tag(sync=True)
    algorithm = traitlets.Unicode("bpe").tag(sync=True)

    @classmethod
    def recipes(cls, bpe: Any, wordpiece: Any, unigram: Any) -> dict[str, Any]:
        """Return the given tokenizers, as a ``Recipe`` each."""
        given = zip(NAMES, (bpe, wordpiece, unigram), strict=True)
        found = {name: _recipe(name, it) for name, it in given if it is not None}
        if not found:
            raise CourseError(f"{cls.__name__} has no tokenizer to show.", REMEDY)
        return found

    @classmethod
    def facts(cls, recipes: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Return each tokenizer as plain lists and strings."""
        found = {name: it.plain() for name, it in recipes.items()}
        for name, facts in found.items():
            if facts["kind"] != name:
                kind = facts["kind"]
                raise CourseError(
                    f"{name} is a tokenizer of the kind {kind}.", f"Pass it as {kind}=…."
                )
        return found

    @classmethod
    def held(cls, facts: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """Return the traits of these tokenizers, with long lists of numbers as arrays."""
        arrays: dict[str, Array] = {}
        for name, each in facts.items():
            arrays[f"{name}_size"] = np.array([len(each["tokens"])])
            rounds = (each["training"] or {}).get("rounds", ())
            for number, it in enumerate(rounds):
                arrays[f"kept_{number}"] = _ids(it.pop("kept"))
                arrays[f"scores_{number}"] = np.array(it.pop("scores"))
        size = len(json.dumps(facts))
        if size > LIMIT:
            raise CourseError(
                f"The tokenizers of this {cls.__name__} take {size / 1e6:.1f} MB, and a page can "
                f"hold {LIMIT / 1e6:.0f} MB.",
                cls.lighter,
            )
        return {**cls.hold(arrays), "tokenizers": facts}

    @traitlets.validate("text")
    def _text_is_short(self, proposal: Any) -> str:
        text = str(proposal["value"])
        if re.search("[\ud800-\udfff]", text):
            raise CourseError(
                "text has half of a surrogate pair, which is not a character.",
                'Decode its bytes with errors="replace".',
            )
        length = len(text.encode("utf-16-le")) // 2
        if length > MOST_TEXT:
            raise CourseError(
                f"text has {length} characters; at most {MOST_TEXT} are allowed.",
                "Pass a sentence or two; an emoji counts two or more.",
            )
        return text

    @traitlets.validate("algorithm")
    def _algorithm_is_there(self, proposal: Any) -> str:
        return one_of("algorithm", proposal["value"], self.tokenizers)

    def named(self) -> str:
        """Return the names of the tokenizers as a subject, with its verb."""
        names = [NAMES[kind] for kind in self.tokenizers]
        if len(names) == 1:
            return f"{names[0]} splits"
        return f"{', '.join(names[:-1])} and {names[-1]} split"

    def quoted(self) -> str:
        """Return the text with visible marks, quoted."""
        return f"“{visible(self.text).replace('␣', ' ')}”"


def listed(tokens: Iterable[str]) -> str:
    """Return the number of tokens, and the tokens with visible marks."""
    seen = [visible(it) for it in tokens]
    return f"{len(seen)} token{'s' * (len(seen) != 1)} ({' '.join(seen)})"


def _recipe(name: str, value: Any) -> Any:
    if not callable(getattr(value, "plain", None)):
        raise CourseError(f"{name} is of type {type(value).__name__}, not a recipe.", REMEDY)
    return value


def _ids(ids: list[int]) -> Array:
    return np.array(ids, dtype="uint16" if max(ids, default=0) < 2**16 else "float32")
