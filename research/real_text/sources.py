"""What the tables read, each only when it is needed: corpora, word vectors, an encoder.

MiniLM's features take minutes, so they are kept in ``_build/real_text`` in parts: what a kill
undoes is one part.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from lmcourse import checkout, hub
from lmcourse.corpus.bookworld import BookWorld
from lmcourse.corpus.brown import Brown, Sentence
from lmcourse.corpus.mails import Mail, Mails
from lmcourse.corpus.vectors import WordVectors
from lmcourse.files import replacing
from lmcourse.hub import Loaded
from lmcourse.releases import RELEASES
from research.pretrain.clock import Seconds

PART, BATCH = 256, 16  # texts
TOKENS = 320  # of a text, at most
PACKAGES = {name: RELEASES[name].package for name in ("brown", "mails", "minilm", "glove-6b-50d")}
Values = dict[str, Any]
"""What a unit of a table measures: numbers, scores with their intervals, or lists of them."""


class Text(NamedTuple):
    """One text of the Brown corpus."""

    genre: str
    sentences: list[Sentence]


class Encoded(NamedTuple):
    """The mean over the tokens of a text, of the embeddings and of each layer's output."""

    states: Float[np.ndarray, "text layer width"]
    cpu_seconds: float


@dataclass(eq=False)  # so that what is computed from it can be cached
class Sources:
    """Where everything is from; tests have small ones."""

    open_brown: Callable[[], Brown] = Brown
    open_mails: Callable[[], Mails] = Mails
    open_vectors: Callable[[], WordVectors] = hub.vectors
    open_encoder: Callable[[], Loaded] = lambda: hub.load("minilm")
    folder: Path = field(default_factory=lambda: checkout.products() / "real_text")

    @cached_property
    def brown(self) -> list[Text]:
        """The texts of the Brown corpus."""
        by_text = groupby(self.open_brown().sentences(), key=lambda each: each.text)
        found = [list(sentences) for _, sentences in by_text]
        return [Text(sentences[0].genre, sentences) for sentences in found]

    @cached_property
    def mails(self) -> list[Mail]:
        """All mails."""
        return list(self.open_mails().mails())

    @cached_property
    def vectors(self) -> WordVectors:
        """GloVe."""
        return self.open_vectors()

    @cached_property
    def encoder(self) -> Loaded:
        """MiniLM."""
        return self.open_encoder()

    @cached_property
    def world(self) -> BookWorld:
        """The course's generated corpus."""
        return BookWorld()

    def encoded(self, texts: Sequence[str]) -> Encoded:
        """What the encoder makes of texts; of a longer one, the first `TOKENS` tokens."""
        parts = [self._part(texts[at : at + PART]) for at in range(0, len(texts), PART)]
        states, seconds = zip(*parts, strict=True)
        return Encoded(np.concatenate(states), sum(seconds))

    def _part(self, texts: Sequence[str]) -> Encoded:
        name = hashlib.sha256("\0".join([self.encoder.source, *texts]).encode()).hexdigest()[:16]
        path = self.folder / f"{name}.npz"
        if not path.is_file():
            start = Seconds.now()
            order = sorted(range(len(texts)), key=lambda at: len(texts[at]))  # to pad little
            batches = [order[at : at + BATCH] for at in range(0, len(texts), BATCH)]
            batched = [self._batch([texts[at] for at in batch]) for batch in batches]
            states = np.concatenate(batched)[np.argsort(order)]
            with replacing(path) as file:
                np.savez(file, states=states, seconds=(Seconds.now() - start).cpu)
        with np.load(path) as kept:
            return Encoded(kept["states"], float(kept["seconds"]))

    @torch.inference_mode()
    def _batch(self, texts: Sequence[str]) -> Float[np.ndarray, "text layer width"]:
        tokenizer: Any = self.encoder.tokenizer
        tokenizer.enable_truncation(TOKENS)
        inputs = self.encoder.inputs(texts)
        visible = inputs["attention_mask"][:, None, :, None]
        found = self.encoder.model(**inputs, output_hidden_states=True).hidden_states
        states = torch.stack(found, 1)  # [text, layer, time, width]
        mean: Float[np.ndarray, "text layer width"] = (
            (states * visible).sum(2) / visible.sum(2)
        ).numpy()
        return mean


Units = Mapping[str, Callable[[Sources], Values]]
"""The parts of a table, which are measured and recorded one by one."""
