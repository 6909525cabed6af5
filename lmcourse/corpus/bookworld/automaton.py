"""The grammar compiled: a weighted automaton whose arcs each emit one token.

A review is a walk from the start to the end. Each arc has a probability for each latent class
(genre and rating), an emission (words with probabilities, or a register read) and a tag (the
token's labels). States are built from the end backward, so that two states from which the same is
said are one state; and lines that begin alike share their beginning, so that a choice is made only
where it is heard. Both leave every probability as it is, and make the automaton small and almost
deterministic.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lmcourse.corpus.bookworld.grammar import Grammar
from lmcourse.corpus.bookworld.morphology import article
from lmcourse.corpus.bookworld.templates import Article, Choice, Node, Nodes, Read, Rule, Tag, Word
from lmcourse.errors import CourseError

END = "<end>"  # the token after a review's last
Weight = float | np.ndarray  # for all latent classes, or [classes]


class Words(NamedTuple):
    """An emission: one of some words."""

    words: tuple[str, ...]
    probabilities: tuple[float, ...]


Emission = Words | str  # a string names a register


class Arc(NamedTuple):
    """A transition: emission, tag, target state and probability."""

    emission: int
    tag: int
    target: int
    weight: Weight


Arcs = list[Arc]
_LOOPS = "Let it call itself only at the end of a line that says something before."
_SILENT = -1  # the emission of a silent arc; the compiled automaton has none
Options = Sequence[tuple[Weight, Nodes]]


class Wrong(Exception):
    """An error found while a rule is compiled; its line is not known yet.

    Args:
        cause, remedy: as of a ``CourseError``.
    """

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(cause, remedy)
        self.cause = cause
        self.remedy = remedy


@dataclass(frozen=True)
class Automaton:
    """The compiled grammar.

    Attributes:
        states: the arcs of each state; their weights sum to one in every class.
        start: the state before the first token.
        final: the state after ``END``; it has no arcs.
    """

    states: list[Arcs]
    emissions: list[Emission]
    tags: list[Tag]
    start: int
    final: int
    classes: int


def compile_grammar(grammar: Grammar) -> Automaton:
    """Compile the rule ``review``."""
    compiler = _Compiler(grammar)
    start = compiler.state((Rule("review"), Word(END, Tag("END"))), compiler.final)
    return compiler.trimmed(start)


class _Compiler:
    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.classes = len(grammar.genres) * len(grammar.ratings)
        self.contents: list[Arcs | None] = [[]]  # None: not yet known
        self.final = 0
        self.emissions: list[Emission] = []
        self.emission_ids: dict[Emission, int] = {}
        self.tag_ids: dict[Tag, int] = {}
        self.slots: dict[tuple[str, str], Words] = {}  # (class, form) → its words
        self.known: dict[tuple[Nodes, int], int] = {}
        self.same: dict[tuple[object, ...], int] = {}
        self.rule_of: dict[int, str] = {}  # the start states of rules
        self.inside: list[str] = []  # the rules that are being compiled, the innermost last

    def state(self, nodes: Nodes, target: int) -> int:
        """The state from which ``nodes`` lead to ``target``."""
        if not nodes:
            return target
        key = (nodes, target)
        if key in self.known:
            return self.known[key]
        head, rest = nodes[0], nodes[1:]
        if isinstance(head, Rule) and not rest:
            return self._rule(head, target)
        self.known[key] = self._shared(self._first(head, self.state(rest, target)))
        return self.known[key]

    def trimmed(self, start: int) -> Automaton:
        """The reachable states, renumbered in the order of discovery."""
        order, numbers = [start], {start: 0}
        for state in order:
            for arc in self._spoken(state):
                if arc.target not in numbers:
                    numbers[arc.target] = len(order)
                    order.append(arc.target)
        states = [
            [each._replace(target=numbers[each.target]) for each in self.contents[state] or ()]
            for state in order
        ]
        tags = list(self.tag_ids)
        return Automaton(states, self.emissions, tags, 0, numbers[self.final], self.classes)

    def _rule(self, rule: Rule, then: int) -> int:
        """The start state of a rule before ``then``; its arcs may lead back to it."""
        key = ((rule,), then)
        if key not in self.known:
            if rule.name in self.inside:
                raise Wrong("it calls itself elsewhere than at the end of a line.", _LOOPS)
            self.known[key] = state = len(self.contents)
            self.rule_of[state] = rule.name
            self.contents.append(None)
            self.inside.append(rule.name)
            options = [(each.weight, each.nodes) for each in self.grammar.rules[rule.name]]
            try:
                self.contents[state] = self._merged(self._options(options, then))
            except Wrong as wrong:
                raise self._located(wrong, then) from None
            self.inside.pop()
        return self.known[key]

    def _located(self, wrong: Wrong, then: int) -> CourseError:
        """The error of the innermost rule, with the first line that is wrong alone."""
        name, lines = self.inside[-1], self.grammar.rules[self.inside[-1]]
        for each in lines:
            try:
                self._options([(1.0, each.nodes)], then)
            except Wrong as same:
                return each.location.error(f"in the rule ${name}, {same.cause}", same.remedy)
        return lines[0].location.error(f"in the rule ${name}, {wrong.cause}", wrong.remedy)

    def _first(self, head: Node, then: int) -> Arcs:
        """The arcs of ``head`` before the state ``then``."""
        if isinstance(head, Rule):
            return self._content(self._rule(head, then))
        if isinstance(head, Choice):
            return self._options(head.options, then)
        if isinstance(head, Article):
            return self._articles(head, then)
        if isinstance(head, Word):
            return [self._arc(Words((head.text,), (1.0,)), head.tag, then)]
        if isinstance(head, Read):
            return [self._arc(head.register, head.tag, then)]
        slot = (head.words, head.form)
        if slot not in self.slots:
            distribution = self.grammar.distribution(*slot)
            self.slots[slot] = Words(tuple(distribution), tuple(distribution.values()))
        return [self._arc(self.slots[slot], head.tag, then)]

    def _options(self, options: Options, then: int) -> Arcs:
        """The arcs of a choice; options share their common prefix."""
        total: Weight = sum(weight for weight, _ in options)
        if np.any(np.asarray(total) <= 0):
            raise Wrong(
                "in some genre or at some rating, the weights of all lines are zero.",
                "Give it a line whose weights are above zero there.",
            )
        groups: dict[Node | None, list[tuple[Weight, Nodes]]] = {}
        for weight, nodes in options:
            groups.setdefault(nodes[0] if nodes else None, []).append((weight / total, nodes[1:]))
        arcs: Arcs = []
        for head, members in groups.items():
            weight = sum(share for share, _ in members)
            if head is None:
                first = self._content(then)
            elif len(members) == 1:
                first = self._first(head, self.state(members[0][1], then))
            else:
                rests = [(_ratio(share, weight, len(members)), rest) for share, rest in members]
                first = self._first(head, self._shared(self._options(rests, then)))
            arcs += [
                Arc(emission, tag, target, share * weight) for emission, tag, target, share in first
            ]
        return arcs

    def _articles(self, head: Article, then: int) -> Arcs:
        """``a`` before the arcs that go on with a consonant, ``an`` before the others."""
        irregular = self.grammar.irregular.get("article")
        sounds: dict[str, Arcs] = {"a": [], "an": []}
        for arc in self._content(then):
            if arc.emission == _SILENT:
                raise Wrong(
                    "the article `a` precedes a rule that is about to repeat.",
                    "Put another word between them.",
                )
            emission = self.emissions[arc.emission]
            if isinstance(emission, str):
                raise Wrong(
                    f"the article `a` precedes the register @{emission}.",
                    "Put `the`, or another word between them: the choice of a or an would depend "
                    "on the register's content.",
                )
            for sound in sounds:
                chosen = [
                    (word, probability)
                    for word, probability in zip(*emission, strict=True)
                    if article(word, irregular) == sound
                ]
                if chosen:
                    share = sum(probability for _, probability in chosen)
                    words = Words(
                        tuple(word for word, _ in chosen),
                        tuple(round(probability / share, 14) for _, probability in chosen),
                    )
                    id_ = self._emission_id(words)
                    sounds[sound].append(arc._replace(emission=id_, weight=arc.weight * share))
        found = []
        for sound, arcs in sounds.items():
            if arcs:
                total = sum(arc.weight for arc in arcs)
                rest = [arc._replace(weight=_ratio(arc.weight, total, len(arcs))) for arc in arcs]
                step = self._arc(Words((sound,), (1.0,)), head.tag, self._shared(rest))
                found.append(step._replace(weight=total))
        return found

    def _arc(self, emission: Emission, tag: Tag, target: int) -> Arc:
        tag_id = self.tag_ids.setdefault(tag, len(self.tag_ids))
        return Arc(self._emission_id(emission), tag_id, target, 1.0)

    def _emission_id(self, emission: Emission) -> int:
        id_ = self.emission_ids.setdefault(emission, len(self.emissions))
        if id_ == len(self.emissions):
            self.emissions.append(emission)
        return id_

    def _content(self, state: int) -> Arcs:
        """The arcs of a state; of one that is being built, a silent arc to it."""
        content = self.contents[state]
        return [Arc(_SILENT, 0, state, 1.0)] if content is None else content

    def _spoken(self, state: int, above: frozenset[int] = frozenset()) -> Arcs:
        """The arcs of a state; a silent one is replaced by those of the state it leads to."""
        content = self.contents[state] or []
        if all(arc.emission != _SILENT for arc in content):
            return content
        if state in above:
            name = next(self.rule_of[each] for each in (state, *above) if each in self.rule_of)
            raise self.grammar.rules[name][0].location.error(
                f"in the rule ${name}, it calls itself before it has said a word.", _LOOPS
            )
        arcs: Arcs = []
        for arc in content:
            if arc.emission == _SILENT:
                then = self._spoken(arc.target, above | {state})
                arcs += [each._replace(weight=each.weight * arc.weight) for each in then]
            else:
                arcs.append(arc)
        self.contents[state] = arcs = self._merged(arcs)
        return arcs

    def _merged(self, arcs: Arcs) -> Arcs:
        """Merge arcs with the same emission, tag and target."""
        sums: dict[tuple[int, int, int], Weight] = {}
        for emission, tag, target, weight in arcs:
            key = (emission, tag, target)
            sums[key] = sums[key] + weight if key in sums else weight
        return [Arc(*key, weight) for key, weight in sums.items()]

    def _shared(self, arcs: Arcs) -> int:
        """The state with these arcs: an existing one if possible."""
        arcs = sorted(self._merged(arcs), key=lambda arc: arc[:3])
        key = tuple((*arc[:3], _hashable(arc.weight)) for arc in arcs)
        if key not in self.same:
            self.same[key] = len(self.contents)
            self.contents.append(arcs)
        return self.same[key]


def _ratio(part: Weight, whole: Weight, parts: int) -> Weight:
    """part / whole; equal parts where the whole is zero."""
    if isinstance(part, float) and isinstance(whole, float):
        return part / whole if whole > 0 else 1 / parts
    part, whole = np.broadcast_arrays(np.asarray(part, float), np.asarray(whole, float))
    return np.divide(part, whole, out=np.full(part.shape, 1 / parts), where=whole > 0)


def _hashable(weight: Weight) -> object:
    return weight.tobytes() if isinstance(weight, np.ndarray) else weight
