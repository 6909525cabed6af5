"""A model's answers beside BookWorld's: nothing is above the floor where the model knows all."""

import numpy as np
import pytest
import torch

from lmcourse.corpus import BookWorld
from lmcourse.errors import CourseError
from lmcourse.evaluation.masked_predictions import (
    answers,
    divergence,
    masked_predictions,
    of_ngram,
)
from lmcourse.evaluation.predictors import of_masked
from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.ngram import NGramModel
from lmcourse.widgets import Masking

WORLD = BookWorld()
REVIEW = WORLD.sample(1, 11)[0].tokens[:12]
TOKENS = ["[CLS]", *REVIEW, "[SEP]", "[PAD]"]


def test_a_model_that_knows_all_leaves_no_gap():
    found = masked_predictions(WORLD.masked_posterior, WORLD, TOKENS)
    np.testing.assert_array_equal(found["model"], found["exact"])
    gap = divergence(found)
    assert np.isnan(gap[[0, -2, -1]]).all() and (gap[1:-2] == 0).all()
    np.testing.assert_allclose(found["exact"][3], WORLD.masked_posterior(REVIEW, [2])[0])
    widget = Masking(TOKENS, **found)
    assert widget._held["known"][0].tolist() == [0, *[1] * 12, 0, 0]


def test_a_whole_draw_is_hidden_at_once():
    selected = np.zeros((2, len(TOKENS)), bool)
    selected[0, [2, 5]] = selected[1, 3] = True
    seen = []

    def predict(tokens, hidden):
        seen.append((tokens, hidden))
        return np.full((len(hidden), len(WORLD.vocabulary)), 1 / len(WORLD.vocabulary))

    found = masked_predictions(predict, WORLD, TOKENS, selected)
    assert seen == [(REVIEW, [1, 4]), (REVIEW, [2])]
    np.testing.assert_allclose(found["exact"][0, [2, 5]], WORLD.masked_posterior(REVIEW, [1, 4]))
    assert (found["exact"].sum(-1) > 0).tolist() == selected.tolist()
    Masking(TOKENS, selected=selected, **found)


def test_an_ngram_model_looks_to_the_left_and_not_into_holes():
    ids = WORLD.encode(REVIEW) * 2  # every context has been seen
    model = NGramModel(ids, 2, len(WORLD.vocabulary))
    predict = of_ngram(model, WORLD)
    rows = predict(REVIEW, [0, 4, 5])
    np.testing.assert_allclose(rows.sum(-1), 1)
    known = WORLD.encode(REVIEW)
    for row, before in zip(rows, ([], known[2:4], []), strict=True):
        wanted = [model.probability(w, before) for w in range(len(row))]
        np.testing.assert_allclose(row, wanted)


def test_a_masked_model_reads_mask_and_not_the_token():
    width = len(WORLD.vocabulary)
    torch.manual_seed(0)
    model = BertForMaskedLM(BertConfig.tiny(vocab_size=width + 3, num_hidden_layers=1)).train()
    predict = of_masked(model, WORLD)
    rows = predict(REVIEW, [2, 5])
    assert model.training and rows.shape == (2, width)
    torch.testing.assert_close(rows.sum(-1), torch.ones(2, dtype=torch.float64))
    other = [*REVIEW]
    other[2], other[5] = REVIEW[0], REVIEW[1]
    torch.testing.assert_close(predict(other, [2, 5]), rows)
    ids = torch.tensor([WORLD.encode(REVIEW)])
    ids[0, [2, 5]] = width
    logits = model.eval()(input_ids=ids).logits[0, [2, 5], :width]
    torch.testing.assert_close(rows.float(), logits.softmax(-1), rtol=1e-4, atol=1e-7)


def test_any_text_is_answered_in_one_line():
    answer = answers(WORLD.masked_posterior, WORLD)
    widget = Masking(TOKENS, answer=answer)
    np.testing.assert_array_equal(answer(TOKENS)["exact"], widget._answer(TOKENS)["model"])
    assert "KL(exact ‖ model) is 0 nats" in widget.alt
    widget.text = " ".join(REVIEW[:6])
    assert widget.tokens == REVIEW[:6] and widget.trouble == "" and "KL" in widget.alt
    widget.text = "The quagga the zebra"
    assert widget.trouble.startswith("BookWorld does not know “The”, “quagga”, “zebra”. It has 1,")
    widget.text = "piano piano piano"
    assert "No review of BookWorld" in widget.trouble


def test_what_does_not_fit_is_refused():
    with pytest.raises(CourseError, match=r"returned the shape \(2, 2\), where \(1, \d+\)"):
        masked_predictions(lambda tokens, hidden: np.ones((2, 2)), WORLD, TOKENS)
    with pytest.raises(CourseError, match=r"'Dragon' at position 12"):
        masked_predictions(WORLD.masked_posterior, WORLD, [*REVIEW, "Dragon"])
