"""Word vectors: what they learn from, and how analogies and senses are scored."""

import numpy as np
import pytest
import torch

from lmcourse.corpus.tasks import pairs_by_relation, word_sense
from lmcourse.corpus.vectors import WordVectors
from lmcourse.models.glove import GloVe, GloVeConfig, count_cooccurrences
from lmcourse.models.word2vec import SkipGram, Word2VecConfig
from lmcourse.tokenizers import words
from lmcourse.training import train
from lmcourse.training.examples import padded
from lmcourse.training.seeds import generator_of
from research.pretrain import RECIPES
from research.pretrain.probing import FEW_SENSES, TEST, TRAIN, analogy_scores, sense_scores
from research.pretrain.vectors import Counts, Pairs, Windows, counted, vector_scores, word_vectors


def drawn_vectors(world, width=32):
    known = list(words.ids(world))[5:]
    draw = np.random.default_rng(3).normal(size=(len(known), width))
    return WordVectors(known, draw.astype(np.float32))


def test_vectors_made_of_stem_and_feature_solve_analogies_and_drawn_ones_do_not(world):
    vectors = drawn_vectors(world, width=600)
    found = analogy_scores(vectors, world)
    assert all(score.value < 0.05 for score in found.values())
    chance = found["analogies, chance"].value
    assert chance == pytest.approx(1 / (len(world.vocabulary) - 1 - 3))
    feature = np.random.default_rng(4).normal(size=600)
    for one, other in pairs_by_relation(world)["capital:country"]:
        vectors.vectors[vectors.ids[other]] = vectors.vector(one) + feature
    made = WordVectors(vectors.words, vectors.vectors)
    names = [name for name in found if name.startswith("analogies capital:country")]
    assert names == ["analogies capital:country, share of 552 questions"]
    assert analogy_scores(made, world)[names[0]].value == 1


def test_a_static_vector_knows_no_sense(world):
    vectors = drawn_vectors(world)

    def layers(texts):
        return {"static": [np.stack([vectors.vector(word) for word in text]) for text in texts]}

    found = sense_scores(layers, world, small=True)
    blind = found["word sense, drawn blindly"].value
    assert found["word sense by the nearest neighbor, static"].value == pytest.approx(
        blind, abs=0.1
    )
    assert found["word sense, exact answer"].value > 0.9 > blind


def test_vectors_that_hold_the_sense_are_told(world):
    texts_and_senses = [
        {example.tokens: example.label for example in word_sense(world, n, seed).examples}
        for n, seed in zip(FEW_SENSES, (TRAIN, TEST), strict=True)
    ]
    senses = sorted({sense for each in texts_and_senses for sense in each.values()})

    def layers(texts):
        known = next(each for each in texts_and_senses if texts[0] in each)
        eye = np.eye(len(senses), dtype=np.float32)
        rows = [eye[senses.index(known[text])] for text in texts]
        return {
            "told": [np.tile(row, (len(text), 1)) for row, text in zip(rows, texts, strict=True)]
        }

    found = sense_scores(layers, world, small=True)
    assert found["word sense by the nearest neighbor, told"].value > 0.95


def test_pairs_are_of_words_of_one_review_alone(world):
    reviews = world.sample(3, seed=9)
    examples = words.examples(reviews)
    counts = counted(examples, words.size(world))
    assert counts.sum() == sum(len(review.tokens) for review in reviews)
    objective = Pairs(SkipGram(Word2VecConfig(words.size(world), 4)), counts, Windows(2, 3, 1.0))
    batch = objective.sample(padded(examples), generator_of(1))
    allowed = set()
    for example in examples:
        ids = example["input_ids"][1:-1].tolist()
        allowed |= {
            (ids[i], ids[j])
            for i in range(len(ids))
            for j in range(max(0, i - 2), min(len(ids), i + 3))
            if i != j
        }
    pairs = list(zip(batch["centers"].tolist(), batch["contexts"].tolist(), strict=True))
    assert pairs and set(pairs) <= allowed
    assert len(pairs) > 2 * counts.sum()  # windows of 1 or 2 places, nothing left out
    assert batch["negatives"].shape == (len(pairs), 3)
    assert bool((counts[batch["negatives"]] > 0).all())
    again = objective.sample(padded(examples), generator_of(1))
    assert all(torch.equal(batch[name], again[name]) for name in batch)


def test_frequent_words_are_left_out_now_and_then(world):
    examples = words.examples(world.sample(20, seed=9))
    counts = counted(examples, words.size(world))
    model = SkipGram(Word2VecConfig(words.size(world), 4))
    pairs = {
        threshold: Pairs(model, counts, Windows(2, 1, threshold)).sample(
            padded(examples), generator_of(1)
        )["centers"]
        for threshold in (1.0, 1e-3)
    }
    often = int(counts.argmax())
    shares = {at: float((ids == often).float().mean()) for at, ids in pairs.items()}
    assert shares[1e-3] < shares[1.0] / 2


def test_losses_of_counts_go_on_where_they_were():
    texts = [[5, 6, 7, 8, 5, 6], [8, 7, 9]]
    counts = count_cooccurrences(texts, 10, 2)
    torch.manual_seed(0)
    model = GloVe(GloVeConfig(10, 3))

    def losses():
        return Counts(model, counts, steps=6, batch_size=4, seed=2)

    whole = [(loss.item(), weight) for loss, weight in losses()]
    first, second = losses(), losses()
    for _ in range(2):
        next(first)
    second.load_state_dict(first.state_dict())
    assert [(loss.item(), weight) for loss, weight in second] == whole[2:]
    assert len(whole) == len(losses()) == 6 and len({loss for loss, _ in whole}) > 1


def test_glove_fits_the_counts_of_pairs_that_occur():
    counts = count_cooccurrences([[5, 6, 5, 6, 7, 8, 9, 5]] * 30, 10, 2)
    torch.manual_seed(0)
    model = GloVe(GloVeConfig(10, 6, x_max=10.0))
    optimizer = torch.optim.Adagrad(model.parameters(), 0.1)
    losses = Counts(model, counts, 400, 16, seed=0)
    train(model, losses, optimizer=optimizer, clip=None, watch="nothing")
    i, j = counts.indices()
    fitted = model(i, j, counts.values()).predictions
    assert torch.allclose(fitted, counts.values().log(), atol=0.2)


def test_the_rows_of_the_vectors_are_the_worlds_words(world):
    model = RECIPES["bookworld-skipgram"].built(world)
    table = word_vectors(model, world)
    tokenizer = words.words(world)
    for word in ("bank", "paris", "."):
        id_ = tokenizer.get_vocab()[word]
        assert np.array_equal(table.vector(word), model.vectors[id_].numpy())
    assert "[MASK]" not in table and len(table) == len(world.vocabulary) - 1
    scores = vector_scores(model, world, small=True)
    assert scores.table is None and len(scores.others) > 10
