"""Greedy decoding: the likeliest token each time. Beam search: the best of several beginnings."""

import math
from functools import cache
from itertools import product
from types import SimpleNamespace

import pytest
import torch

from lmcourse.models.decoding import beam_search, greedy
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


BOTH = pytest.mark.parametrize("model", models(), ids=["transformer", "recurrent"])


@BOTH
def test_a_beam_of_one_is_greedy(model):
    ids, mask = sources()
    one = beam_search(model, ids, mask, end_token_id=END, max_new_tokens=9, num_beams=1)
    assert torch.equal(one, greedy(model, ids, mask, end_token_id=END, max_new_tokens=9))
    assert model.training and not one.requires_grad


def every_target(end, longest, tokens=range(5)):
    """All targets of some tokens: those that end, and those that are cut at the longest."""
    for length in range(1, longest + 1):
        for target in product(tokens, repeat=length):
            if end not in target[:-1] and (target[-1] == end or length == longest):
                yield target


class Table(Transformer):
    """Gives the probabilities of a table, by source and prefix."""

    def __init__(self, probabilities):
        layer = LayerConfig(hidden_size=2, num_attention_heads=1, intermediate_size=2)
        super().__init__(TransformerConfig(5, layer, num_hidden_layers=1))
        self.probabilities = probabilities

    def encode(self, ids, mask):
        return ids[:, 0].tolist()

    def forward(self, decoder_input_ids, encoder_outputs, **_):
        prefixes = [tuple(row) for row in decoder_input_ids[:, 1:].tolist()]
        rows = [self.probabilities(*each) for each in zip(encoder_outputs, prefixes, strict=True)]
        return SimpleNamespace(logits=torch.tensor(rows, dtype=torch.float64).log()[:, None])


@cache
def random_row(source, prefix):
    """Probabilities that depend on the whole prefix; after two tokens they are close."""
    seed = hash((source, prefix)) % 2**32
    scale = 2.0 if len(prefix) < 2 else 0.3
    logits = scale * torch.randn(5, generator=torch.Generator().manual_seed(seed)).double()
    return logits.softmax(0).tolist()


def test_a_complete_target_is_not_lost_to_a_worse_one():
    a, b, c = 0, 1, 2

    def row(source, prefix):
        table = {(): {a: 0.7, END: 0.3}, (a,): {a: 0.5, b: 0.5}}
        last = {b: 0.5, c: 0.5} if len(prefix) == 2 else {END: 1.0}
        return [table.get(prefix, last).get(token, 0.0) for token in range(5)]

    ids = torch.zeros(2, 1, dtype=torch.long)
    found = beam_search(Table(row), ids, end_token_id=END, max_new_tokens=4, num_beams=2)
    assert found.tolist() == [[END]] * 2


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("beams", [1, 2, 3, 5, 300])
def test_the_result_is_the_best_of_all_that_the_beam_completed(beams, alpha):
    sources, longest = range(20), 4

    def log_p(source, target):
        steps = [random_row(source, target[:at])[token] for at, token in enumerate(target)]
        return math.fsum(map(math.log, steps))

    def score(source, target):
        return log_p(source, target) / ((5 + len(target)) / 6) ** alpha

    found = beam_search(
        *(Table(random_row), torch.tensor(sources)[:, None]),
        **{"end_token_id": END, "max_new_tokens": longest, "num_beams": beams, "alpha": alpha},
    )
    for source in sources:
        beam, complete = [()], []
        for _ in range(longest):
            continued = [(*prefix, token) for prefix in beam for token in range(5)]
            continued.sort(key=lambda target: log_p(source, target), reverse=True)
            complete += [target for target in continued[:beams] if target[-1] == END]
            beam = [target for target in continued[:beams] if target[-1] != END]
        candidates = every_target(END, longest) if beams == 300 else complete + beam
        best = max(candidates, key=lambda target: score(source, target))
        assert found[source].tolist() == [*best, *[0] * (found.shape[1] - len(best))]


def few_tokens():
    """Models of five tokens whose choices are close, so that a beam matters."""
    torch.manual_seed(7)
    layer = LayerConfig(hidden_size=8, num_attention_heads=2, intermediate_size=16)
    transformer = Transformer(TransformerConfig(5, layer, num_hidden_layers=1))
    recurrent = Seq2Seq(Seq2SeqConfig(5, embedding_size=6, hidden_size=6))
    for model in (transformer, recurrent):
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.7)
    return transformer, recurrent


@pytest.mark.parametrize("alpha", [0.0, 0.6, 3.0])
@pytest.mark.parametrize("model", few_tokens(), ids=["transformer", "recurrent"])
def test_a_beam_that_holds_everything_finds_the_best_of_all_targets(model, alpha):
    ids = torch.randint(5, (6, 4), generator=torch.Generator().manual_seed(2))
    mask = torch.ones_like(ids)
    mask[1, 2:] = 0
    options = {"end_token_id": END, "max_new_tokens": 3, "alpha": alpha}
    found = beam_search(model, ids, mask, num_beams=125, **options)
    model.eval()
    for row, (source, seen) in enumerate(zip(ids, mask, strict=True)):

        def score(target, source=source[seen == 1]):
            labels = torch.tensor([target])
            loss = model(source[None], labels=labels)
            log_p = loss.logits.log_softmax(-1).gather(-1, labels[..., None]).sum()
            return log_p.item() / ((5 + len(target)) / 6) ** alpha

        best = max(every_target(END, 3), key=score)
        assert found[row, : len(best)].tolist() == list(best)
        assert not found[row, len(best) :].any()  # padding, which is 0 here


@pytest.mark.parametrize("alpha", [0.0, 3.0])
@pytest.mark.parametrize("model", few_tokens(), ids=["transformer", "recurrent"])
def test_a_beam_does_not_depend_on_what_else_is_in_the_batch(model, alpha):
    """Alone, a target's search ends as soon as none can overtake it, and not before."""
    ids = torch.randint(5, (20, 4), generator=torch.Generator().manual_seed(3))
    mask = torch.ones_like(ids)
    mask[::2, 3:] = 0
    options = {"end_token_id": END, "max_new_tokens": 6, "num_beams": 3, "alpha": alpha}
    together = beam_search(model, ids, mask, **options)
    for row, (source, seen) in enumerate(zip(ids, mask, strict=True)):
        alone = beam_search(model, source[seen == 1][None], **options)[0]
        assert together[row, : len(alone)].tolist() == alone.tolist()
        assert not together[row, len(alone) :].any()
