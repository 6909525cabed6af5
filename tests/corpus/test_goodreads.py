"""Reviews in the Goodreads layout: there and back, filters, splits, and every kind of bad file."""

import gzip
import json
import os
import random
import subprocess
import sys

import pytest

from lmcourse.corpus import read_reviews, split_of, streams
from lmcourse.errors import CourseError


def layout(number, **changes):
    """A review as it stands in the file, different for each number."""
    return {
        "user_id": f"{number:032x}",
        "timestamp": "2017-08-30",
        "review_sentences": [[0, f"Book {number} is »schön«."], [number % 2, 'She said "no".']],
        "rating": number % 6,
        "has_spoiler": number % 2 == 1,
        "book_id": str(number % 40),
        "review_id": f"{number * 7:032x}",
    } | changes


def written(path, records):
    """Write lines without the package's own writer; gzipped if the name says so."""
    data = b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in records)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.fixture(params=["reviews.json", "reviews.json.gz"])
def path(request, tmp_path):
    return tmp_path / request.param


def test_what_is_in_the_file_is_what_is_read(path):
    records = [layout(number) for number in range(500)]
    reviews = read_reviews(written(path, records))
    found = list(reviews)
    assert [each.as_dict() for each in found] == records
    assert list(found[0].as_dict()) == list(records[0])  # the fields in the file's order too
    assert found[3].text == 'Book 3 is »schön«. She said "no".'
    assert found[3].sentences[1] == (1, 'She said "no".')
    assert (reviews.read, reviews.kept, reviews.skipped) == (500, 500, 0)


def test_every_line_is_found_wherever_the_pieces_are_cut(path, monkeypatch):
    random.seed(4)
    sentences = [[[0, "x" * random.randint(0, 300)]] for _ in range(200)]
    records = [layout(n, review_sentences=each) for n, each in enumerate(sentences)]
    written(path, records)
    for size in (1, 7, 100, 1000):
        monkeypatch.setattr(streams, "CHUNK", size)
        assert [each.as_dict() for each in read_reviews(path)] == records


@pytest.mark.parametrize("end", [b"\r\n", b"\n\n", b"\n  \n"], ids=["Windows", "blank", "spaces"])
def test_line_ends_and_marks_of_other_programs_do_no_harm(tmp_path, end):
    lines = [json.dumps(layout(number)).encode() for number in range(3)]
    path = tmp_path / "reviews.json"
    path.write_bytes(b"\xef\xbb\xbf" + end.join(lines))  # no line end after the last line
    reviews = read_reviews(path)
    assert [each.as_dict() for each in reviews] == [layout(number) for number in range(3)]
    assert reviews.read == 3
    path.write_bytes(b"\xef\xbb\xbf" + lines[0])
    assert len(list(read_reviews(path))) == 1


def test_filters(path):
    records = [layout(number) for number in range(240)]
    written(path, records)

    def kept(**filters):
        return [each.as_dict() for each in read_reviews(path, **filters)]

    assert kept(where=lambda r: r.rating == 5) == [r for r in records if r["rating"] == 5]
    assert kept(split="test", where=lambda r: r.has_spoiler) == [
        r for r in records if split_of(r["book_id"]) == "test" and r["has_spoiler"]
    ]
    limited = read_reviews(path, where=lambda r: r.rating == 3, limit=4)
    assert [each.rating for each in limited] == [3] * 4
    assert (limited.read, limited.kept) == (22, 4)  # it stops at the fourth: 3, 9, 15, 21
    assert kept(limit=0) == []


def test_an_iterable_starts_anew_and_counts_anew(path):
    written(path, [layout(number) for number in range(9)])
    reviews = read_reviews(path, where=lambda review: review.has_spoiler)
    assert list(reviews) == list(reviews)
    assert (reviews.read, reviews.kept) == (9, 4)
    for _ in reviews:
        break
    assert (reviews.read, reviews.kept) == (2, 1)
    assert "2 read, 1 kept, 0 skipped" in repr(reviews)


def test_splits_are_by_book_and_the_same_in_every_process():
    books = [str(number) for number in range(5000)]
    counts = {name: [split_of(b) for b in books].count(name) for name in ("train", "validation")}
    assert 3900 < counts["train"] < 4100 and 430 < counts["validation"] < 570
    code = (
        "from lmcourse.corpus.goodreads import split_of;"
        "print(*[split_of(str(number)) for number in range(300)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [split_of(book) for book in books[:300]]
    # Pinned: a model trained on one split must never meet it as another.
    assert [split_of(book) for book in ("0", "6", "11")] == ["train", "test", "validation"]


def test_all_reviews_of_a_book_fall_in_one_split(path):
    written(path, [layout(number) for number in range(400)])
    seen = [
        {each.book_id for each in read_reviews(path, split=name)}
        for name in ("train", "validation", "test")
    ]
    assert all(seen) and sum(map(len, seen)) == len(set.union(*seen)) == 40


BAD_LINES = {
    "no JSON": (b"<html>Not found</html>", r"is not JSON .*<html>"),
    "cut": (b'{"user_id": "3", "timest', r"is not JSON .*truncated"),
    "a list": (b"[1, 2]", "expected `object`, got `array`"),
    "no rating": ({"rating": ...}, "missing required field `rating`"),
    "label 2": ({"review_sentences": [[0, "a"], [2, "b"]]}, r"review_sentences\[1\]\[0\] is '2'"),
    "three parts": ({"review_sentences": [[0, "a", 1]]}, "length 2"),
    "rating 6": ({"rating": 6}, "rating is '6', expected `int` <= 5"),
    "rating text": ({"rating": "5"}, "rating is '5', expected `int`, got `str`"),
    "type, then cut": (b'{"user_id": 3, "timest', "user_id"),
    "rating 1e400": ({"rating": "|1e400|"}, "rating"),
    "deep": (b"[" * 100_000, "expected `object`, got `array`|recursion"),
    "deep, unknown field": ({"votes": "|" + "[" * 100_000 + "|"}, "recursion"),
    "half of a surrogate pair": ({"user_id": "\ud800"}, "is not JSON .*surrogate"),
    "NaN": ({"rating": "|NaN|"}, "is not JSON"),
    "bad sentences, repeated": (
        b'{"review_sentences": [[0, "a"], [2, "b"]], "review_sentences": [[0, "a"]]}',
        r"review_sentences\[",
    ),
    "Latin-1": (
        json.dumps(layout(1)).encode().replace(b"Book", b"B\xf6\xf6k"),
        r"0xf6\) is not UTF-8",
    ),
    "UTF-16": (json.dumps(layout(1)).encode("utf-16-le").replace(b"\n", b""), "is not"),
}


def bad_line(content):
    if isinstance(content, bytes):
        return content
    changed = layout(1, **{k: v for k, v in content.items() if v is not ...})
    line = json.dumps({k: v for k, v in changed.items() if content.get(k) is not ...})
    return line.replace('"|', "").replace('|"', "").encode()  # what is between is no JSON


@pytest.mark.parametrize(
    ("path", "content", "words"),
    [("reviews.json", *case) for case in BAD_LINES.values()]
    + [("reviews.json.gz", *BAD_LINES["cut"])],
    indirect=["path"],
    ids=[*BAD_LINES, "cut, gz"],
)
def test_a_bad_line_is_named_or_skipped_and_counted(path, content, words):
    good = [json.dumps(layout(number)).encode() for number in range(4)]
    data = b"\n".join([*good[:2], bad_line(content), *good[2:]]) + b"\n"
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    reviews, found = read_reviews(path), []
    with pytest.raises(CourseError, match=words) as caught:
        found.extend(reviews)
    assert [each.as_dict() for each in found] == [layout(0), layout(1)] and reviews.read == 2
    assert f"Line 3 of {path}" in caught.value.cause
    assert 'on_error="skip"' in caught.value.remedy
    lenient = read_reviews(path, on_error="skip")
    for _ in range(2):
        assert [each.as_dict() for each in lenient] == [layout(number) for number in range(4)]
        assert (lenient.read, lenient.skipped) == (4, 1)
    assert lenient.reasons == (caught.value.cause,)


def test_of_many_faults_the_first_few_are_told(tmp_path):
    path = tmp_path / "reviews.json"
    path.write_bytes(b"nothing\n" * 1000 + json.dumps(layout(1)).encode())
    reviews = read_reviews(path, on_error="skip")
    assert len(list(reviews)) == 1 and reviews.skipped == 1000
    assert len(reviews.reasons) == 5 and "Line 5 of" in reviews.reasons[4]


@pytest.mark.parametrize("how", ["cut", "cut in the trailer", "flipped", "wrong sum"])
def test_damaged_gzip_data_end_the_reading(tmp_path, how):
    path = tmp_path / "reviews.json.gz"
    random.seed(5)
    text = ["".join(random.choices("abcdefgh ", k=400)) for _ in range(300)]
    records = [layout(n, review_sentences=[[0, each]]) for n, each in enumerate(text)]
    data = bytearray(written(path, records).read_bytes())
    if how == "cut":
        del data[len(data) // 2 :]
    elif how == "cut in the trailer":
        del data[-3:]
    elif how == "flipped":
        data[len(data) // 2 :] = b"\xff" * (len(data) - len(data) // 2)
    else:
        data[-8] ^= 1
    path.write_bytes(data)
    with pytest.raises(
        CourseError, match=r"damaged after line \d+: .*gzip data.*Download"
    ) as error:
        list(read_reviews(path))
    assert str(path) in error.value.cause
    lenient = read_reviews(path, on_error="skip")
    found = [each.as_dict() for each in lenient]
    assert found == records[: len(found)] and lenient.skipped == 1
    expected = 300 if "trailer" in how or "sum" in how else 120
    assert len(found) >= expected  # what came before the damage is not lost


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("r.json", None, "There is no file .*Check the path"),
        ("r.json", b"", "is empty.*Download the file again"),
        ("r.json.gz", b"", "is empty"),
        ("r.json.gz", b"<!DOCTYPE html>", "named .gz but is not gzipped.*<!DOCTYPE"),
        ("", None, "is a folder.*one file in it"),
    ],
    ids=["missing", "empty", "empty gz", "page", "folder"],
)
def test_no_file_of_reviews(tmp_path, name, content, words):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    for on_error in ("raise", "skip"):
        with pytest.raises(CourseError, match=words) as caught:
            read_reviews(path, on_error=on_error)
        assert str(path) in caught.value.cause


def test_a_file_without_reviews_says_so(tmp_path):
    path = tmp_path / "reviews.json.gz"
    for data in (b"", b"\n \n"):
        path.write_bytes(gzip.compress(data))
        with pytest.raises(CourseError, match="only blank lines"):
            list(read_reviews(path, on_error="skip"))


def test_gzip_data_are_recognized_by_their_bytes(tmp_path):
    path = tmp_path / "reviews.json"
    path.write_bytes(written(tmp_path / "r.gz", [layout(1), layout(2)]).read_bytes())
    assert len(list(read_reviews(path))) == 2


def test_a_line_that_does_not_end_is_no_line(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "LONGEST", 5000)
    monkeypatch.setattr(streams, "CHUNK", 1000)
    path = tmp_path / "reviews.json"
    path.write_bytes(json.dumps(layout(1)).encode() + b"\n" + b"[" * 20_000)
    with pytest.raises(CourseError, match=r"Line 2 of .* is longer than 5,000 bytes"):
        list(read_reviews(path))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"split": "dev"}, "no split 'dev'.*train, validation, test"),
        ({"on_error": "ignore"}, "on_error is 'ignore'"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_arguments_that_make_no_sense(path, arguments, words):
    with pytest.raises(CourseError, match=words):
        read_reviews(written(path, [layout(1)]), **arguments)


def test_the_memory_does_not_grow_with_the_file(tmp_path):
    import tracemalloc

    def peak(count):
        path = tmp_path / f"{count}.json.gz"
        long = [[0, "word " * 50]] * 5
        written(path, (layout(n, review_sentences=long) for n in range(count)))
        reviews = read_reviews(path)
        tracemalloc.start()
        for _ in reviews:
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(8000) < 1.3 * peak(2000)  # 10 MB and 2.5 MB of text


def test_the_bar_follows_the_bytes_on_the_disk(tmp_path, monkeypatch):
    from contextlib import contextmanager

    shown = []

    @contextmanager
    def bar(name, total, wanted):
        shown.append((name, total, wanted))
        yield shown.append

    monkeypatch.setattr(streams, "bar", bar)
    path = written(tmp_path / "reviews.json.gz", map(layout, range(3000)))
    list(read_reviews(path, progress=True))
    size = path.stat().st_size
    assert shown[0] == ("reviews.json.gz", size, True)
    assert shown[1:] == sorted(shown[1:]) and shown[-1] == size and len(shown) > 3


def test_nothing_is_written_where_nobody_watches(tmp_path, capfd):
    list(read_reviews(written(tmp_path / "r.json", [layout(1)]), progress=True))
    assert capfd.readouterr() == ("", "")


def test_the_bar_is_seen_on_a_terminal(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes the pipe for a terminal
    list(read_reviews(written(tmp_path / "reviews.json", [layout(1)]), progress=True))
    assert "reviews.json" in capfd.readouterr().err
    list(read_reviews(tmp_path / "reviews.json"))
    assert capfd.readouterr() == ("", "")
