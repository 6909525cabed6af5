"""The axes that signatures name hold at run time, in every call that these tests make."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ["tests/compression", "tests/evaluation", "tests/models", "tests/training"]
# Of the rest, what has named axes; its other tests train for long, or pass what no type checker
# would let through.
MORE = [
    "tests/claims/test_left_to_right.py",
    "tests/corpus/test_windows_and_recall.py",
    *(
        f"tests/pretrain/test_{name}.py"
        for name in ("electra", "elmo", "optimizers", "repeats", "vectors")
    ),
    "tests/tokenizers/test_vocabulary.py",
]
# test_broken.py's models are wrong on purpose, also in what they return. Those of the second line
# start processes of their own, which the hook does not reach. The others spend their time on files
# and figures, and reach no line of a signature with axes that no other test reaches.
NOT = (
    "test_broken.py",
    *("test_checkpoints.py", "test_distributed.py", "test_interrupts.py"),
    *("test_saving.py", "test_ticker.py", "test_watching.py"),
)
FILES = [
    path.relative_to(ROOT).as_posix()
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("test_*.py"))
    if path.name not in NOT
] + MORE
# Workers share the runs (tests/spread.py). Two of the files make the same calls many times: each
# architecture's in two types of numbers, and for ten properties, which every seventh test asks in
# turn.
MANY = {"tests/models/test_parity.py": 2, "tests/models/test_properties.py": 7}
REST = [name for name in FILES if name not in MANY]
RUNS = [["--share", f"0/{of}", name] for name, of in MANY.items()] + [
    REST[at::3] for at in range(3)
]
HOOK = "--jaxtyping-packages=lmcourse,beartype.beartype"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", HOOK, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")


@pytest.mark.parametrize("part", range(len(RUNS)))
def test_every_call_fits_the_axes_of_its_signature(part: int):
    done = run("-m", "not bad_input", *RUNS[part])
    assert done.returncode == 0, done.stdout[-3000:]


def test_the_hook_is_at_work():
    done = run("-m", "bad_input", "-k", "does_not_fit", "tests/models/test_rnn.py")
    assert "TypeCheckError" in done.stdout, done.stdout[-3000:]
