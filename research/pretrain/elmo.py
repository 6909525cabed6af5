"""The recipe of ELMo's bidirectional language model (chapter 07).

Each review is read from [CLS] to [SEP], as its start and end tokens. The
network reads the words' characters, so it has a vector for any word; its softmax has the words of
BookWorld. Both directions learn together: the loss is the mean over the predictions of both.

Both have the same floor. By the chain rule, −log p of a review is the sum of −log p of its tokens,
each given those before it, and as well the sum of each given those after it. So over whole reviews
it is known how far the backward direction is above the best there is, though BookWorld has no
distribution of a token given only those after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from lmcourse.corpus.bookworld import BookWorld, Review
from lmcourse.evaluation import Score, gap_table, of_causal
from lmcourse.evaluation.probes import hidden_states
from lmcourse.evaluation.uncertainty import mean_of_ratio
from lmcourse.models.bilm import BiLMConfig
from lmcourse.models.char_cnn import BEGIN, END, CharacterCNNConfig, character_ids
from lmcourse.models.elmo import ElmoForPreTraining, neighbors
from lmcourse.models.inputs import IGNORED
from lmcourse.models.outputs import LanguageModelOutput
from lmcourse.tokenizers import words
from lmcourse.training.examples import Batch
from lmcourse.training.objectives import Objective
from research.pretrain.budget import Budget
from research.pretrain.held_out import HeldOut
from research.pretrain.looks import loss_of
from research.pretrain.probing import States, Texts, sense_scores, tag_scores
from research.pretrain.recipe import Recipe, Trained
from research.pretrain.records import Scores
from research.pretrain.recurrent import TEST, exact_nats
from research.pretrain.text_score import text_score

MAX_CHARACTERS = 16  # a word's characters and its two boundary marks; the longest word has 14
FORWARD = "forward direction"
LAYERS = "characters", "first LSTM", "second LSTM"


class BothDirections(Objective):
    """Each token from those before it and, apart from that, from those after it.

    Args:
        model: an `ElmoForPreTraining`.
        spelling: the characters of each token, (token, character); None: the model reads words.
    """

    def __init__(
        self, model: nn.Module, spelling: Int[Tensor, "vocab character"] | None = None
    ) -> None:
        super().__init__(model)
        self.spelling = spelling

    def means(self, batch: Batch) -> list[Tensor]:
        """See `Objective.means`. Each token but a text's first and last is predicted twice."""
        ids = batch["input_ids"]
        read = {"input_ids": ids if self.spelling is None else self.spelling[ids]}
        read |= {"attention_mask": batch["attention_mask"], "labels": ids}
        return [self.model(**self.model_inputs(read, "labels")).loss]

    def counts(self, batch: Batch) -> list[int]:
        """See `Objective.counts`."""
        both = neighbors(batch["input_ids"], batch["attention_mask"])
        return [sum(int((each != IGNORED).sum()) for each in both)]


class Spelled(nn.Module):
    """The same network, asked by the numbers of words, whose spelling it looks up.

    Args:
        model: the network.
        spelling: the characters of each token, (token, character).
    """

    def __init__(self, model: nn.Module, spelling: Int[Tensor, "vocab character"]) -> None:
        super().__init__()
        self.model, self.spelling = model, spelling

    def forward(self, input_ids: Int[Tensor, "batch time"], **more: Any) -> Any:
        """What the network makes of these words' characters."""
        return self.model(input_ids=self.spelling[input_ids], **more)


class Backward(nn.Module):
    """The backward direction as a language model of texts that are reversed.

    Args:
        network: a `Spelled` one.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, input_ids: Int[Tensor, "batch time"]) -> LanguageModelOutput:
        """The logits of the token that comes next, which precedes it in the text."""
        result = self.network(input_ids.flip(1))
        return LanguageModelOutput(None, result.backward_logits.flip(1))


@dataclass(frozen=True)
class ElmoRecipe(Recipe):
    """A bidirectional language model over the words' characters."""

    def objective_in(self, world: BookWorld, network: nn.Module) -> Objective:
        """See `Recipe.objective_in`."""
        return BothDirections(network, spelling(world))

    def held_out(self, world: BookWorld, device: torch.device) -> HeldOut:
        """See `Recipe.held_out`: the mean of both directions."""
        examples = words.examples(self.held_out_reviews(world))
        return loss_of(partial(self.objective_in, world), examples)

    def scores(self, trained: Trained, world: BookWorld) -> Scores:
        """The gap table of the forward direction; nats of the backward one; senses and tags."""
        network, ids = Spelled(trained.model, spelling(world)), words.ids(world)
        asked = {f"{self.name}, {FORWARD}": of_causal(network, world, ids)}
        table = gap_table(asked, world, kind="causal", reviews=self.test_reviews(world))

        def layers(texts: Texts) -> dict[str, States]:
            return dict(zip(LAYERS, hidden_states(network, texts, ids), strict=True))

        small = self.budget.measured is not None
        found = backward_nats(network, self.test_reviews(world) or world.split("test", TEST), world)
        found |= sense_scores(layers, world, small) | tag_scores(layers, world, small)
        return Scores.of(table, found)


def backward_nats(
    network: nn.Module, reviews: Sequence[Review], world: BookWorld
) -> dict[str, Score]:
    """How many nats a token takes from the end of a review to its beginning.

    Predicted are its words and [CLS], given [SEP]: as many as forward, where it is its end.

    Args:
        network: a `Spelled` one.
    """
    ids = [example["input_ids"][::-1].copy() for example in words.examples(reviews)]
    own = text_score(Backward(network), ids)
    above = mean_of_ratio(own.nats - exact_nats(reviews, world), own.tokens)
    return {
        "backward direction, nats a token": own.nats_per_token,
        "backward direction, nats a token above the floor": above,
    }


def spelling(world: BookWorld) -> Int[Tensor, "vocab character"]:
    """The characters of each token; [CLS] and [SEP] are spelled as ELMo's two marks are."""
    marks = {words.CLS: BEGIN, words.SEP: END}
    tokens = [marks.get(id_, token) for token, id_ in words.ids(world).items()]
    return character_ids([tokens], MAX_CHARACTERS)[0]


SMALL = CharacterCNNConfig(
    embedding_size=12,
    filters=((1, 8), (2, 16), (3, 32), (4, 32)),
    num_highway_layers=1,
    max_characters=MAX_CHARACTERS,
)
"""88 filters instead of 2,048, since words have few forms here."""

NARROW = BiLMConfig(
    hidden_size=96,
    projection_size=56,
    hidden_dropout_prob=0.0,
    cell_clip=None,
    projection_clip=None,
)
"""Both directions: two layers each, as published, without dropout and clipping, which cost time."""

ELMO = ElmoRecipe(
    "bookworld-elmo",
    "ELMo: words from characters, and a language model in each direction",
    ElmoForPreTraining,
    {"characters": SMALL, "bilm": NARROW},
    Budget(steps=8000, learning_rate=8e-3, matrix_rate=0.02),
)
