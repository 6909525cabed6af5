"""Write `lmcourse/tokenizers/text/unicode_tables.json` anew: `make tables`.

The installed `tokenizers` library is asked about each of the 1,112,064 characters. A probe gets a
list of characters and returns those that have its property; it asks about many in one call, each
beside a neighbor that changes nothing.
"""

import json
from collections.abc import Callable, Iterable

from lmcourse.tokenizers.text.unicode import TABLES, CharacterSet

BLOCK = 1 << 15  # as many characters in one call: more are slower
Probe = Callable[[list[str]], set[str]]


def _normalizer(name: str, **options: object) -> Callable[[list[str]], list[str]]:
    """A normalizer of the library, for many texts in one call: each stands on a line."""
    from tokenizers import normalizers

    normalizer = getattr(normalizers, name)(**options)
    return lambda lines: normalizer.normalize_str("\n".join(lines)).split("\n")


def _vanishing(name: str, **options: object) -> Probe:
    """The characters that a normalizer deletes."""
    normalize = _normalizer(name, **options)

    def probe(asked: list[str]) -> set[str]:
        asked = [character for character in asked if character != "\n"]
        return {c for c, left in zip(asked, normalize(asked), strict=True) if not left}

    return probe


def _cleaned_away(asked: list[str]) -> set[str]:
    """The characters that BERT's cleaning deletes. It keeps no lines, so an a parts them."""
    from tokenizers.normalizers import BertNormalizer

    cleaning = BertNormalizer(handle_chinese_chars=False, strip_accents=False, lowercase=False)
    asked = [character for character in asked if character != "a"]
    cleaned = cleaning.normalize_str("a".join(asked)).split("a")
    return {character for character, left in zip(asked, cleaned, strict=True) if not left}


def _normalizable(asked: list[str]) -> set[str]:
    """The characters that the normal forms know: they decompose, or have a combining class.

    A class shows when marks change places: one of 1 to 239 with a mark of class 240 before it,
    one of 240 with a mark of class 1 after it.
    """
    asked = [character for character in asked if character != "\n"]
    found = set()
    for form, before, after in (("NFKD", "", ""), ("NFD", "\u0345", ""), ("NFD", "", "\u0334")):
        lines = [before + character + after for character in asked]
        changed = zip(asked, lines, _normalizer(form)(lines), strict=True)
        found |= {character for character, line, normalized in changed if line != normalized}
    return found


def _lowercase(asked: list[str]) -> dict[str, str]:
    """The lowercase of each character that has another one."""
    asked = [character for character in asked if character != "\n"]
    lowered = zip(asked, _normalizer("Lowercase")(asked), strict=True)
    return {character: lower for character, lower in lowered if lower != character}


def _matching(expression: str) -> Probe:
    """The characters that match a regular expression of ``Split`` (Oniguruma)."""
    from tokenizers import Regex
    from tokenizers.pre_tokenizers import Split

    split = Split(Regex(expression), "removed", invert=True)
    return lambda asked: {piece for piece, _ in split.pre_tokenize_str("".join(asked))}


def _removed_by(name: str, *options: object) -> Probe:
    """The characters at which a pre-tokenizer splits, and which it removes."""
    from tokenizers import pre_tokenizers

    split = getattr(pre_tokenizers, name)(*options)
    return lambda asked: (
        set(asked) - set("".join(piece for piece, _ in split.pre_tokenize_str("".join(asked))))
    )


def _word(asked: list[str]) -> set[str]:
    r"""The characters that are ``\w`` for ``Whitespace`` (Rust's engine): they stick to an a."""
    from tokenizers.pre_tokenizers import Whitespace

    pieces = Whitespace().pre_tokenize_str("a" + "".join(f"{character}a" for character in asked))
    return set("".join(piece for piece, _ in pieces if "a" in piece)) & set(asked)


def _numeric(asked: list[str]) -> set[str]:
    """The characters that ``Digits`` isolates from the letters before and after them."""
    from tokenizers.pre_tokenizers import Digits

    pieces = Digits(True).pre_tokenize_str("a" + "".join(f"{character}a" for character in asked))
    return {piece for piece, _ in pieces if len(piece) == 1} - {"a"}


def probes() -> dict[str, Probe]:
    """For each property, how the library is asked for it."""
    accents = {"clean_text": False, "handle_chinese_chars": False, "lowercase": False}
    return {
        "white_space": _removed_by("WhitespaceSplit"),
        "cleaned_away": _cleaned_away,
        "nonspacing_mark": _vanishing("BertNormalizer", strip_accents=True, **accents),
        "combining_mark": _vanishing("StripAccents"),
        "normalizable": _normalizable,
        "punctuation": _removed_by("Punctuation", "removed"),
        "numeric": _numeric,
        "letter": _matching(r"\p{L}"),
        "number": _matching(r"\p{N}"),
        "word": _word,
    }


def ask(asked: list[str]) -> dict[str, str]:
    """The tables as the installed library gives them, for these characters."""
    import tokenizers

    lower = _lowercase(asked)
    lower.pop("İ", None)  # one-to-many, see lowercase_forms
    blocks = [asked[start : start + BLOCK] for start in range(0, len(asked), BLOCK)]
    found = {
        name: encode_ranges(set[str]().union(*map(probe, blocks)))
        for name, probe in probes().items()
    }
    return {
        "library": f"tokenizers {tokenizers.__version__}",
        **found,
        "lowercase": encode_lowercase(lower),
    }


def every_character() -> list[str]:
    """All 1,112,064 of them: every code point but the surrogates."""
    return [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def encode_ranges(found: Iterable[str]) -> str:
    """Characters as ranges in hexadecimal: ``"41-5a aa"``."""
    ranges = CharacterSet.of(found).ranges
    return " ".join(f"{start:x}" if start == end else f"{start:x}-{end:x}" for start, end in ranges)


def encode_lowercase(forms: dict[str, str]) -> str:
    """Pairs of one character each as runs: first and last code point, step, and shift.

    Most alphabets come as a block of capitals (step 1) or with the two cases in turn (step 2).
    """
    runs: list[list[int]] = []
    for code, shift in sorted(
        (ord(upper), ord(lower) - ord(upper)) for upper, lower in forms.items()
    ):
        start, end, step, last_shift = runs[-1] if runs else (0, 0, 0, 0)
        if runs and shift == last_shift and code - end in ((1, 2) if start == end else (step,)):
            runs[-1] = [start, code, code - end, shift]
        else:
            runs.append([code, code, 1, shift])
    return " ".join(f"{start:x}-{end:x}-{step:x}+{shift:x}" for start, end, step, shift in runs)


if __name__ == "__main__":
    TABLES.write_text(json.dumps(ask(every_character()), indent=1) + "\n", encoding="utf-8")
