"""What `lmcourse.hub.load` returns: a model, its tokenizer, and where both come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor

from lmcourse.errors import CourseError
from lmcourse.hub.tokenizer import COLUMNS


@dataclass(frozen=True)
class Loaded:
    """What was loaded.

    Attributes:
        model: in evaluation mode.
        tokenizer: the one that the model was trained with, or None if its files have none.
        model_input_names: the tensors of `inputs`.
        source: a name or a path.
        commit: the version of the hub's repository.
        labels: the names of a classifier's classes, in order, if they have names.
        unused: tensors of the files that this class leaves out, such as those of another head.
    """

    model: Any
    tokenizer: Tokenizer | None
    model_input_names: tuple[str, ...]
    source: str
    commit: str | None = None
    labels: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    def inputs(self, texts: Sequence[str], pairs: Sequence[str] | None = None) -> dict[str, Tensor]:
        """The model's inputs for a batch of texts: int64 tensors of shape (batch, time).

        Args:
            pairs: a second text for each, such as the question that the first one answers.

        Raises:
            CourseError: there is no tokenizer, or the lengths differ and it has no padding token.
        """
        if self.tokenizer is None:
            raise CourseError(f"{self.source} has no tokenizer.", "Pass ids to the model.")
        batch = list(texts) if pairs is None else list(zip(texts, pairs, strict=True))
        encodings = self.tokenizer.encode_batch(batch)
        if len({len(encoding.ids) for encoding in encodings}) > 1:
            raise CourseError(
                f"The texts have different lengths, and {self.source} has no padding token.",
                "Call tokenizer.enable_padding, or give texts of one length.",
            )
        device = next(self.model.parameters()).device
        return {
            name: torch.tensor([getattr(each, COLUMNS[name]) for each in encodings], device=device)
            for name in self.model_input_names
        }

    def __repr__(self) -> str:
        size = sum(parameter.numel() for parameter in self.model.parameters())
        at = f" (commit {self.commit[:7]})" if self.commit else ""
        lines = [f"{type(self.model).__name__}, {size:,} parameters, from {self.source}{at}"]
        if self.tokenizer is None:
            lines.append("without a tokenizer")
        else:
            lines.append(f"tokenizer: {self.tokenizer.get_vocab_size():,} tokens")
        for title, names in (("classes", self.labels), ("left in the file", self.unused)):
            if names:
                more = f", and {len(names) - 5} more" if len(names) > 5 else ""
                lines.append(f"{title}: {', '.join(names[:5])}{more}")
        return "\n".join(lines)
