"""Adapters of models: rows and columns of their probabilities, without access to targets."""

import numpy as np
import pytest
import torch

from lmcourse.corpus import BookWorld
from lmcourse.corpus.bookworld import END
from lmcourse.errors import CourseError
from lmcourse.evaluation.predictors import checked, of_causal, of_masked, of_ngram
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM, BertForPreTraining
from lmcourse.models.bilm import BiLMConfig
from lmcourse.models.elmo import ElmoConfig, ElmoForPreTraining
from lmcourse.models.gpt import GPTConfig, GPTForCausalLM
from lmcourse.models.ngram import NGramModel
from lmcourse.models.outputs import LanguageModelOutput
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel

WORLD = BookWorld()
WIDTH = len(WORLD.vocabulary)
REVIEW = WORLD.sample(1, 11)[0].tokens[:14]
IDS = WORLD.encode(REVIEW)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def own_ids(special=SPECIAL, drop=(END,)):
    """A vocabulary in another order, as a tokenizer has it."""
    words = [word for word in WORLD.vocabulary if word not in drop]
    order = np.random.default_rng(0).permutation(len(words))
    return {token: i for i, token in enumerate([*special, *(words[k] for k in order)])}


@pytest.mark.parametrize("context", [0, 1, 2, 3])
def test_an_ngram_model_row_by_row(context):
    stream = [id_ for review in WORLD.sample(8, 1) for id_ in review.ids]
    model = NGramModel(stream, context, WIDTH)
    rows = of_causal(model, WORLD)(REVIEW)
    assert rows.shape == (len(REVIEW) + 1, WIDTH)
    np.testing.assert_allclose(rows.sum(1), 1)
    read = [0, *IDS]
    for at in range(0, len(rows), 5):
        wanted = [model.probability(w, read[: at + 1]) for w in range(0, WIDTH, 7)]
        np.testing.assert_allclose(rows[at, ::7], wanted, rtol=1e-10)
    assert of_ngram(model, WORLD)(REVIEW, []).shape == (0, WIDTH)


@pytest.mark.parametrize("kind", ["gpt", "lstm"])
def test_a_causal_network_reads_a_start_and_then_the_text(kind):
    torch.manual_seed(0)
    width = WIDTH + 3
    if kind == "gpt":
        settings = GPTConfig(width, hidden_size=16, num_hidden_layers=1, num_attention_heads=2)
        model = GPTForCausalLM(settings)
    else:
        model = RNNLanguageModel(RNNConfig(width, 8, 16, cell="lstm", dropout=0.5))
    rows = of_causal(model, WORLD)(REVIEW)
    with torch.no_grad():
        logits = model.eval()(input_ids=torch.tensor([[0, *IDS]])).logits[0, :, :WIDTH]
    np.testing.assert_allclose(rows, logits.double().softmax(-1), rtol=1e-6)
    # Row i is about token i: what stands there and later makes no difference.
    shorter = of_causal(model, WORLD)(REVIEW[:5])
    np.testing.assert_allclose(shorter, rows[:6], rtol=1e-4)


def test_ids_of_another_order():
    ids = own_ids()
    torch.manual_seed(0)
    model = BertForMaskedLM(BertConfig.tiny(vocab_size=len(ids), num_hidden_layers=1)).eval()
    rows = of_masked(model, WORLD, ids)([*REVIEW, END], [2, 5])
    read = [ids["[CLS]"], *(ids[token] for token in REVIEW), ids["[SEP]"]]
    read[3] = read[6] = ids["[MASK]"]
    with torch.no_grad():
        scores = model(input_ids=torch.tensor([read])).logits[0, [3, 6]].double()
    columns = [ids["[SEP]"] if word == END else ids[word] for word in WORLD.vocabulary]
    np.testing.assert_allclose(rows, scores[:, columns].softmax(-1), rtol=1e-6)
    # A text that is cut off is framed, too.
    assert of_masked(model, WORLD, ids)(REVIEW, [2]).shape == (1, WIDTH)


def test_ids_with_an_end_mark_and_no_frame():
    ids = own_ids(["[MASK]"], drop=())
    torch.manual_seed(0)
    model = BertForMaskedLM(BertConfig.tiny(vocab_size=len(ids), num_hidden_layers=1)).eval()
    rows = of_masked(model, WORLD, ids)([*REVIEW, END], [0])
    read = [ids["[MASK]"], *(ids[token] for token in [*REVIEW[1:], END])]
    with torch.no_grad():
        scores = model(input_ids=torch.tensor([read])).logits[0, [0]].double()
    columns = [ids[word] for word in WORLD.vocabulary]
    np.testing.assert_allclose(rows, scores[:, columns].softmax(-1), rtol=1e-6)


def test_an_ngram_model_of_other_ids_says_the_same():
    ids = own_ids(special=[], drop=())
    stream = [id_ for review in WORLD.sample(8, 1) for id_ in review.ids]
    other = [ids[WORLD.vocabulary[id_]] for id_ in stream]
    first, second = NGramModel(stream, 2, WIDTH), NGramModel(other, 2, WIDTH)
    np.testing.assert_allclose(
        of_causal(first, WORLD)(REVIEW), of_causal(second, WORLD, ids)(REVIEW), rtol=1e-10
    )
    wider = of_causal(NGramModel(stream, 2, WIDTH + 500), WORLD)(REVIEW)  # ids of no word
    np.testing.assert_allclose(wider.sum(1), 1)
    positions = [1, 4, 5]
    np.testing.assert_allclose(
        of_masked(first, WORLD)(REVIEW, positions),
        of_masked(second, WORLD, ids)(REVIEW, positions),
        rtol=1e-10,
    )


def test_models_that_do_not_fit_are_refused():
    pieces = {token: i for i, token in enumerate(["[CLS]", "[SEP]", "[MASK]", "the", "##s"])}
    model = RNNLanguageModel(RNNConfig(100, 8, 8))
    with pytest.raises(
        CourseError, match=r"1,49\d of BookWorld's 1,495 words are not single tokens"
    ):
        of_causal(model, WORLD, pieces)
    with pytest.raises(CourseError, match=r"ids has no \[SEP\] or </s>"):
        of_causal(model, WORLD, {"the": 0})
    with pytest.raises(CourseError, match=r"ids has no \[MASK\] or <mask>"):
        of_masked(model, WORLD, own_ids(["[SEP]"]))
    with pytest.raises(CourseError, match=r"has the id 1,498"):
        of_ngram(NGramModel([1, 2], 1, WIDTH), WORLD, own_ids())
    small = BertForMaskedLM(BertConfig.tiny(vocab_size=WIDTH - 1, num_hidden_layers=1))
    with pytest.raises(
        CourseError, match=r"predicts 1,494 tokens; .* 1,495 words has the id 1,494"
    ):
        of_masked(small, WORLD)

    class Sizeless(torch.nn.Module):  # which tells its size only by its answer
        def __init__(self):
            super().__init__()
            self.scores = torch.nn.Parameter(torch.zeros(1, 20, 30))

        def forward(self, input_ids):
            return LanguageModelOutput(None, self.scores[:, : input_ids.shape[1]])

    with pytest.raises(CourseError, match=r"predicts 30 tokens"):
        of_causal(Sizeless(), WORLD)(REVIEW)


def test_distributions_are_checked():
    rows = torch.full((2, 4), 0.25)
    assert checked(rows.requires_grad_(), 2, 4).dtype == np.float64
    assert checked(np.zeros((0, 4)), 0, 4).shape == (0, 4)
    for wrong, message in (
        (np.full((2, 4), 0.2), "Row 0 .* its sum 0.8"),
        (np.array([[0.5, 0.5], [1.5, -0.5]]), "Row 1 .* smallest number is -0.5"),
        (np.array([[0.5, 0.5], [np.inf, 0.0]]), "Row 1 .* its sum inf"),
    ):
        with pytest.raises(CourseError, match=message):
            checked(wrong, *wrong.shape)


def test_a_pretraining_model_answers_as_its_masked_half():
    torch.manual_seed(0)
    model = BertForPreTraining(BertConfig.tiny(vocab_size=WIDTH + 1, num_hidden_layers=1)).eval()
    rows = of_masked(model, WORLD)(REVIEW, [2])
    read = torch.tensor([IDS])
    read[0, 2] = WIDTH
    with torch.no_grad():
        scores = model(input_ids=read).prediction_logits[0, [2], :WIDTH].double()
    np.testing.assert_allclose(rows, scores.softmax(-1), rtol=1e-6)
    elmo = ElmoForPreTraining(
        ElmoConfig(WIDTH, characters=None, bilm=BiLMConfig(8, projection_size=6))
    ).eval()
    rows = of_causal(elmo, WORLD)(REVIEW)
    with torch.no_grad():
        scores = elmo(input_ids=torch.tensor([[0, *IDS]])).forward_logits[0].double()
    np.testing.assert_allclose(rows, scores.softmax(-1), rtol=1e-5)


@pytest.mark.bad_input
def test_a_model_without_predictions_is_refused_in_words():
    base = Bert(BertConfig.tiny(vocab_size=WIDTH + 1, num_hidden_layers=1))
    with pytest.raises(CourseError, match=r"without logits of all tokens.*BertForMaskedLM"):
        of_masked(base, WORLD)(REVIEW, [2])
    with pytest.raises(CourseError, match=r"without logits of all tokens.*GPTForCausalLM"):
        of_causal(base, WORLD)(REVIEW)
    with pytest.raises(CourseError, match=r"reads from left to right.*of_causal"):
        of_masked(RNNLanguageModel(RNNConfig(WIDTH + 1, 8, 16)), WORLD)


def test_a_review_begins_after_the_end_of_another():
    """Masked, too, an n-gram model knows where it begins."""
    stream = [id_ for review in WORLD.sample(8, 1) for id_ in review.ids]
    for ids, first in ((None, 0), (own_ids(), 2)):  # <end>; [CLS]
        names = ids or {word: i for i, word in enumerate(WORLD.vocabulary)}
        end = ids["[SEP]"] if ids else 0
        read = [first, *(names[token] for token in REVIEW)]
        counted = [first, *(names.get(WORLD.vocabulary[i], end) for i in stream), *read]
        model = NGramModel(counted, 2, WIDTH + 4)
        columns = [end if word == END else names[word] for word in WORLD.vocabulary]
        for hidden in ([0], [1], [0, 1, 2], [3, 5]):
            rows = of_ngram(model, WORLD, ids)(REVIEW, hidden)
            for row, position in zip(rows, hidden, strict=True):
                known = read[: position + 1]
                for masked in range(len(read)):
                    if masked - 1 in hidden and masked <= position:
                        known = read[masked + 1 : position + 1]
                wanted = np.array([model.probability(w, known) for w in columns])
                np.testing.assert_allclose(row, wanted / wanted.sum(), rtol=1e-9)
        causal = of_causal(model, WORLD, ids)(REVIEW)
        np.testing.assert_allclose(of_masked(model, WORLD, ids)(REVIEW, [0])[0], causal[0])
        wanted = np.array([model.probability(w, read[:1]) for w in columns])
        np.testing.assert_allclose(causal[0], wanted / wanted.sum(), rtol=1e-9)
