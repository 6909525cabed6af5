"""12.2 dynamic masks, 12.3 byte-level tokens and characters, 12.5 packed sentences."""

from itertools import pairwise
from random import Random
from typing import Any

import torch
from torch import Tensor

from lmcourse.labs.kit import Example, Task, normal
from lmcourse.labs.results import Result, read, shown
from lmcourse.labs.verdict import Wrong


def dynamic_masks(maskable: Tensor, examples: list[int], epochs: list[int], rate: float) -> Tensor:
    masks = []
    for row, (positions, example, epoch) in enumerate(zip(maskable, examples, epochs, strict=True)):
        generator = torch.Generator().manual_seed(example * 1000 + epoch)
        uniform = torch.rand(len(positions), generator=generator)
        masks.append((uniform < rate) & positions)
    return torch.stack(masks)


def _reads(seed: int, rate: float, *pairs: tuple[int, int]) -> Example:
    """Rows (example, epoch); one of them is read twice. Different positions are special."""
    order = Random(f"rows {seed}").sample([*pairs, pairs[0]], len(pairs) + 1)
    maskable = torch.ones(len(order), 120, dtype=torch.bool)
    for row, (example, _) in enumerate(order):
        maskable[row, [0, 5 + example % 7, 100 + example % 11]] = False
        maskable[row, 112 + example % 5 :] = False
    return maskable, [example for example, _ in order], [epoch for _, epoch in order], rate


def _first_equal(masks: Tensor, common: Tensor) -> Tensor:
    """For each row, the first row that has the same mask."""
    same = (masks[:, None, common] == masks[None, :, common]).all(-1)
    return same.double().argmax(1)


def _properties(returned: Any, maskable: Tensor, examples: Any, epochs: Any, rate: float) -> Any:
    """What every right answer has in common, whatever its random numbers are."""
    masks = read(returned, maskable).parts[0]
    if masks.shape != maskable.shape:
        shapes = f"shape {list(masks.shape)}; expected: {list(maskable.shape)}"
        raise Wrong(f"Your result: {shapes}, a row for each text.", "shape")
    if not bool(((masks == 0) | (masks == 1)).all()):
        raise Wrong("Your result contains other numbers than 0 and 1: return booleans.", "type")
    first = _first_equal(masks, maskable.all(0))
    numbers, chosen = maskable.sum().item(), masks.bool() & maskable
    deviation = (chosen.sum().item() / numbers - rate) / (rate * (1 - rate) / numbers) ** 0.5
    varies = (chosen.sum(1) - rate * maskable.sum(1)).abs().max() > 1.5
    special = (masks.bool() & ~maskable).any(1)
    return first, special, abs(deviation) < 5, bool(varies)


def _equal_masks(arguments: Example, value: Result, wanted: Result) -> str:
    """Two rows whose masks should differ, or agree; or another property."""
    _, examples, epochs, rate = arguments
    of = [f"text {i} in epoch {epoch}" for i, epoch in zip(examples, epochs, strict=True)]
    for row, (one, other) in enumerate(zip(*(v.parts[0].long().tolist() for v in (value, wanted)))):
        if one < other:
            return f"Two masks should differ, and are equal: {of[one]}, and {of[row]}."
        if one > other:
            return f"The rows {other} and {row} are both {of[row]}; their masks should be equal."
    if value.parts[1].any():
        return f"Positions that are not maskable are selected, as in {of[0]}."
    if not value.parts[2].item():
        return f"The selected share of the maskable positions differs too much from {rate:g}."
    return "All texts have nearly the same number of selected positions. Draw each position alone."


_PAIRS = [(5, 1), (1, 5), (2, 3), (3, 2), (6, 2), (4, 3), (12, 1), (0, 0), (0, 7), (7, 0), (1, 0)]
_DIGITS = [(23, 1), (3, 12), (1, 0), (0, 1), (5, 0), (0, 5), (0, 15), (0, 105), (1, 5), (15, 0)]
_LARGE = [(5, 1), *((step + 5, 0) for step in (10, 16, 100, 120, 1000, 1024, 10**4, 2**16, 10**5))]
_LARGE += [(10**6 + 5, 0), (2**20 + 5, 0), (9_999_999, 0), (9_999_999, 999), (0, 999), (5, 2)]

MASKS = Task(
    dynamic_masks,
    examples=[
        _reads(0, 0.15, *_PAIRS, (5, 2), (5, 3)),
        _reads(1, 0.3, *_DIGITS, (7, 4)),
        _reads(2, 0.2, *_LARGE),
    ],
    slips="""
A text has two different masks in one epoch: they depend on its row in the batch, or on what was
drawn before it. A run that is resumed would draw other masks.
    manual_seed(example * 1000 + epoch) -> manual_seed(row) ||
        manual_seed((example * 1000 + epoch) * 1000 + row)
Two texts with the same mask in an epoch: the number of the text has no effect.
    example * 1000 + epoch -> epoch
The mask of a text is the same in all epochs. That is static masking with one mask.
    example * 1000 + epoch -> example
All masks are equal: each row begins with the same seed.
    example * 1000 + epoch -> 0
The seed is a sum of the two numbers, so text 2 in epoch 3 has the mask of text 3 in epoch 2.
    example * 1000 + epoch -> example + epoch
The seed is a product: text 2 in epoch 3 has the mask of text 3 in epoch 2, and in epoch 0 all masks
are equal.
    example * 1000 + epoch -> example * epoch
    or
    example * 1000 + epoch -> (example + 1) * (epoch + 1)
The seed does not distinguish all pairs of a text and an epoch: a factor is too small, or digits are
joined. There are up to 10,000,000 texts and 1,000 epochs.
    example * 1000 + epoch -> example * 10 + epoch || example * 100 + epoch ||
        epoch * 10 + example || epoch * 100 + example || epoch * 1000 + example ||
        epoch * 10**4 + example || epoch * 10**5 + example || epoch * 10**6 + example ||
        int(f"{epoch}{example}") || int(f"{example}{epoch}")
Positions that are not maskable are selected, such as special tokens and padding.
    & positions -> | ~positions || | False
The masks have the wrong share of selected positions. A number is below `rate` with the probability
`rate`.
    < rate -> > rate || > 1 - rate / 2 || < rate / 2
    or
    (uniform < rate) -> (uniform < 2)
Each text has a fixed number of selected positions. Decide about each position independently.
    (uniform < rate) & positions -> (uniform + 2.0 * ~positions).argsort().argsort() <
        round(rate * int(positions.sum()))
""",
    result=_properties,
    names=("Equal masks", "Special positions", "The share", "The counts"),
    cause=_equal_masks,
    note="The mask of a text depends on its number and the epoch only, not on the batch, the number "
    "of processes, or an interruption. (`hash` of a string is no seed: Python changes it in every "
    "process.)",
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


_PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]
_BYTES = {chr(b): b for b in _PRINTABLE} | {chr(256 + i): b for i, b in enumerate(_OTHERS)}


def _cut(seed: int, text: str, share: float) -> Example:
    """The text with cuts between its bytes, before each space, and never after a word's space."""
    draw, letters = Random(f"cut {seed}"), {byte: c for c, byte in _BYTES.items()}
    tokens, data = [""], text.encode()
    for before, byte in pairwise(b"x" + data):
        if byte == 32 != before or (before != 32 and draw.random() < share):
            tokens.append("")
        tokens[-1] += letters[byte]
    tokens = [token for token in tokens if token]
    used = {c for token in tokens for c in token}
    return tokens, {c: byte for c, byte in _BYTES.items() if c in used}


def _which(arguments: Example, value: Result, wanted: Result) -> str:
    """The first token whose span differs."""
    tokens, byte_of = arguments
    text = bytes(byte_of[c] for token in tokens for c in token).decode()
    for i, (one, other) in enumerate(zip(value.parts[0].long(), wanted.parts[0].long())):
        if one.tolist() != other.tolist():
            start, end = other.tolist()
            return (
                f"In {text!r}, token {i} of {tokens[: i + 1]} has the span {shown(one)} in your "
                f"result; expected: {shown(other)}, {text[start:end]!r}."
            )
    return ""


SPANS = Task(
    spans,
    examples=[
        _cut(0, "un café", 0.5),
        _cut(1, "naïve 😀👍 ok", 0.6),
        _cut(2, "two   spaces, 書 😀", 0.7),
        _cut(3, " é書  ñandú\nends 👍 ", 0.8),
        (["ĠðŁ", "ĺ", "Ģ", "a", "Ġ", "ĠÃ", "©"], _BYTES),
    ],
    slips="""
These are positions of bytes, or of the token's letters, which are the same. é has two bytes and is
one character.
    not 0x80 <= byte < 0xC0 -> True
    start -= 1 -> pass
A token that continues a character has an empty span. The character belongs to each token that has
one of its bytes.
    start -= 1 -> pass
A character belongs to the token of its last byte only. It belongs to each token with one of its
bytes.
    begun += sum(not 0x80 <= byte < 0xC0 for byte in data) ->
        done = (done + data) if found else data; begun = len(done.decode(errors="ignore"))
    start -= 1 -> pass
The space before a word is part of the span. RoBERTa's spans begin after it.
    data.lstrip(b" ") -> data
    or
    rest = -> old = begun; rest =
    found.append((start, begun)) -> found.append((start if rest[:1] == data[:1] else old, begun))
Only one leading space is left out of the span; a token may have several.
    data.lstrip(b" ") -> data.removeprefix(b" ")
A token of spaces only has an empty span, (end, end).
    len(data) - len(rest) -> (len(data) - len(rest) if rest else 0)
Spaces are not counted. They are characters of the text, even if no span contains them.
    sum(not 0x80 <= byte < 0xC0 for byte in data) -> sum(not 0x80 <= byte < 0xC0 for byte in rest)
    begun + len(data) - len(rest) -> begun
Each token is decoded by itself: every part of a character becomes a �, or nothing, and all later
positions are wrong. Count the bytes that *begin* a character.
    sum(not 0x80 <= byte < 0xC0 for byte in data) -> len(data.decode(errors="replace")) ||
        len(data.decode(errors="ignore"))
    start -= 1 -> pass || start -= 1
The end of a span is the position after its last character: `text[start:end]` is the token's text.
    found.append((start, begun)) -> found.append((start, begun - 1))
The second number is a length. It should be the position where the span ends.
    found.append((start, begun)) -> found.append((start, begun - start))
""",
    cause=_which,
    tolerance=1e-9,
    note="These are the offsets of RoBERTa's tokenizer in the `tokenizers` library "
    "(`trim_offsets=True`). An answer from token i to token j is the text from the start of i to "
    "the end of j, with no broken character and no leading space.",
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
    if current:
        packed.append(current)
    return packed


SEP = 2


def _documents(seed: int, length: int, *sizes: tuple[int, ...]) -> Example:
    """Documents of sentences of these lengths, with consecutive ids."""
    documents, last = list[list[list[int]]](), 10 * seed + 10
    for document in sizes:
        documents.append([])
        for size in document:
            documents[-1].append([*range(last, last + size)])
            last += size
    return documents, length, SEP


def _flat(returned: Any, *_: Any) -> tuple[Tensor, Tensor]:
    """The lengths of the sequences, and their tokens one after the other."""
    if not isinstance(returned, (list, tuple)):
        raise Wrong("Return a list of sequences, each a list of ids.", "type")
    rows = [read(row, [0]).parts[0] for row in returned[:1000]]
    if any(row.ndim != 1 for row in rows):
        raise Wrong("Return a list of sequences, each a list of ids.", "type")
    lengths = torch.tensor([len(row) for row in rows])
    return lengths, torch.cat([*rows, torch.empty(0, dtype=torch.float64)])


def _first_sequence(arguments: Example, value: Result, wanted: Result) -> str:
    """The first sequence that differs."""
    yours, right = (
        [row.long().tolist() for row in parts[1].split(parts[0].long().tolist())]
        for parts in (value.parts, wanted.parts)
    )
    documents, length, _ = arguments
    given = f"For documents with sentences of {[[*map(len, each)] for each in documents]} tokens"
    given += f" and `length = {length}`"
    for i in range(max(len(yours), len(right))):
        if yours[i : i + 1] != right[i : i + 1]:
            one, other = ((rows[i] if i < len(rows) else "none") for rows in (yours, right))
            return f"{given}, sequence {i} is {one}; expected: {other}."
    return ""


PACKING = Task(
    full_sentences,
    examples=[
        _documents(0, 8, (3, 4), (2, 3), (5,)),
        _documents(1, 10, (4, 6, 3), (6, 2), (7,), (2, 2, 3, 1)),
        _documents(2, 6, (2, 4), (5, 1), (6,), (1, 1, 1), (2,)),
        _documents(3, 9, (4, 3, 5, 2), (1,), (1,), (8, 1, 7), (3, 3)),
    ],
    edge_cases={
        "where a sentence is longer than `length`": _documents(4, 5, (3, 12, 2), (7,), (4, 1)),
        "where a document is empty": _documents(5, 9, (3,), (), (4,), (), (), (5, 2)),
        "without documents": ([], 4, SEP),
    },
    slips="""
There is no separator between two documents.
    [sep] if border and current else [] -> []
Each document begins a new sequence. That is DOC-SENTENCES; FULL-SENTENCES continues.
    border = True -> border = True; packed += [current] if current else []; current = []
There is a separator at the end of every document, also where a sequence ends. It should be
*between* two documents of the same sequence.
    border = True -> border = True; current = current + [sep] if current and len(current) < length
        else current
    [sep] if border and current else [] -> []
    or
    return packed -> return [[*row, sep] for row in packed]
    or
    border = True -> border = True;
        current = current + [sep] if current else current
    [sep] if border and current else [] -> []
A sequence begins with a separator. Between two documents of different sequences there is none.
    current, between = [], [] -> current = []
    or
    [sep] if border and current else [] -> [sep] if border else []
    current, between = [], [] -> current = []
    or
    [sep] if border and current else [] -> [sep] if border else []
The separator does not count, so a sequence is too long. `length` includes it.
    len(current) + len(between) + len(piece) -> len(current) + len(piece)
Room is reserved for a separator where none is needed: only between two documents.
    + len(between) + -> + 1 +
A sequence that would be exactly `length` tokens long is not used. It fits.
    len(piece) > length -> len(piece) >= length
There is a separator between any two sentences. It marks the border of documents.
    if border and current -> if current
Sentences are cut to fill a sequence. One that does not fit begins the next sequence.
    current, between = [], [] -> room = max(0, length - len(current) - len(between));
        packed[-1] = current + (between + piece[:room] if room else []);
        current, between, piece = [], [], piece[room:]
    or
    return packed -> flat = [i for row in packed for i in row];
        return [flat[i : i + length] for i in range(0, len(flat), length)]
A sentence that does not fit is lost. It begins the next sequence.
    current, between = [], [] -> current, between, piece = [], [], []
The last sequence is missing: it is complete when the documents end.
    if current: -> if False:
A sentence that is longer than `length` is truncated, lost, or too long. Divide it into pieces.
    range(0, len(sentence), length) -> range(0, min(1, len(sentence))) ||
        range(0, len(sentence) if len(sentence) <= length else 0, length)
    or
    range(0, len(sentence), length) -> [0] if sentence else []
    sentence[at : at + length] -> sentence
""",
    result=_flat,
    names=("The lengths of the sequences", "The tokens, in order"),
    cause=_first_sequence,
    tolerance=1e-9,
    note="RoBERTa was pretrained on such sequences of up to 512 tokens, with less padding than pairs "
    "or single documents need.",
)
