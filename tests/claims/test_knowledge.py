"""The questions about authors, and the forms in which their triples are given."""

from random import Random

import pytest
import torch

from lmcourse import hub
from lmcourse.corpus.tasks import knowledge_questions
from lmcourse.models.inputs import IGNORED
from lmcourse.tokenizers import words
from research.claims import knowledge
from research.claims.knowledge import ARMS, Arm, Facts, KnowledgeRecipe


@pytest.fixture(scope="module")
def facts(world):
    return Facts.read(world)


@pytest.fixture(scope="module")
def asked(world):
    return knowledge_questions(world, 30, 7, "train").examples


def read(facts, ids):
    known = {number: token for token, number in facts.ids.items()}
    return [known[number] for number in ids]


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.measure)
def test_the_answer_is_predicted_at_one_position_only(facts, asked, arm):
    for one in asked:
        example = arm.example(facts, one, Random(0), noise=3)
        tokens = read(facts, example["input_ids"])
        (at,) = (i for i, label in enumerate(example["labels"]) if label != IGNORED)
        assert tokens[at] == ("[MASK]" if arm.reads == "[MASK]" else one.subject)
        assert example["attention_mask"].shape == (len(tokens), len(tokens))


def test_drawn_triples_say_the_answer_and_fixed_ones_are_the_graphs(facts, asked):
    for one in asked:
        for arm in (Arm(), Arm("true")):
            example = arm.example(facts, one, Random(1))
            tokens = read(facts, example["input_ids"])
            (label,) = read(facts, [it for it in example["labels"] if it != IGNORED])
            relation = tokens.index(one.relation, 4)  # the first one is the question's
            assert tokens[relation + 1] == label
        assert label == one.label


def test_a_form_changes_positions_and_matrix_and_no_tokens(facts, asked):
    forms = "tree", "no matrix", "hard positions", "inserted"
    examples = {it: Arm("drawn", it).example(facts, asked[0], Random(2)) for it in forms}
    tree, inserted = examples["tree"], examples["inserted"]
    assert len({tuple(it["input_ids"]) for it in examples.values()}) == 1
    assert not tree["attention_mask"].all() and inserted["attention_mask"].all()
    assert examples["no matrix"]["position_ids"] == tree["position_ids"]
    assert (examples["hard positions"]["attention_mask"] == tree["attention_mask"]).all()
    assert inserted["position_ids"] == list(range(len(tree["input_ids"])))


def test_authors_to_learn_from_to_choose_by_and_to_test_are_apart(world, facts):
    learned, chosen = knowledge.authors(facts)
    tested = {it.subject for it in knowledge_questions(world, 60, 8, "test").examples}
    assert not learned & chosen and not (learned | chosen) & tested
    assert (len(learned), len(chosen)) == (18, 6)
    recipe = KnowledgeRecipe("x", "", knowledge.BertForMaskedLM, {}, knowledge.FINE_TUNING)
    used = {
        token
        for example in recipe._examples(world, 1, 60, learned)
        for token in read(facts, example["input_ids"])[4:]
    }
    assert used & learned


def test_all_weights_are_copied_and_new_tokens_are_drawn(world, facts):
    shipped = hub.load("bookworld-mlm").model
    recipe = KnowledgeRecipe("x", "", knowledge.BertForMaskedLM, {}, knowledge.FINE_TUNING)
    network = recipe.with_given(shipped).built(world)
    size = words.size(world)
    for name, it in network.state_dict().items():
        known = shipped.state_dict()[name]
        assert torch.equal(it[: len(known)], known), name
    table = network.bert.embeddings.word.weight
    assert len(table) == len(facts.ids) > size
    assert table[size:].std().item() == pytest.approx(table[:size].std().item(), rel=0.2)


def test_a_shuffled_graph_never_has_the_authors_own_triples(facts, asked):
    for number, one in enumerate(asked):
        known, label = Arm("shuffled")._known(facts, one, Random(number))
        assert label == one.label and dict(known) != facts.of[one.subject]
