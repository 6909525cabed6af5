"""`lmcourse texts`: parts in their order, what is recorded, the page, and what it refuses."""

import msgspec
import pytest
from typer.testing import CliRunner

from coursekit import cli
from lmcourse.errors import CourseError
from research.real_text import classifiers, command, tables
from research.real_text.command import Record
from research.real_text.tables import TABLES, Table
from research.recorded import PAGE, RESULTS

pytestmark = pytest.mark.usefixtures("small_texts")


def invoke(*arguments):
    return CliRunner().invoke(cli.app, ["texts", *arguments], catch_exceptions=False)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return tmp_path_factory.mktemp("shelf")


@pytest.fixture(scope="module")
def done(sources, shelf, small_texts):
    """All tables of the small corpora."""
    said = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classifiers, "STRENGTHS", (1.0, 100.0))
        return command.done(list(TABLES), sources, said.append, shelf), said


def test_all_tables_of_small_corpora(done, shelf):
    record, said = done
    units = [f"{name}: {unit} ..." for name, table in TABLES.items() for unit in table.units]
    assert said == units
    assert command.read(shelf) == msgspec.json.decode(msgspec.json.encode(record), type=Record)
    for name, table in TABLES.items():
        found = command.kept(name, command.read(shelf))
        assert list(found.units) == list(table.units)
        assert all(it.cpu_seconds >= 0 and it.machine.threads == 1 for it in found.units.values())
    page = (shelf / PAGE).read_text(encoding="utf-8")
    assert page == command.page(command.read(shelf)) and "not measured" not in page


def test_the_page_shows_what_was_measured(done, shelf):
    page = (shelf / PAGE).read_text(encoding="utf-8")
    units = {name: command.read(shelf).tables[name].units for name in TABLES}
    value, _, low, high = units["genres"]["words"].values["accuracy"]
    assert f"| words | {value:.3f} [{low:.3f}, {high:.3f}] |" in page
    matrix = [row.split() for row in units["genres"]["words"].values["confusion"]]
    assert len(matrix) == 15
    row = next(line for line in page.splitlines() if line.startswith("| humor | 6 | "))
    assert row.count("%") == 4  # the share that is right, and three confusions
    late = units["spam"]["header | words | second collections"].values
    same = units["spam"]["header | words | same sizes, random"].values
    fall = f"{same['accuracy'][0] - late['accuracy'][0]:+.3f}".replace("-", "−")
    row = next(line for line in page.splitlines() if line.startswith("| header | words |"))
    assert fall in row and f"{late['area']:.3f}" in row
    share, *_ = units["spam"]["presence"].values["fields"]["list-id"]
    assert f"| list-id | {share:.1%} |" in page
    exponent = units["zipf"]["humor"].values["likelihood, n ≥ 5"][0]
    row = next(line for line in page.splitlines() if line.startswith("| humor | 6 | "))
    assert any(f"{exponent:.3f} [" in line for line in page.splitlines())
    humor = units["fertility"]["MiniLM's WordPiece"].values["genres"]["humor"]
    words, tokens = (sum(map(int, humor[it].split())) for it in ("words", "tokens"))
    assert any(f"| humor | {tokens / words:.3f} [" in line for line in page.splitlines())


def test_nothing_of_a_mail_is_recorded(done, shelf):
    written = "".join((shelf / name).read_text(encoding="utf-8") for name in (RESULTS, PAGE))
    for content in ("person", "example.org", ".example", "money", "free", "talk", "secret"):
        assert content not in written


def test_nothing_is_measured_twice(done, sources, shelf):
    said = []
    before = (shelf / RESULTS).read_bytes()
    command.done(list(TABLES), sources, said.append, shelf)
    assert said == [] and (shelf / RESULTS).read_bytes() == before


def test_an_interrupted_table_goes_on(sources, tmp_path, monkeypatch):
    calls = []

    def unit(name, killed):
        def measure(sources):
            calls.append(name)
            if killed and calls.count(name) == 1:
                raise KeyboardInterrupt
            return {"value": len(calls)}

        return measure

    units = {"one": unit("one", False), "two": unit("two", True)}
    table = Table("Small", {"seed": 0}, units, lambda found: f"{found}")
    monkeypatch.setitem(tables.TABLES, "small", table)
    with pytest.raises(KeyboardInterrupt):
        command.done(["small"], sources, print, tmp_path)
    assert "1 of 2 parts are not measured yet." in (tmp_path / PAGE).read_text(encoding="utf-8")
    assert any("small: 1 of 2 parts" in line for line in command.overview(tmp_path))
    command.done(["small"], sources, print, tmp_path)
    assert calls == ["one", "two", "two"]
    assert "{'one': {'value': 1}, 'two': {'value': 3}}" in (tmp_path / PAGE).read_text()
    # With another setup, everything is measured again.
    changed = Table("Small", {"seed": 1}, units, table.section)
    monkeypatch.setitem(tables.TABLES, "small", changed)
    record = command.done(["small"], sources, print, tmp_path)
    assert calls == ["one", "two", "two", "one", "two"]
    assert record.tables["small"].setup == {"seed": 1}


def test_the_command_lists_and_refuses_other_names(monkeypatch, tmp_path):
    monkeypatch.setattr(command, "shelf", lambda: tmp_path)
    listed = invoke().output.splitlines()
    assert [line.split(":")[0] for line in listed] == list(TABLES)
    assert all(f": 0 of {len(TABLES[line.split(':')[0]].units)} parts" in line for line in listed)
    with pytest.raises(CourseError, match=r"no table 'moods'.*genres, spam, zipf, fertility"):
        invoke("zipf", "moods")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("real, state", [(None, "not installed"), ("off", "hidden")])
def test_without_the_corpora_it_says_what_to_install(name, real, state, monkeypatch, tmp_path):
    monkeypatch.setattr(command, "shelf", lambda: tmp_path)
    monkeypatch.setenv("LMCOURSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LMCOURSE_REAL", raising=False)
    if real:
        monkeypatch.setenv("LMCOURSE_REAL", real)
    with pytest.raises(CourseError, match=rf"is {state}.*`lmcourse real install`"):
        invoke(name)
    assert not (tmp_path / RESULTS).exists()
