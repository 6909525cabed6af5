"""Human ratings and analogies: what gensim's files hold, and what is said of bad ones."""

from importlib.util import find_spec

import numpy as np
import pytest

from lmcourse.corpus import human_ratings
from lmcourse.corpus.human_ratings import gensim_file, read_analogies, read_lee, read_word_pairs
from lmcourse.errors import CourseError

needs_gensim = pytest.mark.skipif(find_spec("gensim") is None, reason="gensim is not installed")


@needs_gensim
@pytest.mark.parametrize(
    "name, count, highest, lowest",
    [
        ("wordsim353.tsv", 353, ("tiger", "tiger", 10.0), ("king", "cabbage", 0.23)),
        ("simlex999.txt", 999, ("vanish", "disappear", 9.8), ("new", "ancient", 0.23)),
    ],
)
def test_word_pairs(name, count, highest, lowest):
    pairs = read_word_pairs(gensim_file(name))
    assert len(pairs) == count
    assert max(pairs, key=lambda pair: pair[2]) == highest
    assert min(pairs, key=lambda pair: pair[2]) == lowest


@needs_gensim
def test_analogies():
    questions = read_analogies(gensim_file("questions-words.txt"))
    assert len(questions) == 19_544
    assert questions[0] == ("Athens", "Greece", "Baghdad", "Iraq", "capital-common-countries")
    sections = [question.relation for question in questions]
    assert len(set(sections)) == 14
    # Mikolov et al. 2013a, section 4.1: 8,869 semantic and 10,675 syntactic questions.
    assert sum(section.startswith("gram") for section in sections) == 10_675


@needs_gensim
def test_lee_documents():
    documents, background, ratings = read_lee()
    assert (len(documents), len(background), ratings.shape) == (50, 300, (50, 50))
    assert "wearing his £3,000" in " ".join(documents)
    assert not any("\n" in text or text != text.strip() for text in documents + background)
    assert np.array_equal(ratings, ratings.T) and (np.diag(ratings) == 1).all()
    assert ratings.min() == 0.2 and ratings[0, 1:4].tolist() == [0.3, 0.24, 0.2]
    above = np.loadtxt(gensim_file("similarities0-1.txt"))[np.triu_indices(50, 1)]
    assert np.array_equal(ratings[np.triu_indices(50, 1)], above)


def test_blank_lines_and_comments_are_left_out(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbf# Word 1\tWord 2\tHuman\r\n\r\nice cream\tcake\t7\r\n")
    assert read_word_pairs(path) == [("ice cream", "cake", 7.0)]
    path.write_text("a b c d\n\n: new one\ne f g h\n")
    assert read_analogies(path) == [("a", "b", "c", "d", ""), ("e", "f", "g", "h", "new one")]


def write_lee(folder, numbers):
    (folder / "lee.cor").write_text("one\ntwo\n")
    (folder / "lee_background.cor").write_text("other\n")
    (folder / "similarities0-1.txt").write_text(numbers)
    return folder


def test_lee_documents_of_a_folder(tmp_path):
    documents, background, ratings = read_lee(write_lee(tmp_path, "1 .5\n0 1\n"))
    assert (documents, background) == (["one", "two"], ["other"])
    assert ratings.tolist() == [[1, 0.5], [0.5, 1]]


@pytest.mark.parametrize(
    "numbers, message",
    [
        ("1 x\n0 1\n", "Line 1 of .*0-1.txt does not have 0 words and 2 numbers: '1 x'"),
        ("1 .5\n\n0\n", "Line 3 of .* does not have"),
        ("1 .5\n", "0-1.txt has 1 lines, lee.cor 2. Download"),
        ("", "is empty"),
        ("\n", "0-1.txt has 0 lines, lee.cor 2."),
    ],
)
def test_damaged_ratings_of_documents_are_refused(tmp_path, numbers, message):
    with pytest.raises(CourseError, match=message):
        read_lee(write_lee(tmp_path, numbers))


@pytest.mark.parametrize(
    "read, text, message",
    [
        (read_word_pairs, "a\tb\t1\na b 2\n", "Line 2 of .* 2 words and 1 numbers: 'a b 2'"),
        (read_word_pairs, "a\tb\thigh\n", "Line 1 .*Correct it, or"),
        (read_word_pairs, "a\tb\t1\t2\n", "Line 1 "),
        (read_analogies, ": section\n\na b c\n", "Line 3 of .* does not have 4 words .*: 'a b c'"),
        (read_analogies, "", "is empty"),
    ],
)
def test_malformed_lines_are_refused(tmp_path, read, text, message):
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(CourseError, match=message):
        read(path)


def test_missing_files(tmp_path, monkeypatch):
    for read in (read_word_pairs, read_analogies, read_lee):
        with pytest.raises(CourseError, match="There is no file"):
            read(tmp_path / "none")
    with pytest.raises(CourseError, match="is a folder"):
        read_word_pairs(tmp_path)
    with pytest.raises(CourseError, match=r"no file none.tsv: .* gensim's .* pass its path"):
        gensim_file("none.tsv")
    monkeypatch.setattr(human_ratings, "find_spec", lambda name: None)
    for call in (read_lee, lambda: gensim_file("wordsim353.tsv")):
        with pytest.raises(CourseError, match=r"lmcourse real install.* download the file .* pass"):
            call()
