"""Heads that look where a model was made to look; and their way into records and pages."""

import pytest
import torch

from lmcourse.corpus.bookworld import BookWorld
from lmcourse.evaluation.probes import HeadProbe
from lmcourse.evaluation.uncertainty import Score
from lmcourse.models.deberta import DebertaForMaskedLM
from lmcourse.tokenizers import words
from research.pretrain.encoders import SHAW
from research.pretrain.head_scores import LINKS, head_scores
from research.pretrain.overview import summary as overview
from research.pretrain.records import Record, Scores
from research.pretrain.spread import summary
from research.pretrain.tables import page
from tests.pretrain.made import made, table


def neighborly(world: BookWorld) -> DebertaForMaskedLM:
    """A network whose one head looks at the word before, whatever stands there."""
    sizes = {"hidden_size": 8, "num_attention_heads": 1, "intermediate_size": 8}
    config = DebertaForMaskedLM.Config(
        words.size(world), num_hidden_layers=1, max_position_embeddings=448, **sizes, **SHAW
    )
    model = DebertaForMaskedLM(config).eval()
    attention = model.bert.encoder.layers[0].attention
    state = dict(attention.named_parameters())
    with torch.no_grad():
        for name, weight in state.items():
            weight.zero_()
            if name == "query.bias":
                weight.fill_(1.0)
        table_ = model.bert.encoder.distance.weight
        table_.zero_()
        span = len(table_) // 2
        table_[span + 1] = 1.0  # a key one place back
        state["position_key.weight"].copy_(torch.eye(8) * 30)
    return model


def test_the_head_that_always_looks_one_word_back_is_no_better_than_that_offset(world):
    found = head_scores(neighborly(world), world, small=True)
    assert list(found) == [f"from {word} to {target}" for word, target in LINKS]
    subject = found["from a verb to its subject"]
    assert subject.offset == -1
    assert subject.score.value == subject.baseline.value > 0.4
    assert subject.difference.value == 0
    assert found["from a verb to its subject, past other nouns"].score.value == 0
    assert found["from a pronoun to its antecedent"].score.value < 0.2


def test_a_causal_models_links_begin_one_place_earlier(world):
    found = head_scores(neighborly(world), world, small=True, causal=True)
    assert list(found) == [f"from where {word} is told to {target}" for word, target in LINKS]
    subject = found["from where a verb is told to its subject"]
    assert subject.offset != -1 and subject.score.value == 0  # what stood there cannot be seen


PROBE = HeadProbe(
    torch.zeros(2, 4).numpy(),
    1,
    3,
    Score(0.75, 0.02, 0.71, 0.79),
    -4,
    Score(0.25, 0.03, 0.19, 0.31),
    Score(0.5, 0.03, 0.44, 0.56),
    0.0123,
    321,
)


def test_heads_are_kept_told_and_compared_over_seeds(tmp_path):
    heads = Scores.of(None, heads={"from here to there": PROBE}).heads
    record = made(scores=Scores(table("bookworld-one"), {}, heads))
    record.write(tmp_path / "one.json")
    assert Record.read(tmp_path / "one.json") == record
    (one,) = record.scores.heads.values()
    assert (one.layer, one.head, one.offset, one.links) == (1, 3, -4, 321)
    best, fixed = "layer 1, head 3 | 0.750 ± 0.020", "-4 | 0.250 ± 0.030"
    assert f"| from here to there | 321 | {best} | {fixed} | 0.012 |" in page([record])
    assert "layer 1, head 3 looks from here to there: 0.750 ± 0.020" in overview(record)
    assert summary(record)["the best head from here to there"] == pytest.approx(0.75)
    assert "the best head" not in page([made()])
