"""The encoders that are fine-tuned and compressed: a teacher, its two students, and two encoders of
the students' sizes that had no teacher.

For DistilBERT's size the latter is ``bookworld-mlm``. For TinyBERT's size it is trained here, once,
on the students' reviews, masks and number of updates.
"""

from dataclasses import dataclass
from pathlib import Path

import torch

from lmcourse import checkout, hub
from lmcourse.corpus.bookworld import BookWorld
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.checkpoint import Model
from research.pretrain.encoders import ENCODER, LONGEST, NO_DROPOUT, MaskedRecipe
from research.pretrain.recipe import Recipe
from research.pretrain.students import TAUGHT
from research.runs import Checkpoints

WIDTH = 48  # of bookworld-tinybert
SMALL = MaskedRecipe(
    "small-mlm",
    "BERT of bookworld-tinybert's size, without a teacher",
    BertForMaskedLM,
    {
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 4 * WIDTH,
        "max_position_embeddings": LONGEST,
        "initializer_range": WIDTH**-0.5,
        **ENCODER,
        **NO_DROPOUT,
    },
    TAUGHT,
)


@dataclass(frozen=True)
class Encoder:
    """An encoder of the grid.

    Attributes:
        name: of the shipped model, or of the recipe.
        label: what the page and the figure call it.
        size: "large", "half" or "small": which encoders are compared with each other.
        distilled: whether it learned from the teacher.
        pretraining: what it learned from, in a phrase.
        recipe: where it is trained here.
    """

    name: str
    label: str
    size: str
    distilled: bool
    pretraining: str
    recipe: Recipe | None = None

    def load(self, world: BookWorld) -> Model:
        """Return the pretrained encoder; one without a shipped file is trained first."""
        if self.recipe is None:
            return hub.load(self.name).model
        return trained(self.recipe, world)


def trained(recipe: Recipe, world: BookWorld, folder: Path | None = None) -> Model:
    """Return the model of a recipe: from `_build`, or trained now, resuming where it stopped."""
    folder = (folder or checkout.root() / "_build" / "compression") / recipe.name
    path = folder / "model.safetensors"
    if not path.exists():
        config = {"recipe": recipe.config, "seed": 0, "world": world.digest}
        kept = Checkpoints(folder / "checkpoints", config=config)
        model = recipe.train(world, 0, torch.device("cpu"), kept).model
        folder.mkdir(parents=True, exist_ok=True)
        model.eval().save(path)
    return BertForMaskedLM.load(path)


ENCODERS = (
    Encoder("bookworld-teacher", "teacher", "large", False, "15,000 updates"),
    Encoder("bookworld-distilbert", "DistilBERT", "half", True, "6,000 updates with the teacher"),
    Encoder("bookworld-mlm", "BERT, 2 layers", "half", False, "10,000 updates"),
    Encoder("bookworld-tinybert", "TinyBERT", "small", True, "6,000 updates with the teacher"),
    Encoder("small-mlm", "BERT, 2 narrow layers", "small", False, "6,000 updates", SMALL),
)
