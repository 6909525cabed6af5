"""The classes of characters in `lmcourse/tokenizers/unicode_classes.json`.

`python -m tests.tokenizers.unicode_classes` writes them again, after another version of the
`tokenizers` library: it asks the installed one about every character.
"""

import json
from collections.abc import Callable, Iterable

from tokenizers import Regex, __version__, normalizers, pre_tokenizers

from lmcourse.tokenizers.plain import CLASSES

BLOCK = 1 << 15  # characters in one call: more are slower
EVERY = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
Probe = Callable[[list[str]], set[str]]
BERT = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False}


def changed(
    by: Callable[[str], bool] | None, *steps: tuple[str, dict[str, bool], str, str]
) -> Probe:
    """The characters that a normalizer changes (into a text with this property, if one is given).

    Args:
        steps: for each normalizer its name, its options, and what precedes and follows a character.
    """

    def probe(asked: list[str]) -> set[str]:
        found = set[str]()
        asked = [it for it in asked if it not in "\na"]
        for name, options, before, after in steps:
            lines = [f"{before}{it}{after}" for it in asked]
            # BERT's cleaning keeps no line ends, so an a separates the characters
            end = "a" if options.get("clean_text") else "\n"
            normalized = getattr(normalizers, name)(**options).normalize_str(end.join(lines))
            for character, old, new in zip(asked, lines, normalized.split(end), strict=True):
                if old != new and (by is None or by(new)):
                    found.add(character)
        return found

    return probe


def removed(splitter: pre_tokenizers.PreTokenizer) -> Probe:
    """The characters at which a pre-tokenizer splits, and which it removes."""
    return lambda asked: (
        set(asked) - {it for piece, _ in splitter.pre_tokenize_str("".join(asked)) for it in piece}
    )


def matching(expression: str) -> Probe:
    """The characters that match a regular expression of ``Split`` (Oniguruma)."""
    splitter = pre_tokenizers.Split(Regex(expression), "removed", invert=True)
    return lambda asked: {piece for piece, _ in splitter.pre_tokenize_str("".join(asked))}


def word(asked: list[str]) -> set[str]:
    r"""The characters that are ``\w`` for ``Whitespace``: they form one piece with an a."""
    text = "a" + "".join(f"{character}a" for character in asked)
    pieces = pre_tokenizers.Whitespace().pre_tokenize_str(text)
    return set("".join(piece for piece, _ in pieces if "a" in piece)) & set(asked)


# A combining class appears when marks are reordered: one of 1 to 239 after a mark of class 240,
# one of 240 before a mark of class 1.
FORMS = (("NFKD", {}, "", ""), ("NFD", {}, "\u0345", ""), ("NFD", {}, "", "\u0334"))
PROBES: dict[str, Probe] = {
    "white_space": removed(pre_tokenizers.WhitespaceSplit()),
    "cleaned_away": changed(
        lambda new: not new,
        ("BertNormalizer", {**BERT, "lowercase": False, "clean_text": True}, "", ""),
    ),
    "nonspacing_mark": changed(
        lambda new: not new,
        ("BertNormalizer", {**BERT, "lowercase": False, "strip_accents": True}, "", ""),
    ),
    "combining_mark": changed(lambda new: not new, ("StripAccents", {}, "", "")),
    "normalizable": changed(None, *FORMS),
    "punctuation": removed(pre_tokenizers.Punctuation("removed")),
    "letter": matching(r"\p{L}"),
    "number": matching(r"\p{N}"),
    "word": word,
    "capital": changed(None, ("Lowercase", {}, "", "")),
    "chinese": changed(
        None, ("BertNormalizer", {**BERT, "lowercase": False, "handle_chinese_chars": True}, "", "")
    ),
}


def members(name: str, asked: list[str] = EVERY) -> set[str]:
    """The characters of a class, as the installed library answers."""
    blocks = (asked[start : start + BLOCK] for start in range(0, len(asked), BLOCK))
    return set[str]().union(*map(PROBES[name], blocks))


def ranges(found: Iterable[str]) -> str:
    """Characters as ranges in hexadecimal: ``"41-5a aa"``."""
    bounds: list[list[int]] = []
    for code in sorted(map(ord, found)):
        if bounds and code == bounds[-1][1] + 1:
            bounds[-1][1] = code
        else:
            bounds.append([code, code])
    return " ".join(f"{a:x}" if a == b else f"{a:x}-{b:x}" for a, b in bounds)


if __name__ == "__main__":
    table = {"library": f"tokenizers {__version__}", **{it: ranges(members(it)) for it in PROBES}}
    CLASSES.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
