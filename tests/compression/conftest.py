"""One thread and one seed, as for the tests of the models: these are as small."""

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)
