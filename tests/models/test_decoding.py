"""Greedy decoding: the likeliest token each time, until each target has ended."""

import pytest
import torch

from lmcourse.errors import CourseError
from lmcourse.models.decoding import greedy
from lmcourse.models.encoder_decoder import Transformer, TransformerConfig
from lmcourse.models.seq2seq import Seq2Seq, Seq2SeqConfig
from lmcourse.models.transformer import LayerConfig

END = 3


def models():
    torch.manual_seed(5)
    layer = LayerConfig(hidden_size=8, num_attention_heads=2, intermediate_size=16)
    transformer = Transformer(TransformerConfig(12, layer, num_hidden_layers=1))
    recurrent = Seq2Seq(Seq2SeqConfig(12, embedding_size=6, hidden_size=6))
    for model in (transformer, recurrent):
        for parameter in model.parameters():
            if parameter.ndim > 1:  # so large that what is read matters
                torch.nn.init.normal_(parameter)
    return transformer, recurrent


def sources():
    ids = torch.randint(4, 12, (6, 5), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    for row in range(1, 5):
        mask[row, row:] = 0
    return ids, mask


@pytest.mark.parametrize("model", models(), ids=["transformer", "recurrent"])
def test_each_token_is_the_likeliest_of_the_whole_model(model):
    ids, mask = sources()
    found = greedy(model, ids, mask, end_token_id=END, max_new_tokens=9)
    assert model.training and not found.requires_grad  # it is left as it was
    model.eval()
    for row, (source, seen) in enumerate(zip(ids, mask, strict=True)):
        read = [model.config.decoder_start_token_id]
        alone = source[seen == 1][None]
        while len(read) <= 9 and read[-1] != END:
            logits = model(alone, decoder_input_ids=torch.tensor([read])).logits
            read.append(int(logits[0, -1].argmax()))
        padding = [model.config.pad_token_id] * (found.shape[1] - len(read) + 1)
        assert found[row].tolist() == read[1:] + padding


@pytest.mark.parametrize("model", models(), ids=["transformer", "recurrent"])
def test_it_stops_once_all_have_ended(model):
    ids, mask = sources()
    often = greedy(model, ids, mask, end_token_id=END, max_new_tokens=1)[:, 0]
    for end in often.unique().tolist():  # some targets end with their first token
        found = greedy(model, ids, mask, end_token_id=end, max_new_tokens=40)
        ended = (found == end).any(1)
        for row in found[ended]:
            behind = row[row.tolist().index(end) + 1 :]
            assert bool((behind == model.config.pad_token_id).all())
        if bool(ended.all()):
            assert bool((found[:, -1] == end).any())  # the last one has ended just now
        else:
            assert found.shape[1] == 40
    one = greedy(model, ids[:1], end_token_id=int(often[0]), max_new_tokens=40)
    assert one.tolist() == [[int(often[0])]]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"end_token_id": 12, "max_new_tokens": 3}, "end_token_id is 12"),
        ({"end_token_id": END, "max_new_tokens": 0}, "max_new_tokens"),
    ],
)
def test_what_makes_no_sense_is_told(options, says):
    with pytest.raises(CourseError, match=says):
        greedy(models()[0], sources()[0], **options)
