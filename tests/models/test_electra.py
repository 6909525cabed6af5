"""ELECTRA's sizes, loss, draws and refusals; that it equals the reference is in the table."""

import copy
import math
from dataclasses import replace

import pytest
import torch
import transformers
from safetensors import safe_open
from torch.nn import functional

from lmcourse.errors import CourseError
from lmcourse.models.bert import Bert, BertConfig
from lmcourse.models.electra import (
    Electra,
    ElectraConfig,
    ElectraForMaskedLM,
    ElectraForPreTraining,
    ElectraForQuestionAnswering,
    ElectraForSequenceClassification,
    ElectraForTokenClassification,
)
from lmcourse.models.electra_pair import ElectraPair, ElectraPairConfig
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.inputs import IGNORED
from tests.models.small import BERT, ids, parameters
from tests.parity.comparing import shaken

SMALL = ElectraConfig(
    23,
    12,
    num_hidden_layers=2,
    num_attention_heads=3,
    intermediate_size=20,
    max_position_embeddings=9,
    num_labels=3,
    embedding_size=5,
)
PAIR = ElectraPairConfig(SMALL, 1 / 3)
HEADS = (
    ElectraForPreTraining,
    ElectraForMaskedLM,
    ElectraForSequenceClassification,
    ElectraForQuestionAnswering,
    ElectraForTokenClassification,
)


def gaps():
    """A masked text of two sequences, and what stood in its gaps."""
    labels = torch.full((2, 6), IGNORED)
    labels[0, 1], labels[0, 4], labels[1, 2] = 7, 3, 11
    return ids(2, 6), labels


@pytest.mark.parametrize(
    ("size", "counts", "millions"),
    [
        ("small", (13_483_008, 13_549_057, 13_546_682), 14),
        ("base", (108_891_648, 109_483_009, 109_514_298), 110),
        ("large", (334_092_288, 335_142_913, 335_174_458), 335),
    ],
)
def test_paper_scale_counts_are_the_references(size, counts, millions):
    config = getattr(ElectraConfig, size)()
    names = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    settings = {name: getattr(config, name) for name in (*names, "embedding_size")}
    theirs = transformers.ElectraConfig(**settings)
    kinds = (
        (Electra, transformers.ElectraModel),
        (ElectraForPreTraining, transformers.ElectraForPreTraining),
        (ElectraForMaskedLM, transformers.ElectraForMaskedLM),
    )
    with torch.device("meta"):
        for (kind, reference), count in zip(kinds, counts, strict=True):
            assert parameters(kind(config)) == count == parameters(reference(theirs))
    assert abs(counts[1] / 1e6 - millions) < 1


@pytest.mark.parametrize(
    ("size", "generator", "count"),
    [
        ("small", (64, 1, 256), 14_196_219),
        ("base", (256, 4, 1024), 119_386_427),
        ("large", (256, 4, 1024), 354_655_291),
    ],
)
def test_the_generators_published_sizes(size, generator, count):
    """A quarter, a third, a quarter of the width (table 6); heads of 64 numbers, as in the code."""
    share = 1 / 3 if size == "base" else 1 / 4
    config = ElectraPairConfig(getattr(ElectraConfig, size)(), share)
    small = config.generator
    sizes = (small.hidden_size, small.num_attention_heads, small.intermediate_size)
    assert sizes == generator
    assert small.num_hidden_layers == config.discriminator.num_hidden_layers
    with torch.device("meta"):
        pair, alone = ElectraPair(config), ElectraForMaskedLM(small)
        shared = Bert.make_embeddings(config.discriminator)  # without any projection
        apart = parameters(pair.discriminator) + parameters(alone) - parameters(shared)
    assert parameters(pair) == apart == count


def test_shared_embeddings_are_kept_counted_and_saved_once(tmp_path):
    pair = ElectraPair(PAIR)
    words = [name for name in pair.state_dict() if "word" in name or "position" in name]
    assert words == [f"discriminator.bert.embeddings.{n}.weight" for n in ("word", "position")]
    assert pair.state_dict().keys() == dict(pair.named_parameters()).keys()
    pair.save(tmp_path / "pair")
    with safe_open(tmp_path / "pair", "pt") as file:
        assert set(file.keys()) == pair.state_dict().keys()
    again = ElectraPair.load(tmp_path / "pair")
    given, labels = gaps()
    before = pair.eval()(given, labels).generator_logits
    assert torch.equal(again(given, labels).generator_logits, before)
    with torch.no_grad():
        again.discriminator.bert.embeddings.word.weight.zero_()
    assert not torch.equal(again(given, labels).generator_logits, before)


def test_each_model_of_a_pair_is_a_whole_one(tmp_path):
    pair = shaken(ElectraPair(PAIR))
    given, labels = gaps()
    own = pair.generator
    logits = pair(given, labels).generator_logits
    own.save(tmp_path / "generator")
    assert torch.equal(ElectraForMaskedLM.load(tmp_path / "generator")(given).logits, logits)
    again = ElectraForMaskedLM.from_transformers(own.to_transformers())
    assert torch.equal(again(given).logits, logits)
    for part in (own, pair.discriminator):
        tuned = ElectraForTokenClassification.on_top_of(part)
        state = tuned.bert(given).last_hidden_state
        assert torch.equal(state, part.bert(given).last_hidden_state)
        assert not set(tuned.parameters()) & set(pair.parameters())
    assert own.bert.embeddings.max_length == 9


def test_mode_is_each_models_own_and_freezing_reaches_what_is_shared():
    pair = ElectraPair(replace(PAIR, discriminator=replace(SMALL, hidden_dropout_prob=0.5)))
    given, _ = gaps()
    pair.generator.eval()
    logits = [pair.generator(given).logits for _ in range(2)]
    assert torch.equal(*logits)
    scores = [pair.discriminator(given).logits for _ in range(2)]
    assert not torch.equal(*scores)
    dropouts = [part for part in pair.discriminator.modules() if isinstance(part, torch.nn.Dropout)]
    assert all(part.training for part in dropouts)
    pair.generator.requires_grad_(False)
    frozen = {name for name, own in pair.discriminator.named_parameters() if not own.requires_grad}
    parts = ("word.weight", "position.weight", "segment.weight", "norm.weight", "norm.bias")
    assert frozen == {f"bert.embeddings.{part}" for part in parts}


def test_a_copied_pair_and_one_within_another_module_share_on_as_before():
    pair = shaken(ElectraPair(PAIR))
    whole = torch.nn.ModuleDict({"pair": copy.deepcopy(pair)})
    assert whole.state_dict().keys() == {f"pair.{name}" for name in pair.state_dict()}
    with torch.no_grad():
        whole["pair"].discriminator.bert.embeddings.word.weight.zero_()
    assert not whole["pair"].generator.bert.embeddings.word.weight.any()
    whole.load_state_dict({f"pair.{name}": tensor for name, tensor in pair.state_dict().items()})
    words = whole["pair"].generator.bert.embeddings.word.weight
    assert torch.equal(words, pair.generator.bert.embeddings.word.weight)
    assert words is whole["pair"].discriminator.bert.embeddings.word.weight
    with torch.device("meta"):
        empty = ElectraPair(PAIR)
    empty.to_empty(device="cpu").load_state_dict(pair.state_dict())
    own, lent = empty.generator.bert.embeddings, empty.discriminator.bert.embeddings
    assert own.word.weight is lent.word.weight


def test_a_missing_tensor_is_missed_and_an_unshared_one_is_not_lost(tmp_path):
    pair = ElectraPair(PAIR)
    state = pair.state_dict()
    del state["discriminator.bert.embeddings.word.weight"]
    with pytest.raises(RuntimeError, match=r"Missing key.*discriminator\.bert\.embeddings\.word"):
        pair.load_state_dict(state)
    pair.generator.bert.embeddings.word = copy.deepcopy(pair.generator.bert.embeddings.word)
    assert "generator.bert.embeddings.word.weight" in pair.state_dict()
    with pytest.raises(CourseError, match="no longer matches its configuration"):
        pair.save(tmp_path / "pair")


@pytest.mark.parametrize(
    ("size", "width", "heads", "between"),
    [
        (0.01, 3, 1, 12),
        (0.3, 64, 1, 256),
        (1 / 3, 64, 1, 256),
        (0.4, 128, 2, 512),
        (1.0, 256, 4, 1024),
    ],
)
def test_a_generator_has_heads_as_wide_as_the_discriminators(size, width, heads, between):
    small = ElectraPairConfig(ElectraConfig(), size).generator
    sizes = (small.hidden_size, small.num_attention_heads, small.intermediate_size)
    assert sizes == (width, heads, between)


def test_any_number_of_heads_is_left_of_base():
    for percent in range(1, 101):
        small = ElectraPairConfig(ElectraConfig.base(), percent / 100).generator
        assert abs(small.hidden_size / 768 - percent / 100) <= 0.5 / 12 + 1e-9


def test_without_weight_the_generator_alone_learns():
    pair = shaken(ElectraPair(replace(PAIR, discriminator_weight=0.0)))
    result = pair(*gaps())
    result.loss.backward()
    assert result.loss == result.generator_loss
    learning = set(pair.generator.parameters())
    for parameter in pair.parameters():
        assert parameter.grad.any() == (parameter in learning)


def test_embeddings_as_wide_as_the_hidden_states_have_no_projection():
    assert type(Electra(replace(SMALL, embedding_size=12)).embeddings) is Embeddings
    wide = ElectraPair(ElectraPairConfig(replace(SMALL, embedding_size=4), 1 / 3))
    assert type(wide.generator.bert.embeddings) is Embeddings
    assert wide.discriminator.bert.embeddings.projection.weight.shape == (12, 4)


def test_there_is_no_pooler():
    assert Electra(SMALL).pooler is None and Electra(SMALL)(ids(2, 5)).pooler_output is None
    assert all(kind(SMALL).bert.pooler is None for kind in HEADS)


def test_every_part_starts_as_a_truncated_normal():
    big = replace(SMALL, hidden_size=300, embedding_size=150)
    pair = ElectraPair(ElectraPairConfig(big, 0.5))
    head = ElectraForSequenceClassification(big).classifier.first
    for weight in (
        pair.generator.bert.embeddings.projection.weight,
        pair.discriminator.discriminator_predictions.dense.weight,
        head.weight,
    ):
        assert weight.abs().max() <= 0.04 + 1e-6
        assert weight.std().item() == pytest.approx(0.88 * 0.02, rel=0.03)


def test_the_discriminators_loss_is_the_mean_over_real_places():
    model, given = shaken(ElectraForPreTraining(SMALL)), ids(2, 5)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
    labels = torch.tensor([[0, 1, 0, 0, 1], [1, IGNORED, 1, 0, 1]])
    result = model(given, attention_mask=mask, labels=labels)
    p = result.logits.sigmoid()
    told = [1 - p[0, 0], p[0, 1], 1 - p[0, 2], 1 - p[0, 3], p[0, 4], p[1, 0]]
    torch.testing.assert_close(result.loss, -torch.stack(told).log().mean())
    rows = mask[:, None].expand(2, 5, 5)
    torch.testing.assert_close(model(given, attention_mask=rows, labels=labels).loss, result.loss)
    whole = model(given, labels=labels.clamp(min=0)).loss
    logits = model(given).logits
    expected = functional.binary_cross_entropy_with_logits(logits, labels.clamp(min=0).float())
    torch.testing.assert_close(whole, expected)


def test_without_any_place_to_learn_from_the_loss_is_a_zero_that_can_be_differentiated():
    model, none = ElectraForPreTraining(SMALL), torch.zeros(2, 5, dtype=torch.long)
    for given in ({"labels": none + IGNORED}, {"labels": none, "attention_mask": none}):
        loss = model(ids(2, 5), **given).loss
        loss.backward()
        assert loss == 0
        assert all(p.grad is None or not p.grad.any() for p in model.parameters())


def test_a_text_is_corrupted_at_its_gaps_alone():
    given, labels = gaps()
    result = shaken(ElectraPair(PAIR))(given, labels)
    kept = labels == IGNORED
    assert torch.equal(result.corrupted_ids[kept], given[kept])
    assert not result.replaced[kept].any()
    fake = result.corrupted_ids != labels
    assert torch.equal(result.replaced[~kept], fake[~kept].long())


def test_a_token_that_was_guessed_right_is_no_fake():
    given, labels = gaps()
    pair = ElectraPair(PAIR).eval()
    labels = torch.where(labels == IGNORED, labels, 7)
    for token, fakes in ((7, 0), (8, 3)):
        with torch.no_grad():
            pair.generator.predictions.bias.zero_()[token] = 50.0
        result = pair(given, labels)
        assert (result.corrupted_ids[labels != IGNORED] == token).all()
        assert result.replaced.sum() == fakes


def test_tokens_are_drawn_with_the_generators_probabilities():
    pair = shaken(ElectraPair(PAIR))
    given, labels = ids(1, 1).expand(4000, 1), torch.ones(4000, 1, dtype=torch.long)
    result = pair(given, labels)
    p = result.generator_logits[0, 0].softmax(-1)
    counts = torch.bincount(result.corrupted_ids.flatten(), minlength=23)
    spread = (4000 * p * (1 - p)).sqrt()
    assert ((counts - 4000 * p).abs() <= 4.5 * spread + 1).all()


def test_tokens_follow_from_the_given_draws_in_evaluation_too():
    pair, (given, labels) = ElectraPair(PAIR).eval(), gaps()
    labels = torch.ones_like(labels)

    def drawn(rows=slice(None), **chance):
        return pair(given[rows], labels[rows], **chance).corrupted_ids

    draws, others = torch.rand(2, *labels.shape)
    first = drawn(draws=draws)
    assert torch.equal(drawn(draws=draws), first)
    assert torch.equal(drawn(slice(1, 2), draws=draws[1:]), first[1:])  # alone as in the batch
    assert not torch.equal(drawn(draws=others), first)
    assert not torch.equal(drawn(), drawn())


def test_both_models_states_and_attentions_are_there_if_asked_for():
    pair = shaken(ElectraPair(PAIR))
    given, labels = gaps()
    result = pair(given, labels, output_attentions=True, output_hidden_states=True)
    own = pair.generator(given, output_attentions=True, output_hidden_states=True)
    judged = pair.discriminator(
        result.corrupted_ids, output_attentions=True, output_hidden_states=True
    )
    for name, alone in (("generator", own), ("discriminator", judged)):
        for kind in ("hidden_states", "attentions"):
            for one, other in zip(result[f"{name}_{kind}"], alone[kind], strict=True):
                torch.testing.assert_close(one, other)


def test_scores_that_are_no_numbers_are_named():
    given, labels = gaps()
    for wrong in (math.nan, math.inf):
        logits = torch.zeros(2, 6, 23)
        logits[0, 1, 5] = wrong
    logits = torch.full((2, 6, 23), -math.inf)
    logits[..., 5] = 0
    corrupted, _ = ElectraPair.corrupt(given, labels, logits)
    assert (corrupted[labels != IGNORED] == 5).all()


def test_no_gradient_goes_through_the_draw():
    """The discriminator's loss reaches the generator by the shared embeddings alone."""
    pair = shaken(ElectraPair(PAIR))
    result = pair(*gaps())
    result.discriminator_loss.backward(retain_graph=True)
    shared = set(pair.discriminator.parameters()) & set(pair.generator.parameters())
    assert len(shared) == 5
    for parameter in pair.generator.parameters():
        assert parameter.grad.any() if parameter in shared else parameter.grad is None
    result.generator_loss.backward()
    assert all(parameter.grad is not None for parameter in pair.generator.parameters())
    torch.testing.assert_close(result.loss, result.generator_loss + 50 * result.discriminator_loss)


def test_the_discriminator_is_kept_and_stands_alone():
    pair = shaken(ElectraPair(PAIR))
    given, labels = gaps()
    result = pair(given, labels)
    alone = pair.without_generator()
    known = alone(result.corrupted_ids).logits
    assert torch.equal(known, result.discriminator_logits)
    with torch.no_grad():
        pair.discriminator.bert.embeddings.word.weight.zero_()
    assert torch.equal(alone(result.corrupted_ids).logits, known)
    tuned = ElectraForSequenceClassification.on_top_of(alone, num_labels=2)
    assert torch.equal(tuned.bert(given).last_hidden_state, alone.bert(given).last_hidden_state)
    named = r"needs .*Electra.* but got .*ElectraPair's discriminator or generator"
    with pytest.raises(CourseError, match=named):
        ElectraForSequenceClassification.on_top_of(pair)


@pytest.mark.parametrize("width", [4, 5, 12])
def test_both_models_can_be_saved_apart(tmp_path, width):
    pair = shaken(ElectraPair(replace(PAIR, discriminator=replace(SMALL, embedding_size=width))))
    given, labels = gaps()
    result = pair(given, labels)
    for model, name in zip(
        (copy.deepcopy(pair.generator), pair.without_generator()),
        ("generator", "discriminator"),
        strict=True,
    ):
        assert not set(model.parameters()) & set(pair.parameters())
        model.save(tmp_path / name)
        again = type(model).load(tmp_path / name)
        read = given if name == "generator" else result.corrupted_ids
        assert torch.equal(again(read).logits, result[f"{name}_logits"])
        theirs = type(model).from_transformers(model.to_transformers())
        assert torch.equal(theirs(read).logits, result[f"{name}_logits"])


def test_the_pair_has_no_counterpart_of_its_own():
    with pytest.raises(CourseError, match="no counterpart of ElectraPair"):
        ElectraPair(PAIR).to_transformers()


@pytest.mark.parametrize("source", [ElectraForPreTraining, ElectraForMaskedLM])
@pytest.mark.parametrize("kind", HEADS, ids=lambda kind: kind.__name__)
def test_a_head_stands_on_pretrained_weights(kind, source):
    pretrained = shaken(source(SMALL))
    model = kind.on_top_of(pretrained, num_labels=4)
    own, known = model.state_dict(), pretrained.state_dict()
    same = {name for name in own if name in known and torch.equal(own[name], known[name])}
    if kind is source:
        assert same == own.keys() == known.keys()
    else:
        assert same == {name for name in own if name.startswith("bert.")}


@pytest.mark.parametrize("kind", HEADS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("width", [5, 12])
def test_every_head_converts_whatever_the_number_of_labels(kind, width):
    for number in (1, 2, 3):
        model = kind(replace(SMALL, num_labels=number, embedding_size=width))
        state = kind.from_transformers(model.to_transformers()).state_dict()
        assert all(torch.equal(state[name], own) for name, own in model.state_dict().items())


def test_the_settings_come_back_from_the_library():
    config = replace(SMALL, summary_last_dropout=0.3, hidden_dropout_prob=0.2)
    assert Electra.from_transformers(Electra(config).to_transformers()).config == config


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"is_decoder": True}, "is_decoder=True"),
    ],
    ids=str,
)
def test_a_reference_with_what_ours_lacks_is_refused(settings, words):
    small = {"vocab_size": 23, "hidden_size": 12, "num_attention_heads": 3, "num_hidden_layers": 1}
    theirs = transformers.ElectraConfig(**small, **settings)
    with pytest.raises(CourseError, match=words):
        Electra.from_transformers(transformers.ElectraModel(theirs))


def test_an_untied_output_and_another_architecture_have_no_counterpart():
    reference = ElectraForMaskedLM(SMALL).to_transformers()
    reference.generator_lm_head.weight = torch.nn.Parameter(torch.zeros(23, 5))
    with pytest.raises(CourseError, match=r"generator_lm_head\.weight \(23, 5\) and .*word"):
        ElectraForMaskedLM.from_transformers(reference)
    with pytest.raises(CourseError, match=r"cannot be built from BertModel.*Give ElectraModel"):
        Electra.from_transformers(Bert(BERT).to_transformers())


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "other",
    [
        BertConfig.tiny(),
        None,
    ],
    ids=["BERT's", "None"],
)
def test_a_pair_of_other_models_is_refused(other):
    with pytest.raises(CourseError, match=r"discriminator got .*Give ElectraConfig\(…\)"):
        ElectraPair(ElectraPairConfig(other))


FIVE = torch.ones(2, 5, dtype=torch.long)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (FIVE * 2, "labels holds the number 2.* 1 is for a replaced token"),
        (FIVE.float(), "labels has the type torch.float32"),
    ],
)
def test_bad_labels_are_named(labels, words):
    with pytest.raises(CourseError, match=words):
        ElectraForPreTraining(SMALL)(FIVE, labels=labels)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"labels": FIVE * 23}, "labels holds the number 23"),
        ({"labels": FIVE[:, :3]}, r"labels has shape \(2, 3\)"),
    ],
)
def test_what_the_pair_cannot_read_is_named(given, words):
    with pytest.raises(CourseError, match=words):
        ElectraPair(PAIR)(**({"input_ids": FIVE, "labels": FIVE} | given))


def test_a_text_without_gaps_is_read_as_it_is():
    given = ids(2, 5)
    result = ElectraPair(PAIR)(given, torch.full((2, 5), IGNORED))
    result.loss.backward()
    assert result.generator_loss == 0 and torch.equal(result.corrupted_ids, given)
