"""BERT's and GPT's dropouts: each setting reaches its places, and each place drops something."""

import re
from dataclasses import replace

import pytest
import torch
from torch import nn

from lmcourse.models.attention import MultiHeadAttention
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.bert_heads import BertForPreTraining
from lmcourse.models.bert_tasks import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from lmcourse.models.gpt import GPT, GPTConfig, GPTForCausalLM
from tests.parity.comparing import shaken

EMBEDDED, ATTENTION, CLASSIFIER = "embeddings.dropout", "encoder.layers.#.attention", "classifier"
ADDED = {f"encoder.layers.#.{name}_residual.dropout" for name in ("attention", "feed_forward")}
BODY = {"hidden_dropout_prob": {EMBEDDED, *ADDED}, "attention_probs_dropout_prob": {ATTENTION}}
HEAD = {"classifier_dropout": {f"{CLASSIFIER}.dropout"}}
GPTS = {
    "embd_pdrop": {EMBEDDED},
    "hidden_dropout_prob": ADDED,
    "attention_probs_dropout_prob": {ATTENTION},
}
PLACES = {
    Bert: BODY,
    BertForPreTraining: BODY,
    BertForQuestionAnswering: BODY,
    BertForSequenceClassification: BODY | HEAD,
    BertForTokenClassification: BODY | HEAD,
    GPT: GPTS,
    GPTForCausalLM: GPTS,
}
"""Of each model, the places that each of its settings is for."""
CASES = [(kind, setting) for kind, places in PLACES.items() for setting in places]
OFF = {
    BertConfig: dict.fromkeys({**BODY, **HEAD}, 0.0),
    GPTConfig: dict.fromkeys(GPTS, 0.0),
}
SIZES = {
    BertConfig: BertConfig(23, 12, 2, 3, 20, max_position_embeddings=9),
    GPTConfig: GPTConfig(23, 12, 2, 3, 20, max_position_embeddings=9),
}


def built(kind, **settings):
    """A small model in training mode without any dropout but that of the settings."""
    config = replace(SIZES[kind.Config], **(OFF[kind.Config] | settings))
    return shaken(kind(config)).train()


def dropouts(model):
    """Every part that drops numbers, by its name in the base model, and the name of its p there."""
    found = {}
    for name, part in model.named_modules():
        if isinstance(part, nn.Dropout | MultiHeadAttention):
            attribute = "p" if isinstance(part, nn.Dropout) else "dropout"
            found[re.sub(r"^(bert|gpt)\.", "", name)] = (part, attribute)
    return found


def on(model):
    """The places that are set to drop something, with # for a layer's number."""
    values = {name: getattr(*place) for name, place in dropouts(model).items()}
    assert set(values.values()) <= {0.0, 0.5}
    return {re.sub(r"\d+", "#", name) for name, value in values.items() if value}


def twice_the_same(model):
    given = torch.arange(1, 19).view(3, 6) % 23
    one, other = (
        [each for each in model(given).to_tuple() if isinstance(each, torch.Tensor)]
        for _ in range(2)
    )
    return all(map(torch.equal, one, other))


def check(kind, setting):
    """The setting is the p of its places and of no other, and each of these drops something."""
    wanted = PLACES[kind][setting]
    model = built(kind, **{setting: 0.5})
    assert on(model) == wanted, f"{setting} is not what these are set to"
    assert not twice_the_same(model), f"{setting} drops nothing"
    places = dropouts(model)
    for part, attribute in places.values():
        setattr(part, attribute, 0.0)
    assert twice_the_same(model), "something drops that has no setting"
    for name, (part, attribute) in places.items():
        if re.sub(r"\d+", "#", name) in wanted:
            setattr(part, attribute, 0.5)
            assert not twice_the_same(model), f"{name} drops nothing"
            setattr(part, attribute, 0.0)


@pytest.mark.parametrize(
    ("kind", "setting"), CASES, ids=lambda value: getattr(value, "__name__", value)
)
def test_a_setting_is_the_dropout_of_its_places(kind, setting):
    check(kind, setting)


@pytest.mark.parametrize("kind", PLACES, ids=lambda kind: kind.__name__)
def test_without_dropout_two_training_runs_agree(kind):
    model = built(kind)
    assert not on(model) and twice_the_same(model)


@pytest.mark.parametrize("kind", [kind for kind in PLACES if "classifier_dropout" in PLACES[kind]])
def test_a_classifier_without_a_dropout_of_its_own_has_the_hidden_states(kind):
    model = built(kind, classifier_dropout=None, hidden_dropout_prob=0.5)
    assert on(model) == {*BODY["hidden_dropout_prob"], *HEAD["classifier_dropout"]}
