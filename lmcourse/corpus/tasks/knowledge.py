"""Knowledge: a graph of facts, some never stated in reviews, and questions that need it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from lmcourse.corpus.bookworld import BookWorld, Fact, Review
from lmcourse.corpus.bookworld.floors import ratio
from lmcourse.corpus.bookworld.review import fact_of
from lmcourse.corpus.tasks.drawing import Pool, in_turn
from lmcourse.corpus.tasks.material import table
from lmcourse.corpus.tasks.task import (
    Best,
    Example,
    Task,
    certain,
    checked_option,
)

# The columns of the table `books` that no line of the grammar reads.
UNSTATED = {"born_in": "born", "won": "prize", "influenced_by": "influence"}
HELD_OUT = 3  # every third author is only in the test


@dataclass(frozen=True)
class KnowledgeQuestion(Example):
    """A sentence that names an author, and a question whose answer is in the graph only.

    Attributes:
        tokens: the sentence.
        label: the answer, the object of the fact.
        subject: the author's last name, a token of the sentence.
        relation: one of ``UNSTATED``.
        genre: of the author's books, as the sentence may tell.
    """

    subject: str
    relation: str
    genre: str


def graph(world: BookWorld) -> list[Fact]:
    """All facts about BookWorld's authors, books and cities, each once.

    Authors are named by their last names, books by their titles. The relations: ``wrote``,
    ``lives_in``, ``part_of`` (a series), ``capital_of``; and ``born_in``, ``won``,
    ``influenced_by``, which no text states.
    """
    facts = [Fact(row["city"], "capital_of", row["country"]) for row in table(world, "cities")]
    for row in table(world, "books"):
        title, author = f"the {row['adjective']} {row['noun']}", row["last"]
        facts += [
            Fact(author, "wrote", title),
            Fact(title, "part_of", row["series"]),
            Fact(author, "lives_in", row["city"]),
        ]
        facts += [
            Fact(author, relation, row[column])
            for relation, column in UNSTATED.items()
            if column in row
        ]
    return list(dict.fromkeys(facts))


def stated(world: BookWorld) -> list[Fact]:
    """The facts that some review states, in the order of ``graph``.

    They are read off the grammar: the marks ``!fact:…`` of every sentence that can be said.
    """
    network = world.network
    book = network.registers[1]
    used = {network.tags[tag] for tag in set(network.tag.tolist())}
    marks = {mark for tag in used for mark in tag.marks if mark.startswith("fact:")}
    found = set()
    for mark in marks:
        for value in book.values if "@" in mark else book.values[:1]:
            held = dict(zip(book.attributes, value, strict=True))
            found.add(fact_of(mark, held.__getitem__))
    return [fact for fact in graph(world) if fact in found]


def knowledge_questions(
    world: BookWorld,
    n: int,
    seed: int = 0,
    authors: str = "test",
    reviews: Sequence[Review] | None = None,
) -> Task[KnowledgeQuestion]:
    """Questions about an author whom a sentence names, which no text answers.

    Where was the author born, which prize was won, by whom was the author influenced? The text is
    drawn without looking at these facts, so a model without the graph can only know how frequent
    answers are: see ``best_without_graph``.

    Args:
        seed: reviews are drawn from a seed of the task's own: none is one of ``world.split``.
        authors: ask about a third of the authors (``test``) or the others (``train``): whoever
            learns the answers of the one by heart does not know those of the other.
        reviews: take the sentences from these instead.

    Returns:
        A task whose labels are all answers to the three questions; the questions are equally
        frequent, to one. The best score is exactly one, for a model with the graph.
    """
    checked_option("authors", authors, ("train", "test"))
    name = "knowledge_questions"
    rows = {row["last"]: row for row in table(world, "books")}
    chosen = {
        author: row
        for number, (author, row) in enumerate(rows.items())
        if (number % HELD_OUT == HELD_OUT - 1) == (authors == "test")
    }
    pool = Pool(world, f"{name} {authors}", seed, partial(_mentions, tuple(chosen)), reviews)
    examples = []
    for relation in in_turn(tuple(UNSTATED), n, Random(f"{name} {authors} {seed}")):
        tokens, author = pool.take(None)
        row = chosen[author]
        label = row[UNSTATED[relation]]
        examples.append(KnowledgeQuestion(tokens, label, author, relation, row["genre"]))
    answers = {row[column] for row in rows.values() for column in UNSTATED.values()}
    how = "The graph has one answer for each author and relation."
    return Task(
        name=name,
        question="What does the graph say of the author?",
        labels=tuple(sorted(answers)),
        examples=tuple(examples),
        chance=1 / len(answers),
        metric="accuracy",
        how=how,
        bound=certain(how),
    )


def best_without_graph(world: BookWorld, task: Task[KnowledgeQuestion]) -> Best:
    """The best expected score of a model that reads the text, but knows no author's facts.

    A sentence contains the author and so indicates the genre. For an unknown author, such
    a model can know no more than how often each answer is right among the genre's authors, and
    gives the most frequent one.
    """
    rows = {row["last"]: row for row in table(world, "books")}
    seen: dict[tuple[str, str], Counter[str]] = {}
    for row in rows.values():
        for relation, column in UNSTATED.items():
            seen.setdefault((relation, row["genre"]), Counter())[row[column]] += 1
    shares = {key: max(each.values()) / each.total() for key, each in seen.items()}
    found = [shares[example.relation, example.genre] for example in task.examples]
    how = "The most frequent answer's share among the authors of the genre, for each relation."
    return Best(*ratio(found, [1.0] * len(found)), exact=True, how=how)


def _mentions(
    authors: tuple[str, ...], review: Review, random: Random
) -> Iterator[tuple[None, tuple[tuple[str, ...], str]]]:
    """The first sentence that names the author."""
    if review.author not in authors:
        return
    for sentence in review.sentences:
        tokens = tuple(review.tokens[sentence.start : sentence.end])
        if review.author in tokens:
            yield None, (tokens, review.author)
            return
