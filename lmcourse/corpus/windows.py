"""A long text as batches of consecutive windows."""

from collections.abc import Iterator

import torch
from jaxtyping import Int
from torch import Tensor

from lmcourse.errors import CourseError, check_sizes


def windows(
    ids: Int[Tensor, " tokens"], batch: int, time: int, device: torch.device | str | None = None
) -> Iterator[tuple[Int[Tensor, "batch time"], Int[Tensor, "batch time"]]]:
    """Cut a text into ``batch`` streams and read all of them ``time`` tokens at a time.

    Row k of a window continues in row k of the next, so that a recurrent state can be carried over.
    The labels are the inputs shifted by one token; every token but the first of a stream is
    predicted once. The last, shorter window is left out.

    Yields:
        (input_ids, labels) on ``device``.
    """
    check_sizes(batch=batch, time=time)
    length = (len(ids) - 1) // batch
    if length < time:
        raise CourseError(
            f"{len(ids)} tokens do not fill {batch} streams of {time} tokens.",
            f"Give a longer text, a smaller batch or a shorter window "
            f"(batch × time must stay below {len(ids)}).",
        )
    ids = ids.to(device)
    inputs = ids[: batch * length].view(batch, length)
    labels = ids[1 : batch * length + 1].view(batch, length)
    for start in range(0, length - time + 1, time):
        yield inputs[:, start : start + time], labels[:, start : start + time]
