"""The layout of the code: sizes, no import circle, no import from a lower floor to a higher one.

CONTRIBUTING.md describes the layout. Every import counts: also one inside a function, and one for
type checkers alone.
"""

import ast
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parents[1]
BUDGET = 40_511  # lines of Python in lmcourse/; lowered whenever it is underrun. The goal is 28,000
LONGEST = 342  # lines of a file
# From the ground up. What is not named is a small module that all floors use.
FLOORS = (
    {"models", "corpus", "tokenizers", "widgets"},
    {"training", "evaluation", "compression"},
    {"hub", "findings", "labs"},
    {"coursekit", "research"},
)
FLOOR = {name: floor for floor, names in enumerate(FLOORS, start=1) for name in names}
ENTRY_POINT = "lmcourse.__main__"  # `python -m lmcourse` is the command line's


def modules(root: Path) -> dict[str, Path]:
    """The tracked modules of the three packages, by the names under which they are imported."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    found = {}
    for name in listed:
        parts = Path(name).with_suffix("").parts
        if parts[0] == "labs":  # the exercises, beside the labs' texts
            parts = ("lmcourse", *parts)
        if parts[0] in ("lmcourse", "coursekit", "research") and (root / name).is_file():
            dotted = parts[:-1] if parts[-1] == "__init__" else parts
            found[".".join(dotted)] = root / name
    return found


def imports(source: str) -> Iterator[str]:
    """Everything that a source imports: modules, and names that may be modules."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def graph(files: Mapping[str, Path]) -> "nx.DiGraph[str]":
    """An edge from each module to each module that it imports.

    ``from package import module`` is an import of the module, not of the package's own names.
    """
    found: nx.DiGraph[str] = nx.DiGraph()
    for module, path in files.items():
        found.add_node(module)
        named = [name for name in imports(path.read_text(encoding="utf-8")) if name in files]
        parents = {name.rpartition(".")[0] for name in named}
        found.add_edges_from((module, name) for name in named if name not in parents | {module})
    return found


def package(module: str) -> str:
    """The part of the layout that a module belongs to: models, labs, coursekit."""
    parts = module.split(".")
    return parts[1] if parts[0] == "lmcourse" and len(parts) > 1 else parts[0]


def upward(edges: "nx.DiGraph[str]") -> list[str]:
    """The imports that lead from a lower floor to a higher one, and those of widgets."""
    found = []
    for importer, imported in edges.edges:
        low, high = FLOOR.get(package(importer), 0), FLOOR.get(package(imported), 0)
        apart = package(importer) == "widgets" != package(imported) and high > 0
        if (low < high or apart) and importer != ENTRY_POINT:
            found.append(f"{importer} imports {imported}")
    return sorted(found)


def circles(edges: "nx.DiGraph[str]") -> list[list[str]]:
    """The groups of modules that import each other in a circle."""
    return [sorted(group) for group in nx.strongly_connected_components(edges) if len(group) > 1]


@pytest.fixture(scope="module")
def files() -> dict[str, Path]:
    return modules(ROOT)


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_the_package_keeps_its_budget(files: dict[str, Path]) -> None:
    sizes: Counter[str] = Counter()
    for module, path in files.items():
        if path.is_relative_to(ROOT / "lmcourse"):
            sizes[package(module)] += lines(path)
    largest = ", ".join(f"{name} {count:,}" for name, count in sizes.most_common(6))
    assert sizes.total() <= BUDGET, f"lmcourse/ has {sizes.total():,} lines. Largest: {largest}."


def test_no_file_is_too_long(files: dict[str, Path]) -> None:
    """A lab's exercises may be as long as their slips need."""
    sizes = {name: lines(path) for name, path in files.items() if ROOT / "labs" not in path.parents}
    assert {module: n for module, n in sizes.items() if n > LONGEST} == {}


def test_no_files_import_each_other_in_a_circle(files: dict[str, Path]) -> None:
    assert circles(graph(files)) == []


def test_no_packages_import_each_other_in_a_circle(files: dict[str, Path]) -> None:
    packages: nx.DiGraph[str] = nx.DiGraph()
    for importer, imported in graph(files).edges:
        if package(importer) != package(imported) and importer != ENTRY_POINT:
            packages.add_edge(package(importer), package(imported))
    assert circles(packages) == []


def test_no_import_leads_upward(files: dict[str, Path]) -> None:
    assert upward(graph(files)) == []


def test_circles_and_upward_imports_are_found(tmp_path: Path) -> None:
    sources = {
        "lmcourse.models.a": "def f():\n    from lmcourse.models import b",
        "lmcourse.models.b": "from lmcourse.models.a import f\nimport lmcourse.hub",
        "lmcourse.hub": "import lmcourse.models.b",
        "lmcourse.widgets": "from lmcourse.models import a",
    }
    for name, source in sources.items():
        (tmp_path / name).write_text(source, encoding="utf-8")
    edges = graph({name: tmp_path / name for name in sources})
    assert circles(edges) == [["lmcourse.hub", "lmcourse.models.a", "lmcourse.models.b"]]
    assert upward(edges) == [
        "lmcourse.models.b imports lmcourse.hub",
        "lmcourse.widgets imports lmcourse.models.a",
    ]
