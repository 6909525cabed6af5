"""Sequence to sequence: the objective, and dates (`lmcourse.corpus.dates`) as examples.

Dates are encoded character by character.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from torch import Tensor

from lmcourse.corpus.dates import DatePair
from lmcourse.models.decoding import greedy
from lmcourse.tokenizers import words
from lmcourse.training.examples import Batch, Example, padded
from lmcourse.training.objectives import Objective, predictions, terms_of

LENGTH = len("1987-03-03") + 1  # with the end token


class Seq2SeqLM(Objective):
    """Predict each token of a target from the source and the tokens before it.

    Args:
        model: a `Transformer` or `Seq2Seq`.
    """

    def means(self, batch: Batch) -> Sequence[Tensor]:
        inputs = self.model_inputs(batch, "target")
        return terms_of(self.model(labels=inputs.pop("target"), **inputs))

    def counts(self, batch: Batch) -> list[int]:
        return predictions(self.module, batch, "target")


def date_examples(pairs: Sequence[DatePair], tokenizer: Tokenizer) -> list[Example]:
    """Return examples with ``input_ids`` (the source) and ``target``, one per pair."""
    ids = tokenizer.get_vocab()
    return [
        {
            "input_ids": _source(pair.source, ids),
            "target": np.array([*map(ids.__getitem__, pair.target), words.SEP]),
        }
        for pair in pairs
    ]


def transcribe(model: Any, sources: Sequence[str], tokenizer: Tokenizer) -> list[str]:
    """Return the target that greedy decoding gives for each source."""
    ids = tokenizer.get_vocab()
    batch = padded([{"input_ids": _source(source, ids)} for source in sources], words.PAD)
    device = next(model.parameters()).device
    targets = greedy(
        model,
        batch["input_ids"].to(device),
        batch["attention_mask"].to(device),
        end_token_id=words.SEP,
        max_new_tokens=LENGTH,
    )
    return [tokenizer.decode(row.tolist()) for row in targets]


def _source(source: str, ids: Mapping[str, int]) -> np.ndarray:
    return np.array([words.CLS, *map(ids.__getitem__, source), words.SEP])
