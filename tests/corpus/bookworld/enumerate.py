"""BookWorld by brute force: derivations written out one by one, as the grammar's text says.

Nothing here knows of the automaton, of the forward–backward algorithm or of buckets. From the
package come only the parsed grammar and the registers' contents with their prior probabilities.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from itertools import product

import numpy as np

from lmcourse.corpus.bookworld import Grammar
from lmcourse.corpus.bookworld.registers import registers
from lmcourse.corpus.bookworld.templates import Article, Choice, Node, Nodes, Read, Rule, Slot, Tag
from lmcourse.corpus.bookworld.templates import Word as Literal

END = "<end>"
AN = {"apple", "owl", "idle", "awful", "amusing", "uneven", "attic"}  # of the tests' words
Token = tuple[str, Tag]
Labeled = tuple[Token, ...]
Joint = dict[Labeled, np.ndarray]  # each [genres, ratings, casts, books]
_PENDING = "a or an"  # an article whose next word is not known yet


def joint(grammar: Grammar, pattern: Sequence[str | None] | None = None) -> Joint:
    """P(labeled text, genre, rating, cast, book) of all texts that begin like the pattern.

    Args:
        pattern: tokens, None for any; the texts are cut at its length. Without it all whole texts
            are written out (only of a grammar without loops: it takes forever otherwise).
    """
    families = registers(grammar)
    genres, ratings = len(grammar.genres), len(grammar.ratings)
    shape = (genres, ratings, *(len(family.values) for family in families))
    found: Joint = {}
    for contents in product(*(range(len(family.values)) for family in families)):
        held = {
            name: word
            for family, content in zip(families, contents, strict=True)
            for name, word in zip(family.attributes, family.values[content], strict=True)
        }
        prior = np.outer(np.full(genres, 1 / genres), grammar.ratings)
        for family, content in zip(families, contents, strict=True):
            prior = prior * family.prior[:, content, None]
        for text, weight in derivations(grammar, held, pattern).items():
            found.setdefault(text, np.zeros(shape))[:, :, contents[0], contents[1]] += (
                prior * weight.reshape(genres, ratings)
            )
    return found


def derivations(
    grammar: Grammar, held: dict[str, str], pattern: Sequence[str | None] | None
) -> dict[Labeled, np.ndarray]:
    """P(labeled text | class) for one content of the registers, each [classes]."""
    found: dict[Labeled, np.ndarray] = {}
    classes = len(grammar.genres) * len(grammar.ratings)
    start: Nodes = (Rule("review"), Literal(END, Tag("END")))
    open_: list[tuple[Labeled, Nodes, np.ndarray]] = [((), start, np.ones(classes))]
    while open_:
        said, rest, weight = open_.pop()
        if not weight.any():
            continue
        if not rest or (pattern is not None and _reached(said, len(pattern))):
            text = said if pattern is None else said[: len(pattern)]
            if pattern is None or len(text) == len(pattern):  # or else it ends too early
                found[text] = found.get(text, 0) + weight
            continue
        for share, nodes in _choices(grammar, rest[0]):
            open_.append((said, (*nodes, *rest[1:]), weight * share))
        for share, token in _tokens(grammar, rest[0], held):
            longer = _said(said, token)
            if _fits(longer, pattern):
                open_.append((longer, rest[1:], weight * share))
    return found


def _choices(grammar: Grammar, node: Node) -> list[tuple[np.ndarray | float, Nodes]]:
    options: list[tuple[np.ndarray | float, Nodes]] = []
    if isinstance(node, Rule):
        options = [(each.weight, each.nodes) for each in grammar.rules[node.name]]
    elif isinstance(node, Choice):
        options = list(node.options)
    total = sum(weight for weight, _ in options)
    return [(weight / total, nodes) for weight, nodes in options]


def _tokens(grammar: Grammar, node: Node, held: dict[str, str]) -> list[tuple[float, Token]]:
    if isinstance(node, Literal):
        return [(1.0, (node.text, node.tag))]
    if isinstance(node, Read):
        return [(1.0, (held[node.register], node.tag))]
    if isinstance(node, Article):
        return [(1.0, (_PENDING, node.tag))]
    if isinstance(node, Slot):
        words = grammar.distribution(node.words, node.form).items()
        return [(probability, (word, node.tag)) for word, probability in words]
    return []


def _said(said: Labeled, token: Token) -> Labeled:
    if said and said[-1][0] == _PENDING:
        said = (*said[:-1], ("an" if token[0] in AN else "a", said[-1][1]))
    return (*said, token)


def _reached(said: Labeled, length: int) -> bool:
    return len(said) >= length and (length == 0 or said[length - 1][0] != _PENDING)


def _fits(said: Labeled, pattern: Sequence[str | None] | None) -> bool:
    """Whether the last two tokens fit; the one before may just have become `a` or `an`."""
    return pattern is None or all(
        said[at][0] == _PENDING or pattern[at] is None or pattern[at] == said[at][0]
        for at in range(max(0, len(said) - 2), min(len(said), len(pattern)))
    )


# -------------------------------------------------------------------------------------- answers


def log_prob(found: Joint) -> float:
    """The log-probability, in nats, of all that was found."""
    total = math.fsum(value.sum() for value in found.values())
    return math.log(total) if total > 0 else -math.inf


def shares(found: Joint, of: Callable[[Labeled], Hashable]) -> dict[Hashable, float]:
    """P(property of the text | what was found)."""
    sums: dict[Hashable, float] = {}
    for text, value in found.items():
        sums[of(text)] = sums.get(of(text), 0.0) + float(value.sum())
    total = math.fsum(sums.values())
    return {key: value / total for key, value in sums.items()}


def word_shares(found: Joint, position: int, vocabulary: list[str]) -> np.ndarray:
    """P(word at a position | what was found), [vocabulary]."""
    by_word = shares(found, lambda text: text[position][0])
    assert set(by_word) <= set(vocabulary)
    return np.array([by_word.get(word, 0.0) for word in vocabulary])


def classes(found: Joint) -> np.ndarray:
    """P(genre, rating | what was found), [genres, ratings]."""
    summed = sum(value.sum((2, 3)) for value in found.values())
    return summed / summed.sum()


def antecedents(found: Joint, grammar: Grammar, position: int) -> dict[str | None, float]:
    """P(the character meant at a position | what was found); None: it means no character."""
    cast = registers(grammar)[0]
    sums: dict[str | None, float] = {}
    for text, value in found.items():
        who = (text[position][1].register or "").split(".")[0]
        for content, weight in enumerate(value.sum((0, 1, 3)).tolist()):
            known = who in ("hero", "second")
            name = cast.values[content][cast.attributes.index(who)] if known else None
            sums[name] = sums.get(name, 0.0) + weight
    total = math.fsum(sums.values())
    return {name: weight / total for name, weight in sums.items() if weight > 0}
