"""RoBERTa's sizes, places, heads and refusals; the parity table shows it equal to the reference."""

from dataclasses import replace

import pytest
import torch
import transformers

from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bert_tasks import BertForSequenceClassification
from lmcourse.models.roberta import (
    Roberta,
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaForQuestionAnswering,
    RobertaForSequenceClassification,
    RobertaForTokenClassification,
)
from lmcourse.tokenizers import recipes
from tests.models.small import BERT, parameters
from tests.parity.comparing import shaken

PAD = 1
SMALL = RobertaConfig(23, 12, 2, 3, 20, max_position_embeddings=9, num_labels=3)
HEADS = (
    RobertaForMaskedLM,
    RobertaForSequenceClassification,
    RobertaForQuestionAnswering,
    RobertaForTokenClassification,
)


def ids(*shape):
    return torch.randint(2, 23, shape)


@pytest.mark.parametrize(
    ("size", "with_pooler", "with_head"),
    [("base", 124_645_632, 124_697_433), ("large", 355_359_744, 355_412_057)],
)
def test_paper_scale_counts_are_the_references(size, with_pooler, with_head):
    """The paper's 125 M and 355 M; the head has no pooler below it."""
    config = getattr(RobertaConfig, size)()
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    names += ("vocab_size", "max_position_embeddings", "type_vocab_size")
    theirs = transformers.RobertaConfig(**{name: getattr(config, name) for name in names})
    with torch.device("meta"):
        assert parameters(Roberta(config)) == with_pooler
        assert parameters(transformers.RobertaModel(theirs)) == with_pooler
        assert parameters(RobertaForMaskedLM(config)) == with_head
        assert parameters(transformers.RobertaForMaskedLM(theirs)) == with_head


def test_the_larger_vocabulary_is_15_and_20_million_parameters_more():
    """As section 4.4 says; two positions more and a segment less come on top."""
    for size, millions, width in (("base", 15, 768), ("large", 20, 1024)):
        with torch.device("meta"):
            own = parameters(Roberta(getattr(RobertaConfig, size)()))
            berts = parameters(Bert(getattr(Bert.Config, size)()))
        assert own - berts == (50_265 - 30_522 + 2 - 1) * width
        assert round((own - berts) / 1e6) == millions


def test_places_are_counted_from_pad_over_real_tokens():
    """Worked by hand: padding on the right, on the left, and between, all at the place of [PAD]."""
    given = torch.tensor([[0, 7, 8, 2, 1, 1], [1, 1, 0, 7, 8, 2], [0, 7, 1, 8, 2, 1]])
    places = torch.tensor([[2, 3, 4, 5, 1, 1], [1, 1, 2, 3, 4, 5], [2, 3, 1, 4, 5, 1]])
    model = shaken(Roberta(SMALL))
    own = model.embeddings(given)
    assert torch.equal(own, model.embeddings(given, position_ids=places))
    before = torch.arange(6).expand(3, 6)  # as BERT counts: these may be given too
    assert not torch.isclose(own, model.embeddings(given, position_ids=before)).all()


def test_padding_on_either_side_leaves_a_sequence_as_it_is_alone():
    model, given = shaken(Roberta(SMALL).double()), ids(1, 4)
    alone = model(given).last_hidden_state
    padding = torch.full((1, 3), PAD)
    for parts, kept in (((given, padding), slice(0, 4)), ((padding, given), slice(3, 7))):
        padded = torch.cat(parts, 1)
        seen = model(padded, attention_mask=(padded != PAD).long()).last_hidden_state
        torch.testing.assert_close(seen[:, kept], alone)


def test_embedded_words_are_counted_plainly():
    """They do not say which is padding: all have places, the first that of a first token."""
    model, given = shaken(Roberta(SMALL)), ids(2, 6)
    words = model.embeddings.word(given)
    own, other = model(inputs_embeds=words), model(given)
    torch.testing.assert_close(own.pooler_output, other.pooler_output)


def test_the_place_of_padding_starts_at_zero_and_learns_nothing():
    model = Roberta(SMALL)
    assert not model.embeddings.position.weight[PAD].any()
    model(torch.tensor([[0, 7, PAD, PAD]])).last_hidden_state.square().sum().backward()
    gradient = model.embeddings.position.weight.grad
    assert not gradient[PAD].any() and gradient[[2, 3]].abs().sum(1).all()


def test_of_514_positions_512_are_a_sequences():
    with torch.device("meta"):
        model = Roberta(RobertaConfig(num_hidden_layers=1))
        assert model(torch.zeros(1, 512, dtype=torch.long)).last_hidden_state.shape[1] == 512
        with pytest.raises(CourseError, match=r"513 tokens .*512 positions.*at most 512 tokens"):
            model(torch.zeros(1, 513, dtype=torch.long))


def inputs(tokenizer, texts):
    encodings = tokenizer.encode_batch(texts)
    return {
        "input_ids": torch.tensor([each.ids for each in encodings]),
        "attention_mask": torch.tensor([each.attention_mask for each in encodings]),
    }


def test_the_course_own_byte_level_tokenizer_goes_with_it():
    texts = ["Anna likes old books.", "Où est le café ? 📚", "old books, new books"]
    tokenizer = recipes.roberta(texts, vocab_size=280, backend="tokenizers").tokenizer
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id("<pad>"), pad_token="<pad>")
    config = RobertaConfig(
        tokenizer.get_vocab_size(), 12, 1, 3, 20, pad_token_id=tokenizer.token_to_id("<pad>")
    )
    assert config.pad_token_id == RobertaConfig().pad_token_id == PAD
    given = inputs(tokenizer, ["книга", *texts])  # no text is out of its vocabulary
    assert given["input_ids"].max() < config.vocab_size
    model = shaken(RobertaForMaskedLM(config))
    logits = model(**given).logits
    assert logits.shape == (*given["input_ids"].shape, config.vocab_size)
    alone = model(**inputs(tokenizer, texts[:1])).logits[0]
    torch.testing.assert_close(logits[1, : len(alone)], alone)


@pytest.mark.parametrize("kind", HEADS, ids=lambda kind: kind.__name__)
def test_every_head_converts_whatever_the_number_of_labels(kind):
    for number in (1, 2, 3):
        model = kind(replace(SMALL, num_labels=number, classifier_dropout=0.3))
        again = kind.from_transformers(model.to_transformers())
        state = again.state_dict()
        assert all(torch.equal(state[name], own) for name, own in model.state_dict().items())
        assert again.config.max_position_embeddings == 9 and again.config.pad_token_id == PAD
        dropouts = {n: p.p for n, p in model.named_modules() if isinstance(p, torch.nn.Dropout)}
        assert dropouts == {
            n: p.p for n, p in again.named_modules() if isinstance(p, torch.nn.Dropout)
        }


def test_no_head_has_the_pooler_and_each_has_its_own_dropout():
    config = replace(SMALL, classifier_dropout=0.3)
    for kind in HEADS:
        model = kind(config)
        assert model.bert.pooler is None
        theirs = model.to_transformers()
        if hasattr(model, "classifier"):
            own = model.classifier.dropout.p
            assert own == 0.3
            assert own == getattr(theirs, "dropout", getattr(theirs.classifier, "dropout", None)).p


@pytest.mark.parametrize("kind", HEADS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("source", [Roberta, RobertaForMaskedLM], ids=lambda kind: kind.__name__)
def test_a_head_stands_on_a_copy_of_what_is_pretrained(kind, source, tmp_path):
    pretrained, given = shaken(source(SMALL).double()), ids(2, 5)
    body = pretrained if source is Roberta else pretrained.bert
    model = kind.on_top_of(pretrained, num_labels=4)
    own, known = model.bert(given).last_hidden_state, body(given).last_hidden_state
    assert torch.equal(own, known)
    if hasattr(model, "predictions") and hasattr(pretrained, "predictions"):
        assert torch.equal(model(given).logits, pretrained(given).logits)
    model.save(tmp_path / "model.safetensors")
    again = kind.load(tmp_path / "model.safetensors")
    assert type(again.config) is RobertaConfig and again.config == model.config
    assert torch.equal(again.bert(given).last_hidden_state, own)
    model.bert.embeddings.word.weight.data.zero_()
    assert body.embeddings.word.weight.any()


def test_berts_and_robertas_do_not_stand_on_each_other():
    for kind, other in ((RobertaForMaskedLM, Bert(BERT)), (BertForMaskedLM, Roberta(SMALL))):
        with pytest.raises(CourseError, match=" needs "):
            kind.on_top_of(other)
    with pytest.raises(CourseError, match=r"Roberta got BertConfig.*Give RobertaConfig\(…\)"):
        Roberta(BERT)
    with pytest.raises(CourseError, match="Roberta cannot be built from BertModel"):
        Roberta.from_transformers(Bert(BERT).to_transformers())


def test_the_masked_words_head_has_gelu_whatever_the_layers_have():
    model = shaken(RobertaForMaskedLM(replace(SMALL, hidden_act="relu")))
    x = torch.randn(1, 2, 12)
    hidden = model.predictions.norm(torch.nn.functional.gelu(model.predictions.dense(x)))
    words = model.bert.embeddings.word.weight
    expected = hidden @ words.T + model.predictions.bias
    torch.testing.assert_close(model.predictions(x, words)[0], expected)


def test_a_sequence_is_classified_by_its_first_token():
    model, given = shaken(RobertaForSequenceClassification(SMALL)), ids(2, 5)
    first = model.bert(given).last_hidden_state[:, 0]
    head = model.classifier
    expected = head.dense(torch.tanh(head.first(first)))
    torch.testing.assert_close(model(given).logits, expected)
    assert BertForSequenceClassification.pooled and not model.pooled


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"input_ids": ids(1, 8)}, "8 tokens a sequence.* 7 positions"),
        (
            {"input_ids": ids(1, 5), "position_ids": torch.full((1, 5), 9)},
            "position_ids holds the number 9.*0 to 8: count positions.*max_position_embeddings",
        ),
        (
            {"input_ids": ids(1, 5), "token_type_ids": torch.ones(1, 5, dtype=torch.long)},
            "token_type_ids holds the number 1.*0 to 0",
        ),
    ],
)
def test_bad_inputs_are_named(given, words):
    with pytest.raises(CourseError, match=words):
        Roberta(SMALL)(**given)
