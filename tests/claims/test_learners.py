"""What learns otherwise: masked once, in pairs, from vectors, from a teacher; what is measured."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from lmcourse import hub
from lmcourse.corpus.tasks import questions
from lmcourse.errors import CourseError
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.distilbert import DistilBertForMaskedLM
from lmcourse.models.electra import ElectraForQuestionAnswering
from lmcourse.models.embeddings import Embeddings
from lmcourse.models.inputs import IGNORED
from lmcourse.models.spanbert import SpanBertForQuestionAnswering
from lmcourse.models.word2vec import SkipGram
from lmcourse.tokenizers import words
from lmcourse.training.examples import padded
from research.claims import (
    electra,
    encoders,
    masks,
    measures,
    runs,
    scale,
    span_questions,
    students,
    table,
)
from research.claims.claim import Run
from research.claims.measures import Measured
from research.claims.scale import BASE, SIZES

CPU = torch.device("cpu")
AS_DRAWN = pytest.approx(SIZES["initializer_range"], rel=0.15)  # a cut normal's is 12 % less


def drawn(recipe, world, epochs):
    """Which places of the first batch are asked for in each epoch."""
    torch.manual_seed(0)
    network = recipe.built(world)
    objective = recipe.objective(network)
    examples = words.examples(world.split("train", 3))
    found = []
    for epoch in range(epochs):
        batch = measures.padded(examples, words.PAD)
        batch |= {"example": torch.arange(3), "epoch": torch.full((3,), epoch)}
        chance = torch.Generator().manual_seed(epoch)
        found.append((objective.sample(batch, chance)["labels"] != IGNORED).numpy().tobytes())
    return found


@pytest.mark.parametrize(("variant", "different"), [(0, 1), (1, 10), (2, 12)])
def test_static_masks_repeat_and_dynamic_ones_do_not(world, variant, different):
    recipe = masks.DYNAMIC.variants[variant].plans[0].recipe
    assert len(set(drawn(recipe, world, 12))) == different


def test_another_seed_has_other_static_masks(world):
    recipe = masks.DYNAMIC.variants[0].plans[0].recipe
    known = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        known.append(recipe.objective(recipe.built(world)).masking.seed)
    assert known[0] != known[1]


@pytest.mark.parametrize("asks", ["next", "order"])
def test_pairs_are_of_one_sentence_each_and_half_of_them_follow(world, asks):
    recipe = masks._pairs(asks).recipe
    examples = replace(recipe, budget=replace(recipe.budget, reviews=100)).examples(world)
    follows = np.array([one["next_sentence_label"] == 0 for one in examples])
    known = {
        tuple(words.ids(world)[token] for token in review.tokens[s.start : s.end])
        for review in world.sample(100, recipe.budget.reviews_seed)
        for s in review.sentences
    }
    assert 0.4 < follows.mean() < 0.6 or asks == "next"
    assert 0.3 < follows.mean() < 0.6
    for one in examples[:200]:
        ids = one["input_ids"]
        cut = ids.index(words.SEP)
        assert {tuple(ids[1:cut]), tuple(ids[cut + 1 : -1])} <= known


def test_places_start_as_sinusoids_that_are_as_long_as_what_was_drawn(world):
    for recipe in (BASE, electra.PAIR, masks._BOUNDARY, masks._pairs("next").recipe):
        tables = {
            id(part.position): part.position.weight
            for part in recipe.built(world).modules()
            if isinstance(part, Embeddings)
        }
        for table_ in tables.values():
            assert table_.std().item() == AS_DRAWN
            near = torch.cosine_similarity(table_[:-1], table_[1:])
            assert near.std() < 1e-4 < near.mean()  # the same turn at all places
    drawn_ = scale.DRAWN.recipe.built(world).bert.embeddings.position.weight
    assert torch.cosine_similarity(drawn_[:-1], drawn_[1:]).std() > 0.05
    relative = scale.RELATIVE.recipe.built(world)
    assert not any(
        isinstance(it, Embeddings) and hasattr(it, "position") for it in relative.modules()
    )


def test_words_start_from_the_vectors_as_long_as_they_were_drawn(world):
    size = words.size(world)
    torch.manual_seed(0)
    vectors = SkipGram(SkipGram.Config(size, 64))
    torch.nn.init.normal_(vectors.input_embeddings.weight, std=3.0)
    for plan in (encoders.STARTED, encoders.STARTED_RELATIVE, encoders.STARTED_CAUSAL):
        network = plan.recipe.with_given(vectors).built(world)
        (table_,) = [part.word for part in network.modules() if isinstance(part, Embeddings)]
        ratio = table_.weight / vectors.vectors
        assert torch.allclose(ratio, ratio[0, 0].expand_as(ratio), rtol=1e-4)
        assert table_.weight.std().item() == AS_DRAWN
    bilm = encoders.STARTED_BILM.recipe.with_given(vectors).built(world).elmo.tokens.weight
    ratio = bilm / vectors.vectors
    assert torch.allclose(ratio, ratio[0, 0].expand_as(ratio), rtol=1e-4)
    assert bilm.std().item() == pytest.approx(1, abs=0.01)  # as torch.nn.Embedding draws it


def test_a_bilm_of_words_learns_from_both_sides(world):
    recipe = encoders.STARTED_BILM.recipe
    torch.manual_seed(0)
    network = recipe.with_given(SkipGram(SkipGram.Config(words.size(world), 64))).built(world)
    batch = padded(words.examples(world.sample(3, seed=4)))
    ((loss, count),) = recipe.objective(network)(batch)
    each = [
        network(input_ids=row[mask == 1][None], labels=row[mask == 1][None]).loss.item()
        for row, mask in zip(batch["input_ids"], batch["attention_mask"], strict=True)
    ]
    sizes = [2 * (int(mask.sum()) - 1) for mask in batch["attention_mask"]]
    assert count == sum(sizes)
    mean = sum(one * size for one, size in zip(each, sizes, strict=True)) / count
    assert loss.item() == pytest.approx(mean, rel=1e-5)


def test_a_student_starts_from_its_teachers_layers_or_not(world):
    teacher = students.TEACHES.recipe.built(world)
    known = {tuple(it.shape): it for it in teacher.state_dict().values()}
    assert known
    first = "bert.encoder.layers.0.attention.key.weight"
    of_teacher = students._TRIPLE.recipe.with_given(teacher)
    student = of_teacher.kept(of_teacher.built(world))
    assert isinstance(student, DistilBertForMaskedLM)
    same = [name for name, it in student.state_dict().items() if _in(it, teacher)]
    assert set(same) == set(student.state_dict()), first
    other = students._RANDOM.recipe.with_given(teacher)
    alone = other.kept(other.built(world))
    assert not _in(alone.state_dict()["bert.embeddings.word.weight"], teacher)
    assert isinstance(alone, BertForMaskedLM)


def _in(tensor, model):
    return any(
        it.shape == tensor.shape and torch.equal(it, tensor) for it in model.state_dict().values()
    )


def test_an_ablation_leaves_out_one_loss(world):
    teacher = students.TEACHES.recipe.built(world)
    weights = {}
    for one in students.ABLATIONS.variants:
        recipe = one.plans[0].recipe.with_given(teacher)
        config = recipe.built(world).config
        weights[one.name] = (config.alpha_ce, config.alpha_mlm, config.alpha_cos)
    assert weights == {
        "all three losses": (5, 2, 1),
        "no soft targets": (0, 2, 1),
        "no masked words": (5, 0, 1),
        "no cosine": (5, 2, 0),
        "random weights": (5, 2, 1),
    }


def test_the_given_network_is_no_part_of_the_configuration(world):
    teacher = students.TEACHES.recipe.built(world)
    recipe = students._TRIPLE.recipe
    assert recipe.with_given(teacher).config == recipe.config


# ------------------------------------------------------------------------------ span questions


def test_answers_stand_where_the_examples_say(world):
    asked = questions(world, 20, 5).examples
    of = {id_: word for word, id_ in words.ids(world).items()}
    for one, example in zip(asked, span_questions.as_examples(world, asked), strict=True):
        start, end = example["start_positions"], example["end_positions"]
        answer = tuple(of[id_] for id_ in example["input_ids"][start : end + 1])
        assert answer in {one.tokens[slice(*span)] for span in one.spans}


def test_the_best_span_ends_behind_its_start_and_is_short():
    starts, ends = torch.tensor([0.0, 5.0, 0.0, 4.0]), torch.tensor([9.0, 0.0, 3.0, 6.0])
    assert span_questions.best_span(starts, ends, 8) == (1, 3)
    assert span_questions.best_span(starts, ends, 1) == (3, 3)


def test_a_reader_who_knows_the_answers_has_all_of_them(world):
    asked = questions(world, 12, 6).examples
    examples = span_questions.as_examples(world, asked)
    by_ids = {tuple(one["input_ids"]): one for one in examples}

    class Knows(torch.nn.Module):
        def forward(self, input_ids, attention_mask):
            scores = torch.zeros(2, *input_ids.shape)
            lengths = attention_mask.sum(1).tolist()
            for row, length in enumerate(lengths):
                one = by_ids[tuple(input_ids[row, :length].tolist())]
                scores[0, row, one["start_positions"]] = 1
                scores[1, row, one["end_positions"]] = 1
            return type("Result", (), {"start_logits": scores[0], "end_logits": scores[1]})

    assert span_questions.scored(Knows(), world, asked, 5) == {"exact match": 1.0, "F1": 1.0}


def test_each_pretrained_model_gets_its_own_head(world):
    for pretrained, head in (
        (electra.PAIR, ElectraForQuestionAnswering),
        (masks._BOUNDARY, SpanBertForQuestionAnswering),
    ):
        body = pretrained.kept(pretrained.built(world))
        recipe = masks.tuned(encoders.BERT).recipe.with_given(body)
        assert type(recipe.built(world)) is head


# ------------------------------------------------------------------------------------ measures


def test_sense_of_an_untrained_mixer_keeps_the_vectors(world):
    vectors = SkipGram(SkipGram.Config(words.size(world), 64))
    torch.nn.init.normal_(vectors.input_embeddings.weight)
    mixer = measures.untrained_mixer(vectors)
    kept = mixer.bert.embeddings.word.weight / vectors.vectors
    assert torch.allclose(kept, kept[0, 0].expand_as(kept), rtol=1e-4)


def test_an_untrained_bilm_is_the_one_that_a_run_of_its_seed_trains(world):
    vectors = SkipGram(SkipGram.Config(words.size(world), 64))
    torch.nn.init.normal_(vectors.input_embeddings.weight)
    one, other = (measures.untrained_bilm(vectors, world, seed) for seed in (3, 4))
    torch.manual_seed(3)
    started = encoders.STARTED_BILM.recipe.with_given(vectors).built(world).state_dict()
    states = one.state_dict(), other.state_dict()
    assert all(torch.equal(states[0][name], it) for name, it in started.items())
    table = "elmo.tokens.weight"
    ratios = started[table] / vectors.vectors
    assert torch.allclose(ratios, ratios[0, 0].expand_as(ratios), rtol=1e-4)
    drawn = [name for name in started if "weight" in name and name != table]
    assert drawn and not any(torch.equal(states[0][name], states[1][name]) for name in drawn)
    scores = measures.untrained_bilm_sense(Measured(vectors, world, short=True, seed=3))
    assert scores["best layer"] > scores["layer 0"]


def test_a_static_vector_tells_no_sense_apart(world):
    vectors = SkipGram(SkipGram.Config(words.size(world), 16))
    torch.nn.init.normal_(vectors.input_embeddings.weight)
    scores = measures.static_sense(Measured(vectors, world, short=True))
    _, test = measures._sense_tasks(Measured(vectors, world, short=True))
    assert scores["static"] == pytest.approx(test.chance, abs=0.15)
    assert 0.9 < scores["exact"] <= 1


def test_a_student_that_is_its_teacher_retains_all(world):
    model = encoders.BERT.recipe.built(world).eval()
    found = measures.beside_teacher(Measured(model, world, source=model, short=True))
    assert (found["parameters"], found["times as small"]) == (1, 1)
    assert found["times as fast"] > 0


def test_speed_is_the_ratio_of_the_cpu_seconds_of_both(world, monkeypatch):
    clock = [0.0]

    class Takes(torch.nn.Module):
        def __init__(self, seconds):
            super().__init__()
            self.seconds = seconds

        def forward(self, input_ids, attention_mask):
            clock[0] += self.seconds

    monkeypatch.setattr(measures.time, "process_time", lambda: clock[0])
    assert measures.times_as_fast(Takes(1.0), Takes(3.0), world, 3) == 3.0


def test_sources_are_of_the_runs_own_seed_or_of_the_teachers():
    of_seed = Run(masks.tuned(encoders.BERT), 2).source
    of_teacher = Run(students._TRIPLE, 2).source
    assert (of_seed.seed, of_teacher.seed) == (2, 0)


def test_short_claims_are_short_all_the_way_down():
    for claim in table.CLAIMS.values():
        for one in claim.shortened(2).variants:
            for plan in one.plans:
                while plan is not None:
                    assert plan.recipe.budget.steps == 2
                    plan = plan.source


def test_a_shipped_model_takes_no_steps_and_is_what_the_course_ships(world, tmp_path):
    plan = students.TEACHES
    result = runs.perform(Run(plan, 0), ["size"], tmp_path, world)
    known = hub.load("bookworld-teacher").model.state_dict()
    kept = runs._model(Run(plan, 0), tmp_path, world).state_dict()
    assert result.steps == 0 and result.scores["size/parameters"] > 0
    assert set(kept) == set(known)
    assert all(torch.equal(kept[name], known[name]) for name in known)
    assert plan.shortened(2).recipe.config == plan.recipe.config
    digest = hub.shipped()["bookworld-teacher"].model.sha256
    assert plan.recipe.config == {"name": "bookworld-teacher", "sha256": digest}


def test_a_teacher_that_is_not_shipped_is_named(world):
    missing = replace(students.TEACHES.recipe, name="bookworld-gone")
    with pytest.raises(CourseError, match="bookworld-gone"):
        missing.built(world)
