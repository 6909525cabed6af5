"""What can be loaded without a network, in words: `lmcourse models`."""

from coursekit import real
from lmcourse.errors import CourseError
from lmcourse.hub import downloaded, shipped


def overview() -> str:
    """The models that come with the course, and those of the hub that were downloaded."""
    try:
        ours = [
            f"  {name}  {_size(one.model.size)}  {one.about}".rstrip()
            for name, one in shipped().items()
        ]
    except CourseError as error:  # the index is damaged
        ours = [f"  {error}"]
    theirs = [
        f"  {name}  {_size(sum(size for size, _ in one.files.values()))}  commit {one.commit[:7]}"
        for name, one in downloaded().items()
    ]
    return "\n".join(
        [
            "With the course:",
            *(ours or ["  none yet"]),
            "From the Hugging Face hub, downloaded:",
            *(theirs or ["  none; `lmcourse models bert-base-uncased` fetches one"]),
            "Pretrained on real English:",
            *(f"  {line}" for line in real.overview().splitlines()),
            'In a notebook, hub.load("NAME") gives a model with its tokenizer.',
        ]
    )


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
