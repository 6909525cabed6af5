"""The grammar's text: word forms, lines that a teacher adds, and what is compiled of them."""

import math
from collections import Counter

import numpy as np
import pytest

from lmcourse.corpus.bookworld import END, LANGUAGE, BookWorld, Grammar
from lmcourse.corpus.bookworld.morphology import article, inflect
from tests.corpus.bookworld.grammars import SMALL, world_of

IRREGULAR = {"plural": {"wolf": "wolves"}, "past": {"keep": "kept"}, "er": {"good": "better"}}


@pytest.mark.parametrize(
    ("lemma", "form", "word"),
    [
        ("cat", "plural", "cats"),
        ("box", "plural", "boxes"),
        ("church", "plural", "churches"),
        ("city", "plural", "cities"),
        ("day", "plural", "days"),
        ("wolf", "plural", "wolves"),
        ("wolf", "singular", "wolf"),
        ("moor", "past", "moored"),
        ("stop", "past", "stopped"),
        ("visit", "past", "visited"),
        ("love", "past", "loved"),
        ("carry", "past", "carried"),
        ("play", "past", "played"),
        ("mix", "past", "mixed"),
        ("keep", "past", "kept"),
        ("quit", "ing", "quitting"),
        ("dance", "ing", "dancing"),
        ("see", "ing", "seeing"),
        ("tie", "ing", "tying"),
        ("dye", "ing", "dyeing"),
        ("open", "ing", "opening"),
        ("catch", "s", "catches"),
        ("carry", "s", "carries"),
        ("slow", "er", "slower"),
        ("big", "er", "bigger"),
        ("wide", "er", "wider"),
        ("happy", "est", "happiest"),
        ("gray", "est", "grayest"),
        ("good", "er", "better"),
        ("deep", "est", "deepest"),
    ],
)
def test_word_forms(lemma, form, word):
    assert inflect(lemma, form, IRREGULAR) == word


def test_an_unknown_form_is_an_error():
    with pytest.raises(KeyError):
        inflect("cat", "dual", {})


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("apple", "an"),
        ("book", "a"),
        ("hour", "an"),
        ("honest", "an"),
        ("heir", "an"),
        ("house", "a"),
        ("useful", "a"),
        ("university", "a"),
        ("uncle", "an"),
        ("european", "a"),
        ("ugly", "an"),
        ("unimportant", "an"),
        ("uninvited", "an"),
        ("unidentified", "an"),
        ("unidirectional", "a"),
        ("unicorn", "a"),
        ("onerous", "an"),
        ("one", "a"),
        ("once", "a"),
        ("utopia", "a"),
        ("utter", "an"),
        ("ukulele", "a"),
        ("umbrella", "an"),
        ("ewe", "a"),
        ("usher", "an"),
        ("usual", "a"),
        ("urgent", "an"),
        ("honey", "a"),
    ],
)
def test_articles_follow_the_sound(word, expected):
    assert article(word) == expected


def test_a_teacher_s_article_is_said():
    assert article("unimodal", {"unimodal": "a"}) == "a" and article("hour", {"x": "a"}) == "an"
    world = world_of(body_text("  a (canoe | star) .\n") + "irregular article\n  canoe an\n")
    assert {review.text for review in world.sample(20)} == {"An canoe.", "A star."}


# ------------------------------------------------------------------------------- lines are added


def test_a_teacher_adds_lines_in_a_folder_of_their_own(tmp_path):
    (tmp_path / "mine.grammar").write_text(
        "words lexicon_mine NOUN : teapot\n"
        "rule review\n"
        "  3 my teapot/NOUN read it/PRON . !closing !fact:teapot:wrote:@book.last\n"
        "words lexicon_mine NOUN\n"
        "  saucer\n".replace("my", "my/DET").replace("read", "read/VERB"),
        encoding="utf-8",
    )
    (tmp_path / "not_read.txt").write_text("rule nonsense\n", encoding="utf-8")
    own, world = BookWorld(), BookWorld(Grammar.read(LANGUAGE, tmp_path))
    tokens = ["my", "teapot", "read", "it", ".", END]
    # The course's one line has the weight 1, this one 3.
    assert math.isclose(math.exp(world.log_prob(tokens)), 3 / 4, rel_tol=1e-12)
    added = [review for review in world.sample(400, seed=1) if "teapot" in review.tokens]
    assert abs(len(added) / 400 - 3 / 4) < 0.1
    assert added[0].text == "My teapot read it." and added[0].facts[0].relation == "wrote"
    text = [*own.sample(1, seed=3)[0].tokens, END]
    assert abs(world.log_prob(text) - own.log_prob(text) - math.log(1 / 4)) < 1e-9
    assert own.digest != world.digest


def test_the_recipe_for_a_genre_works_as_the_readme_says(tmp_path, world):
    recipe = (LANGUAGE / "README.md").read_text(encoding="utf-8").split("```text\n")[1]
    text = recipe.split("```")[0]
    assert text.startswith("genres horror")
    (tmp_path / "horror.grammar").write_text(text, encoding="utf-8")
    own = BookWorld(Grammar.read(LANGUAGE, tmp_path))
    assert own.genres == [*world.genres, "horror"]
    weights = own.grammar.weights
    assert weights["mystery"].numbers == [0.990, *[0.002] * 6]
    assert weights["likes_mystery"].numbers == [4, *[1] * 6]
    assert weights["horror"].numbers == [*[0.002] * 6, 0.990]
    reviews = own.sample(600, seed=2)
    frights = [review for review in reviews if review.genre == "horror"]
    assert 0.05 < len(frights) / len(reviews) < 0.25  # a seventh
    mine = ("vampire", "werewolf", "skeleton", "mummy")
    for stage, share in (("meeting", 0.9), ("problem", 0.9)):
        said = [
            own_words(review, stage, mine)
            for review in frights
            if any(each.stage == stage for each in review.sentences)
        ]
        assert abs(sum(said) / len(said) - share) < 0.1
    books = sum(review.title.split()[-1] in ("vampire", "skeleton") for review in frights)
    assert books / len(frights) > 0.7
    others = [review for review in reviews if review.genre != "horror"]
    assert sum(own_words(review, "meeting", mine) for review in others) / len(others) < 0.02


def own_words(review, stage: str, words: tuple[str, ...]) -> bool:
    """Whether a sentence of a stage has one of some words."""
    return any(
        word in review.tokens[each.start : each.end]
        for each in review.sentences
        if each.stage == stage
        for word in words
    )


def test_a_block_begun_again_needs_no_columns_and_no_zipf():
    text = SMALL + "table cities\n  oslo | norway\nwords praise ADJ : fine\n"
    grammar = world_of(text).grammar
    assert grammar.tables["cities"].rows[-1] == {"city": "oslo", "country": "norway"}
    assert grammar.classes["praise"].zipf == 1 and grammar.classes["praise"].words[-1] == "fine"
    same = SMALL + "table cities : city | country\n  oslo | norway\nwords praise ADJ zipf 1 : fine"
    assert world_of(same).vocabulary == world_of(text).vocabulary


def test_weights_before_a_line_and_in_a_choice_are_written_alike():
    for half in (".5", "0.5"):
        world = body_of(
            f"  {half} the bank .\n  [{half}] the canoe .\n  ({half} star | 1.5 stars) .\n"
        )
        assert math.isclose(math.exp(world.log_prob(["the"])), 0.5)
        assert math.isclose(math.exp(world.log_prob(["star"])), 0.5 * 0.25)


def test_a_byte_order_mark_is_left_out(tmp_path):
    (tmp_path / "small.grammar").write_text(SMALL, encoding="utf-8-sig")
    assert Grammar.read(tmp_path).genres == ["mystery", "romance"]


def test_a_block_can_be_begun_again_and_comments_are_left_out():
    head, _, tail = SMALL.partition("words blame ADJ : awful dull")
    text = (
        f"{head}# a comment\nwords blame ADJ : awful  # another\n\nwords blame ADJ\n  dull\n{tail}"
    )
    one, other = world_of(SMALL), world_of(text)
    assert one.vocabulary == other.vocabulary
    for review in one.sample(20):
        assert one.log_prob(review.tokens) == other.log_prob(review.tokens)


# ----------------------------------------------------------------------------------- compilation


def body_text(lines: str) -> str:
    """The small grammar with reviews that are these lines."""
    start, end = SMALL.index("rule review"), SMALL.index("rule opening")
    return f"{SMALL[:start]}rule review\n{lines}{SMALL[end:]}"


def body_of(lines: str) -> BookWorld:
    """A world whose reviews are these lines."""
    return world_of(body_text(lines))


def test_lines_that_begin_or_end_alike_share_states():
    merged = body_of("  the bank was great .\n  the canoe was great .\n  the bank was dull .\n")
    # Before: the; bank or canoe; was; was (of canoe); great or dull; great; `.`; <end>; nothing.
    assert merged.network.states == 9 and merged.vocabulary[0] == END
    tokens = ["the", "bank", "was"]
    assert math.isclose(math.exp(merged.log_prob(tokens)), 2 / 3)
    assert math.isclose(math.exp(merged.log_prob([*tokens, "dull", ".", END])), 1 / 3)
    # Equal beginnings are one way: each state and token lead to one state only.
    network = merged.network
    ways = Counter(zip(network.source.tolist(), network.emission.tolist(), strict=True))
    assert max(ways.values()) == 1


def test_states_from_which_the_same_is_said_are_one():
    world = body_of("  i love ( great | dull ) .\n  i read ( dull | great ) .\n")
    # Before: i; love or read; great or dull, of both lines; `.`; <end>; nothing.
    assert world.network.states == 6


def test_the_weights_of_equal_lines_add_up():
    lines = ["2 the bank .", "the canoe .", "3 the bank .", "[0.5] ( 2 the | the ) canoe ."]
    world = body_of("".join(f"  {line}\n" for line in lines))
    assert math.isclose(math.exp(world.log_prob(["the", "bank"])), 5 / 6.5)
    assert math.isclose(math.exp(world.log_prob(["the", "canoe", ".", END])), 1.5 / 6.5)


def test_parts_of_no_weight_are_never_said():
    world = body_of("  ( 0 the bank | 0 the canoe | i love ) .\n")
    assert {review.text for review in world.sample(50)} == {"I love."}
    assert world.log_prob(["the"]) == -math.inf


def test_every_state_s_weights_sum_to_one(world):
    for each in (world, world_of(SMALL)):
        network = each.network
        states = np.flatnonzero(np.diff(network.first))
        sums = np.add.reduceat(network.weight, network.first[states])
        assert abs(sums - 1).max() < 1e-12 and network.weight.min() >= 0
        assert states.tolist() == [s for s in range(network.states) if s != network.automaton.final]
        for shares in network.emission_probabilities:
            assert not len(shares) or abs(shares.sum() - 1) < 1e-12
