"""Checks do not make a GPU wait: they read values once; on the CPU they read them each time."""

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from lmcourse.errors import CourseError
from lmcourse.models import inputs
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.bert_tasks import BertForTokenClassification
from lmcourse.models.gpt import GPTForCausalLM
from lmcourse.models.roberta import RobertaConfig, RobertaForMaskedLM
from lmcourse.training.examples import padded
from lmcourse.training.masking import Masking
from lmcourse.training.objectives import MaskedLM
from tests.device.pretend import PRETENDED, entered
from tests.models.small import BERT, GPT

READS = ("aten::_local_scalar_dense", "aten::nonzero", "aten::equal")  # each waits for a GPU


class Reads(TorchDispatchMode):
    """The operations that wait until a GPU has computed all that it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = func._schema.name
        if name in READS:
            self.names.append(name)
        return func(*args, **(kwargs or {}))


@pytest.fixture(autouse=True)
def nothing_passed(monkeypatch):
    """No check has passed on a device yet."""
    monkeypatch.setattr(inputs, "_PASSED", set())


ROBERTA = RobertaConfig(23, 12, 2, 3, 20, max_position_embeddings=11)
MODELS = [
    (BertForMaskedLM, BERT),
    (BertForTokenClassification, BERT),
    (RobertaForMaskedLM, ROBERTA),
    (GPTForCausalLM, GPT),
]


@pytest.mark.parametrize(("kind", "config"), MODELS, ids=[kind.__name__ for kind, _ in MODELS])
def test_a_second_forward_on_a_device_reads_nothing(kind, config):
    ids, mask = torch.randint(4, 23, (2, 6)), torch.ones(2, 6, dtype=torch.long)
    mask[1, 4:] = 0
    with entered(PRETENDED) as device:
        model = kind(config).to(device).eval()
        batch = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
        model(**batch)
        with Reads() as reads:
            model(**batch)
        assert reads.names == []


def test_bad_ids_are_named_on_the_cpu_at_every_call():
    model = BertForMaskedLM(BERT).eval()
    model(torch.ones(1, 3, dtype=torch.long))
    for _ in range(2):
        with pytest.raises(CourseError, match="input_ids holds the number 23"):
            model(torch.full((1, 3), 23))
        with pytest.raises(CourseError, match="attention_mask holds numbers other"):
            model(torch.ones(1, 3, dtype=torch.long), attention_mask=torch.full((1, 3), 2))


def test_bad_ids_are_named_on_a_device_until_a_check_passes():
    with entered(PRETENDED) as device:
        model = BertForMaskedLM(BERT).to(device).eval()
        bad, mask = torch.full((1, 3), 23).to(device), torch.full((1, 3), 2).to(device)
        for _ in range(2):
            with pytest.raises(CourseError, match="input_ids holds the number 23"):
                model(bad)
        good = torch.ones(1, 3, dtype=torch.long).to(device)
        for _ in range(2):
            with pytest.raises(CourseError, match="attention_mask holds numbers other"):
                model(good, attention_mask=mask)


def test_training_checks_each_batch_before_it_is_on_the_device():
    good = padded([{"input_ids": [1, 2, 3]}, {"input_ids": [4, 5]}])
    full = padded([{"input_ids": [1, 2, 3]}])
    bad = padded([{"input_ids": [1, 2, 23]}])
    with entered(PRETENDED) as device:
        objective = MaskedLM(BertForMaskedLM(BERT).to(device), Masking(3, 23))
        assert objective.model_inputs(good)["attention_mask"].device == device
        assert "attention_mask" not in objective.model_inputs(full), "it hides nothing"
        for _ in range(2):
            with pytest.raises(CourseError, match="input_ids holds the number 23"):
                objective.model_inputs(bad)
