"""Sizes of 0 and below: one error, with the argument's name and the least that makes sense."""

import itertools

import pytest
import torch

from lmcourse.corpus import tasks
from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.dates import DateTask
from lmcourse.corpus.recall import RecallTask
from lmcourse.corpus.windows import windows
from lmcourse.errors import CourseError, check_sizes
from lmcourse.evaluation.gradient_flow import random_network
from lmcourse.evaluation.uncertainty import bootstrap
from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.gpt import GPTForCausalLM
from lmcourse.models.gru import GRU
from lmcourse.models.lstm import LSTM
from lmcourse.models.recurrent import Recurrent
from lmcourse.models.rnn import RNN
from lmcourse.models.sampling import sample
from lmcourse.training.batches import Batches
from lmcourse.training.examples import padded
from tests.models.small import GPT

IDS = torch.arange(100)
SIZES = {"input_size": 3, "hidden_size": 4}


def bert(**changes):
    return BertForMaskedLM(BertConfig.tiny(**{"vocab_size": 20, **changes}))


CALLS = {  # what is called with a size, the least size that is accepted, and a size that fits
    "windows batch": (lambda n: list(windows(IDS, n, 5)), 1),
    "windows time": (lambda n: list(windows(IDS, 5, n)), 1),
    "sample n": (lambda n: BookWorld().sample(n), 0),
    "split at_most": (lambda n: BookWorld().split("test", at_most=n), 0),
    "entailment n": (lambda n: tasks.entailment(BookWorld(), n), 0),
    "questions n": (lambda n: tasks.questions(BookWorld(), n), 0),
    "first k": (lambda n: tasks.entailment(BookWorld(), 2).first(n), 0),
    "dates n": (lambda n: DateTask().pairs(n), 0),
    "recall length": (lambda n: RecallTask(length=n), 1),
    "gradient flow time": (lambda n: random_network(time=n), 1),
    "gradient flow width": (lambda n: random_network(width=n), 1),
    "bootstrap resamples": (lambda n: bootstrap(lambda y, p: 1.0, [0, 1], [0, 1], resamples=n), 2),
    "Batches batch_size": (lambda n: Batches([3, 4], batch_size=n), 1),
    "Batches max_tokens": (lambda n: Batches([3, 4], max_tokens=n), 1),
    "Batches pool": (lambda n: Batches([3, 4], pool=n), 1),
    "sample top_k": (lambda n: sample(torch.zeros(1, 3), top_k=n), 1),
    "Recurrent num_layers": (lambda n: Recurrent("gru", 3, 4, num_layers=n), 1),
    "LSTM projection_size": (lambda n: LSTM(3, 4, projection_size=n), 0),
    "generate max_new_tokens": (
        lambda n: GPTForCausalLM(GPT).generate(IDS[None, :4], n),
        0,
    ),
    **{
        f"{cell.__name__} {name}": (lambda n, c=cell, k=name: c(**{**SIZES, k: n}), 1)
        for cell, name in itertools.product((RNN, LSTM, GRU), ("input_size", "hidden_size"))
    },
    **{
        f"BertConfig {name}": (lambda n, k=name: bert(**{k: n}), least)
        for name, least in {
            "vocab_size": 1,
            "hidden_size": 1,
            "intermediate_size": 1,
            "num_attention_heads": 1,
            "max_position_embeddings": 1,
            "num_hidden_layers": 0,
        }.items()
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_a_size_below_the_least_is_named(name):
    call, least = CALLS[name]
    argument = name.split()[-1]
    for size in (least - 1, -7):
        with pytest.raises(CourseError) as caught:
            call(size)
        assert caught.value.cause == f"{argument} is {size}."
        assert caught.value.remedy == f"Give {argument}={least} or more."


@pytest.mark.parametrize("name", [name for name, (_, least) in CALLS.items() if least == 0])
def test_none_at_all_is_accepted_where_it_makes_sense(name):
    CALLS[name][0](0)


def test_no_size_is_given():
    check_sizes(batch=None)
    check_sizes(batch=1, time=2)


def test_a_batch_of_nothing_is_named():
    with pytest.raises(CourseError, match="There is no example"):
        padded([])
