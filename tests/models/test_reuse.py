"""Pretrained models under other heads: what is copied, what is drawn anew, what is refused."""

from dataclasses import replace

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert
from lmcourse.models.bert_heads import (
    BertForMaskedLM,
    BertForPreTraining,
)
from lmcourse.models.bert_tasks import (
    BertForSequenceClassification,
    BertForTokenClassification,
)
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.gpt import GPT, GPTForCausalLM
from tests.models.small import BERT as SMALL
from tests.models.small import GPT as GPT_SMALL
from tests.models.small import HEADS, ids
from tests.parity.comparing import shaken

FROM = (Bert, BertForPreTraining, BertForMaskedLM, BertForTokenClassification)


@pytest.mark.parametrize("kind", HEADS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("source", FROM, ids=lambda kind: kind.__name__)
def test_a_head_reads_the_pretrained_models_hidden_states(source, kind):
    pretrained = shaken(source(SMALL).double())
    body = pretrained if source is Bert else pretrained.bert
    model = kind.on_top_of(pretrained, num_labels=4)
    assert model.config.num_labels == 4 and not model.training
    given = ids(2, 5)
    own, known = model.bert(given), body(given)
    assert torch.equal(own.last_hidden_state, known.last_hidden_state)
    if own.pooler_output is not None and known.pooler_output is not None:
        assert torch.equal(own.pooler_output, known.pooler_output)
    before = {name: tensor.clone() for name, tensor in pretrained.state_dict().items()}
    for parameter in model.parameters():
        assert parameter.dtype == torch.float64
        parameter.data.add_(1)  # a copy: the pretrained model stays as it was
    assert all(torch.equal(before[name], t) for name, t in pretrained.state_dict().items())


def test_pre_trainings_heads_are_copied_and_a_tasks_are_not():
    pretrained = shaken(BertForPreTraining(SMALL))
    given = ids(2, 5)
    logits = pretrained(given).prediction_logits
    assert torch.equal(BertForMaskedLM.on_top_of(pretrained)(given).logits, logits)
    tuned = shaken(BertForSequenceClassification(SMALL))
    again = BertForSequenceClassification.on_top_of(tuned)
    assert again.classifier.dense.weight.abs().max() <= 0.04 + 1e-6
    assert not again.classifier.dense.bias.any()


def test_a_pooler_that_was_not_trained_is_drawn_anew():
    tuned = BertForSequenceClassification.on_top_of(shaken(BertForMaskedLM(SMALL)))
    weight = tuned.bert.pooler.dense.weight
    assert weight.any() and weight.abs().max() <= 0.04 + 1e-6


def test_what_does_not_fit_is_named():
    pretrained = BertForPreTraining(SMALL)
    with pytest.raises(CourseError, match=r"bert\.embeddings\.position\.weight .*\(9, 12\)"):
        BertForTokenClassification.on_top_of(pretrained, max_position_embeddings=11)
    with pytest.raises(CourseError, match=r"encoder\.layers\.1\..* is not part"):
        BertForTokenClassification.on_top_of(pretrained, num_hidden_layers=1)
    with pytest.raises(CourseError, match=r"needs Bert, but got GPTForCausalLM"):
        BertForTokenClassification.on_top_of(GPTForCausalLM(GPT_SMALL))


class Scaled(Embeddings):
    def forward(self, *given, **more):
        return 2 * super().forward(*given, **more)


class Variant(Bert):
    @staticmethod
    def make_embeddings(config):
        return Scaled(config.vocab_size, config.hidden_size, config.max_position_embeddings)


class VariantForMaskedLM(BertForMaskedLM):
    Base = Variant


def test_a_variant_is_what_differs_and_keeps_to_its_own():
    model = VariantForMaskedLM(SMALL)
    assert type(model.bert) is Variant and type(model.bert.embeddings) is Scaled
    again = VariantForMaskedLM.on_top_of(model)
    given = ids(2, 5)
    assert torch.equal(again.eval()(given).logits, model.eval()(given).logits)
    for kind, other in ((BertForMaskedLM, model), (VariantForMaskedLM, BertForMaskedLM(SMALL))):
        with pytest.raises(CourseError, match=" needs "):
            kind.on_top_of(other)


def test_gpt_goes_under_its_head_and_comes_back(tmp_path):
    pretrained = shaken(GPT(GPT_SMALL))
    model = GPTForCausalLM.on_top_of(pretrained, hidden_dropout_prob=0.3)
    given = ids(2, 5)
    hidden = pretrained(given).last_hidden_state
    assert torch.equal(model.gpt(given).last_hidden_state, hidden)
    assert model.gpt.config == replace(GPT_SMALL, hidden_dropout_prob=0.3)
    model.gpt.save(tmp_path / "gpt.safetensors")
    assert torch.equal(GPT.load(tmp_path / "gpt.safetensors")(given).last_hidden_state, hidden)
    model.gpt.embeddings.word.weight.data.zero_()
    assert pretrained.embeddings.word.weight.all()
    with pytest.raises(CourseError, match=r"needs GPT, but got Bert"):
        GPTForCausalLM.on_top_of(Bert(SMALL))
