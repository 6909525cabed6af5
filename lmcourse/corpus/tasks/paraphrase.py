"""Paraphrase: do two sentences say the same?"""

from collections.abc import Callable
from random import Random

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.tasks.drawing import in_turn
from lmcourse.corpus.tasks.entailment import ConstructedPair
from lmcourse.corpus.tasks.material import Material
from lmcourse.corpus.tasks.task import Task, certain


def paraphrase(world: BookWorld, n: int, seed: int = 0) -> Task[ConstructedPair]:
    """Two sentences that say the same, or the same words with another meaning.

    In each of the seven constructions (``order``, ``comparison``, ``capital``, ``author``,
    ``place``, ``cleft``, ``contrast``) the second sentence consists of the same words whether it is
    a paraphrase or not: only their order differs. So word overlap is uninformative.

    Args:
        seed: everything is drawn from it; no review is used.

    Returns:
        A task with the labels ``paraphrase`` and ``different``, equally frequent. The best score is
        exactly one: the text decides.
    """
    random = Random(f"paraphrase {seed}")
    material = Material(world, random)
    examples = []
    for label in in_turn(("paraphrase", "different"), n, random):
        construction = random.choice(list(_CONSTRUCTIONS))
        first, second = _CONSTRUCTIONS[construction](material, label == "paraphrase")
        examples.append(
            ConstructedPair(tuple(first.split()), tuple(second.split()), label, construction)
        )
    how = "Whether they say the same is a function of the two sentences (and of the capitals)."
    return Task(
        name="paraphrase",
        question="Do the two sentences say the same?",
        labels=("paraphrase", "different"),
        examples=tuple(examples),
        chance=0.5,
        metric="accuracy",
        how=how,
        bound=certain(how),
    )


def _order(material: Material, same: bool) -> tuple[str, str]:
    random = material.random
    earlier, later = (event.text for event in material.events(2))
    first = random.choice((f"after {earlier} , {later} .", f"before {later} , {earlier} ."))
    if not same:
        earlier, later = later, earlier
    return first, random.choice((f"{later} after {earlier} .", f"{earlier} before {later} ."))


def _comparison(material: Material, same: bool) -> tuple[str, str]:
    more, less = material.opposites()
    one, two = material.names(2)
    last = (two, one) if same else (one, two)
    return f"{one} is {more} than {two} .", f"{last[0]} is {less} than {last[1]} ."


def _capital(material: Material, same: bool) -> tuple[str, str]:
    (city, country), (other, land) = material.cities(2)
    lands = (country, land) if same else (land, country)
    pair = [
        f"the story begins in {city} and ends in {other} .",
        f"the story begins in the capital of {lands[0]} and ends in the capital of {lands[1]} .",
    ]
    material.random.shuffle(pair)
    return pair[0], pair[1]


def _author(material: Material, same: bool) -> tuple[str, str]:
    one, two = material.books(2)
    authors = (one.author, two.author) if same else (two.author, one.author)
    pair = [
        f"{one.author} wrote {one.title} and {two.author} wrote {two.title} .",
        f"{one.title} is by {authors[0]} and {two.title} is by {authors[1]} .",
    ]
    material.random.shuffle(pair)
    return pair[0], pair[1]


def _place(material: Material, same: bool) -> tuple[str, str]:
    one, two = material.events(2)
    places = (one.where, two.where) if same else (two.where, one.where)
    meanwhile = material.word("while", "and")
    pair = [
        f"{one.text} {one.where} {meanwhile} {two.text} {two.where} .",
        f"{places[0]} , {one.text} , and {places[1]} , {two.text} .",
    ]
    material.random.shuffle(pair)
    return pair[0], pair[1]


def _cleft(material: Material, same: bool) -> tuple[str, str]:
    random = material.random
    subject, object_ = random.sample(material.roles(), 2)
    verb = material.word("thanked", "followed", "warned", "rescued")
    who, whom = (subject, object_) if same else (object_, subject)
    pair = [
        f"the {subject} {verb} the {object_} .",
        f"it was the {who} who {verb} the {whom} .",
    ]
    random.shuffle(pair)
    return pair[0], pair[1]


def _contrast(material: Material, same: bool) -> tuple[str, str]:
    event = material.events(1)[0]
    did, did_not = material.names(2)
    who, who_not = (did, did_not) if same else (did_not, did)
    pair = [
        f"{did} {event.act} {event.where} , but {did_not} did not .",
        f"it was {who} and not {who_not} who {event.act} {event.where} .",
    ]
    material.random.shuffle(pair)
    return pair[0], pair[1]


_CONSTRUCTIONS: dict[str, Callable[[Material, bool], tuple[str, str]]] = {
    "order": _order,
    "comparison": _comparison,
    "capital": _capital,
    "author": _author,
    "place": _place,
    "cleft": _cleft,
    "contrast": _contrast,
}
