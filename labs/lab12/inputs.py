"""Dynamic masks, byte-level tokens and characters, packed sentences."""

import builtins
import sys
from itertools import count, islice, pairwise, zip_longest
from random import Random
from typing import Any
from unittest import mock

import torch
from torch import Tensor

from lmcourse.labs import guards
from lmcourse.labs.answer import Answer
from lmcourse.labs.kit import Example, Task
from lmcourse.labs.results import Result, read
from lmcourse.labs.verdict import Wrong


def dynamic_masks(maskable: Tensor, examples: list[int], epochs: list[int], rate: float) -> Tensor:
    masks = []
    for positions, example, epoch in zip(maskable, examples, epochs, strict=True):
        generator = torch.Generator().manual_seed(example * 1000 + epoch)
        uniform = torch.rand(len(positions), generator=generator)
        masks.append((uniform < rate) & positions)
    return torch.stack(masks)


def _reads(rate: float, *pairs: tuple[int, int], end: int = 120) -> Example:
    """Sixty rows: these pairs (text, epoch), the first one twice, and others."""
    draw = Random(f"rows {rate}")
    others = [(draw.randrange(2000, 900_000), draw.randrange(1000)) for _ in range(59)]
    order = draw.sample([*pairs, pairs[0], *others[len(pairs) :]], 60)
    maskable = torch.ones(60, 120, dtype=torch.bool)
    for row, (example, _) in enumerate(order):  # the texts have different special positions
        maskable[row, [0, 5 + example % 7, 100 + example % 11]] = False
        maskable[row, min(end, 112 + example % 5) :] = False
    return maskable, [example for example, _ in order], [epoch for _, epoch in order], rate


def _properties(returned: Any, maskable: Tensor, examples: Any, epochs: Any, rate: float) -> Any:
    """What every right answer has in common, whatever its random numbers are."""
    masks = read(returned, maskable).parts[0]
    if masks.shape != maskable.shape or bool(((masks != 0) & (masks != 1)).any()):
        raise Wrong("Return booleans, of the same shape as `maskable`: [batch, time].", "shape")
    windows = masks[:, 12:100].unfold(1, 72, 1)  # shifted by up to 8 positions
    codes = (windows.unflatten(-1, (2, 36)).long() << torch.arange(36)).sum(-1)  # two integers each
    first = (codes[:, 8, None, None] == codes).all(-1).any(-1).double().argmax(1)  # equal row
    numbers, chosen = maskable.sum(1), (masks * maskable).sum(1)
    if maskable.sum() > 300 and ((chosen == 0) | (chosen == numbers)).all():
        raise Wrong("All positions of a text are selected, or none. Draw a number for each.")
    variance = rate * (1 - rate) * numbers
    share = (chosen - rate * numbers).sum().abs() < 5 * variance.sum().sqrt()
    spread = ((chosen - rate * numbers) ** 2 / variance).mean()  # near 1 for independent positions
    return first, (masks > maskable).any(), share, (spread > 0.4).int() + (spread > 2.2).int()


def _property(arguments: Example, value: Result, wanted: Result) -> str:
    """Two rows whose masks should differ, or agree; else another property that is missing."""
    of = [f"text {i} in epoch {epoch}" for i, epoch in zip(*arguments[1:3], strict=True)]
    pairs = zip(*(each.parts[0].long().tolist() for each in (value, wanted)), strict=True)
    for row, (one, other) in enumerate(pairs):
        if one < other:
            return f"Two masks are equal, or equal when shifted: {of[one]}, and {of[row]}."
        if one > other:
            return f"The mask of {of[row]} depends on its row in the batch, or on earlier draws."
    where = "Where a text has four maskable positions, t" if arguments[0].sum() < 300 else "T"
    return f"{where}he selected share is not near `rate`, or the positions are not independent."


_usual_hash = hash


def _hash(value: object) -> int:
    """`hash`, which an answer may not call for a text."""
    texts = value if isinstance(value, tuple) else (value,)
    theirs = not guards.is_library(sys._getframe(1).f_code.co_filename)
    if theirs and any(isinstance(each, (str, bytes)) for each in texts):
        raise Wrong(
            "`hash` of a string changes with every start of Python, so the same text would have "
            "another mask tomorrow. Make the seed from the two numbers."
        )
    return _usual_hash(value)


class _Masks(Task):
    """The mask of a text is also the same in a batch with other texts and more padding."""

    def __call__(self, answer: Answer) -> str:
        with mock.patch.object(builtins, "hash", _hash):
            return self._judged(answer)

    def _judged(self, answer: Answer) -> str:
        note = super().__call__(answer)
        maskable, examples, epochs, rate = self.examples[0]
        pairs = [divmod(i if i < 1100 else i * 300_001, 1000) for i in range(3100)]
        wide = torch.cat([torch.ones(3100, 128), torch.nn.functional.pad(maskable, (0, 8))]).bool()
        batch = wide, [i for i, _ in pairs] + examples, [j for _, j in pairs] + epochs, rate
        take = lambda found, copies: read(found, copies[0]).parts[0]  # noqa: E731
        one, other = (answer.call(each, take) for each in (self.examples[0], batch))
        if not torch.equal(one, other[3100:, :120]):
            raise Wrong("The mask of a text depends on other texts of its batch, or on padding.")
        if len(other[:3100].unique(dim=0)) < 3100:
            raise Wrong("Of 3,100 pairs of a text and an epoch, some have the same mask and seed.")
        return note


_SMALL = [(5, 1), (1, 5), (2, 3), (3, 2), (6, 2), (4, 3), (12, 1), (0, 0), (0, 7), (7, 0), (1, 0)]
_DIGITS = [(23, 1), (3, 12), (1, 0), (0, 1), (5, 0), (0, 5), (0, 15), (0, 105), (1, 5), (15, 0)]
_STEPS = (10, 16, 60, 100, 120, 1000, 1024, 10**4, 2**16, 10**5, 2**19, 999_994)
_LARGE = [(5, 1), *((step + 5, 0) for step in _STEPS), (999_999, 1), (0, 1), (1, 0), (0, 999)]
_READS = _reads(0.15, *_SMALL), _reads(0.3, *_DIGITS), _reads(0.2, *_LARGE)

MASKS = _Masks(
    dynamic_masks,
    examples=[*_READS, _reads(0.1, (3, 4), end=5)],
    slips="""
The number of the text has no effect: all texts of an epoch have the same mask.
    example * 1000 + epoch -> epoch || 0
The epoch of a row does not change its mask. One mask for each text is static masking.
    example * 1000 + epoch -> example
The seed is a sum or a product, so text 2 in epoch 3 has the mask of text 3 in epoch 2.
    example * 1000 + epoch -> example + epoch || example * epoch || (example + 1) * (epoch + 1)
Some pairs of a text and an epoch have the same seed: a factor is too small, or digits are joined.
    example * 1000 + epoch -> example * 100 + epoch || epoch * 1000 + example ||
        epoch * 10**5 + example || int(f"{epoch}{example}") || int(f"{example}{epoch}")
Positions that are not maskable are selected, such as special tokens and padding.
    & positions -> | ~positions || | False
The share of selected positions is wrong: a number is *below* `rate` with the probability `rate`.
    (uniform < rate) -> (uniform > rate) || (uniform < rate / 2)
Each text has a fixed number of selected positions. Decide about each position independently.
    (uniform < rate) & positions -> (uniform + 2.0 * ~positions).argsort().argsort() <
        round(rate * int(positions.sum())) || max(1, round(rate * int(positions.sum())))
""",
    result=_properties,
    cause=_property,
    note="`hash` of a string would be no seed: it changes with every start of Python.",
)


def spans(tokens: list[str], byte_of: dict[str, int]) -> list[tuple[int, int]]:
    found, begun = list[tuple[int, int]](), 0
    for token in tokens:
        data = bytes(byte_of[c] for c in token)
        rest = data.lstrip(b" ")
        start = begun + len(data) - len(rest)
        if rest and 0x80 <= rest[0] < 0xC0:
            start -= 1
        begun += sum(not 0x80 <= byte < 0xC0 for byte in data)
        found.append((start, begun))
    return found


_KEPT = [*range(33, 127), *range(161, 173), *range(174, 256)]
_BYTES = [*_KEPT, *sorted({*range(256)} - {*_KEPT})]
_LETTERS = {chr(code): byte for code, byte in zip([*_KEPT, *range(256, 324)], _BYTES, strict=True)}


def _cut(text: str, *cuts: int) -> Example:
    """The text with cuts before some of its bytes."""
    data, letter = text.encode(), {byte: c for c, byte in _LETTERS.items()}
    tokens = [data[i:j] for i, j in pairwise([0, *cuts, len(data)])]
    return ["".join(letter[byte] for byte in token) for token in tokens], _LETTERS


def _token(arguments: Example, value: Result, wanted: Result) -> str:
    """The first token whose span differs."""
    tokens, (one, other) = arguments[0], (v.parts[0].long().tolist() for v in (value, wanted))
    i = next(i for i in range(len(tokens)) if one[i] != other[i])
    text = bytes(_LETTERS[c] for c in "".join(tokens)).decode()
    where = f"In {text!r}, the span of token {i}, the last one of {tokens[max(0, i - 4) : i + 1]},"
    return f"{where} is {one[i]}; expected: {other[i]}, {text[slice(*other[i])]!r}."


SPANS = Task(
    spans,
    examples=[
        *(_cut("un café", 2, 6), _cut("naïve 😀👍 ok", 1, 3, 4, 6, 8, 10, 11, 13, 15)),
        *(_cut("two   spaces, 書 😀 ", 3, 5, 13, 15, 17, 19, 20, 22), _cut("😀a", 3)),
        _cut(" ¿é書  ñandú\nends 👍 ", 2, 4, 6, 7, 8, 11, 13, 16, 17, 22, 24, 25, 27),
    ],
    edge_cases={"where a token has a space after a letter": _cut("on e  é ok", 4, 9)},
    slips="""
These are positions of bytes, or of the tokens' letters. é has two bytes and is one character.
    not 0x80 <= byte < 0xC0 -> True
    start -= 1 -> pass
    data.lstrip(b" ") -> data.lstrip(b" ") || data
A token that only continues a character has an empty span. The character belongs to it, too.
    start -= 1 -> pass
A character belongs to the token of its last byte only. It belongs to each of its tokens.
    begun += sum(not 0x80 <= byte < 0xC0 for byte in data) ->
        done = (done + data) if found else data; begun = len(done.decode(errors="ignore"))
    start -= 1 -> pass
Spaces before a word are part of the span, all or all but one. RoBERTa's spans begin after them.
    data.lstrip(b" ") -> data || data.removeprefix(b" ")
A token of spaces only has an empty span, (end, end).
    len(data) - len(rest) -> (len(data) - len(rest) if rest else 0)
    (start, begun) -> (start, begun) || (start, begun if rest else start)
Spaces are not counted. They are characters of the text, even if no span contains them.
    for byte in data) -> for byte in rest)
    begun + len(data) - len(rest) -> begun
Only bytes from 0x80 to 0xBF continue a character. One from 0xC0 on begins a character.
    not 0x80 <= byte < 0xC0 for -> byte < 0x80 for
    if rest and 0x80 <= rest[0] < 0xC0 -> if rest and rest[0] >= 0x80
Each token is decoded by itself, which loses parts of characters. Count the bytes that begin one.
    sum(not 0x80 <= byte < 0xC0 for byte in data) -> len(data.decode(errors="replace")) ||
        len(data.decode(errors="ignore"))
    start -= 1 -> pass || start -= 1
The end of a span is the position after its last character, not that character, or a length.
    (start, begun) -> (start, begun - 1) || (start, begun - start)
""",
    cause=_token,
    note="These are the offsets that RoBERTa's tokenizer in the `tokenizers` library reports.",
)


def full_sentences(documents: list[list[list[int]]], length: int, sep: int) -> list[list[int]]:
    packed, current = list[list[int]](), list[int]()
    for sentences in documents:
        border = True
        for sentence in sentences:
            for at in range(0, len(sentence), length):
                piece = sentence[at : at + length]
                between = [sep] if border and current else []
                if current and len(current) + len(between) + len(piece) > length:
                    packed.append(current)
                    current, between = [], []
                current = current + between + piece
                border = False
    return [*packed, current] if current else packed


def _documents(seed: int, length: int, *sizes: tuple[int, ...]) -> Example:
    """Documents of sentences of these lengths, with consecutive ids."""
    ids = count(10 * seed + 10)
    return [[[*islice(ids, n)] for n in document] for document in sizes], length, 2 + seed


def _flat(returned: Any, *_: Any) -> tuple[Tensor, ...]:
    """A zero, the lengths of the sequences, and their tokens one after the other."""
    rows = returned if isinstance(returned, (list, tuple)) else [0]
    found = [read(row, [0]).parts[0] for row in rows[:1000]]
    if any(row.ndim != 1 for row in found):
        raise Wrong("Return a list of sequences, each a list of ids.", "type")
    tokens = torch.cat([*found, torch.empty(0, dtype=torch.float64)])
    return torch.zeros(()), torch.tensor([len(row) for row in found]), tokens


def _sequence(arguments: Example, value: Result, wanted: Result) -> str:
    """The first sequence that differs."""
    sizes = [[*map(len, document)] for document in arguments[0]]
    split = [v.parts[2].long().split(v.parts[1].long().tolist()) for v in (value, wanted)]
    both = ([row.tolist() for row in rows] for rows in split)
    rows = enumerate(zip_longest(*both, fillvalue=["no sequence"]))
    i, one, other = next(((i, *pair) for i, pair in rows if pair[0] != pair[1]), (0, [], []))
    cause = (
        "A sequence begins or ends with a separator. " if arguments[2] in one[:1] + one[-1:] else ""
    )
    where = f"For documents with sentences of {sizes} tokens and `length = {arguments[1]}`,"
    return f"{cause}{where} sequence {i} is {one}; expected: {other}."


PACKING = Task(
    full_sentences,
    examples=[
        *(_documents(0, 8, (3, 4), (2, 3), (5,)), _documents(1, 6, (2, 4), (5, 1), (6,), (1, 1))),
        _documents(2, 10, (4, 6, 3), (6, 2), (7,), (2, 2, 3, 1)),
        *(_documents(3, 9, (4, 3, 5, 2), (1,), (1,), (8, 1, 7), (3, 3)), ([], 4, 2)),
    ],
    edge_cases={
        "where two documents are equal": ([[[7, 8], [9]], [[7, 8], [9]]], 8, 2),
        "where a sentence is longer than `length`": _documents(4, 5, (3, 12, 2), (7,), (4, 1)),
        "where a document is empty": _documents(5, 9, (3,), (), (4,), (), (), (5, 2)),
    },
    slips="""
There is no separator between two documents.
    [sep] if border and current else [] -> []
Each document begins a new sequence. That is DOC-SENTENCES; FULL-SENTENCES continues.
    border = True -> border = True; packed += [current] if current else []; current = []
A sequence begins with a separator. Between two documents of different sequences there is none.
    current, between = [], [] -> current = []
The separator does not count, so a sequence is too long. `length` includes it.
    len(current) + len(between) + len(piece) -> len(current) + len(piece)
A sequence is one token shorter than it could be: its tokens fit if they are exactly `length`.
    len(piece) > length -> len(piece) >= length || len(piece) + 1 - len(between) > length
There is a separator between two sentences of the same document. It marks the border of documents.
    if border and current -> if current
Sentences are cut to fill a sequence. One that does not fit begins the next sequence.
    current, between = [], [] -> room = max(0, length - len(current) - len(between));
        packed[-1] = current + (between + piece[:room] if room else []);
        current, between, piece = [], [], piece[room:]
A sentence that does not fit is lost. It begins the next sequence.
    current, between = [], [] -> current, between, piece = [], [], []
The last sequence is missing: it is complete when the documents end.
    [*packed, current] if current else packed -> packed
A sentence that is longer than `length` is truncated, lost, or too long. Divide it into pieces.
    range(0, len(sentence), length) -> range(1) || range(len(sentence) <= length)
    sentence[at : at + length] -> sentence[at : at + length] || sentence
""",
    result=_flat,
    names=("", "The lengths of the sequences", "The tokens, in order"),
    cause=_sequence,
    note="RoBERTa read such sequences of up to 512 tokens, with hardly any padding.",
)
