"""WordPiece with spans, byte fallback, symbols."""

from random import Random
from typing import Any

import torch

from lmcourse.labs.kit import Example, Task
from lmcourse.labs.results import Result
from lmcourse.labs.verdict import Wrong


def wordpiece(text: str, vocab: dict[str, int], most: int) -> tuple[list[Any], ...]:
    pieces, after = [], 0
    for word in text.split():
        first = text.index(word, after)
        after, found, start = first + len(word), list[Any](), 0
        while start < len(word) <= most:
            mark = "##" if start else ""
            ends = [j for j in range(start + 1, len(word) + 1) if mark + word[start:j] in vocab]
            if not ends:
                found = []
                break
            end = ends[-1]
            found.append((vocab[mark + word[start:end]], first + start, first + end))
            start = end
        pieces += found or [(vocab["[UNK]"], first, after)]
    return [i for i, _, _ in pieces], [(begin, end) for _, begin, end in pieces]


_PIECES = """l lo low lowe [UNK] n new newest w wi wid s slow e es est t te test a ab un the
##l ##lo ##low ##o ##w ##e ##er ##r ##s ##st ##est ##t ##n ##new ##i ##é ##d ##de ##bc ##known"""
_SPLIT = """9lowest new  widest|9newer lower  low wow lo|7 tested unknown abc slows slowest|\
5lowlowlow unlowest west west|8the newest  lowestx wides lowlowlow low"""


def _known(text: str, most: int) -> Example:
    """The text with the pieces that occur in it: few enough to be shown."""
    ids = {piece: 3 * number + 5 for number, piece in enumerate(_PIECES.split())}
    return text, {it: ids[it] for it in ids if it.strip("#") in text or it == "[UNK]"}, most


WORDPIECE = Task(
    wordpiece,
    examples=[_known(it[1:], int(it[0])) for it in _SPLIT.split("|")],
    edge_cases={"for words of `most` characters": _known("newést newests", 6)},
    slips="""
`##` is missing, or in the wrong place. Every token but the first of a word is looked up with it.
    mark = "##" if start else "" -> mark = "" || mark = "##" || mark = "" if start else "##"
Each time, take the longest token that matches, and never go back to a shorter one.
    end = ends[-1] -> end = ends[0] || end = next((e for e in ends[::-1] if e == len(word) or
        any("##" + word[e:k] in vocab for k in range(e, len(word) + 1))), ends[-1])
Where nothing matches, the whole word is one `[UNK]`: drop the tokens that were found before.
    found = [] -> pass || found.append((vocab["[UNK]"], first + start, after)) ||
        found.append((vocab["[UNK]"], first + start, first + start + 1)); start += 1; continue
A word of *more* than `most` characters is `[UNK]`. One of exactly `most` characters is split.
    <= most: -> : || < most:
The spans are positions in the word. They should be positions in the text.
    first + start, first + end)) -> start, end))
Words are not where you look for them. There may be more spaces, and *low* is also in *lower*.
    text.index(word, after) -> after + (after > 0) || text.index(word) || after || text.find(word)
The second number of a span is not the end of the token in `text[start:end]`.
    [(begin, end) -> [(begin, end - 1) || [(begin, end - begin)
    or
    first + start, first + end)) -> first + start, first + end - 1))
The span of `[UNK]` is that of the whole word, from its first character to its end.
    (vocab["[UNK]"], first, after) -> (vocab["[UNK]"], first + start, after)
""",
    names=("The ids", "The spans"),
    note="The library does the same. Its `offsets` are the spans: they find an answer in the text.",
)


def stream(tokens: list[str]) -> list[str]:
    shown, pending = [], b""
    for token in tokens:
        is_byte, text = token.startswith("<0x"), ""
        new = bytes([int(token[3:5], 16)]) if is_byte else token.replace("▁", " ").encode()
        if pending and not (is_byte and 0x80 <= new[0] < 0xC0):
            text, pending = "�", b""
        pending += new
        if not is_byte or len(pending) > sum(pending[0] >= it for it in (0xC0, 0xE0, 0xF0)):
            text, pending = text + pending.decode(errors="replace"), b""
        shown.append(text)
    return [*shown, "�" if pending else ""]


def _codes(returned: Any, tokens: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """How many characters each string has, and the code points of all."""
    if not isinstance(returned, (list, tuple)) or not all(isinstance(it, str) for it in returned):
        raise Wrong("Return a list of strings, one for each token and one for the end.", "type")
    codes = torch.tensor([ord(c) for text in returned for c in text], dtype=torch.float64)
    return torch.tensor([len(text) for text in returned]), codes


def _first_text(arguments: Example, value: Result, wanted: Result) -> str:
    """The first string that differs."""
    tokens, both = [*arguments[0], "the end"], []
    for lengths, codes in (value.parts, wanted.parts):
        parts = codes.long().split(lengths.long().tolist())
        both.append(["".join(map(chr, part.tolist())) for part in parts])
    i = next(i for i in range(len(tokens)) if both[0][i] != both[1][i])
    where = f"String {i + 1} of {len(tokens)}, after {tokens[max(0, i - 5) : i + 1]}"
    return f"{where}, is {both[0][i]!r}; expected: {both[1][i]!r}."


def _emitted(seed: int, cut: float) -> Example:
    """Tokens as a model with byte fallback emits them. Some characters lose bytes."""
    draw, tokens = Random(f"stream {seed}"), ["▁low", "<b>"]
    for _ in range(8):
        data = draw.choice("éñ書한😀👍").encode()
        data = data[draw.random() < cut / 3 : draw.choice([1, 3]) if draw.random() < cut else None]
        ordinary = [draw.choice(["est", "▁", "▁new", "!", "ß"])]
        tokens += ordinary if draw.random() < 0.3 else [f"<0x{byte:02X}>" for byte in data]
    return ([*tokens, "<0x9F>", "<0x98>", "<0xF0>", "<0x9F>"] if cut else tokens,)


STREAM = Task(
    stream,
    examples=[_emitted(0, 0.0), *(_emitted(seed, 0.5) for seed in range(1, 7))],
    edge_cases={"without tokens": ([],), "for bytes of ASCII": (["<0x41>", "<0xC3>", "<0x0A>"],)},
    slips="""
Each byte is shown alone. The bytes of a character belong together.
    if not is_byte or -> if True or
Complete characters are shown too late: with the next ordinary token, or at the end.
    if not is_byte or len(pending) > -> if not is_byte or len(pending) > 999 +
    if pending and not -> if False and not
    "�" if pending else "" -> pending.decode(errors="replace")
An incomplete character disappears. It becomes one �, once it can no longer be completed.
    text, pending = "�", b"" -> text, pending = "", b""
    "�" if pending else "" -> "�" if pending else "" || ""
    errors="replace" -> errors="replace" || errors="ignore"
    or
    "�" if pending else "" -> ""
There is one � for each byte of an incomplete character. All its bytes together become one.
    text, pending = "�", b"" -> text, pending = "�" * len(pending), b""
    "�" if pending else "" -> "�" * len(pending) || "�" if pending else ""
    or
    "�" if pending else "" -> "�" * len(pending)
The � of an incomplete character follows the next text. It is shown before.
    text + pending.decode(errors="replace") -> pending.decode(errors="replace") + text
The number of strings is wrong: one for each token, and always one for what is left at the end.
    [*shown, "�" if pending else ""] -> shown || [*shown, *["�"] * bool(pending)]
Each string is the whole text up to there. It should be what is *new* with this token.
    shown.append(text) -> shown.append("".join(shown[-1:]) + text)
The ▁ is shown, or removed. It is a space.
    token.replace("▁", " ") -> token || token.replace("▁", "")
""",
    result=_codes,
    names=("The lengths of the strings", "The code points"),
    cause=_first_text,
    tolerance=1e-9,
    note="The library's `ByteFallback` waits until the bytes end. If one character of them is "
    "incomplete, each byte becomes a �, also those of complete characters.",
)

ZWJ, VS16 = "\u200d", "\ufe0f"


def symbols(text: str) -> list[int]:
    sizes, before, half = list[int](), "", False  # half of a flag
    for c in text:
        letter, tone = "🇦" <= c <= "🇿", "🏻" <= c <= "🏿"
        if sizes and (c in ZWJ + VS16 or tone or before == ZWJ or (letter and half)):
            sizes[-1] += 1
        else:
            sizes.append(1)
        half, before = letter and not half, c
    return sizes


_FAMILY, _NURSE, _HEART = ZWJ.join("👨👩👧👦"), f"🧑🏻{ZWJ}⚕{VS16}", f"❤{VS16}"
_EMOJI = [*"😀😂👍a! é", *f"👍🏽 👋🏿 {_HEART} 🇩🇪 🇫🇷 🇯🇵 🏳{VS16}{ZWJ}🌈 {_FAMILY} {_NURSE}".split()]
_TEXTS = f"👍🏽👍🏿 🏻👍🏻{_FAMILY}!|🇩🇪🇿🇦 🇧🇷a🇩🇪|{_HEART}😀{_NURSE}😂|🇩 🇫🇷🇧{VS16}🇩a{ZWJ}".split("|")

SYMBOLS = Task(
    symbols,
    examples=[
        (it,) for it in (*_TEXTS, *("".join(Random(i).choices(_EMOJI, k=9)) for i in "abcd"))
    ],
    edge_cases={"for an empty text": ("",), "for a tone that begins the text": ("🏽a",)},
    slips="""
Every code point is a symbol of its own.
    if sizes and ( -> if False and (
What follows a joiner begins a new symbol. It continues the one before the joiner.
    before == ZWJ -> False
The joiner or U+FE0F is a symbol of its own, or it is not counted. Both continue a symbol.
    c in ZWJ + VS16 -> c == VS16 || c == ZWJ || False
    or
    += 1 -> += c not in ZWJ + VS16 || += c != ZWJ || += c != VS16
A skin tone, or one of the five, is a symbol of its own. It continues the symbol before it.
    "🏻" <= c <= "🏿" -> False || "🏻" < c <= "🏿" || "🏻" <= c < "🏿"
The two letters of a flag are two symbols. Two regional indicators form one.
    letter and half -> False
All neighboring regional indicators are one symbol. Two form a flag; a third begins the next.
    letter and half -> letter and "🇦" <= before <= "🇿"
Regional indicators are paired across other characters. Only neighbors form a flag.
    letter and not half -> letter != half || letter != half if letter else half and c in ZWJ + VS16
The result is the number of symbols, or where they begin or end. Return the size of each.
    return sizes -> return len(sizes) || return [sum(sizes[:i]) for i in range(len(sizes))] ||
        return [sum(sizes[: i + 1]) for i in range(len(sizes))]
""",
    note="Now measure what a vocabulary pays for each of them.",
)
