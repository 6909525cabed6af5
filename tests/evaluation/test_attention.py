"""attention_arrays: the model's own attentions, and what they come from."""

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.evaluation.attention import attention_arrays
from lmcourse.models.albert import Albert, AlbertConfig
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.deberta import Deberta, DebertaConfig
from lmcourse.models.electra import ElectraConfig
from lmcourse.models.electra_pair import ElectraPair, ElectraPairConfig
from lmcourse.models.encoder_decoder import Transformer, TransformerConfig
from lmcourse.models.gpt import GPTConfig, GPTForCausalLM
from lmcourse.models.transformer import LayerConfig
from lmcourse.widgets import AttentionHeads

SIZES = {"vocab_size": 30, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4}
IDS = torch.tensor([[5, 9, 2, 7, 7, 0]])
TOKENS = [f"t{i}" for i in range(6)]
SEEN = torch.tensor([[1, 1, 1, 1, 1, 0]])


def bert(**more):
    return Bert(BertConfig(**SIZES, intermediate_size=32, **more))


def gpt():
    return GPTForCausalLM(GPTConfig(**SIZES))


def transformer():
    layer = LayerConfig(hidden_size=16, num_attention_heads=2, intermediate_size=32)
    return Transformer(TransformerConfig(vocab_size=30, layer=layer, num_hidden_layers=3))


def check(model, part, field, tokens=TOKENS, key_tokens=None, **inputs):
    """The arrays equal the model's output, and the widget finds them consistent."""
    model.train()  # which attention_arrays leaves as it is, and does not heed
    found = attention_arrays(model, tokens, key_tokens, part=part, **inputs)
    assert model.training
    model.eval()
    own = torch.cat(getattr(model(**inputs, output_attentions=True), field))
    attentions = found["attentions"]
    whole = attentions["all terms"] if isinstance(attentions, dict) else attentions
    torch.testing.assert_close(whole, own, rtol=0, atol=1e-6)
    widget = AttentionHeads(**found)  # it recomputes the weights from queries and keys
    assert {"q", "k", "scale"} <= set(widget.index)
    return found


def test_an_encoder_with_padding_and_a_pair():
    segments = torch.tensor([[0, 0, 0, 1, 1, 1]])
    inputs = {"input_ids": IDS, "attention_mask": SEEN, "token_type_ids": segments}
    found = check(bert(), None, "attentions", **inputs)
    assert found["segments"] == segments[0].tolist()
    assert found["mask"].dtype == torch.bool


def test_values_are_what_the_weights_move():
    """Summed over heads and keys, weight · value is the output of the layer's attention."""
    model, seen = bert().eval(), {}
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    for layer, it in enumerate(model.encoder.layers):

        def keep(module, _, out, layer=layer):
            seen[layer] = out[0] - module.output.bias

        it.attention.register_forward_hook(keep)
    found = attention_arrays(model, TOKENS, input_ids=IDS, attention_mask=SEEN)
    assert found["values"].shape == (2, 4, 6, 16)
    moved = torch.einsum("lhij,lhjd->lid", found["attentions"], found["values"])
    torch.testing.assert_close(moved, torch.cat([seen[0], seen[1]]), rtol=0, atol=1e-5)


def test_layers_that_share_their_weights():
    check(Albert(AlbertConfig(**SIZES, intermediate_size=32)), None, "attentions", input_ids=IDS)


def test_a_causal_model():
    found = check(gpt(), None, "attentions", input_ids=IDS)
    assert found["mask"].tolist() == torch.ones(6, 6).tril().bool().tolist()


@pytest.mark.parametrize("part", ["encoder", "decoder", "cross"])
def test_each_part_of_an_encoder_decoder(part):
    target = torch.tensor([[1, 4, 8, 3]])
    inputs = {"input_ids": IDS, "attention_mask": SEEN, "decoder_input_ids": target}
    tokens = TOKENS if part == "encoder" else ["a", "b", "c", "d"]
    keys = TOKENS if part == "cross" else None
    field = "cross_attentions" if part == "cross" else f"{part}_attentions"
    check(transformer(), part, field, tokens, keys, **inputs)


@pytest.mark.parametrize("as_in_paper", [False, True])
@pytest.mark.parametrize("terms", [("c2p", "p2c"), ("p2c",), ()])
@pytest.mark.parametrize("span", [3, 20])
def test_the_terms_of_disentangled_attention(terms, as_in_paper, span):
    more = {"pos_att_type": terms, "p2c_as_in_paper": as_in_paper, "max_relative_positions": span}
    model = Deberta(DebertaConfig(**SIZES, intermediate_size=32, **more))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    found = check(model, None, "attentions", input_ids=IDS, attention_mask=SEEN)
    names = {"c2p": "content to position", "p2c": "position to content"}
    if terms:
        wanted = ["all terms", "content to content", *(names[it] for it in terms)]
        assert list(found["attentions"]) == wanted
        apart = torch.stack([found["attentions"][it].clamp(min=1e-30).log() for it in wanted[1:]])
        together = apart.sum(0).masked_fill(~SEEN.bool()[:, None, None], -torch.inf).softmax(-1)
        torch.testing.assert_close(together, found["attentions"]["all terms"], rtol=0, atol=1e-5)


def pair():
    small = ElectraConfig(**SIZES, intermediate_size=32, embedding_size=16)
    return ElectraPair(ElectraPairConfig(small, generator_size=0.5))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("model", "inputs", "more", "said"),
    [
        (gpt, {"input_ids": IDS.repeat(2, 1)}, {}, "2 sequences.*input_ids\\[:1\\]"),
        (gpt, {"input_ids": IDS}, {"part": "middle"}, "attentions encoder.*Leave out part"),
        (lambda: "gpt", {"input_ids": IDS}, {}, "str is no model"),
        (
            pair,
            {"input_ids": IDS, "labels": IDS},
            {},
            "ElectraPair contains several models: generator, disc.*Pass",
        ),
        (transformer, {"input_ids": IDS, "labels": IDS}, {}, "attentions .*part='encoder'"),
        (lambda: torch.nn.Linear(2, 2), {"input": torch.ones(2)}, {}, "Linear has no multi-head"),
    ],
)
def test_what_is_refused(model, inputs, more, said):
    with pytest.raises(CourseError, match=said):
        attention_arrays(model(), **({"tokens": TOKENS} | more), **inputs)


def test_weights_that_diverged_are_not_hidden():
    model = bert()
    torch.nn.init.constant_(model.encoder.layers[1].attention.query.weight, torch.nan)
    found = attention_arrays(model, TOKENS, input_ids=IDS, attention_mask=SEEN)
    assert found["attentions"][1].isnan().any()
    with pytest.raises(CourseError, match="nan or inf, first in layer 1"):
        AttentionHeads(**found)
