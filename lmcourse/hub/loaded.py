"""What `lmcourse.hub.load` gives: a model, its tokenizer, and where both come from."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lmcourse.hub.folder import read_model
from lmcourse.hub.parts import Parts
from lmcourse.hub.tokenizer_files import read_tokenizer
from lmcourse.models.checkpoint import Model
from lmcourse.tokenizers import Tokenizer

M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Loaded(Generic[M]):
    """What was loaded.

    Attributes:
        model: in evaluation mode.
        tokenizer: the one that the model was trained with; None: none was there, or none that the
            course can read.
        source: where it comes from: a name, or a path.
        commit: which version of the hub's repository it is.
        labels: what a classifier's classes are called, in order, where the hub's model says so.
        unused: tensors of the files that this class has no place for, such as another head's.
    """

    model: M
    tokenizer: Tokenizer | None
    source: str
    commit: str | None = None
    labels: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def __repr__(self) -> str:
        size = sum(parameter.numel() for parameter in self.model.parameters())
        at = f" (commit {self.commit[:7]})" if self.commit else ""
        lines = [f"{type(self.model).__name__}, {size:,} parameters, from {self.source}{at}"]
        if self.tokenizer is None:
            lines.append("without a tokenizer")
        else:
            lines.append(f"tokenizer: {self.tokenizer.get_vocab_size():,} tokens")
        if self.labels:
            lines.append(f"classes: {_some(self.labels)}")
        if self.unused:
            lines.append(f"left in the file: {_some(self.unused)}")
        return "\n".join(lines)


def _some(names: tuple[str, ...], most: int = 5) -> str:
    """Names in a line, the first few if they are many."""
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def from_parts(
    parts: Parts, kind: type[Model] | None, source: str, commit: str | None = None
) -> Loaded[Any]:
    """What the `transformers` library saved in these files, in our class.

    Raises:
        CourseError: see `read_model` and `read_tokenizer`.
    """
    read = read_model(parts, kind, source)
    tokenizer = read_tokenizer(parts.tokenizer, read.model)
    return Loaded(read.model, tokenizer, source, commit, read.labels, read.unused)
