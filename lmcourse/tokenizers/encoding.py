"""An encoded text: its tokens, their ids, and the way back into the text.

The fields and look-ups are those of the ``Encoding`` of the ``tokenizers`` library, and equal to
them: code that was written for one works with the other.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import accumulate, chain
from typing import Any

from lmcourse.tokenizers.component import Token
from lmcourse.tokenizers.text.normalized_string import NormalizedString, Span

COLUMNS = (  # one entry a token
    "ids",
    "type_ids",
    "tokens",
    "word_ids",
    "offsets",
    "special_tokens_mask",
    "attention_mask",
)


@dataclass(frozen=True)
class Encoding:
    """What a tokenizer makes of a text or a pair of texts. Each list has one entry a token.

    Attributes:
        ids: the tokens' ids: what a model reads.
        type_ids: the segment (0 or 1) that each token belongs to, for BERT's segment embeddings.
        tokens: the tokens themselves.
        word_ids: the word that each token is a piece of, counted from 0 in each text; None for a
            token that was added (special tokens, padding).
        offsets: the characters of the text that each token stands for, the end excluded.
        special_tokens_mask: 1 where a token was added by the post-processor or by padding.
        attention_mask: 1 where a model may look, 0 for padding.
        overflowing: what truncation cut off, in parts of the same length.
        sequence_ranges: for each text (0: the first, 1: its pair) its tokens, the end excluded.
            Empty: all tokens belong to text 0.
    """

    ids: list[int] = field(default_factory=list)
    type_ids: list[int] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    word_ids: list[int | None] = field(default_factory=list)
    offsets: list[Span] = field(default_factory=list)
    special_tokens_mask: list[int] = field(default_factory=list)
    attention_mask: list[int] = field(default_factory=list)
    overflowing: "list[Encoding]" = field(default_factory=list)
    sequence_ranges: Mapping[int, Span] = field(default_factory=dict)

    @classmethod
    def of(cls, tokens: Iterable[tuple[NormalizedString, Token, int]], type_id: int) -> "Encoding":
        """The tokens of a text.

        Args:
            tokens: each token, the piece of the text that it was cut from, and its word's id.
            type_id: the segment of the text.
        """
        encoding = cls()
        for piece, token, word_id in tokens:
            start, end = token.offsets
            encoding.ids.append(token.id)
            encoding.tokens.append(token.value)
            encoding.word_ids.append(word_id)
            encoding.offsets.append((piece.spans[start][0], piece.spans[end - 1][1]))
        encoding.type_ids.extend([type_id] * len(encoding))
        encoding.special_tokens_mask.extend([0] * len(encoding))
        encoding.attention_mask.extend([1] * len(encoding))
        return encoding

    @classmethod
    def special(cls, tokens: Iterable[tuple[str, int]], type_id: int = 0) -> "Encoding":
        """Special tokens, given with their ids: they stand for no part of the text."""
        tokens = list(tokens)
        many = len(tokens)
        return cls(
            ids=[id_ for _, id_ in tokens],
            type_ids=[type_id] * many,
            tokens=[token for token, _ in tokens],
            word_ids=[None] * many,
            offsets=[(0, 0)] * many,
            special_tokens_mask=[1] * many,
            attention_mask=[1] * many,
        )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def n_sequences(self) -> int:
        """How many texts it holds: 1, or 2 for a pair."""
        return len(self.sequence_ranges) or 1

    @property
    def sequence_ids(self) -> list[int | None]:
        """For each token, the text it comes from; None for special tokens and padding."""
        found: list[int | None] = [None] * len(self)
        for sequence in range(self.n_sequences):
            start, end = self._range(sequence)
            found[start:end] = [sequence] * (end - start)
        return found

    # --- parts and sums, which never change an encoding but make another ---

    def part(self, start: int, end: int) -> "Encoding":
        """Some of its tokens. It no longer tells one text from the other, nor has overflow."""
        return type(self)(**{name: getattr(self, name)[start:end] for name in COLUMNS})

    def with_sequence(self, sequence: int) -> "Encoding":
        """The same, all tokens belonging to text ``sequence``."""
        return replace(self, sequence_ranges={**self.sequence_ranges, sequence: (0, len(self))})

    def with_type(self, type_id: int) -> "Encoding":
        """The same, all tokens in segment ``type_id`` (but not those that overflow)."""
        return replace(self, type_ids=[type_id] * len(self))

    def __add__(self, other: "Encoding") -> "Encoding":
        """The tokens of both. What overflows of one is combined with all there is of the other."""
        overflowing: list[Encoding] = []
        for cut in self.overflowing:
            overflowing += [cut + other, *(cut + rest for rest in other.overflowing)]
        overflowing += [self + rest for rest in other.overflowing]
        size = len(self)
        moved = {
            sequence: (start + size, end + size)
            for sequence, (start, end) in other.sequence_ranges.items()
        }
        columns = {name: getattr(self, name) + getattr(other, name) for name in COLUMNS}
        return Encoding(
            **columns, overflowing=overflowing, sequence_ranges={**self.sequence_ranges, **moved}
        )

    @staticmethod
    def merge(encodings: "Iterable[Encoding]") -> "Encoding":
        """All of them, one after the other."""
        parts = list(encodings)
        if any(part.overflowing for part in parts):
            return reduce(lambda left, right: left + right, parts, Encoding())
        # The same in one pass: a sum of two copies all that was summed before.
        columns: dict[str, Any] = {
            name: list(chain.from_iterable(getattr(part, name) for part in parts))
            for name in COLUMNS
        }
        starts = accumulate(map(len, parts), initial=0)
        ranges = {
            sequence: (start + first, start + last)
            for start, part in zip(starts, parts, strict=False)
            for sequence, (first, last) in part.sequence_ranges.items()
        }
        return Encoding(**columns, sequence_ranges=ranges)

    # --- look-ups: characters, words, tokens ---

    def _range(self, sequence_index: int) -> Span:
        """The tokens of a text; all of them where that is not known."""
        return self.sequence_ranges.get(sequence_index, (0, len(self)))

    def token_to_sequence(self, token_index: int) -> int | None:
        """The text that a token comes from; None if it was added."""
        if not 0 <= token_index <= len(self):  # the end is allowed, as it is in the library
            return None
        if not self.sequence_ranges:
            return 0
        for sequence, (start, end) in self.sequence_ranges.items():
            if start <= token_index < end:
                return sequence
        return None

    def token_to_chars(self, token_index: int) -> Span | None:
        """The characters that a token stands for, in its text; None if it was added."""
        if self.token_to_sequence(token_index) is None or token_index == len(self):
            return None
        return self.offsets[token_index]

    def token_to_word(self, token_index: int) -> int | None:
        """The word that a token is a piece of; None if it was added."""
        if self.token_to_sequence(token_index) is None or token_index == len(self):
            return None
        return self.word_ids[token_index]

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The first token that holds a character of a text; None if none does (a space, say)."""
        for index in range(*self._range(sequence_index)):
            if self.offsets[index][0] <= char_pos < self.offsets[index][1]:
                return index
        return None

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The word that holds a character of a text; None if none does."""
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.token_to_word(token)

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """The tokens of a word, from … to, the end excluded; None if it has none."""
        found = []
        for index in range(*self._range(sequence_index)):
            word = self.word_ids[index]
            if word is not None and word > word_index:
                break  # words only grow from left to right: this one is past
            if word == word_index:
                found.append(index)
        return (found[0], found[-1] + 1) if found else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """The characters of a word; None if it has no tokens."""
        tokens = self.word_to_tokens(word_index, sequence_index)
        return tokens and (self.offsets[tokens[0]][0], self.offsets[tokens[1] - 1][1])
