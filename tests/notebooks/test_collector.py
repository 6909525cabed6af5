"""The collector of ``tests/notebook_items.py``: each trap of nbval, on a small source."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import jupytext  # noqa: F401  # here, or pytester would import its C extensions twice: they refuse
import pytest

from lmcourse.labs.verdict import MIME as CHECK
from tests.notebook_items import executing

ROOT = Path(__file__).parents[2]
HEAD = "---\nkernelspec:\n  display_name: Python 3\n  language: python\n  name: python3\n---\n"
Write = Callable[..., None]


def code(source: str, *tags: str) -> str:
    """Return a code cell of a MyST source."""
    marks = f":tags: [{', '.join(tags)}]\n\n" if tags else ""
    return f"```{{code-cell}} ipython3\n{marks}{source}\n```\n"


@pytest.fixture
def write(pytester: pytest.Pytester) -> Write:
    """Make the test's folder a small checkout; the fixture writes a source from its parts."""
    pytester.makeconftest((ROOT / "conftest.py").read_text(encoding="utf-8"))
    pytester.makeini(f"[pytest]\npythonpath = '{ROOT.as_posix()}'\n")

    def one(*parts: str, head: str = HEAD, name: str = "chapters/01-small.md") -> None:
        path = pytester.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join([head, *parts]), encoding="utf-8")

    return one


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run pytest in the small checkout, in this process."""
    return pytester.runpytest_inprocess("-rfs", "-p", "no:cacheprovider", *arguments)


def test_each_code_cell_is_an_item_and_cells_share_a_kernel(
    pytester: pytest.Pytester, write: Write
) -> None:
    write("# Title", code("a = 6"), "Text.", code("assert a == 6"))
    write(code("b = 1"), name="labs/01-small.md")
    write(code("c = 1"), name="gallery/small.md")
    result = run(pytester, "-v")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*chapters/01-small.md::cell 2 PASSED*"])
    result.stdout.fnmatch_lines(["chapters/01-small.md: 2 cells run, 0 checks, *"])
    assert not list(pytester.path.rglob("*.ipynb"))


HELD = """\
from filelock import FileLock, Timeout

try:
    FileLock("../_build/executed/chapters-01-small.lock").acquire(timeout=0)
except Timeout:
    held = True
assert held
"""


def test_others_can_wait_until_a_notebook_is_executed(
    pytester: pytest.Pytester, write: Write
) -> None:
    write("# Title", code(HELD))
    run(pytester).assert_outcomes(passed=1)
    executing(pytester.path / "chapters" / "01-small.md").acquire(timeout=0)


def test_only_sources_directly_in_the_folders_are_collected(
    pytester: pytest.Pytester, write: Write
) -> None:
    write(code("a = 1"))
    write("No notebook.", head="", name="README.md")
    write("No notebook.", head="", name="notes/01-small.md")
    write("{}", head="", name="chapters/01-small.ipynb")
    run(pytester).assert_outcomes(passed=1)


def test_cells_after_a_failure_are_skipped_with_its_name(
    pytester: pytest.Pytester, write: Write
) -> None:
    mark = pytester.path / "executed"
    write(code("a = 1"), code("a / 0"), code(f"open({str(mark)!r}, 'w')"), code("a"))
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1, skipped=2)
    result.stdout.fnmatch_lines(["SKIPPED [[]2[]]*chapters/01-small.md, cell 2 failed"])
    assert not mark.exists()


def test_another_notebook_is_not_touched_by_a_failure(
    pytester: pytest.Pytester, write: Write
) -> None:
    write(code("1 / 0"))
    write(code("1"), name="chapters/02-other.md")
    run(pytester).assert_outcomes(passed=1, failed=1)


def test_a_report_shows_place_source_and_error_and_no_nbval(
    pytester: pytest.Pytester, write: Write
) -> None:
    write("# Title", "## The gradient", "Text.", code("x = [3]\nx[7]  # too far"))
    result = run(pytester)
    output = result.stdout.str()
    assert 'chapters/01-small.md, cell 1, under "The gradient"' in output
    assert "    x[7]  # too far" in output
    assert "IndexError: list index out of range" in output
    assert "nbval" not in output.split("= FAILURES =")[1].split("= notebooks =")[0].lower()
    assert "\x1b[" not in output
    result.stdout.fnmatch_lines(["FAILED *::cell 1 - IndexError: list index out of range*"])


def test_raises_exception_demands_an_exception(pytester: pytest.Pytester, write: Write) -> None:
    write(code("1 / 0", "raises-exception"), code("1", "raises-exception"))
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*raises-exception, but nothing was raised*"])


@pytest.mark.parametrize("tags", [(), ("raises-exception",)])
def test_a_timeout_fails_and_says_which_cell(
    pytester: pytest.Pytester, write: Write, tags: tuple[str, ...]
) -> None:
    write("# Loop", code("while True:\n    pass", *tags), code("1"))
    result = run(pytester, "--nbval-cell-timeout", "1")
    result.assert_outcomes(failed=1, skipped=1)
    result.stdout.fnmatch_lines(["Timeout of 1 seconds exceeded*"])
    result.stdout.fnmatch_lines(['*chapters/01-small.md, cell 1, under "Loop"*'])


def test_the_default_timeout_is_the_courses(pytester: pytest.Pytester, write: Write) -> None:
    write(code("1"))
    config = pytester.parseconfigure()
    assert config.option.nbval_cell_timeout == 300
    assert pytester.parseconfigure("--nbval-cell-timeout=7").option.nbval_cell_timeout == 7


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import os; os._exit(3)", "its process ended with status 3"),
        pytest.param(
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            "ended by SIGKILL (the system does this when memory runs out)",
            marks=pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL"),
        ),
        (
            "import os; os.write(2, b'last' + b' words'); os._exit(1)",
            "last words",
        ),
    ],
)
def test_a_dead_kernel_is_noticed_and_said(
    pytester: pytest.Pytester, write: Write, source: str, words: str
) -> None:
    write(code("1"), code(source), code("2"))
    # Under nbval alone this waits for the timeout; the test would then report that instead.
    result = run(pytester, "--nbval-cell-timeout", "100")
    result.assert_outcomes(passed=1, failed=1, skipped=1)
    result.stdout.fnmatch_lines(["The kernel died in this cell: *"])
    assert words in result.stdout.str()
    assert "Timeout" not in result.stdout.str()


@pytest.mark.parametrize("cell", [code("1", "nbval-check-output"), code("# NBVAL_CHECK_OUTPUT\n1")])
def test_a_check_mark_without_a_stored_output_is_an_error(
    pytester: pytest.Pytester, write: Write, cell: str
) -> None:
    write(code("0"), cell)
    result = run(pytester)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*chapters/01-small.md, cell 2: nbval-check-output *expect(*"])


@pytest.mark.parametrize(
    ("parts", "head", "words"),
    [
        (["# Title", "Only text."], HEAD, "has no code cell"),
        (["# Title", "```python\n1\n```"], HEAD, "has no code cell"),
        (["# Title", code("1")], "", "has no kernelspec"),
        (["# Title", code("1")], "---\ntitle: Small\n---\n", "has no kernelspec"),
        ([code("1")], "---\nkernelspec: [\n---\n", "is not YAML between two lines"),
    ],
    ids=["prose", "plain-fence", "no-front-matter", "no-kernelspec", "bad-yaml"],
)
def test_what_is_no_notebook_is_an_error(
    pytester: pytest.Pytester, write: Write, parts: list[str], head: str, words: str
) -> None:
    write(*parts, head=head)
    result = run(pytester)
    result.assert_outcomes(errors=1)
    assert words in result.stdout.str()
    assert result.ret != 0


def test_live_outputs_are_fine_and_none_is_lost(pytester: pytest.Pytester, write: Write) -> None:
    # zmq drops what nobody fetches once its buffers are full, and with it the word that the cell
    # has ended: under nbval alone the first cell fails.
    names = "from IPython.display import clear_output, display"
    begin = f"{names}\nlive = display('', display_id=True)"
    loop = "for i in range(4000):\n    live.update(9 * i * ' ')"
    write(code(f"{begin}\n{loop}\nclear_output()"), code("live.update('last')\n1 / 0"))
    result = run(pytester)
    result.assert_outcomes(passed=1, failed=1)
    assert "unhandled" not in result.stdout.str()


def test_the_kernel_sees_the_tests_environment_and_not_the_persons(
    pytester: pytest.Pytester, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LMCOURSE_WORKBOOK", "MPLBACKEND"):
        monkeypatch.setenv(name, "elsewhere")
    monkeypatch.setenv("LMCOURSE_DEVICE", "cpu")
    checks = """
        import os, pathlib, sys, lmcourse
        assert os.environ["LMCOURSE_STRICT"] == "1"
        assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "1"
        assert os.environ["LMCOURSE_DEVICE"] == "cpu"
        assert os.environ["PYTHONHASHSEED"] == "0"
        assert "LMCOURSE_WORKBOOK" not in os.environ
        assert "inline" in os.environ["MPLBACKEND"], os.environ["MPLBACKEND"]
        assert pathlib.Path.cwd().name == "chapters"
    """.replace("\n        ", "\n")
    here = f"assert pathlib.Path(lmcourse.__file__).parents[1] == pathlib.Path({str(ROOT)!r})"
    write(code(checks.strip()), code(here))
    run(pytester).assert_outcomes(passed=2)


def test_the_kernel_is_this_environments_whatever_a_kernelspec_says(
    pytester: pytest.Pytester, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    spec = pytester.path / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text('{"argv": ["no-such-python"], "display_name": "x", "language": "python"}')
    monkeypatch.setenv("JUPYTER_PATH", str(pytester.path))
    write(code(f"import sys\nassert sys.executable == {sys.executable!r}, sys.executable"))
    run(pytester).assert_outcomes(passed=1)


def test_measured_checks_are_counted(pytester: pytest.Pytester, write: Write) -> None:
    write(code("from lmcourse import expect\nexpect('one', 1.0, close_to=1.0, within=0.1)"))
    result = run(pytester)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["chapters/01-small.md: 1 cells run, 1 checks, *"])


def test_a_labs_checks_count_as_well(pytester: pytest.Pytester, write: Write) -> None:
    data = {"text/plain": "Right", CHECK: {"passed": True}}
    write(code(f"display({data}, raw=True)"))
    result = run(pytester)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["chapters/01-small.md: 1 cells run, 1 checks, *"])


def test_a_broken_contract_fails(pytester: pytest.Pytester, write: Write) -> None:
    write(code("from lmcourse import expect\nexpect('one', 2.0, close_to=1.0, within=0.1)"))
    run(pytester).assert_outcomes(failed=1)


def test_a_notebook_stays_on_one_worker_even_under_plain_n(
    pytester: pytest.Pytester, write: Write
) -> None:
    write(code("a = 1"), *[code(f"a += 1; assert a == {i}") for i in range(2, 8)])
    result = run(pytester, "-n", "2")
    result.assert_outcomes(passed=7)


def test_no_kernel_outlives_its_notebook(pytester: pytest.Pytester, write: Write) -> None:
    import psutil

    pids = pytester.path / "pids"
    note = f"import os\nwith open({str(pids)!r}, 'a') as file: print(os.getpid(), file=file)"
    write(code(note), code("1 / 0"))
    write(code(note), code("while True: pass"), name="chapters/02-loop.md")
    write(code(note), code("import os; os._exit(1)"), name="chapters/03-dead.md")
    run(pytester, "--nbval-cell-timeout", "1").assert_outcomes(passed=3, failed=3)
    kernels = [int(pid) for pid in re.findall(r"\d+", pids.read_text())]
    assert len(kernels) == 3
    deadline = time.monotonic() + 10
    while any(map(psutil.pid_exists, kernels)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [pid for pid in kernels if psutil.pid_exists(pid)]
