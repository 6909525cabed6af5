"""A classifying head of two layers, for variants of BERT that have no pooler below it.

BERT's own head is one layer over the pooler's vector (`lmcourse.models.bert_tasks`). Where there is
no pooler, the head does its work first, over [CLS]'s hidden state h_1; f is tanh, ReLU or GELU:

    logits = W Dropout(f(V h_1 + c)) + b

RoBERTa, ELECTRA and DistilBERT have it, each with an activation and dropouts of its own.
"""

from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from lmcourse.models.activations import activation_of
from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_tasks import ClassificationHead
from lmcourse.models.initialization import draw_weights


class TwoLayerHead(ClassificationHead):
    """BERT's head with a layer below.

    Attributes:
        activation: that layer's, by name.
    """

    activation: ClassVar[str] = "tanh"

    def __init__(self, config: BertConfig, classes: int) -> None:
        super().__init__(config, classes)
        self.first = nn.Linear(config.hidden_size, config.hidden_size)
        draw_weights(self.first, config.initializer_range, truncated=True)

    def forward(self, x: Float[Tensor, "*places width"]) -> Float[Tensor, "*places classes"]:
        return super().forward(activation_of(self.activation)(self.first(x)))
