"""One generated review: its tokens, what is known of each, and its text as one would print it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from lmcourse.corpus.bookworld.network import Network
from lmcourse.corpus.bookworld.registers import CHARACTERS
from lmcourse.corpus.bookworld.templates import SENTENCE_ENDS, Tag

_TITLES = {
    "@book": ("book.adjective", "book.noun"),
    "@other": ("book.other_adjective", "book.other_noun"),
}
_TIGHT = {".", ",", "?", "!", ";", ":"}  # no space before them


class Fact(NamedTuple):
    """One edge of the knowledge graph: ``Fact("paris", "capital_of", "france")``."""

    subject: str
    relation: str
    object: str


class Agreement(NamedTuple):
    """A subject and the verb that agrees with it, by their positions among the tokens."""

    subject: int
    verb: int
    number: str  # singular or plural
    attractors: int  # nouns between the two


class Sentence(NamedTuple):
    """One sentence: its tokens are ``tokens[start:end]``."""

    start: int
    end: int
    stage: str | None  # opening, setting, meeting, problem, turn, end, opinion, …
    spoiler: bool
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Review:
    """One review of BookWorld, with labels aligned to its tokens.

    Attributes:
        seed, index: it is review ``index`` of ``world.sample(n, seed)``.
        class_, held, ids, arcs: the latent class, the registers' contents, the tokens' ids and the
            automaton's arcs (with ``END`` as the last): how it was drawn.
    """

    network: Network = field(repr=False, compare=False)  # heavy: pickle record() or tokens instead
    seed: int
    index: int
    class_: int
    held: tuple[int, ...]
    ids: tuple[int, ...]
    arcs: tuple[int, ...]

    def __repr__(self) -> str:
        return f"Review({self.genre}, {self.rating} stars: {self.text[:60]!r} …)"

    @cached_property
    def tokens(self) -> list[str]:
        """The lower-case words and punctuation marks, without the closing ``END``."""
        return [self.network.vocabulary[id_] for id_ in self.ids[:-1]]

    @cached_property
    def tags(self) -> list[Tag]:
        """All labels of each token, as the grammar gives them."""
        return [self.network.tags[tag] for tag in self.network.tag[list(self.arcs[:-1])].tolist()]

    @property
    def parts_of_speech(self) -> list[str]:
        """Of each token, by Universal Dependencies' names. Possessives are DET, so that *her* is
        one thing or another by what follows."""
        return [tag.part_of_speech for tag in self.tags]

    @property
    def senses(self) -> list[str | None]:
        """Of each polysemous noun, ``money`` or ``river`` and so on; None for other tokens."""
        return [tag.sense for tag in self.tags]

    @property
    def antecedents(self) -> list[str | None]:
        """Of each pronoun that means a character, that character's name; None for other tokens."""
        return [
            self.held_value((tag.register or "").split(".")[0]) if _is_pronoun(tag) else None
            for tag in self.tags
        ]

    @cached_property
    def agreements(self) -> list[Agreement]:
        """Each verb that agrees with a marked subject."""
        found, subject = [], 0
        for position, tag in enumerate(self.tags):
            role, number = tag.agreement or ("", "")
            if role == "subject":
                subject = position
            elif role == "verb":
                between = self.parts_of_speech[subject + 1 : position]
                found.append(Agreement(subject, position, number, between.count("NOUN")))
        return found

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences in order; together they hold every token."""
        found, start = [], 0
        for position, token in enumerate(self.tokens):
            if token in SENTENCE_ENDS:
                marks = [mark for tag in self.tags[start : position + 1] for mark in tag.marks]
                plain = [mark for mark in marks if ":" not in mark and mark != "spoiler"]
                facts = tuple(
                    fact_of(mark, self.held_value) for mark in marks if mark.startswith("fact:")
                )
                stage = plain[0] if plain else None
                found.append(Sentence(start, position + 1, stage, "spoiler" in marks, facts))
                start = position + 1
        return found

    @property
    def genre(self) -> str:
        """The genre of the book."""
        return self.network.grammar.genres[self.class_ // self.network.ratings]

    @property
    def rating(self) -> int:
        """The stars, 1 to 5."""
        return self.class_ % self.network.ratings + 1

    @property
    def has_spoiler(self) -> bool:
        """Whether a sentence gives the ending away."""
        return any(sentence.spoiler for sentence in self.sentences)

    @property
    def before_closing(self) -> list[str]:
        """The tokens before the closing sentences, which tell the stars: what a rating is to be
        guessed from."""
        ends = [sentence.start for sentence in self.sentences if sentence.stage == "closing"]
        return self.tokens[: min(ends, default=len(self.tokens))]

    @property
    def facts(self) -> list[Fact]:
        """The facts that the text states."""
        return [fact for sentence in self.sentences for fact in sentence.facts]

    @property
    def hero(self) -> str:
        """The first name of the main character."""
        return self.held_value("hero")

    @property
    def second(self) -> str:
        """The first name of the second character."""
        return self.held_value("second")

    @property
    def author(self) -> str:
        """The author's last name."""
        return self.held_value("book.last")

    @property
    def title(self) -> str:
        """The title of the book, in lower-case words."""
        return f"the {self.held_value('book.adjective')} {self.held_value('book.noun')}"

    def held_value(self, attribute: str) -> str:
        """What a register holds in this review: ``held_value("book.city")``."""
        family, column = self.network.attributes[self.network.attribute[attribute]]
        return self.network.registers[family].values[self.held[family]][column]

    @cached_property
    def text(self) -> str:
        """The review as it would be printed: capitals, spaces and punctuation in place."""
        return " ".join(self.sentence_texts)

    @cached_property
    def sentence_texts(self) -> list[str]:
        """Each sentence as it would be printed."""
        return [self._printed(sentence.start, sentence.end) for sentence in self.sentences]

    def record(self) -> dict[str, Any]:
        """The review in the layout of the Goodreads spoiler data, as one JSON line holds it."""
        day = self.index % 28 + 1
        return {
            "user_id": f"bookworld-{self.seed}-{self.index % 97}",  # 97 readers for each seed
            "timestamp": f"2020-{self.index % 12 + 1:02d}-{day:02d}",
            "review_sentences": [
                [int(sentence.spoiler), text]
                for sentence, text in zip(self.sentences, self.sentence_texts, strict=True)
            ],
            "rating": self.rating,
            "has_spoiler": self.has_spoiler,
            "book_id": self.title.replace(" ", "-"),
            "review_id": f"bookworld-{self.seed}-{self.index}",
        }

    def _printed(self, start: int, end: int) -> str:
        capitals = self.network.grammar.capitals
        text = ""
        for position in range(start, end):
            token, tag = self.tokens[position], self.tags[position]
            upper = (
                position == start
                or tag.part_of_speech == "PROPN"
                or token in capitals
                or (tag.register or "").endswith(("adjective", "noun"))
                or self._begins_title(position)
            )
            text += ("" if token in _TIGHT or not text else " ") + (
                token[:1].upper() + token[1:] if upper else token
            )
        return text

    def _begins_title(self, position: int) -> bool:
        following = self.tags[position + 1 : position + 2]
        register = following[0].register if following else None
        return self.tokens[position] == "the" and (register or "").endswith("adjective")


def _is_pronoun(tag: Tag) -> bool:
    name, _, form = (tag.register or "").partition(".")
    return name in CHARACTERS and form in ("he", "him", "his")


def fact_of(mark: str, held: Callable[[str], str]) -> Fact:
    """The fact that a mark such as ``fact:@book.last:wrote:@book`` denotes.

    Args:
        held: what a register holds: ``held("book.last")``.
    """

    def entity(part: str) -> str:
        if not part.startswith("@"):
            return part
        if part in _TITLES:
            return " ".join(["the", *(held(name) for name in _TITLES[part])])
        return held(part[1:])

    return Fact(*(entity(part) for part in mark.split(":")[1:]))
