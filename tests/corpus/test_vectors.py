"""Word vectors: three formats told apart, equal to gensim, and every kind of bad file."""

import gzip
import random
import warnings

import numpy as np
import pytest

from lmcourse.corpus import WordVectors, read_vectors, streams, vector_files
from lmcourse.errors import CourseError
from tests.corpus.writing import write_vectors

FORMATS = ("word2vec", "word2vec-binary", "glove")
LETTERS = "abcdefghijklmnopqrstuvwxyzäöüß'.-_0123456789中文🙂"


def sample(seed):
    """Random vectors of a random size and scale under random words."""
    random.seed(seed)
    rng = np.random.default_rng(seed)
    count, width = random.randint(1, 60), random.choice([2, 3, 7, 50, 300])
    words = list({"".join(random.choices(LETTERS, k=random.randint(1, 9))) for _ in range(count)})
    scale = 10.0 ** random.randint(-4, 4)
    numbers = rng.normal(scale=scale, size=(len(words), width)).astype(np.float32)
    if random.random() < 0.3:
        numbers = np.round(numbers)  # whole numbers, and zeros, are written without a point
    return WordVectors(words, numbers)


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("seed", range(12))
def test_what_is_written_reads_back_equal(tmp_path, seed, format, suffix):
    vectors, path = sample(seed), tmp_path / f"vectors{suffix}"
    write_vectors(path, vectors, format)
    found = read_vectors(path)  # nobody says which format it is
    assert found.words == vectors.words and found.skipped == 0
    assert found.vectors.dtype == np.float32
    assert np.array_equal(found.vectors, vectors.vectors)
    named = read_vectors(path, format=format)
    assert named.words == vectors.words and np.array_equal(named.vectors, vectors.vectors)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("seed", range(100, 108))
def test_equal_to_gensim(tmp_path, seed, format):
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    vectors, path = sample(seed), tmp_path / "vectors"
    write_vectors(path, vectors, format)
    reference = models.KeyedVectors.load_word2vec_format(
        str(path), binary=format == "word2vec-binary", no_header=format == "glove"
    )
    ours = read_vectors(path)
    assert ours.words == reference.index_to_key
    assert np.array_equal(ours.vectors, reference.vectors)
    lengths = np.linalg.norm(ours.vectors, axis=1)
    solid = [word for word, length in zip(ours.words, lengths, strict=True) if length]
    for _ in range(20):
        one, other = random.choice(solid), random.choice(solid)
        expected = float(reference.similarity(one, other))
        assert ours.similarity(one, other) == pytest.approx(expected, abs=2e-6)
    for word in random.choices(solid, k=5):
        nearest = dict(ours.nearest(word, len(ours)))
        expected = dict(reference.most_similar(word, topn=len(ours)))
        assert nearest.keys() == expected.keys()
        for other in set(solid) - {word}:
            assert nearest[other] == pytest.approx(expected[other], abs=2e-6)
        assert list(nearest.values()) == sorted(nearest.values(), reverse=True)


@pytest.mark.parametrize("seed", [1, 2, 4, 6])
def test_analogies_equal_gensims(seed):
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    vectors = sample(seed)
    solid = [word for word, row in zip(vectors.words, vectors.vectors, strict=True) if row.any()]
    reference = models.KeyedVectors(vectors.vectors.shape[1])
    reference.add_vectors(vectors.words, vectors.vectors)
    for positive, negative in ((2, 1), (1, 0), (1, 2), (3, 0)):
        words = random.sample(solid, positive + negative)
        plus, minus = words[:positive], words[positive:]
        expected = dict(reference.most_similar(plus, minus, topn=len(vectors)))
        found = dict(vectors.analogy(plus, minus, len(vectors)))
        assert found.keys() == expected.keys() == set(vectors.words) - set(words)
        for other in set(solid) - set(words):
            assert found[other] == pytest.approx(expected[other], abs=2e-6)


def test_an_analogy_may_answer_with_its_own_words():
    rows = numbers([1, 0], [1, 0.1], [0, 1], [0.3, 1])
    vectors = WordVectors(["king", "man", "woman", "queen"], rows)
    assert vectors.analogy(["king", "woman"], ["man"], 1)[0][0] == "queen"
    assert vectors.analogy(["king", "woman"], ["man"], 1, with_queries=True)[0][0] == "woman"
    with pytest.raises(CourseError, match="no vector for the word 'prince'"):
        vectors.analogy(["prince"])


@pytest.mark.parametrize("binary", [False, True])
def test_what_gensim_writes_is_read(tmp_path, binary):
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    vectors, path = sample(7), tmp_path / "vectors"
    reference = models.KeyedVectors(vectors.vectors.shape[1])
    reference.add_vectors(vectors.words, vectors.vectors)
    reference.save_word2vec_format(str(path), binary=binary)
    found = read_vectors(path)
    assert found.words == reference.index_to_key
    assert np.array_equal(found.vectors, reference.vectors)


def numbers(*values):
    return np.array(values, np.float32)


def test_nearest():
    vectors = WordVectors(
        ["east", "north", "north-east", "west", "nowhere", "far east"],
        np.array([[1, 0], [0, 1], [1, 1], [-1, 0], [0, 0], [9, 0]], np.float32),
    )
    assert vectors.similarity("east", "west") == -1
    assert vectors.similarity("east", "nowhere") == 0
    words = [word for word, _ in vectors.nearest("east", 9)]
    assert words == ["far east", "north-east", "north", "nowhere", "west"]
    assert vectors.nearest("east", 2)[1] == ("north-east", pytest.approx(0.5**0.5))
    assert vectors.nearest(numbers(0, 5), 1) == [("north", 1)]
    assert vectors.nearest(numbers(0, 5), 1, without=["north"])[0][0] == "north-east"
    assert vectors.nearest("east", 1, without=["far east"])[0][0] == "north-east"
    assert vectors.nearest("east", 0) == [] and vectors.nearest("east", -2) == []
    assert "east" in vectors and "up" not in vectors and len(vectors) == 6
    assert vectors.vector("far east").tolist() == [9, 0] and vectors.ids["west"] == 3
    with pytest.raises(CourseError, match="no vector for the word 'up'"):
        vectors.nearest("up")


@pytest.mark.parametrize("format", FORMATS)
def test_a_limit_and_a_choice_of_words(tmp_path, format):
    words = [f"w{number}" for number in range(200)]
    vectors = WordVectors(words, np.arange(600, dtype=np.float32).reshape(200, 3))
    path = tmp_path / "vectors"
    write_vectors(path, vectors, format)
    first = read_vectors(path, limit=7)
    assert first.words == words[:7] and np.array_equal(first.vectors, vectors.vectors[:7])
    assert len(read_vectors(path, limit=200)) == len(read_vectors(path, limit=900)) == 200
    few = read_vectors(path, words=["w150", "w3", "elsewhere"])
    assert few.words == ["w3", "w150"]
    assert np.array_equal(few.vectors, vectors.vectors[[3, 150]])
    assert read_vectors(path, words="w9").words == ["w9"]
    assert read_vectors(path, limit=100, words=["w150", "w3"]).words == ["w3"]
    assert len(read_vectors(path, words=[])) == 0


def test_what_lies_between_the_chosen_words_is_not_looked_at(tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(b"4 2\nthe 1 2\nragged 1\nno x y\ncat 3 4\n")
    found = read_vectors(path, words=["cat", "the"])
    assert found.words == ["the", "cat"] and found.skipped == 0


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_is_lost_where_the_pieces_are_cut(tmp_path, monkeypatch, format):
    vectors, path = sample(3), tmp_path / "vectors.gz"
    write_vectors(path, vectors, format)
    monkeypatch.setattr(vector_files, "_HEAD", 4000)  # bytes; still whole lines
    monkeypatch.setattr(vector_files, "_BLOCK", 2)
    for size in (1, 5, 64, 1000):
        monkeypatch.setattr(streams, "CHUNK", size)
        found = read_vectors(path, format=format)
        assert found.words == vectors.words and np.array_equal(found.vectors, vectors.vectors)


def test_what_other_programs_write(tmp_path):
    path = tmp_path / "vectors.txt"
    # word2vec.c leaves a space at each line's end; Windows adds \r; numbers come in every form.
    path.write_bytes(b"3 2\r\nthe 0.5 -1e-3 \r\n, +.25 -7. \r\n\xc2\xa0x 1E+2 -0 \r\n")
    found = read_vectors(path)
    assert found.words == ["the", ",", "\xa0x"]
    assert found.vectors.tolist() == [[0.5, numbers(-1e-3)[0]], [0.25, -7], [100, 0]]
    # GloVe's words may have spaces, and be numbers.
    path.write_bytes(b". . . 1 2 3\n5 4 5 6\nat name@domain.com 7 8 9\nthe 1 1 1\n")
    found = read_vectors(path)
    assert found.words == [". . .", "5", "at name@domain.com", "the"]
    assert found.vectors[2].tolist() == [7, 8, 9]
    assert read_vectors(path, words=["at name@domain.com"]).vectors.tolist() == [[7, 8, 9]]
    path.write_bytes(b"5 1 2\n1e3 3 4\n\x08 5 6\n")
    assert read_vectors(path).words == ["5", "1e3", "\x08"]
    # word2vec.c ends an entry with a line end, gensim's older versions did not.
    for end in (b"", b"\n"):
        entries = [word + b" " + numbers(1, 2).tobytes() for word in (b"a", b"b")]
        path.write_bytes(b"2 2\n" + end.join(entries) + end)
        assert read_vectors(path).words == ["a", "b"]
    path.write_bytes(b"1 2\na " + numbers(2, 2).tobytes())  # these bytes are good UTF-8
    assert read_vectors(path).vectors.tolist() == [[2, 2]]


@pytest.mark.parametrize("header", [b"", b"3 2\n", b"3\t2\r\n"])
@pytest.mark.parametrize(
    "lines",
    [
        b"the  1 2\nat a.com 3 4\n.  . 5   6\n",
        b"the\t1\t2\nat a.com\t3\t4\n.  .\t5\t6\n",
        b"the \t1 \t2 \n\tat a.com 3 4\n  .  . 5\t6\t\n",
        b"the 1 2\n\nat a.com 3 4\n.  . 5 6\n\n \t\r\n\n",
        b"the 1 2\r\nat a.com 3 4\r\n.  . 5 6\r\n\r\n",
    ],
    ids=["spaces", "tabs", "both", "blank lines", "blank lines of Windows"],
)
def test_numbers_are_separated_by_any_spaces_and_tabs(tmp_path, header, lines):
    path = tmp_path / "vectors"
    path.write_bytes(header + lines)
    for on_error in ("raise", "skip"):
        found = read_vectors(path, on_error=on_error)
        assert found.words == ["the", "at a.com", ".  ."] and found.skipped == 0
        assert found.vectors.tolist() == [[1, 2], [3, 4], [5, 6]]
    few = read_vectors(path, words=[".  .", "the"])
    assert few.words == ["the", ".  ."] and few.vectors.tolist() == [[1, 2], [5, 6]]


@pytest.mark.parametrize(
    "lines", [b"the 1 2 \ncat 3 4\t\n\n", b"the 1 2\ncat 3 4\n\n\n"], ids=["spaces", "blank lines"]
)
def test_what_follows_the_numbers_is_passed_over_as_by_gensim(tmp_path, lines):
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    path = tmp_path / "vectors"
    path.write_bytes(b"2 2\n" + lines)
    reference = models.KeyedVectors.load_word2vec_format(str(path))
    assert read_vectors(path).words == reference.index_to_key
    assert np.array_equal(read_vectors(path).vectors, reference.vectors)
    path.write_bytes(lines)
    assert np.array_equal(read_vectors(path).vectors, reference.vectors)


BINARY = b"3 2\nthe " + numbers(1, 2).tobytes() + b"\ncat " + numbers(3, 4).tobytes() + b"\n"
LAST = numbers(5, 6).tobytes()

BAD = {
    # name: content, what is said, the words that on_error="skip" keeps
    "too few numbers": (
        b"3 2\nthe 1 2\na 1\ncat 3 4\n",
        "Line 3 .*it has 1 numbers where 2",
        "the cat",
    ),
    "GloVe, too many": (
        b"the 1 2\na 1 2 3\ncat 3 4\n",
        "Line 2 .*it has 3 numbers where 2",
        "the cat",
    ),
    "no number": (b"3 2\nthe 1 2\na 1 x\ncat 3 4\n", "Line 3 .*'x' is not a number", "the cat"),
    "only a word": (b"the 1 2\na\ncat 3 4\n", "Line 2 .*it has 0 numbers", "the cat"),
    "no word": (b"the 1 2\n 5 6\ncat 3 4\n", "Line 2 .*has no word", "the cat"),
    "nan": (b"3 2\nthe 1 2\na nan 1\ncat 3 4\n", r"Line 3 .*'a'.*not finite", "the cat"),
    "nan alone": (b"the nan 2\n", r"Line 1 .*'the'.*not finite", None),
    "-NaN, tabs": (b"the\t-NaN\t2\ncat\t3\t4\n", r"Line 1 .*'the'.*not finite", "cat"),
    "too large": (b"the 1 2\na 1 1e39\ncat 3 4\n", r"Line 2 .*'a'.*too large", "the cat"),
    "twice": (
        b"the 1 2\nthe 5 6\ncat 3 4\n",
        "Line 2 .*a second vector of the word 'the'",
        "the cat",
    ),
    "not UTF-8": (
        b"the 1 2\nd\xe9j 5 6\ncat 3 4\n",
        r"Line 2 .*byte 2 \(0xe9\) is not UTF-8",
        "the cat",
    ),
    "more than said": (b"1 2\nthe 1 2\ncat 3 4\n", "says 1 words .*but line 3 goes on", "the"),
    "fewer than said": (b"9 2\nthe 1 2\ncat 3 4\n", "says 9 words .*ends after 2", "the cat"),
    "width too large": (b"2 4\nthe 1 2 3\ncat 3 4 5\n", "Line 2 .*has 3 numbers where 4", None),
    "an absurd header": (b"999999999999 300\nthe 1 2\n", "Line 2 .*has 2 numbers where 300", None),
    "binary, cut": (BINARY + b"dog " + LAST[:5], "says 3 words .*ends in word 3", "the cat"),
    "binary, nan": (
        BINARY + b"dog " + numbers(np.nan, 1).tobytes(),
        r"Word 3 .*'dog'.*not finite",
        "the cat",
    ),
    "binary, twice": (
        BINARY + b"cat " + LAST,
        "Word 3 .*a second vector of the word 'cat'",
        "the cat",
    ),
    "binary, not UTF-8": (BINARY + b"d\xe9 " + LAST, r"Word 3 .*byte 2 \(0xe9\)", "the cat"),
    "binary, goes on": (
        BINARY + b"dog " + LAST + b"\nmore",
        "says 3 words .*continues",
        "the cat dog",
    ),
    "binary, no space": (
        BINARY + b"x" * 9000,
        "width of 2, but no word begins at word 3",
        "the cat",
    ),
    "binary, absurd": (
        b"888888888888 2\n" + BINARY[4:],
        "says 888,888,888,888 .*word 3",
        "the cat",
    ),
    "no words": (b"0 50\n", "says 0 words of width 50", None),
    "an archive": (b"PK\x03\x04" + bytes(99), "is not word vectors.*PK.*unpack an archive", None),
    "prose": (b"It was a dark and stormy night.\n" * 9, "is not word vectors.*It was", None),
}


PACKED = {f"{name}, gz": (*BAD[name], True) for name in ("no number", "binary, cut")}
CASES = {name: (*case, False) for name, case in BAD.items()} | PACKED


@pytest.mark.parametrize(("content", "words", "kept", "packed"), CASES.values(), ids=CASES)
def test_a_bad_file_is_named_or_skipped_and_counted(tmp_path, content, words, kept, packed):
    path = tmp_path / ("vectors.gz" if packed else "vectors")
    path.write_bytes(gzip.compress(content) if packed else content)
    with warnings.catch_warnings(), pytest.raises(CourseError, match=words) as caught:
        warnings.simplefilter("error")
        read_vectors(path)
    assert str(path) in caught.value.cause
    if kept is None:
        with pytest.raises(CourseError, match="no good word vector|" + words):
            read_vectors(path, on_error="skip")
    else:
        found = read_vectors(path, on_error="skip")
        assert found.words == kept.split()
        assert (found.skipped, found.reasons) == (1, (caught.value.cause,))
        wanted = {"the": [1, 2], "cat": [3, 4], "dog": [5, 6]}
        assert found.vectors.tolist() == [wanted[word] for word in found.words]


def test_words_that_are_not_utf8_can_be_read_all_the_same(tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(b"the 1 2\nd\xe9j\xe0 5 6\n")
    assert read_vectors(path, encoding="latin-1").words == ["the", "déjà"]
    assert read_vectors(path, errors="replace").words == ["the", "d\ufffdj\ufffd"]
    for wrong in ({"encoding": "utf-9"}, {"errors": "please"}):
        with pytest.raises(CourseError, match=r"utf-9|please"):
            read_vectors(path, **wrong)


@pytest.mark.parametrize("format", FORMATS)
def test_damaged_gzip_data(tmp_path, format):
    vectors = WordVectors(
        [f"w{n}" for n in range(3000)],
        np.random.default_rng(0).normal(size=(3000, 20)).astype(np.float32),
    )
    path = tmp_path / "vectors.gz"
    write_vectors(path, vectors, format)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CourseError, match=r"is damaged after word \d[\d,]+: .*Download") as caught:
        read_vectors(path)
    found = read_vectors(path, on_error="skip")
    assert found.skipped == 1 and found.reasons == (caught.value.cause,)
    assert found.words == vectors.words[: len(found)] and len(found) > 1000
    assert np.array_equal(found.vectors, vectors.vectors[: len(found)])
    path.write_bytes(whole[:12])
    with pytest.raises(CourseError, match=r"is damaged: the file ends in the middle"):
        read_vectors(path, on_error="skip")


def test_files_that_are_not_there(tmp_path):
    empty = tmp_path / "empty"
    empty.touch()
    for path, words in (
        (tmp_path / "none", "There is no file"),
        (tmp_path, "is a folder"),
        (empty, "is empty"),
    ):
        with pytest.raises(CourseError, match=words):
            read_vectors(path)


def test_memory_is_asked_for_once(tmp_path, monkeypatch):
    asked = []
    rows = vector_files._Rows

    def watched(width, expected):
        asked.append(expected)
        return rows(width, expected)

    monkeypatch.setattr(vector_files, "_Rows", watched)
    vectors = WordVectors([f"w{n}" for n in range(500)], np.ones((500, 4), np.float32))
    for format in FORMATS:
        write_vectors(tmp_path / format, vectors, format)
        read_vectors(tmp_path / format)
        read_vectors(tmp_path / format, limit=30)
    assert asked == [500, 30, 500, 30, None, 30]
    write_vectors(tmp_path / "packed.gz", vectors)  # 4 bytes a word, and yet it has all of them
    assert len(read_vectors(tmp_path / "packed.gz")) == asked[-1] == 500
    (tmp_path / "lies").write_bytes(b"999999999999 2\nthe 1 2\n")
    with pytest.raises(CourseError, match="999,999,999,999"):
        read_vectors(tmp_path / "lies")
    assert asked[-1] < 10


def test_a_memory_that_is_full_is_named(tmp_path, monkeypatch):
    write_vectors(tmp_path / "vectors", sample(2))

    def full(*_):
        raise MemoryError

    monkeypatch.setattr(vector_files, "_Rows", full)
    with pytest.raises(CourseError, match=r"do not fit into memory.*limit="):
        read_vectors(tmp_path / "vectors")


def test_vectors_that_contradict_their_words():
    with pytest.raises(CourseError, match=r"2 words and an array of shape \(3, 4\)"):
        WordVectors(["a", "b"], np.ones((3, 4), np.float32))
    with pytest.raises(CourseError, match="'b' occurs twice"):
        WordVectors(["a", "b", "b"], np.ones((3, 4), np.float32))
