"""GloVe: counts, weights, and what its parity with the equations leaves."""

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.models import glove
from lmcourse.models.glove import GloVe, GloVeConfig, count_cooccurrences, weight


def test_the_counts_of_a_sentence_by_hand():
    X = count_cooccurrences([[0, 1, 2], [0, 1]], 4, window=2).to_dense()
    half = [[0, 2, 0.5, 0], [2, 0, 1, 0], [0.5, 1, 0, 0], [0, 0, 0, 0]]
    torch.testing.assert_close(X, torch.tensor(half))
    plain = count_cooccurrences([[0, 1, 2]], 3, window=2, by_distance=False, symmetric=False)
    assert plain.to_dense().tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
    assert torch.equal(X, X.T)


def test_only_pairs_that_occur_are_kept():
    X = count_cooccurrences([[0, 1], [0, 1], [5, 5]], 1000, window=10)
    assert X.indices().T.tolist() == [[0, 1], [1, 0], [5, 5]]
    assert X.values().tolist() == [2, 2, 2]  # 5 stands beside 5, seen from either


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_text_counted_in_blocks_is_the_text(symmetric, monkeypatch):
    torch.manual_seed(0)
    text = [torch.randint(9, (length,)).tolist() for length in (1, 30, 2, 0, 17, 5)]
    whole = count_cooccurrences(text, 9, 4, symmetric=symmetric)
    monkeypatch.setattr(glove, "BLOCK", 3)
    found = count_cooccurrences(text, 9, 4, symmetric=symmetric)
    assert found.is_coalesced() and torch.equal(found.indices(), whole.indices())
    torch.testing.assert_close(found.values(), whole.values())


def test_only_single_words_have_no_pairs():
    assert count_cooccurrences([[1], [2]], 3).values().numel() == 0


def test_a_long_text_is_not_counted_at_once(monkeypatch):
    seen, unique = [], torch.Tensor.unique

    def watched(pairs, **options):
        seen.append(len(pairs))
        return unique(pairs, **options)

    monkeypatch.setattr(glove, "BLOCK", 100)
    monkeypatch.setattr(torch.Tensor, "unique", watched)
    count_cooccurrences([[0, 1] * 1000], 2, window=5)
    assert max(seen) <= 100 * 2 * 5


def test_it_starts_as_the_published_program():
    torch.manual_seed(0)
    for parameter in GloVe(GloVeConfig(2000, 19)).parameters():
        size = 20 * parameter.detach().abs().flatten()  # uniform between 0 and 1/2
        assert 0.49 < size.max() <= 0.5 and size.mean().item() == pytest.approx(0.25, abs=0.01)
        assert (20 * parameter.detach()).mean().abs() < 0.02


def test_the_weight_grows_to_one_and_stays():
    found = weight(torch.tensor([0.0, 1.0, 50.0, 100.0, 1e6]))
    expected = torch.tensor([0, 0.01**0.75, 0.5**0.75, 1, 1])
    torch.testing.assert_close(found, expected)
    assert weight(torch.tensor([0.0, 1.0]), alpha=0.0).tolist() == [0, 1]  # not 0⁰ = 1


def test_a_count_of_zero_counts_nothing_and_gives_numbers():
    torch.manual_seed(0)
    model = GloVe(GloVeConfig(5, 3))
    result = model(torch.tensor([1, 2]), torch.tensor([3, 4]), torch.tensor([0.0, 2.0]))
    result.loss.backward()
    alone = model(torch.tensor([2]), torch.tensor([4]), torch.tensor([2.0])).loss
    torch.testing.assert_close(result.loss, alone / 2)
    assert all(p.grad.isfinite().all() for p in model.parameters())
    assert not model.words.weight.grad[1].any() and model.words.weight.grad[2].any()


def test_it_finds_products_behind_the_counts():
    torch.manual_seed(0)
    w, context = torch.randn(8, 2), torch.randn(8, 2)
    counts = (w @ context.T + 1).exp()
    words, contexts = (
        axis.flatten() for axis in torch.meshgrid([torch.arange(8)] * 2, indexing="ij")
    )
    model = GloVe(GloVeConfig(8, 2, x_max=5.0))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(400):
        optimizer.zero_grad()
        result = model(words, contexts, counts.flatten())
        result.loss.backward()
        optimizer.step()
    assert result.loss.item() < 1e-3
    fitted = result.predictions.view(8, 8)
    assert (fitted - counts.log()).abs()[counts > 1].max() < 0.2


def test_a_saved_model_comes_back_equal(tmp_path):
    model = GloVe(GloVeConfig(10, 6))
    model.save(tmp_path / "model.safetensors")
    again = GloVe.load(tmp_path / "model.safetensors")
    assert again.config == model.config and torch.equal(again.vectors, model.vectors)


def test_the_published_vectors_are_counted():
    with torch.device("meta"):
        model = GloVe(GloVeConfig.wikipedia_gigaword())
    assert model.vectors.numel() == 120_000_000
    assert sum(p.numel() for p in model.parameters()) == 240_800_000  # two sets, and biases


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("words", "contexts", "counts", "message"),
    [
        ([1], [5], [1.0], "contexts holds the number 5"),
        ([1.0], [1], [1.0], "words has the type torch.float32"),
    ],
)
def test_what_does_not_fit_is_named(words, contexts, counts, message):
    model = GloVe(GloVeConfig(5, 3))
    with pytest.raises(CourseError, match=message):
        model(torch.tensor(words), torch.tensor(contexts), torch.tensor(counts))


@pytest.mark.bad_input
def test_a_word_beyond_the_vocabulary_is_named():
    with pytest.raises(CourseError, match="sentences holds the number 7"):
        count_cooccurrences([[1, 7]], 7)
