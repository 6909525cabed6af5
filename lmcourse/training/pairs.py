"""From documents to examples: pairs of sentences, and the input formats that RoBERTa compared.

A document is a list of sentences, and a sentence a list of ids. The format decides what a model can
learn about coherence (chapters 10, 12, 13):

    segment_pairs     BERT's: two segments of several sentences each; at least half of the time, the
                      second is from another document, which the model predicts (NSP)
    sentence_pairs    the same with one sentence each
    full_sentences    sentences up to the maximal length, across documents; no label
    doc_sentences     the same, but not across documents
    swapped_pairs     ALBERT's: two consecutive segments; half of the time they are swapped, and the
                      model predicts whether they are (SOP). Both have the same topic, which does
                      not reveal the label, as it does in NSP.

The first four are those of Liu et al. (2019, "RoBERTa", section 4.2); the first is that of Devlin
et al. (2019, "BERT", section 3.1 and appendix A.2) and its published code; the last is that of Lan
et al. (2020, "ALBERT", section 3.1).

Examples have the form of `lmcourse.training.examples`. ``next_sentence_label`` and
``sentence_order_label`` are 0 where B follows A. All random choices depend on the seed: use another
one for each pass over the text, so that each has other pairs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import Any

from lmcourse.errors import CourseError

Text = list[int]
Document = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Frame:
    """The special tokens around a text: [CLS] A [SEP], or [CLS] A [SEP] B [SEP].

    Args:
        cls, sep: their ids.
        max_length: of an example, special tokens included.
        separators: the number of [SEP] between A and B: 1, or RoBERTa's 2.
    """

    cls: int
    sep: int
    max_length: int = 512
    separators: int = 1

    @property
    def text_length(self) -> int:
        """The maximal number of tokens of a single text."""
        return self.max_length - 2

    @property
    def pair_length(self) -> int:
        """The maximal number of tokens of two texts together."""
        return self.max_length - 2 - self.separators

    def single(self, *texts: Text) -> dict[str, Any]:
        """The example of one text; or of several, each followed by [SEP], in one segment."""
        ids, special = [self.cls], [1]
        for text in texts:
            ids += [*text, self.sep]
            special += [*[0] * len(text), 1]
        return _example(ids, [0] * len(ids), special)

    def pair(self, a: Text, b: Text, **label: int) -> dict[str, Any]:
        """The example of two texts: B and the last [SEP] are segment 1."""
        between = [self.sep] * self.separators
        first, second = [self.cls, *a, *between], [*b, self.sep]
        special = [1, *[0] * len(a), *[1] * len(between), *[0] * len(b), 1]
        segments = [0] * len(first) + [1] * len(second)
        return _example(first + second, segments, special) | label


def segment_pairs(
    documents: Sequence[Document], frame: Frame, *, seed: int = 0, short: float = 0.1
) -> list[dict[str, Any]]:
    """BERT's pairs, with ``next_sentence_label``: 0 if B follows A, 1 if it is a random one.

    Sentences are collected until they fill an example, and split at random into A and B. In half of
    the cases, B is replaced by sentences of another document that fill the example; the original B
    then begins the next example, so that no text is lost. If both are still too long, the longer
    one loses tokens, at its start or its end at random.

    A single sentence cannot be split: where one fills an example, or is a document's last, B is
    always random, as in the published code. So more than half of the pairs are random: 56 to 57 %
    for BookWorld's reviews, with words as tokens, at lengths from 32 to 128.

    Args:
        short: the probability that an example has a random length from 2 up, as later tasks may
            have shorter texts.
    """
    texts, draw = nonempty(documents, 2), Random(seed)
    examples = []
    for d, document in enumerate(texts):
        at = 0
        while at < len(document):
            target = _target(frame, short, draw)
            end = _end(document, at, target)
            cut = at + (draw.randint(1, end - at - 1) if end - at > 1 else 1)
            a, follows = _joined(document[at:cut]), end > cut and draw.random() < 0.5
            if follows:
                b, at = _joined(document[cut:end]), end
            else:
                other, start = _elsewhere(texts, d, draw)
                b = _joined(other[start : _end(other, start, target - len(a))])
                at = cut
            a, b = _truncated(a, b, frame.pair_length, draw)
            examples.append(frame.pair(a, b, next_sentence_label=int(not follows)))
    return examples


def sentence_pairs(
    documents: Sequence[Document], frame: Frame, *, seed: int = 0
) -> list[dict[str, Any]]:
    """Pairs of one sentence each, else as `segment_pairs`.

    They are much shorter: for a fair comparison, let batches have as many tokens (``max_tokens``),
    as in the paper.
    """
    texts, draw = nonempty(documents, 2), Random(seed)
    examples = []
    for d, document in enumerate(texts):
        at = 0
        while at < len(document):
            a, follows = document[at], at + 1 < len(document) and draw.random() < 0.5
            if follows:
                b, at = document[at + 1], at + 2
            else:
                other, start = _elsewhere(texts, d, draw)
                b, at = other[start], at + 1
            a, b = _truncated(a, b, frame.pair_length, draw)
            examples.append(frame.pair(a, b, next_sentence_label=int(not follows)))
    return examples


def swapped_pairs(
    documents: Sequence[Document], frame: Frame, *, seed: int = 0, short: float = 0.1
) -> list[dict[str, Any]]:
    """ALBERT's pairs, with ``sentence_order_label``: 0 if they are in order, 1 if swapped.

    Built as in `segment_pairs`, but both segments are always consecutive. A single last sentence
    has no successor, and is left out. (The published code pairs it with a random one.)
    """
    draw = Random(seed)
    examples = []
    for document in nonempty(documents, 1):
        at = 0
        while at + 1 < len(document):
            end = max(at + 2, _end(document, at, _target(frame, short, draw)))
            cut = at + draw.randint(1, end - at - 1)
            a, b = _joined(document[at:cut]), _joined(document[cut:end])
            at, swapped = end, draw.random() < 0.5
            a, b = _truncated(a, b, frame.pair_length, draw)
            pair = (b, a) if swapped else (a, b)
            examples.append(frame.pair(*pair, sentence_order_label=int(swapped)))
    return examples


def full_sentences(documents: Sequence[Document], frame: Frame) -> list[dict[str, Any]]:
    """Whole sentences up to the maximal length, across documents.

    An additional [SEP] separates two documents. A sentence that is longer than an example is split;
    no text is lost.
    """
    return list(_packed(nonempty(documents, 1), frame, across=True))


def doc_sentences(documents: Sequence[Document], frame: Frame) -> list[dict[str, Any]]:
    """The same, but each example is from one document: the last of a document may be short."""
    return list(_packed(nonempty(documents, 1), frame, across=False))


def nonempty(documents: Iterable[Document], minimum: int) -> list[list[Text]]:
    """The documents without empty sentences and empty documents."""
    found = [[[int(id_) for id_ in sentence] for sentence in each] for each in documents]
    left = [sentences for each in found if (sentences := [text for text in each if text])]
    if len(left) < minimum:
        raise CourseError(
            f"{len(left)} of {len(found)} documents have text.",
            f"Provide at least {minimum}. (A random next sentence is one of another document.)",
        )
    return left


def _example(ids: list[int], segments: list[int], special: list[int]) -> dict[str, Any]:
    return {"input_ids": ids, "token_type_ids": segments, "special_tokens_mask": special}


def _packed(documents: list[list[Text]], frame: Frame, *, across: bool) -> Iterator[dict[str, Any]]:
    texts: list[Text] = []  # of the example that is being filled: one from each document
    for document in documents:
        if texts and not across:
            yield frame.single(*texts)
            texts = []
        texts.append([])
        for sentence in document:
            for start in range(0, len(sentence), frame.text_length):
                piece = sentence[start : start + frame.text_length]
                size = sum(map(len, texts)) + len(texts) - 1  # with the [SEP] between them
                if size + len(piece) > frame.text_length:
                    yield frame.single(*filter(None, texts))
                    texts = [[]]
                texts[-1] += piece
    yield frame.single(*texts)


def _target(frame: Frame, short: float, draw: Random) -> int:
    """How many tokens both segments have together, before truncation."""
    if draw.random() < short:
        return draw.randint(2, frame.pair_length)
    return frame.pair_length


def _end(document: list[Text], start: int, target: int) -> int:
    """The index after the sentence that reaches so many tokens; at least one sentence."""
    end, size = start + 1, len(document[start])
    while size < target and end < len(document):
        size, end = size + len(document[end]), end + 1
    return end


def _elsewhere(documents: list[list[Text]], own: int, draw: Random) -> tuple[list[Text], int]:
    """Another document, and the index of a sentence in it."""
    other = draw.randrange(len(documents) - 1)
    document = documents[other + (other >= own)]
    return document, draw.randrange(len(document))


def _truncated(a: Text, b: Text, length: int, draw: Random) -> tuple[Text, Text]:
    """Both texts; while they are too long, the longer one loses its first or last token."""
    a, b = list(a), list(b)
    while len(a) + len(b) > length:
        longer = a if len(a) > len(b) else b
        longer.pop(0 if draw.random() < 0.5 else -1)
    return a, b


def _joined(sentences: list[Text]) -> Text:
    return [*chain.from_iterable(sentences)]
