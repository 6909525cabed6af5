"""Vectors of words from models: aligned with pieces, the same in every batch; and the controls."""

import numpy as np
import pytest
import torch

from lmcourse import hub
from lmcourse.corpus import BookWorld
from lmcourse.errors import CourseError
from lmcourse.evaluation.probes import averaged_context, hidden_states, untrained
from lmcourse.evaluation.probes.states import Pieces, cut
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bilm import BiLMConfig
from lmcourse.models.char_cnn import CharacterCNNConfig, character_ids
from lmcourse.models.deberta import Deberta, DebertaConfig
from lmcourse.models.elmo import ElmoConfig, ElmoForPreTraining, ElmoModel
from lmcourse.models.gpt import GPT, GPTConfig, GPTForCausalLM
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.models.roberta import Roberta, RobertaConfig
from lmcourse.tokenizers.recipes import bert as bert_recipe

TEXTS = [
    ["the", "boat", "left", "the", "bank"],
    ["bank"],
    ["the", "bank", "left"],
    ["unbanked", "boats", "left", "the", "leftbank"],
]
KNOWN = sorted({word for text in TEXTS for word in text})
IDS = {word: number for number, word in enumerate(["[PAD]", "[UNK]", *KNOWN])}
FRAMED = {word: n for n, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *KNOWN])}
SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 40,
}
BILM = BiLMConfig(hidden_size=8, projection_size=6, num_hidden_layers=2)


@pytest.fixture(scope="module")
def tokenizer():
    lines = ["the boat left the bank", "the bank left", "unbanked leftbank boats"]
    return bert_recipe(lines, vocab_size=40).tokenizer


MODELS = {
    "BERT": lambda: Bert(BertConfig(60, **SMALL)),
    "BERT with a head": lambda: BertForMaskedLM(BertConfig(60, **SMALL)),
    "RoBERTa": lambda: Roberta(RobertaConfig(60, **SMALL)),
    "DeBERTa": lambda: Deberta(DebertaConfig(60, **SMALL)),
    "GPT": lambda: GPT(GPTConfig(60, **SMALL)),
    "GPT with a head": lambda: GPTForCausalLM(GPTConfig(60, **SMALL)),
    "ELMo": lambda: ElmoModel(ElmoConfig(60, None, BILM)),
    "ELMo with a head": lambda: ElmoForPreTraining(ElmoConfig(60, None, BILM)),
    "LSTM": lambda: RNNLanguageModel(RNNConfig(60, 8, 12, "lstm", 2, dropout=0.5)),
}


def made(name="BERT"):
    torch.manual_seed(7)
    return MODELS[name]()


@pytest.mark.parametrize("name", MODELS)
def test_every_model_gives_each_word_its_own_vector_in_any_batch(name):
    model = made(name)
    alone = [hidden_states(model, [text], IDS) for text in TEXTS]
    together = hidden_states(model, TEXTS, IDS, batch_size=3)
    with torch.no_grad():
        model.eval()
        ids = torch.tensor([[IDS[word] for word in TEXTS[0]]])
        wanted = model(input_ids=ids, output_hidden_states=True).hidden_states
        model.train()
    assert len(together) == len(wanted) == 3
    for layer, (states, reference) in enumerate(zip(together, wanted, strict=True)):
        assert [len(each) for each in states] == [len(text) for text in TEXTS]
        np.testing.assert_allclose(states[0], reference[0].numpy(), atol=1e-5)
        for number in range(len(TEXTS)):
            np.testing.assert_allclose(states[number], alone[number][layer][0], atol=1e-5)
    assert model.training  # as it was


def test_layers_are_chosen_and_refused():
    model = made()
    every = hidden_states(model, TEXTS, IDS)
    last, first = hidden_states(model, TEXTS, IDS, layers=[-1, 0])
    np.testing.assert_array_equal(last[3], every[2][3])
    np.testing.assert_array_equal(first[2], every[0][2])
    with pytest.raises(IndexError):
        hidden_states(model, TEXTS, IDS, layers=[3])


def test_pieces_are_pooled_into_words_without_special_tokens(tokenizer):
    model, text = made(), TEXTS[3]
    encoding = tokenizer.encode(text, is_pretokenized=True)
    assert max(encoding.word_ids.count(word) for word in range(len(text))) > 2
    with torch.no_grad():
        ids = torch.tensor([encoding.ids])
        raw = model.eval()(input_ids=ids).last_hidden_state[0].numpy()
    ((found,),) = hidden_states(model, [text], tokenizer, layers=[-1])
    for word in range(len(text)):
        own = raw[[i for i, it in enumerate(encoding.word_ids) if it == word]]
        np.testing.assert_allclose(found[word], own.mean(0), atol=1e-5)


def test_a_tokenizers_padding_is_no_word(tokenizer):
    wanted = cut(TEXTS[2], tokenizer)
    tokenizer.enable_padding(length=30)
    try:
        found = cut(TEXTS[2], tokenizer)
    finally:
        tokenizer.no_padding()
    assert torch.equal(found.ids, wanted.ids) and found.words == wanted.words
    assert found.words[0] == found.words[-1] == -1


def test_a_mapping_frames_a_text_if_it_has_marks():
    found = cut(["the", "new", "bank"], FRAMED)
    assert found.words == [-1, 0, 1, 2, -1]
    assert found.ids.tolist() == [FRAMED[it] for it in ("[CLS]", "the", "[UNK]", "bank", "[SEP]")]
    world = BookWorld()
    ids = {word: number for number, word in enumerate(world.vocabulary)}
    tokens = world.sample(1, 0)[0].tokens
    assert cut(tokens, ids).ids.tolist() == world.encode(tokens)


def test_shares_by_hand():
    pieces = Pieces(torch.arange(5), [-1, 0, 0, 1, -1])
    assert pieces.shares().tolist() == [[0, 0.5, 0.5, 0, 0], [0, 0, 0, 1, 0]]


def test_elmo_reads_characters():
    config = CharacterCNNConfig(filters=((1, 4), (2, 4)), num_highway_layers=1)
    model = ElmoModel(ElmoConfig(60, config, BILM))
    states = hidden_states(model, TEXTS, lambda words: character_ids([words])[0])
    # The token's own layer is the same wherever the word stands; the next one is not.
    np.testing.assert_allclose(states[0][0][4], states[0][2][1], atol=1e-5)
    assert np.abs(states[1][0][4] - states[1][2][1]).max() > 1e-4


def test_averaged_context_leaves_the_word_out():
    text = np.array([[1.0, 0.0], [0.0, 2.0], [5.0, 4.0]])
    context, alone = averaged_context([text, text[:1]])
    np.testing.assert_allclose(context, [[2.5, 3.0], [3.0, 2.0], [0.5, 1.0]])
    np.testing.assert_allclose(alone, [[0.0, 0.0]])


def test_an_untrained_model_keeps_what_it_is_told():
    model = made()
    before = torch.random.get_rng_state()
    fresh, kept = untrained(model), untrained(model, keep=["embeddings.word"])
    assert torch.equal(torch.random.get_rng_state(), before)
    assert fresh.config == model.config and type(fresh) is Bert
    trained = model.state_dict()
    matrices = [name for name, weight in trained.items() if weight.ndim == 2]
    for name in matrices:
        assert not torch.equal(fresh.state_dict()[name], trained[name]), name
        same = name.startswith("embeddings.word")
        assert torch.equal(kept.state_dict()[name], trained[name]) is same, name
    assert any(name.startswith("embeddings.word") for name in matrices)
    again = untrained(model).state_dict()
    assert all(torch.equal(weight, again[name]) for name, weight in fresh.state_dict().items())


@pytest.mark.parametrize(
    "change, told",
    [
        ({"texts": []}, "no text"),
        ({"texts": ["bank"]}, "A text is 'bank'"),
        ({"reader": {"bank": 0}}, "'the' has no id"),
        ({"model": torch.nn.Identity()}, "returns no hidden_states"),
        ({"loaded": True}, r"Loaded is no model.*\.model"),
    ],
)
@pytest.mark.bad_input
def test_what_cannot_be_read_is_told(change, told):
    class Silent(torch.nn.Module):
        def forward(self, **inputs):
            return inputs

    given = {"model": made(), "texts": TEXTS, "reader": IDS} | change
    given["model"] = Silent() if "model" in change else given["model"]
    if given.pop("loaded", False):
        given["model"] = hub.Loaded(given["model"], None, (), "")
    with pytest.raises(CourseError, match=told):
        hidden_states(**given)


def test_a_word_that_truncation_cuts_off_is_told(tokenizer):
    tokenizer.enable_truncation(5)
    try:
        with pytest.raises(CourseError, match="has no piece"):
            cut(TEXTS[0], tokenizer)
    finally:
        tokenizer.no_truncation()
