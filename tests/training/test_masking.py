"""Masking: the rates and lengths that papers give, whole words, and masks that come again."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import chi2_contingency, chisquare
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from lmcourse.errors import CourseError
from lmcourse.models.spanbert import SpanBertConfig, SpanBertForPreTraining
from lmcourse.tokenizers.well_known import BERT_TOKENS, frame_as_bert
from lmcourse.training.examples import each_token_a_word, example_of, padded
from lmcourse.training.masking import Masking, StaticMasking, maskable_positions
from lmcourse.training.pairs import Frame, segment_pairs
from lmcourse.training.seeds import generator_of
from lmcourse.training.selection import NONE, Spans, Tokens, Words, budgets, word_numbers
from lmcourse.widgets.masking_draw import Rules, draw

MASK, VOCAB = 99, 50
EVERY = [Tokens(), Tokens(exact=False), Words(), Words(exact=False), Spans()]


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def text(batch, time, seed=0):
    """A text, with special tokens at both ends and padding of several lengths behind."""
    ids = torch.randint(VOCAB, (batch, time), generator=seeded(seed))
    lengths = torch.randint(3, time + 1, (batch,), generator=seeded(seed + 1))
    place = torch.arange(time)
    maskable = (place > 0) & (place < lengths[:, None] - 1)
    return ids, maskable


def word_ids(batch, time, longest, seed=0):
    begins = torch.rand(batch, time, generator=seeded(seed)) < 1 / longest
    return begins.cumsum(1)


@pytest.mark.parametrize("select", EVERY, ids=repr)
def test_labels_stand_where_something_was_asked_for_and_nowhere_else(select):
    masking = Masking(MASK, VOCAB, select, rate=0.3)
    for seed in range(20):
        ids, maskable = text(6, 25, seed)
        words = word_ids(6, 25, 2, seed)
        before = ids.clone()
        read, labels = masking(ids, maskable, words, generator=seeded(seed))
        chosen = labels != -100
        assert torch.equal(ids, before)
        assert not (chosen & ~maskable).any()
        assert torch.equal(labels[chosen], ids[chosen]) and torch.equal(read[~chosen], ids[~chosen])
        again = masking(ids, maskable, words, generator=seeded(seed))
        assert torch.equal(read, again[0]) and torch.equal(labels, again[1])


@pytest.mark.parametrize("select", EVERY, ids=repr)
def test_of_the_chosen_80_10_and_10_percent_become_mask_random_and_themselves(select):
    ids = torch.randint(VOCAB, (400, 100), generator=seeded(1))
    read, labels = Masking(MASK, VOCAB, select)(ids, generator=seeded(2))
    chosen = labels != -100
    masked = (chosen & (read == MASK)).sum()
    kept = (chosen & (read == ids)).sum()
    count = chosen.sum()
    shares = torch.stack([masked, count - masked - kept, kept]) / count
    hit = 0.1 / VOCAB  # a random token may be the right one
    # Tokens of a span share one fate: there are fewer draws.
    error = 4 * math.sqrt(0.25 * (10 if isinstance(select, Spans) else 1) / count)
    assert shares.tolist() == pytest.approx([0.8, 0.1 - hit, 0.1 + hit], abs=error)
    other = read[chosen & (read != MASK) & (read != ids)]
    assert other.unique().tolist() == list(range(VOCAB))  # each token may stand in


@pytest.mark.parametrize("select", [Tokens(), Spans()], ids=repr)
@pytest.mark.parametrize("rate", [0.01, 0.15, 0.5, 1.0])
def test_the_exact_count_is_berts(select, rate):
    masking = Masking(MASK, VOCAB, select, rate=rate)
    for seed in range(10):
        ids, maskable = text(8, 30, seed)
        _, labels = masking(ids, maskable, word_ids(8, 30, 3, seed), generator=seeded(seed))
        n = maskable.sum(1)
        wanted = [min(k, max(1, math.floor(rate * k + 0.5))) for k in n.tolist()]
        assert (labels != -100).sum(1).tolist() == wanted


@pytest.mark.parametrize("select", [Tokens(False), Words(False)], ids=repr)
def test_the_independent_draw_takes_each_token_at_the_rate(select):
    words = word_ids(1, 12, 2, 5).expand(20_000, 12).contiguous()
    _, labels = Masking(MASK, VOCAB, select)(
        torch.zeros_like(words), None, words, generator=seeded()
    )
    share = (labels != -100).double().mean(0)
    assert ((share - 0.15).abs() < 4 * math.sqrt(0.15 * 0.85 / 20_000)).all()


def test_each_set_of_so_many_tokens_is_as_likely():
    ids = torch.zeros(6000, 5, dtype=torch.long)
    _, labels = Masking(MASK, VOCAB, rate=0.4)(ids, generator=seeded(3))
    sets = ((labels != -100).long() * 2 ** torch.arange(5)).sum(1)
    counts = sets.unique(return_counts=True)[1]
    assert len(counts) == 10 and chisquare(counts.numpy()).pvalue > 1e-3


@pytest.mark.parametrize("select", [Words(), Words(exact=False)], ids=repr)
def test_words_are_taken_whole(select):
    for seed in range(20):
        ids, maskable = text(6, 40, seed)
        words = word_numbers(ids, maskable, word_ids(6, 40, 3, seed))
        chosen = select(words, 0.3, seeded(seed)) != NONE
        for row, asked in zip(words, chosen, strict=True):
            for word in row[row != NONE].unique():
                assert asked[row == word].unique().numel() == 1
        if select.exact:
            for row, asked, budget in zip(words, chosen, budgets(words, 0.3), strict=True):
                sizes = row[row != NONE].unique(return_counts=True)[1]
                if min(sizes) > budget:  # then it is one word
                    assert row[asked].unique().numel() == 1
                    continue
                left = budget - asked.sum()
                rest = row[~asked & (row != NONE)].unique(return_counts=True)[1].tolist()
                assert left == 0 or 0 < left < min(rest, default=99)  # nothing left would fit


@pytest.mark.parametrize("select", [Tokens(), Words(), Spans()], ids=repr)
@pytest.mark.parametrize("sizes", [[1], [5], [2, 2, 2], [4, 1, 3]], ids=str)
def test_a_text_however_short_is_asked_for_something(select, sizes):
    words = torch.tensor([word for word, size in enumerate(sizes) for _ in range(size)])
    words = words.expand(2000, len(words)).contiguous()
    asked = select(words, 0.15, seeded()) != NONE
    assert asked.any(1).all()
    if isinstance(select, Words) and 1 not in sizes:  # no word is the favorite
        share = asked[:, words[0].diff(prepend=words[0, :1] - 1) == 1].double().mean(0)
        assert share.tolist() == pytest.approx([1 / len(sizes)] * len(sizes), abs=0.05)


def test_each_piece_of_a_word_has_its_own_fate_and_a_span_has_one():
    words = torch.zeros(1500, 2, dtype=torch.long)
    for select, alike in ((Words(), 0.66), (Spans(), 1.0)):  # 0.66 = 0.8² + 0.1² + 0.1²
        ids = torch.full_like(words, 7)
        masking = Masking(MASK, 10**9, select, rate=1.0)
        read, _ = masking(ids, None, words, generator=seeded())
        fate = torch.where(read == MASK, 0, torch.where(read == 7, 1, 2))
        same = (fate[:, 0] == fate[:, 1]).double().mean()
        assert same.item() == pytest.approx(alike, abs=0.05)


def test_words_are_numbered_and_end_at_special_tokens():
    ids = torch.zeros(1, 8, dtype=torch.long)
    given = torch.tensor([[-1, 0, 0, 1, -1, 1, 1, 1]])
    maskable = torch.tensor([[False, True, True, True, False, True, True, True]])
    for inside in (given, given.masked_fill(given == -1, 1)):  # whatever a special token's is
        (found,) = word_numbers(ids, maskable, inside).tolist()
        words = [found.index(word) for word in found if word != NONE]
        assert words == [1, 1, 3, 5, 5, 5]  # where each place's word begins
    assert word_numbers(ids)[0].tolist() == list(range(8))


def test_lengths_of_spans_are_spanberts():
    spans = Spans()
    mean = (spans.probabilities * torch.arange(1, 11)).sum()
    assert mean.item() == pytest.approx(3.8, abs=0.005)  # section 3.1
    # A budget of L tokens takes one span alone if the first has L words or more, and begins so far
    # before the end of the text.
    many, time = 2000, 50
    words = torch.arange(time).expand(many, time)
    for budget in range(2, 11, 2):
        assert budgets(words, budget / time).unique().tolist() == [budget]
        leads = Spans()(words, budget / time, seeded(budget)).sort(1).values[:, -budget:]
        share = (leads[:, 0] == leads[:, -1]).double().mean().item()
        wanted = spans.probabilities[budget - 1 :].sum() * (time - budget + 1) / time
        assert abs(share - wanted) < 4 * math.sqrt(wanted * (1 - wanted) / many)


def test_spans_begin_at_words_and_stop_at_special_tokens():
    for seed in range(30):
        ids, maskable = text(4, 40, seed)
        maskable[:, 20] = False
        words = word_numbers(ids, maskable, torch.zeros_like(ids) + torch.arange(40) // 3)
        leads = Spans()(words, 0.3, seeded(seed))
        for row, lead in zip(words.tolist(), leads.tolist(), strict=True):
            for place, first in enumerate(lead):
                if first == NONE:
                    continue
                assert first == 0 or row[first - 1] != row[first]
                assert NONE not in row[first : place + 1]  # none in between
                assert row[place] - row[first] < 10


def test_spanbert_can_read_spans():
    torch.manual_seed(0)
    config = SpanBertConfig(VOCAB, 12, 1, 2, 16, max_position_embeddings=40, max_span_length=20)
    model = SpanBertForPreTraining(config)
    ids, maskable = text(8, 40)
    mask = torch.arange(40) < maskable.sum(1, keepdim=True) + 2
    read, labels = Masking(3, VOCAB, Spans())(ids, maskable, generator=seeded())
    result = model(read, labels=labels, attention_mask=mask.long())
    assert result.boundary_loss.isfinite() and result.masked_lm_loss > 0


@pytest.mark.parametrize(
    ("kind", "select"),
    [("token", Tokens(exact=False)), ("word", Words(exact=False)), ("span", Spans())],
)
def test_it_draws_as_the_widget_does(kind, select):
    """The same rules stand in `lmcourse.widgets.masking_draw`, which knows no torch."""
    words, special = [0, 1, 1, 2, 3, 3, 4], [1, 0, 0, 0, 0, 0, 0]
    rate, many = 0.4, 3000
    rules = Rules(kind, rate, 0.6, 0.2)
    theirs = [tuple(draw(rules, words, special, 1000, s, 0).actions) for s in range(many)]
    ids = torch.arange(7).expand(many, 7) + 5000
    read, labels = Masking(MASK, 1000, select, rate, 0.6, 0.2)(
        ids,
        torch.tensor(special).expand(many, 7) == 0,
        torch.tensor(words).expand(many, 7),
        generator=seeded(),
    )
    actions = torch.where(read == MASK, 1, torch.where(read == ids, 3, 2)) * (labels != -100)
    ours = [tuple(row) for row in actions.tolist()]
    kinds = sorted({*ours, *theirs})
    counts = np.array([[draws.count(kind) for kind in kinds] for draws in (ours, theirs)])
    often = counts.sum(0) > 20
    table = np.column_stack([counts[:, often], counts[:, ~often].sum(1)])
    table = table[:, table.sum(0) > 0]
    assert table.shape[1] > 10 and chi2_contingency(table).pvalue > 1e-3


# ------------------------------------------------------------------- static masking


def examples(lengths=(7, 12, 9, 4)):
    return each_token_a_word(
        [
            {"input_ids": list(range(5, 5 + n)), "special_tokens_mask": [1, *[0] * (n - 2), 1]}
            for n in lengths
        ]
    )


def of(static, which, epoch):
    """The masks of some examples in an epoch, each in its own length."""
    batch = padded([examples()[i] for i in which])
    batch |= {"example": torch.tensor(which), "epoch": torch.full((len(which),), epoch)}
    read, labels = static.of_batch(batch)
    return {
        i: (read[row, :n].tolist(), labels[row, :n].tolist())
        for row, i in enumerate(which)
        if (n := len(examples()[i]["input_ids"]))
    }


@pytest.mark.parametrize("select", EVERY, ids=repr)
def test_static_masks_come_again_in_any_batch(select):
    static = StaticMasking(Masking(MASK, VOCAB, select, rate=0.5), copies=3, seed=8)
    epochs = [of(static, [0, 1, 2, 3], epoch) for epoch in range(7)]
    for epoch in range(7):
        assert epochs[epoch] == epochs[epoch % 3]
        for i in range(4):
            assert of(static, [i], epoch)[i] == epochs[epoch][i]  # less padding
    assert len({str(epoch[1]) for epoch in epochs}) == 3
    other = StaticMasking(static.masking, copies=3, seed=9)
    assert of(other, [1], 0) != of(static, [1], 0)


def test_the_same_text_twice_has_masks_of_its_own():
    static = StaticMasking(Masking(MASK, VOCAB, rate=0.5))
    batch = padded([examples([30])[0]] * 2)
    batch |= {"example": torch.tensor([0, 1]), "epoch": torch.tensor([0, 0])}
    read, _ = static.of_batch(batch)
    assert not torch.equal(read[0], read[1])


def test_dynamic_masks_do_not_come_again_and_the_batch_says_what_is_maskable():
    batch = padded(examples())
    masking, seen = Masking(MASK, VOCAB, rate=0.5), set()
    for seed in range(10):
        read, labels = masking.of_batch(batch, generator_of(seed))
        seen.add(str(read.tolist()))
        never = (batch["special_tokens_mask"] == 1) | (batch["attention_mask"] == 0)
        assert not (never & (labels != -100)).any()
    assert len(seen) == 10
    del batch["special_tokens_mask"]  # then padding alone is left out
    _, labels = Masking(MASK, VOCAB, rate=1.0).of_batch(batch)
    assert torch.equal(labels != -100, batch["attention_mask"] == 1)


@pytest.mark.parametrize("select", EVERY, ids=repr)
def test_special_tokens_that_a_text_spells_out_are_not_selected(select):
    """However the ids come in: from encodings, from pairs, or bare."""
    tokens = [*BERT_TOKENS, "the", "cat", "a", "dog"]
    tokenizer = Tokenizer(WordLevel({token: id_ for id_, token in enumerate(tokens)}, "[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.add_special_tokens(list(BERT_TOKENS))
    frame_as_bert(tokenizer)
    text = "the cat [SEP] a dog [MASK] [CLS]"
    encoded = tokenizer.encode(text)
    assert encoded.special_tokens_mask == [1, *[0] * 7, 1]  # the tokenizer marks the frame alone
    bare = tokenizer.encode(text, add_special_tokens=False)
    of_ids = segment_pairs([[bare.ids] * 2] * 2, Frame(2, 3, 40))
    plain, told = Masking(4, 9, select, rate=1.0), Masking(4, 9, select, 1.0, special_ids=(2, 3))
    ways = [(plain, [example_of(encoded)]), (plain, each_token_a_word(of_ids))]
    ways.append((told, each_token_a_word([{"input_ids": encoded.ids}])))
    for masking, found in ways:
        rows = torch.arange(len(found))
        batch = padded(found) | {"example": rows, "epoch": rows}
        for one in (masking, StaticMasking(masking)):
            _, labels = one.of_batch(batch)
            assert torch.equal(labels != -100, batch["input_ids"] > 4)
    ids = torch.tensor([encoded.ids])
    assert torch.equal(told(ids)[1] != -100, ids > 4)
    assert torch.equal(plain(ids)[1] == -100, ids == 4)  # of the others nobody knows


@pytest.mark.bad_input
@pytest.mark.parametrize("select", [Words(), Words(exact=False), Spans()], ids=repr)
def test_words_are_not_selected_where_nobody_knows_them(select):
    bare = [{"input_ids": [5, 6, 7]}]
    batch = padded(bare) | {"example": torch.tensor([0]), "epoch": torch.tensor([0])}
    masking = Masking(MASK, VOCAB, select)
    for one in (masking, StaticMasking(masking)):
        with pytest.raises(CourseError, match=r"no word_ids, and \w+ selects whole .*each_token_a"):
            one.of_batch(batch)
        one.of_batch(batch | padded(each_token_a_word(bare)))


def test_a_place_that_any_query_sees_is_maskable():
    """K-BERT's mask has a row for each query; padding is seen by none."""
    mask = torch.tensor([[[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0]]])
    batch = {"input_ids": torch.tensor([[5, 6, 7, 0]]), "attention_mask": mask}
    assert maskable_positions(batch).tolist() == [[True, True, True, False]]
    _, labels = Masking(MASK, VOCAB, rate=1.0).of_batch(batch)
    assert labels.tolist() == [[5, 6, 7, -100]]


def test_a_sequence_without_any_text_has_no_mask():
    ids = torch.zeros(2, 4, dtype=torch.long)
    maskable = torch.tensor([[False] * 4, [False, True, False, False]])
    for select in EVERY:
        _, labels = Masking(MASK, VOCAB, select, rate=1.0)(ids, maskable, generator=seeded())
        assert torch.equal(labels != -100, maskable)


def test_seeds_differ_in_every_number():
    numbers = [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1), (2**32,), (10,)]
    assert len({generator_of(*it).initial_seed() for it in numbers}) == len(numbers)
    assert generator_of(3, 4).initial_seed() == generator_of(3, 4).initial_seed()


@pytest.mark.bad_input
def test_what_does_not_fit_is_refused():
    for bad in ({"rate": 0.0}, {"rate": 1.2}, {"masked": 0.95}, {"random": -0.1}):
        with pytest.raises(CourseError, match=r"A masking cannot have rate=.*BERT's are"):
            Masking(MASK, VOCAB, **bad)
    with pytest.raises(CourseError, match="maskable has shape"):
        Masking(MASK, VOCAB)(torch.zeros(1, 3, dtype=torch.long), torch.ones(1, 2) > 0)
    with pytest.raises(CourseError, match="input_ids is of the class list"):
        Masking(MASK, VOCAB)([[1, 2]])
    for bad in (torch.rand(2, 3), torch.arange(3), torch.zeros(0, 3).long()):
        with pytest.raises(CourseError, match=r"input_ids has shape .* torch\.long"):
            Masking(MASK, VOCAB)(bad)


def test_ones_and_zeros_say_what_is_maskable_too():
    ids, maskable = text(3, 9)
    both = [Masking(MASK, VOCAB)(ids, m, generator=seeded()) for m in (maskable, maskable.long())]
    assert torch.equal(both[0][1], both[1][1])
