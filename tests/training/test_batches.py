"""Batches: each example once an epoch, little padding, and a run that can be left at any step."""

import random

import numpy as np
import pytest
import torch

from lmcourse.corpus import BookWorld
from lmcourse.errors import CourseError
from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bert_tasks import (
    BertForQuestionAnswering,
)
from lmcourse.training import train
from lmcourse.training.batches import Batches, BatchLosses
from lmcourse.training.examples import digest_of, example_of, padded, part_of
from lmcourse.training.masking import Masking, StaticMasking
from lmcourse.training.objectives import Labelled, MaskedLM, Objective
from tests.training.encodings import FRAMED

V, MASK = 40, 3
MASKING = Masking(MASK, V, rate=0.3)


def texts(count, longest=20, seed=0):
    draw = random.Random(seed)
    return [
        {"input_ids": [1, *(draw.randint(4, V - 1) for _ in range(draw.randint(1, longest))), 2]}
        for _ in range(count)
    ]


def model(cls=BertForMaskedLM, **more):
    torch.manual_seed(0)
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return cls(BertConfig(V, 8, 1, 2, 16, max_position_embeddings=24, **(no_dropout | more)))


class Reader(Objective):
    """An objective that writes down what it was given."""

    def __init__(self, *more):
        super().__init__(torch.nn.Linear(1, 1))
        self.read, self.more = [], more

    def means(self, batch):
        self.read.append(batch)
        return [self.model.weight.sum()]

    def counts(self, batch):
        return [len(batch["input_ids"])]


def losses(count=23, seed=5, **more):
    settings = {"batch_size": 4, "steps": 30, "seed": seed} | more
    return BatchLosses(MaskedLM(model(), MASKING), texts(count), **settings)


def values(stream):
    return [(mean.item(), count) for ((mean, count),) in stream]


# ------------------------------------------------------------------- the order


@pytest.mark.parametrize("bounds", [(1, None), (4, None), (100, None), (4, 50), (None, 40)])
@pytest.mark.parametrize("pool", [1, 3, 50])
def test_each_example_is_read_once_an_epoch(bounds, pool):
    lengths = [random.Random(k).randint(1, 30) for k in range(57)]
    batches = Batches(lengths, batch_size=bounds[0], max_tokens=bounds[1], pool=pool, seed=2)
    for epoch in range(4):
        made = batches.epoch(epoch)
        assert sorted(i for batch in made for i in batch) == list(range(57))
        assert made == batches.epoch(epoch)
        sizes = [len(batch) for batch in made]
        if bounds[0] is not None:
            assert max(sizes) <= bounds[0]
        if bounds[1] is None:  # all full but one
            assert len(made) == -(-57 // bounds[0])
        else:
            assert all(len(b) * max(lengths[i] for i in b) <= bounds[1] for b in made)
    assert batches.epoch(0) != batches.epoch(1) or bounds[0] == 100
    other = Batches(lengths, batch_size=bounds[0], max_tokens=bounds[1], pool=pool, seed=3)
    assert other.epoch(0) != batches.epoch(0)


def test_without_pools_an_order_is_a_plain_shuffle():
    counts = np.zeros((6, 6))
    for seed in range(900):
        order = [
            i
            for batch in Batches([1, 2, 3, 4, 5, 6], batch_size=1, pool=1, seed=seed).epoch(0)
            for i in batch
        ]
        counts[range(6), order] += 1
    assert np.abs(counts / 900 - 1 / 6).max() < 0.05


def test_batches_of_a_pool_are_not_read_in_the_order_of_their_lengths():
    counts = np.zeros((6, 6))
    for seed in range(900):  # one pool of six batches, each of two examples of like length
        made = Batches([n // 2 for n in range(12)], batch_size=2, pool=6, seed=seed).epoch(0)
        counts[range(6), [i // 2 for i, _ in map(sorted, made)]] += 1
    assert np.abs(counts / 900 - 1 / 6).max() < 0.05


def test_the_share_of_padding_is_what_batches_hold():
    examples = texts(101)
    batches = Batches([len(e["input_ids"]) for e in examples], batch_size=8, pool=3)
    made = [padded([examples[i] for i in batch]) for batch in batches.epoch(4)]
    real = sum(int(batch["attention_mask"].sum()) for batch in made)
    places = sum(batch["attention_mask"].numel() for batch in made)
    assert batches.padding(4) == pytest.approx(1 - real / places)


def test_bookworlds_padding_is_nearly_gone():
    lengths = [len(review.tokens) for review in BookWorld().sample(640, 3)]
    shuffled, sorted_ = (Batches(lengths, batch_size=8, pool=pool).padding() for pool in (1, 50))
    assert shuffled > 0.2 and sorted_ < 0.03


# ------------------------------------------------------------------- examples and batches


def test_a_batch_is_filled_up_on_the_right():
    examples = [
        {"input_ids": [4, 5, 6], "token_type_ids": [0, 1, 1], "word_ids": [0, 0, 1], "labels": 2},
        {"input_ids": torch.tensor([7]), "token_type_ids": [1], "word_ids": [0], "labels": 0},
    ]
    for example in examples:
        example["special_tokens_mask"] = [0] * len(example["input_ids"])
    batch = padded(examples, pad_token_id=9)
    assert batch["input_ids"].tolist() == [[4, 5, 6], [7, 9, 9]]
    assert batch["token_type_ids"].tolist() == [[0, 1, 1], [1, 0, 0]]
    assert batch["word_ids"].tolist() == [[0, 0, 1], [0, -1, -1]]
    assert batch["special_tokens_mask"].tolist() == [[0, 0, 0], [0, 1, 1]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0]]
    assert batch["labels"].tolist() == [2, 0]
    assert {tensor.dtype for tensor in batch.values()} == {torch.long}


def test_labels_of_tokens_are_filled_up_and_classes_are_not():
    tags = [
        {"input_ids": [4, 5], "labels": [1, -100]},
        {"input_ids": [4, 5, 6], "labels": [0, 1, 1]},
    ]
    assert padded(tags)["labels"].tolist() == [[1, -100, -100], [0, 1, 1]]
    yes_or_no = [
        {"input_ids": [4, 5], "labels": [1.0, 0.0]},
        {"input_ids": [6, 7], "labels": [0.0, 0.0]},
    ]
    labels = padded(yes_or_no)["labels"]
    assert labels.tolist() == [[1.0, 0.0], [0.0, 0.0]] and labels.dtype == torch.float32


def test_a_visible_matrix_is_filled_up_in_both_directions():
    examples = [
        {"input_ids": [4, 5], "position_ids": [0, 0], "attention_mask": np.eye(2)},
        {"input_ids": [4], "position_ids": [0], "attention_mask": np.ones((1, 1))},
    ]
    batch = padded(examples)
    assert batch["attention_mask"].tolist() == [[[1, 0], [0, 1]], [[1, 0], [0, 0]]]
    part = part_of(batch, slice(1, 2))
    assert part["attention_mask"].shape == (1, 1, 1) and part["position_ids"].shape == (1, 1)


def test_a_part_of_a_batch_is_as_long_as_its_own_longest():
    examples = [e | {"labels": k % 3} for k, e in enumerate(texts(9))]
    batch = padded(examples)
    for rank in range(4):
        part, own = part_of(batch, slice(rank, None, 4)), padded(examples[rank::4])
        assert part.keys() == own.keys()
        assert all(torch.equal(part[name], own[name]) for name in own)


def test_an_encoding_is_an_example():
    example = example_of(FRAMED.encode("a"), labels=1)
    assert example["word_ids"] == [-1, 0, -1] and example["labels"] == 1
    batch = padded([example])
    _, labels = Masking(4, 9, rate=1.0).of_batch(batch)
    assert labels.tolist() == [[-100, 7, -100]]


def test_a_digest_tells_examples_apart():
    examples = texts(5)
    same = [{"input_ids": np.array(e["input_ids"], np.int32)} for e in examples]
    assert digest_of(examples) == digest_of(same)
    for change in (examples[1:], examples[::-1], [*examples[:4], examples[4] | {"labels": 0}]):
        assert digest_of(change) != digest_of(examples)
    # The same numbers, cut elsewhere.
    cut = [[{"input_ids": ids} for ids in both] for both in (([5, 6], [7]), ([5], [6, 7]))]
    assert digest_of(cut[0]) != digest_of(cut[1])
    seen = [[{"input_ids": [5, 6], "attention_mask": np.ones(n)}] for n in (4, (2, 2))]
    assert digest_of(seen[0]) != digest_of(seen[1])


# ------------------------------------------------------------------- losses


def test_a_run_is_taken_up_again_at_any_step():
    whole = values(losses())
    assert len(whole) == 30 == len(losses()) and whole != values(losses(seed=6))
    for step in (0, 1, 5, 6, 17, 30):
        first, again = losses(), losses()
        begun = [next(first) for _ in range(step)]
        assert len(begun) == step == first.state_dict()["step"]
        again.load_state_dict(first.state_dict())
        assert values(again) == whole[step:]


def test_steps_and_epochs_say_how_long():
    reader = Reader()
    stream = BatchLosses(reader, texts(10), batch_size=4, epochs=3)
    assert len(stream) == len(list(stream)) == 9
    read = torch.cat([batch["example"] for batch in reader.read]).view(3, 10)
    assert (read.sort(1).values == torch.arange(10)).all()
    assert (
        torch.cat([batch["epoch"] for batch in reader.read]).tolist()
        == [0] * 10 + [1] * 10 + [2] * 10
    )
    by_tokens = BatchLosses(Reader(), texts(10), batch_size=None, max_tokens=40, epochs=2)
    assert len(list(by_tokens)) == len(by_tokens)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_processes_read_one_batch_together_with_one_mask(count):
    shared = [losses(share=(rank, count)) for rank in range(count)]
    for step, ((mean, weight),) in enumerate(losses()):
        parts = [part for one in shared for part in next(one)]
        assert sum(part[1] for part in parts) == weight
        together = sum(part[0] * part[1] for part in parts) / weight
        torch.testing.assert_close(together, mean, msg=f"step {step}")
    assert all(next(one, None) is None for one in shared)


@pytest.mark.parametrize("share", [(0, 1), (1, 2)])
def test_the_numbers_of_predictions_are_known_ahead(share):
    stream, whole = losses(share=share), [step[0][1] for step in losses(share=share)]
    for step in range(30):  # over the ends of epochs
        before = stream.state_dict()
        assert [count for (count,) in stream.ahead(7)] == whole[step : step + 7]
        assert stream.state_dict() == before
        assert next(stream)[0][1] == whole[step]
    assert stream.ahead(7) == []


def test_a_process_without_an_example_still_computes_a_gradient_of_zeros():
    shared = [losses(5, share=(rank, 3)) for rank in range(3)]  # the last batch has one example
    weights = [[next(one)[0] for one in shared] for _ in range(6)]
    idle = [part for step in weights for part in step if part[1] == 0]
    assert idle and all(mean.requires_grad and mean.isfinite() for mean, _ in idle)


def test_dynamic_masks_change_from_epoch_to_epoch_and_static_ones_come_again():
    class Seen(MaskedLM):
        def means(self, batch):
            for example, labels in zip(batch["example"].tolist(), batch["labels"], strict=True):
                masks.setdefault(example, []).append(labels[labels != -100].tolist())
            return super().means(batch)

    for masking, kinds in ((MASKING, 6), (StaticMasking(MASKING, 2), 2)):
        masks: dict = {}
        list(BatchLosses(Seen(model(), masking), texts(9, 18, 1), batch_size=4, epochs=6))
        most = max(len({str(mask) for mask in found}) for found in masks.values())
        assert most == kinds and all(len(found) == 6 for found in masks.values())
        if kinds == 2:
            assert all(found[:2] == found[2:4] == found[4:] for found in masks.values())


def test_the_loop_learns_from_them():
    torch.manual_seed(0)
    examples = [
        {"input_ids": [1, k, k, k, k, 2], "special_tokens_mask": [1, 0, 0, 0, 0, 1]}
        for k in range(4, 12)
    ]
    network = model()
    masking = Masking(MASK, V, rate=0.25, masked=1.0, random=0.0)
    stream = BatchLosses(MaskedLM(network, masking), examples, batch_size=8, steps=100)
    history = train(network, stream, learning_rate=1e-2)
    assert np.mean(history.losses[:5]) > 3 and np.mean(history.losses[-5:]) < 0.3


def test_what_makes_a_run_is_in_its_configuration():
    base = losses().config
    assert base == losses(steps=99).config and base == losses(share=(1, 2)).config
    others = [
        losses(24), losses(seed=6), losses(batch_size=5), losses(pool=1), losses(max_tokens=99),
        BatchLosses(Labelled(model()), texts(23), batch_size=4, steps=1, seed=5),
    ]  # fmt: skip
    assert all(other.config != base for other in others)


# ------------------------------------------------------------------- bad input


@pytest.mark.bad_input
def test_what_no_model_reads_is_refused():
    with pytest.raises(CourseError, match=r"There is no example"):
        BatchLosses(MaskedLM(model(), MASKING), [], steps=1)
    for bad, message in ((5, "has 25 tokens"), (V, f"holds the number {V}")):
        read = BatchLosses(MaskedLM(model(), MASKING), [{"input_ids": [bad] * 25}], steps=1)
        if bad == V:
            read = BatchLosses(MaskedLM(model(), MASKING), [{"input_ids": [bad] * 9}], steps=1)
        with pytest.raises(CourseError, match=message):
            next(read)


def test_an_answer_that_was_cut_off_is_not_learned_from():
    objective = Labelled(model(BertForQuestionAnswering))
    for (start, end), count in (((0, 2), 2), ((-100, -100), 1)):
        long = {"input_ids": [5] * 9, "start_positions": 8, "end_positions": 8}
        short = {"input_ids": [5] * 3, "start_positions": start, "end_positions": end}
        losses = BatchLosses(objective, [long, short], steps=1)
        assert [number for _, number in next(losses)] == [count, count]


@pytest.mark.bad_input
def test_numbers_that_make_no_batches_are_refused():
    for given in ({}, {"steps": 3, "epochs": 2}):
        with pytest.raises(CourseError, match="do not determine the length"):
            losses(**({"steps": None} | given))
    with pytest.raises(CourseError, match="does not form a tensor"):
        padded([{"input_ids": [1], "labels": [1.0]}, {"input_ids": [1], "labels": [1.0, 0.0]}])
