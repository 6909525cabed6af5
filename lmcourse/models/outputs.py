"""Outputs of models, with the names and access of the `transformers` library.

    result.logits    result["logits"]    result[0]    loss, logits = result

Indexing and unpacking skip fields that are None, so `result[0]` is the loss if labels were given.
Unpacking yields values; the library's outputs yield names.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, overload

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class ModelOutput:
    """Access to an output by attribute, name or index; subclasses add the fields.

    Attributes:
        softmax: ``logits`` score classes along their last axis.
    """

    softmax: ClassVar[bool] = True

    def keys(self) -> list[str]:
        """Return the names of the fields that are not None."""
        names = [field.name for field in fields(self)]
        return [name for name in names if getattr(self, name) is not None]

    def items(self) -> list[tuple[str, Any]]:
        """Return names and values."""
        return list(zip(self.keys(), self.to_tuple(), strict=True))

    def get(self, key: str, default: Any = None) -> Any:
        """Return a field, or the default if it is None."""
        return dict(self.items()).get(key, default)

    def to_tuple(self) -> tuple[Any, ...]:
        """Return the values that are not None."""
        return tuple(getattr(self, name) for name in self.keys())

    @overload
    def __getitem__(self, key: str | int) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, key: str | int | slice) -> Any:
        if not isinstance(key, str):
            return self.to_tuple()[key]
        if key not in self.keys():
            raise KeyError(f"{key!r} is not in this result, which has {', '.join(self.keys())}.")
        return getattr(self, key)

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_tuple())

    def __len__(self) -> int:
        return len(self.keys())


Layers = tuple[Tensor, ...]
"""One tensor for each layer."""
Terms = tuple[Tensor, ...]
"""The parts of a loss, which is their sum: each is a mean over predictions of one kind."""


@dataclass(frozen=True, eq=False)
class EncoderOutput(ModelOutput):
    """Output of a stack of layers.

    Attributes:
        last_hidden_state: the last layer's output.
        pooler_output: one vector for each sequence, if the model has a pooler.
        hidden_states: the first layer's input and each layer's output, (batch, time, width) each.
        attentions: each layer's attention weights, (batch, head, query, key) each.
        cross_attentions: a decoder's weights over the encoder's states, of the same shape.
    """

    last_hidden_state: Float[Tensor, "batch time width"]
    pooler_output: Float[Tensor, "batch width"] | None = None
    hidden_states: Layers | None = None
    attentions: Layers | None = None
    cross_attentions: Layers | None = None


@dataclass(frozen=True, eq=False)
class LanguageModelOutput(ModelOutput):
    """Output of a model that predicts a token at each position."""

    loss: Float[Tensor, ""] | None
    logits: Float[Tensor, "batch time vocab"]
    hidden_states: Layers | None = None
    attentions: Layers | None = None
    cross_attentions: Layers | None = None


@dataclass(frozen=True, eq=False)
class Seq2SeqOutput(ModelOutput):
    """Output of an encoder–decoder.

    Attributes:
        cross_attentions: each layer's weights over the source, (batch, head, target, source).
    """

    loss: Float[Tensor, ""] | None
    logits: Float[Tensor, "batch target vocab"]
    decoder_hidden_states: Layers | None = None
    decoder_attentions: Layers | None = None
    cross_attentions: Layers | None = None
    encoder_last_hidden_state: Float[Tensor, "batch source width"] | None = None
    encoder_hidden_states: Layers | None = None
    encoder_attentions: Layers | None = None
