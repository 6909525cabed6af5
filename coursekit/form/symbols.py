"""The rules of a chapter's symbols: a table has each one once, and all those of its equations."""

import re
from collections.abc import Iterator

from coursekit.form.page import Breach, Page

_TABLE = re.compile(r"^:{3,}\{dropdown\} Symbols$(?P<table>.*?)^:{3,}$", re.MULTILINE | re.DOTALL)
_EQUATION = re.compile(r"^\$\$$(?P<tex>.*?)^\$\$ \(eq-[\w-]+\)$", re.MULTILINE | re.DOTALL)
_WORDS = re.compile(r"\\(?:text\w*|math(?:rm|tt)|operatorname\*?|begin|end|tag)\{[^{}]*\}")
_ATTACHED = re.compile(r"[_^](?:\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+|.)")
_GREEK = re.compile(
    r"\\((?:var)?(?:epsilon|phi|theta|rho|sigma)|alpha|beta|[Gg]amma|[Dd]elta|zeta|eta|kappa|[Ll]ambda"
    r"|mu|nu|[Xx]i|[Pp]i|tau|chi|[Pp]si|[Oo]mega|Theta|Sigma|Phi|ell)(?![A-Za-z])"
)


def defined_once(page: Page) -> Iterator[Breach]:
    table = _TABLE.search(page.prose)
    cells = re.findall(r"^\|(.+?)\|", table["table"], re.MULTILINE)[2:] if table else []
    defined = [tex.strip() for cell in cells for tex in re.findall(r"\$([^$]+)\$", cell)]
    for symbol in sorted({it for it in defined if defined.count(it) > 1}):
        yield page.breach(
            f"${symbol}$",
            f"The symbol {symbol} is defined twice.",
            "Give one of the two things another symbol.",
        )
    known = {letter for symbol in defined for letter in letters(symbol)}
    used = {it for tex in _EQUATION.findall(page.prose) for it in letters(tex)}
    if missing := sorted(used - known):
        yield page.breach(
            "{dropdown} Symbols",
            f"Labeled equations use {', '.join(missing)}, which the table of symbols lacks.",
            "Give each symbol a row in `:::{dropdown} Symbols`: | $x_t$ | input at step t |.",
        )


def letters(tex: str) -> set[str]:
    """Return the symbols of an equation: Latin and Greek letters, without what is attached.

    The base of an exponential, e^…, is none.
    """
    tex = re.sub(r"(?<![\\A-Za-z])e(?=\^)", " ", tex)
    bare = _ATTACHED.sub(" ", _WORDS.sub(" ", tex.replace(r"\_", " ")))
    latin = re.findall(r"[A-Za-z]", re.sub(r"\\[A-Za-z]+", " ", bare))
    return {f"\\{greek}" for greek in _GREEK.findall(bare)} | set(latin)
