"""word2vec: windows, noise and losses; what its parity with gensim and the equations leaves."""

import math

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.models.context_windows import context_pairs, context_windows, windows_in_blocks
from lmcourse.models.negative_sampling import (
    draw_negatives,
    keep_probability,
    negative_sampling_loss,
    noise_distribution,
    subsample,
)
from lmcourse.models.word2vec import CBOW, SkipGram, Word2VecConfig
from tests.parity import slow_word_vectors as slow

SENTENCES = [[3, 1, 4, 1, 5], [9], [2, 6], [5, 3, 5, 8, 9, 7, 9]]
KINDS = pytest.mark.parametrize("kind", [SkipGram, CBOW], ids=lambda kind: kind.__name__)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def batch(kind, negatives=None):
    """What one call takes, from the sentences above."""
    if kind is SkipGram:
        centers, contexts, _ = context_pairs(SENTENCES, 2)
        given = {"centers": centers, "contexts": contexts}
    else:
        centers, contexts, mask, _ = context_windows(SENTENCES, 2)
        given = {"centers": centers, "contexts": contexts, "context_mask": mask}
    if negatives is not None:
        noise = torch.ones(10) / 10
        given["negatives"] = draw_negatives(noise, len(given["centers"]), negatives, generator())
    return given


@pytest.mark.parametrize("window", [1, 2, 3, 10])
def test_windows_are_what_stands_around_in_the_sentence(window):
    expected = slow.windows(SENTENCES, window)
    found = context_windows(SENTENCES, window)
    rows = zip(*found[:3], strict=True)
    assert [(int(c), words[seen].tolist()) for c, words, seen in rows] == [
        (center, [word for word, _ in around]) for center, around in expected
    ]
    pairs = context_pairs(SENTENCES, window)
    assert [tuple(map(int, pair)) for pair in zip(*pairs, strict=True)] == [
        (center, word, abs(step)) for center, around in expected for word, step in around
    ]


def test_a_shrunk_window_is_a_window_and_every_size_is_as_frequent():
    sentence = list(range(3000))
    centers, contexts, distances = context_pairs([sentence], 3, generator())
    assert torch.equal((centers - contexts).abs(), distances)
    middle = torch.bincount(distances, minlength=4)[1:] / (2 * len(sentence))
    torch.testing.assert_close(middle, torch.tensor([1.0, 2 / 3, 1 / 3]), atol=0.03, rtol=0)
    again = context_pairs([sentence], 3, generator())
    assert torch.equal(again.contexts, contexts)


def test_the_noise_is_drawn_as_often_as_it_says():
    counts = torch.tensor([0, 1, 10, 100, 1000])
    noise = noise_distribution(counts)
    torch.testing.assert_close(noise[4] / noise[3], torch.tensor(10**0.75))
    assert noise[0] == 0 and noise_distribution(counts, power=0.0)[0] == 0
    drawn = draw_negatives(noise, 20_000, 5, generator())
    assert drawn.shape == (20_000, 5)
    torch.testing.assert_close(
        torch.bincount(drawn.flatten(), minlength=5) / drawn.numel(), noise, atol=0.005, rtol=0
    )
    assert torch.equal(drawn, draw_negatives(noise, 20_000, 5, generator()))


def test_the_program_keeps_more_than_the_paper_says():
    counts = torch.tensor([900, 90, 9, 1])  # f = 0.9, 0.09, 0.009, 0.001
    paper = keep_probability(counts, 1e-3, "paper")
    program = keep_probability(counts, 1e-3)
    torch.testing.assert_close(paper, (1e-3 / (counts / 1000)).sqrt().clamp(max=1))
    torch.testing.assert_close(program[:2] - paper[:2], 1e-3 / (counts[:2] / 1000))
    assert paper[3] == program[3] == 1
    kept = subsample(torch.zeros(20_000, dtype=torch.long), program, generator())
    assert len(kept) / 20_000 == pytest.approx(float(program[0]), abs=0.005)
    assert subsample(torch.full((50,), 3), program, generator()).tolist() == [3] * 50


@KINDS
@pytest.mark.parametrize("negatives", [None, 4], ids=["softmax", "negatives"])
def test_a_fresh_model_finds_all_words_equally_likely(kind, negatives):
    given = batch(kind, negatives)
    result = kind(Word2VecConfig(10, 6))(**given)
    if negatives is None:
        assert result.loss.item() == pytest.approx(math.log(10), abs=1e-4)
        assert result.logits.shape == (len(given["centers"]), 10)
        return
    answers = 1 + (given["negatives"] != _targets(kind, given)[:, None]).sum(1).double().mean()
    assert result.loss.item() == pytest.approx(float(answers) * math.log(2), abs=1e-4)
    assert result.logits is None and "logits" not in result


@KINDS
def test_it_starts_as_the_published_program(kind):
    torch.manual_seed(0)
    model = kind(Word2VecConfig(300, 20))
    size = 20 * model.vectors.abs().flatten()  # |v| · width is uniform between 0 and 1/2
    assert 0.49 < size.max() <= 0.5 and size.mean().item() == pytest.approx(0.25, abs=0.01)
    assert model.vectors.mean().abs() < 0.001
    assert not model.output_embeddings.weight.any()


@KINDS
@pytest.mark.parametrize("negatives", [None, 2], ids=["softmax", "negatives"])
def test_ids_may_be_of_either_type(kind, negatives):
    torch.manual_seed(0)
    model, given = kind(Word2VecConfig(10, 6)), batch(kind, negatives)
    short = {name: t if t.dtype == torch.bool else t.int() for name, t in given.items()}
    assert torch.equal(model(**short).loss, model(**given).loss)


def _targets(kind, given):
    return given["contexts"] if kind is SkipGram else given["centers"]


def test_the_right_word_drawn_as_noise_counts_nothing():
    torch.manual_seed(0)
    model = SkipGram(Word2VecConfig(10, 6))
    torch.nn.init.normal_(model.output_embeddings.weight)
    center, context = torch.tensor([1]), torch.tensor([2])
    with_it = model(center, context, torch.tensor([[2, 7, 2]])).loss
    torch.testing.assert_close(with_it, model(center, context, torch.tensor([[7]])).loss)
    scores, wrong = torch.tensor([0.3]), torch.tensor([[0.2, -1.0]])
    counted = torch.tensor([[True, False]])
    torch.testing.assert_close(
        negative_sampling_loss(scores, wrong, counted), negative_sampling_loss(scores, wrong[:, :1])
    )


def test_an_empty_window_gives_numbers():
    torch.manual_seed(0)
    model = CBOW(Word2VecConfig(10, 6))
    torch.nn.init.normal_(model.output_embeddings.weight)
    result = model(
        torch.tensor([3]), torch.tensor([[1, 2]]), None, torch.zeros(1, 2, dtype=torch.long)
    )
    assert result.loss.item() == pytest.approx(math.log(10), abs=1e-5)
    result.loss.backward()
    assert not model.input_embeddings.weight.grad.any()


@KINDS
def test_sparse_gradients_are_the_dense_ones(kind):
    gradients = []
    for sparse in (False, True):
        torch.manual_seed(1)
        model = kind(Word2VecConfig(10, 6, sparse=sparse))
        torch.nn.init.normal_(model.output_embeddings.weight)
        model(**batch(kind, 3)).loss.backward()
        gradients.append([p.grad.to_dense() for p in model.parameters()])
        assert all(p.grad.is_sparse == sparse for p in model.parameters())
    for dense, thin in zip(*gradients, strict=True):
        torch.testing.assert_close(dense, thin)


@KINDS
def test_a_saved_model_comes_back_equal(kind, tmp_path):
    model = kind(Word2VecConfig(10, 6))
    model.save(tmp_path / "model.safetensors")
    again = kind.load(tmp_path / "model.safetensors")
    assert again.config == model.config and torch.equal(again.vectors, model.vectors)
    assert not again.vectors.requires_grad


@KINDS
def test_words_in_the_same_places_get_similar_vectors(kind):
    torch.manual_seed(0)
    rows = torch.randint(2, (200, 6), generator=generator())
    text = (rows + torch.tensor([0, 2, 4, 0, 2, 4])).tolist()  # word pairs {0,1}, {2,3}, {4,5}
    model = kind(Word2VecConfig(6, 8))
    if kind is SkipGram:
        centers, contexts, _ = context_pairs(text, 1)
        given = {"centers": centers, "contexts": contexts}
    else:
        centers, contexts, mask, _ = context_windows(text, 1)
        given = {"centers": centers, "contexts": contexts, "context_mask": mask}
    noise = noise_distribution(torch.bincount(centers))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for step in range(60):
        negatives = draw_negatives(noise, len(centers), 3, generator(step))
        optimizer.zero_grad()
        model(**given, negatives=negatives).loss.backward()
        optimizer.step()
    likeness = torch.nn.functional.cosine_similarity(
        model.vectors[:, None], model.vectors[None], dim=-1
    )
    for word in range(6):
        others = [likeness[word, other] for other in range(6) if other not in (word, word ^ 1)]
        assert likeness[word, word ^ 1] > max(others) + 0.3


def test_the_published_vectors_are_counted():
    with torch.device("meta"):
        model = SkipGram(Word2VecConfig.google_news())
    assert model.vectors.numel() == 900_000_000  # the file's; in training there are twice as many
    assert sum(p.numel() for p in model.parameters()) == 1_800_000_000


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("kind", "changed", "words"),
    [
        (SkipGram, {"centers": torch.tensor([[1]])}, r"centers has shape \(1, 1\)"),
        (SkipGram, {"contexts": torch.tensor([1, 2])}, r"contexts has shape \(2,\), centers"),
        (SkipGram, {"negatives": torch.tensor([[-1]])}, "negatives holds the number -1"),
        (CBOW, {"contexts": torch.tensor([1])}, r"contexts has shape \(1,\).*2 axes"),
        (SkipGram, {"centers": torch.tensor([1.0])}, "centers has the type torch.float32"),
    ],
)
def test_what_does_not_fit_is_named(kind, changed, words):
    given = {"centers": torch.tensor([1]), "contexts": torch.tensor([2])}
    if kind is CBOW:
        given["contexts"] = torch.tensor([[2, 3]])
    with pytest.raises(CourseError, match=words):
        kind(Word2VecConfig(10, 4))(**(given | changed))


def test_half_precision_and_large_powers_give_numbers():
    counts = torch.tensor([60_000.0, 40_000.0, 1.0])  # their sum is infinite in float16
    for made in (noise_distribution, keep_probability):
        found = made(counts.half())
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, made(counts))
        assert made(counts.double()).dtype == torch.float64
    assert noise_distribution(counts, 2000.0).tolist() == [1.0, 0.0, 0.0]


def test_of_an_empty_sentence_nothing_is_kept():
    empty = torch.zeros(0, dtype=torch.long)
    assert len(subsample(empty, torch.tensor([0.5]))) == 0


@pytest.mark.parametrize("words", [1, 2, 5, 100])
def test_windows_in_blocks_are_the_windows(words):
    whole = context_windows(SENTENCES, 3)
    blocks = list(windows_in_blocks(SENTENCES, 3, words))
    assert len(blocks) == -(-len(whole.centers) // words)
    for name in ("centers", "contexts", "mask"):
        assert torch.equal(torch.cat([getattr(b, name) for b in blocks]), getattr(whole, name))
    assert all(torch.equal(block.distances, whole.distances) for block in blocks)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("sentences", "words"),
    [
        ([1, 2, 3], "not lists of ids"),
        ([[[1, 2], [3]]], "not lists of ids"),
        ([[None]], "not lists of ids"),
    ],
)
def test_what_is_no_text_of_ids_is_named(sentences, words):
    for made in (context_windows, context_pairs):
        with pytest.raises(CourseError, match=words):
            made(sentences, 2)
