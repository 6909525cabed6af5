"""Tokens that have broken pages: what any widget with text must show as text."""

from random import Random

HOSTILE = (
    "</script><img src=x onerror=executed=1>",
    "<b>bold</b>",
    "<!--",
    "]]>",
    "&amp;",
    "<s>",
    "<pad>",
    "",
    " ",
    "\n",
    "\t",
    "\x00",
    "\x1b",
    "\u200b",
    "a\u200db",
    "\u202eabc",
    "\ufeff",
    "שלום",
    "مرحبا",
    "👩‍💻",
    "🏳️‍🌈",
    "e\u0301\u0302\u0303",
    "中文",
    "##ing",
    "Ġthe",
    "▁the",
    "Ċ",
    "x" * 300,
    "`${1}`",
    "'\"\\",
    "%s{}",
    "nan",
    "\u2028",
    "\ue000",
)


def token(random: Random) -> str:
    """Draw a token: plain, hostile, or any characters of Unicode."""
    kind = random.random()
    if kind < 0.5:
        return "".join(random.choices("abcdefghij", k=random.randint(1, 9)))
    if kind < 0.8:
        return random.choice(HOSTILE)
    points = (random.choice([0x7F, 0x7FF, 0xFFFF, 0x1FFFF]) for _ in range(random.randint(1, 5)))
    drawn = (random.randrange(most) for most in points)
    return "".join(chr(it) for it in drawn if not 0xD800 <= it <= 0xDFFF)


def tokens(random: Random, count: int) -> list[str]:
    """Draw a text."""
    return [token(random) for _ in range(count)]
