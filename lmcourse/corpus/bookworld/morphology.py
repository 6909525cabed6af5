"""English word forms: a rule for the regular ones, a table for the others."""

import re
from collections.abc import Callable, Mapping

FORMS: dict[str, tuple[str, ...]] = {
    "NOUN": ("singular", "plural"),
    "VERB": ("base", "s", "past", "ing"),
    "AUX": ("base",),
    "ADJ": ("base", "er", "est"),
}
_VOWELS = "aeiou"
# What is said otherwise than it is written: "an hour", "a useful map".
_AN = re.compile(r"heir|hono|honest|hour")
_A = re.compile(
    r"eu|ewe|once|one(?!r)|u(?:biq|fo|ku|nanim|ni(?!m|n|d(?!i)|ron)|ra|ri|ro|sa[bg]|se|su|te|ti|to)"
)


def inflect(lemma: str, form: str, irregular: Mapping[str, Mapping[str, str]]) -> str:
    """The form of a word.

    Args:
        form: ``singular`` or ``base`` (the lemma), ``plural``, ``s`` and ``past`` and ``ing`` of
            verbs, ``er`` and ``est`` of adjectives.
        irregular: for each form, the lemmas that do not follow the rule.
    """
    if lemma in irregular.get(form, {}):
        return irregular[form][lemma]
    return _RULES[form](lemma)


def article(word: str, irregular: Mapping[str, str] | None = None) -> str:
    """``a`` or ``an``, by the sound with which the word begins.

    Args:
        irregular: the words that do not follow the rule, and their articles.
    """
    if irregular and word in irregular:
        return irregular[word]
    if word[0] in _VOWELS:
        return "a" if _A.match(word) else "an"
    return "an" if _AN.match(word) else "a"


def _plural(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    return word[:-1] + "ies" if _ends_in_consonant_y(word) else word + "s"


def _past(word: str) -> str:
    if _ends_in_consonant_y(word):
        return word[:-1] + "ied"
    return word + "d" if word.endswith("e") else _doubled(word) + "ed"


def _ing(word: str) -> str:
    if word.endswith("ie"):
        return word[:-2] + "ying"
    if word.endswith("e") and not word.endswith(("ee", "oe", "ye")):
        return word[:-1] + "ing"
    return _doubled(word) + "ing"


def _comparative(word: str, ending: str) -> str:
    if _ends_in_consonant_y(word):
        return word[:-1] + "i" + ending
    return word + ending[1:] if word.endswith("e") else _doubled(word) + ending


def _ends_in_consonant_y(word: str) -> bool:
    return word.endswith("y") and len(word) > 1 and word[-2] not in _VOWELS


def _doubled(word: str) -> str:
    """One syllable that ends in one vowel and one consonant doubles it: stop, stopped."""
    one_syllable = len(re.findall(r"[aeiouy]+", word)) == 1
    closed = re.search(r"[^aeiou][aeiou][^aeiouwxy]$", f"b{word.replace('qu', 'qw')}") is not None
    return word + word[-1] if one_syllable and closed else word


_RULES: dict[str, Callable[[str], str]] = {
    "singular": str,
    "base": str,
    "plural": _plural,
    "s": _plural,
    "past": _past,
    "ing": _ing,
    "er": lambda word: _comparative(word, "er"),
    "est": lambda word: _comparative(word, "est"),
}
