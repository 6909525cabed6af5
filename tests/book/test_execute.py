"""Executing the sources, and when a kept result may be used again."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import torch
from nbformat.v4 import new_output

from coursekit import course
from coursekit.book import cache
from coursekit.book import execute as module
from coursekit.book.execute import execute, run
from coursekit.book.kernel import WIDGET_VIEW
from coursekit.notebooks.sources import read_notebook, to_bytes
from lmcourse.errors import CourseError
from tests.book.checkout import small  # noqa: F401 - a fixture

COUNTING = """\
title: Counts
---

# Counts

```{code-cell} ipython3
from pathlib import Path

runs = Path("../runs.txt")
with runs.open("a") as file:
    file.write("x")
print(Path("figure.txt").read_text())
```
"""


@pytest.fixture
def counted(small):  # noqa: F811
    """A course whose chapter reads a file, and leaves a mark at each execution."""
    small.write("chapters/02-recurrent.md", COUNTING)
    (small.root / "chapters" / "figure.txt").write_text("one")
    return small


def outputs(executed) -> str:
    cells = [cell for cell in executed.notebook.cells if cell.cell_type == "code"]
    return "".join(output.get("text", "") for cell in cells for output in cell.outputs)


def build(folder, kind="chapter"):
    return execute(course.sources(kind), folder, lambda line: None)


def runs(counted) -> int:
    return len((counted.root / "runs.txt").read_text())


def test_what_comes_out(small, tmp_path):  # noqa: F811
    said = []
    chapter, lab = execute(course.sources(), tmp_path, said.append)
    assert (outputs(chapter), outputs(lab)) == ("42\n", "42\n")
    assert [each.source.kind for each in (chapter, lab)] == ["chapter", "lab"]
    assert 0 < chapter.seconds < 60
    assert 30 < chapter.megabytes < 500, "a bare kernel"
    assert any("Chapter 02: cell 1 of 1" in line for line in said), said
    kept = sorted(
        path.relative_to(tmp_path).parent.as_posix() for path in tmp_path.rglob("*.ipynb")
    )
    assert kept == ["chapters/02-recurrent", "labs/02-lab-recurrent"]


def test_memory_is_the_peak(small):  # noqa: F811
    small.write(
        "chapters/02-recurrent.md",
        "title: x\n---\n\n# x\n\n```{code-cell} ipython3\nx = b'x' * 500_000_000\ndel x\n```\n",
    )
    (source,) = course.sources("chapter")
    assert run(source).megabytes > 500


def test_the_same_source_gives_the_same_bytes(small):  # noqa: F811
    (source,) = course.sources("chapter")
    assert to_bytes(run(source).notebook) == to_bytes(run(source).notebook)


def edit(notebook: Path) -> None:
    """Change an executed notebook by hand; it stays a notebook."""
    text = notebook.read_text(encoding="utf-8")
    assert '"two\\n"' in text
    notebook.write_text(text.replace('"two\\n"', '"three\\n"'), encoding="utf-8")


def newest(folder: Path, suffix: str) -> Path:
    """What is kept of the last execution of the chapter."""
    return max(
        folder.glob(f"chapters/02-recurrent/*{suffix}"), key=lambda it: it.stat().st_mtime_ns
    )


@pytest.fixture
def pretended(counted, monkeypatch):
    """From now on nothing is executed: the output is the code's number and the file's text."""

    def run(source, *_):
        notebook = read_notebook(source.path)
        (cell,) = (cell for cell in notebook.cells if cell.cell_type == "code")
        text = "".join(re.findall(r"print\((\d)\)", cell.source))
        text += (counted.root / "chapters" / "figure.txt").read_text()
        cell.outputs = [new_output("stream", name="stdout", text=f"{text}\n")]
        with (counted.root / "runs.txt").open("a") as file:
            file.write("x")
        return cache.Executed(source, notebook, 1.0, 1.0, READ, 1.0)

    return lambda: monkeypatch.setattr(module, "run", run)


READ = ("chapters/figure.txt",)


def test_a_kept_result_is_used_until_something_changes(counted, pretended, tmp_path, monkeypatch):
    changes = [
        lambda: (counted.root / "chapters" / "figure.txt").write_text("two"),
        lambda: (counted.root / "requirements.lock").open("a").write("# a new version\n"),
        lambda: counted.write("chapters/02-recurrent.md", COUNTING.replace("print", "print\\\n")),
        lambda: newest(tmp_path, ".ipynb").write_text("cut sho"),
        lambda: edit(newest(tmp_path, ".ipynb")),
        lambda: newest(tmp_path, ".json").unlink(),
        lambda: monkeypatch.setenv("LMCOURSE_TEXT", "another.txt"),
        lambda: monkeypatch.setattr(cache, "device", lambda: torch.device("cuda")),
    ]
    (first,) = build(tmp_path)
    assert outputs(first) == "one\n"
    assert READ[0] in first.read
    pretended()
    for count, change in enumerate(changes, start=1):
        (again,) = build(tmp_path)
        assert runs(counted) == count, "nothing changed: not executed"
        assert (again.seconds, again.megabytes) == (first.seconds, first.megabytes)
        change()
        (first,) = build(tmp_path)
        assert runs(counted) == count + 1, f"change {count} was not noticed"
    assert outputs(first) == "two\n"


def test_what_ran_while_its_source_was_edited_is_not_kept(counted, tmp_path):
    (source,) = course.sources("chapter")
    executed = run(source)
    counted.write("chapters/02-recurrent.md", COUNTING.replace(".read_text()", ".exists()"))
    cache.save(executed, tmp_path)
    (again,) = build(tmp_path)
    assert outputs(again) == "True\n"


def test_text_and_marks_change_without_an_execution(counted, tmp_path):
    build(tmp_path)
    text = COUNTING.replace("ipython3\n", "ipython3\n---\nslideshow:\n  slide_type: slide\n---\n")
    counted.write("chapters/02-recurrent.md", text + "\nMore.\n")
    (again,) = build(tmp_path)
    assert runs(counted) == 1 and outputs(again) == "one\n"
    assert again.notebook.cells[-1].source == "More."
    assert again.notebook.cells[1].metadata["slideshow"] == {"slide_type": "slide"}


def test_what_was_executed_before_is_kept_too(counted, pretended, tmp_path):
    """An edit that is undone executes nothing; of many edits those used last are kept."""
    pretended()

    def executions(number: int) -> int:
        counted.write(
            "chapters/02-recurrent.md", COUNTING.replace("print", f"print({number}),print")
        )
        (executed,) = build(tmp_path)
        assert outputs(executed) == f"{number}one\n"
        return runs(counted)

    assert [executions(number) for number in (0, 1, 2, 3, 4, 5)] == [1, 2, 3, 4, 5, 6]
    assert [executions(number) for number in (2, 3, 4, 5, 2)] == [6, 6, 6, 6, 6]
    assert [executions(number) for number in (1, 2, 3)] == [7, 7, 8], "3 was used longest ago"
    assert len(list(tmp_path.glob("chapters/02-recurrent/*.ipynb"))) == cache.KEPT


WORK = "@article{%s,\n  author = {A, B},\n  title = {%s},\n  year = {2020}\n}\n"


def test_a_new_reference_executes_nothing_but_a_changed_one_does(counted, tmp_path):
    """Of the bibliography a notebook shows the papers of its claims."""
    (counted.root / "data" / "claims").mkdir(parents=True)
    (counted.root / "data" / "claims" / "one.json").write_text('{"key": "one2020"}')
    works = counted.root / "references.bib"
    works.write_text(WORK % ("one2020", "One"))
    reads = 'Path("../references.bib").read_text(), Path("../data/claims/one.json").read_text()\n'
    counted.write("chapters/02-recurrent.md", COUNTING.replace("print(", reads + "print("))
    build(tmp_path)
    works.write_text(works.read_text() + WORK % ("two2020", "Two"))
    build(tmp_path)
    assert runs(counted) == 1
    works.write_text(works.read_text().replace("One", "Three"))
    build(tmp_path)
    assert runs(counted) == 2


EVERY_OUTPUT = """\
title: Every output
---

# Every output

```{code-cell} ipython3
import sys
from IPython.display import display

print("one")
print("a warning", file=sys.stderr)
print("progress 1\\rprogress 2")
display({"text/html": "<p>alive</p>", "text/plain": "p", VIEW: {"model_id": "m"}}, raw=True)
line = display({"text/plain": "step 0"}, raw=True, display_id=True)
line.update({"text/plain": "step 1"}, raw=True)
"two"
```

```{code-cell} ipython3
line.update({"text/plain": "step 2"}, raw=True, metadata={"of": 2})
import matplotlib.pyplot as plt

plt.plot([1, 2]);
```

```{code-cell} ipython3
:tags: [raises-exception]

1 / 0
```
""".replace("VIEW", repr(WIDGET_VIEW))


def test_what_the_tests_have_executed_is_not_executed_again(small, tmp_path):  # noqa: F811
    small.write("chapters/02-recurrent.md", EVERY_OUTPUT)
    checkout = Path(__file__).parents[2]
    shutil.copy(checkout / "conftest.py", small.root)
    (small.root / "pytest.ini").write_text(f"[pytest]\npythonpath = {checkout}\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "chapters"]
    done = subprocess.run(command, cwd=small.root, capture_output=True, text=True)
    assert "3 passed" in done.stdout, done.stdout
    (source,) = course.sources("chapter")
    kept = cache.load(source, course.products() / "executed")
    assert kept is not None
    by_the_book = run(source)
    assert to_bytes(kept.notebook) == to_bytes(by_the_book.notebook)
    assert kept.read == by_the_book.read
    assert 0.5 < kept.megabytes / by_the_book.megabytes < 2


def test_modules_of_the_checkout_count_too():
    script = "import lmcourse.show, coursekit.book.witness as w; print(w.files_read())"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"LMCOURSE_WITNESS": os.devnull},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "lmcourse/show.py" in done.stdout and "__pycache__" not in done.stdout


def failing(small, code: str) -> CourseError:  # noqa: F811
    small.write(
        "chapters/02-recurrent.md",
        "title: x\n---\n\n# x\n\n```{code-cell} ipython3\n1 + 1\n```\n\n"
        f"```{{code-cell}} ipython3\n{code}\n```\n",
    )
    with pytest.raises(CourseError) as caught:
        execute(course.sources(), small.root / "_build" / "executed", lambda line: None)
    return caught.value


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("rate = 0\n1 / rate", "ZeroDivisionError: division by zero"),
        ("rate = 0\nimport os\nos._exit(3)", "its kernel died"),
        ("rate = 0\nimport sys\nsys.exit()", "SystemExit"),
    ],
)
def test_a_failure_names_chapter_cell_and_error(small, code, what):  # noqa: F811
    error = failing(small, code)
    assert "Chapter 02" in error.cause and "chapters/02-recurrent.md" in error.cause
    assert "code cell 2 of 2 (`rate = 0`)" in error.cause
    assert what in error.cause
    assert "the previous book is unchanged" in error.remedy
    kept = list((small.root / "_build" / "executed").rglob("*.ipynb"))
    assert len(kept) == 1, "the lab went well, and is kept"


def test_a_cell_that_takes_too_long(small, monkeypatch):  # noqa: F811
    monkeypatch.setattr(module, "CELL_TIMEOUT", 1)
    assert "more than 1 s" in failing(small, "rate = 0\nimport time\ntime.sleep(60)").cause


def test_a_failed_contract_fails_the_build(small):  # noqa: F811
    code = "rate = 0\nfrom lmcourse import expect\nexpect('the sum', 1 + 1, at_least=3)"
    assert "the sum" in failing(small, code).cause


def test_widgets_keep_the_form_that_lives_without_a_kernel(small):  # noqa: F811
    forms = {"text/html": "<p>alive</p>", "text/plain": "words", WIDGET_VIEW: {"model_id": "m"}}
    show = f"from IPython.display import display\ndisplay({forms!r}, raw=True)"
    small.write(
        "chapters/02-recurrent.md",
        f"title: x\n---\n\n# x\n\n```{{code-cell}} ipython3\n{show}\n```\n",
    )
    (source,) = course.sources("chapter")
    (output,) = next(c for c in run(source).notebook.cells if c.cell_type == "code").outputs
    assert set(output["data"]) == {"text/html", "text/plain"}


def test_an_interruption_ends_the_kernels(small):  # noqa: F811
    pid = small.root / "pid"
    code = f"import os, pathlib, time\npathlib.Path({str(pid)!r}).write_text(str(os.getpid()))\n"
    small.write(
        "chapters/02-recurrent.md",
        f"title: x\n---\n\n# x\n\n```{{code-cell}} ipython3\n{code}time.sleep(300)\n```\n",
    )
    site = small.root / "_build" / "site"
    site.mkdir(parents=True)
    (site / "index.html").write_text("the last book")
    build = subprocess.Popen(
        [sys.executable, "-m", "lmcourse", "book"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    end = time.monotonic() + 60
    while not (pid.exists() and pid.read_text()) and time.monotonic() < end:
        time.sleep(0.1)
    build.send_signal(signal.SIGINT)
    _, said = build.communicate(timeout=60)
    assert build.returncode == 130, said
    assert b"Traceback" not in said
    assert not psutil.pid_exists(int(pid.read_text()))
    assert (site / "index.html").read_text() == "the last book"
    assert not list((small.root / "_build").glob("book-work-*"))


def test_records_are_json(small, tmp_path):  # noqa: F811
    build(tmp_path)
    record = json.loads(newest(tmp_path, ".json").read_text(encoding="utf-8"))
    assert set(record) == {"key", "seconds", "cpu", "megabytes", "read", "notebook"}
    assert record["cpu"] > 0
