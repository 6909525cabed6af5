"""The lab in a real kernel: the student's version runs through, and the kernel survives."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbclient
import pytest
from jupyter_client.manager import KernelManager, start_new_kernel

from lmcourse.labs import exercises, lab02, lab10
from lmcourse.labs.verdict import MIME
from tests.labs import master

PERPLEXITY, WORDS = lab02.check_perplexity.number, lab10.check_words.number
SETUP = """
from lmcourse.labs import lab02
import dataclasses, time, sys, torch
IMPATIENT = dataclasses.replace(lab02.check_perplexity, seconds=1)
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    workbook = tmp_path_factory.mktemp("workbook")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMCOURSE_WORKBOOK", str(workbook))
        patch.delenv("LMCOURSE_STRICT", raising=False)
        yield workbook


def outputs_of(client: Any, code: str) -> list[dict[str, Any]]:
    """Run a cell; its outputs, errors too."""
    found: list[dict[str, Any]] = []

    def keep(message: dict[str, Any]) -> None:
        if message["header"]["msg_type"] in ("stream", "display_data", "execute_result", "error"):
            found.append(message["content"])

    client.execute_interactive(code, output_hook=keep, timeout=60, allow_stdin=False)
    return found


@pytest.fixture(scope="module")
def kernel(environment: Path) -> Iterator[tuple[KernelManager, Any]]:
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        assert outputs_of(client, SETUP) == []
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("number", master.NUMBERS)
def test_the_student_version_runs_to_the_end_and_says_not_written_yet(
    environment: Path, number: str
) -> None:
    notebook = nbclient.execute(
        master.student(number), cwd=str(environment), timeout=120, kernel_name="python3"
    )
    said = []
    for cell in master.code(notebook.cells):
        assert not [each for each in cell.outputs if each.output_type in ("error", "stream")]
        said += [each.data for each in cell.outputs if MIME in each.get("data", {})]
    assert [each[MIME]["exercise"] for each in said] == [each.number for each in exercises(number)]
    for data in said:
        assert data["text/plain"].startswith("○ Not written yet: ")
        assert data[MIME]["passed"] is False
    assert not (environment / ".lmcourse" / "progress.json").exists()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("input('?')", "raised `StdinNotImplementedError`"),
        ("exit()", "`return` to leave"),
        ("quit()", "`return` to leave"),
        ("sys.exit(1)", "`return` to leave"),
        ("raise KeyboardInterrupt", "`return` to leave"),
        ("display(p); print('hello')", "and it printed something"),
        ("import warnings; warnings.warn('careful')", "does it end in `return ...`"),
        ("return p.nonsense()", "in this line of yours: `return p.nonsense()`"),
    ],
)
def test_one_output_and_a_living_kernel(kernel: Any, body: str, words: str) -> None:
    _, client = kernel
    (output,) = outputs_of(client, f"def f(p):\n    {body}\nIMPATIENT(f)")
    assert words in output["data"]["text/plain"]
    assert output["data"][MIME]["passed"] is False
    time.sleep(0.3)  # a kernel that was asked to exit would be gone by now
    (alive,) = outputs_of(client, "display('alive')")
    assert "alive" in alive["data"]["text/plain"]


def test_a_long_answer_is_announced_and_the_verdict_takes_its_place(kernel: Any) -> None:
    _, client = kernel
    shown: list[dict[str, Any]] = []
    client.execute_interactive(
        "def f(p):\n    time.sleep(4)\n    while True: pass\nIMPATIENT(f)",
        output_hook=lambda message: shown.append(message) if "data" in message["content"] else None,
        timeout=60,
    )
    notice, verdict = shown
    assert notice["header"]["msg_type"] == "display_data"
    said = "… Your function is running. A call may compute for 1 seconds."
    assert notice["content"]["data"]["text/plain"] == said
    assert verdict["header"]["msg_type"] == "update_display_data"
    assert notice["content"]["transient"] == verdict["content"]["transient"] != {}
    assert "still running after 1" in verdict["content"]["data"]["text/plain"]


def test_a_verdict_whose_html_fails_is_shown_as_text(kernel: Any) -> None:
    _, client = kernel
    broken = "from lmcourse.labs import verdict\nprose, verdict.prose = verdict.prose, None\n"
    try:
        (output,) = outputs_of(client, broken + "lab02.check_perplexity(lambda p: p.mean())")
    finally:
        outputs_of(client, "verdict.prose = prose")
    assert output["name"] == "stdout" and output["text"].startswith(
        f"✎ Not yet: {PERPLEXITY} Perpl"
    )


def test_the_stop_button_still_works(kernel: Any) -> None:
    manager, client = kernel
    client.execute(
        "def f(p):\n    print('in', file=sys.__stdout__)\n    while True: time.sleep(.1)\n"
        "print('now', flush=True); lab02.check_perplexity(f)",
        stop_on_error=False,  # else a kernel drops what comes soon after an error, as Run All wants
    )
    deadline = time.monotonic() + 60
    error = None
    while error is None:
        assert time.monotonic() < deadline
        message = client.get_iopub_msg(timeout=60)
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "stream" and "now" in content["text"]:
            time.sleep(0.5)
            manager.interrupt_kernel()
        if kind == "display_data":
            pytest.fail(f"not interrupted: {content['data']['text/plain']}")
        if kind == "error":
            error = content
    assert error["ename"] == "KeyboardInterrupt"
    client.get_shell_msg(timeout=60)
    (alive,) = outputs_of(client, "display('alive')")
    assert "alive" in alive["data"]["text/plain"]


def test_a_right_answer_is_shown_and_kept(kernel: Any, environment: Path) -> None:
    _, client = kernel
    code = "lab02.check_perplexity(lambda p: (-p.mean()).exp())"
    (output,) = outputs_of(client, code)
    assert output["data"]["text/plain"].startswith(f"✔ Right: {PERPLEXITY} Perplexity.")
    assert output["data"]["text/html"].startswith("<div")
    assert output["data"][MIME]["passed"] is True
    kept = json.loads((environment / ".lmcourse" / "progress.json").read_text(encoding="utf-8"))
    assert kept["exercises"]["02-perplexity"]["solved"]


CHECK = "from lmcourse.labs import lab10\n\nlab10.check_words()"
RIGHT = "def whole_words(selected, words):\n    return [w in words[selected] for w in words]"


def test_a_check_before_its_stub_says_so_and_a_syntax_error_is_not_judged_by_the_old_function(
    kernel: Any,
) -> None:
    _, client = kernel

    def said() -> str:
        (output,) = outputs_of(client, CHECK)
        return str(output["data"]["text/plain"])

    assert said().startswith(f"○ Not written yet: {WORDS} Whole words. There is no `whole_")
    assert outputs_of(client, RIGHT) == []
    assert said().startswith(f"✔ Right: {WORDS}")
    outputs_of(client, "1 +")  # another cell's error is no matter
    assert said().startswith(f"✔ Right: {WORDS}")
    (error,) = outputs_of(client, RIGHT.replace("words):", "words)"))
    assert error["ename"] == "SyntaxError"
    message = said()
    assert (
        message.startswith(f"✎ Not yet: {WORDS}") and "in this line: `def whole_words(" in message
    )
    (error,) = outputs_of(client, RIGHT + "\nreturn 1")  # found when it is compiled
    assert error["ename"] == "SyntaxError" and "has a syntax error" in said()
    outputs_of(client, "%time 1\n" + RIGHT)
    assert said().startswith(f"✔ Right: {WORDS}")


def test_strict_shows_no_traceback_of_ours(kernel: Any) -> None:
    _, client = kernel
    strict = "import os; os.environ['LMCOURSE_STRICT'] = '1'\nlab02.check_perplexity(lambda p: 1)"
    try:
        shown, error = outputs_of(client, strict)
    finally:
        outputs_of(client, "del os.environ['LMCOURSE_STRICT']")
    assert error["ename"] == "CheckFailed"
    assert "check.py" not in "".join(error["traceback"])
    assert shown["data"][MIME]["passed"] is False
