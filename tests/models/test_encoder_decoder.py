"""Both encoder–decoders: how they are asked, what they refuse, and decoding token by token."""

import weakref
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from lmcourse.errors import CourseError
from lmcourse.models.checkpoint import Model
from lmcourse.models.encoder_decoder import Transformer, TransformerConfig, sinusoids
from lmcourse.models.inputs import IGNORED
from lmcourse.models.seq2seq import SCORES, Seq2Seq, Seq2SeqConfig
from lmcourse.models.transformer import Decoder, Encoder, LayerConfig
from tests.parity.comparing import shaken

VOCAB = 9
SMALL = TransformerConfig(VOCAB, LayerConfig(8, 2, 8), 2, 6, pad_token_id=3)
MODELS = {
    "Transformer": lambda: Transformer(SMALL),
    "pre-norm": lambda: Transformer(replace(SMALL, layer=replace(SMALL.layer, norm_first=True))),
} | {
    score: lambda score=score: Seq2Seq(
        Seq2SeqConfig(VOCAB, 4, 8, 2, attention=score, pad_token_id=3)
    )
    for score in SCORES
}
BOTH = ("Transformer", "dot")
IDS = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])
MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])
TARGET = torch.tensor([[1, 5, 2], [1, 4, 8]])


def made(name: str) -> Model:
    torch.manual_seed(0)
    return shaken(MODELS[name]().double())


@pytest.mark.parametrize("name", MODELS)
def test_the_source_is_read_once(name: str) -> None:
    """With what `encode` gave, the source itself is not needed, and not read again."""
    model = made(name)
    wanted = {"output_hidden_states": True}
    given = {"attention_mask": MASK, "decoder_input_ids": TARGET, "labels": TARGET} | wanted
    whole = model(input_ids=IDS, **given)
    encoded = model.encode(IDS, MASK, **wanted)
    model.encode = None  # type: ignore[assignment]
    for source in ({}, {"input_ids": IDS}):
        again = model(**source, encoder_outputs=encoded, **given)
        assert again.keys() == whole.keys()
        torch.testing.assert_close(list(again), list(whole), rtol=0, atol=0)
    assert again.encoder_last_hidden_state is encoded.last_hidden_state
    other = replace(encoded, last_hidden_state=encoded.last_hidden_state.flip(0))
    if name != "none":
        assert (model(encoder_outputs=other, **given).logits - whole.logits).abs().max() > 1e-3
    if not isinstance(model, Transformer):
        turned = replace(encoded, state=tuple(part.flip(1) for part in encoded.state))
        assert (model(encoder_outputs=turned, **given).logits - whole.logits).abs().max() > 1e-3


def greedy(model: Model, source: Tensor, mask: Tensor, tokens: int) -> Tensor:
    """The likeliest token again and again, of either kind of model."""
    encoded = model.encode(source, mask)
    written = torch.full((len(source), 1), model.config.decoder_start_token_id)
    for _ in range(tokens):
        result = model(encoder_outputs=encoded, attention_mask=mask, decoder_input_ids=written)
        written = torch.cat([written, result.logits[:, -1:].argmax(-1)], 1)
    return written


@pytest.mark.parametrize("name", MODELS)
def test_decoding_token_by_token(name: str) -> None:
    """What is written one by one is what the model finds likeliest when it reads all at once."""
    model = made(name)
    written = greedy(model, IDS, MASK, 4)
    at_once = model(IDS, MASK, decoder_input_ids=written[:, :-1]).logits.argmax(-1)
    assert torch.equal(at_once, written[:, 1:])
    assert torch.equal(greedy(model, IDS[1:, :2], MASK[1:, :2], 4), written[1:])


@pytest.mark.parametrize("name", BOTH)
def test_an_ignored_label_is_read_as_padding(name: str) -> None:
    model = made(name)
    labels = torch.tensor([[5, IGNORED, 6], [IGNORED, 7, 8]])
    read = torch.tensor([[1, 5, 3], [1, 3, 7]])
    torch.testing.assert_close(
        model(IDS, MASK, labels=labels).logits,
        model(IDS, MASK, decoder_input_ids=read).logits,
    )
    start = model(IDS, MASK).logits
    torch.testing.assert_close(start, model(IDS, MASK, decoder_input_ids=read[:, :1]).logits)


def test_hidden_states_begin_with_what_goes_in() -> None:
    for name in ("Transformer", "pre-norm", "additive"):
        model = made(name)
        result = model(IDS, MASK, decoder_input_ids=TARGET, output_hidden_states=True)
        embed = model.embed if isinstance(model, Transformer) else model._embed
        assert len(result.encoder_hidden_states) == len(result.decoder_hidden_states) == 3
        assert torch.equal(result.encoder_hidden_states[0], embed(IDS))
        assert torch.equal(result.decoder_hidden_states[0], embed(TARGET))
        assert torch.equal(result.encoder_hidden_states[-1], result.encoder_last_hidden_state)
    layer = model.encoder.layers[0]
    lengths = MASK.sum(1)
    torch.testing.assert_close(
        result.encoder_hidden_states[1], layer(embed(IDS), lengths=lengths)[0]
    )


def test_without_attention_none_is_returned() -> None:
    assert made("none")(IDS, output_attentions=True).cross_attentions is None


def test_both_embeddings_and_softmax_of_the_equation() -> None:
    """p(y) = softmax(W_s h̃) has no bias."""
    assert made("dot").output.bias is None


class Watched:
    """Which of the tensors that a module's layers gave are still held when the last one runs."""

    def __init__(self, layers: nn.ModuleList) -> None:
        self.alive = 0
        self.given: list[weakref.ref[Tensor]] = []
        for layer in layers:
            layer.register_forward_hook(self.after)

    def after(self, module: nn.Module, inputs: Any, output: tuple[Tensor, ...]) -> None:
        self.alive = sum(given() is not None for given in self.given)
        self.given.append(weakref.ref(output[0]))


def test_what_nobody_asks_for_is_not_kept() -> None:
    """Of five layers the last needs but the fourth's states."""
    encoder = Encoder(SMALL.layer, 5).eval()
    decoder = Decoder(SMALL.layer, 5).eval()
    x = torch.randn(2, 3, 8)
    for stack, inputs in ((encoder, (x,)), (decoder, (x, x))):
        watched = Watched(stack.layers)
        with torch.no_grad():
            stack(*inputs)
            assert watched.alive == 1
            watched.given.clear()
            assert len(stack(*inputs, output_hidden_states=True).hidden_states) == 6
            assert watched.alive == 4


def test_positions_are_computed_as_exactly_as_the_rest() -> None:
    """A model keeps no table of them, which would be lost on the meta device, or rounded."""
    model = made("Transformer")
    table = sinusoids(4, 8)
    assert table.dtype == torch.double
    scaled = model.embedding(IDS) * 8**0.5
    torch.testing.assert_close(model.embed(IDS), scaled + table, rtol=0, atol=1e-15)
    with torch.device("meta"):
        empty = MODELS["Transformer"]()
    empty = empty.to_empty(device="cpu").double().eval()
    empty.load_state_dict(model.state_dict())
    assert torch.equal(empty(IDS).logits, model(IDS).logits)
    assert model.bfloat16()(IDS).logits.dtype == torch.bfloat16


def test_settings_of_the_paper() -> None:
    """Table 3: the big model's dropout is 0.3, for English to German."""
    big, base = TransformerConfig.big().layer, TransformerConfig.base().layer
    assert (big.hidden_dropout_prob, base.hidden_dropout_prob) == (0.3, 0.1)


def encoded_of(model: Model, **changed: Any) -> Any:
    return replace(model.encode(IDS, MASK), **changed)


@pytest.mark.bad_input
@pytest.mark.parametrize("name", BOTH)
def test_what_does_not_fit_is_refused(name: str) -> None:
    model = made(name)
    one = model.encode(IDS[:1])
    target = {"decoder_input_ids": TARGET}
    for inputs, message in (
        ({"encoder_outputs": one} | target, r"decoder_input_ids has shape \(2, 3\).*batch of 1"),
        ({"input_ids": IDS, "decoder_input_ids": TARGET[:1]}, r"shape \(1, 3\).*batch of 2"),
        (
            {"input_ids": IDS, "decoder_input_ids": TARGET.repeat(2, 1)},
            r"decoder_input_ids has shape \(4, 3\), a batch of 4; the source is a batch of 2",
        ),
        ({"input_ids": IDS, "labels": TARGET[:1]}, r"labels has shape \(1, 3\).*batch of 2"),
        ({"input_ids": IDS, "labels": TARGET.repeat(2, 1)}, r"labels has shape \(4, 3\)"),
        ({"input_ids": IDS, "labels": TARGET, **{"decoder_input_ids": TARGET[:, :2]}}, "labels"),
        (
            {"input_ids": IDS, "attention_mask": MASK[:, None].expand(2, 4, 4)},
            r"attention_mask has shape \(2, 4, 4\), the ids \(2, 4\)",
        ),
        ({"input_ids": IDS + 1}, "input_ids holds the number 9"),
        ({"input_ids": IDS, "decoder_input_ids": TARGET + 1}, "decoder_input_ids holds the number"),
        (
            {"input_ids": IDS, "decoder_attention_mask": MASK} | target,
            r"decoder_attention_mask has shape \(2, 4\)",
        ),
    ):
        with pytest.raises(CourseError, match=message):
            model(**inputs)


@pytest.mark.bad_input
def test_a_recurrent_decoder_s_mask_is_called_by_its_name() -> None:
    model = made("dot")
    masks = torch.ones(2, 3, 3), torch.tensor([[0, 1, 1], [1, 1, 1]]), TARGET
    messages = (
        r"decoder_attention_mask has shape \(2, 3, 3\), the ids \(2, 3\)",
        "In row 0 of decoder_attention_mask padding precedes a token",
        "decoder_attention_mask holds numbers other than 0 and 1",
    )
    for mask, message in zip(masks, messages, strict=True):
        with pytest.raises(CourseError, match=message):
            model(IDS, decoder_input_ids=TARGET, decoder_attention_mask=mask)
