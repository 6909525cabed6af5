"""word2vec and GloVe beside the papers' equations, computed in loops."""

from random import Random

import torch
from torch import Tensor

from lmcourse.models.context_windows import context_pairs, context_windows
from lmcourse.models.glove import GloVe, GloVeConfig, count_cooccurrences
from lmcourse.models.negative_sampling import (
    draw_negatives,
    keep_probability,
    noise_distribution,
)
from lmcourse.models.word2vec import CBOW, SkipGram, Word2VecConfig
from tests.parity import slow_word_vectors as slow
from tests.parity.comparing import Architecture, Comparison, shaken


def text(draw: Random, vocab_size: int) -> list[list[int]]:
    """A few sentences, one of them of one word."""
    lengths = [draw.randint(2, 8) for _ in range(draw.randint(2, 4))]
    sentences = [[draw.randrange(vocab_size) for _ in range(length)] for length in lengths]
    return [*sentences, [draw.randrange(vocab_size)]]


def numbers(tensor: Tensor) -> slow.Array:
    return tensor.detach().double().numpy()


def skip_gram(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    size, window = draw.randint(5, 12), draw.randint(1, 4)
    model = shaken(SkipGram(Word2VecConfig(size, draw.randint(2, 7))))
    sentences = text(draw, size)
    centers, contexts, _ = context_pairs(sentences, window)
    pairs = [(c, w) for c, around in slow.windows(sentences, window) for w, _ in around]
    negatives = drawn(draw, comparison, size, len(pairs))
    result = model(centers, contexts, negatives)
    listed = None if negatives is None else negatives.tolist()
    theirs = slow.skip_gram(*vectors(model), pairs, listed)
    compare(comparison, model, result.loss, *theirs)


def cbow(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    size, window, mean = draw.randint(5, 12), draw.randint(1, 4), draw.random() < 0.7
    model = shaken(CBOW(Word2VecConfig(size, draw.randint(2, 7), cbow_mean=mean)))
    sentences = text(draw, size)
    centers, contexts, mask, _ = context_windows(sentences, window)
    contexts = torch.where(mask, contexts, torch.randint(size, contexts.shape))
    around = [(c, [w for w, _ in words]) for c, words in slow.windows(sentences, window)]
    negatives = drawn(draw, comparison, size, len(around))
    result = model(centers, contexts, negatives, mask)
    listed = None if negatives is None else negatives.tolist()
    theirs = slow.cbow(*vectors(model), around, listed, mean)
    compare(comparison, model, result.loss, *theirs)


def vectors(model: SkipGram | CBOW) -> tuple[slow.Array, slow.Array]:
    return numbers(model.input_embeddings.weight), numbers(model.output_embeddings.weight)


def compare(
    comparison: Comparison, model: torch.nn.Module, loss: Tensor, theirs: float, *by: slow.Array
) -> None:
    """The loss, and every parameter's gradient, in the order of the parameters."""
    comparison.add("loss", loss, torch.tensor(theirs))
    loss.backward()
    names = [name for name, _ in model.named_parameters()]
    gradients = [torch.tensor(gradient).to(loss.dtype) for gradient in by]
    comparison.add_gradients(model, dict(zip(names, gradients, strict=True)))


def drawn(draw: Random, comparison: Comparison, size: int, pairs: int) -> Tensor | None:
    """Invented words from our noise, which is compared too; None every third time."""
    counts, power = [draw.randint(1, 50) for _ in range(size)], draw.choice([0.75, 0.5, 1.0])
    threshold = draw.choice([0.1, 0.02])
    noise, kept = torch.tensor(counts), torch.tensor(counts)
    comparison.add(
        "outputs",
        [
            noise_distribution(noise) if power == 0.75 else noise_distribution(noise, power),
            keep_probability(kept, threshold),
            keep_probability(kept, threshold, "paper"),
        ],
        [
            torch.tensor(slow.noise(counts, power)),
            torch.tensor(slow.keep(counts, threshold, True)),
            torch.tensor(slow.keep(counts, threshold, False)),
        ],
    )
    if draw.random() < 1 / 3:
        return None
    return draw_negatives(noise_distribution(noise), pairs, draw.randint(1, 4))


def glove(draw: Random, dtype: torch.dtype, comparison: Comparison) -> None:
    size, window = draw.randint(4, 9), draw.randint(1, 5)
    symmetric, by_distance = draw.random() < 0.5, draw.random() < 0.7
    config = GloVeConfig(size, draw.randint(2, 6), draw.choice([1.5, 2.0, 100.0]), draw.random())
    model, sentences = shaken(GloVe(config)), text(draw, size)
    ours = count_cooccurrences(
        sentences, size, window, symmetric=symmetric, by_distance=by_distance
    )
    counts = slow.cooccurrences(sentences, size, window, symmetric, by_distance)
    parameters = [numbers(parameter) for parameter in model.parameters()]
    w, context, b, context_b = parameters
    loss, gradients = slow.glove((w, context, b, context_b), counts, config.x_max, config.alpha)
    comparison.add("outputs", ours.to_dense(), torch.tensor(counts).to(dtype), name="counts")
    comparison.add("outputs", model.vectors, torch.tensor(w + context).to(dtype), name="vectors")
    compare(comparison, model, model(*ours.indices(), ours.values()).loss, loss, *gradients)


ARCHITECTURES = (
    Architecture("skip-gram", "the papers' equations, in loops", skip_gram),
    Architecture("CBOW", "the papers' equations, in loops", cbow),
    Architecture("GloVe", "the paper's equations, in loops", glove),
)
