"""What Merges and Segmentation share: up to three tokenizers, and a text that they cut."""

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
MOST_TEXT = 200  # UTF-16 units, which is what an input field of a page counts
MOST_WORK = 5e6  # words × merges: what a browser replays in half a second
REMEDY = (
    "Pass what a recipe gives, such as recipes.bert(texts, vocab_size=800), or a Tokenizer of "
    "lmcourse.tokenizers; Tokenizer.from_library takes one of the tokenizers library."
)


class Cutting(Widget):
    """A text of the reader's own, cut by up to three tokenizers.

    What stands in the text is text, and no special token. Among a unigram model's pieces are its
    special tokens, though: it takes a typed ``<pad>`` for that piece, as its library does.
    """

    lighter: ClassVar[str] = (
        "Train on fewer texts or with a smaller vocab_size: 1,000 to 2,000 show all there is to "
        "see."
    )

    tokenizers = traitlets.Dict().tag(sync=True, data=True)
    text = traitlets.Unicode(TEXT).tag(sync=True)
    algorithm = traitlets.Unicode("bpe").tag(sync=True)

    @classmethod
    def facts(cls, bpe: Any, wordpiece: Any, unigram: Any) -> dict[str, dict[str, Any]]:
        """Each tokenizer that is given as plain lists and strings.

        Raises:
            CourseError: there is none, or one is no tokenizer of its kind.
        """
        given = dict(zip(NAMES, (bpe, wordpiece, unigram), strict=True))
        found = {name: _facts(name, it) for name, it in given.items() if it is not None}
        if not found:
            raise CourseError(f"{cls.__name__} has no tokenizer to show.", REMEDY)
        return found

    @classmethod
    def held(cls, facts: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """The traits that hold these facts, long lists of numbers as arrays.

        Raises:
            CourseError: they take more than a page can carry.
        """
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
                f"The tokenizers of this {cls.__name__} take {size / 1e6:.1f} MB, and a page "
                f"carries {LIMIT / 1e6:.0f} MB.",
                cls.lighter,
            )
        return {**cls.hold(arrays), "tokenizers": facts}

    @traitlets.validate("text")
    def _text_is_short(self, proposal: Any) -> str:
        text = str(proposal["value"])
        if re.search("[\ud800-\udfff]", text):
            raise CourseError(
                "text holds half of a surrogate pair, which is no character.",
                'Decode its bytes with errors="replace".',
            )
        length = len(text.encode("utf-16-le")) // 2
        if length > MOST_TEXT:
            raise CourseError(
                f"text has {length} characters, and the widget takes {MOST_TEXT}.",
                "Pass a sentence or two; an emoji counts two or more.",
            )
        return text

    @traitlets.validate("algorithm")
    def _algorithm_is_there(self, proposal: Any) -> str:
        return one_of("algorithm", proposal["value"], self.tokenizers)

    def named(self) -> str:
        """The names of the tokenizers, as a sentence lists them, with what they do."""
        names = [NAMES[kind] for kind in self.tokenizers]
        if len(names) == 1:
            return f"{names[0]} cuts"
        return f"{', '.join(names[:-1])} and {names[-1]} cut"

    def quoted(self) -> str:
        """The text as a reader sees it."""
        return f"“{visible(self.text).replace('␣', ' ')}”"


def listed(tokens: Iterable[str]) -> str:
    """Tokens in a sentence: how many, and each as a reader sees it."""
    seen = [visible(it) for it in tokens]
    return f"{len(seen)} token{'s' * (len(seen) != 1)} ({' '.join(seen)})"


def _facts(name: str, value: Any) -> dict[str, Any]:
    """A tokenizer of the kind that its argument's name says."""
    if not callable(getattr(value, "plain", None)):
        raise CourseError(f"{name} is of type {type(value).__name__}, not a tokenizer.", REMEDY)
    facts: dict[str, Any] = value.plain()
    if facts["kind"] != name:
        raise CourseError(
            f"{name} is a tokenizer of the kind {facts['kind']}.", f"Pass it as {facts['kind']}=…."
        )
    return facts


def _ids(ids: list[int]) -> Array:
    return np.array(ids, dtype="uint16" if max(ids, default=0) < 2**16 else "float32")
