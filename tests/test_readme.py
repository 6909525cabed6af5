"""The README's Python runs as it stands there."""

import re
from pathlib import Path

import pytest

from coursekit import course

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS, ids=lambda code: code.split("\n")[0])
def test_a_block_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # one writes a file
    exec(compile(code, "README.md", "exec"), {})


def test_all_blocks_are_found() -> None:
    first = [code.split("\n")[0] for code in BLOCKS]
    assert len(first) == README.read_text(encoding="utf-8").count("```python") == 6


@pytest.mark.parametrize("page", course.sources("widget"), ids=lambda page: page.slug)
def test_each_widgets_page_stands_there_with_its_question(page: course.Source) -> None:
    (line,) = (it for it in README.read_text("utf-8").splitlines() if f"y/{page.path.name})" in it)
    assert line.endswith(f"| {page.question} |")
