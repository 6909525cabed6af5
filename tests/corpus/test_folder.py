"""Plain text, from a file and from a folder, and what is said of files that are none."""

import pytest

from lmcourse.corpus import Document, read_texts
from lmcourse.errors import CourseError


@pytest.fixture
def folder(tmp_path):
    for name, text in {
        "b.txt": "Second.\n",
        "a/z.txt": "First – »naïve«.\n",
        "a b.txt": "Third?\n",
        "a/deep/er/x.txt": "Zeroth.\n",
        "notes.md": "# Not asked for\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "folder.txt").mkdir()  # a folder that is named like a file
    return tmp_path


def test_a_folder_is_read_in_the_order_of_its_paths(folder):
    found = list(read_texts(folder))
    names = [each.path.relative_to(folder).as_posix() for each in found]
    # By the parts of the path, not by its letters: "a b.txt" is before "a/…" in a plain sort.
    assert names == ["a/deep/er/x.txt", "a/z.txt", "a b.txt", "b.txt"]
    assert found[1] == Document(folder / "a" / "z.txt", "First – »naïve«.\n")


def test_a_pattern_chooses_the_files(folder):
    assert [each.path.name for each in read_texts(folder, "*.md")] == ["notes.md"]
    assert [each.path.name for each in read_texts(folder, "*.txt")] == ["a b.txt", "b.txt"]


def test_one_file_needs_no_pattern(folder):
    (document,) = read_texts(folder / "notes.md")
    assert document == Document(folder / "notes.md", "# Not asked for\n")


def test_files_are_opened_one_at_a_time(folder):
    reading = iter(read_texts(folder))
    next(reading)
    (folder / "b.txt").write_text("Changed meanwhile.", encoding="utf-8")
    assert [each.text for each in reading][-1] == "Changed meanwhile."


def test_line_ends_and_marks_of_other_systems(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n")
    assert next(iter(read_texts(path))).text == "one\ntwo\nthree\n"
    path.write_bytes("größer\n".encode("utf-16"))
    assert next(iter(read_texts(path, encoding="utf-16"))).text == "größer\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"one\ntwo\nna\xefve\n", r"Line 3 of .*bad.txt: byte 11 \(0xef\) is not UTF-8.*cp1252"),
        ("größer".encode("utf-16"), r"Line 1 of .*byte 1 \(0xff\) is not UTF-8.*utf-16"),
        (b"cut in a letter \xc3", r"byte 17 \(0xc3\) is not UTF-8"),
    ],
    ids=["Latin-1", "UTF-16", "cut"],
)
def test_a_file_of_another_encoding_is_named(folder, content, words):
    (folder / "bad.txt").write_bytes(content)
    with pytest.raises(CourseError, match=words):
        list(read_texts(folder))


@pytest.mark.parametrize(
    ("name", "pattern", "words"),
    [
        ("missing", "*.txt", "There is no file .*missing.*Check the path"),
        ("a", "*.doc", r"has no file that matches '\*.doc'"),
    ],
)
def test_what_cannot_be_read_at_all(folder, name, pattern, words):
    with pytest.raises(CourseError, match=words):
        read_texts(folder / name, pattern)
