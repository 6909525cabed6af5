"""ELMo over words and over characters, and what is wrongly done in it."""

import math
from dataclasses import dataclass
from functools import wraps
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from lmcourse.models import activations, bilm, elmo
from lmcourse.models.bilm import BiLMConfig, Direction
from lmcourse.models.char_cnn import CHARACTERS, CharacterCNN, CharacterCNNConfig
from lmcourse.models.elmo import ElmoConfig, ElmoForPreTraining, ElmoModel
from lmcourse.models.highway import Highway
from lmcourse.models.inputs import IGNORED
from lmcourse.models.scalar_mix import ScalarMix
from tests.models.broken import Broken
from tests.models.subject import Batch, Subject
from tests.models.subjects.transformer import mask, replaced

VOCAB, PLACES = 40, 5


def config(characters: bool) -> ElmoConfig:
    spelling = CharacterCNNConfig(3, ((1, 4), (2, 4)), 1, PLACES, "tanh")
    return ElmoConfig(VOCAB, spelling if characters else None, BiLMConfig(7, 4))


def batch() -> Batch:
    seen, ids = mask(3, 7), torch.randint(VOCAB, (3, 7))
    return {"input_ids": ids, "attention_mask": seen}


def labelled() -> Batch:
    given = batch()
    labels = given["input_ids"].masked_fill(given["attention_mask"] == 0, IGNORED)
    labels[0, 3] = IGNORED
    return given | {"labels": labels}


@dataclass(frozen=True)
class Spelled(Subject):
    """A model over characters: the kit's ids are words, spelled here each in its own way."""

    def call(self, model: nn.Module, batch: Batch, **options: Any) -> Any:
        generator = torch.Generator().manual_seed(0)
        spelling = torch.randint(1, CHARACTERS, (VOCAB, PLACES), generator=generator)
        ids = batch["input_ids"]
        spelled = {"input_ids": spelling.to(ids.device)[ids]}
        return model(**(batch | spelled), **(self.options | options))


SUBJECTS = tuple(
    subject
    for kind, characters, name in ((Subject, False, "words"), (Spelled, True, "characters"))
    for subject in (
        kind(
            f"ELMo over {name}",
            lambda c=characters: ElmoModel(config(c)),  # type: ignore[misc]
            batch,
            dropouts={"hidden_dropout_prob": 4},  # two layers in two directions
        ),
        kind(
            f"ELMo over {name}, pretraining",
            lambda c=characters: ElmoForPreTraining(config(c)),  # type: ignore[misc]
            labelled,
            pooled=("loss",),
            chance=math.log(VOCAB),
            dropouts={"hidden_dropout_prob": 5},  # and one before the softmax
        ),
    )
)


def summed(forward: Any) -> Any:
    """The directions are added, as some lecture notes write it; twice, to keep the width."""

    def wrong(self: ElmoModel, *given: Any, **options: Any) -> Any:
        result = forward(self, *given, **options)

        def both(states: Tensor) -> Tensor:
            one, other = states.chunk(2, -1)
            return torch.cat([one + other, one + other], -1)

        layers = result.hidden_states
        return type(result)(
            both(result.last_hidden_state),
            hidden_states=None if layers is None else tuple(map(both, layers)),
        )

    return wrong


def softmax_of_its_own(forward: Any) -> Any:
    """The backward direction predicts by other weights than the forward one."""

    def wrong(self: ElmoForPreTraining, *given: Any, **options: Any) -> Any:
        linear = self.softmax.forward

        def other(x: Tensor) -> Tensor:  # of both directions, one behind the other
            forward_logits, backward_logits = linear(x).chunk(2)
            return torch.cat([forward_logits, backward_logits.roll(1, -1)])

        with patch.object(self.softmax, "forward", other):
            return forward(self, *given, **options)

    return wrong


def gate_turned(self: Highway, x: Tensor) -> Tensor:
    T = torch.sigmoid(self.gate(x))
    return (1 - T) * torch.relu(self.transform(x)) + T * x


def nothing_carried(self: Highway, x: Tensor) -> Tensor:
    return torch.sigmoid(self.gate(x)) * torch.relu(self.transform(x))


def from_the_padding(reverse: Any) -> Any:
    """The whole row is turned, so that the backward direction starts in the padding."""
    return lambda x, lengths=None: x.flip(1)


def not_turned_back(reverse: Any) -> Any:
    """The backward direction reads as the forward one does."""
    return lambda x, lengths=None: x


def plain_stack(residual: bool) -> Any:
    """Layers without their residual connection, or with one too many."""

    def wrong(self: Direction, x: Tensor, lengths: Any = None) -> list[Tensor]:
        found = []
        for layer in self.layers:
            x = self.dropout(x)
            x = layer(x, lengths=lengths)[0] + (x if residual else 0)
            found.append(x)
        return found

    return wrong


def dropping_nothing(self: Direction, x: Tensor, lengths: Any = None) -> list[Tensor]:
    """The dropout is forgotten."""
    found = []
    for number, layer in enumerate(self.layers):
        output = layer(x, lengths=lengths)[0]
        x = output if number == 0 else output + x
        found.append(x)
    return found


def sure_softmax(forward: Any) -> Any:
    """The dropout before the softmax is forgotten."""

    @wraps(forward)  # the kit asks for its arguments
    def wrong(self: ElmoForPreTraining, *given: Any, **options: Any) -> Any:
        with patch.object(self.dropout, "forward", lambda x: x):
            return forward(self, *given, **options)

    return wrong


def mixed(softmax: bool, gamma: bool) -> Any:
    def wrong(self: ScalarMix, layers: Any) -> Tensor:
        if self.layer_norm:
            layers = [nn.functional.layer_norm(layer, layer.shape[-1:]) for layer in layers]
        shares = self.weights.softmax(0) if softmax else self.weights
        total = torch.stack([s * h for s, h in zip(shares, layers, strict=True)]).sum(0)
        return self.gamma * total if gamma else total + 0 * self.gamma

    return wrong


def itself(labels: Tensor, attention_mask: Any = None) -> tuple[Tensor, Tensor]:
    """Each place predicts the word that it has just read."""
    if attention_mask is not None:
        labels = labels.masked_fill(attention_mask == 0, IGNORED)
    return labels, labels


def from_behind(neighbors: Any) -> Any:
    """The forward direction predicts the word before it, which it has read, and vice versa."""
    return lambda labels, attention_mask=None: neighbors(labels, attention_mask)[::-1]


def padding_predicts(neighbors: Any) -> Any:
    """The last word is predicted by the padding behind it, too."""

    def wrong(labels: Tensor, attention_mask: Any = None) -> Any:
        if attention_mask is not None:
            labels = labels.masked_fill(attention_mask == 0, IGNORED)
        return neighbors(labels)

    return wrong


def one_direction(neighbors: Any) -> Any:
    """Only the forward direction has a loss."""

    def wrong(labels: Tensor, attention_mask: Any = None) -> Any:
        behind, before = neighbors(labels, attention_mask)
        return behind, torch.full_like(before, IGNORED)

    return wrong


def seeing_both(forward: Any) -> Any:
    """As in other bidirectional LSTMs, every layer reads both directions of the one below."""

    def wrong(self: bilm.BiLM, x: Tensor, lengths: Any = None) -> Any:
        one, other = forward(self, x, lengths)
        return forward(self, (one[0] + other[0]) / 2, lengths)

    return wrong


def pooled(how: str, unpadded: bool = False) -> Any:
    """The filters' values are averaged; or the last place, which is padding, is left out."""

    def wrong(self: CharacterCNN, spelled: Tensor) -> Tensor:
        C = self.embedding(spelled).mT
        values = [self.activation(filters(C)) for filters in self.convolutions]
        if unpadded:
            values = [value[..., : max(1, value.shape[-1] - 1)] for value in values]
        best = [value.mean(-1) if how == "mean" else value.amax(-1) for value in values]
        words = torch.cat(best, dim=-1)
        for layer in self.highway:
            words = layer(words)
        return self.projection(words)

    return wrong


def set_to(owner: Any, name: str, value: Any) -> Any:
    return lambda: patch.object(owner, name, value)


WORDS, SPELLED = ("ELMo over words",), ("ELMo over characters",)
TRAINED = ("ELMo over words, pretraining",)
ONE_LAYER = ("ELMo's biLM, one layer",)
BROKEN = (
    Broken("ELMo: directions summed", replaced(ElmoModel, "forward", summed), WORDS),
    Broken(
        "ELMo: softmax not shared",
        replaced(ElmoForPreTraining, "forward", softmax_of_its_own),
        WORDS,
    ),
    Broken("highway: T carries", set_to(Highway, "forward", gate_turned), SPELLED),
    Broken("highway: nothing carried", set_to(Highway, "forward", nothing_carried), SPELLED),
    Broken(
        "biLM: reads the padding first",
        replaced(bilm, "reverse", from_the_padding),
        ONE_LAYER,
        WORDS,
    ),
    Broken(
        "biLM: both directions read forward",
        replaced(bilm, "reverse", not_turned_back),
        ONE_LAYER,
        WORDS,
    ),
    Broken("biLM: residual missing", set_to(Direction, "forward", plain_stack(False)), WORDS),
    Broken(
        "biLM: residual around the first layer",
        set_to(Direction, "forward", plain_stack(True)),
        (*WORDS, *ONE_LAYER),
    ),
    Broken(
        "biLM: dropout forgotten", set_to(Direction, "forward", dropping_nothing), subjects=WORDS
    ),
    Broken(
        "ELMo: no dropout before the softmax",
        replaced(ElmoForPreTraining, "forward", sure_softmax),
        subjects=TRAINED,
    ),
    Broken("biLM: layers see both sides", replaced(bilm.BiLM, "forward", seeing_both), WORDS),
    Broken("scalar mix: no softmax", set_to(ScalarMix, "forward", mixed(False, True)), WORDS),
    Broken("scalar mix: γ missing", set_to(ScalarMix, "forward", mixed(True, False)), WORDS),
    Broken("ELMo: predicts what it reads", set_to(elmo, "neighbors", itself), WORDS),
    Broken("ELMo: targets swapped", replaced(elmo, "neighbors", from_behind), WORDS),
    Broken("ELMo: padding predicts", replaced(elmo, "neighbors", padding_predicts), WORDS),
    Broken(
        "ELMo: no backward loss",
        replaced(elmo, "neighbors", one_direction),
        WORDS,
        TRAINED,
    ),
    Broken("characters: mean pool", set_to(CharacterCNN, "_words", pooled("mean")), SPELLED),
    Broken(
        "characters: padding not pooled",
        set_to(CharacterCNN, "_words", pooled("max", unpadded=True)),
        SPELLED,
    ),
    Broken(
        "characters: no activation",
        lambda: patch.dict(activations.ACTIVATIONS, {"tanh": lambda x: x, "relu": lambda x: x}),
        SPELLED,
    ),
)
