"""The real text: read from this Python, cleaned, each paragraph once; a file in its place."""

import sys
from collections import Counter

import pytest

from lmcourse.corpus import python_documentation
from lmcourse.errors import CourseError


@pytest.fixture(autouse=True)
def no_text_asked_for(monkeypatch):
    monkeypatch.delenv("LMCOURSE_TEXT", raising=False)


def test_this_pythons_documentation():
    pytest.importorskip("pydoc_data.topics", reason="this Python carries no documentation text")
    documents = python_documentation()
    text = "\n\n".join(documents)
    assert len(documents) >= 40 and len(text) > 200_000
    lines = text.splitlines()
    assert not [line for line in lines if line.startswith(("+--", "+==")) and line.endswith("+")]
    assert not [line for line in lines if set(line.strip()) in ({"*"}, {"="}) and len(line) > 4]
    paragraphs = Counter(" ".join(p.split()) for p in text.split("\n\n"))
    assert max(paragraphs.values()) == 1


def test_two_readings_are_equal():
    pytest.importorskip("pydoc_data.topics", reason="this Python carries no documentation text")
    assert python_documentation() == python_documentation()


def test_without_documentation_it_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    with pytest.raises(CourseError, match=r"carries no documentation.*LMCOURSE_TEXT") as caught:
        python_documentation()
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_a_text_file_takes_its_place(monkeypatch, tmp_path):
    path = tmp_path / "ein größeres Buch.txt"
    paragraphs = [f"Paragraph {i}: " + "façade and naïveté. " * 8 for i in range(400)]
    path.write_text("\n\n".join(paragraphs), encoding="utf-8")
    monkeypatch.setenv("LMCOURSE_TEXT", str(path))
    documents = python_documentation()
    assert 40 <= len(documents) <= 80  # so that one in ten can be held out
    assert "\n\n".join(documents).split("\n\n") == [p.strip() for p in paragraphs]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"line {i} of a long poem" for i in range(6000)),
        " ".join(f"word{i}" for i in range(20000)),
        "\n\n".join("\n".join(f"{i} {k}" for k in range(900)) for i in range(15)),
    ],
    ids=["no blank lines", "one line", "few paragraphs"],
)
def test_any_long_text_gives_enough_documents_to_hold_some_out(tmp_path, text):
    path = tmp_path / "text.txt"
    path.write_text(text, encoding="utf-8")
    documents = python_documentation(path)
    assert 40 <= len(documents) <= 130
    assert sum(map(len, documents[9::10])) > len(text) / 25
    assert sum(map(len, documents)) > 0.95 * len(text)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        (b"\xff\xfe\x00binary" * 9000, "cannot be read.*UTF-8"),
        (b"too short", "less than 50,000 characters.*longer UTF-8"),
        (b"once more\n\n" * 20_000, "repeated paragraphs counted once"),
    ],
    ids=["missing", "binary", "short", "repeated"],
)
def test_a_bad_file_is_named(tmp_path, content, words):
    path = tmp_path / "text.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CourseError, match=words) as caught:
        python_documentation(path)
    assert "text.txt" in str(caught.value)
