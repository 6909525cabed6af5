"""Sentence trees: the paper's figure 2 worked by hand, looking knowledge up, cutting, refusals."""

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.models.sentence_tree import TRUNK, Branch, KnowledgeBase, SentenceTree

COOK = ["Tim", "Cook"]
FACTS = [
    (COOK, ["CEO"], ["Apple"]),
    (["Beijing"], ["capital"], ["China"]),
    (["Beijing"], ["is_a"], ["City"]),
]
SENTENCE = ["[CLS]", "Tim", "Cook", "is", "visiting", "Beijing", "now"]
HARD = (
    *("[CLS]", "Tim", "Cook", "CEO", "Apple", "is", "visiting"),
    *("Beijing", "capital", "China", "is_a", "City", "now"),
)
SOFT = (0, 1, 2, 3, 4, 3, 4, 5, 6, 7, 6, 7, 6)
SEEN = """
xxx..xxx....x  [CLS]     the sentence
xxxxxxxx....x  Tim       the sentence, CEO Apple
xxxxxxxx....x  Cook      the sentence, CEO Apple
.xxxx........  CEO       Tim Cook CEO Apple
.xxxx........  Apple     Tim Cook CEO Apple
xxx..xxx....x  is        the sentence
xxx..xxx....x  visiting  the sentence
xxx..xxxxxxxx  Beijing   the sentence, capital China, is_a City
.......xxx...  capital   Beijing capital China
.......xxx...  China     Beijing capital China
.......x..xx.  is_a      Beijing is_a City
.......x..xx.  City      Beijing is_a City
xxx..xxx....x  now       the sentence
"""


def drawn(visible):
    return ["".join("x" if seen else "." for seen in row) for row in visible.tolist()]


def test_figure_2_by_hand():
    flat = KnowledgeBase(FACTS).tree(SENTENCE).flatten()
    assert flat.tokens == HARD
    assert flat.soft_positions == SOFT
    assert drawn(flat.visible) == [line.split()[0] for line in SEEN.split("\n")[1:-1]]
    assert flat.branches == (-1, -1, -1, 0, 0, -1, -1, -1, 1, 1, 2, 2, -1)
    assert flat.anchors == (0, 1, 2, 2, 2, 3, 4, 5, 5, 5, 5, 5, 6)
    # As the figure's caption says: "Apple(4)" cannot see "China(9)".
    assert not flat.visible[4, 9]


def test_what_each_sees_it_is_seen_by_and_each_sees_itself():
    visible = KnowledgeBase(FACTS).tree(SENTENCE).flatten().visible
    assert visible.equal(visible.T) and bool(visible.diagonal().all())


def test_the_sentence_keeps_the_positions_it_has_without_knowledge():
    flat = KnowledgeBase(FACTS).tree(SENTENCE).flatten()
    own = [n for n, branch in enumerate(flat.branches) if branch == TRUNK]
    assert [flat.tokens[n] for n in own] == SENTENCE
    assert [flat.soft_positions[n] for n in own] == list(range(7))
    assert bool(flat.visible[own][:, own].all())


def test_a_sentence_of_which_nothing_is_known_is_itself():
    flat = KnowledgeBase(FACTS).tree(["[CLS]", "It", "rains", "[SEP]"]).flatten()
    assert flat.tokens == ("[CLS]", "It", "rains", "[SEP]")
    assert flat.soft_positions == (0, 1, 2, 3) and bool(flat.visible.all())


def test_branches_of_entities_that_overlap():
    """Of a b c, what is known of a b, of b and of c; by hand."""
    branches = (Branch(0, 2, ("p",)), Branch(1, 2, ("q", "r")), Branch(2, 3, ("s",)))
    flat = SentenceTree(("a", "b", "c"), branches).flatten()
    assert flat.tokens == ("a", "b", "p", "q", "r", "c", "s")
    assert flat.soft_positions == (0, 1, 2, 2, 3, 2, 3)
    assert drawn(flat.visible) == [
        *("xxx..x.", "xxxxxx.", "xxx....", ".x.xx..", ".x.xx..", "xx...xx", ".....xx")
    ]


def test_the_longest_subject_is_taken_and_the_next_begins_behind_it():
    base = KnowledgeBase(
        [
            (["New"], ["is"], ["fresh"]),
            (["New", "York"], ["is"], ["big"]),
            (["York", "Times"], ["is"], ["wrong"]),
            (["New", "York", "Times", "Square"], ["is"], ["loud"]),
            (["Times"], ["are"], ["hard"]),
        ]
    )
    tree = base.tree(["The", "New", "York", "Times", "New"])
    assert tree.branches == (
        Branch(1, 3, ("is", "big")),
        Branch(3, 4, ("are", "hard")),
        Branch(4, 5, ("is", "fresh")),
    )
    square = ["New", "York", "Times", "Square"]
    assert base.tree(square).branches == (Branch(0, 4, ("is", "loud")),)
    assert base.tree(square[1:]).branches == (Branch(0, 2, ("is", "wrong")),)


def test_an_entity_has_the_first_two_of_its_facts_and_each_once():
    facts = [(["a"], [], [str(n)]) for n in (1, 1, 2, 3)]
    known = [[b.tokens for b in KnowledgeBase(facts, most=m).tree(["a"]).branches] for m in (1, 9)]
    assert [b.tokens for b in KnowledgeBase(facts).tree(["a"]).branches] == [("1",), ("2",)]
    assert known == [[("1",)], [("1",), ("2",), ("3",)]]


def test_an_entity_named_twice_has_its_branches_twice():
    base = KnowledgeBase([([7, 8], [1], [2])])
    flat = base.tree([7, 8, 7, 8]).flatten()
    assert flat.tokens == (7, 8, 1, 2, 7, 8, 1, 2)
    assert flat.soft_positions == (0, 1, 2, 3, 2, 3, 4, 5)
    assert not flat.visible[:2, 6:].any() and not flat.visible[2:4, 4:].any()


@pytest.mark.parametrize(
    ("length", "kept"), [(13, 3), (12, 2), (11, 2), (10, 1), (9, 1), (8, 0), (7, 0)]
)
def test_what_there_is_no_room_for_is_left_out_from_the_last_branch(length, kept):
    flat = KnowledgeBase(FACTS).tree(SENTENCE).flatten(max_length=length)
    known = [t for t, b in zip(flat.tokens, flat.branches, strict=True) if b != TRUNK]
    assert known == ["CEO", "Apple", "capital", "China", "is_a", "City"][: 2 * kept]
    assert [t for t, b in zip(flat.tokens, flat.branches, strict=True) if b == TRUNK] == SENTENCE
    assert max(flat.soft_positions) < len(flat.tokens) <= length


def test_a_sentence_longer_than_there_is_room_for_is_named():
    tree = KnowledgeBase(FACTS).tree(SENTENCE)
    with pytest.raises(CourseError, match=r"alone has 7 tokens; max_length is 6.*Truncate"):
        tree.flatten(max_length=6)


@pytest.mark.parametrize(
    "branch",
    [
        (1, 1, ("x",)),
        (-1, 1, ("x",)),
        (0, 3, ("x",)),
        (0, 1, ()),
    ],
    ids=str,
)
def test_a_branch_that_does_not_fit_is_named(branch):
    with pytest.raises(CourseError, match="does not fit a sentence of 2 tokens"):
        SentenceTree(("a", "b"), (Branch(*branch),))


@pytest.mark.parametrize(
    ("triple", "words"),
    [
        pytest.param(
            (["Tim"], ["CEO"], torch.tensor([3])), "array.tolist", marks=pytest.mark.bad_input
        ),
        (("Tim Cook", ["CEO"], ["Apple"]), "'Tim Cook' is not .*tokens"),
    ],
    ids=str,
)
def test_a_triple_that_makes_no_sense_is_named(triple, words):
    with pytest.raises(CourseError, match=words):
        KnowledgeBase([triple])


def test_knowledge_without_any_triple_knows_nothing():
    assert KnowledgeBase([]).tree(["a"]).branches == ()


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "sentence",
    ["Tim Cook", torch.tensor([1, 2]), (1.0,)],
    ids=["text", "tensor", "float"],
)
def test_a_sentence_that_is_no_sequence_of_tokens_is_named(sentence):
    for make in (KnowledgeBase(FACTS).tree, SentenceTree, lambda tokens: Branch(0, 1, tokens)):
        with pytest.raises(CourseError, match="is not a sequence of tokens"):
            make(sentence)


@pytest.mark.bad_input
def test_lists_become_tuples():
    tree = SentenceTree(["a", "b"], [Branch(0, 1, ["x"])])
    assert tree == SentenceTree(("a", "b"), (Branch(0, 1, ("x",)),))
    assert hash(tree) == hash(SentenceTree(("a", "b"), (Branch(0, 1, ("x",)),)))
    assert tree.flatten().tokens == ("a", "x", "b")
