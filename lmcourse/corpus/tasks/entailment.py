"""Entailment: does the second sentence follow from the first, contradict it, or neither?"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.tasks.drawing import in_turn
from lmcourse.corpus.tasks.material import Material
from lmcourse.corpus.tasks.task import SentencePair, Task, certain

LABELS = ("entailment", "neutral", "contradiction")


@dataclass(frozen=True)
class ConstructedPair(SentencePair):
    """A pair that was built on purpose.

    Attributes:
        construction: the name of what determines its label, such as ``order``.
    """

    construction: str


def entailment(world: BookWorld, n: int, seed: int = 0) -> Task[ConstructedPair]:
    """Premises and hypotheses, written from the grammar's tables in eight constructions.

    The hypothesis depends on the label only through who does what to whom: for
    each construction, the words of the premise and the form of the hypothesis are drawn alike for
    all three labels. So neither the words, nor how many of them the two sentences share, nor the
    hypothesis alone is informative (``bag_of_words`` stays at chance).

    The constructions: ``order`` (before and after), ``ellipsis`` (did not), ``quantity``
    (everybody, nobody), ``comparison``, ``capital`` (needs to know which city is the capital of
    which country), ``verdict``, ``pronoun``, ``author``.

    Args:
        seed: everything is drawn from it; no review is used.

    Returns:
        A task with the labels ``entailment``, ``neutral`` and ``contradiction``, equally frequent.
        The best score is exactly one: the text decides.
    """
    random = Random(f"entailment {seed}")
    material = Material(world, random)
    examples = []
    for label in in_turn(LABELS, n, random):
        construction = random.choice(list(_CONSTRUCTIONS))
        premise, hypothesis = _CONSTRUCTIONS[construction](material, label)
        examples.append(
            ConstructedPair(tuple(premise.split()), tuple(hypothesis.split()), label, construction)
        )
    how = (
        "The label is a function of the two sentences; for `capital`, with knowledge of the cities."
    )
    return Task(
        name="entailment",
        question="If the first sentence is true, is the second true, false, or may it be either?",
        labels=LABELS,
        examples=tuple(examples),
        chance=1 / 3,
        metric="accuracy",
        how=how,
        bound=certain(how),
    )


def _order(material: Material, label: str) -> tuple[str, str]:
    """After two events the order of each with the first is known, not that of the two."""
    random = material.random
    head, second, third = (event.text for event in material.events(3))
    word = random.choice(("after", "before"))
    premise = random.choice(
        (
            f"{head} {word} {second} and {word} {third} .",
            f"{word} {second} and {word} {third} , {head} .",
        )
    )
    if label == "neutral":
        earlier, later = random.sample((second, third), 2)
    else:
        other = random.choice((second, third))
        earlier, later = (other, head) if word == "after" else (head, other)
        if label == "contradiction":
            earlier, later = later, earlier
    return premise, random.choice((f"{earlier} before {later} .", f"{later} after {earlier} ."))


def _ellipsis(material: Material, label: str) -> tuple[str, str]:
    event = material.events(1)[0]
    did, did_not, unknown = material.names(3)
    premise = material.random.choice(
        (
            f"{did} {event.act} {event.where} , {did_not} did not , and nobody asked {unknown} .",
            f"nobody asked {unknown} , but {did} {event.act} {event.where} , "
            f"and {did_not} did not .",
        )
    )
    name = dict(zip(LABELS, (did, unknown, did_not), strict=True))[label]
    return premise, f"{name} {event.act} {event.where} ."


def _quantity(material: Material, label: str) -> tuple[str, str]:
    (all_, _), (none, _), (unknown, _) = material.cities(3)
    food = material.food()
    premise = material.random.choice(
        (
            f"everybody eats {food} in {all_} and nobody eats {food} in {none} , "
            f"but i never saw {unknown} .",
            f"i never saw {unknown} , but nobody eats {food} in {none} and everybody eats {food} "
            f"in {all_} .",
        )
    )
    city = dict(zip(LABELS, (all_, unknown, none), strict=True))[label]
    return premise, f"the mayor eats {food} in {city} ."


def _comparison(material: Material, label: str) -> tuple[str, str]:
    first, second, third = material.names(3)
    more = material.er(material.grades(1)[0])
    premise = f"{first} is {more} than {second} and {more} than {third} ."
    other = material.random.choice((second, third))
    pairs = {
        "entailment": (first, other),
        "neutral": tuple(material.random.sample((second, third), 2)),
        "contradiction": (other, first),
    }
    return premise, f"{pairs[label][0]} is {more} than {pairs[label][1]} ."


def _capital(material: Material, label: str) -> tuple[str, str]:
    """Of the country, any city may be meant; of the capital, only one."""
    random = material.random
    (city, country), (capital, land) = material.cities(2)
    vague, exact = random.sample(("begins", "ends"), 2)
    places = {vague: country, exact: f"the capital of {land}"}
    premise = f"the story begins in {places['begins']} and ends in {places['ends']} ."
    stage, place = {
        "entailment": (exact, capital),
        "neutral": (vague, city),
        "contradiction": random.choice(((exact, city), (vague, capital))),
    }[label]
    return premise, f"the story {stage} in {place} ."


def _verdict(material: Material, label: str) -> tuple[str, str]:
    random = material.random
    praised, blamed, unknown = material.aspects(3)
    clauses = [
        f"the {praised} is {material.verdict(True)}",
        f"the {blamed} is {material.verdict(False)}",
    ]
    random.shuffle(clauses)
    premise = f"{clauses[0]} , {clauses[1]} , and i never noticed the {unknown} ."
    positive = random.random() < 0.5
    aspect = {
        "entailment": praised if positive else blamed,
        "neutral": unknown,
        "contradiction": blamed if positive else praised,
    }[label]
    return premise, f"the {aspect} is {'good' if positive else 'not good'} ."


def _pronoun(material: Material, label: str) -> tuple[str, str]:
    random = material.random
    roles = dict(zip(("he", "she"), material.roles(), strict=True))
    subject, object_ = random.sample(sorted(roles.values()), 2)
    pronoun = random.choice(("he", "she"))
    verb = material.word("thanked", "followed", "warned", "rescued")
    true, false = material.grades(2)
    said = random.choice((f"{true} and not {false}", f"not {false} but {true}"))
    premise = f"the {subject} {verb} the {object_} because {pronoun} was {said} ."
    other = roles["she" if pronoun == "he" else "he"]
    role, adjective = {
        "entailment": (roles[pronoun], true),
        "neutral": (other, random.choice((true, false))),
        "contradiction": (roles[pronoun], false),
    }[label]
    return premise, f"the {role} was {adjective} ."


def _author(material: Material, label: str) -> tuple[str, str]:
    """A book has one author."""
    random = material.random
    one, two, third = material.books(3)
    clauses = [f"{book.author} wrote {book.title}" for book in (one, two)]
    premise = f"{clauses[0]} , {clauses[1]} , and i borrowed {third.title} ."
    book, other = random.sample((one, two), 2)
    title = {
        "entailment": book.title,
        "neutral": third.title,
        "contradiction": other.title,
    }[label]
    return premise, f"{book.author} wrote {title} ."


_CONSTRUCTIONS: dict[str, Callable[[Material, str], tuple[str, str]]] = {
    "order": _order,
    "ellipsis": _ellipsis,
    "quantity": _quantity,
    "comparison": _comparison,
    "capital": _capital,
    "verdict": _verdict,
    "pronoun": _pronoun,
    "author": _author,
}
