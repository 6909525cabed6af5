"""What a model's call returns, named and read as what the `transformers` library returns.

    result.logits    result["logits"]    result[0]    loss, logits = result

By number and when it is unpacked, what was not asked for is left out, so that `result[0]` is the
loss where labels were given. (Unpacked, the library's result gives its names, ours what they name.)
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, overload

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class ModelOutput:
    """The reading of every output, by attribute, name or number; fields are what a model adds.

    Attributes:
        softmax: whether ``logits``, if there are any, score classes along their last axis.
    """

    softmax: ClassVar[bool] = True

    def keys(self) -> list[str]:
        """The names of what there is."""
        names = [field.name for field in fields(self)]
        return [name for name in names if getattr(self, name) is not None]

    def items(self) -> list[tuple[str, Any]]:
        """What there is, with its names."""
        return list(zip(self.keys(), self.to_tuple(), strict=True))

    def get(self, key: str, default: Any = None) -> Any:
        """One result, or something else where it is not there."""
        return dict(self.items()).get(key, default)

    def to_tuple(self) -> tuple[Any, ...]:
        """What there is, in order."""
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
"""One tensor a layer."""


@dataclass(frozen=True, eq=False)
class EncoderOutput(ModelOutput):
    """What a stack of layers returns.

    Attributes:
        last_hidden_state: of the last layer.
        pooler_output: one vector a sequence, where the model has a pooler.
        hidden_states: what went into the first layer, then what each layer gave:
            (batch, time, width) each.
        attentions: each layer's weights, (batch, head, query, key) each.
        cross_attentions: a decoder's weights over the encoder's states, in the same form.
    """

    last_hidden_state: Float[Tensor, "batch time width"]
    pooler_output: Float[Tensor, "batch width"] | None = None
    hidden_states: Layers | None = None
    attentions: Layers | None = None
    cross_attentions: Layers | None = None


@dataclass(frozen=True, eq=False)
class LanguageModelOutput(ModelOutput):
    """What a model returns that predicts a token at each place."""

    loss: Float[Tensor, ""] | None
    logits: Float[Tensor, "batch time vocab"]
    hidden_states: Layers | None = None
    attentions: Layers | None = None
    cross_attentions: Layers | None = None


@dataclass(frozen=True, eq=False)
class Seq2SeqOutput(ModelOutput):
    """What a model returns that reads one sequence and writes another.

    Attributes:
        logits: for each place of the target.
        cross_attentions: where the decoder looked in the source, a tensor a layer,
            (batch, head, target, source).
    """

    loss: Float[Tensor, ""] | None
    logits: Float[Tensor, "batch target vocab"]
    decoder_hidden_states: Layers | None = None
    decoder_attentions: Layers | None = None
    cross_attentions: Layers | None = None
    encoder_last_hidden_state: Float[Tensor, "batch source width"] | None = None
    encoder_hidden_states: Layers | None = None
    encoder_attentions: Layers | None = None
