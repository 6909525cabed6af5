"""The folder that mystmd reads: pages, downloads, the map; and what a lab's page keeps back."""

import json

import pytest
import yaml
from nbformat.v4 import new_code_cell, new_notebook, new_output

from coursekit import course, outline
from coursekit.book import solutions
from coursekit.book.cache import Executed
from coursekit.book.stage import stage
from coursekit.notebooks.sources import read_notebook
from lmcourse import show
from lmcourse.diagram import Diagram
from lmcourse.errors import CourseError
from tests.book.checkout import OUTLINE, small  # noqa: F401 - a fixture
from tests.doors.conftest import WIDGET

SECRETS = ("2 * number", "The secret is", "the answer is")


def executed() -> list[Executed]:
    """The small course, as if executed: each code cell has printed 84."""
    found = []
    for source in course.sources():
        notebook = read_notebook(source.path)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = [new_output("stream", name="stdout", text="the answer is 84\n")]
                cell.execution_count = 1
        found.append(Executed(source, notebook, 99.9, 456.7, (), 12.3))
    return found


@pytest.fixture
def lay_out(small, tmp_path):  # noqa: F811
    def into(show_solutions=False):
        folder = tmp_path / f"stage-{show_solutions}"
        folder.mkdir()
        stage(executed(), outline.read(), folder, "./theme", show_solutions)
        return folder

    return into


def cells(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def test_configuration(lay_out):
    configuration = yaml.safe_load((lay_out() / "myst.yml").read_text(encoding="utf-8"))
    pages = ["chapters/02-recurrent.ipynb", "labs/02-lab-recurrent.ipynb"]
    part = {"title": "Gradients", "children": [{"file": page} for page in pages]}
    assert configuration["project"]["toc"] == [{"file": "index.md"}, part]
    assert configuration["site"]["template"] == "./theme"
    rules = {rule["rule"]: rule["severity"] for rule in configuration["project"]["error_rules"]}
    assert rules["reference-target-resolves"] == "error"


def test_a_chapter_keeps_outputs_and_offers_itself(lay_out):
    folder = lay_out()
    front, *rest = cells(folder / "chapters" / "02-recurrent.ipynb")
    matter = yaml.safe_load("".join(front["source"]).strip("-\n"))
    assert matter["title"] == "Recurrent language models"
    assert matter["description"] == "What does a recurrent network remember?"
    assert matter["short_title"] == "Chapter 02"
    assert "the answer is" in str(rest)
    offered = [folder / "chapters" / each["file"] for each in matter["downloads"]]
    notebook, text = offered
    assert "the answer is" in notebook.read_text(encoding="utf-8")
    assert "[Elman (1990)](https://doi.org" in notebook.read_text(encoding="utf-8")
    assert text.read_bytes() == course.sources("chapter")[0].path.read_bytes()


def test_a_lab_keeps_its_solutions_back(lay_out):
    folder = lay_out()
    for path in [
        folder / "labs" / "02-lab-recurrent.ipynb",
        *(folder / "downloads/labs").iterdir(),
    ]:
        text = path.read_text(encoding="utf-8")
        assert "def double" in text and "NotImplementedError" in text
        assert not [secret for secret in SECRETS if secret in text], path


def test_an_instructor_gets_them_folded(lay_out):
    folder = lay_out(show_solutions=True)
    page = cells(folder / "labs" / "02-lab-recurrent.ipynb")
    sources = ["".join(cell["source"]) for cell in page]
    at = next(i for i, source in enumerate(sources) if "def double" in source)
    assert "NotImplementedError" in sources[at] and "2 * number" not in sources[at]
    folded = sources[at + 1]
    assert folded.startswith(":::::{dropdown} Solution\n```python\ndef double")
    assert "return 2 * number" in folded and "###" not in folded
    assert sources[-1].startswith(":::::{dropdown} Solution") and "The secret is" in sources[-1]
    assert "the answer is" in str(page), "outputs of the solutions"
    for path in (folder / "downloads" / "labs").iterdir():
        assert not [s for s in SECRETS if s in path.read_text(encoding="utf-8")], "still a lab"


def test_whole_cells_of_a_solution_are_folded(small):  # noqa: F811
    (lab,) = (each for each in executed() if each.source.kind == "lab")
    lab.notebook.cells[-2].metadata["tags"] = ["solution"]
    shown = solutions.folded(lab.notebook, "lab")
    assert shown.cells[-2].metadata["tags"] == ["solution", "hide-cell"]
    assert lab.notebook.cells[-2].metadata["tags"] == ["solution"], "a copy was changed"


def test_only_drawings_stay_on_a_labs_page():
    notebook = new_notebook()
    for tags in (["hide-input"], []):
        output = new_output("stream", text="drawn")
        cell = new_code_cell("draw()", outputs=[output], metadata={"tags": tags})
        notebook.cells.append(cell)
    solutions.drop_outputs(notebook)
    assert [len(cell.outputs) for cell in notebook.cells] == [1, 0]


def test_the_map(lay_out):
    text = (lay_out() / "index.md").read_text(encoding="utf-8")
    assert "% course-map" not in text
    card = ":::{card} 02 Recurrent language models\n:link: chapters/02-recurrent.ipynb\n"
    assert card in text and text.count(":::{card}") == 1
    assert "[Chapter 02](chapters/02-recurrent.ipynb): 75 minutes; 12 s and 457 MB to run" in text
    assert "[Lab 02](labs/02-lab-recurrent.ipynb): 90 minutes; 12 s and 457 MB to run" in text
    plan = text[text.index(":::{dropdown} The plan of the whole course: 2 chapters") :]
    assert "**Part I: Gradients**\n\n- 01 Backpropagation (planned). How?\n" in plan
    assert "- [02 Recurrent language models](chapters/02-recurrent.ipynb). What does" in plan


def test_a_course_that_is_written_has_no_plan(lay_out, small):  # noqa: F811
    whole = OUTLINE.replace('    - number: "01"\n', "").replace('needs: ["01"]', "needs: []")
    whole = whole.replace(
        "      title: Backpropagation\n      question: How?\n      needs: []\n", ""
    )
    (small.root / "outline.yml").write_text(whole, encoding="utf-8")
    assert "(planned)" not in (lay_out() / "index.md").read_text(encoding="utf-8")


def test_numbers_begin_with_the_chapters(lay_out, small):  # noqa: F811
    small.write("gallery/attention-heads.md", WIDGET)
    end = "- part: Widgets\n  gallery: [attention-heads]\n"
    (small.root / "outline.yml").write_text(OUTLINE + end, encoding="utf-8")
    folder = lay_out()

    def numbering(name):
        front = "".join(cells(folder / name)[0]["source"])
        return yaml.safe_load(front.strip("-\n")).get("numbering")

    assert numbering("chapters/02-recurrent.ipynb") == {"enumerator": "2.%s"}
    assert numbering("labs/02-lab-recurrent.ipynb") == {"enumerator": "L2.%s"}
    assert numbering("gallery/attention-heads.ipynb") is None


def test_figures_are_numbered_by_chapter(small, tmp_path):  # noqa: F811
    done = executed()
    chapter = next(each for each in done if each.source.kind == "chapter")
    drawn = Diagram(100, 50)
    drawn.box("h", 50, 25)
    data, metadata = show.forms(drawn, "A box.", "One state, not Figure 3.", 3)
    shown = new_output("display_data", data=data, metadata=metadata)
    cell = next(each for each in chapter.notebook.cells if each.cell_type == "code")
    cell.outputs = [shown]
    (tmp_path / "stage").mkdir()
    stage(done, outline.read(), tmp_path / "stage", "./theme")
    page = cells(tmp_path / "stage" / "chapters" / "02-recurrent.ipynb")
    (staged,) = (out for each in page for out in each.get("outputs", []) if out.get("metadata"))
    assert staged["metadata"]["image/svg+xml"]["title"] == "Figure 2.3"
    html = "".join(staged["data"]["text/html"])
    assert "<b>Figure 2.3.</b> One state, not Figure 3." in html
    assert "".join(staged["data"]["text/plain"]).startswith("Figure 2.3. One state")
    assert shown.metadata["image/svg+xml"]["title"] == "Figure 3", "the notebook keeps its own"


def test_the_widgets_have_a_part_of_their_own(lay_out, small):  # noqa: F811
    small.write("gallery/attention-heads.md", WIDGET)
    end = "- part: Widgets\n  gallery: [attention-heads]\n"
    (small.root / "outline.yml").write_text(OUTLINE + end, encoding="utf-8")
    folder = lay_out()
    configuration = yaml.safe_load((folder / "myst.yml").read_text(encoding="utf-8"))
    *_, part = configuration["project"]["toc"]
    assert part == {"title": "Widgets", "children": [{"file": "gallery/attention-heads.ipynb"}]}
    matter = yaml.safe_load(
        "".join(cells(folder / "gallery" / "attention-heads.ipynb")[0]["source"]).strip("-\n")
    )
    assert matter["description"] == "Where does it look?" and "short_title" not in matter
    offered = {each["filename"] for each in matter["downloads"]}
    assert offered == {"attention-heads.ipynb", "attention-heads.md"}
    text = (folder / "index.md").read_text(encoding="utf-8")
    card = (
        ":::{card} Attention heads\n:link: gallery/attention-heads.ipynb\n\nWhere does it look?\n"
    )
    assert card in text[text.index("## Widgets") :] and text.count("**Part") == 1


@pytest.mark.parametrize("text", ["# No map\n", "% course-map\n\n% course-map\n"])
def test_the_landing_page_needs_one_place_for_the_map(small, tmp_path, text):  # noqa: F811
    (small.root / "index.md").write_text(text, encoding="utf-8")
    (tmp_path / "stage").mkdir()
    with pytest.raises(CourseError, match="needs one"):
        stage(executed(), outline.read(), tmp_path / "stage", "./theme")


def test_figures_come_along(lay_out, small):  # noqa: F811
    for name in ("chapters/drawn.svg", "chapters/.hidden/x.svg", "chapters/notes.txt"):
        path = small.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("<svg/>")
    folder = lay_out()
    assert (folder / "chapters" / "drawn.svg").exists()
    assert not (folder / "chapters" / ".hidden").exists()
    assert not (folder / "chapters" / "notes.txt").exists()
