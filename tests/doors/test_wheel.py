"""The package as one file, and a notebook of the book that has nothing else of the course."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

from coursekit import course, install
from coursekit.book.published import Published
from coursekit.book.site.assets import DOWNLOADS
from coursekit.book.stage import download
from coursekit.notebooks.sources import read_notebook, to_bytes
from coursekit.notebooks.targets import Targets
from coursekit.repository import Repository
from coursekit.wheel import build_wheel
from tests.book.conftest import served

RUN = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        shell.run_cell("".join(cell["source"])).raise_error()
import lmcourse
print("from", lmcourse.__file__)
"""


@pytest.fixture(scope="module")
def wheel() -> Path:
    return build_wheel()


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages that has the wheel; the course's checkout is out of its sight."""
    folder = tmp_path_factory.mktemp("packages")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*command, "--target", str(folder), str(wheel)], check=True)
    return folder


def test_it_has_what_notebooks_read_and_nothing_of_the_checkouts_tools(wheel: Path):
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
    assert {name.split("/")[0] for name in names} == {"lmcourse", "lmcourse-0.1.0.dist-info"}
    files = install.ROOT / "data" / "checkpoints"
    assert {f"lmcourse/_files/data/checkpoints/{path.name}" for path in files.iterdir()} <= names
    assert {"lmcourse/_files/references.bib", "lmcourse/_files/data/senses.csv"} <= names
    assert {f"lmcourse/_files/data/{it}.csv" for it in ("family", "benchmarks")} <= names
    (module,) = {name for name in names if name.endswith("labs/lab05/counts.py")}
    assert module == "lmcourse/_files/labs/lab05/counts.py"
    assert not [name for name in names if name.endswith(".md") and "labs" in name]
    assert {"lmcourse/widgets/static/map.js", "lmcourse/releases.toml"} <= names
    assert wheel.stat().st_size < 20e6


def test_its_requirements_are_ranges(wheel: Path):
    """Another PyTorch, such as Colab's, stays as it is."""
    with zipfile.ZipFile(wheel) as file:
        text = file.read("lmcourse-0.1.0.dist-info/METADATA").decode()
    needed = [line for line in text.splitlines() if line.startswith("Requires-Dist")]
    always = [line for line in needed if "extra ==" not in line]
    assert any("torch>=" in line for line in always)
    assert not any("==" in line or "<" in line for line in always)


def test_it_is_built_once(wheel: Path):
    before = wheel.stat().st_mtime_ns
    assert build_wheel() == wheel and wheel.stat().st_mtime_ns == before


def without_the_checkout() -> dict[str, str]:
    """The variables of this process, without those by which Python or IPython would find it."""
    hidden = ("LMCOURSE", "PYTHONPATH", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    return kept | {"MPLBACKEND": "agg", "LMCOURSE_CACHE": os.environ["LMCOURSE_CACHE"]}


def run(elsewhere: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    others = [
        entry
        for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep)
        if entry and Path(entry).resolve() != install.ROOT
    ]
    path = os.pathsep.join([str(elsewhere), *others])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=without_the_checkout() | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


def offered(name: str, published: Published) -> dict[str, Any]:
    """The file that the book's page of a source offers."""
    sources = {each: read_notebook(each.path) for each in course.sources()}
    source = next(each for each in sources if name.endswith(each.path.name))
    notebook = download(source, sources[source], Targets.of(sources), published)
    return json.loads(to_bytes(notebook))


READS = re.compile(r'hub\.load\("[^"]+"\)|finding\("[^"]+"\)|shared\("[^"]+"\)\.read_bytes\(\)')
IMPORTS = re.compile(r"^(?:from|import) lmcourse[^(\n]*(?:\([^)]*\))?", re.MULTILINE)


def test_what_notebooks_import_and_read_is_there(elsewhere: Path, tmp_path: Path):
    """Modules, shipped models, findings and tables, of all chapters, labs and widgets' pages."""
    text = "\n".join(each.path.read_text("utf-8") for each in course.sources())
    imports = {found[0] for found in IMPORTS.finditer(text)}
    calls = {
        found[0] for found in READS.finditer(re.sub(r"(shared\([^)]*\))", r"\1.read_bytes()", text))
    }
    assert len(imports) > 100
    assert {"hub.load", "finding", "shared"} == {call.split("(")[0] for call in calls}
    # A notebook imports a name where it needs it; here all that read come first and last.
    reading = "from lmcourse import hub\nfrom lmcourse.findings import finding\n"
    reading += "from lmcourse.checkout import shared\n"
    program = "\n".join([*sorted(imports), reading, *sorted(calls), "import lmcourse"])
    done = run(elsewhere, tmp_path, "-c", f"{program}\nprint('from', lmcourse.__file__)")
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"from {elsewhere}" in done.stdout


def test_a_notebook_of_the_book_runs_to_its_end(elsewhere: Path, tmp_path: Path):
    """As it is downloaded."""
    data = offered("labs/10-lab-bert.md", Published(wheel=Path("x.whl")))
    # Stubs raise, and their checks report it; see the masters' tests.
    data["cells"] = [
        cell for cell in data["cells"] if "check" not in cell.get("metadata", {}).get("tags", ())
    ]
    path = tmp_path / "notebook.ipynb"
    path.write_text(json.dumps(data), encoding="utf-8")
    done = run(elsewhere, tmp_path, "-c", RUN, str(path))
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"from {elsewhere}" in done.stdout


COLAB = """
import sys, types
from importlib.machinery import ModuleSpec
names = ("google", "google.colab", "google.colab.output")
for name in names:
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__spec__ = ModuleSpec(name, None)
output = sys.modules["google.colab"].output = sys.modules["google.colab.output"]
output.enable_custom_widget_manager = lambda: None
output._widgets = types.SimpleNamespace(_installed_url="url")
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has PyTorch and Jupyter, but nothing of the course."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    packages = folder / "packages"
    packages.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if "lmcourse" not in entry.name and entry.suffix != ".pth":
            (packages / entry.name).symlink_to(entry)
    command = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    own = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    (Path(own) / "packages.pth").write_text(f"{packages}\n", encoding="utf-8")
    return python


def opened(bare: Path, folder: Path, published: Published) -> subprocess.CompletedProcess[str]:
    """Run a page's notebook in the environment as in Colab."""
    data = offered("gallery/attention-heads.md", published)
    path = folder / "notebook.ipynb"
    path.write_text(json.dumps(data), encoding="utf-8")
    return subprocess.run(
        [bare, "-c", COLAB + RUN, str(path)],
        cwd=folder,
        env=without_the_checkout(),
        capture_output=True,
        text=True,
    )


def test_a_notebook_without_the_package_stops_at_its_first_cell(bare: Path, tmp_path: Path):
    done = opened(bare, tmp_path, Published(wheel=Path("lmcourse-9.9.9-py3-none-any.whl")))
    assert done.returncode == 1 and "No module named 'lmcourse'" in done.stderr
    assert "looks like a filename, but the file does not exist" in done.stdout + done.stderr


def test_a_served_notebook_installs_the_package_as_in_colab(
    wheel: Path, bare: Path, tmp_path: Path
):
    """Its first cell fetches the wheel from the book; models and a widget then work as in Colab."""
    (tmp_path / "site" / DOWNLOADS).mkdir(parents=True)
    (tmp_path / "site" / DOWNLOADS / wheel.name).symlink_to(wheel)
    with served(tmp_path / "site", "/course") as address:
        done = opened(bare, tmp_path, Published(address, None, wheel))
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"from {bare.parents[1]}" in done.stdout


def test_the_command_needs_a_checkout(elsewhere: Path, tmp_path: Path):
    done = run(elsewhere, tmp_path, "-S", "-m", "lmcourse")  # without the packages of tests
    assert done.returncode == 1 and "needs a checkout of the course" in done.stderr


def test_the_first_cell_names_the_best_source_that_is_known():
    file, where = Path("lmcourse-0.1.0-py3-none-any.whl"), Repository.of("https://github.com/a/b")
    served = Published("https://example.org/course", where, file).installation
    assert f"%pip install --quiet https://example.org/course/downloads/{file}" in served
    assert "git+https://github.com/a/b@main" in Published(None, where, file).installation
    alone = Published(wheel=file).installation
    assert f"%pip install --quiet {file}\n" in alone and "beside this notebook" in alone
