"""The gap table: what can be computed by hand comes out, and the exact answer has no gap."""

import json
from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models

from lmcourse import hub
from lmcourse.corpus import BookWorld
from lmcourse.corpus.bookworld import END
from lmcourse.corpus.bookworld.floors import hidden_positions
from lmcourse.errors import CourseError
from lmcourse.evaluation import exact
from lmcourse.evaluation.agreement import VerbNumber
from lmcourse.evaluation.agreement import divergence as divergence_of_numbers
from lmcourse.evaluation.gap_tables import GapTable, Sums, caption
from lmcourse.evaluation.gaps import divergence, gap_table
from lmcourse.evaluation.phenomena import AGREEMENT, ALL, CLASSES, NAMES, Phenomena
from lmcourse.evaluation.predictors import of_causal, of_masked
from lmcourse.models.bert import BertConfig
from lmcourse.models.bert_heads import BertForMaskedLM
from lmcourse.models.gpt import GPTConfig, GPTForCausalLM
from lmcourse.models.ngram import NGramModel
from research.pretrain.records import table_numbers

WORLD = BookWorld()
WIDTH = len(WORLD.vocabulary)
REVIEWS = WORLD.sample(20, 77)
STREAM = [id_ for review in WORLD.sample(60, 1) for id_ in review.ids]
NUMBERS = ("loss", "gap", "difference")


@cache
def _next_tokens(tokens):
    return WORLD.next_tokens(tokens)


def next_tokens(tokens):
    """The world's own answer, computed once a review for all of these tests."""
    return _next_tokens(tuple(tokens)).copy()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path / "cache"))


def uniform(tokens, hidden=None):
    count = len(tokens) + 1 if hidden is None else len(hidden)
    return np.full((count, WIDTH), 1 / WIDTH)


SINGULAR, PLURAL = ("is", "seems", "feels"), ("are", "seem", "feel")


def number_by_hand(p, q, verb):
    """KL and loss of a verb's number, given that it is a verb that agrees."""
    both = []
    for row in (p, q):
        one, several = (sum(row[WORLD.encode([it])[0]] for it in its) for its in (SINGULAR, PLURAL))
        both.append((one / (one + several), several / (one + several)))
    gap = sum(a * np.log(a / b) for a, b in zip(*both, strict=True) if a > 0)
    return gap, -np.log(both[1][verb in PLURAL])


def by_hand(rows_of, kind="causal", reviews=REVIEWS):
    """For each word class and some phenomena: count, mean KL, mean loss; a loop over tokens."""
    found = defaultdict(list)
    classes = {part: name for name, parts in CLASSES.items() for part in parts}
    for review in reviews:
        tokens, parts = [*review.tokens, END], [*review.parts_of_speech, "PUNCT"]
        if kind == "causal":
            places, p = range(len(tokens)), next_tokens(review.tokens)
        else:
            places = hidden_positions(review)
            p = WORLD.masked_posterior(tokens, places)
        q = rows_of(review, list(places))
        verbs = {it.verb: it.attractors for it in review.agreements}
        for k, place in enumerate(places):
            gap = sum(p[k, w] * np.log(p[k, w] / q[k, w]) for w in np.flatnonzero(p[k]))
            both = gap, -np.log(q[k, WORLD.encode([tokens[place]])[0]])
            names = [ALL, classes[parts[place]]]
            if place in verbs:
                found[AGREEMENT[min(3, verbs[place])]].append(
                    number_by_hand(p[k], q[k], tokens[place])
                )
            if place < len(tokens) - 1 and review.antecedents[place]:
                names.append("pronouns of characters")
            if place < len(tokens) - 1 and review.senses[place] not in (None, "rating"):
                names.append("ambiguous nouns")
            if review.senses[place + 1 : place + 2] == ["rating"]:
                names.append("ratings: stars")
            for name in names:
                found[name].append(both)
    return {name: (len(it), *np.mean(it, 0)) for name, it in found.items()}


def check_by_hand(table, wanted):
    assert len(wanted) >= 10
    for name, (count, gap, loss) in wanted.items():
        assert table.count(name) == count, name
        np.testing.assert_allclose(table.gap(name).value, gap, rtol=1e-9, err_msg=name)
        np.testing.assert_allclose(table.loss(name).value, loss, rtol=1e-9, err_msg=name)


# ------------------------------------------------------------------- what is known beforehand


def test_a_uniform_model_misses_what_the_entropy_leaves():
    table = gap_table(uniform, WORLD, reviews=REVIEWS)
    wanted = by_hand(lambda review, places: uniform(review.tokens))
    check_by_hand(table, wanted)
    # In closed form: KL(p ‖ uniform) = log V − H(p).
    rows = np.concatenate([next_tokens(review.tokens) for review in REVIEWS])
    entropy = -(rows[rows > 0] * np.log(rows[rows > 0])).sum() / len(rows)
    assert table.gap().value == pytest.approx(np.log(WIDTH) - entropy, abs=1e-12)
    assert table.loss("nouns").value == pytest.approx(np.log(WIDTH), abs=1e-12)


def unigram_by_hand():
    """(c(w) + T/V) / (c + T): Witten and Bell's, over the uniform distribution."""
    counts = Counter(STREAM)
    return np.array(
        [(counts[w] + len(counts) / WIDTH) / (len(STREAM) + len(counts)) for w in range(WIDTH)]
    )


def test_a_unigram_model():
    q = unigram_by_hand()
    table = gap_table(NGramModel(STREAM, 0, WIDTH), WORLD, reviews=REVIEWS)
    check_by_hand(table, by_hand(lambda review, places: np.tile(q, (len(places), 1))))


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_a_bigram_model(kind):
    lower, followers = unigram_by_hand(), defaultdict(Counter)
    for before, token in pairwise(STREAM):
        followers[before][token] += 1

    def after(before):
        c = followers[before]
        if not c:
            return lower
        counts = np.array([c[w] for w in range(WIDTH)])
        return (counts + len(c) * lower) / (counts.sum() + len(c))

    def rows_of(review, places):
        ids = [0, *review.ids]  # behind the end of the review before
        if kind == "causal":
            return np.array([after(ids[place]) for place in places])
        unseen = {*places}  # a hole tells nothing
        return np.array([lower if at - 1 in unseen else after(ids[at]) for at in places])

    table = gap_table(NGramModel(STREAM, 1, WIDTH), WORLD, kind=kind, reviews=REVIEWS)
    check_by_hand(table, by_hand(rows_of, kind))


@pytest.mark.parametrize(
    "kind, model", [("causal", WORLD.next_tokens), ("masked", WORLD.masked_posterior)]
)
def test_the_exact_answer_has_no_gap(kind, model):
    table = gap_table(model, WORLD, kind=kind, reviews=REVIEWS[:12])
    for name in table.phenomena:
        assert 0 <= table.gap(name).value < 1e-9
        assert abs(table.difference(name).value) < 1e-9
    assert not table.saw_targets()
    floors = WORLD.floor(REVIEWS[:12])
    floor = floors.language if kind == "causal" else floors.masked
    assert table.count() == floor.tokens
    np.testing.assert_allclose(table.floor()[:2], (floor.nats, floor.error), rtol=1e-9)


# ------------------------------------------------------------------------- rows and their errors


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_word_classes_add_up_to_all(kind):
    table = gap_table(uniform, WORLD, kind=kind, reviews=REVIEWS)
    members = [table.phenomena.index(name) for name in CLASSES]
    sums = table.models["model"]
    for numbers in (table.tokens, table.floors, sums.loss, sums.gap):
        np.testing.assert_allclose(numbers[members].sum(0), numbers[0], rtol=1e-12)
    assert table.phenomena[0] == ALL and set(table.phenomena) <= set(NAMES)


def test_phenomena_are_those_of_the_labels():
    phenomena = Phenomena(WORLD)
    counts = Counter()
    for review in WORLD.sample(150, 5):
        row = dict(zip(NAMES, phenomena.of(review), strict=True))
        registers = [tag.register for tag in review.tags]
        for name in ("hero", "second"):
            places = [i for i, register in enumerate(registers) if register == name]
            assert [row["characters, first mention"][i] for i in places] == [
                k == 0 for k in range(len(places))
            ]
            assert all(row["characters, repeated mention"][i] for i in places[1:])
        assert sum(row[name].sum() for name in AGREEMENT) == len(review.agreements)
        said = {review.tokens[i] for i in np.flatnonzero(row["ratings: stars"][:-1])}
        stars = ("one", "two", "three", "four", "five")
        assert said <= {stars[review.rating - 1]}
        assert row["names"][row["characters, first mention"]].all()
        assert row["nouns"][row["topic nouns"] | row["ambiguous nouns"]].all()
        counts.update({name: int(it.sum()) for name, it in row.items()})
    assert all(counts[name] >= 10 for name in NAMES), counts
    assert {"superb", "charming", "awful"} <= phenomena.verdicts
    assert not {"old", "small", "first"} & phenomena.verdicts
    assert "magic" in phenomena.topics and "neighbor" not in phenomena.topics


def test_topic_nouns_are_said_in_one_genre():
    """Counted in 1,200 reviews, against what is computed of the grammar."""
    topics, counts = Phenomena(WORLD).topics, defaultdict(Counter)
    for review in WORLD.sample(1200, 9):
        for token, tag in zip(review.tokens, review.tags, strict=True):
            if tag.part_of_speech == "NOUN" and tag.register is None:
                counts[token][review.genre] += 1
    checked = 0
    for noun, genres in counts.items():
        n, share = genres.total(), genres.most_common(1)[0][1] / genres.total()
        if n >= 30 and abs(share - 0.5) > 4 * 0.5 / n**0.5:  # beyond four standard errors
            assert (noun in topics) == (share > 0.5), (noun, n, share)
            checked += 1
    assert checked > 100


def table_of(counts, loss, gap, floors=None):
    floors = np.zeros_like(loss) if floors is None else floors
    names = tuple(NAMES[: len(counts)])
    return GapTable("causal", "k", names, counts, floors, {"m": Sums(loss, gap)})


def test_errors_are_those_of_a_bootstrap_over_reviews():
    draw = np.random.default_rng(3)
    reviews = 200
    own = draw.normal(1, 0.3, reviews)  # the tokens of one review are alike
    counts = np.stack([draw.integers(80, 200, reviews), draw.poisson(0.7, reviews)])
    loss, gap, floor = (
        np.stack([(own * scale + draw.normal(0, 0.2, reviews)) * row for row in counts])
        for scale in (2, 1, 0.5)
    )
    table = table_of(counts, loss, gap, floor)
    picked = draw.integers(0, reviews, (4000, reviews))
    for row, name in enumerate(table.phenomena):
        below = counts[row][picked].sum(1)
        for what, sums in zip(NUMBERS, (loss, gap, loss - floor), strict=True):
            resampled = sums[row][picked].sum(1) / below
            found = getattr(table, what)(name)
            assert found.value == pytest.approx(sums[row].sum() / counts[row].sum())
            assert found.error == pytest.approx(resampled.std(), rel=0.08), (name, what)


def test_the_error_of_a_comparison_is_paired():
    draw = np.random.default_rng(0)
    counts = np.full((1, 100), 150)
    hard = draw.normal(3, 1, (1, 100))  # what is hard for one is hard for the other
    first, second = (Sums(g, g) for g in ((hard + 0.1) * 150, hard * 150 + draw.normal(0, 1, 100)))
    table = GapTable("causal", "k", (ALL,), counts, counts * 1.0, {"a": first, "b": second})
    found = table.compare("a", "b")
    assert found.value == pytest.approx(0.1, abs=4 * found.error)
    assert found.error < table.gap(ALL, "a").error / 10
    assert table.compare("b", "a").value == -found.value


def test_one_review_has_no_error():
    table = gap_table(uniform, WORLD, reviews=1)
    assert np.isnan(table.gap().error) and "±" in repr(table) and "?" in repr(table)
    assert not table.saw_targets()
    # Nor has a row that only one of many reviews has.
    counts = np.array([[100, 90, 80], [0, 2, 0]])
    found = table_of(counts, counts * 1.5, counts * 1.0)
    assert np.isnan(found.gap("function words").error)


# ------------------------------------------------------------------------------------- cheating


def peeking(share):
    """The exact answer, mixed with what does stand there."""

    def predict(tokens):
        ids = WORLD.encode([*tokens, END])
        rows = next_tokens(tokens) * (1 - share)
        rows[np.arange(len(ids)), ids] += share
        return rows

    return predict


def test_a_bad_model_that_sees_its_targets_is_found_out_too():
    """Its loss is above the floor, but far below what its gap would make of it."""

    def predict(tokens):
        ids, rows = WORLD.encode([*tokens, END]), uniform(tokens) * 0.8
        rows[np.arange(len(ids)), ids] += 0.2
        return rows

    table = gap_table(predict, WORLD, reviews=REVIEWS[:12])
    assert table.difference().value > 0 and table.saw_targets()


def test_a_model_that_sees_its_targets_is_found_out():
    models = {"whole": peeking(1.0), "half": peeking(0.5), "a little": peeking(0.05)}
    honest = {"uniform": uniform, "bigram": NGramModel(STREAM, 1, WIDTH), "e": next_tokens}
    table = gap_table(models | honest, WORLD, reviews=REVIEWS)
    for name in models:
        assert table.saw_targets(name), name
        assert table.difference(ALL, name).value < 0 <= table.gap(ALL, name).value
        assert f"{name} had access to its targets" in repr(table)
    assert table.gap(ALL, "whole")[:2] == (np.inf, pytest.approx(np.nan, nan_ok=True))
    assert table.loss(ALL, "whole").value == 0
    for name in honest:
        assert not table.saw_targets(name)
        for phenomenon in table.phenomena:
            assert table.gap(phenomenon, name).value >= 0


def test_sums_that_miss_one_are_no_gap():
    """What float32 leaves out of a distribution is none of the model's knowledge."""
    for factor in (1 - 9e-6, 1 + 9e-6):
        table = gap_table(lambda t, by=factor: next_tokens(t) * by, WORLD, reviews=REVIEWS[:3])
        assert table.gap().value < 1e-9 and abs(table.difference().value) < 1e-9


def test_rounding_is_no_cheat():
    counts = np.full((1, 50), 150)
    floors = np.random.default_rng(0).normal(150, 5, (1, 50))
    close = table_of(counts, floors - 1e-12 * floors, floors * 0, floors)
    assert close.difference().value < -20 * close.difference().error < 0
    assert not close.saw_targets()
    assert table_of(counts, floors - 1e-3 * floors, floors * 0, floors).saw_targets()


def test_loss_minus_floor_is_the_gap_but_for_chance():
    """Also of a model that is nearly right, and of one that is sure of the wrong."""
    draw = np.random.default_rng(1)

    def noisy(tokens):
        rows = next_tokens(tokens)
        rows = rows * np.exp(draw.normal(0, 1, rows.shape)) + 1e-6
        return rows / rows.sum(1, keepdims=True)

    def sharp(tokens):
        rows = next_tokens(tokens) ** 3 + 1e-9
        return rows / rows.sum(1, keepdims=True)

    models = {"uniform": uniform, "noisy": noisy, "sharp": sharp}
    table = gap_table(models, WORLD, reviews=REVIEWS)
    for name in models:
        gap, found = table.gap(ALL, name), table.difference(ALL, name)
        assert gap.value > 5 * gap.error and gap.error < 2 * found.error
        assert abs(found.value - gap.value) < 4 * found.error
        assert not table.saw_targets(name)


def test_names_expected_too_readily_are_cheap_only_as_a_loss():
    names = {
        it
        for r in REVIEWS
        for it, tag in zip(r.tokens, r.tags, strict=True)
        if tag.register == "hero"
    }
    columns = WORLD.encode(sorted(names))

    def predict(tokens):
        rows = next_tokens(tokens)
        rows[:, columns] *= 20
        return rows / rows.sum(1, keepdims=True)

    table = gap_table(predict, WORLD, reviews=REVIEWS)
    assert table.difference("characters, repeated mention").value < 0
    assert table.gap("characters, repeated mention").value > 0.1
    assert not table.saw_targets()


def test_hidden_tokens_are_not_handed_over():
    seen = []

    def predict(tokens, hidden):
        seen.append((tokens, hidden))
        return uniform(tokens, hidden)

    gap_table(predict, WORLD, kind="masked", reviews=REVIEWS[:3])
    for review, (tokens, hidden) in zip(REVIEWS, seen, strict=False):
        assert hidden == hidden_positions(review)
        assert {tokens[place] for place in hidden} == {END}
        rest = [i for i in range(len(review.tokens)) if i not in hidden]
        assert [tokens[i] for i in rest] == [review.tokens[i] for i in rest]


# ------------------------------------------------------------------------------ tables and forms


def test_an_impossible_word_costs_infinitely_much():
    row = (np.arange(WIDTH) % 2 == 0) / ((WIDTH + 1) // 2)  # half of the words never come
    half = {"half": lambda tokens: np.tile(row, (len(tokens) + 1, 1)), "uniform": uniform}
    table = gap_table(half, WORLD, reviews=REVIEWS[:5])
    assert table.gap(ALL, "half").value == np.inf and not table.saw_targets("half")
    assert "∞" in repr(table) and np.isfinite(table.gap(ALL, "uniform").value)
    assert np.isinf(table.compare("half", "uniform").value)
    both = table | gap_table({"other": half["half"]}, WORLD, reviews=REVIEWS[:5])
    assert np.isnan(both.compare("half", "other").value)  # ∞ − ∞
    assert str(both.compare("half", "other")) == "?"


def test_what_is_infinite_in_one_row_is_not_in_the_others():
    def endless(tokens):
        rows = uniform(tokens)
        rows[:, WORLD.vocabulary.index(END)] = 0
        return rows / rows.sum(1, keepdims=True)

    table = gap_table(endless, WORLD, reviews=REVIEWS[:3])
    for name in table.phenomena:
        infinite = name in (ALL, "punctuation and end")
        assert np.isinf(table.loss(name).value) == infinite, name
    assert np.isfinite(table.gap("verbs").value)


def test_tables_come_together():
    both = gap_table({"u": uniform, "e": next_tokens}, WORLD, reviews=REVIEWS[:6])
    one = gap_table({"u": uniform}, WORLD, reviews=REVIEWS[:6])
    two = gap_table({"e": next_tokens}, WORLD, reviews=REVIEWS[:6])
    assert repr(one | two) == repr(both)
    assert json.dumps(table_numbers(one | two)) == json.dumps(
        table_numbers(both)
    )  # where nan is nan
    other = gap_table({"e": next_tokens}, WORLD, reviews=REVIEWS[1:7])
    with pytest.raises(CourseError, match=r"different reviews \(6 and 6 of them\).*same world"):
        one | other
    masked = gap_table({"e": uniform}, WORLD, kind="masked", reviews=REVIEWS[:6])
    with pytest.raises(CourseError, match=r"different kinds \(causal, masked\)"):
        one | masked


def test_all_forms_say_the_same():
    name = "<b>|LSTM"
    one = gap_table({name: uniform}, WORLD, reviews=REVIEWS[:6])
    table = one | gap_table({"bigram": NGramModel(STREAM, 1, WIDTH)}, WORLD, reviews=REVIEWS[:6])
    gap = str(table.gap("nouns", name))
    plain, html = repr(table), table._repr_html_()
    for form in (plain, html):
        assert gap in form and "causal, 6 reviews" in form
    assert "<b>" not in html and "&lt;b&gt;|LSTM" in html
    assert all(word in repr(one) for word in ("loss − floor", "tokens", "floor", "gap"))
    found = json.loads(json.dumps(table_numbers(table)))
    row = next(it for it in found["rows"] if it["phenomenon"] == "nouns")
    assert row["tokens"] == table.count("nouns")
    assert row["models"][name]["gap"] == table.gap("nouns", name)._asdict()
    assert caption(gap_table(uniform, WORLD, reviews=1)).endswith("1 review).")


# ------------------------------------------------------------------------------- what is kept


def test_exact_answers_are_computed_once(monkeypatch):
    monkeypatch.setattr(exact, "KEPT", 3)
    reviews = REVIEWS[:4]
    first = {k: exact.exact_answers(WORLD, reviews, k) for k in ("causal", "masked")}

    def never(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(exact, "_computed", never)
    for kind, answers in first.items():
        assert exact.exact_answers(WORLD, reviews, kind) is answers  # from memory
    monkeypatch.setattr(exact, "_RECENT", {})
    for kind, answers in first.items():  # from the file
        for found, wanted in zip(exact.exact_answers(WORLD, reviews, kind), answers, strict=True):
            for a, b in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(a, b)
    with pytest.raises(AssertionError, match="computed again"):  # others are not taken for these
        exact.exact_answers(WORLD, reviews[1:], "causal")


def test_masked_answers_are_of_a_reviews_own_places(monkeypatch):
    """Which tokens are hidden depends on a review's seed and index, not on its words."""
    monkeypatch.setattr(exact, "_RECENT", {})
    review = REVIEWS[0]
    twins = [review, replace(review, index=review.index + 1), replace(review, seed=3)]
    assert len({tuple(hidden_positions(it)) for it in twins}) == 3
    for twin in twins:
        (answer,) = exact.exact_answers(WORLD, [twin], "masked")
        assert answer.positions.tolist() == hidden_positions(twin)
    assert len({exact.answers_key(WORLD, [it], "masked") for it in twins}) == 3


@pytest.mark.parametrize("harm", ["flip", "cut", "empty", "other", "pickle"])
def test_a_damaged_file_is_made_anew(harm, tmp_path, monkeypatch):
    monkeypatch.setattr(exact, "KEPT", 1)
    monkeypatch.setattr(exact, "_RECENT", {})
    wanted = exact.exact_answers(WORLD, REVIEWS[5:7], "causal")
    wanted = [[it.tolist() for it in answer] for answer in wanted]
    path = next((tmp_path / "cache").rglob("*.npz"))
    content = bytearray(path.read_bytes())
    if harm == "flip":
        content[len(content) // 2] ^= 1
    path.write_bytes(content[: len(content) // 3] if harm == "cut" else content)
    if harm == "empty":
        path.write_bytes(b"")
    if harm == "other":
        np.savez(path, predicted=np.array([1]))
    if harm == "pickle":
        np.savez(path, predicted=np.array([{}], dtype=object))
    monkeypatch.setattr(exact, "_RECENT", {})
    found = exact.exact_answers(WORLD, REVIEWS[5:7], "causal")
    assert [[it.tolist() for it in answer] for answer in found] == wanted


def test_a_cache_that_cannot_be_written_is_no_matter(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(exact, "KEPT", 1)
    monkeypatch.setattr(exact, "_RECENT", {})
    assert len(exact.exact_answers(WORLD, REVIEWS[7:9], "causal")) == 2


# ------------------------------------------------------------------------------------ bad input


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "change, message",
    [
        ({"reviews": []}, "no review to measure"),
        ({"kind": "prefix"}, "kind 'prefix' is not known"),
        ({"models": [uniform, uniform]}, r"2 models without names.*by name"),
        ({"models": WORLD.masked_posterior}, r"is not a function of \(tokens\).*kind='masked'"),
        ({"models": "bert"}, r"'bert' is not a function"),
        ({"models": {"m": lambda t: uniform(t)[1:]}}, r"m, review 0: .* returned the shape"),
        ({"models": lambda t: uniform(t) * 1.01}, "not a distribution: .* its sum 1.01"),
        (
            {"models": lambda t: np.log(uniform(t))},
            "not a distribution: its smallest number is -7.3",
        ),
        ({"models": NGramModel([1, 2, 3], 1, 10)}, "The model predicts 10 tokens"),
    ],
)
def test_bad_input_is_refused(change, message):
    settings = {"models": uniform, "reviews": 2, **change}
    with pytest.raises(CourseError, match=message):
        gap_table(settings.pop("models"), settings.pop("world", WORLD), **settings)


@pytest.mark.bad_input
def test_a_long_description_of_a_model_is_cut():
    small = GPTConfig(vocab_size=WIDTH, hidden_size=16, num_hidden_layers=1, num_attention_heads=2)
    with pytest.raises(CourseError) as error:
        gap_table({"a": [GPTForCausalLM(small)] * 2}, WORLD, reviews=2)
    assert len(str(error.value)) < 400


@pytest.mark.bad_input
def test_any_integer_number_of_reviews():
    assert gap_table(uniform, WORLD, reviews=np.int64(3)).tokens.shape[1] == 3


@pytest.mark.bad_input
def test_what_the_hub_loads_is_asked_with_its_tokenizers_ids():
    words = [word for word in WORLD.vocabulary if word != END]
    ids = {token: i for i, token in enumerate(["[UNK]", "[CLS]", "[SEP]", "[MASK]", *words[::-1]])}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    causal = GPTForCausalLM(GPTConfig(len(ids), **sizes))
    masked = BertForMaskedLM(BertConfig.tiny(vocab_size=len(ids), **sizes))
    for model, kind, of in ((causal, "causal", of_causal), (masked, "masked", of_masked)):
        loaded = hub.Loaded(model, tokenizer, (), "here")
        found = gap_table(loaded, WORLD, kind=kind, reviews=2)
        wanted = gap_table(of(model, WORLD, ids), WORLD, kind=kind, reviews=2)
        assert repr(found) == repr(wanted)
        with pytest.raises(CourseError, match=r"Loaded is no model.*loaded\.model"):
            of(loaded, WORLD)
    plain = GPTForCausalLM(GPTConfig(WIDTH, **sizes))
    found = gap_table(hub.Loaded(plain, None, (), ""), WORLD, reviews=2)
    assert repr(found) == repr(gap_table(plain, WORLD, reviews=2))


@pytest.mark.parametrize("kind, count", [("causal", 300), ("masked", 600)])
def test_by_default_the_test_split_is_read(kind, count, monkeypatch):
    class Stopped(Exception):
        pass

    def stop(world, reviews, asked):
        test = WORLD.split("test", count)
        assert [it.ids for it in reviews] == [it.ids for it in test] and len(test) == count
        raise Stopped

    monkeypatch.setattr("lmcourse.evaluation.gaps.exact_answers", stop)
    with pytest.raises(Stopped):
        gap_table(uniform, WORLD, kind=kind)


def test_rows_and_models_that_are_not_there():
    table = gap_table({"a": uniform, "b": uniform}, WORLD, reviews=REVIEWS[:2])
    with pytest.raises(CourseError, match=r"no row 'adverbs'.*'nouns'"):
        table.gap("adverbs", "a")
    with pytest.raises(CourseError, match=r"no model 'c'.*'a', 'b'"):
        table.gap(ALL, "c")
    with pytest.raises(CourseError, match=r"several models.*'a', 'b'"):
        table.loss()


def test_a_network_is_asked_as_it_is():
    """Also in float32, whose sums are not quite one; and its mode is left as it was."""
    torch.manual_seed(0)
    small = GPTConfig(vocab_size=WIDTH, hidden_size=16, num_hidden_layers=1, num_attention_heads=2)
    model = GPTForCausalLM(small).train()

    def predict(tokens):
        ids = torch.tensor([[0, *WORLD.encode(tokens)]])
        model.eval()
        with torch.no_grad():
            rows = model(ids).logits[0].softmax(-1)
        model.train()
        return rows

    table = gap_table({"ours": model, "by hand": predict}, WORLD, reviews=REVIEWS[:3])
    assert model.training
    for what in NUMBERS:
        mine, theirs = (getattr(table, what)("nouns", name) for name in ("ours", "by hand"))
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)


# ----------------------------------------------------------------------------------- agreement


def numberless(tokens):
    """The exact answer, but that each number is equally likely, whatever the subject."""
    rows = next_tokens(tokens)
    for one, several in zip(SINGULAR, PLURAL, strict=True):
        pair = WORLD.encode([one, several])
        rows[:, pair] = rows[:, pair].mean(1, keepdims=True)
    return rows


def verbless(tokens):
    """The exact number of a verb, in an answer that nearly never expects one."""
    rows = next_tokens(tokens)
    verbs = WORLD.encode([*SINGULAR, *PLURAL])
    rows[:, verbs] *= 1e-6
    return rows / rows.sum(1, keepdims=True)


def test_agreement_is_of_the_number_alone():
    models = {"uniform": uniform, "numberless": numberless, "verbless": verbless, "e": next_tokens}
    table = gap_table(models, WORLD, reviews=REVIEWS)
    rows = [name for name in AGREEMENT if name in table.phenomena]
    assert len(rows) >= 3
    for name in rows:
        assert table.floor(name).value == pytest.approx(0, abs=1e-9)  # the subject tells it
        for blind in ("uniform", "numberless"):
            assert table.gap(name, blind).value == pytest.approx(np.log(2), abs=1e-9)
            assert table.loss(name, blind).value == pytest.approx(np.log(2), abs=1e-9)
        for knows in ("verbless", "e"):
            assert table.gap(name, knows).value == pytest.approx(0, abs=1e-9)
            assert table.loss(name, knows).value == pytest.approx(0, abs=1e-9)
    assert table.gap(ALL, "verbless").value > table.gap(ALL, "numberless").value > 0
    assert not any(table.saw_targets(name) for name in models)
    forms = repr(table), table._repr_html_()
    assert all("agreeing verb" in form for form in forms)
    short = table_of(np.array([[9, 9]]), np.ones((1, 2)), np.ones((1, 2)))
    assert "a verb that agrees" not in repr(short)


def test_a_model_to_which_no_verb_is_possible_has_no_number():
    def never(tokens):
        rows = uniform(tokens)
        rows[:, WORLD.encode([*SINGULAR, *PLURAL])] = 0
        return rows / rows.sum(1, keepdims=True)

    table = gap_table(never, WORLD, reviews=REVIEWS)
    assert np.isinf(table.gap(AGREEMENT[1]).value) and np.isinf(table.loss(AGREEMENT[1]).value)


def test_the_number_is_a_part_of_the_whole():
    """The chain rule, at positions where such a verb is possible."""
    number = VerbNumber(WORLD)
    assert [[WORLD.vocabulary[i] for i in ids] for ids in number.forms] == [
        sorted(SINGULAR),
        sorted(PLURAL),
    ]
    draw = np.random.default_rng(0)
    review = REVIEWS[0]
    (answer,) = exact.exact_answers(WORLD, [review], "causal")
    p = next_tokens(review.tokens)
    q = draw.dirichlet(np.ones(WIDTH), len(p))
    of = divergence_of_numbers(number.exact(answer), number.model(q))
    checked = 0
    for k in [it.verb for it in review.agreements]:
        groups = [*number.forms, np.setdiff1d(np.arange(WIDTH), np.concatenate(number.forms))]
        a, b = ([row[ids].sum() for ids in groups] for row in (p[k], q[k]))
        verb, other = sum(a[:2]), sum(b[:2])
        whether = verb * np.log(verb / other)
        whether += (1 - verb) * np.log((1 - verb) / (1 - other)) if verb < 1 else 0
        within = sum(
            p[k, w] * np.log(p[k, w] / a[g] * b[g] / q[k, w])
            for g, ids in enumerate(groups)
            for w in ids
            if p[k, w] > 0
        )
        whole = divergence(answer, q)[k]
        assert whether + verb * of[k] + within == pytest.approx(whole)
        checked += 1
    assert checked
