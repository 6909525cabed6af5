"""The property kit over every model."""

from collections.abc import Callable

import pytest
import torch

from tests.models.kit import PROPERTIES
from tests.models.subject import Subject
from tests.models.subjects import SUBJECTS


@pytest.mark.parametrize("examine", PROPERTIES, ids=lambda examine: examine.__name__)
@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
def test_holds(subject: Subject, examine: Callable[[Subject], None]) -> None:
    for seed in range(3):
        torch.manual_seed(seed)
        examine(subject)
