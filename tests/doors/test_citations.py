"""Citation roles become links in a laid-out notebook."""

import pytest

from coursekit import course
from coursekit.notebooks.citations import write_out
from lmcourse.errors import CourseError
from lmcourse.references import read_references

BIB = """
@article{one, author = {Elman, Jeffrey L.}, title = {Time}, year = {1990},
  doi = {10.1207/x}
}
@misc{two, author = {Tallec, Corentin and Ollivier, Yann}, title = {T}, year = {2017},
  url = {https://arxiv.org/abs/1}
}
@book{three, author = {A, B and Č, D and E, F}, title = {Book}, year = {2005}
}
"""


@pytest.fixture
def references(tmp_path):
    path = tmp_path / "references.bib"
    path.write_text(BIB, encoding="utf-8")
    return read_references(path)


@pytest.mark.parametrize(
    ("role", "written"),
    [
        ("{cite:t}`one`", "[Elman (1990)](https://doi.org/10.1207/x)"),
        ("{cite:p}`two`", "([Tallec and Ollivier, 2017](https://arxiv.org/abs/1))"),
        ("{cite:t}`three`", "A et al. (2005)"),
        (
            "{cite:p}`three, one`",
            "(A et al., 2005; [Elman, 1990](https://doi.org/10.1207/x))",
        ),
        ("{eq}`one` and `{cite}`", "{eq}`one` and `{cite}`"),
    ],
)
def test_roles_are_written_out(references, role, written):
    assert write_out(f"see {role}.", references, "cell 1") == f"see {written}."


def test_an_unknown_key_is_named(references):
    with pytest.raises(CourseError, match=r"cell 3 of x.md cites 'four'"):
        write_out("{cite:p}`one,four`", references, "cell 3 of x.md")


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot be read"), ("@a{k, title = {x}\n}", "no author and no year")],
)
def test_bad_references_are_named(tmp_path, content, words):
    path = tmp_path / "references.bib"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(CourseError, match=words):
        read_references(path)


def test_every_citation_of_the_course_is_in_the_references():
    references = read_references(course.root() / "references.bib")
    for source in course.sources():
        write_out(source.path.read_text(encoding="utf-8"), references, source.path.name)
