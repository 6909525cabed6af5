"""Terms: definitions against labels, and what the roles and the glossary become."""

import json
import re
from pathlib import Path

import pytest

from coursekit import course
from coursekit.notebooks import glossary, startpage, workbook
from coursekit.notebooks.sources import read_notebook
from lmcourse.errors import CourseError
from tests.doors.conftest import CHAPTER, LAB, SmallCourse

DEFINING = CHAPTER.replace(
    "Text.",
    "**You need** nothing.\n\n## What it keeps\n\nIt reads. It keeps a vector, the **hidden "
    "state** $h_t$ (see [lab 02](../labs/02-recurrent.md)):\n\n$$\nh\n$$ (eq-state)\n\n"
    "It has {term}`hidden states <hidden state>`.",
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("A **hidden state** is kept.", ["hidden state"]),
        ("**Layer normalization** subtracts the mean.", ["Layer normalization"]),
        ("A **key** and a **value**.\n\nThe **query**.", ["key", "value", "query"]),
        ("- the **general** one\n- an **additive** one", ["general", "additive"]),
        ("> A **quoted term** is one, too.", ["quoted term"]),
        ("**You need** chapter 01. **It takes** 75 minutes.", []),
        ("**One table.** It is shared. **Note:** read it. **So**: go.", []),
        ("- **Select** a token.\n1. **Mask** it.", []),
        ("| **a** | b |\n|---|---|\n| **c** | d |", []),
        ("## A **bold** heading\n\n**Why** is it so?", []),
        ("Now do **lab 02**, **[lab 02](x.md)**, **`[MASK]`** and **$x$**.", []),
        ("`**not**` and\n\n```\n**not**\n```", []),
    ],
)
def test_what_is_a_definition(text: str, names: list[str]) -> None:
    assert [each.name for each in glossary.definitions(text)] == names


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One. A **b** (c. D) is\nhere. Two.", "A **b** (c. D) is here."),
        ("**A label.** A **b** is here.", "A **b** is here."),
        ("The **b** is:\n\n- one", "The **b** is."),
        ("The **b** is\n\n$$ x $$ (eq-x)", "The **b** is\n\n$$\nx\n$$"),
        ("The **b** is here.\n\n$$ x $$", "The **b** is here."),
    ],
)
def test_the_sentence_that_defines(text: str, sentence: str) -> None:
    (found,) = glossary.definitions(text)
    assert found.sentence == sentence


def test_a_laid_out_notebook_links_to_the_defining_section(small: SmallCourse) -> None:
    small.write("chapters/02-recurrent.md", DEFINING)
    small.write("labs/02-recurrent.md", LAB.replace("# Lab 02", "# Lab 02\n\n{term}`hidden state`"))
    startpage.write(workbook.lay_out())
    chapter = json.loads(small.chapter.read_text(encoding="utf-8"))
    text = "".join(chapter["cells"][0]["source"])
    assert "[hidden states](02-recurrent.ipynb#heading=What-it-keeps)" in text
    assert "[lab 02](../labs/02-recurrent.ipynb)" in text
    link = "[hidden state](../chapters/02-recurrent.ipynb#heading=What-it-keeps)"
    assert link in "".join(json.loads(small.lab.read_text(encoding="utf-8"))["cells"][0]["source"])

    listed = json.loads((small.workbook / "glossary.ipynb").read_text(encoding="utf-8"))
    (page,) = listed["cells"]
    written = "".join(page["source"])
    assert (
        "the **hidden state** $h_t$ (see [lab 02](labs/02-recurrent.ipynb)):\n\n$\\displaystyle h$"
        in written
    )
    assert (
        "[Chapter 02: What it keeps](chapters/02-recurrent.ipynb#heading=What-it-keeps)" in written
    )
    assert listed["metadata"]["kernelspec"]["name"] == "python3"  # JupyterLab asks for none
    assert "[Glossary](glossary.ipynb)" in (small.workbook / "START.md").read_text(encoding="utf-8")


def test_without_terms_there_is_no_glossary(small: SmallCourse) -> None:
    startpage.write(workbook.lay_out())
    assert not (small.workbook / "glossary.ipynb").exists()
    assert "lossary" not in (small.workbook / "START.md").read_text(encoding="utf-8")


def test_an_unknown_term_is_named_with_its_file(small: SmallCourse) -> None:
    small.change_chapter("A {term}`states <state>`.")
    with pytest.raises(CourseError, match=r"Cell 1 of 02-recurrent\.md .*“state”"):
        workbook.lay_out()


def test_a_term_that_is_defined_twice_is_named_with_both_files(small: SmallCourse) -> None:
    small.write("chapters/02-recurrent.md", DEFINING)
    small.write("chapters/03-gates.md", CHAPTER.replace("Text.", "A **Hidden  state** is kept."))
    message = r"“Hidden  state” is defined twice: in chapters/02-recurrent\.md \(“What it keeps”\)"
    with pytest.raises(CourseError, match=message + r" and in chapters/03-gates\.md"):
        workbook.lay_out()


def test_labs_and_widgets_pages_define_nothing(small: SmallCourse) -> None:
    lab = LAB.replace("# Lab 02", "# Lab 02\n\nA **term** is here.")
    small.write("labs/02-recurrent.md", lab)
    notebooks = {source: read_notebook(source.path) for source in course.sources()}
    assert glossary.terms_of(notebooks) == {}


@pytest.mark.parametrize(
    ("section", "address"),
    [
        ("Rows or columns?", "02-x.ipynb#heading=Rows-or-columns?"),
        ("A (small) step", "02-x.ipynb#heading=A-%28small%29-step"),
        ("Why $d$?", "02-x.ipynb"),
        ("`LSTM`", "02-x.ipynb"),
    ],
)
def test_the_address_of_a_section(section: str, address: str) -> None:
    source = course.Source(Path("02-x.md"), "chapter", "02", "X", "02-x")
    terms = {"gate": glossary.Term("gate", "A gate.", source, section)}
    assert glossary.write_out("{term}`gate`", terms, "chapters", "A cell") == f"[gate]({address})"


def test_the_glossary_is_in_the_alphabets_order() -> None:
    names = ["value", "Adam", "[MASK] token", "BERT", "key"]
    source = course.sources("chapter")[0]
    terms = {
        glossary.key_of(name): glossary.Term(name, f"A {name}.", source, "Section")
        for name in names
    }
    page = glossary.page(terms)
    entries = re.findall(r"^(\S.*)\n: ", page, re.MULTILINE)
    assert entries == ["Adam", "BERT", "Key", "[MASK] token", "Value"]
