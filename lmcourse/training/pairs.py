"""From documents to examples: pairs of sentences, and the input formats that RoBERTa compared.

A document is a list of sentences, and a sentence a list of ids, or a tokenizer's encoding (see
`lmcourse.training.documents`). What is packed into an example decides what a model can learn of
coherence (chapters 10, 12, 13):

    segment_pairs     BERT's: two segments of several sentences each; half of the time, the second
                      is from another document, and the model is asked whether it is (NSP)
    sentence_pairs    the same with one sentence each
    full_sentences    sentences up to the maximal length, over the borders of documents; no question
    doc_sentences     the same, but not over the borders
    swapped_pairs     ALBERT's: two neighboring segments; half of the time they are swapped, and the
                      model is asked whether they are (SOP). Both are about one thing, so topics do
                      not give the answer away, as they do with NSP.

The four that come first are those of Liu et al. (2019, "RoBERTa", section 4.2); the first is Devlin
et al. (2019, "BERT", section 3.1 and appendix A.2) and its published code; the last is Lan et al.
(2020, "ALBERT", section 3.1).

Examples are as `lmcourse.training.examples` describes them; of encodings, they have ``word_ids``,
by which words and spans can be masked as a whole. ``next_sentence_label`` and
``sentence_order_label`` are 0 where B follows A. All draws come from the seed: give another one for
each pass over the text, and each will have other pairs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from lmcourse.models.inputs import whole_number
from lmcourse.training.documents import Document, Token, columns, with_text

Text = list[Token]


@dataclass(frozen=True)
class Frame:
    """The special tokens around a text: [CLS] A [SEP], or [CLS] A [SEP] B [SEP].

    Args:
        cls, sep: their ids.
        max_length: of an example, special tokens included.
        separators: how many [SEP] stand between A and B: 1, or RoBERTa's 2.
    """

    cls: int
    sep: int
    max_length: int = 512
    separators: int = 1

    def __post_init__(self) -> None:
        whole_number(self.cls, "cls", type(self).__name__, 0)
        whole_number(self.sep, "sep", type(self).__name__, 0)
        whole_number(self.separators, "separators", type(self).__name__)
        whole_number(self.max_length, "max_length", type(self).__name__, self.separators + 4)

    @property
    def room(self) -> int:
        """How many tokens a text alone may have."""
        return self.max_length - 2

    @property
    def room_for_two(self) -> int:
        """How many tokens two texts may have together."""
        return self.max_length - 2 - self.separators

    def single(self, *texts: Text) -> dict[str, Any]:
        """The example of one text; or of several, with a [SEP] behind each, in one segment."""
        end = Token(self.sep)
        tokens = [Token(self.cls), *(token for text in texts for token in (*text, end))]
        return columns(tokens, [0] * len(tokens))

    def pair(self, a: Text, b: Text, **label: int) -> dict[str, Any]:
        """The example of two texts: B and the last [SEP] are segment 1."""
        end = Token(self.sep)
        first, second = [Token(self.cls), *a, *[end] * self.separators], [*b, end]
        return columns(first + second, [0] * len(first) + [1] * len(second)) | label


def segment_pairs(
    documents: Sequence[Document], frame: Frame, *, seed: int = 0, short: float = 0.1
) -> list[dict[str, Any]]:
    """BERT's pairs, with ``next_sentence_label``: 0 if B follows A, 1 if it is a random one.

    Sentences are taken until they fill an example, and split at random into A and B. In half of
    the cases, B is replaced by sentences of another document, as many as there is room for; what
    was B before is then read again, as the beginning of the next example. So no text is lost. What
    is still too long loses tokens of the longer text, from its front or its back at random.

    One sentence cannot be split into two: where a single one fills an example, or is a document's
    last, B is always random, as in the published code. So more than half of the pairs are random:
    of BookWorld's reviews, with words as tokens, 56 to 57 % at lengths from 32 to 128.

    Args:
        short: the probability that an example is shorter than it might be, of a random length from
            2 up: so that texts of a later task, which are shorter, are nothing new.

    Raises:
        CourseError: there are not two documents with text.
    """
    read, draw = with_text(documents, 2), Random(seed)
    examples = []
    for d, document in enumerate(read):
        at = 0
        while at < len(document):
            target = _target(frame, short, draw)
            end = _end(document, at, target)
            cut = at + (draw.randint(1, end - at - 1) if end - at > 1 else 1)
            a, follows = _joined(document[at:cut]), end > cut and draw.random() < 0.5
            if follows:
                b, at = _joined(document[cut:end]), end
            else:
                other, start = _elsewhere(read, d, draw)
                b = _joined(other[start : _end(other, start, target - len(a))])
                at = cut
            a, b = _fitted(a, b, frame.room_for_two, draw)
            examples.append(frame.pair(a, b, next_sentence_label=int(not follows)))
    return examples


def sentence_pairs(
    documents: Sequence[Document], frame: Frame, *, seed: int = 0
) -> list[dict[str, Any]]:
    """Pairs of one sentence each, else as `segment_pairs`.

    They are much shorter: to compare fairly, give batches as many tokens (``max_tokens``), as the
    paper does.
    """
    read, draw = with_text(documents, 2), Random(seed)
    examples = []
    for d, document in enumerate(read):
        at = 0
        while at < len(document):
            a, follows = document[at], at + 1 < len(document) and draw.random() < 0.5
            if follows:
                b, at = document[at + 1], at + 2
            else:
                other, start = _elsewhere(read, d, draw)
                b, at = other[start], at + 1
            a, b = _fitted(a, b, frame.room_for_two, draw)
            examples.append(frame.pair(a, b, next_sentence_label=int(not follows)))
    return examples


def swapped_pairs(
    documents: Sequence[Document], frame: Frame, *, seed: int = 0, short: float = 0.1
) -> list[dict[str, Any]]:
    """ALBERT's pairs, with ``sentence_order_label``: 0 if they stand in order, 1 if swapped.

    Made as in `segment_pairs`, but both segments are always neighbors. A last sentence that is
    left alone has no neighbor, and is left out. (The published code gives it a random one.)

    Raises:
        CourseError: there is no document with text.
    """
    read, draw = with_text(documents, 1), Random(seed)
    examples = []
    for document in read:
        at = 0
        while at + 1 < len(document):
            end = max(at + 2, _end(document, at, _target(frame, short, draw)))
            cut = at + draw.randint(1, end - at - 1)
            a, b = _joined(document[at:cut]), _joined(document[cut:end])
            at, swapped = end, draw.random() < 0.5
            a, b = _fitted(a, b, frame.room_for_two, draw)
            pair = (b, a) if swapped else (a, b)
            examples.append(frame.pair(*pair, sentence_order_label=int(swapped)))
    return examples


def full_sentences(documents: Sequence[Document], frame: Frame) -> list[dict[str, Any]]:
    """Whole sentences up to the maximal length, over the borders of documents.

    Between two documents stands one more [SEP]. A sentence that is longer than an example is cut
    into pieces; no text is lost.

    Raises:
        CourseError: there is no document with text.
    """
    return list(_packed(with_text(documents, 1), frame, over_borders=True))


def doc_sentences(documents: Sequence[Document], frame: Frame) -> list[dict[str, Any]]:
    """The same, but each example is of one document: the last of a document may be short.

    Raises:
        CourseError: there is no document with text.
    """
    return list(_packed(with_text(documents, 1), frame, over_borders=False))


def _packed(
    documents: list[list[Text]], frame: Frame, *, over_borders: bool
) -> Iterator[dict[str, Any]]:
    texts: list[Text] = []  # of the example that is being filled: one of each document
    for document in documents:
        if texts and not over_borders:
            yield frame.single(*texts)
            texts = []
        texts.append([])
        for sentence in document:
            for start in range(0, len(sentence), frame.room):
                piece = sentence[start : start + frame.room]
                size = sum(map(len, texts)) + len(texts) - 1  # with the [SEP] between them
                if size + len(piece) > frame.room:
                    yield frame.single(*filter(None, texts))
                    texts = [[]]
                texts[-1] += piece
    yield frame.single(*texts)


def _target(frame: Frame, short: float, draw: Random) -> int:
    """How many tokens both segments are to have together."""
    if draw.random() < short:
        return draw.randint(2, frame.room_for_two)
    return frame.room_for_two


def _end(document: list[Text], start: int, target: int) -> int:
    """Behind the sentence with which so many tokens are reached; one sentence at least."""
    end, size = start + 1, len(document[start])
    while size < target and end < len(document):
        size, end = size + len(document[end]), end + 1
    return end


def _elsewhere(documents: list[list[Text]], own: int, draw: Random) -> tuple[list[Text], int]:
    """Another document, and a sentence of it to begin with."""
    other = draw.randrange(len(documents) - 1)
    document = documents[other + (other >= own)]
    return document, draw.randrange(len(document))


def _fitted(a: Text, b: Text, room: int, draw: Random) -> tuple[Text, Text]:
    """Both texts, cut token by token at the longer one until there is room for them."""
    a, b = list(a), list(b)
    while len(a) + len(b) > room:
        longer = a if len(a) > len(b) else b
        longer.pop(0 if draw.random() < 0.5 else -1)
    return a, b


def _joined(sentences: list[Text]) -> Text:
    return [token for sentence in sentences for token in sentence]
