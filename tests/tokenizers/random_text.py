"""Random Unicode strings that hurt: what a tokenizer meets on the web, and worse.

No pool is taken from ``unicodedata``, so the strings are the same under every Python version.
"""

import random

from lmcourse.tokenizers.models.word_model import Span

ENGLISH = (
    "The quick brown fox jumps over the lazy dog.",
    "I've said it: we'll see, they'd go, he's here, don't, I'm, you're, O'Neil's, 'S 'LL '",
    "In 1984, 3.14 + 2 = 5.14 (about $7.50); e-mail a_b@c.org!",
    "newest newest widest lower  low   low\n\n  indented\tline\r\nend ",
    "un##able ##ing [UNK] [CLS] <s> </s> <|endoftext|>",
    "STRASSE Straße İstanbul ΟΔΥΣΣΕΥΣ naïve café Ångström",
)
SPACES = (
    "\t\n\v\f\r \x1c\x1d\x1e\x1f\x85\xa0\u1680\u180e\u2000\u2003\u2007\u2008\u200a"
    "\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
CASED = "İıIiſßẞǅǆǄʼnΐΣσςKÅÅΩϴᾳᾼfiſtꭰᎠᲐაⴀႠ𐐀𐐨𞤀𞤢ꟀꟁⱯɐ"
MARKS = (
    "\u0301\u0300\u0327\u0323\u0338\u0345\u034f\u05b0\u05c1\u064b\u0651\u0670\u093c\u094d\u0951"
    "\u0dca\u0dcf\u0e38\u0f71\u0f72\u1ab0\u1dc4\u20d0\u20dd\u3099\u309a\ufe00\ufe0f\ufe20"
    "\U000101fd\U0001d165\U0001d16d\U0001e8d0\U000e0100\u08d3\u1abf\u0898\u1dfa"
)
COMPOSING = (
    "aeioAEIOnsdkqﬁﬂ½²①㎏ℌ℃ｶﾞＡ"
    "\ufb1d\ufb2c\ufdfa\u0958\u09dc\u0b5c\u2126\uf900\U0002f800\U0001d15e\u1e9b\u01d5"
)
BIDI = "אבגשׁהَلسلامﷺ\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
CONTROLS = (
    "\x00\x01\x07\x08\x0e\x1b\x1c\x1d\x1e\x1f\x7f\x80\x85\x8d"
    "\x8f\x90\x9d\x9f\xad\ufff9\ufffb\U000e0001"
)
SPECIAL = "\ufffd\ufffe\uffff\ufdd0\U0001ffff\U0010ffff\ufeff#▁Ġ_ĊĀŃ¡¬®ÿ~〜～｟"
EMOJI = (
    "👩\u200d👩\u200d👧\u200d👦",
    "👍🏽",
    "🏳\ufe0f\u200d🌈",
    "🇩🇪🇫🇷",
    "1\ufe0f\u20e3",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "❤\ufe0f",
    "🙂",
    "🧑🏿\u200d🚀",
    "\u200d",
    "\U0001fae8",
)
DIGITS = "09٠٩۴߀०९০௧๑໒༣၀០᠐᥆᭐᱁꘠꣐０９𐒠𑁦𝟎𝟿𞥐²³¹½⅓Ⅻⅷ①⑳㉑〇一二㈠𐄇𐡘"
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~¡«»‘’“”„…–—―‰′※‿⁀、。「」・؟۔।॥၊፡᠃⸮﹏＿！𐄀𑅀"
PLANES = (  # ranges of code points, from … to, the end excluded
    (0x20, 0x7F), (0x80, 0x250), (0x250, 0x900), (0x900, 0x1100), (0x1200, 0x2000),
    (0x2000, 0x3000), (0x3000, 0x3400), (0xA000, 0xAC00), (0xF900, 0x10000), (0xE000, 0xF900),
    (0x10000, 0x12000), (0x12000, 0x18000), (0x1D000, 0x1F000), (0x1F000, 0x20000),
    (0x20000, 0x30000), (0x30000, 0x40000), (0x40000, 0xE0000), (0xE0000, 0xE1000),
    (0xF0000, 0x100000), (0x100000, 0x110000),
)  # fmt: skip
HANGUL = ((0x1100, 0x1200), (0xA960, 0xA980), (0xAC00, 0xD7A4), (0xD7B0, 0xD800), (0x3131, 0x3190))
CHINESE = (
    (0x4E00, 0xA000), (0x3400, 0x4DC0), (0x20000, 0x2A6E0), (0x2A700, 0x2EBE1), (0x30000, 0x32400),
    (0xF900, 0xFB00), (0x2F800, 0x2FA20), (0x3040, 0x3100),
)  # fmt: skip
POOLS = (SPACES, CASED, MARKS, COMPOSING, BIDI, CONTROLS, SPECIAL, DIGITS, PUNCTUATION)


def _of_ranges(rng: random.Random, ranges: tuple[Span, ...]) -> str:
    return chr(rng.randrange(*rng.choice(ranges)))


def _piece(rng: random.Random) -> str:
    """One character or a few: a draw from one of the kinds above."""
    kind = rng.randrange(11)
    if kind < 3:
        return rng.choice(rng.choice(POOLS))
    if kind == 3:
        return _of_ranges(rng, PLANES)
    if kind == 4:
        return _of_ranges(rng, rng.choice((HANGUL, CHINESE)))
    if kind == 5:  # a base and marks in any order
        marks = rng.choices(MARKS, k=rng.randrange(1, 4))
        return rng.choice(COMPOSING + "בשق한ក") + "".join(marks)
    if kind == 6:
        return rng.choice(EMOJI)
    if kind == 7:
        return " " * rng.randrange(1, 4)
    if kind == 8:
        return "".join(chr(rng.randrange(0x20, 0x7F)) for _ in range(rng.randrange(1, 5)))
    sentence = rng.choice(ENGLISH)
    start = rng.randrange(len(sentence))
    return sentence[start : start + rng.randrange(1, 12)]


def random_text(rng: random.Random, longest: int = 60) -> str:
    """One string of 0 to ``longest`` characters, mostly a mixture of everything."""
    length = rng.randrange(longest + 1)
    if rng.random() < 0.1:  # one kind only: long runs of it
        pool = rng.choice(POOLS)
        return "".join(rng.choices(pool, k=length))
    text = rng.choice(ENGLISH) if rng.random() < 0.1 else ""
    while len(text) < length:
        text += _piece(rng)
    return text[:length]


def random_texts(seed: int, n: int) -> list[str]:
    """``n`` strings, the same for the same seed; the first is empty."""
    rng = random.Random(seed)
    return ["", *(random_text(rng) for _ in range(n - 1))][:n]
