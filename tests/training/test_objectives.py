"""Objectives: each gives the loss that its models give, and counts what that is the mean of."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.albert import AlbertConfig, AlbertForPreTraining
from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_heads import (
    BertForMaskedLM,
    BertForPreTraining,
)
from lmcourse.models.bert_tasks import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)
from lmcourse.models.distilbert import DistilBertForMaskedLM
from lmcourse.models.electra import ElectraConfig
from lmcourse.models.electra_pair import ElectraPair, ElectraPairConfig
from lmcourse.models.gpt import GPTConfig, GPTForCausalLM
from lmcourse.models.rnn_lm import RNNConfig, RNNLanguageModel
from lmcourse.models.roberta import RobertaConfig, RobertaForMaskedLM
from lmcourse.models.spanbert import SpanBertConfig, SpanBertForPreTraining
from lmcourse.models.tinybert import TinyBertDistiller
from lmcourse.models.triple_loss import DistillationConfig, Distiller
from lmcourse.training.examples import each_token_a_word, padded
from lmcourse.training.masking import Masking
from lmcourse.training.objectives import (
    CausalLM,
    Labelled,
    MaskedLM,
    PreTraining,
)
from lmcourse.training.pairs import Frame, segment_pairs, swapped_pairs
from lmcourse.training.seeds import generator_of
from lmcourse.training.selection import Spans
from lmcourse.training.two_models import Distilled, ReplacedTokens
from tests.training.every_objective import MASK, NO_DROPOUT, SETTINGS, V

SMALL = SETTINGS | NO_DROPOUT
DOCUMENTS = [[[5, 6, 7], [8, 9], [10]], [[11, 12], [13, 14, 15, 16]], [[17, 18], [19, 20, 21]]]
MASKING = Masking(MASK, V, rate=0.5)


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def bert(cls, config=BertConfig, **more):
    return cls(config(**(SMALL | more)))


def pairs(make=segment_pairs):
    return padded(make(DOCUMENTS, Frame(1, 2, 20), seed=3))


def by_hand(logits, labels):
    chosen = labels != -100
    return -logits.log_softmax(-1)[chosen].gather(1, labels[chosen][:, None]).mean()


def drawn(objective, batch, seed=1):
    """The loss, the numbers of its terms' predictions, and the batch that they are of."""
    found = objective.sample(batch, generator_of(seed))
    return sum(objective.means(found)), list(objective.counts(found)), found


@pytest.mark.parametrize(
    "model",
    [
        bert(BertForMaskedLM),
        bert(RobertaForMaskedLM, RobertaConfig, max_position_embeddings=34),
    ],
    ids=lambda model: type(model).__name__,
)
def test_masked_tokens(model):
    loss, counts, batch = drawn(MaskedLM(model, MASKING), pairs())
    segments = (
        {} if isinstance(model, RobertaForMaskedLM) else {"token_type_ids": batch["token_type_ids"]}
    )
    logits = model(batch["input_ids"], attention_mask=batch["attention_mask"], **segments).logits
    torch.testing.assert_close(loss, by_hand(logits, batch["labels"]))
    assert counts == [(batch["labels"] != -100).sum()] and counts[0] > 5 and loss.requires_grad


def test_what_is_called_at_once_is_what_is_drawn_and_computed():
    objective = MaskedLM(bert(BertForMaskedLM), MASKING)
    ((mean, count),) = objective(pairs(), torch.Generator().manual_seed(4))
    batch = objective.sample(pairs(), torch.Generator().manual_seed(4))
    assert (mean,) == objective.means(batch) and [count] == objective.counts(batch)


def test_labels_of_another_task_are_put_aside():
    batch = pairs() | {"labels": torch.tensor([1, 0, 1, 0])}
    batch["labels"] = batch["labels"][: len(batch["input_ids"])]
    loss, _, found = drawn(MaskedLM(bert(BertForMaskedLM), MASKING), batch)
    assert found["labels"].shape == batch["input_ids"].shape and loss.isfinite()


def test_spans_and_their_boundaries():
    model = bert(SpanBertForPreTraining, SpanBertConfig)
    masking = Masking(MASK, V, Spans(), rate=0.4)
    examples = each_token_a_word(segment_pairs(DOCUMENTS, Frame(1, 2, 20), seed=3))
    loss, counts, batch = drawn(MaskedLM(model, masking), padded(examples))
    given = {name: batch[name] for name in ("attention_mask", "token_type_ids", "labels")}
    result = model(batch["input_ids"], **given)
    torch.testing.assert_close(loss, result.masked_lm_loss + result.boundary_loss)
    assert counts == [(batch["labels"] != -100).sum(), len(result.boundary_logits)]


@pytest.mark.parametrize(
    ("cls", "config", "make", "name", "scores"),
    [
        (
            BertForPreTraining,
            BertConfig,
            segment_pairs,
            "next_sentence_label",
            "seq_relationship_logits",
        ),
        (AlbertForPreTraining, AlbertConfig, swapped_pairs, "sentence_order_label", "sop_logits"),
    ],
)
def test_masked_tokens_and_pairs(cls, config, make, name, scores):
    model = bert(cls, config, **({"classifier_dropout": 0.0} if config is AlbertConfig else {}))
    loss, counts, batch = drawn(PreTraining(model, MASKING), pairs(make))
    given = {name: batch[name] for name in ("attention_mask", "token_type_ids")}
    result = model(batch["input_ids"], **given)
    both = by_hand(result.prediction_logits, batch["labels"]) + functional.cross_entropy(
        result[scores], batch[name]
    )
    torch.testing.assert_close(loss, both)
    assert counts == [(batch["labels"] != -100).sum(), len(batch[name])]


@pytest.mark.parametrize(
    "model",
    [
        GPTForCausalLM(GPTConfig(**SMALL, embd_pdrop=0.0)),
        RNNLanguageModel(RNNConfig(V, 5, 6)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_each_token_from_those_before_it(model):
    texts = [[5, 6, 7, 8, 9], [10, 11], [12, 13, 14]]
    loss, counts, _ = drawn(CausalLM(model), padded([{"input_ids": it} for it in texts]))
    total = 0.0
    for text in texts:  # each alone, without padding
        logits = model(torch.tensor([text])).logits[0, :-1]
        total += functional.cross_entropy(logits, torch.tensor(text[1:]), reduction="sum")
    torch.testing.assert_close(loss, total / 7)
    assert counts == [7]


def electra():
    config = ElectraConfig(**SMALL, embedding_size=8)
    return ElectraPair(ElectraPairConfig(config, 1 / 3))


def test_replaced_tokens():
    pair, batch = electra(), pairs()
    masking = Masking(MASK, V, rate=0.5, masked=1.0, random=0.0)
    loss, counts, found = drawn(ReplacedTokens(pair, masking), batch, 2)
    assert set(found["input_ids"][found["labels"] != -100].tolist()) == {MASK}
    names = ("attention_mask", "token_type_ids", "labels", "draws")
    result = pair(found["input_ids"], **{name: found[name] for name in names})
    torch.testing.assert_close(loss, result.generator_loss + 50 * result.discriminator_loss)
    assert counts == [(found["labels"] != -100).sum(), found["attention_mask"].sum()]


def test_a_student_learns_from_its_teacher_and_from_masked_tokens():
    teacher = bert(BertForMaskedLM)
    student = bert(BertForMaskedLM, num_hidden_layers=1)
    distiller = Distiller(student, teacher, DistillationConfig(2.0, 5.0, 2.0, 1.0))
    loss, counts, batch = drawn(Distilled(distiller, MASKING), pairs())
    given = {name: batch[name] for name in ("attention_mask", "token_type_ids")}
    z_S = student(batch["input_ids"], **given, output_hidden_states=True)
    z_T = teacher(batch["input_ids"], **given, output_hidden_states=True)
    real = batch["attention_mask"].bool()
    t, s = (z.logits[real] / 2 for z in (z_T, z_S))
    soft = 4 * (t.softmax(-1) * (t.log_softmax(-1) - s.log_softmax(-1))).sum(-1).mean()
    cosine = functional.cosine_similarity(
        z_S.hidden_states[-1][real], z_T.hidden_states[-1][real], dim=-1
    )
    wanted = 5 * soft + 2 * by_hand(z_S.logits, batch["labels"]) + (1 - cosine).mean()
    torch.testing.assert_close(loss, wanted)
    assert counts == [real.sum(), (batch["labels"] != -100).sum(), real.sum()]
    loss.backward()
    assert all(p.grad is None for p in teacher.parameters())


def test_a_student_copies_layers_and_classes():
    teacher = bert(BertForSequenceClassification)
    student = bert(BertForSequenceClassification, num_hidden_layers=1)
    distiller, batch = TinyBertDistiller(student, teacher), pairs()
    given = [batch[name] for name in ("input_ids", "attention_mask", "token_type_ids")]
    for stage in ("general", "prediction"):
        loss, counts, _ = drawn(Distilled(distiller, stage=stage), batch)
        torch.testing.assert_close(loss, distiller(*given, stage=stage).loss)
        lengths = given[1].sum(1)
        of_layers = [lengths.sum(), lengths.square().sum()]
        assert counts == (of_layers if stage == "general" else [len(given[0])])
    assert "stage" in Distilled(distiller, stage="general").config["options"]


def test_a_student_that_tells_no_segments_apart():
    teacher = bert(BertForMaskedLM)
    objective = Distilled(Distiller(DistilBertForMaskedLM.from_teacher(teacher), teacher), MASKING)
    loss, _, batch = drawn(objective, pairs())
    given = {name: batch[name] for name in ("attention_mask", "token_type_ids", "labels")}
    torch.testing.assert_close(loss, objective.model(batch["input_ids"], **given).loss)
    assert (objective.vocab_size, objective.pad_token_id) == (V, 0)


def test_labels_that_the_examples_bring():
    batch = pairs()
    rows, time = batch["input_ids"].shape
    given = {name: batch[name] for name in ("input_ids", "attention_mask", "token_type_ids")}
    tags = torch.where(batch["special_tokens_mask"] == 0, batch["input_ids"] % 2, -100)
    model = bert(BertForTokenClassification)
    loss, counts, _ = drawn(Labelled(model), batch | {"labels": tags})
    torch.testing.assert_close(loss, by_hand(model(**given).logits, tags))
    assert counts == [(tags != -100).sum()]

    model, classes = bert(BertForSequenceClassification, num_labels=4), torch.arange(rows) % 4
    loss, counts, _ = drawn(Labelled(model), batch | {"labels": classes})
    torch.testing.assert_close(loss, functional.cross_entropy(model(**given).logits, classes))
    assert counts == [rows]

    model, start = bert(BertForQuestionAnswering), torch.zeros(rows, dtype=torch.long)
    start[0] = time  # its answer was cut off
    spans = {"start_positions": start, "end_positions": start}
    loss, counts, _ = drawn(Labelled(model), batch | spans)
    torch.testing.assert_close(loss, model(**given, **spans).loss)
    assert counts == [rows - 1] * 2
    spans = {name: start.where(start < time, -100) for name in spans}  # … or is nowhere
    again, counts, _ = drawn(Labelled(model), batch | spans)
    torch.testing.assert_close(again, loss)
    assert counts == [rows - 1] * 2


def test_padding_and_limits_are_the_models():
    roberta = MaskedLM(bert(RobertaForMaskedLM, RobertaConfig, max_position_embeddings=34), MASKING)
    assert (roberta.pad_token_id, roberta.vocab_size) == (1, V)
    recurrent = CausalLM(RNNLanguageModel(RNNConfig(V, 5, 6)))
    assert (recurrent.pad_token_id, recurrent.vocab_size) == (0, V)
    pair = ReplacedTokens(electra(), MASKING)
    assert (pair.pad_token_id, pair.vocab_size) == (0, V)
    assert MaskedLM(nn.Linear(1, 1), MASKING).vocab_size is None
    masks = {MaskedLM(nn.Linear(1, 1), m).config["masking"] for m in (MASKING, Masking(MASK, V))}
    assert len(masks) == 2


@pytest.mark.bad_input
def test_what_does_not_fit_is_refused():
    batch = pairs()
    with pytest.raises(CourseError, match=r"AlbertForPreTraining takes sentence_order_label; the"):
        PreTraining(bert(AlbertForPreTraining, AlbertConfig), MASKING)(batch, None)
    with pytest.raises(CourseError, match="BertForMaskedLM takes no label of a pair"):
        PreTraining(bert(BertForMaskedLM), MASKING)(batch, None)
    with pytest.raises(CourseError, match=r"no label for BertForTokenClassification\. Add labels"):
        Labelled(bert(BertForTokenClassification))(batch)
