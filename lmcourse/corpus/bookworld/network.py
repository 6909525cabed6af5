"""The automaton as arrays, with vocabulary and registers: what sampling and inference run on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lmcourse.corpus.bookworld.automaton import END, Automaton, Words, compile_grammar
from lmcourse.corpus.bookworld.grammar import Grammar
from lmcourse.corpus.bookworld.registers import Register, registers
from lmcourse.corpus.bookworld.templates import SENTENCE_ENDS, Tag


@dataclass(frozen=True)
class TokenArcs:
    """The arcs that can emit one token.

    Attributes:
        arcs: their numbers, ordered by target.
        probabilities: of this token on each of them; 1 for a register read.
        reads: the number of the register attribute that is read, -1 for a class of words.
    """

    arcs: np.ndarray
    probabilities: np.ndarray
    reads: np.ndarray


class Network:
    """Arrays of a compiled grammar.

    Attributes:
        vocabulary: ``END``, then all words in alphabetical order; a word's index is its id.
        source, target, emission, tag: [arcs], ordered by source.
        weight: [arcs, classes]; a latent class is ``genre · ratings + rating``.
        first: [states + 1]: the arcs of state s are ``first[s]`` to ``first[s + 1]``.
        prior: [classes].
    """

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.genres, self.ratings = len(grammar.genres), len(grammar.ratings)
        self.automaton: Automaton = compile_grammar(grammar)
        self.registers: tuple[Register, Register] = registers(grammar)
        self.attributes = [
            (family, index)
            for family, register in enumerate(self.registers)
            for index in range(len(register.attributes))
        ]
        names = [name for register in self.registers for name in register.attributes]
        self.attribute = {name: number for number, name in enumerate(names)}
        self.tags: list[Tag] = self.automaton.tags
        self._flatten()
        self._number_words()

    def _flatten(self) -> None:
        arcs = [(state, arc) for state, each in enumerate(self.automaton.states) for arc in each]
        self.states = len(self.automaton.states)
        self.source = np.array([state for state, _ in arcs])
        self.target = np.array([arc.target for _, arc in arcs])
        self.emission = np.array([arc.emission for _, arc in arcs])
        self.tag = np.array([arc.tag for _, arc in arcs])
        self.weight = np.empty((len(arcs), self.automaton.classes))
        for row, (_, arc) in zip(self.weight, arcs, strict=True):
            row[:] = arc.weight
        self.first = np.searchsorted(self.source, np.arange(self.states + 1))
        genre = np.full(self.genres, 1 / self.genres)
        self.prior = np.outer(genre, self.grammar.ratings).ravel()
        self.genre_of_class = np.repeat(np.arange(self.genres), self.ratings)

    def _number_words(self) -> None:
        used = set(self.emission.tolist())
        emissions = self.automaton.emissions
        words = {
            word
            for number, emission in enumerate(emissions)
            if number in used and isinstance(emission, Words)
            for word in emission.words
        }
        self.reads_used = {
            self.attribute[emission]
            for number, emission in enumerate(emissions)
            if number in used and isinstance(emission, str)
        }
        for number in self.reads_used:
            family, column = self.attributes[number]
            words.update(value[column] for value in self.registers[family].values)
        self.vocabulary = [END, *sorted(words - {END})]
        self.ids = {word: id_ for id_, word in enumerate(self.vocabulary)}
        # What each register may hold, as ids; an attribute that is never read has none.
        self.values = [
            np.array([[self.ids.get(word, -1) for word in value] for value in register.values])
            for register in self.registers
        ]
        self.reads = np.array(
            [self.attribute[each] if isinstance(each, str) else -1 for each in emissions]
        )
        self.emission_ids = [
            np.array([self.ids.get(word, -1) for word in each.words])
            if isinstance(each, Words)
            else np.empty(0, int)
            for each in emissions
        ]
        self.emission_probabilities = [
            np.array(each.probabilities) if isinstance(each, Words) else np.empty(0)
            for each in emissions
        ]

    @cached_property
    def by_token(self) -> list[TokenArcs]:
        """For each token of the vocabulary, the arcs that can emit it."""
        tokens, arcs, probabilities, reads = [], [], [], []
        by_emission = np.argsort(self.emission, kind="stable")
        first = np.searchsorted(self.emission[by_emission], np.arange(len(self.reads) + 1))
        for number, read in enumerate(self.reads.tolist()):
            mine = by_emission[first[number] : first[number + 1]]
            if not len(mine):
                continue
            ids, share = self.emission_ids[number], self.emission_probabilities[number]
            if read >= 0:
                family, column = self.attributes[read]
                ids = np.unique(self.values[family][:, column])
                share = np.ones(len(ids))
            tokens.append(np.repeat(ids, len(mine)))
            probabilities.append(np.repeat(share, len(mine)))
            arcs.append(np.tile(mine, len(ids)))
            reads.append(np.full(len(ids) * len(mine), read))
        token, arc = np.concatenate(tokens), np.concatenate(arcs)
        order = np.lexsort((self.target[arc], token))
        columns = [
            each[order] for each in (arc, np.concatenate(probabilities), np.concatenate(reads))
        ]
        cuts = np.searchsorted(token[order], np.arange(1, len(self.vocabulary)))
        pieces = zip(*(np.split(column, cuts) for column in columns), strict=True)
        return [TokenArcs(*piece) for piece in pieces]

    @cached_property
    def visits(self) -> np.ndarray:
        """How often a review of each class is expected to pass each state, [states, classes].

        It solves v = start + Pᵀ v, with P the transition matrix of a class.
        """
        from scipy.sparse import csc_array, eye_array
        from scipy.sparse.linalg import spsolve

        start = np.zeros(self.states)
        start[0] = 1.0
        columns = []
        for weights in self.weight.T:
            shape = (self.states, self.states)
            moves = csc_array((weights, (self.target, self.source)), shape)
            columns.append(spsolve(eye_array(self.states, format="csc") - moves, start))
        return np.stack(columns, axis=1)

    @cached_property
    def sentence_starts(self) -> tuple[np.ndarray, np.ndarray]:
        """The states after the end of a sentence, and the expected visits there.

        Returns:
            The states, in order, and [states, classes]: visits that come from a sentence's end.
        """
        ends = [self.by_token[self.ids[mark]] for mark in SENTENCE_ENDS if mark in self.ids]
        arcs = np.concatenate([each.arcs for each in ends])
        shares = np.concatenate([each.probabilities for each in ends])
        flow = self.visits[self.source[arcs]] * self.weight[arcs] * shares[:, None]
        states, inverse = np.unique(self.target[arcs], return_inverse=True)
        visits = np.zeros((len(states), len(self.prior)))
        np.add.at(visits, inverse, flow)
        return states, visits
