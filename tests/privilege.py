"""Permission bits do not bind root; a test that needs them runs again without that privilege."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
AGAIN = "LMCOURSE_TEST_WITHOUT_PRIVILEGE"
DROPPED = "-dac_override,-dac_read_search"


def passed_without_privilege(request: pytest.FixtureRequest) -> bool:
    """For root: run the test in a process that permission bits bind, and say that it passed.

    Returns False where the test may go on itself, since the bits bind this user anyway.
    """
    if sys.platform == "win32":
        pytest.skip("Windows has no permission bits")
    if os.geteuid() != 0 or AGAIN in os.environ:
        return False
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("permission bits do not bind root, and setpriv (util-linux) is not here")
    command = [setpriv, f"--bounding-set={DROPPED}", f"--inh-caps={DROPPED}"]
    command += [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, request.node.nodeid],
        cwd=ROOT,
        env=os.environ | {AGAIN: "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
    return True
