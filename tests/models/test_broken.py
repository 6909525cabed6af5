"""The property kit and the parity table catch every model that is wrong."""

from collections import Counter

import pytest

from tests.models.broken import Broken
from tests.models.subjects import BROKEN, SUBJECTS


@pytest.mark.parametrize("broken", BROKEN, ids=str)
def test_a_wrong_model_is_caught(broken: Broken) -> None:
    assert broken.architectures or broken.subjects
    assert next(broken.caught_by(SUBJECTS), None) is not None


def test_no_two_have_the_same_name() -> None:
    assert not [name for name, count in Counter(map(str, BROKEN)).items() if count > 1]
