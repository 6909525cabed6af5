"""Each dropout beside the `transformers` library's: in training, one at a time takes everything.

Which numbers a dropout drops is chance, and no two libraries draw alike. One that drops all, while
the others drop nothing, leaves nothing to chance: so both must then give the same, dropout by
dropout in the order in which a call comes to them. And its probability must be that of the same
setting: here each setting has another one.
"""

from random import Random

import pytest
import torch
import transformers
from torch import nn

from lmcourse.models.conversion import conversion_of
from lmcourse.models.gpt import GPT, GPTForCausalLM
from tests.models.dropping import only
from tests.parity import bert, gpt
from tests.parity.architectures import ARCHITECTURES
from tests.parity.comparing import shaken

ROWS = {
    row.name: row.compare.__self__
    for row in ARCHITECTURES
    if isinstance(getattr(row.compare, "__self__", None), bert.Row)
}
"""The table's rows of BERT and its variants: our class, and how its settings are drawn."""
GPTS = {
    "GPT2Model": GPT,
    "GPT2LMHeadModel": GPTForCausalLM,
    "OpenAIGPTModel": GPT,
    "OpenAIGPTLMHeadModel": GPTForCausalLM,
}


def reference_of(architecture, conversion, config, **arguments):
    """The counterpart in training mode, with another probability for each of its dropouts."""
    names = [theirs for ours, theirs in conversion.settings.items() if "drop" in theirs + ours]
    for number, name in enumerate(names):
        setattr(config, name, (20 + number) / 100)
    config._attn_implementation = "eager"
    return shaken(getattr(transformers, architecture)(config, **arguments).double()).train()


def dropped(model, given, **options):
    """Of each dropout that a call comes to, its probability and what comes out if it drops all."""
    with only(None) as met:
        model(**given, **options)
    found = []
    for number, probability in enumerate(met):
        with only(number, everything=True):
            result = model(**given, **options)
        found.append((probability, [result[name] for name in bert.single(result)]))
    return found


def check(ours, reference, given):
    assert ours.training
    theirs = dropped(reference, given)
    assert theirs
    for options in ({}, {"output_attentions": True}):
        own = dropped(ours, given, **options)
        assert [p for p, _ in own] == [p for p, _ in theirs]
        for (_, results), (_, others) in zip(own, theirs, strict=True):
            # The library's DeBERTa computes its scale in single precision.
            torch.testing.assert_close(results, others, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ROWS)
def test_each_dropout_of_a_bert_is_the_references(name):
    row, draw = ROWS[name], Random(0)
    conversion = conversion_of(row.ours)
    config = getattr(transformers, conversion.config)(**row.settings(draw))
    given = row.given(draw, config)
    given = {name: given[name] for name in ("input_ids", "inputs_embeds") if name in given}
    reference = reference_of(conversion.architecture, conversion, config, **dict(row.arguments))
    ours = row.ours.from_transformers(reference)
    if name.startswith("ALBERT"):
        # Ours drops of what its feed-forward networks add, as the published code. The library
        # makes that dropout too, and never calls it.
        for name, part in ours.named_modules():
            if "feed_forward_residual" in name and isinstance(part, nn.Dropout):
                part.p = 0.0
    check(ours, reference, given)


@pytest.mark.parametrize("architecture", GPTS)
def test_each_dropout_of_a_gpt_is_the_references(architecture):
    kind = GPTS[architecture]
    conversion = conversion_of(kind, architecture)
    config = getattr(transformers, conversion.config)(**gpt.settings(Random(0)))
    reference = reference_of(architecture, conversion, config)
    given = {"input_ids": torch.randint(config.vocab_size, (2, 6))}
    check(kind.from_transformers(reference), reference, given)
