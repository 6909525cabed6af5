"""Added tokens: what is found in the text before anything else, and never cut.

Special tokens such as ``[MASK]`` are the usual ones; a word may be added too, when a model is to
learn a new one. They are looked for in the text as it is, or, if ``normalized``, in the normalized
text and in normalized form. At each place the longest one is taken, from left to right.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

import msgspec

from lmcourse.errors import CourseError
from lmcourse.tokenizers.batch import several
from lmcourse.tokenizers.component import Model
from lmcourse.tokenizers.text.normalized_string import NormalizedString, checked_text
from lmcourse.tokenizers.text.normalizers import Normalizer
from lmcourse.tokenizers.text.unicode import characters


class AddedToken(msgspec.Struct, frozen=True):
    """A token that was added to a model's vocabulary.

    Attributes:
        content: the token as it stands in a text.
        single_word: do not find it within a word: ``ing`` in ``sing``.
        lstrip: take the white space before it along.
        rstrip: take the white space after it along.
        normalized: look for it in the normalized text. None: unless it is special.
        special: it is no text, and decoding may leave it out.
    """

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool | None = None
    special: bool = False


class Found(NamedTuple):
    """A part of a text: an added token with its id, or what lies between two of them."""

    text: NormalizedString
    id: int | None


class AddedVocabulary:
    """The added tokens of a tokenizer, and their ids."""

    def __init__(self) -> None:
        self.tokens: dict[int, AddedToken] = {}
        self.ids: dict[str, int] = {}
        self._searches: tuple[Normalizer | None, Search, Search] | None = None

    def add(self, tokens: Iterable[str | AddedToken], special: bool, model: Model) -> int:
        """Add tokens, or change how those already there are found.

        A token that the model knows keeps its id; a new one gets the next free id.

        Args:
            special: they are all special tokens.
            model: knows the other tokens.

        Returns:
            How many were new or changed.

        Raises:
            CourseError: the tokens are no list, one is no text, or its id is taken, because the
                model's ids have holes.
        """
        changed = 0
        free = max(len(model.ids), max(self.tokens, default=-1) + 1)  # the id behind all others
        for token in several(tokens, "Added tokens are a list of texts", "Write [token]."):
            token = _settled(token, special)
            id_ = self.ids.get(token.content, model.ids.get(token.content))
            if not token.content or (id_ is not None and self.tokens.get(id_) == token):
                continue
            if id_ is None:
                _check_free(free, token, model)
                id_, free = free, free + 1
            self.tokens[id_] = token
            self.ids[token.content] = id_
            changed += 1
        self._searches = None
        return changed

    def copy(self) -> "AddedVocabulary":
        """Another one with the same tokens."""
        other = AddedVocabulary()
        other.tokens, other.ids = dict(self.tokens), dict(self.ids)
        return other

    def written(self, id_: int, normalizer: Normalizer | None) -> str | None:
        """An added token as decoders want it: in normalized form if it is looked for so."""
        token = self.tokens.get(id_)
        return None if token is None else _pattern(token, normalizer)

    @property
    def special(self) -> set[str]:
        """The special tokens."""
        return {token.content for token in self.tokens.values() if token.special}

    def extract(
        self, text: str, normalizer: Normalizer | None, encode_special_tokens: bool = False
    ) -> list[Found]:
        """The added tokens of a text, and between them the rest of it, normalized.

        Args:
            encode_special_tokens: read special tokens as text like any other.
        """
        if self._searches is None or self._searches[0] is not normalizer:
            self._searches = (
                normalizer,
                self._search(normalizer, normalized=False),
                self._search(normalizer, normalized=True),
            )
        _, raw, normal = self._searches
        found: list[Found] = []
        for part in raw.split(NormalizedString.of(text), encode_special_tokens):
            if part.id is not None:
                found.append(part)
                continue
            rest = normalizer.normalize(part.text) if normalizer else part.text
            found += normal.split(rest, encode_special_tokens)
        return found

    def _search(self, normalizer: Normalizer | None, normalized: bool) -> "Search":
        chosen = {
            _pattern(token, normalizer): (id_, token)
            for id_, token in sorted(self.tokens.items(), reverse=True)  # the first one added wins
            if token.normalized == normalized
        }
        chosen.pop("", None)  # normalized to nothing: it cannot be found
        return Search(chosen)


def _check_free(id_: int, token: AddedToken, model: Model) -> None:
    """Check that a new token's id is free, as it is if the model's ids have no holes."""
    if id_ in model.tokens:
        raise CourseError(
            f"The new token {token.content!r} would get the id {id_}, which is the number of "
            f"tokens, but the vocabulary gives that id to {model.tokens[id_]!r}: its ids have "
            "holes.",
            "Number the vocabulary from 0 on without holes before you add tokens.",
        )


def _settled(token: str | AddedToken, special: bool) -> AddedToken:
    """The token with its open questions answered: is it special, is it normalized?"""
    if not isinstance(token, AddedToken):
        token = AddedToken(token)
    checked_text(token.content)
    special = special or token.special
    normalized = not special if token.normalized is None else token.normalized
    return msgspec.structs.replace(token, special=special, normalized=normalized)


def _pattern(token: AddedToken, normalizer: Normalizer | None) -> str:
    """What to look for in the text."""
    if token.normalized and normalizer:
        return normalizer.normalize_str(token.content)
    return token.content


class Search:
    """Finds some added tokens in a text."""

    def __init__(self, tokens: Mapping[str, tuple[int, AddedToken]]) -> None:
        self.tokens = tokens
        # The first alternative that fits wins, so the longest ones come first.
        longest_first = sorted(tokens, key=len, reverse=True)
        self.pattern = re.compile("|".join(map(re.escape, longest_first))) if tokens else None

    def split(self, text: NormalizedString, encode_special_tokens: bool) -> Iterator[Found]:
        """The text, cut at each token that is found. No part is empty."""
        done = 0
        for start, end, id_ in self._places(text.normalized, encode_special_tokens):
            if done < start:
                yield Found(text[done:start], None)
            if start < end:
                yield Found(text[start:end], id_)
            done = end
        if done < len(text):
            yield Found(text[done:], None)

    def _places(self, text: str, encode_special_tokens: bool) -> Iterator[tuple[int, int, int]]:
        """Where the tokens are, with the white space that they take along, and their ids."""
        done = 0
        for match in self.pattern.finditer(text) if self.pattern else ():
            id_, token = self.tokens[match[0]]
            start, end = match.span()
            if token.special and encode_special_tokens:
                continue
            if token.single_word and _within_word(text, start, end):
                continue
            if token.lstrip:
                start = max(len(text[:start].rstrip(white_space())), done)
            if token.rstrip:
                end = len(text) - len(text[end:].lstrip(white_space()))
            yield start, end, id_
            done = end


def _within_word(text: str, start: int, end: int) -> bool:
    """Whether a word goes on before or after a part of the text."""
    word = characters("word")
    return (start > 0 and text[start - 1] in word) or (end < len(text) and text[end] in word)


@cache
def white_space() -> str:
    """The characters that count as white space: not quite those of ``str.isspace``."""
    return "".join(characters("white_space"))
