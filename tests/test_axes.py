"""Axes are checked where `tests.axes` says so, and only there."""

import pytest
import torch
from jaxtyping import TypeCheckError, config

from lmcourse.errors import CourseError
from lmcourse.models.rnn import RNN
from tests.axes import is_checked


@pytest.mark.parametrize(("checked", "error"), [(True, TypeCheckError), (False, CourseError)])
def test_a_call_that_breaks_its_axes_is_noticed_while_the_hook_is_on(
    checked: bool, error: type[Exception]
) -> None:
    layer = RNN(3, 4)
    config.update("jaxtyping_disable", not checked)
    with pytest.raises(error):
        layer(torch.zeros(2))


def test_the_hook_is_off_for_tests_that_are_not_named(request: pytest.FixtureRequest) -> None:
    assert config.jaxtyping_disable and not is_checked(request.node)
