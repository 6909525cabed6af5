"""What browsers load: fresh, small, and right; each with the command that mends it."""

import json
import re
import shutil
import subprocess

import pytest

from lmcourse.evaluation.gradient_flow import random_network
from lmcourse.widgets import GradientFlow
from lmcourse.widgets.page import STATIC
from tests.widgets import golden
from tests.widgets.examples import EXAMPLES
from tests.widgets.hosts import MODULES, WEB, missing_node_modules

MODULE_BYTES = 25 * 1024
STATE_BYTES = 300 * 1024
STARTER = "standalone.js"  # a script, not a widget
PART = "attention_pictures.js"  # a script before a widget's module
WIDGETS = sorted(path for path in STATIC.glob("*.js") if path.name != STARTER)


def node(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run node in web/; without what it needs, skip the test, or fail it under CI=true.

    Args:
        arguments: of node.
        given: what it reads from its standard input.
    """
    if not MODULES.is_dir() or shutil.which("node") is None:
        missing_node_modules()
    return subprocess.run(
        ["node", *arguments],
        cwd=WEB,
        capture_output=True,
        input=given,
        encoding="utf-8",
    )


def test_what_is_committed_is_what_the_sources_give():
    done = node("build.mjs", "--check")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_mathematics_agree_with_torch():
    done = node("--test")
    assert done.returncode == 0, done.stdout[-3000:]
    assert int(re.search(r"^# pass (\d+)", done.stdout, re.MULTILINE)[1]) >= 45


def test_the_reference_is_what_torch_says_today():
    kept, found = json.loads(golden.PATH.read_text(encoding="utf-8")), golden.golden()
    remedy = "run `python -m tests.widgets.golden` and commit what it writes"
    assert kept["networks"] == found["networks"], remedy
    assert len(kept["cases"]) == len(found["cases"]), remedy
    for old, new in zip(kept["cases"], found["cases"], strict=True):
        numbers = ("norms", "before", "factor")
        assert {k: v for k, v in old.items() if k not in numbers} == {
            k: v for k, v in new.items() if k not in numbers
        }, remedy
        for name in numbers:
            assert new[name] == pytest.approx(old[name], rel=1e-9), remedy


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_a_bundle_renames_is_known_to_nobody_else(name):
    text = (WEB / "build.mjs").read_text(encoding="utf-8")
    everywhere = re.search(r"const RENAMED = words\(`([^`]+)`", text)
    here = re.search(rf"^  {name}: words\(`([^`]+)`", text, re.MULTILINE)
    renamed = set((everywhere[1] + (here[1] if here else "")).split())
    widget = EXAMPLES[name].make()
    settings = {name for name, it in widget.state().items() if not isinstance(it, (list, dict))}
    known = {*settings, *widget.index, "get", "set", "on", "off"}  # data are read by quoted names
    assert len(renamed) > 30 and renamed & known == set()


@pytest.mark.parametrize("path", WIDGETS, ids=lambda path: path.name)
def test_a_module_is_small_and_keeps_to_the_strict_host(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.encode()) <= MODULE_BYTES
    exported = r"^var \w+=\(\(\)=>\{" if path.name == PART else r"export\s*\{\s*\w+ as default\s*\}"
    assert re.search(exported, text)
    looked_up = r"document\.(?!createElement(?:NS)?\()\w+"
    assert not re.search(looked_up, text), "a widget looks at its own element only"
    assert not re.search(r"\bfetch\(|XMLHttpRequest|WebSocket|\bimport\(|innerHTML", text)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_the_starter_has_one_place_for_what_it_starts():
    text = (STATIC / STARTER).read_text(encoding="utf-8")
    assert text.count("PAYLOAD") == 1 and "<" not in re.sub(r"<(?=[=\w ])", "", text)


def test_the_chapters_widget_is_light():
    state = json.dumps(GradientFlow(random_network()).state())
    assert len(state) <= STATE_BYTES
