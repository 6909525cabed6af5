"""The estimate of the minutes that a page takes."""

from coursekit import course, form, reading
from tests.doors.conftest import CHAPTER


def measured(small, text):
    small.write("chapters/02-recurrent.md", CHAPTER.replace("Text.", text))
    (chapter,) = course.sources("chapter")
    return reading.reading(chapter)


def cell(code, tags=""):
    return f"```{{code-cell}} ipython3\n{tags}{code}```\n"


def test_a_page_is_words_lines_figures_and_questions(small):
    words = "A word of `code`, $x + y$ and [a link](https://example.org/one/two). " * 100  # 8 each
    code = cell("x = 1\n\n" * 24)
    drawing = cell("y = 1\n" * 99 + "show.figure(y, 'alt')\n", ":tags: [hide-input]\n")
    widget = cell("Anatomy(model)\n", ":tags: [hide-input]\n")
    question = ":::{admonition} Question\nWhy?\n:::\n"
    found = measured(small, "\n".join([words, code, drawing, widget, question, "*Predict* it."]))
    assert found.core == reading.Reading(8 * 100 + 1 + 2 + 3, 24 + 1, 2, 1, 1, 1)  # the title has 3
    assert found.minutes == 15  # 8.06 + 3.125 + 3 + 2 = 16.2
    assert found.sections == [] and found.deeper == 0


def test_what_goes_deeper_has_minutes_of_its_own(small):
    deeper = "+++\n\n## Going deeper\n\n+++\n\n### Costs\n\n*10 minutes*\n\n" + "word " * 1000
    deeper += "\n\n+++\n\n### No minutes\n\nText.\n\n" + cell("1\n" * 16)
    found = measured(small, "word " * 300 + f"\n\n{deeper}\n+++\n\n## Further reading\n\nA book.")
    costs, other = found.sections
    assert (costs.title, costs.stated, costs.reading.minutes) == ("Costs", 10, 10)
    assert (other.title, other.stated, other.reading.lines) == ("No minutes", None, 16)
    assert found.deeper == 10
    assert found.core.words == 300 + 2 + 2 + 2 + 3  # with three headings and "A book."


def test_a_lab_is_what_its_exercises_state(small):
    text = small.root.joinpath("labs/02-recurrent.md").read_text("utf-8")
    stated = "*30 minutes · difficulty 2 of 5*\n\n*45 minutes · difficulty 5 of 5: open*\n"
    small.root.joinpath("labs/02-recurrent.md").write_text(text + stated, encoding="utf-8")
    (lab,) = course.sources("lab")
    assert reading.reading(lab).minutes == 75


def test_a_long_lab_is_advice_and_no_breach(small, capsys):
    path = small.root / "labs" / "02-recurrent.md"
    text = path.read_text("utf-8").replace("minutes: 90", "minutes: 140")
    stated = "*100 minutes · difficulty 2 of 5*\n\n*40 minutes · difficulty 5 of 5: open*\n"
    path.write_text(text + stated, encoding="utf-8")
    reading.main()
    row = capsys.readouterr().out.splitlines()[-1]
    assert row.endswith("140  longer than the 120 minutes that are advised for a lab")
    (lab,) = course.sources("lab")
    assert form.report([lab]) == ""
    path.write_text(text.replace("140", "160") + stated, encoding="utf-8")
    assert "states 160 minutes; the estimate is 140" in form.report(course.sources("lab"))


def test_the_table_has_every_page(small, capsys):
    reading.main()
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[-3:] == ["core", "deeper", "stated"]
    assert [row.split()[:2] for row in rows] == [["Chapter", "02"], ["Lab", "02"]]
    assert rows[0].endswith("75 + 20") and rows[1].split()[-1] == "90"
