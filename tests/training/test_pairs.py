"""Pairs and input formats: what is random comes from elsewhere, and no text is lost."""

import random
from collections import Counter
from itertools import chain, pairwise

import pytest
from scipy.stats import chisquare

from lmcourse.corpus import BookWorld
from lmcourse.errors import CourseError
from lmcourse.training.pairs import (
    Frame,
    doc_sentences,
    full_sentences,
    segment_pairs,
    sentence_pairs,
    swapped_pairs,
)

CLS, SEP = 1, 2


def corpus(count, seed=0, longest=9, sentences=7):
    """Documents whose ids are all different: an id tells its document, sentence and place."""
    draw, new = random.Random(seed), iter(range(10, 10**6))
    return [
        [
            [next(new) for _ in range(draw.randint(1, longest))]
            for _ in range(draw.randint(1, sentences))
        ]
        for _ in range(count)
    ]


def places(documents):
    """Of each id its document and its place in it."""
    return {
        token: (d, at)
        for d, document in enumerate(documents)
        for at, token in enumerate(chain.from_iterable(document))
    }


def texts(example):
    """A and B, out of their special tokens."""
    parts, ids = [[]], example["input_ids"]
    assert ids[0] == CLS and ids[-1] == SEP
    for token, special in zip(ids, example["special_tokens_mask"], strict=True):
        assert (token in (CLS, SEP)) == special
        if not special:
            parts[-1].append(token)
        elif parts[-1]:
            parts.append([])
    return parts[:-1]


def runs_on(tokens, where):
    """Whether these are neighbors in one document, in their order."""
    found = [where[token] for token in tokens]
    first = found[0]
    return found == [(first[0], first[1] + k) for k in range(len(found))]


FORMATS = {
    "segment": lambda d, f, s: segment_pairs(d, f, seed=s),
    "sentence": lambda d, f, s: sentence_pairs(d, f, seed=s),
    "swapped": lambda d, f, s: swapped_pairs(d, f, seed=s),
    "full": lambda d, f, s: full_sentences(d, f),
    "doc": lambda d, f, s: doc_sentences(d, f),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("length", [5, 6, 13, 40, 512])
def test_every_example_fits_and_its_columns_agree(name, length):
    for seed in range(5):
        for separators in (1, 2):
            if length < separators + 4:
                continue
            frame = Frame(CLS, SEP, length, separators)
            made = FORMATS[name](corpus(9, seed), frame, seed)
            assert made == FORMATS[name](corpus(9, seed), frame, seed)
            for example in made:
                ids, segments = example["input_ids"], example["token_type_ids"]
                assert 3 <= len(ids) <= length and len(segments) == len(ids)
                assert len(example["special_tokens_mask"]) == len(ids)
                if name in ("full", "doc"):
                    assert set(segments) == {0} and all(texts(example))
                    continue
                a, b = texts(example)
                assert a and b and segments == [0] * (1 + len(a) + separators) + [1] * (len(b) + 1)
                assert ids[1 + len(a) : 1 + len(a) + separators] == [SEP] * separators


@pytest.mark.parametrize("make", [segment_pairs, sentence_pairs])
@pytest.mark.parametrize("length", [512, 20])
def test_random_means_another_document_and_next_means_next(make, length):
    documents = corpus(40, 1)
    where, answers = places(documents), []
    for seed in range(30):
        for example in make(documents, Frame(CLS, SEP, length), seed=seed):
            (a, b), label = texts(example), example["next_sentence_label"]
            assert runs_on(a, where) and runs_on(b, where)
            same = where[a[0]][0] == where[b[0]][0]
            assert same == (label == 0)
            if not label:  # cut where it was too long, B may not begin right behind A
                gap = where[b[0]][1] - where[a[-1]][1]
                assert gap >= 1 and (gap == 1 or len(example["input_ids"]) == length)
            answers.append(label)
    assert 0.5 < sum(answers) / len(answers) < 0.75  # who stands alone is given a random one


def test_more_than_half_of_bookworlds_pairs_are_random():
    ids = {}
    documents = [
        [[ids.setdefault(it, len(ids)) for it in review.tokens[s.start : s.end]] for s in found]
        for review in BookWorld().sample(600, 1)
        if (found := review.sentences)
    ]
    for length in (32, 64, 128):
        made = segment_pairs(documents, Frame(CLS, SEP, length))
        share = sum(example["next_sentence_label"] for example in made) / len(made)
        assert 0.54 < share < 0.59  # 0.56 to 0.57, as its docstring says


def test_a_sentence_that_fills_an_example_has_a_random_one_beside_it():
    documents = [[[d, s] * 15 for s in range(40)] for d in range(3)]
    made = segment_pairs(documents, Frame(CLS, SEP, 20), short=0.0)
    assert [example["next_sentence_label"] for example in made] == [1] * 120


def test_with_text_behind_half_of_the_pairs_are_random():
    documents = [*corpus(2, 3, sentences=1), [[k] for k in range(100, 5100)]]
    made = sentence_pairs(documents, Frame(CLS, SEP))
    assert sum(e["next_sentence_label"] for e in made) / len(made) == pytest.approx(0.5, abs=0.03)


def test_the_text_of_a_random_pair_comes_again():
    short = corpus(9, 2, longest=1, sentences=90)  # of which nothing has to be cut
    for documents, frame in ((corpus(30, 2), Frame(CLS, SEP)), (short, Frame(CLS, SEP, 20))):
        for make in (segment_pairs, sentence_pairs):
            read = []
            for example in make(documents, frame):
                a, b = texts(example)
                read += a + (b if not example["next_sentence_label"] else [])
            assert read == list(places(documents))  # all of it, once, in order


def test_segments_fill_an_example_but_for_some_that_are_shorter():
    documents = [[[7] * 5 for _ in range(2000)] for _ in range(3)]
    frame = Frame(CLS, SEP, 64)
    lengths = [len(e["input_ids"]) for e in segment_pairs(documents, frame, short=0.0)]
    assert sum(n < 64 for n in lengths) < 20 < len(lengths)  # at the documents' ends alone
    lengths = [len(e["input_ids"]) for e in segment_pairs(documents, frame, short=0.1)]
    assert sum(n < 59 for n in lengths) / len(lengths) == pytest.approx(0.1, abs=0.04)


def test_a_chunk_is_cut_behind_any_of_its_sentences():
    """Eight sentences of five tokens fill an example: A has 1 to 7 of them, each as likely."""
    documents = [[[d * 10**4 + s] * 5 for s in range(4000)] for d in (1, 2)]
    made = segment_pairs(documents, Frame(CLS, SEP, 43), short=0.0)
    follows = [texts(e)[0] for e in made if not e["next_sentence_label"]]
    counts = Counter(len(a) // 5 for a in follows)
    assert sorted(counts) == list(range(1, 8)) and chisquare(list(counts.values())).pvalue > 1e-3
    swapped = swapped_pairs(documents, Frame(CLS, SEP, 43), short=0.0)
    counts = Counter(len(texts(e)[e["sentence_order_label"]]) // 5 for e in swapped)
    assert sorted(counts) == list(range(1, 8)) and chisquare(list(counts.values())).pvalue > 1e-3


def test_a_short_example_has_any_length_from_two_on():
    documents = [[[d * 10**5 + s] for s in range(10_000)] for d in (1, 2)]
    for make in (segment_pairs, swapped_pairs):
        made = make(documents, Frame(CLS, SEP, 23), short=1.0)
        # Where B does not begin at once, or its document ends, there may be fewer.
        whole = [e for e in made if not e.get("next_sentence_label")]
        counts = Counter(sum(map(len, texts(e))) for e in whole[:2000])
        assert sorted(counts) == list(range(2, 21))
        assert chisquare(list(counts.values())).pvalue > 1e-3


@pytest.mark.parametrize("make", [segment_pairs, sentence_pairs])
def test_a_random_text_begins_anywhere_in_any_other_document(make):
    """If it were the beginning each time, a model would need to know no more of B."""
    documents = [[[d * 100 + s] for s in range(20)] for d in range(10, 14)]
    begun, pairs = Counter(), Counter()
    for seed in range(150):
        for example in make(documents, Frame(CLS, SEP, 9), seed=seed):
            if example["next_sentence_label"]:
                a, b = texts(example)
                begun[b[0] % 100] += 1
                pairs[a[0] // 100, b[0] // 100] += 1
    assert len(begun) == 20 and chisquare(list(begun.values())).pvalue > 1e-3
    assert len(pairs) == 12 and chisquare(list(pairs.values())).pvalue > 1e-3


def test_what_is_too_long_is_cut_at_the_longer_text_from_both_ends():
    documents = [[list(range(100, 130)), list(range(200, 210))], [list(range(300, 330))]]
    where, fronts = places(documents), set()
    for seed in range(40):
        for example in segment_pairs(documents, Frame(CLS, SEP, 27), seed=seed):
            a, b = texts(example)
            assert len(a) + len(b) == 24 and runs_on(a, where) and runs_on(b, where)
            assert abs(len(a) - len(b)) <= 1 or min(len(a), len(b)) == 10
            fronts.add(a[0])
    assert len(fronts) > 5


@pytest.mark.parametrize("length", [512, 20])
def test_swapped_pairs_are_neighbors_in_one_order_or_the_other(length):
    documents, answers = corpus(40, 4), []
    where = places(documents)
    for seed in range(20):
        for example in swapped_pairs(documents, Frame(CLS, SEP, length), seed=seed):
            (a, b), label = texts(example), example["sentence_order_label"]
            assert runs_on(a, where) and runs_on(b, where)
            first, second = (b, a) if label else (a, b)
            assert where[first[0]][0] == where[second[0]][0]
            gap = where[second[0]][1] - where[first[-1]][1]
            assert gap >= 1 and (gap == 1 or len(example["input_ids"]) == length)
            answers.append(label)
    assert sum(answers) / len(answers) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("length", [5, 11, 40, 512])
def test_packed_sentences_hold_all_text_once(length):
    documents = corpus(25, 5)
    where, frame = places(documents), Frame(CLS, SEP, length)
    for make in (full_sentences, doc_sentences):
        made = [texts(example) for example in make(documents, frame)]
        assert list(chain(*chain(*made))) == list(where)
        for parts in made:
            own = [{where[token][0] for token in part} for part in parts]
            assert all(len(one) == 1 for one in own)  # a [SEP] at each border
            assert len(set.union(*own)) == len(own)
            assert make is full_sentences or len(own) == 1
    # Nothing more would have fitted: an example and the next one's first sentence are too long.
    starts = {s[0]: len(s) for document in documents for s in document}
    full = full_sentences(documents, frame)
    for one, after in pairwise(full):
        piece = starts.get(texts(after)[0][0])
        if piece is not None:
            border = where[texts(one)[-1][-1]][0] != where[texts(after)[0][0]][0]
            assert len(one["input_ids"]) + min(piece, frame.text_length) + border > length


def test_a_long_sentence_is_cut_into_pieces():
    made = full_sentences([[list(range(10, 33))]], Frame(CLS, SEP, 12))
    assert [texts(example) for example in made] == [
        [list(range(10, 20))],
        [list(range(20, 30))],
        [[30, 31, 32]],
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_empty_sentences_and_documents_are_passed_over(name):
    documents, frame = corpus(5, 6), Frame(CLS, SEP, 30)
    holes = [[], [[]], *[[[], *document, []] for document in documents], [[], []]]
    assert FORMATS[name](holes, frame, 1) == FORMATS[name](documents, frame, 1)


def test_documents_of_one_sentence():
    documents = [[[10, 11]], [[20]], [[30, 31, 32]]]
    frame = Frame(CLS, SEP, 30)
    for make in (segment_pairs, sentence_pairs):
        made = make(documents, frame)
        assert [e["next_sentence_label"] for e in made] == [1, 1, 1]
    assert swapped_pairs(documents, frame) == []
    assert full_sentences(documents, frame)[0]["input_ids"] == [1, 10, 11, 2, 20, 2, 30, 31, 32, 2]


@pytest.mark.bad_input
def test_what_does_not_suffice_is_refused():
    frame = Frame(CLS, SEP)
    for documents in ([], [[]], [[[]], []], [[[5, 6], [7]]]):
        for make in (segment_pairs, sentence_pairs):
            with pytest.raises(CourseError, match=r"[01] of \d documents .* at least 2"):
                make(documents, frame)
    for make in (full_sentences, doc_sentences, swapped_pairs):
        with pytest.raises(CourseError, match=r"0 of 1 documents have text\. Provide at least 1"):
            make([[[]]], frame)
