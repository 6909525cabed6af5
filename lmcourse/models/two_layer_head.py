"""A classification head of two layers, for variants of BERT without a pooler.

Its first layer replaces the pooler over [CLS]'s hidden state h_1; f is tanh, ReLU or GELU:

    logits = W Dropout(f(V h_1 + c)) + b

RoBERTa, ELECTRA and DistilBERT use it with different activations and dropouts.
"""

from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.models.activations import activation_of
from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_tasks import ClassificationHead
from lmcourse.models.initialization import init_weights


class TwoLayerHead(ClassificationHead):
    """BERT's head after another layer, with an ``activation`` given by name."""

    activation: ClassVar[str] = "tanh"

    def __init__(self, config: BertConfig, classes: int) -> None:
        super().__init__(config, classes)
        self.first = nn.Linear(config.hidden_size, config.hidden_size)
        init_weights(self.first, config.initializer_range, truncated=True)

    def forward(self, x: Float[Tensor, "*positions width"]) -> Float[Tensor, "*positions classes"]:
        return super().forward(activation_of(self.activation)(self.first(x)))
