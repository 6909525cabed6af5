"""TinyBERT: layer-by-layer distillation (Jiao et al. 2020; chapter 18).

The student is a BERT of M layers, whose layer m learns from the teacher's layer g(m) of N (see
`lmcourse.models.layer_map`). Layer 0 are the embeddings, layer M + 1 the prediction:

    L = Σ_{m=0…M+1} λ_m L_layer(m, g(m))                                   eq. 6 and 11
    L_layer(0)     = MSE(E_S W_e, E_T)                  embeddings         eq. 9
    L_layer(m)     = MSE(H_S W_h, H_T)                  hidden states      eq. 8
                   + 1/h Σ_i MSE(A_S,i, A_T,i)          h heads' scores    eq. 7
    L_layer(M + 1) = −softmax(z_T / t) · log_softmax(z_S / t)              eq. 10

A are the attention scores *before* the softmax, which the paper found to be learned faster. W_e and
W_h project the student's width to the teacher's, and are discarded after training. All layers share
W_h, which has no index in eq. 8. Means are over tokens, or pairs of tokens, without
padding.

The published code (`general_distill.py`, `task_distill.py`) differs in small things: one linear
layer with a bias is both W_e and W_h; padding counts in the means, with a difference of 0 for the
scores of padded keys; eq. 10 is divided by the number of classes; the classifier reads the ReLU of
the pooled vector; and the teacher, never put into evaluation mode, keeps its dropout.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lmcourse.models import distillation, inputs
from lmcourse.models.bert import BertConfig
from lmcourse.models.checkpoint import Model
from lmcourse.models.initialization import init_weights
from lmcourse.models.layer_map import checked_map, layer_map
from lmcourse.models.outputs import Layers, ModelOutput, Terms

Stage = Literal["general", "intermediate", "prediction", "all"]
STAGES: dict[str, tuple[bool, bool]] = {
    "general": (True, False),
    "intermediate": (True, False),
    "prediction": (False, True),
    "all": (True, True),
}
"""Whether a stage learns from the layers, and from the prediction (section 3.2).

In general distillation the teacher is pretrained, and any text can be used. For a task the teacher
is fine-tuned; the student learns from its layers first, then from its predictions.
"""


def tinybert_4(**changes: Any) -> BertConfig:
    """TinyBERT-4: as a `Bert` with its pooler, 14,350,248 parameters.

    The paper says 14.5 M; with the heads of pre-training there are 14,479,676.
    """
    sizes = {"hidden_size": 312, "num_hidden_layers": 4, "intermediate_size": 1200}
    return BertConfig(**(sizes | changes))


def tinybert_6(**changes: Any) -> BertConfig:
    """TinyBERT-6: as a `Bert` with its pooler, 66,955,008 parameters, 67.0 M in the paper."""
    return BertConfig.sized(6, 768, **changes)


@dataclass(frozen=True, eq=False)
class TinyBertOutput(ModelOutput):
    """The loss, and each layer's unweighted loss; None if a stage does not use it.

    Attributes:
        loss: the weighted sum.
        terms: its parts: the means over tokens, over pairs of tokens, and over predictions.
        embedding_loss: of layer 0.
        hidden_losses, attention_losses: of the layers 1 to M.
        prediction_loss: of layer M + 1.
        logits: the student's, where the prediction is learned.
        hidden_states: the student's.
    """

    loss: Float[Tensor, ""]
    embedding_loss: Float[Tensor, ""] | None
    hidden_losses: Float[Tensor, " layer"] | None
    attention_losses: Float[Tensor, " layer"] | None
    prediction_loss: Float[Tensor, ""] | None
    logits: Float[Tensor, "*positions classes"] | None
    hidden_states: Layers
    terms: Terms | None = None


class TinyBertDistiller(nn.Module):
    """A student, its teacher (see `FrozenTeacher`), and the two projections between them.

    ``distiller.parameters()`` are the student's and the projections';
    ``distiller.student.save(path)`` saves only the student.

    Args:
        student: a `Bert`, with a head if it learns from predictions.
        teacher: a model with the same head and number of attention heads, perhaps deeper and wider.
        layers: the map g; None: the uniform one.
        weights: λ_0 to λ_{M+1}; None: 1 each, as in the paper.
        temperature: t; the paper found 1 to work best.
    """

    def __init__(
        self,
        student: Model,
        teacher: Model,
        layers: Sequence[int] | None = None,
        weights: Sequence[float] | None = None,
        temperature: float = 1.0,
    ) -> None:
        super().__init__()
        distillation.check_pair(student, teacher)
        own, theirs = encoder_layers(student), encoder_layers(teacher)
        M, N = len(own), len(theirs)
        self.layers = layer_map(M, N) if layers is None else checked_map(layers, M, N)
        self.weights = (1.0,) * (M + 2) if weights is None else tuple(weights)
        self.temperature = temperature
        self.student = student
        self.teacher = distillation.FrozenTeacher(teacher)
        widths = student.config.hidden_size, teacher.config.hidden_size
        self.embedding_projection = nn.Linear(*widths, bias=False)  # W_e
        self.hidden_projection = nn.Linear(*widths, bias=False)  # W_h
        like = next(student.parameters())
        for projection in (self.embedding_projection, self.hidden_projection):
            init_weights(projection, student.config.initializer_range, truncated=True)
            projection.to(like.device, like.dtype)

    def forward(
        self,
        input_ids: Int[Tensor, "*batch time"],
        attention_mask: Tensor | None = None,
        token_type_ids: Int[Tensor, "*batch time"] | None = None,
        *,
        stage: Stage = "all",
    ) -> TinyBertOutput:
        """Compute the losses of a batch; no labels are needed.

        Args:
            input_ids, attention_mask, token_type_ids: as in `Bert.forward`. A student without
                segments ignores them.
            stage: one of ``STAGES``.
        """
        by_layers, by_prediction = STAGES[stage]
        model_inputs = (input_ids, attention_mask, token_type_ids)
        own = run(self.student, model_inputs, by_prediction)
        z_S = distillation.class_logits(own, self.student) if by_prediction else None
        with self.teacher.on(own["hidden_states"][0].device) as teacher:
            taught = run(teacher, model_inputs, by_prediction)
            z_T = distillation.class_logits(taught, teacher) if by_prediction else None
            A_T = self._scores(teacher, taught, self.layers[1:-1]) if by_layers else []
        H_S, H_T = own["hidden_states"], taught["hidden_states"]
        real = inputs.padding_mask(attention_mask, H_S[0])
        terms, embedding, hidden, attention, prediction = [], None, None, None, None
        if by_layers:
            A_S = self._scores(self.student, own, range(1, len(self.layers) - 1))
            embedding, hidden = self._hidden_losses(H_S, H_T, real)
            attention = attention_losses(A_S, A_T, position_pairs(attention_mask, real))
            weights = hidden.new_tensor(self.weights[1:-1])
            terms = [self.weights[0] * embedding + weights @ hidden, weights @ attention]
        if z_S is not None and z_T is not None:
            counted = real if z_T.ndim == 3 else None
            prediction = distillation.soft_cross_entropy(z_S, z_T, self.temperature, counted)
            terms.append(self.weights[-1] * prediction)
        total = torch.stack(terms).sum()
        parts = embedding, hidden, attention, prediction
        return TinyBertOutput(total, *parts, z_S, H_S, tuple(terms))

    def _scores(self, model: Model, result: ModelOutput, layers: Sequence[int]) -> list[Tensor]:
        return [attention_scores(model, result["hidden_states"], layer) for layer in layers]

    def _hidden_losses(
        self, own: Layers, taught: Layers, real: Tensor | None
    ) -> tuple[Float[Tensor, ""], Float[Tensor, " layer"]]:
        """Return the losses of the embeddings and of each layer's hidden states (eq. 9 and 8)."""
        embedded, *hidden = own
        target, *targets = [taught[layer] for layer in self.layers[:-1]]
        return (
            mean_squared_error(self.embedding_projection(embedded), target, real, "embeddings"),
            torch.stack(
                [
                    mean_squared_error(self.hidden_projection(h), t, real, "hidden states")
                    for h, t in zip(hidden, targets, strict=True)
                ]
            ),
        )


def run(model: Model, model_inputs: tuple[Any, ...], predicting: bool) -> ModelOutput:
    """Apply a model to a batch, without its head if the predictions are not needed.

    Logits over a vocabulary take longer than a small student's layers.
    """
    return distillation.run(model if predicting else getattr(model, "bert", model), *model_inputs)


def attention_losses(
    own: Sequence[Tensor], taught: Sequence[Tensor], pairs: Bool[Tensor, "batch query key"] | None
) -> Float[Tensor, " layer"]:
    """Return each layer's mean squared error of the scores, averaged over the heads (eq. 7).

    Args:
        own, taught: the scores of each layer, (batch, head, query, key).
        pairs: True where query and key are tokens and the key is visible; None: everywhere.
    """
    return torch.stack(
        [
            mean_squared_error(
                a.permute(0, 2, 3, 1), b.permute(0, 2, 3, 1), pairs, "attention scores"
            )
            for a, b in zip(own, taught, strict=True)
        ]
    )


def attention_scores(
    model: Model, hidden_states: Layers, layer: int
) -> Float[Tensor, "batch head query key"]:
    """Return a layer's scores before the softmax, A = Q Kᵀ / √d (eq. 1).

    They are computed again from the layer's input, so models can use the fused attention.

    Args:
        hidden_states: the model's; number m - 1 is the input of layer m.
        layer: m, counted from 1.
    """
    block = encoder_layers(model)[layer - 1]
    x = block.attention_residual.pre_norm(hidden_states[layer - 1])
    attention = block.attention
    query, key = attention.split(attention.query(x)), attention.split(attention.key(x))
    scores: Tensor = query @ key.mT / math.sqrt(query.shape[-1])
    return scores


def encoder_layers(model: Model) -> list[Any]:
    """Return the layers of a `Bert`, or of a model's base, which must have BERT's attention."""
    encoder = getattr(getattr(model, "bert", model), "encoder", None)
    layers = [] if getattr(encoder, "causal", False) else list(getattr(encoder, "layers", ()))
    return layers


def mean_squared_error(
    student: Float[Tensor, "*positions width"],
    teacher: Float[Tensor, "*positions width"],
    counted: Tensor | None,
    what: str,
) -> Float[Tensor, ""]:
    """Return the mean squared error over the positions that count."""
    student, teacher = distillation.select_positions(student, teacher, counted, what)
    return (student - teacher).square().mean(-1).sum() / max(len(student), 1)


def position_pairs(
    attention_mask: Tensor | None, real: Bool[Tensor, "batch time"] | None
) -> Bool[Tensor, "batch query key"] | None:
    """Return True where both positions are tokens and the key is visible; None: everywhere."""
    if attention_mask is None or real is None:
        return None
    pairs = real[:, :, None] & real[:, None, :]
    if attention_mask.numel() == real.numel():
        return pairs
    return pairs & attention_mask.reshape(pairs.shape).bool()
