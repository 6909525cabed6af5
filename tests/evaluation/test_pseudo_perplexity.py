"""Pseudo-perplexity: each token masked in turn, by brute force."""

import math

import numpy as np
import pytest
import torch

from lmcourse import hub
from lmcourse.errors import CourseError
from lmcourse.evaluation.pseudo_perplexity import pseudo_log_probabilities, pseudo_text_score
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM, BertForPreTraining
from lmcourse.models.deberta import DebertaConfig, DebertaForMaskedLM
from lmcourse.models.gpt import GPTConfig, GPTForCausalLM
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.models.roberta import RobertaConfig, RobertaForMaskedLM

V, MASK, FIRST, LAST = 15, 14, 13, 12


def model_of(kind, config):
    torch.manual_seed(0)
    settings = {"vocab_size": V, "num_hidden_layers": 2, "initializer_range": 0.3}
    return kind(config.tiny(**settings)).train()  # dropout must be off all the same


KINDS = [
    (BertForMaskedLM, BertConfig),
    (BertForPreTraining, BertConfig),
    (RobertaForMaskedLM, RobertaConfig),
    (DebertaForMaskedLM, DebertaConfig),
]


@torch.no_grad()
def one_by_one(model, ids, before=(), after=()):
    model.eval()
    out = []
    for t in range(len(ids)):
        hidden = [*before, *ids[:t], MASK, *ids[t + 1 :], *after]
        result = model(torch.tensor([hidden]))
        logits = getattr(result, "prediction_logits", None)
        logits = result.logits if logits is None else logits
        out.append(logits[0, len(before) + t].log_softmax(-1)[ids[t]])
    model.train()
    return torch.stack(out)


@pytest.mark.parametrize("frame", [(), ((FIRST,), (LAST,)), ((FIRST, 3), ())])
@pytest.mark.parametrize("kind, config", KINDS)
def test_each_token_is_masked_alone(kind, config, frame):
    model = model_of(kind, config)
    rng = np.random.default_rng(0)
    documents = [rng.integers(2, 12, size=n).tolist() for n in (5, 1, 9)]
    named = dict(zip(("before", "after"), frame, strict=False))
    found = pseudo_log_probabilities(model, documents, mask=MASK, **named)
    for row, ids in zip(found, documents, strict=True):
        wanted = one_by_one(model, ids, *frame)
        torch.testing.assert_close(row, wanted, rtol=1e-4, atol=1e-5)
    for at_once in (1, 20):
        again = pseudo_log_probabilities(model, documents, mask=MASK, at_once=at_once, **named)
        for row, other in zip(found, again, strict=True):
            torch.testing.assert_close(row, other, rtol=1e-4, atol=1e-5)
    assert model.training


def test_the_pseudo_perplexity_counts_all_tokens_of_all_texts():
    model = model_of(*KINDS[0])
    documents = [torch.tensor([3, 4, 5, 6]), [], [7]]
    framed = pseudo_log_probabilities(model, documents, mask=MASK, before=[FIRST])
    assert [len(row) for row in framed] == [4, 0, 1]
    score = pseudo_text_score(model, documents, mask=MASK, texts=["a b c d", "", "e"])
    nats = -sum(float(one_by_one(model, list(map(int, ids))).sum()) for ids in ([3, 4, 5, 6], [7]))
    assert score.tokens.tolist() == [4, 0, 1]
    assert score.perplexity.value == pytest.approx(math.exp(nats / 5), rel=1e-5)
    assert repr(score).startswith("TextScore(pseudo-perplexity") and "byte" not in repr(score)
    with pytest.raises(CourseError, match="no code's length"):
        _ = score.bits_per_byte


def test_it_is_no_probability_of_a_text():
    """Over all texts of a length, PLL's exponentials do not sum to 1, as p of texts would."""
    model = model_of(*KINDS[0])
    texts = [[a, b] for a in range(V) for b in range(V)]
    rows = pseudo_log_probabilities(model, texts, mask=MASK)
    total = sum(math.exp(float(row.sum())) for row in rows)
    assert abs(total - 1) > 0.01
    # For one token there is but one question, and the sum is 1.
    single = pseudo_log_probabilities(model, [[a] for a in range(V)], mask=MASK)
    assert sum(math.exp(float(row)) for row in single) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda model: pseudo_text_score(model, [], mask=MASK), "There is no text"),
        (
            lambda model: pseudo_text_score(model, [[]], mask=MASK),
            "of no token has .*one token",
        ),
        (lambda model: pseudo_text_score(model, [[1]], mask="[MASK]"), r"mask is '\[MASK\]'"),
        (lambda model: pseudo_text_score(model, [[1]], mask=MASK, before="[CLS]"), "before .*ids"),
        (lambda model: pseudo_text_score(model, [[1]], mask=MASK, after=[1.5]), "after .*ids"),
        (lambda model: pseudo_text_score(model, [[1]], mask=MASK, after=3), "after .*ids"),
        (
            lambda model: pseudo_text_score(hub.Loaded(model, None, ""), [[1]], mask=MASK),
            r"Loaded is no model.*\.model",
        ),
        (lambda model: pseudo_text_score(model, [[1, V]], mask=MASK), f"holds the number {V}"),
        (lambda model: pseudo_text_score(model, [[1, 2]], mask=V), f"holds the number {V}"),
        (lambda model: pseudo_text_score(model, [[1] * 999], mask=MASK), "999 tokens a sequence"),
        (lambda model: pseudo_text_score(model, ["ab"], mask=MASK), "as lists of ids"),
        (lambda model: pseudo_text_score(model, [[1]], mask=MASK, texts=[]), "0 strings"),
        (lambda model: pseudo_text_score(model.bert, [[1]], mask=MASK), "without scores"),
    ],
)
@pytest.mark.bad_input
def test_what_cannot_be_scored_is_refused(call, message):
    with pytest.raises(CourseError, match=message):
        call(model_of(*KINDS[0]))


def test_a_base_model_has_no_predictions():
    with pytest.raises(CourseError, match="such as BertForMaskedLM"):
        pseudo_text_score(model_of(Bert, BertConfig), [[1, 2]], mask=MASK)


@pytest.mark.bad_input
@pytest.mark.parametrize("documents", [[[1, 2, 3, 4, 5]], [[1]], [[1], [2, 3]]])
@pytest.mark.parametrize("kind", ["gpt", "lstm"])
def test_a_left_to_right_model_is_refused(kind, documents):
    torch.manual_seed(0)
    model = (
        GPTForCausalLM(GPTConfig(V, hidden_size=16, num_hidden_layers=1, num_attention_heads=2))
        if kind == "gpt"
        else RNNLanguageModel(RNNConfig(V, 6, 8))
    )
    with pytest.raises(CourseError, match=r"looks to the left alone.*text_score"):
        pseudo_text_score(model, documents, mask=MASK)


def test_a_masked_model_that_looks_at_nothing_is_none_of_these():
    """Such as one whose layers were all set to zero: it says the same everywhere."""
    model = model_of(*KINDS[0])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    score = pseudo_text_score(model, [[1, 2, 3]], mask=MASK)
    assert score.perplexity.value == pytest.approx(V)
