"""TinyBERT: the student copies its teacher layer by layer (Jiao et al. 2020; chapter 18).

The student is a BERT of M layers; which of the teacher's N layers its layer m copies, the map g(m)
of `lmcourse.models.layer_map` says. Layer 0 is what is embedded, layer M + 1 the prediction:

    L = Σ_{m=0…M+1} λ_m L_layer(m, g(m))                                   eq. 6 and 11
    L_layer(0)     = MSE(E_S W_e, E_T)                  what is embedded   eq. 9
    L_layer(m)     = MSE(H_S W_h, H_T)                  hidden states      eq. 8
                   + 1/h Σ_i MSE(A_S,i, A_T,i)          h heads' scores    eq. 7
    L_layer(M + 1) = −softmax(z_T / t) · log_softmax(z_S / t)              eq. 10

A holds the attention's scores *before* the softmax, which the paper found to be learned faster.
W_e and W_h take the student's width to the teacher's. They are learned, and thrown away in the end;
all layers share one W_h, which has no index in eq. 8. Means go over real places, for the scores
over pairs of real places: padding changes nothing.

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

from lmcourse.errors import CourseError
from lmcourse.models import distillation, inputs
from lmcourse.models.attention import MultiHeadAttention
from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_tasks import BertForMultipleChoice
from lmcourse.models.checkpoint import Model
from lmcourse.models.initialization import draw_weights
from lmcourse.models.layer_map import checked_map, layer_map
from lmcourse.models.outputs import Layers, ModelOutput

Stage = Literal["general", "intermediate", "prediction", "all"]
STAGES: dict[str, tuple[bool, bool]] = {
    "general": (True, False),
    "intermediate": (True, False),
    "prediction": (False, True),
    "all": (True, True),
}
"""Whether a stage learns from the layers, and from the prediction (section 3.2).

In general distillation the teacher is pretrained, and any text will do. For a task the teacher is
one that was tuned for it; the student learns from its layers first, from its predictions after.
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
    """The loss, and each layer's before they are weighted; None where a stage has none.

    Attributes:
        loss: the weighted sum.
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
    logits: Float[Tensor, "*places classes"] | None
    hidden_states: Layers


class TinyBertDistiller(nn.Module):
    """A student, its teacher (see `FrozenTeacher`), and the two matrices between them.

    ``distiller.parameters()`` are the student's and the matrices'; ``distiller.student.save(path)``
    saves the student alone.

    Args:
        student: a `Bert`, with a head on it where the prediction is to be learned.
        teacher: the same with as many heads of attention; it may have more layers and be wider.
        layers: the map g; None: the uniform one.
        weights: λ_0 to λ_{M+1}; None: 1 each, as in the paper.
        temperature: t; the paper found 1 to serve best.

    Raises:
        CourseError: one is no such model, or they share weights; a layer has not as many heads as
            the one that it copies; the map, the weights or the temperature do not fit.
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
        own, theirs, name = encoder_layers(student), encoder_layers(teacher), type(self).__name__
        M, N = len(own), len(theirs)
        self.layers = layer_map(M, N) if layers is None else checked_map(layers, M, N)
        _check_heads(own, theirs, self.layers)
        given = (1.0,) * (M + 2) if weights is None else weights
        self.weights = inputs.numbers(given, "weights", name, inputs.not_negative)
        if len(self.weights) != M + 2:
            raise CourseError(
                f"There are {len(self.weights)} weights for a student of {M} layers.",
                f"Give {M + 2}: for what is embedded, for each layer, for the prediction.",
            )
        self.temperature = inputs.positive_number(temperature, "temperature", name)
        self.student = student
        self.teacher = distillation.FrozenTeacher(teacher)
        widths = student.config.hidden_size, teacher.config.hidden_size
        self.embedding_projection = nn.Linear(*widths, bias=False)  # W_e
        self.hidden_projection = nn.Linear(*widths, bias=False)  # W_h
        like = next(student.parameters())
        for projection in (self.embedding_projection, self.hidden_projection):
            draw_weights(projection, student.config.initializer_range, truncated=True)
            projection.to(like.device, like.dtype)

    def forward(
        self,
        input_ids: Int[Tensor, "*batch time"],
        attention_mask: Tensor | None = None,
        token_type_ids: Int[Tensor, "*batch time"] | None = None,
        *,
        stage: Stage = "all",
    ) -> TinyBertOutput:
        """The losses of a batch. No labels are needed.

        Args:
            input_ids, attention_mask, token_type_ids: as `Bert.forward` has them. Segments go to
                the teacher alone where the student tells none apart.
            stage: what is learned, see ``STAGES``.

        Raises:
            CourseError: an input does not fit; there is no such stage; the prediction is to be
                learned, and a model has no head that predicts classes.
        """
        if stage not in STAGES:
            raise CourseError(f"There is no stage {stage!r}.", f"Choose {', '.join(STAGES)}.")
        by_layers, by_prediction = STAGES[stage]
        given = (input_ids, attention_mask, token_type_ids)
        own = read(self.student, given, by_prediction)
        z_S = distillation.logits_of(own, self.student) if by_prediction else None
        with self.teacher.asked(own["hidden_states"][0].device) as teacher:
            taught = read(teacher, given, by_prediction)
            z_T = distillation.logits_of(taught, teacher) if by_prediction else None
            A_T = self._scores(teacher, taught, self.layers[1:-1]) if by_layers else []
        H_S, H_T = own["hidden_states"], taught["hidden_states"]
        real = inputs.real_places(attention_mask, H_S[0])
        parts, embedding, hidden, attention, prediction = [], None, None, None, None
        if by_layers:
            A_S = self._scores(self.student, own, range(1, len(self.layers) - 1))
            embedding, hidden = self._hidden_losses(H_S, H_T, real)
            attention = attention_losses(A_S, A_T, pairs_of(attention_mask, real))
            losses = [embedding, *(hidden + attention)]
            parts = [w * loss for w, loss in zip(self.weights, losses, strict=False)]
        if z_S is not None and z_T is not None:
            counted = real if z_T.ndim == 3 else None
            prediction = distillation.soft_cross_entropy(z_S, z_T, self.temperature, counted)
            parts.append(self.weights[-1] * prediction)
        total = torch.stack(parts).sum()
        return TinyBertOutput(total, embedding, hidden, attention, prediction, z_S, H_S)

    def _scores(self, model: Model, result: ModelOutput, layers: Sequence[int]) -> list[Tensor]:
        return [attention_scores(model, result["hidden_states"], layer) for layer in layers]

    def _hidden_losses(
        self, own: Layers, taught: Layers, real: Tensor | None
    ) -> tuple[Float[Tensor, ""], Float[Tensor, " layer"]]:
        """Of what is embedded, and of each layer's hidden states (eq. 9 and 8)."""
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


def read(model: Model, given: tuple[Any, ...], predicting: bool) -> ModelOutput:
    """What a model makes of a batch; what it predicts, only if that is to be learned.

    Scores of a whole vocabulary take longer than a small student's layers. A head of choices is
    asked in any case: it makes sequences of them, and one score of each.
    """
    whole = predicting or isinstance(model, BertForMultipleChoice)
    return distillation.read(model if whole else getattr(model, "bert", model), *given)


def attention_losses(
    own: Sequence[Tensor], taught: Sequence[Tensor], pairs: Bool[Tensor, "batch query key"] | None
) -> Float[Tensor, " layer"]:
    """Of each layer's scores: the mean squared error, and the mean of that over the heads (eq. 7).

    Args:
        own, taught: a layer's scores each, (batch, head, query, key).
        pairs: True where a query and the key it may look at are real; None: everywhere.
    """
    return torch.stack(
        [
            mean_squared_error(a.permute(0, 2, 3, 1), b.permute(0, 2, 3, 1), pairs, "scores")
            for a, b in zip(own, taught, strict=True)
        ]
    )


def attention_scores(
    model: Model, hidden_states: Layers, layer: int
) -> Float[Tensor, "batch head query key"]:
    """A layer's scores before the softmax, A = Q Kᵀ / √d (eq. 1).

    They are computed from what the layer read, once more: so no model has to hand them out, and
    each may use the fused attention, which never holds them.

    Args:
        hidden_states: what the model returned; number m - 1 is what layer m read.
        layer: m, counted from 1.
    """
    block = encoder_layers(model)[layer - 1]
    x = block.attention_residual.before(hidden_states[layer - 1])
    attention = block.attention
    query, key = attention.split(attention.query(x)), attention.split(attention.key(x))
    scores: Tensor = query @ key.mT / math.sqrt(query.shape[-1])
    return scores


def encoder_layers(model: Model) -> list[Any]:
    """The layers of a `Bert`, or of the one that a head stands on.

    Raises:
        CourseError: there are none with BERT's attention, which looks both ways.
    """
    encoder = getattr(getattr(model, "bert", model), "encoder", None)
    layers = [] if getattr(encoder, "causal", False) else list(getattr(encoder, "layers", ()))
    if not layers or any(type(layer.attention) is not MultiHeadAttention for layer in layers):
        raise CourseError(
            f"{type(model).__name__} has no layers with BERT's attention.",
            "These losses compare scores of the scaled dot product: give a Bert, or a variant with "
            "the same layers.",
        )
    return layers


def mean_squared_error(
    student: Float[Tensor, "*places width"],
    teacher: Float[Tensor, "*places width"],
    counted: Tensor | None,
    what: str,
) -> Float[Tensor, ""]:
    """The mean over the places that count, and over the numbers of each."""
    student, teacher = distillation.both_at(student, teacher, counted, what)
    return (student - teacher).square().mean(-1).sum() / max(len(student), 1)


def pairs_of(
    attention_mask: Tensor | None, real: Bool[Tensor, "batch time"] | None
) -> Bool[Tensor, "batch query key"] | None:
    """True where both places are real, and the query may look at the key; None: everywhere."""
    if attention_mask is None or real is None:
        return None
    pairs = real[:, :, None] & real[:, None, :]
    if attention_mask.numel() == real.numel():
        return pairs
    return pairs & attention_mask.reshape(pairs.shape).bool()


def _check_heads(student: Sequence[Any], teacher: Sequence[Any], g: Sequence[int]) -> None:
    """See that each of the student's layers has as many heads as the one that it copies."""
    for m, layer in enumerate(student, 1):
        own, theirs = layer.attention.heads, teacher[g[m] - 1].attention.heads
        if own != theirs:
            raise CourseError(
                f"The student's layer {m} has {own} heads of attention, the teacher's layer "
                f"{g[m]}, which it copies, {theirs}.",
                f"Each head copies one of the teacher's: build the student with "
                f"num_attention_heads={theirs}, and a hidden_size that they divide (TinyBERT-4 has "
                "12 heads in a width of 312); prune heads when it has learned.",
            )
