"""Perplexity of a model on a text."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from lmcourse import hub
from lmcourse.errors import CourseError
from lmcourse.evaluation import perplexity, token_probabilities
from lmcourse.evaluation.perplexity import log_probabilities
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bilm import BiLMConfig
from lmcourse.models.electra import ElectraConfig, ElectraForPreTraining
from lmcourse.models.elmo import ElmoConfig, ElmoForPreTraining
from lmcourse.models.gpt import GPTConfig, GPTForCausalLM
from lmcourse.models.ngram import NGramModel
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from research.pretrain.text_score import text_score

V = 11


def gpt(positions=16, seed=0):
    torch.manual_seed(seed)
    config = GPTConfig(
        V,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=positions,
        initializer_range=0.3,  # so that what stands before a token matters
    )
    return GPTForCausalLM(config).train()  # dropout must be off all the same


def rnn(cell="lstm", **settings):
    torch.manual_seed(0)
    return RNNLanguageModel(RNNConfig(V, 6, 8, cell=cell, dropout=0.3, **settings)).train()


def drawn(*lengths, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(V, size=n).tolist() for n in lengths]


@torch.no_grad()
def one_by_one(model, ids, window=None, stride=None):
    """log p of each token but the first, each by a call of its own."""
    model.eval()
    out = []
    for t in range(1, len(ids)):
        k = 0 if window is None or t <= window else math.ceil((t - window) / stride)
        begin = k * stride if k else 0
        logits = model(input_ids=torch.tensor([ids[begin:t]])).logits[0, -1]
        out.append(logits.log_softmax(-1)[ids[t]])
    model.train()
    return torch.stack(out)


def test_perplexity_is_the_inverse_probability_normalized_by_length():
    p = torch.rand(50, generator=torch.Generator().manual_seed(0)) * 0.9 + 0.1
    assert perplexity(p) == pytest.approx(math.prod(p.tolist()) ** (-1 / 50), rel=1e-6)
    assert perplexity(torch.tensor([0.5, 0.0])) == math.inf


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "given, message",
    [
        (torch.tensor([-0.5, -2.0]), r"-0\.5 is not .*log_p\.exp\(\)"),
        ([0.5, 1.5], "1.5"),
        ([], "no probability"),
    ],
)
def test_what_is_no_probability_has_no_perplexity(given, message):
    with pytest.raises(CourseError, match=message):
        perplexity(given)


@pytest.mark.bad_input  # of another shape than the signature says, and taken
def test_probabilities_are_a_list_or_a_tensor():
    assert perplexity([0.5, 0.125]) == pytest.approx(4)
    assert perplexity(torch.tensor([[0.5], [0.125]], dtype=torch.bfloat16)) == pytest.approx(4)


def test_a_model_that_knows_nothing_has_the_perplexity_of_its_vocabulary():
    model = RNNLanguageModel(RNNConfig(7, 4, 4))
    torch.nn.init.zeros_(model.output.weight), torch.nn.init.zeros_(model.output.bias)
    assert perplexity(token_probabilities(model, torch.randint(7, (200,)))) == pytest.approx(7)


@pytest.mark.parametrize("window", [1, 7, 59, 60, 1000])
def test_windows_do_not_change_the_probabilities(window):
    torch.manual_seed(0)
    model = RNNLanguageModel(RNNConfig(7, 4, 6))
    ids = torch.randint(7, (61,))
    with torch.no_grad():
        wanted = model(ids[None, :-1]).logits[0].softmax(-1)[torch.arange(60), ids[1:]]
    torch.testing.assert_close(token_probabilities(model, ids, window), wanted)


def test_a_text_without_a_second_token_is_refused():
    with pytest.raises(CourseError, match="at least two tokens"):
        token_probabilities(RNNLanguageModel(RNNConfig(7, 4, 4)), torch.tensor([3]))


# ------------------------------------------------------------------------ windows and documents


@pytest.mark.parametrize("window, stride", [(16, 8), (16, 16), (8, 1), (5, 2), (3, 3), (1, 1)])
@pytest.mark.parametrize("length", [2, 16, 17, 18, 41])
def test_each_token_is_given_what_its_window_shows(window, stride, length):
    model, (ids,) = gpt(), drawn(length)
    found = token_probabilities(model, torch.tensor(ids), window, stride).log()
    torch.testing.assert_close(found, one_by_one(model, ids, window, stride), rtol=1e-4, atol=1e-5)


def test_a_window_is_all_positions_and_moves_by_half_of_them():
    model, (ids,) = gpt(), drawn(50)
    found = token_probabilities(model, torch.tensor(ids))
    assert torch.equal(found, token_probabilities(model, torch.tensor(ids), 16, 8))
    assert model.training and model.gpt.training


class Remembers(nn.Module):
    """Says again what it read ten tokens before, if it sees it; else any token."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))

    def forward(self, input_ids):
        class Result:
            logits = torch.zeros(*input_ids.shape, V)

        known = nn.functional.one_hot(input_ids[:, :-9], V)[:, : input_ids.shape[1] - 9]
        Result.logits[:, 9:] += 50.0 * known * self.weight
        return Result


@pytest.mark.parametrize("stride", [1, 6, 7, 8, 16])
def test_smaller_strides_give_more_context(stride):
    ids = drawn(10, seed=1)[0] * 40
    nats = text_score(Remembers(), [ids], window=16, stride=stride).nats[0]
    begins = [max(0, math.ceil((t - 16) / stride)) * stride for t in range(1, len(ids))]
    blind = sum(t - begin < 10 for t, begin in enumerate(begins, 1))
    assert (blind == 9) == (stride <= 7)  # 7 new tokens leave the ten before each in the window
    assert nats == pytest.approx(blind * math.log(V))


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
@pytest.mark.parametrize("window", [1, 4, 7, 1000])
def test_a_state_is_carried_through_documents_of_all_lengths(cell, window):
    model = rnn(cell, num_layers=2)
    documents = drawn(3, 30, 1, 9, 8, 2, 30, 13)
    found = log_probabilities(model, documents, start=5, window=window)
    for row, ids in zip(found, documents, strict=True):
        torch.testing.assert_close(row, one_by_one(model, [5, *ids]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("at_once", [1, 40, 10_000])
@pytest.mark.parametrize("start", [None, 4])
def test_documents_are_kept_apart_however_they_are_batched(at_once, start):
    model, documents = gpt(), drawn(1, 40, 5, 16, 17, 18, 5, 2)
    found = log_probabilities(model, documents, start=start, window=16, stride=4, at_once=at_once)
    before = [] if start is None else [start]
    for row, ids in zip(found, documents, strict=True):
        read = [*before, *ids]
        assert len(row) == len(read) - 1
        if len(row):
            wanted = one_by_one(model, read, 16, 4)
            torch.testing.assert_close(row, wanted, rtol=1e-4, atol=1e-5)


def test_an_ngram_model_is_read_document_by_document():
    training, documents = drawn(500)[0], drawn(30, 1, 7, seed=2)
    model = NGramModel(training, 2, V)
    found = log_probabilities(model, documents, start=3)
    for row, ids in zip(found, documents, strict=True):
        read = [3, *ids]
        wanted = [model.probability(read[i], read[:i]) for i in range(1, len(read))]
        torch.testing.assert_close(row.exp(), torch.tensor(wanted))
    assert text_score(model, documents, start=3).tokens.tolist() == [30, 1, 7]


def test_elmos_forward_half_is_a_language_model():
    torch.manual_seed(0)
    bilm = BiLMConfig(hidden_size=8, projection_size=6, num_hidden_layers=1)
    model = ElmoForPreTraining(ElmoConfig(vocab_size=V, characters=None, bilm=bilm))
    (ids,) = drawn(12)
    with torch.no_grad():
        logits = model.eval()(torch.tensor([ids])).forward_logits[0, :-1]
    wanted = -cross_entropy(logits, torch.tensor(ids[1:]), reduction="none")
    torch.testing.assert_close(log_probabilities(model, [ids])[0], wanted, rtol=1e-4, atol=1e-5)


def test_a_token_that_float32_calls_impossible_costs_what_it_costs():
    model, (ids,) = rnn(), drawn(8)
    with torch.no_grad():
        model.output.bias[ids[4]] = -300.0
    row = log_probabilities(model, [ids])[0]
    assert -310 < row[3] < -290 and torch.isfinite(row).all()


class Copies(nn.Module):
    """Says at each place what it reads at the next."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))

    def forward(self, input_ids):
        class Result:
            logits = nn.functional.one_hot(input_ids.roll(-1, 1), V) * 20.0 * self.weight

        return Result


def bert(kind=BertForMaskedLM):
    torch.manual_seed(0)
    return kind(BertConfig.tiny(vocab_size=V, num_hidden_layers=1))


@pytest.mark.parametrize("model", [Copies(), bert()])
def test_a_model_that_sees_its_target_is_refused(model):
    with pytest.raises(CourseError, match="attends to later tokens"):
        text_score(model, drawn(20, 4))
    for short in ([[1, 2], [3, 4]], [[5, 6]]):  # with no third token
        with pytest.raises(CourseError, match="attends to later tokens"):
            text_score(model, short)
    with pytest.raises(CourseError, match="attends to later tokens"):
        text_score(model, [[1], [2]], start=0)
    if isinstance(model, Copies):  # what it would have been: the perplexity of a copier
        (ids,) = torch.tensor(drawn(20))
        p = model(ids[None]).logits[0].softmax(-1)[torch.arange(19), ids[1:]]
        assert perplexity(p.detach()) < 1.001


# ------------------------------------------------------------------------------------- scores


def test_scores_by_token_word_and_byte():
    documents = [[1, 2, 3, 4], [5], [6, 7, 8]]
    texts = ["der große Bär", "é", "a b"]
    model = rnn()
    nats = [-row.double().sum().item() for row in log_probabilities(model, documents, start=0)]
    score = text_score(model, documents, texts=texts, start=0)
    assert score.perplexity.value == pytest.approx(math.exp(sum(nats) / 8))
    assert score.nats_per_token.value == pytest.approx(sum(nats) / 8)
    assert score.word_perplexity.value == pytest.approx(math.exp(sum(nats) / 6))
    assert score.bytes.tolist() == [15, 2, 3]
    assert score.bits_per_byte.value == pytest.approx(sum(nats) / 20 / math.log(2))
    assert repr(score).startswith("TextScore(perplexity 1") and "8 tokens in 3 docu" in repr(score)
    assert "bits per byte" in repr(score)


def test_errors_are_those_of_documents_drawn_anew():
    model, rng = NGramModel(drawn(300)[0], 1, V), np.random.default_rng(0)
    documents = drawn(*rng.integers(1, 40, 150), seed=7)
    score = text_score(model, documents, start=0)
    again = []
    for rows in rng.integers(150, size=(1500, 150)):
        again.append(math.exp(score.nats[rows].sum() / score.tokens[rows].sum()))
    assert score.perplexity.error == pytest.approx(np.std(again), rel=0.1)
    assert score.perplexity.low < score.perplexity.value < score.perplexity.high
    alone = text_score(model, documents[:1], start=0)
    assert math.isnan(alone.perplexity.error) and repr(alone).count("± ?") == 2


def test_cutting_words_finer_changes_perplexity_and_not_bits_a_byte():
    """One text as 4 tokens and as 8 that are sure of each second: the same code length."""
    from research.pretrain.text_score import scored_text

    whole = scored_text([torch.full((4,), math.log(1 / 9))], ["abab abab"])
    cut = scored_text([torch.tensor([math.log(1 / 9), 0.0] * 4)], ["abab abab"])
    assert whole.perplexity.value == pytest.approx(9) and cut.perplexity.value == pytest.approx(3)
    assert whole.bits_per_byte.value == cut.bits_per_byte.value
    assert whole.word_perplexity.value == pytest.approx(81) == cut.word_perplexity.value


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: text_score(gpt(), []), "There is no text"),
        (lambda: text_score(gpt(), [[1], []]), "no token to predict"),
        (lambda: text_score(gpt(), [[1, V]]), f"holds the number {V}"),
        (lambda: text_score(gpt(), [[1, 2], [1, -100]]), "holds the number -100"),
        (lambda: text_score(NGramModel([1, 2], 1, V), [[1, V]]), f"holds the number {V}"),
        (lambda: text_score(gpt(), [[1, 2]], texts=["a"]), "start="),
        (lambda: text_score(gpt(), [[1, 2]]).bits_per_byte, "not known. Pass texts"),
        (lambda: text_score(gpt(), [[1, 2]], window=17), "Give 1 to 16"),
        (
            lambda: text_score(hub.Loaded(gpt(), None, (), ""), [[1, 2]]),
            r"Loaded is no model.*\.model",
        ),
        (lambda: text_score(gpt(), [[1, 2]], stride=17), "leaves tokens out"),
        (lambda: text_score(rnn(), [[1, 2]], window=8, stride=4), "Leave out stride"),
        (lambda: text_score(bert(Bert), [[1, 2, 3]]), "without logits of all tokens"),
        (
            lambda: text_score(
                ElectraForPreTraining(ElectraConfig.tiny(vocab_size=V)), [[1, 2, 3]]
            ),
            "without logits",
        ),
    ],
)
@pytest.mark.bad_input
def test_what_cannot_be_scored_is_refused(call, message):
    with pytest.raises(CourseError, match=message):
        call()
