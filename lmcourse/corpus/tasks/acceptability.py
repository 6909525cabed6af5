"""Acceptability: is this a sentence of BookWorld's English, or one with a mistake?"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from random import Random

from lmcourse.corpus.bookworld import BookWorld, Review
from lmcourse.corpus.bookworld.morphology import FORMS, inflect
from lmcourse.corpus.bookworld.templates import plain
from lmcourse.corpus.tasks.drawing import Pool, in_turn
from lmcourse.corpus.tasks.task import Example, Task, certain

LABELS = ("acceptable", "unacceptable")
_CASES = {"he": "him", "she": "her", "i": "me", "they": "them", "we": "us"}
_CASES |= {"him": "he", "me": "i", "them": "they", "us": "we"}
_NUMBERS = {"is": "are", "seems": "seem", "feels": "feel", "was": "were"}
_NUMBERS |= {plural: singular for singular, plural in _NUMBERS.items()}
# After these a verb is in its base form.
_BASE_FOLLOWS = ("to", "not", "would", "could", "cannot", "will", "may", "should", "did")


@dataclass(frozen=True)
class Judged(Example):
    """A sentence with or without a mistake.

    Attributes:
        kind: of the mistake; of an acceptable sentence, the mistake that could have been made in
            it.
        error_position: that of the first token that differs; None if none does.
    """

    kind: str
    error_position: int | None


def acceptability(
    world: BookWorld, n: int, seed: int = 0, reviews: Sequence[Review] | None = None
) -> Task[Judged]:
    """Sentences of reviews, half of them with one small mistake.

    The kinds of mistake, each equally frequent to one: ``agreement`` (the scene are), ``article``
    (a hour), ``order`` (scene the), ``inflection`` (three cat), ``case`` (saw he) and ``missing``
    (a preposition or an auxiliary). For each kind, the acceptable sentences are drawn from those in
    which such a mistake could be made, so the kind of sentence is uninformative.

    Args:
        seed: reviews are drawn from a seed of the task's own: none is one of ``world.split``.
        reviews: take the sentences from these instead.

    Returns:
        A task with the labels ``acceptable`` and ``unacceptable``, equally frequent to one. Its
        best score is exactly one: every unacceptable sentence has probability zero in BookWorld,
        which is checked (a mistake that makes another sentence of BookWorld is not used).
    """
    name = "acceptability"
    random = Random(f"{name} {seed}")
    pool = Pool(world, name, seed, partial(_candidates, world, _families(world)), reviews)
    kinds = in_turn(tuple(_MISTAKES), n, random)
    examples = []
    for number in range(0, n, 2):  # two of a kind, one with and one without the mistake
        kind = next(kinds)
        for label in random.sample(LABELS, 2)[: n - number]:
            right, wrong, position = pool.take(kind)
            examples.append(
                Judged(right, label, kind, None)
                if label == "acceptable"
                else Judged(wrong, label, kind, position)
            )
    how = "An acceptable sentence has a probability in BookWorld; an unacceptable one has none."
    return Task(
        name=name,
        question="Is the sentence acceptable?",
        labels=LABELS,
        examples=tuple(examples),
        chance=0.5,
        metric="accuracy",
        how=how,
        bound=certain(how),
    )


Tokens = tuple[str, ...]
Families = dict[tuple[str, str], set[tuple[str, str]]]  # word, part of speech → form, other word
# A mistake: the tokens, their parts of speech and what forms a word has → tokens with the mistake.
Mistake = Callable[[Tokens, list[str], Families], Iterator[Tokens]]


def _candidates(
    world: BookWorld, families: Families, review: Review, random: Random
) -> Iterator[tuple[str, tuple[Tokens, Tokens, int]]]:
    """For each kind of mistake, a sentence of the review where it can be made."""
    sentences = random.sample(review.sentences, len(review.sentences))
    for kind in random.sample(tuple(_MISTAKES), len(_MISTAKES)):
        for sentence in sentences:
            tokens = tuple(review.tokens[sentence.start : sentence.end])
            tags = review.parts_of_speech[sentence.start : sentence.end]
            found = list(_MISTAKES[kind](tokens, tags, families))
            wrong = _impossible(world, random.sample(found, len(found)))
            if wrong is not None:
                pairs = enumerate(zip(tokens, (*wrong, ""), strict=False))
                yield kind, (tokens, wrong, next(position for position, (a, b) in pairs if a != b))
                sentences.remove(sentence)
                break


def _impossible(world: BookWorld, sentences: list[Tokens]) -> Tokens | None:
    """The first of them that no review of the world has."""
    for wrong in sentences:
        if set(wrong) <= world.network.ids.keys() and world.log_expected(wrong) == -math.inf:
            return wrong
    return None


def _families(world: BookWorld) -> Families:
    """Of each word, the other forms of its lemma that the vocabulary has."""
    grammar, known = world.grammar, world.network.ids
    lemmas = {
        (plain(word), each.part_of_speech)
        for each in grammar.classes.values()
        for word in each.words
    }
    acts = [row.get("acts", "") for each in grammar.tables.values() for row in each.rows]
    lemmas |= {(plain(act).split(" ")[0], "VERB") for cell in acts for act in cell.split(" ; ")}
    found: Families = {}
    for lemma, tag in sorted(lemmas):
        forms = {
            form: inflect(lemma, form, grammar.irregular) for form in FORMS.get(tag, ()) if lemma
        }
        for word, (form, other) in product(forms.values(), forms.items()):
            if word != other and {word, other} <= known.keys():
                found.setdefault((word, tag), set()).add((form, other))
    return found


def _replaced(tokens: Tokens, position: int, *words: str) -> Tokens:
    return (*tokens[:position], *words, *tokens[position + 1 :])


def _agreement(tokens: Tokens, tags: list[str], families: Families) -> Iterator[Tokens]:
    for position, token in enumerate(tokens):
        if token in _NUMBERS and tags[position] in ("AUX", "VERB"):
            yield _replaced(tokens, position, _NUMBERS[token])


def _article(tokens: Tokens, tags: list[str], families: Families) -> Iterator[Tokens]:
    for position, token in enumerate(tokens):
        if token in ("a", "an"):
            yield _replaced(tokens, position, "an" if token == "a" else "a")


def _order(tokens: Tokens, tags: list[str], families: Families) -> Iterator[Tokens]:
    """An article or preposition after the word that it should precede."""
    for position in range(len(tokens) - 1):
        if tags[position] in ("DET", "ADP") and tags[position + 1] in ("NOUN", "PROPN", "DET"):
            yield (
                *tokens[:position],
                tokens[position + 1],
                tokens[position],
                *tokens[position + 2 :],
            )


def _inflection(tokens: Tokens, tags: list[str], families: Families) -> Iterator[Tokens]:
    """Forms that are wrong in any English: opened → opening, to read → to reads, a cat → a cats."""
    for position in range(1, len(tokens) - 1):
        token, before, after = tokens[position], tokens[position - 1], tokens[position + 1]
        for form, other in sorted(families.get((token, tags[position]), ())):
            verb = tags[position] == "VERB" and (
                before in _BASE_FOLLOWS
                or (form == "ing" and tags[position - 1] in ("PROPN", "PRON"))
                or (
                    form == "base"
                    and (tags[position - 1] == "PROPN" or before in ("he", "she", "it"))
                )
            )
            counted = (
                before in ("a", "an") or tags[position - 1] == "NUM" or tags[position + 1] == "NUM"
            )
            compared = (after == "than" and form == "base") or (before == "as" and form == "er")
            if (
                verb
                or (tags[position] == "NOUN" and counted)
                or (tags[position] == "ADJ" and compared)
            ):
                yield _replaced(tokens, position, other)


def _case(tokens: Tokens, tags: list[str], families: Families) -> Iterator[Tokens]:
    for position, token in enumerate(tokens):
        if tags[position] == "PRON":
            if token in _CASES:
                yield _replaced(tokens, position, _CASES[token])
            elif token == "her":
                yield _replaced(tokens, position, "she")


def _missing(tokens: Tokens, tags: list[str], families: Families) -> Iterator[Tokens]:
    for position in range(1, len(tokens) - 1):
        if tags[position] in ("AUX", "PART") or (
            tags[position] == "ADP" and tags[position + 1] in ("DET", "PROPN")
        ):
            yield _replaced(tokens, position)


_MISTAKES: dict[str, Mistake] = {
    "agreement": _agreement,
    "article": _article,
    "order": _order,
    "inflection": _inflection,
    "case": _case,
    "missing": _missing,
}
