"""Post-processors: put the special tokens round a text or a pair, and number its segments.

They get one encoding for a single text, two for a pair, and give a list of encodings that are
then joined. BERT (Devlin et al. 2019, section 3) reads ``[CLS] A [SEP]`` or
``[CLS] A [SEP] B [SEP]``, RoBERTa (Liu et al. 2019) ``<s> A </s>`` or ``<s> A </s></s> B </s>``.
"""

from collections.abc import Callable
from dataclasses import replace

from lmcourse.errors import CourseError
from lmcourse.tokenizers.added_tokens import white_space
from lmcourse.tokenizers.component import Component
from lmcourse.tokenizers.encoding import Encoding
from lmcourse.tokenizers.template import SpecialPair, TemplateProcessing
from lmcourse.tokenizers.text.byte_characters import BYTE_TO_CHARACTER
from lmcourse.tokenizers.text.normalized_string import Span


def process(
    processor: "Processor | None", encodings: list[Encoding], add_special_tokens: bool
) -> Encoding:
    """One encoding of a text, or of a pair.

    Args:
        processor: None: no tokens are added.
        encodings: one for each text.
        add_special_tokens: False: leave out the special tokens.
    """
    if processor is None:
        if len(encodings) == 1:
            return encodings[0]
        return Encoding.merge(part.with_sequence(i) for i, part in enumerate(encodings))
    known = [
        replace(
            encoding.with_sequence(i).with_type(i),
            overflowing=[part.with_sequence(i) for part in encoding.overflowing],
        )
        for i, encoding in enumerate(encodings)
    ]
    return Encoding.merge(processor.process_encodings(known, add_special_tokens))


def _framed(
    text: Encoding, before: list[SpecialPair], after: list[SpecialPair], sequence: int, type_id: int
) -> Encoding:
    """A text between special tokens of segment ``type_id``; so are its overflowing parts."""

    def framed(part: Encoding) -> Encoding:
        part = replace(
            part,
            overflowing=[],
            special_tokens_mask=[0] * len(part),
            attention_mask=[1] * len(part),
            sequence_ranges={sequence: (0, len(part))},
        )
        return Encoding.special(before, type_id) + part + Encoding.special(after, type_id)

    return replace(framed(text), overflowing=[framed(part) for part in text.overflowing])


class BertProcessing(Component, frozen=True):
    """``[CLS] A [SEP]`` in segment 0, and for a pair ``B [SEP]`` in segment 1 behind it."""

    sep: SpecialPair = ("[SEP]", 102)
    cls: SpecialPair = ("[CLS]", 101)

    @property
    def named(self) -> dict[str, int]:
        """The special tokens that it adds, with their ids."""
        return dict([self.sep, self.cls])

    def added_tokens(self, pair: bool) -> int:
        """How many special tokens a text (or a pair) gets."""
        return 3 if pair else 2

    def process_encodings(
        self, encodings: list[Encoding], add_special_tokens: bool
    ) -> list[Encoding]:
        """Each text with its special tokens."""
        if not add_special_tokens:
            return encodings
        first, *others = encodings
        return [
            _framed(first, [self.cls], [self.sep], sequence=0, type_id=0),
            *(_framed(other, [], [self.sep], sequence=1, type_id=1) for other in others),
        ]


class RobertaProcessing(Component, frozen=True):
    """``<s> A </s>``, and for a pair ``</s> B </s>`` behind it, all in segment 0.

    Args:
        trim_offsets: a token's characters do not include the spaces at its ends.
        add_prefix_space: whether the pre-tokenizer put a space before the text.
    """

    sep: SpecialPair = ("</s>", 2)
    cls: SpecialPair = ("<s>", 0)
    trim_offsets: bool = True
    add_prefix_space: bool = True

    @property
    def named(self) -> dict[str, int]:
        """The special tokens that it adds, with their ids."""
        return dict([self.sep, self.cls])

    def added_tokens(self, pair: bool) -> int:
        """How many special tokens a text (or a pair) gets."""
        return 4 if pair else 2

    def process_encodings(
        self, encodings: list[Encoding], add_special_tokens: bool
    ) -> list[Encoding]:
        """Each text with its special tokens."""
        if self.trim_offsets:
            encodings = [_trimmed(encoding, self.add_prefix_space) for encoding in encodings]
        encodings = [encoding.with_type(0) for encoding in encodings]
        if not add_special_tokens:
            return encodings
        framed = []
        for place, encoding in enumerate(encodings):
            flat = replace(
                encoding, overflowing=[part.with_type(0) for part in encoding.overflowing]
            )
            before = self.sep if place else self.cls
            framed.append(_framed(flat, [before], [self.sep], sequence=min(place, 1), type_id=0))
        return framed


class ByteLevel(Component, frozen=True):
    """For GPT-2: no special tokens, but offsets that leave out the space before a word.

    Args:
        add_prefix_space: whether the pre-tokenizer put a space before the text.
        trim_offsets: False: leave the offsets as they are.
        use_regex: says nothing here; the library writes it.
    """

    add_prefix_space: bool = True
    trim_offsets: bool = True
    use_regex: bool = True

    @property
    def named(self) -> dict[str, int]:
        """The special tokens that it adds: none."""
        return {}

    def added_tokens(self, pair: bool) -> int:
        """How many special tokens a text (or a pair) gets: none."""
        return 0

    def process_encodings(
        self, encodings: list[Encoding], add_special_tokens: bool
    ) -> list[Encoding]:
        """Each text with trimmed offsets."""
        if self.trim_offsets:
            encodings = [_trimmed(encoding, self.add_prefix_space) for encoding in encodings]
        return [encoding.with_sequence(i) for i, encoding in enumerate(encodings)]


SPACE = BYTE_TO_CHARACTER[ord(" ")]


def _trimmed(encoding: Encoding, add_prefix_space: bool) -> Encoding:
    """The encoding and its overflowing parts, their offsets without the spaces of each token."""
    spans = [
        _trimmed_span(place, token, span, add_prefix_space)
        for place, (token, span) in enumerate(zip(encoding.tokens, encoding.offsets, strict=True))
    ]
    parts = [_trimmed(part, add_prefix_space) for part in encoding.overflowing]
    return replace(encoding, offsets=spans, overflowing=parts)


def _trimmed_span(place: int, token: str, span: Span, add_prefix_space: bool) -> Span:
    """The characters of a token without the spaces at its ends."""
    start, end = span
    spaces = SPACE + white_space()
    leading = len(token) - len(token.lstrip(spaces))
    trailing = len(token) - len(token.rstrip(spaces))
    if leading == 1 and add_prefix_space and (place == 0 or start == 0):
        leading = 0  # this space was not in the text: the pre-tokenizer put it there
    start = min(start + leading, end)
    if trailing <= end:
        end = max(end - trailing, start)
    return start, end


class Sequence(Component, frozen=True):
    """Several post-processors, one after the other."""

    processors: "tuple[Processor, ...]" = ()

    @property
    def named(self) -> dict[str, int]:
        """The special tokens that they add, with their ids."""
        return {token: id_ for each in self.processors for token, id_ in each.named.items()}

    def added_tokens(self, pair: bool) -> int:
        """How many special tokens a text (or a pair) gets."""
        return sum(each.added_tokens(pair) for each in self.processors)

    def process_encodings(
        self, encodings: list[Encoding], add_special_tokens: bool
    ) -> list[Encoding]:
        """What the last one makes of it."""
        for each in self.processors:
            encodings = each.process_encodings(encodings, add_special_tokens)
        return encodings


Processor = TemplateProcessing | BertProcessing | RobertaProcessing | ByteLevel | Sequence


def check_named(processor: Processor | None, token_to_id: Callable[[str], int | None]) -> None:
    """Check that a post-processor's special tokens are those of the vocabulary.

    Raises:
        CourseError: one is not in the vocabulary, or has another id there.
    """
    for token, id_ in processor.named.items() if processor else ():
        found = token_to_id(token)
        if found != id_:
            known = "lacks it" if found is None else f"gives it the id {found}"
            raise CourseError(
                f"The post-processor adds {token!r} with the id {id_}, but the vocabulary {known}.",
                "Add it with add_special_tokens, and make the post-processor with its id there: "
                "token_to_id.",
            )
