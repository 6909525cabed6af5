"""GPT's sizes, start, seams and text; that it equals the reference is in the parity table."""

from dataclasses import replace
from unittest.mock import patch

import pytest
import torch
import transformers

from lmcourse.errors import CourseError
from lmcourse.models.bert import BertConfig
from lmcourse.models.gpt import GPT, GPTConfig, GPTForCausalLM
from lmcourse.models.inputs import IGNORED
from lmcourse.models.transformer import Encoder
from tests.models.small import GPT as SMALL
from tests.models.small import parameters
from tests.parity.comparing import shaken


@pytest.mark.parametrize(
    ("size", "count"),
    [
        ("gpt", 116_534_784),
        ("gpt2", 124_439_808),
        ("gpt2_medium", 354_823_168),
        ("gpt2_large", 774_030_080),
        ("gpt2_xl", 1_557_611_200),
    ],
)
def test_paper_scale_counts_are_the_references(size, count):
    """GPT-2's smallest is 117 M in its paper, which is the first GPT's size."""
    config = getattr(GPTConfig, size)()
    first = size == "gpt"
    kind = transformers.OpenAIGPTConfig if first else transformers.GPT2Config
    theirs = kind(
        n_embd=config.hidden_size,
        n_layer=config.num_hidden_layers,
        n_head=config.num_attention_heads,
    )
    reference = transformers.OpenAIGPTModel if first else transformers.GPT2Model
    with torch.device("meta"):
        assert parameters(GPT(config)) == count
        assert parameters(GPTForCausalLM(config)) == count  # the output is the embeddings
        assert parameters(reference(theirs)) == count


@pytest.mark.parametrize("layers", [2, 8])
def test_the_residual_streams_terms_start_smaller(layers):
    wide = replace(SMALL, hidden_size=192, intermediate_size=None, num_hidden_layers=layers)
    for layer in GPT(wide).encoder.layers:
        for part, std in (
            (layer.attention.query, 0.02),
            (layer.attention.output, 0.02 / (2 * layers) ** 0.5),
            (layer.feed_forward.intermediate, 0.02),
            (layer.feed_forward.output, 0.02 / (2 * layers) ** 0.5),
        ):
            assert part.weight.std().item() == pytest.approx(std, rel=0.05)
    post_norm = GPT(replace(wide, norm_first=False))
    assert post_norm.encoder.layers[0].attention.output.weight.std().item() > 0.019


def test_it_is_berts_encoder_with_another_mask():
    model = shaken(GPT(SMALL).double())
    both_ways = Encoder(SMALL.layer, SMALL.num_hidden_layers, final_norm=True).double().eval()
    both_ways.load_state_dict(model.encoder.state_dict())
    given = torch.randint(23, (2, 6))
    past = torch.ones(6, 6, dtype=torch.bool).tril()
    x = model.embeddings(given)
    own, other = model(given).last_hidden_state, both_ways(x, past[None, None]).last_hidden_state
    torch.testing.assert_close(own, other)
    assert not torch.allclose(own, both_ways(x).last_hidden_state)


def test_padding_on_the_left_changes_nothing_if_places_count_tokens():
    model = shaken(GPTForCausalLM(SMALL).double())
    given = torch.randint(23, (1, 5))
    padded = torch.cat([torch.randint(23, (1, 3)), given], 1)
    mask = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1]])
    places = (mask.cumsum(1) - 1).clamp(min=0)
    alone, with_padding = model(given), model(padded, mask, places)
    torch.testing.assert_close(with_padding.logits[:, 3:], alone.logits)
    assert not torch.allclose(model(padded, mask).logits[:, 3:], alone.logits)


def test_the_logits_of_a_place_meet_the_next_label():
    model = shaken(GPTForCausalLM(SMALL).double())
    given = torch.randint(23, (2, 5))
    labels = torch.full_like(given, IGNORED)
    labels[0, 3], labels[1, 1], labels[1, 0] = 4, 9, 2  # the last has nothing before it
    result = model(given, labels=labels)
    p = result.logits.softmax(-1)
    torch.testing.assert_close(result.loss, -(p[0, 2, 4].log() + p[1, 0, 9].log()) / 2)
    nothing = model(given[:, :1], labels=given[:, :1]).loss
    assert nothing == 0 and nothing.requires_grad


def likeliest_by_hand(model, text, place):
    """The token that follows at a place, of as many before it as the model has positions for."""
    return model(text[:, max(0, place - 9) : place]).logits[:, -1].argmax(-1)


def test_text_goes_on_with_the_likeliest():
    model = shaken(GPTForCausalLM(SMALL).double())
    start = torch.randint(23, (3, 2))
    text = model.generate(start, 20, temperature=0.0)  # beyond the model's nine places
    assert text.shape == (3, 22) and torch.equal(text[:, :2], start)
    for place in range(2, 22):
        assert torch.equal(text[:, place], likeliest_by_hand(model, text, place)), place
    assert torch.equal(model.generate(start, 20, top_k=1), text)
    assert torch.equal(model.generate(start, 0), start)
    short = model.generate(start.int(), 2, temperature=0.0)
    assert short.dtype == torch.int32 and torch.equal(short.long(), text[:, :4])


def test_text_goes_on_by_chance():
    model = shaken(GPTForCausalLM(SMALL))
    start = torch.randint(23, (3, 2))

    def drawn(seed, **options):
        return model.generate(start, 12, generator=torch.Generator().manual_seed(seed), **options)

    assert torch.equal(drawn(0), drawn(0)) and not torch.equal(drawn(0), drawn(1))
    for all_of_them in (23, 1000):
        assert torch.equal(drawn(0, top_k=all_of_them), drawn(0))


def test_the_likeliest_few_are_drawn_and_no_more():
    model = shaken(GPTForCausalLM(SMALL))
    start = torch.randint(23, (1, 2))
    top = model(start).logits[0, -1].topk(3).indices
    drawn = model.generate(start.expand(200, 2), 1, top_k=3)[:, 2]
    assert set(drawn.tolist()) == set(top.tolist())
    nothing_known = GPTForCausalLM(SMALL)
    for parameter in nothing_known.parameters():
        torch.nn.init.zeros_(parameter)  # all tokens are as likely as each other
    for k in (1, 3):
        drawn = nothing_known.generate(start.expand(200, 2), 1, top_k=k)[:, 2]
        assert len(drawn.unique()) == k


def test_text_is_written_without_dropout_and_the_modes_come_back():
    model = shaken(GPTForCausalLM(replace(SMALL, embd_pdrop=0.5))).train()
    model.gpt.encoder.layers[0].eval()
    modes = [part.training for part in model.modules()]
    start = torch.randint(23, (3, 2))
    text = model.generate(start, 7, temperature=0.0)
    assert [part.training for part in model.modules()] == modes
    model.train(False)
    for place in range(2, 9):
        assert torch.equal(text[:, place], likeliest_by_hand(model, text, place))
    model.train()
    with pytest.raises(RuntimeError), patch.object(model.gpt, "forward", side_effect=RuntimeError):
        model.generate(start, 1)
    assert all(part.training for part in model.modules())


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("temperature", [1e-3, 1e-6, 1e-42, 5e-324, 1e300])
def test_any_temperature_draws(dtype, temperature):
    model = shaken(GPTForCausalLM(SMALL).to(dtype))
    start = torch.randint(23, (1, 2)).expand(200, 2)
    drawn = model.generate(start, 1, temperature=temperature)[:, 2]
    if temperature > 1:
        assert len(drawn.unique()) > 15
    else:
        assert torch.equal(drawn, likeliest_by_hand(model, start, 2))


def test_the_temperature_sharpens():
    model = shaken(GPTForCausalLM(SMALL))
    start = torch.randint(23, (1, 2))
    p = (model(start).logits[0, -1] / 0.5).softmax(-1)
    drawn = model.generate(start.expand(20_000, 2), 1, temperature=0.5)[:, 2]
    counts = drawn.bincount(minlength=23) / len(drawn)
    assert (counts - p).abs().max() < 0.02


@pytest.mark.parametrize("norm_first", [True, False])
def test_it_goes_to_the_architecture_of_its_norms(norm_first):
    for between in (None, 48):  # four times the width, which may be written out
        model = GPTForCausalLM(replace(SMALL, norm_first=norm_first, intermediate_size=between))
        name = type(model.to_transformers()).__name__
        assert name == ("GPT2LMHeadModel" if norm_first else "OpenAIGPTLMHeadModel")


def test_what_the_other_side_lacks_is_refused():
    with pytest.raises(CourseError, match=r"hidden_act='relu' and .*OpenAIGPTModel"):
        GPT(replace(SMALL, norm_first=False, hidden_act="relu")).to_transformers()
    with pytest.raises(CourseError, match=r"has intermediate_size=20, .*intermediate_size=None"):
        GPT(replace(SMALL, norm_first=False)).to_transformers()
    config = transformers.GPT2Config(
        vocab_size=23, n_embd=12, n_layer=1, n_head=3, scale_attn_by_inverse_layer_idx=True
    )
    with pytest.raises(CourseError, match="scale_attn_by_inverse_layer_idx"):
        GPT.from_transformers(transformers.GPT2Model(config))
    with pytest.raises(CourseError, match="cannot be built from GPT2LMHeadModel"):
        GPT.from_transformers(GPTForCausalLM(SMALL).to_transformers())


@pytest.mark.parametrize("config", [BertConfig, GPTConfig])
def test_the_published_sizes_are_made_of_heads_of_64(config):
    half = config.sized(3, 384)
    assert (half.num_hidden_layers, half.num_attention_heads) == (3, 6)
    assert half.layer.intermediate_size == 4 * 384
    narrow = config.sized(3, 768, hidden_size=384)  # a change comes after the rule
    assert (narrow.hidden_size, narrow.num_attention_heads) == (384, 12)
    for width in (100, 0, 32):
        with pytest.raises(CourseError, match=f"A width of {width} does not make heads of 64"):
            config.sized(2, width)


FIVE = torch.ones(2, 5, dtype=torch.long)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"input_ids": FIVE, "attention_mask": FIVE[:, :4]}, r"attention_mask has shape \(2, 4\)"),
        ({"input_ids": FIVE, "labels": FIVE[:, :4]}, r"labels has shape \(2, 4\)"),
        ({"input_ids": torch.ones(1, 10, dtype=torch.long)}, "9 positions"),
    ],
)
def test_bad_inputs_are_named(given, words):
    with pytest.raises(CourseError, match=words):
        GPTForCausalLM(SMALL)(**given)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"temperature": -1.0}, "temperature is -1.0"),
        ({"input_ids": FIVE[:, :0]}, r"input_ids has shape \(2, 0\)"),
        ({"input_ids": FIVE * 23, "max_new_tokens": 0}, "input_ids holds the number 23"),
    ],
    ids=str,
)
def test_nothing_can_be_drawn_so(given, words):
    with pytest.raises(CourseError, match=words):
        GPTForCausalLM(SMALL).generate(**({"input_ids": FIVE, "max_new_tokens": 1} | given))
