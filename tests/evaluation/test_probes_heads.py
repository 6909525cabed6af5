"""Attention heads: a planted one is found, a fixed offset is seen through, luck does not count."""

import numpy as np
import pytest
import torch

from lmcourse.corpus import BookWorld
from lmcourse.errors import CourseError
from lmcourse.evaluation.probes import (
    Link,
    agreement_links,
    antecedent_links,
    head_probe,
    word_attentions,
)
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.deberta import Deberta, DebertaConfig
from lmcourse.models.gpt import GPT, GPTConfig
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.tokenizers.recipes import bert as bert_recipe
from research.pretrain.links import mention_links, one_before

WORLD = BookWorld()
REVIEWS = WORLD.sample(12, 5)
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 60,
}


def drawn(seed, texts=40, size=9, heads=(2, 3)):
    """Attentions without order, and one link a text, three words back or to somewhere."""
    rng = np.random.default_rng(seed)
    attentions = rng.dirichlet(np.ones(size), size=(texts, *heads, size))
    links = [
        [Link(6, (3,) if rng.random() < 0.4 else (int(rng.choice([0, 1, 2, 4, 5, 7, 8])),))]
        for _ in range(texts)
    ]
    return attentions, links


def test_a_planted_head_is_found_and_the_best_offset():
    attentions, links = drawn(0)
    for weights, (link,) in zip(attentions, links, strict=True):
        weights[1, 2, link.query] = np.eye(9)[link.targets[0]]
    probe = head_probe(attentions, links)
    assert (probe.layer, probe.head, probe.score.value, probe.score.error) == (1, 2, 1, 0)
    assert probe.scores[1, 2] == 1 and probe.scores[0].max() < 0.5
    assert probe.offset == -3 and 0.2 < probe.baseline.value < 0.6
    assert probe.difference.value == pytest.approx(1 - probe.baseline.value)
    assert probe.difference.error == pytest.approx(probe.baseline.error) and probe.links == 40
    assert str(probe).startswith("layer 1, head 2: 1.000 ± 0.000 (offset -3: 0.")


def test_scores_are_counted_one_by_one():
    attentions, links = drawn(1)
    wanted = np.zeros((2, 3))
    for weights, (link,) in zip(attentions, links, strict=True):
        for layer in range(2):
            for head in range(3):
                row = weights[layer, head, link.query].copy()
                row[link.query] = 0
                wanted[layer, head] += (row.argmax() in link.targets) / len(links)
    np.testing.assert_allclose(head_probe(attentions, links).scores, wanted)
    tensors = [torch.tensor(it) for it in attentions]
    assert head_probe(iter(tensors), iter(links)).score == head_probe(attentions, links).score


def test_a_head_that_is_best_by_luck_scores_no_better_than_chance():
    found, best = [], []
    for seed in range(12):
        attentions, links = drawn(seed, texts=30, heads=(6, 8))
        probe = head_probe(attentions, links, seed=seed)
        found.append(probe.score.value)
        best.append(probe.scores.max())
    assert np.mean(best) > 0.25  # of 48 heads that know nothing, on all texts
    assert np.mean(found) == pytest.approx(1 / 8, abs=0.06)


def test_heads_that_look_nowhere_are_at_chance_exactly():
    for size in (5, 9):
        links = [[Link(4, (0, 2))], [Link(1, (0,))], []]
        uniform = np.full((3, 1, 2, size, size), 1 / size)
        probe = head_probe(uniform, links)
        shares = 2 / (size - 1), 1 / (size - 1)
        assert probe.chance == pytest.approx(probe.score.value) and probe.chance in shares
        np.testing.assert_allclose(probe.scores, np.mean(shares))


@pytest.mark.bad_input
def test_a_link_may_be_a_plain_tuple():
    weights = np.random.default_rng(0).random((4, 1, 2, 5, 5))
    named = head_probe(weights, [[Link(3, (0, 2))]] * 4)
    plain = head_probe(weights, [[(3, [0, 2])]] * 4)
    assert str(named) == str(plain) and (named.scores == plain.scores).all()


def test_weight_on_the_word_itself_is_left_out():
    weights = np.zeros((1, 1, 3, 3))
    weights[0, 0, 2] = [0.3, 0.1, 0.6]
    both = [weights, weights]
    links = [[Link(2, (0,))]] * 2
    assert head_probe(both, links).scores.item() == 1
    weights[0, 0, 2] = [0, 0, 1]
    assert head_probe(both, links).scores.item() == 0.5  # the other two are equal


def test_an_offset_that_always_holds_leaves_nothing_to_the_head():
    links = [[Link(place, (place - 1,)) for place in (2, 4, 5)]] * 6
    attentions = np.tile(np.eye(6, k=-1), (6, 2, 2, 1, 1))
    probe = head_probe(attentions, links)
    assert probe.score.value == probe.baseline.value == 1 and probe.offset == -1
    assert probe.difference.value == 0


def test_antecedents_are_earlier_mentions_by_name():
    links = antecedent_links(REVIEWS)
    count = 0
    for review, own in zip(REVIEWS, links, strict=True):
        for link in own:
            name = review.antecedents[link.query]
            assert review.tokens[link.query] in ("he", "she", "him", "his", "her")
            earlier = review.tokens[: link.query]
            assert {earlier[i] for i in link.targets} == {name}
            assert len(link.targets) == earlier.count(name)
        count += len(own)
    named = sum(
        name in review.tokens[:place]
        for review in REVIEWS
        for place, name in enumerate(review.antecedents)
        if name is not None
    )
    assert count == named > 10


def test_a_name_that_stands_again_is_linked_to_its_earlier_mentions():
    links = mention_links(REVIEWS)
    pronouns = {it for review in REVIEWS for it in review.antecedents if it is not None}
    for review, own in zip(REVIEWS, links, strict=True):
        asked = {link.query: link.targets for link in own}
        people = {name for name in review.antecedents if name is not None}
        for at, token in enumerate(review.tokens):
            earlier = tuple(i for i in range(at) if review.tokens[i] == token)
            if token in people:  # whom a pronoun means is a character, so all mentions are linked
                assert asked.get(at, ()) == earlier
            assert at not in asked or asked[at] == earlier
    assert sum(map(len, links)) > 30 and len(pronouns) > 5


def test_agreement_goes_from_verb_to_subject():
    every = [(it.verb, (it.subject,)) for review in REVIEWS for it in review.agreements]
    assert [tuple(link) for own in agreement_links(REVIEWS) for link in own] == every
    far = [
        (it.verb, (it.subject,))
        for review in REVIEWS
        for it in review.agreements
        if it.attractors > 0
    ]
    assert [tuple(link) for own in agreement_links(REVIEWS, 1) for link in own] == far
    assert 0 < len(far) < len(every)


@pytest.mark.parametrize("kind, config", [(Bert, BertConfig), (GPT, GPTConfig)])
def test_pieces_weights_are_added_up_and_averaged_as_by_hand(kind, config):
    torch.manual_seed(0)
    model = kind(config(60, **SIZES))
    lines = ["the boat left the bank", "the bank left", "unbanked leftbank boats"]
    tokenizer = bert_recipe(lines, vocab_size=40).tokenizer
    texts = [["unbanked", "boats", "left", "the", "leftbank"], ["the", "bank"]]
    found = list(word_attentions(model, texts, tokenizer))
    for words, weights in zip(texts, found, strict=True):
        encoding = tokenizer.encode(words, is_pretokenized=True)
        with torch.no_grad():
            ids = torch.tensor([encoding.ids])
            result = model.eval()(input_ids=ids, output_attentions=True)
        raw = torch.cat(result.attentions)
        own = [[i for i, it in enumerate(encoding.word_ids) if it == w] for w in range(len(words))]
        assert max(map(len, own)) > 2 or len(words) == 2
        assert weights.shape == (2, 2, len(words), len(words))
        for query, rows in enumerate(own):
            for key, columns in enumerate(own):
                wanted = raw[:, :, rows][..., columns].sum(-1).mean(-1)
                torch.testing.assert_close(weights[:, :, query, key], wanted, atol=1e-5, rtol=1e-5)
    assert (found[0].sum(-1) < 1).all()  # [CLS] and [SEP] have a share


def test_a_models_heads_are_asked_about_bookworld():
    words = len(WORLD.vocabulary)
    ids = {word: number for number, word in enumerate(WORLD.vocabulary)}
    model = Deberta(DebertaConfig(vocab_size=words, **(SIZES | {"max_position_embeddings": 200})))
    links = agreement_links(REVIEWS[:4])
    attentions = word_attentions(model, [review.tokens for review in REVIEWS[:4]], ids)
    probe = head_probe(attentions, links)
    assert probe.scores.shape == (2, 2) and probe.links == sum(map(len, links))
    assert 0 <= probe.score.value < 0.9
    with pytest.raises(CourseError, match="no multi-head attention"):
        list(word_attentions(RNNLanguageModel(RNNConfig(words)), [["the"]], ids))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "attentions, links, message",
    [
        (2, [[], []], "No text has links"),
        (2, [[Link(1, (0,))], []], "1 texts have links"),
    ],
)
def test_bad_input_is_refused(attentions, links, message):
    made = np.full((attentions, 1, 1, 3, 3), 1 / 3) if isinstance(attentions, int) else attentions
    with pytest.raises(CourseError, match=message):
        head_probe(made, links)


def test_chance_is_of_the_texts_that_are_scored():
    """Heads with uniform weights have it, in texts of three words or of sixty."""
    sizes = [3, 60, 60, 20, 60]
    texts = [np.full((1, 2, n, n), 1 / n) for n in sizes]
    links = [[Link(0, (1,))]] * len(sizes)
    found = {head_probe(texts, links, seed=seed).chance for seed in range(6)}
    assert len(found) > 1
    for seed in range(6):
        probe = head_probe(texts, links, seed=seed)
        assert probe.score.value == pytest.approx(probe.chance)


def test_one_before_is_where_a_causal_model_predicts_a_word():
    links = [[Link(5, (1, 4)), Link(3, (2,)), Link(9, (8, 7))], []]
    assert one_before(links) == [[Link(4, (1,)), Link(8, (7,))], []]
